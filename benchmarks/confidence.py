"""Does a run know when not to answer?

    python -m benchmarks.confidence RUN CORPUS [--foreign NAME=FILE …] [--figure FILE]

A run trained on CORPUS is calibrated on its validation split. It is then tested on two sets of questions. In-domain
questions are those of the test split; they should be refused no more often than the false refusal rate. Out-of-domain
questions are: `small_talk`, if the run was not trained on it; the questions of other corpora, or the words in the first
column of a .tsv file; random text; and test questions with shuffled characters or mixed words. The run folder is not
modified.
"""

import argparse
import pathlib
import shutil
import tempfile

import numpy as np
import pandas

from benchmarks.command import make_parser, provenance, say, start
from benchmarks.corpus import SMALL_TALK
from benchmarks.results import publish, table
from keras_transformer import Chatbot, InputError, calibrate, load_pairs, plot_refusals, split_pairs
from keras_transformer.evaluation.calibrate import draw, scores_and_pieces, without_duplicates
from keras_transformer.evaluation.out_of_domain import auroc, make_out_of_domain

NAME = "confidence"
RATES = (0.01, 0.02, 0.05, 0.1, 0.2)
AUROC = ("AUROC", "of the answer's log-probability", "of the question's pieces a character")
OWN = "test split"
LANGUAGES = {"ko": "small talk in Korean", "en": "small talk in English"}
MOST = 1000  # Maximum number of questions per out-of-domain corpus.


def named_file(text):
    """Parses a name and a file, written "NAME=FILE", for argparse."""
    name, equals, path = text.partition("=")
    if not (name and equals and pathlib.Path(path).is_file()):
        raise argparse.ArgumentTypeError(f"{text}: must be NAME=FILE, of a file that is there")
    return name, pathlib.Path(path)


def questions_of(path):
    """Returns the questions of a corpus, or the words in the first column of a .tsv file without a header."""
    if path.suffix.lower() != ".tsv":
        return without_duplicates(load_pairs(path)["question"])
    return without_duplicates(line.split("\t")[0] for line in path.read_text("utf-8").splitlines())


def small_talk():
    """Returns the questions of the corpus `small_talk`, a dictionary from their languages to lists of texts."""
    rows = pandas.read_csv(SMALL_TALK)
    return {
        name: without_duplicates(rows["question"][rows["language"] == language]) for language, name in LANGUAGES.items()
    }


def question_sets(corpus, files):
    """Returns the sets of questions to test a run on, a dictionary from their names; its own test split comes first.

    Args:
        corpus: The corpus file that the run was trained on.
        files: Pairs of a name and a file of out-of-domain questions.
    """
    own = without_duplicates(split_pairs(load_pairs(corpus))["test"]["question"])
    if not own:
        raise InputError(f"{corpus}: its test split holds no question")
    others = {} if corpus.samefile(SMALL_TALK) else small_talk()
    others |= {name: questions_of(path) for name, path in files}
    return {OWN: own, **{name: draw(texts, MOST) for name, texts in others.items()}, **make_out_of_domain(own)}


def measure(run, corpus, files):
    """Calibrates a copy of the run and tests it on each set of questions.

    Args:
        run: The run folder.
        corpus: The corpus file that the run was trained on.
        files: Pairs of a name and a file of out-of-domain questions.

    Returns:
        The `Confidence`, and a dictionary from the name of each set to the pairs that `Confidence` judges.
    """
    asked = question_sets(corpus, files)
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(run, pathlib.Path(folder) / "run", ignore=shutil.ignore_patterns("logs", "checkpoint*"))
        confidence = calibrate(copy, split_pairs(load_pairs(corpus))["validation"]["question"], answer_by="generate")
        bot = Chatbot.load(copy)
        bot.load_model()  # Before the copy is removed.
    found = {}
    for name, questions in asked.items():
        say(f"{name}: {len(questions):,} questions …")
        found[name] = scores_and_pieces(bot, questions)
    return confidence, found


def report(confidence, asked):
    """Returns the paragraphs of the results.

    Args:
        confidence: The `Confidence`.
        asked: Dictionary from the name of each set of questions to the pairs that `Confidence` judges.
    """
    header = ["questions", "number", *(f"{rate:.0%}" for rate in RATES), *AUROC]
    own, rows = columns(confidence, asked[OWN]), []
    for name, pairs in asked.items():
        refused = ((confidence.of(*zip(*pairs)) <= rate).mean() for rate in RATES)
        told = ["", "", ""] if name == OWN else [f"{auroc(*both):.3f}" for both in zip(own, columns(confidence, pairs))]
        rows.append([name, f"{len(pairs):,}", *(f"{share:.1%}" for share in refused), *told])
    how = (
        f"Calibrated on the {len(confidence.in_domain):,} different questions of the validation split; greedy answers. "
        "The table has the shares of the questions that are refused, by the rate of wrong refusals that is allowed: in "
        "the first row they should be that rate at most, in the others all. AUROC: how well the confidence tells these "
        "questions from those of the test split, and how well its two numbers do by themselves; 0.5 is chance."
    )
    return [how, table(header, rows)]


def columns(confidence, pairs):
    """Returns three measures that are higher for in-domain questions: the confidence, the score, the negated pieces."""
    scores, pieces = np.array(pairs).T
    return confidence.share(scores, pieces), scores, -pieces


def main(arguments=None):
    parser = make_parser(__doc__, NAME)
    parser.add_argument("run", type=pathlib.Path, metavar="RUN", help="folder of a trained run")
    parser.add_argument("corpus", type=pathlib.Path, metavar="CORPUS", help="corpus file that the run was trained on")
    parser.add_argument(
        "--foreign", type=named_file, action="append", default=[], metavar="NAME=FILE",
        help="out-of-domain questions: a corpus, or a .tsv file with words in its first column",
    )  # fmt: skip
    parser.add_argument("--figure", metavar="FILE", help="file for a plot of the curves")
    options = parser.parse_args(arguments)
    confidence, asked = measure(options.run, options.corpus, options.foreign)
    if options.figure:
        from keras_transformer.visualize.picture import save

        save(plot_refusals(confidence, asked), options.figure)
    about = f"Run: {options.run.resolve().name}, trained on {options.corpus.name}."
    title = "Knowing when not to answer"
    publish(options.results, NAME, title, [provenance(NAME, arguments), about, *report(confidence, asked)])


if __name__ == "__main__":
    start(main)
