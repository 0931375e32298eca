"""What is the word error rate of a trained run in predicting pronunciations?

    python -m benchmarks.pronunciation FOLDER [--languages fre hun] [--seeds 0 1 2] [--at-once 1] [--runs KEPT]

FOLDER contains the files of the SIGMORPHON 2020 shared task 1 (`fre_train.tsv`, `fre_dev.tsv`, `fre_test.tsv`, …), with
a word and its phones in each row. Each run is trained by the command line with the settings of `pronunciation.toml`, on
the words of the training file: each alone, and once together with another word. The dev file selects the best epoch.
The run then answers the words alone. A word is wrong unless all its phones are right. With --runs, the runs are kept,
and the same command resumes an interrupted training.
"""

import concurrent.futures
import contextlib
import csv
import functools
import json
import pathlib
import random
import statistics
import subprocess
import tempfile

from benchmarks import ours
from benchmarks.command import at_least, folder, make_parser, provenance, say, start
from benchmarks.programs import Failed, run_program
from benchmarks.results import publish, table
from keras_transformer import InputError

NAME = "pronunciation"
BETWEEN = "#"  # Phone that represents the white space between two words.
SETTINGS = pathlib.Path(__file__).with_name("pronunciation.toml")

PUBLISHED = {"fre": ("French", 6.89, 6.00), "hun": ("Hungarian", 5.33, 4.67)}
"""Names, and test word error rates in % of Transformers: Gorman et al. 2020, Table 2; Ryan & Hulden 2020, Table 2."""


TRIED = """Chosen on the dev words alone. Words wrong with seed 0 (French), none beside others: 9.56 % in 180 epochs;
8.67 % had 400 been begun (stopped after 237; the best was 192); 9.11 % by `d_model = 256`, `dff = 1024`,
`batch_size = 256` in 150 epochs, 8.89 % by the same in batches of 128 (stopped after 114; the best was 101); 10.00 %
with dropout of 0.1 inside attention and feed-forward too; 10.2 % with 1/√step in place of the cosine, after 130 epochs.
Greedy decoding gave the same words as a beam of 5. What helped is each word beside another: with seeds 0, 1, 2 of
French 8.44, 9.78, 8.00 % of the dev words instead of 9.56, 8.44, 9.56, and of Hungarian 3.11 % three times instead of
4.07 on average; without it 7.11 % of the French test words and 4.89 % of the Hungarian ones had been wrong."""


def read_words(path):
    """Returns the words of a file and their phones, two lists."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    return [list(column) for column in zip(*rows, strict=True)]


def joined(words, phones):
    """Returns training rows of words and their phones: each word alone, and each once with a random second word.

    The pronunciation of a letter depends on its neighbors, not on its position. Joining words shows the model the same
    letters at other positions.
    """
    others = list(zip(words, phones, strict=True))
    random.Random(0).shuffle(others)
    together = zip(words, phones, others, strict=True)
    pairs = [(f"{word} {other}", f"{said} {BETWEEN} {says}") for word, said, (other, says) in together]
    return [*zip(words, phones, strict=True), *pairs]


def train(files, language, seed, run):
    """Trains or resumes a run by the command line. Returns the total seconds of its training."""
    corpus, validation = run.with_name(f"{run.name}.tsv"), files / f"{language}_dev.tsv"
    rows = joined(*read_words(files / f"{language}_train.tsv"))
    corpus.write_text("".join(f"{word}\t{said}\n" for word, said in rows), "utf-8")
    command = [*ours.PROGRAM, "train", corpus, "--validation", validation, "--run", run]
    run_program([*command, "--config", SETTINGS, "--seed", str(seed)]).check()
    return json.loads((run / "summary.json").read_text("utf-8"))["seconds"]


def word_error_rate(run, path, beam):
    """Returns the word error rate in % of a run on the words of a file, answered by the command line."""
    words, phones = read_words(path)
    command = [*ours.PROGRAM, "answer", str(run), "--beam", str(beam)]
    process = subprocess.run(
        command, input="\n".join(words), capture_output=True, text=True, encoding="utf-8", check=False
    )
    if process.returncode:
        raise Failed(process.stderr.strip().splitlines()[-1])
    return 100 * statistics.fmean(
        said != right for said, right in zip(process.stdout.splitlines(), phones, strict=True)
    )


def measure(files, language, seed, beam, runs):
    """Trains and evaluates a run with one seed, in a subfolder of `runs`.

    Returns:
        The word error rates in % on dev and test, and the seconds of training.
    """
    say(f"{language}, seed {seed} …")
    run = runs / f"{language}_{seed}"
    seconds = train(files, language, seed, run)
    dev, test = (word_error_rate(run, files / f"{language}_{split}.tsv", beam) for split in ("dev", "test"))
    say(f"  {language}, seed {seed}: dev {dev:.2f} %, test {test:.2f} %, {seconds:.0f} s")
    return dev, test, seconds


def report(found):
    """Returns the paragraphs of the results.

    Args:
        found: Dictionary from each language to the results of `measure`, one per seed.
    """
    header = ["language", "test, mean", "each seed", "dev, mean", "Gorman et al. 2020", "Ryan & Hulden 2020", "minutes"]
    rows = []
    for language, seeds in found.items():
        name, gorman, ryan = PUBLISHED[language]
        dev, test, seconds = zip(*seeds, strict=True)
        each = ", ".join(f"{rate:.2f}" for rate in test)
        slowest = f"{max(seconds) / 60:.0f}"
        means = f"{statistics.fmean(test):.2f}", each, f"{statistics.fmean(dev):.2f}"
        rows.append([name, *means, f"{gorman:.2f}", f"{ryan:.2f}", slowest])
    how = (
        "Word error rate in %, a word being wrong unless all its phones are right; the minutes are those of the "
        "slowest training. The published rates are of the same files."
    )
    settings = f"```toml\n{SETTINGS.read_text('utf-8').strip()}\n```"
    tried = TRIED.replace("\n", " ")
    return [how, table(header, rows), "The settings, `benchmarks/pronunciation.toml`:", settings, tried]


def main(arguments=None):
    parser = make_parser(__doc__, NAME)
    parser.add_argument("files", type=folder, metavar="FOLDER", help="folder of the shared task's files")
    parser.add_argument("--languages", choices=PUBLISHED, nargs="+", default=list(PUBLISHED), help="default: both")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], metavar="N", help="default: 0 1 2")
    parser.add_argument("--beam", type=at_least(1), default=5, metavar="N", help="default: 5")
    parser.add_argument("--at-once", type=at_least(1), default=1, metavar="N", help="concurrent trainings (default: 1)")
    parser.add_argument("--runs", type=folder, metavar="KEPT", help="folder for the runs (default: they are deleted)")
    options = parser.parse_args(arguments)
    with (
        contextlib.nullcontext(options.runs) if options.runs else tempfile.TemporaryDirectory() as runs,
        concurrent.futures.ThreadPoolExecutor(options.at_once) as threads,
    ):
        job = functools.partial(threads.submit, measure, options.files, beam=options.beam, runs=pathlib.Path(runs))
        made = {language: [job(language, seed) for seed in options.seeds] for language in options.languages}
        found = {language: [one.result() for one in seeds] for language, seeds in made.items()}
    publish(options.results, NAME, "Pronunciation of words", [provenance(NAME, arguments), *report(found)])


if __name__ == "__main__":
    start(main)
