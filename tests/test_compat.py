"""The private names of other libraries that the package uses. A test fails if a library drops one of them."""

import argparse
import ast
import asyncio
import pathlib
import re
import subprocess
import sys

import pytest

from keras_transformer import compat


def check(owner, *names):
    """Fails with a sentence if an object lacks a name."""
    for name in names:
        assert hasattr(owner, name), f"{owner} has no {name} any more: change keras_transformer/compat.py"


PRIVATE = re.compile(r"keras\.src|tensorflow\.python|(^|\.)_[^_]")


def private_names(source):
    """Yields the private names that a module imports, and the private attributes that it uses but does not define."""
    own = set(re.findall(r"(?:self\.|def |^)(_\w+)", source, re.MULTILINE))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            names = {node.attr} - own
        elif isinstance(node, ast.Import):
            names = {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{name.name}" for name in node.names}
        else:
            continue
        yield from filter(PRIVATE.search, names)


def test_no_other_module_uses_private_names():
    package = pathlib.Path(compat.__file__).parent
    for path in package.rglob("*.py"):
        if path != pathlib.Path(compat.__file__):
            # `os._exit`, and `_replace` of named tuples, are documented.
            assert set(private_names(path.read_text("utf-8"))) <= {"_exit", "_replace"}, path


@pytest.mark.parametrize("code", ["model._flatten_layers()", "from keras.src import ops", "import tensorflow.python"])
def test_private_names_are_found(code):
    assert list(private_names(code))
    assert not list(private_names("self._model = 1\nother._model"))


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
    check(optimizer, "_get_variable_index", "_momentums", "_velocities")  # Inherited by `training.ema.AveragingAdam`.
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
    check(protocol, "pause_writing", "resume_writing")
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
    parser.add_argument("--name", help=f"{'x' * 50} `keras-transformer data list`")
    assert "`keras-transformer data list`" in parser.format_help()


def test_argparse_checks_choices_and_commands_where_a_subclass_does():
    check(argparse.ArgumentParser, "_check_value")
    refused = []

    class Parser(compat.ParserWithChoices):
        def refuse_choice(self, action, value):
            refused.append((action.dest, value))

    parser = Parser(exit_on_error=False)
    parser.add_argument("--size", choices=["small", "big"])
    parser.add_subparsers(dest="command").add_parser("chat")
    assert parser.parse_args(["--size", "big", "chat"]).command == "chat"
    for arguments in (["--size", "bgi"], ["caht"]):
        with pytest.raises(argparse.ArgumentError, match="invalid choice"):
            parser.parse_args(arguments)
    assert refused == [("size", "bgi"), ("command", "caht")]


def test_argparse_has_the_arguments_of_a_parser_and_of_its_subcommands():
    check(argparse, "_SubParsersAction")
    parser = argparse.ArgumentParser(add_help=False)
    check(parser, "_actions")
    parser.add_subparsers(dest="command").add_parser("chat", add_help=False).add_argument("run")
    assert [action.dest for action in compat.actions_of(parser)] == ["command", "run"]
