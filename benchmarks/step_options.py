"""Options shared by `jax_steps.py` and `torch_steps.py`: which training steps are timed, and how many."""

import argparse

from benchmarks.command import at_least
from keras_transformer import PRESETS, preset

FIRST_ID = 4  # Lower ids are special tokens, such as padding.
STEPS, ROUNDS = 4, 5  # Steps per round, and rounds after a first one that compiles.


def make_parser(about):
    """Returns a parser with the options of the timed steps."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=PRESETS, default="small", help="sizes of the model (default: small)")
    parser.add_argument("--dropout", type=float, metavar="X", help="override the preset's value")
    parser.add_argument("--vocab-size", type=at_least(FIRST_ID + 1), metavar="N", help="override the preset's value")
    parser.add_argument("--rows", type=at_least(1), required=True, help="pairs per batch in this process")
    parser.add_argument("--length", type=at_least(1), default=32, help="tokens per text (default: 32)")
    parser.add_argument("--precision", choices=("float32", "bfloat16"), default="float32", help="default: float32")
    return parser


def config_of(options):
    """Returns the `Config` for the options."""
    others = {"dropout": options.dropout, "vocab_size": options.vocab_size}
    return preset(options.preset).replace(**{name: value for name, value in others.items() if value is not None})
