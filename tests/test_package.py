import ast
import dataclasses
import doctest
import inspect
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import keras_transformer

FIRST_MET = {
    "Beam", "CustomSchedule", "Greedy", "PositionalEncoding", "Sampling", "Tokenizer", "accuracy",
    "create_look_ahead_mask", "create_padding_mask", "load_pairs", "loss_function", "scaled_dot_product_attention",
}  # fmt: skip
"""Names that a learner meets first. Their docstrings have examples."""


def functions_of(public):
    """Yields a public function, or the public methods and properties of a class, with their names."""
    if not inspect.isclass(public):
        yield public.__name__, public
        return
    for owner in public.__mro__:
        for name, member in vars(owner).items() if owner.__module__.startswith("keras_transformer.") else ():
            member = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if inspect.isfunction(member) and (name in ("__init__", "__call__") or not name.startswith("_")):
                yield f"{public.__name__}.{name}", member


def test_every_public_name_is_there():
    for name in keras_transformer.__all__:
        assert getattr(keras_transformer, name) is not None


def test_star_import_gives_the_tutorials_names():
    namespace = {}
    exec("from keras_transformer import *", namespace)
    assert {
        "scaled_dot_product_attention", "MultiHeadAttention", "PositionalEncoding", "create_padding_mask",
        "create_look_ahead_mask", "encoder_layer", "encoder", "decoder_layer", "decoder", "transformer",
        "CustomSchedule", "loss_function", "accuracy",
    } <= set(namespace)  # fmt: skip


@pytest.mark.heavy
def test_all_names_are_there_without_the_packages_of_extras_and_say_what_they_need():
    code = """
import sys
sys.modules["matplotlib"] = sys.modules["rapidfuzz"] = None
from keras_transformer import *
from keras_transformer import InputError
for extra, use in (
    ("visualize", lambda: plot_position_encoding()),
    ("visualize", lambda: plot_schedule(CustomSchedule(64), 10)),
    ("evaluate", lambda: evaluate("run", None)),
    ("evaluate", lambda: compare(["run", "other"], None)),
    ("report", lambda: report_html("run", None)),
):
    try:
        use()
    except InputError as error:
        assert str(error).endswith(f"pip install 'keras-transformer-trainer[{extra}]'"), error
    else:
        raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("arguments", [["--help"], ["train", "--help"], ["presets"], ["data", "list", "--json"]])
def test_importing_the_package_and_asking_what_there_is_load_nothing_heavy(arguments):
    code = f"""
import sys
import keras_transformer.cli.main
try:
    assert keras_transformer.cli.main.main({arguments}) == 0
except SystemExit as end:
    assert end.code == 0
heavy = {{
    "tensorflow", "keras", "numpy", "pandas", "sentencepiece", "prompt_toolkit", "requests", "matplotlib",
}} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(keras_transformer, "no_such_name")
    assert "Tokenizer" in dir(keras_transformer)


@pytest.mark.parametrize("name", keras_transformer.__all__)
def test_public_functions_and_methods_are_annotated(name):
    public = getattr(keras_transformer, name)
    if not callable(public):
        return
    for where, function in functions_of(public):
        signature = inspect.signature(function)
        missing = [
            parameter.name
            for parameter in signature.parameters.values()
            if parameter.annotation is parameter.empty and parameter.name not in ("self", "cls")
        ]
        assert not missing, (where, missing)
        assert signature.return_annotation is not signature.empty or where.endswith(".__init__"), where


@pytest.mark.parametrize("name", keras_transformer.__all__)
def test_fields_of_public_dataclasses_say_what_they_hold(name):
    public = getattr(keras_transformer, name)
    if dataclasses.is_dataclass(public):
        assert not [field.name for field in dataclasses.fields(public) if field.type in (dict, list, tuple, object)]


def test_editors_see_the_same_names_as_python():
    stub = ast.parse(pathlib.Path(keras_transformer.__file__).with_suffix(".pyi").read_text("utf-8"))
    seen = {
        (node.module, name.name, name.asname)
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    # Type checkers take a name of a stub as public only if it is imported `as` itself.
    assert seen == {(f"keras_transformer.{home}", name, name) for name, home in keras_transformer._HOMES.items()}


def test_type_checkers_are_told_that_the_package_is_annotated():
    assert pathlib.Path(keras_transformer.__file__).with_name("py.typed").is_file()


@pytest.mark.parametrize("name", keras_transformer.__all__)
def test_examples_in_docstrings_show_what_python_prints(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"np": np, **{public: getattr(keras_transformer, public) for public in keras_transformer.__all__}}
    runner = doctest.DocTestRunner(verbose=False)
    examples = 0
    for test in doctest.DocTestFinder().find(names[name], name, globs=names):
        # The methods that a class inherits from Keras have examples of their own.
        if test.filename and "keras_transformer" in pathlib.Path(test.filename).parts:
            report = []
            runner.run(test, out=report.append)
            assert not runner.failures, "".join(report)
            examples += len(test.examples)
    assert examples or name not in FIRST_MET
