"""Which settings and which way of selecting answers suit a Korean chat corpus? Measured on its validation split only.

    python -m benchmarks.korean_chatbot.search ChatbotData.csv [--only NAME …]

Each of the settings is trained with one seed and answers in a few ways. The settings that memorize the corpus answer in
all ways: beam search with several length penalties, reranking, and the answer to the nearest training question. The
test split is never read. Runs and answers are kept in the work folder of `benchmarks.korean_chatbot`.
"""

import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from benchmarks.command import provenance, say, start
from benchmarks.corpus import Corpus
from benchmarks.korean_chatbot import baselines, systems
from benchmarks.korean_chatbot.exam import Exam, WorkFolder
from benchmarks.korean_chatbot.options import make_parser, settings_file
from benchmarks.korean_chatbot.report import with_bounds
from benchmarks.korean_chatbot.scoring import BITS, scored
from benchmarks.korean_chatbot.ways import RETRIEVAL, WAYS
from benchmarks.programs import Failed
from benchmarks.results import table, write_atomically

NAME = "korean_chatbot.search"
DOCUMENT = pathlib.Path(__file__).parents[1] / "KOREAN_CHATBOT_SEARCH.md"
SEED = 0
SMALL = ("--preset", "small")
CANDIDATES = {
    "small": SMALL,
    "label smoothing 0.1": (*SMALL, "--label-smoothing", "0.1"),
    "dropout 0.3": (*SMALL, "--dropout", "0.3"),
    "dropout 0.3, label smoothing 0.1": (*SMALL, "--dropout", "0.3", "--label-smoothing", "0.1"),
    "tied embeddings": (*SMALL, "--tie-embeddings"),
    "vocabulary of 2,000": (*SMALL, "--vocab-size", "2000"),
    "characters": (*SMALL, "--tokenizer", "character", "--max-length", "96"),
    "letters (jamo)": (*SMALL, "--jamo"),
    "half as wide": (*SMALL, "--d-model", "128", "--num-heads", "4", "--dff", "256"),
    "regularised": ("--config", settings_file("regularised")),
    "by heart": ("--config", settings_file("by heart")),
}
"""Settings by their names, as the command line is told of them; all validate a moving average of their weights."""
FEW_WAYS = ["greedy", "32 samples at temperature 0.7, by agreement", RETRIEVAL]
IN_ALL_WAYS = "by heart"  # The settings that answer in all ways; the others answer in a few.
SCORES = {BITS: "{:.3f}", "chrf": "{:.2f}", "exact_match": "{:.1%}", "copied": "{:.0%}"}
HEADER = ["", "bits per character", "chrF", "exact match", "copied", "length"]


def main(arguments=None):
    parser = make_parser(NAME, __doc__, DOCUMENT)
    parser.add_argument("--only", choices=CANDIDATES, nargs="+", default=list(CANDIDATES), help="default: all settings")
    options = parser.parse_args(arguments)
    corpus = Corpus(options.corpus)
    exam = Exam(corpus.pairs, "validation")
    work = WorkFolder(options.work, corpus.path)
    variant, _ = baselines.choose_variant(exam)
    nearest = baselines.NearestQuestions(exam.train, variant)
    trainer = systems.Trainer(corpus, work, options.epochs)
    ours = {name: systems.Ours(name, CANDIDATES[name], exam, nearest, trainer) for name in options.only}
    settings = [one.system(way, [SEED]) for one in ours.values() for way in FEW_WAYS]
    sections = [
        section("Without training", systems.without_models(exam, variant), exam, work),
        section("Settings", settings, exam, work),
    ]
    if IN_ALL_WAYS in ours:
        ways = [ours[IN_ALL_WAYS].system(way, [SEED]) for way in WAYS]
        sections.append(section("Ways of choosing answers", ways, exam, work))
    about = (
        f"The {len(exam.questions):,} different questions of the validation split, {len(exam.train):,} pairs to train "
        f"on, seed {SEED}. In brackets stand 95 % intervals."
    )
    title = "# What was tried for the Korean chat corpus"
    text = "\n\n".join([title, provenance(NAME, arguments), about, *sections]) + "\n"
    print(text)
    write_atomically(options.results or DOCUMENT, text)


def section(title, wanted, exam, work):
    """Evaluates systems one after the other. Returns their scores as a section of the document."""
    rows, failures = [], []
    for system in wanted:
        try:
            rows.append(cells(scored(system.name, systems.ask(system, exam, work), exam)))
        except Failed as error:
            say(f"  left out: {error}")
            failures.append(f"Left out: {error}")
    return "\n\n".join([f"## {title}", *([table(HEADER, rows)] if rows else []), *failures])


def cells(system):
    """Returns the row of a system."""
    bounded = [with_bounds(system, name, form) for name, form in SCORES.items()]
    return [system.name.removeprefix("ours: "), *bounded, f"{system.value('answer_length'):.1f}"]


if __name__ == "__main__":
    start(main)
