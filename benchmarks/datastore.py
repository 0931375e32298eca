"""How does a datastore scale: seconds to build the index, memory, and milliseconds to find the nearest questions?

    python -m benchmarks.datastore [--exchanges N]

The exchanges are generated from the words of the corpus `small_talk`. Learning the embeddings is part of training, not
of indexing; it is timed separately.
"""

import argparse
import multiprocessing
import pathlib
import random
import statistics
import tempfile
import time

import numpy as np

from benchmarks.command import at_least, provenance, start
from benchmarks.corpus import SMALL_TALK
from benchmarks.launch import resident_mb
from benchmarks.results import RESULTS, publish, table
from keras_transformer import load_pairs
from keras_transformer.chat.datastore import Datastore, Exchange, questions_and_answers, save_datastore
from keras_transformer.chat.question_embeddings import learn_embeddings

NAME = "datastore"
ASKED = 200  # Number of questions.
RUN = "benchmark"


def generated_exchanges(count):
    """Returns `count` generated `Exchange`s, always the same ones."""
    draw, pairs = random.Random(0), load_pairs(SMALL_TALK)
    questions, answers = (" ".join(pairs[side]).split() for side in ("question", "answer"))
    return [
        Exchange(sentence(questions, 3, 8, draw), sentence(answers, 3, 10, draw), "made_up.csv", row)
        for row in range(1, count + 1)
    ]


def sentence(words, least, most, draw):
    """Returns a text of words drawn at random."""
    return " ".join(draw.choices(words, k=draw.randint(least, most)))


def measure(count):
    """Measures a datastore with `count` exchanges. Returns a dictionary from the table's column names to figures."""
    with tempfile.TemporaryDirectory() as folder:
        exchanges, begin = generated_exchanges(count), time.perf_counter()
        embeddings = learn_embeddings(*questions_and_answers(exchanges))
        learned = time.perf_counter() - begin
        save_datastore(folder, RUN, exchanges, embeddings)
        return {
            "exchanges": f"{count:,}",
            "to learn the embeddings, s": f"{learned:.1f}",
            **in_new_process(figures_of, folder),
        }


def in_new_process(function, argument):
    """Calls a function in a new process, so that earlier calls do not affect its memory. Returns its result."""
    with multiprocessing.get_context("spawn").Pool(1) as process:
        return process.apply(function, [argument])


def figures_of(folder):
    """Measures the datastore in a folder. Returns a dictionary of figures."""
    before, begin = resident_mb(), time.perf_counter()
    datastore = Datastore(folder, RUN)
    datastore.nearest(["안녕"])
    indexed, megabytes = time.perf_counter() - begin, resident_mb() - before
    draw, known = random.Random(1), load_pairs(SMALL_TALK)["question"]
    words = " ".join(known).split()
    seconds = [seconds_of(datastore, sentence(words, 3, 8, draw)) for _ in range(ASKED)]
    begin = time.perf_counter()
    datastore.teach("몇 살이야?", "세 살이에요.")
    datastore.nearest(["몇 살이야?"])
    taught = time.perf_counter() - begin
    return {
        "to read and index, s": f"{indexed:.1f}",
        "memory, MB": f"{megabytes:.0f}",
        "a question, ms (median)": f"{1000 * statistics.median(seconds):.1f}",
        "99 of 100 questions within, ms": f"{1000 * float(np.quantile(seconds, 0.99)):.1f}",
        "a correction until it holds, s": f"{taught:.2f}",
    }


def seconds_of(datastore, question):
    """Returns the seconds that a datastore takes to find the nearest exchanges of a question."""
    begin = time.perf_counter()
    datastore.nearest([question], 3)
    return time.perf_counter() - begin


def main(arguments=None):
    parser = argparse.ArgumentParser(f"python -m benchmarks.{NAME}", description=__doc__.splitlines()[0])
    parser.add_argument("--exchanges", type=at_least(1), nargs="+", default=[10_000, 100_000], metavar="N")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS)
    options = parser.parse_args(arguments)
    rows = [measure(count) for count in options.exchanges]
    text = table(list(rows[0]), [list(row.values()) for row in rows])
    publish(options.results, NAME, "The datastore", [provenance(NAME, arguments), text])


if __name__ == "__main__":
    start(main)
