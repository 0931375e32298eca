"""How much of the training time is spent on saving?

    python -m benchmarks.saving [--corpus FILE] [--preset small] [--epochs N]

A checkpoint, the best weights and the metrics are saved at the end of every epoch. The benchmark measures the time that
training waits for saving, and the CPU time of writing in the background. The latter is counted as if training lost all
of it.
"""

import pathlib
import tempfile
import time
import unittest.mock

from benchmarks.command import at_least, make_parser, provenance, say, start
from benchmarks.corpus import SMALL_TALK, Corpus
from benchmarks.results import median_and_range, publish, table
from keras_transformer import PRESETS, preset, train
from keras_transformer.training.callbacks import RunCheckpoint
from keras_transformer.training.checkpoint import Writer

NAME = "saving"


def measure(corpus, config):
    """Trains a run and measures saving.

    Args:
        corpus: Path of the corpus.
        config: The `Config`.

    Returns:
        The size of a checkpoint in MB, the seconds that each save blocked training, the CPU seconds of writing in the
        background, and the seconds of training.
    """
    waited, beside = [], []
    save_epoch, write = RunCheckpoint.on_epoch_end, Writer.write

    def timed_epoch_end(self, epoch, logs=None):
        begin = time.perf_counter()
        save_epoch(self, epoch, logs)
        waited.append(time.perf_counter() - begin)

    def timed_write(self, steps):
        write(self, [lambda: timed(steps)])

    def timed(steps):
        begin = time.thread_time()
        for step in steps:
            step()
        beside.append(time.thread_time() - begin)

    end = unittest.mock.patch.object(RunCheckpoint, "on_epoch_end", timed_epoch_end)
    written = unittest.mock.patch.object(Writer, "write", timed_write)
    with tempfile.TemporaryDirectory() as folder, end, written:
        run = pathlib.Path(folder) / "run"
        summary = train(corpus, run, config)
        size = (run / "checkpoint.safetensors").stat().st_size
    return (
        size / 1e6,
        waited,
        beside[1:],
        summary["seconds"],
    )  # The first job updates an older run; here it does nothing.


def main(arguments=None):
    parser = make_parser(__doc__, NAME)
    parser.add_argument("--corpus", type=pathlib.Path, default=SMALL_TALK, metavar="FILE", help="corpus to train on")
    parser.add_argument("--preset", choices=PRESETS, default="small", help="default: small")
    parser.add_argument("--epochs", type=at_least(1), default=3, metavar="N", help="default: 3")
    options = parser.parse_args(arguments)
    corpus = Corpus(options.corpus)
    say("training …")
    config = preset(options.preset).replace(epochs=options.epochs, patience=0)
    size, waited, beside, total = measure(corpus.path, config)
    share = f"{(sum(waited) + sum(beside)) / total:.1%}"
    row = [
        options.preset,
        f"{size:.0f}",
        *(median_and_range(seconds, 2) for seconds in (waited, beside)),
        f"{total:.0f}",
    ]
    header = [
        "preset",
        "checkpoint, MB",
        "each held up, s",
        "each beside, s of a processor",
        "training, s",
        "share of it",
    ]
    about = [provenance(NAME, arguments), corpus.describe(beside_peers=False)]
    publish(options.results, NAME, "Saving", [*about, table(header, [[*row, share]])])


if __name__ == "__main__":
    start(main)
