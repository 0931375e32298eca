import subprocess
import sys

import pytest

import keras_transformer


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
        assert str(error).endswith(f"pip install 'keras-transformer[{extra}]'"), error
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
