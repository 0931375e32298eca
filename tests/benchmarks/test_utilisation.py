import keras
import pytest

from benchmarks import utilisation
from keras_transformer import Config

pytestmark = pytest.mark.heavy

TINY = Config(num_layers=1, d_model=8, num_heads=2, dff=16, vocab_size=20)


def test_the_share_is_operations_over_time_over_peak():
    # 3 TFLOP in 10, 15 and 20 s, of 400 GFLOP/s.
    row = utilisation.row("float32", False, 3e12, [10.0, 20.0, 15.0], 4e11)
    assert row == ["float32", "no", "15.00 (10.00–20.00)", "200 (150–300)", "400", "50.0 (37.5–75.0)"]


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_peak_is_a_speed(precision):
    assert 1e3 < utilisation.matmul_peak(precision, shapes=[(64, 64, 64), (128, 16, 32)], repeats=1) < 1e18


@pytest.mark.parametrize(
    ("precision", "jit_compile"), [pytest.param("float32", True, marks=pytest.mark.slow), ("bfloat16", False)]
)
def test_steps_are_timed_and_leave_the_precision_as_it_was(precision, jit_compile):
    times = utilisation.step_seconds(TINY, precision, jit_compile, batch=2, length=4, steps=2)
    assert len(times) == 2
    assert min(times) > 0
    assert keras.config.dtype_policy().name == "float32"


def test_a_row_for_each_precision_and_compiler(results, monkeypatch):
    monkeypatch.setattr(utilisation, "matmul_peak", lambda precision: 1e11)
    monkeypatch.setattr(utilisation, "step_seconds", lambda *_: [1.0, 1.0])
    words = ["--precision", "float32", "bfloat16", "--jit-compile", "no", "yes", "--results", str(results)]
    utilisation.main(words)
    text = results.read_text("utf-8")
    # 6 layers of 12 d² + 4 d f + 6 d 32, and d V: 48,824,320 multiply-adds a token; 2,048 tokens, 6 operations each.
    assert "600 GFLOP by the equations" in text
    for row in ("float32 | no", "float32 | yes", "bfloat16 | no", "bfloat16 | yes"):
        assert f"| {row} | 1.00 (1.00–1.00) | 600 (600–600) | 100 |" in text
