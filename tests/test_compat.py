"""The private names of other libraries that the package uses. A test fails if a library drops one of them."""

import argparse
import asyncio
import subprocess
import sys

import pytest

from keras_transformer import compat


def check(owner, *names):
    """Fails with a sentence if an object lacks a name."""
    for name in names:
        assert hasattr(owner, name), f"{owner} has no {name} any more: change keras_transformer/compat.py"


def test_importing_it_loads_nothing_heavy():
    code = """
import sys
import keras_transformer.compat
heavy = {"keras", "tensorflow", "numpy", "sacrebleu", "uvicorn"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_keras_layer_flatten_layers():
    import keras

    check(keras.Layer, "_flatten_layers")
    inner = keras.Sequential([keras.Input((2,)), dense := keras.layers.Dense(3)])
    outer = keras.Sequential([keras.Input((2,)), inner])
    assert outer.layers == [inner]
    layers = compat.all_layers(outer)
    assert layers[0] is outer
    assert inner in layers
    assert dense in layers


def test_keras_optimizer_model_variables_moving_average():
    import keras
    import numpy as np

    optimizer = keras.optimizers.Adam(use_ema=True)
    weights = [keras.Variable([1.0, 2.0]), keras.Variable(np.ones((2, 3)))]
    optimizer.build(weights)
    check(optimizer, "_model_variables_moving_average")
    averages = compat.moving_averages(optimizer)
    assert [tuple(average.shape) for average in averages] == [(2,), (2, 3)]
    assert all(any(average is variable for variable in optimizer.variables) for average in averages)


@pytest.mark.parametrize("name", ["BLEU", "CHRF"])
def test_sacrebleu_statistics(name):
    import sacrebleu.metrics

    metric = getattr(sacrebleu.metrics, name)()
    check(metric, "_extract_corpus_statistics", "_compute_score_from_stats")
    answers, references = ["one two three four five", "six"], [["one two three four six", "six"]]
    statistics = compat.sentence_statistics(metric, answers, references)
    assert len(statistics) == 2
    score = compat.score_of_statistics(metric, [sum(column) for column in zip(*statistics)])
    assert score == metric.corpus_score(answers, references).score


def test_uvicorn_h11_protocol():
    uvicorn = pytest.importorskip("uvicorn")
    protocol = compat.h11_protocol()
    check(protocol, "connection_made", "data_received", "on_response_complete", "connection_lost")
    config = uvicorn.Config(lambda *_: None, http=protocol, log_config=None)
    loop = asyncio.new_event_loop()
    try:
        connection = protocol(config, uvicorn.Server(config).server_state, {}, loop)
    finally:
        loop.close()
    check(connection, "conn", "connections", "loop", "transport")
    check(connection.conn, "our_state", "their_state")


def test_argparse_gettext_and_help_formatter():
    check(argparse, "_", "ngettext")
    check(argparse.HelpFormatter, "_split_lines", "_format_usage")
    parser = argparse.ArgumentParser("p", formatter_class=compat.HelpByColumns)
    parser.add_argument("--word", help="한글 " * 20)
    lines = parser.format_help().splitlines()
    assert all(len(line) + sum(one >= "가" for one in line) <= 80 for line in lines)
    assert "한글" in lines[-1] and "\0" not in parser.format_help()
