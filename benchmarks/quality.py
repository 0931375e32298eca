"""Does faster training reduce the quality of the model?

    python -m benchmarks.quality [--corpus FILE] [--preset small] [--epochs N] [--seeds N …]

The same settings are trained twice with each seed. The plain training uses Keras's Adam, one pair per row, batches of
random pairs padded to the longest, and float32. The other one is `train`, with sequence packing, the precision that it
selects, and compiled splits. Both validate the exponential moving average of the weights after each epoch, in bits per
character.
"""

import pathlib
import tempfile

import keras
import numpy as np

from benchmarks import ours
from benchmarks.command import at_least, make_parser, provenance, say, start
from benchmarks.corpus import SMALL_TALK, Corpus
from benchmarks.results import median_and_range, publish, table
from keras_transformer import Run, loss_function, preset, split_pairs, train
from keras_transformer.data.batching import Buckets
from keras_transformer.data.tokenized import encode_pairs
from keras_transformer.training.callbacks import EpochScores
from keras_transformer.training.ema import AveragedWeights, momentum
from keras_transformer.training.metrics import Perplexity
from keras_transformer.training.schedule import make_schedule

NAME = "quality"
PRESETS = ("demo", "tutorial", "small")  # Presets without label smoothing, which `loss_function` does not support.


class PlainBatches(Buckets):
    """Batches of random pairs, with one pair per row."""

    def _plan(self, epoch):
        return self._cut(np.random.default_rng((self.seed, epoch)).permutation(len(self.encoded)))


def train_plainly(run, splits):
    """Trains with the settings of a run folder, without the optimizations of `train`.

    Args:
        run: The `Run` that gives the settings and the tokenizer.
        splits: The splits returned by `split_pairs`.

    Returns:
        Validation bits per character after each epoch, a list.
    """
    config = run.config
    keras.utils.set_random_seed(config.seed)
    model = run.build_model()
    encoded, held_out = (
        encode_pairs(splits[name], run.tokenizer, config.max_length) for name in ("train", "validation")
    )
    batches = PlainBatches(encoded, config.batch_size, seed=config.seed)
    updates = config.epochs * len(batches)
    model.compile(
        keras.optimizers.Adam(
            make_schedule(config, updates), beta_1=0.9, beta_2=0.98, epsilon=1e-9,
            use_ema=True, ema_momentum=momentum(updates),
        ),
        loss_function, metrics=[Perplexity()], jit_compile=False,
    )  # fmt: skip
    model.optimizer.build(model.trainable_variables)
    history = model.fit(
        batches.epochs(), epochs=config.epochs, shuffle=False, verbose=2,
        validation_data=Buckets(held_out, config.batch_size, shuffle=False).epochs(),
        callbacks=[AveragedWeights(), EpochScores(len(encoded) / len(batches), held_out)],
    )  # fmt: skip
    return history.history[ours.SCORE]


def measure(corpus, config):
    """Trains in both ways with one seed.

    Args:
        corpus: The `Corpus`.
        config: The `Config`.

    Returns:
        Validation bits per character after each epoch, two lists: of `train`, and of plain training.
    """
    keras.utils.clear_session()
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        train(corpus.path, run, config)
        fast = [row[ours.SCORE] for row in ours.read_metrics(run)]
        keras.utils.clear_session()
        return fast, train_plainly(Run(run), split_pairs(corpus.pairs))


def report(scores):
    """Returns the paragraphs of the results.

    Args:
        scores: The results of `measure`, one per seed.
    """
    rows = []
    for epoch, (fast, plain) in enumerate(zip(*(zip(*ways) for ways in zip(*scores)), strict=True), 1):
        difference = [mine - other for mine, other in zip(fast, plain, strict=True)]
        rows.append([str(epoch), *(median_and_range(bits, 3) for bits in (plain, fast, difference))])
    header = ["epoch", "plainly", f"as {ours.NAME} trains", "difference with the same seed"]
    how = f"Validation bits per character, {len(scores)} seeds: median (lowest–highest). Below zero ours is better."
    return [how, table(header, rows)]


def main(arguments=None):
    parser = make_parser(__doc__, NAME)
    parser.add_argument("--corpus", type=pathlib.Path, default=SMALL_TALK, metavar="FILE", help="corpus to train on")
    parser.add_argument("--preset", choices=PRESETS, default="small", help="default: small")
    parser.add_argument("--epochs", type=at_least(1), default=6, metavar="N", help="default: 6")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], metavar="N", help="default: 1 2 3")
    options = parser.parse_args(arguments)
    corpus = Corpus(options.corpus)
    scores = []
    for seed in options.seeds:
        say(f"seed {seed} …")
        scores.append(measure(corpus, preset(options.preset).replace(epochs=options.epochs, patience=0, seed=seed)))
    about = [provenance(NAME, arguments), corpus.describe(beside_peers=False)]
    publish(options.results, NAME, "Quality at equal epochs", [*about, *report(scores)])


if __name__ == "__main__":
    start(main)
