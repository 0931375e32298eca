"""How much of a training's time goes into saving it?

    python -m benchmarks.saving [--corpus FILE] [--preset small] [--epochs N]

A checkpoint, the best weights and the metrics are saved at the end of every epoch, which is timed within `train`.
"""

import pathlib
import tempfile
import time
import unittest.mock

from benchmarks.command import at_least, make_parser, provenance, say, start
from benchmarks.corpus import SMALL_TALK, Corpus
from benchmarks.results import median_and_range, publish, table
from keras_transformer import PRESETS, preset, train
from keras_transformer.training.callbacks import Keeper

NAME = "saving"


def measure(corpus, config):
    """Trains.

    Args:
        corpus: Path of the corpus.
        config: The `Config`.

    Returns:
        Megabytes of a checkpoint, the seconds of each save, and those of the training.
    """
    seconds, save_epoch = [], Keeper.on_epoch_end

    def timed(self, epoch, logs=None):
        begin = time.perf_counter()
        save_epoch(self, epoch, logs)
        seconds.append(time.perf_counter() - begin)

    with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(Keeper, "on_epoch_end", timed):
        run = pathlib.Path(folder) / "run"
        summary = train(corpus, run, config)
        size = (run / "checkpoint.safetensors").stat().st_size
    return size / 1e6, seconds, summary["seconds"]


def main(arguments=None):
    parser = make_parser(__doc__, NAME)
    parser.add_argument("--corpus", type=pathlib.Path, default=SMALL_TALK, metavar="FILE", help="what to train on")
    parser.add_argument("--preset", choices=PRESETS, default="small", help="default: small")
    parser.add_argument("--epochs", type=at_least(1), default=3, metavar="N", help="default: 3")
    options = parser.parse_args(arguments)
    corpus = Corpus(options.corpus)
    say("training …")
    config = preset(options.preset).replace(epochs=options.epochs, patience=0)
    size, seconds, total = measure(corpus.path, config)
    row = [options.preset, f"{size:.0f}", median_and_range(seconds, 2), f"{total:.0f}", f"{sum(seconds) / total:.1%}"]
    header = ["preset", "checkpoint, MB", "each save, s", "training, s", "share of it"]
    about = [provenance(NAME, arguments), corpus.describe(beside_peers=False)]
    publish(options.results, NAME, "Saving", [*about, table(header, [row])])


if __name__ == "__main__":
    start(main)
