"""How much of a training's time goes into saving it.

python -m benchmarks.saving
"""

import pathlib
import tempfile
import time
import unittest.mock

from keras_transformer import preset, train
from keras_transformer.training.callbacks import Keeper

CORPUS = pathlib.Path(__file__).parents[1] / "data/small_talk.csv"


def measure(name, epochs=3):
    """Trains a preset on our own corpus for some epochs.

    Returns:
        Megabytes of a checkpoint, the seconds of each save (checkpoint, weights and metrics), and those of training.
    """
    seconds, save_epoch = [], Keeper.on_epoch_end

    def timed(self, epoch, logs=None):
        start = time.perf_counter()
        save_epoch(self, epoch, logs)
        seconds.append(time.perf_counter() - start)

    with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(Keeper, "on_epoch_end", timed):
        run = pathlib.Path(folder) / "run"
        summary = train(CORPUS, run, preset(name).replace(epochs=epochs))
        size = (run / "checkpoint.safetensors").stat().st_size
    return size / 1e6, seconds, summary["seconds"]


def main():
    """Prints what was measured."""
    for name in ("demo", "tutorial"):
        size, seconds, total = measure(name)
        share = sum(seconds) / total
        print(f"{name:<8} saves {size:.0f} MB in {max(seconds):.2f} s at most: {share:.1%} of {total:.0f} s")


if __name__ == "__main__":
    main()
