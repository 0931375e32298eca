"""How to train on a corpus."""

import shlex

import numpy as np
import pytest

from keras_transformer.apps import cli
from keras_transformer.data.check.suggestion import (
    choose_max_length,
    choose_preset,
    tokens_range,
    train_command,
    turn_lengths,
)


@pytest.mark.parametrize(
    ("tokens", "name"),
    [(0, "demo"), (99_999, "demo"), (100_000, "small"), (10_000_000, "base"), (200_000_000, "big"), (10**12, "big")],
)
def test_preset_by_tokens(tokens, name):
    assert choose_preset(tokens) == name


def test_the_ranges_of_presets():
    assert tokens_range("small") == "small from 100,000, base from 10,000,000"
    assert tokens_range("big") == "big from 200,000,000"


@pytest.mark.parametrize(
    ("lengths", "limit"),
    [
        ([10] * 1000, 64),
        ([10] * 996 + [300] * 4, 64),
        ([10] * 994 + [65] * 6, 72),
        ([10] * 500 + [100] * 500, 104),
        ([2000] * 1000, 512),
    ],
    ids=["all fit", "5 of 1,000 may not", "6 of 1,000 may", "many", "far too long"],
)
def test_max_length(lengths, limit):
    assert choose_max_length(np.array(lengths), 64) == limit


def parsed(command):
    """What the command line understands of a command."""
    program, *words = shlex.split(command)
    assert program == "keras-transformer"
    return cli.parser().parse_args(words)


def test_the_command_says_what_differs_from_the_defaults():
    usual = {"vocab_size": 8192, "max_length": 64}
    assert train_command("pairs.csv", None, None, "UTF-8", 1, "small", usual) == (
        "keras-transformer train pairs.csv --run runs/pairs --preset small"
    )
    assert train_command(["q.txt", "a.txt"], None, None, "cp949", 1, "demo", {"vocab_size": 500, "max_length": 48}) == (
        "keras-transformer train q.txt a.txt --run runs/q --preset demo --encoding cp949 --vocab-size 500"
    )


def test_the_command_can_be_typed_whatever_the_names():
    changes = {"vocab_size": 2000, "max_length": 72}
    options = parsed(train_command("내 자료/그의 'a'.csv", "질문 $1", "답; rm", "utf-16", 3, "small", changes))
    assert options.corpus == ["내 자료/그의 'a'.csv"]
    assert (options.question, options.answer, options.encoding) == ("질문 $1", "답; rm", "utf-16")
    assert (options.run, options.turns, options.vocab_size, options.max_length) == ("runs/그의 'a'", 3, 2000, 72)


def test_turns_are_counted_with_their_separators():
    class Letters:
        def encode(self, texts):
            return [list(text) for text in texts]

    whole, last = turn_lengths(Letters(), [["abc"], ["abc", "de", "f"]])
    assert whole == [1 + 3 + 1, 1 + 3 + 1 + 2 + 1 + 1 + 1]
    assert last == [1 + 3 + 1, 1 + 1 + 1]
