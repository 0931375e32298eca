import io

import keras
import pytest

from keras_transformer.backend import precision as module
from keras_transformer.backend.devices import Devices
from keras_transformer.backend.precision import bfloat16_feature, choose_precision, precision


@pytest.mark.parametrize("wanted", ["float32", "bfloat16", "float16"])
def test_what_is_asked_for_is_taken(wanted):
    assert choose_precision(wanted, Devices()) == (wanted, "as requested")


@pytest.mark.parametrize(
    ("capability", "chosen"),
    [((9, 0), "bfloat16"), ((8, 0), "bfloat16"), ((7, 5), "float16"), ((6, 1), "float32"), ((0, 0), "float32")],
)
def test_a_gpu_gets_what_its_generation_is_fast_at(capability, chosen):
    assert choose_precision("auto", Devices(("GPU",), capability))[0] == chosen


@pytest.mark.parametrize(("feature", "chosen"), [("amx_bf16", "bfloat16"), (None, "float32")])
def test_a_processor_gets_bfloat16_if_it_multiplies_it(monkeypatch, feature, chosen):
    monkeypatch.setattr(module, "bfloat16_feature", lambda: feature)
    assert choose_precision("auto", Devices())[0] == chosen


@pytest.mark.parametrize(
    ("cpuinfo", "feature"),
    [("flags\t\t: fpu avx512_bf16 sse\n", "avx512_bf16"), ("flags\t\t: fpu avx2\n", None), ("Features: neon\n", None)],
)
def test_the_instructions_are_read_from_linux(monkeypatch, cpuinfo, feature):
    monkeypatch.setattr("builtins.open", lambda *_, **__: io.StringIO(cpuinfo))
    assert bfloat16_feature() == feature


def test_new_layers_compute_in_it_and_the_setting_before_comes_back():
    before = keras.config.dtype_policy()
    with precision("bfloat16"):
        assert keras.layers.Dense(1).compute_dtype == "bfloat16"
    assert keras.config.dtype_policy() is before
