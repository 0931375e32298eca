import json
import os
import subprocess
import sys

import pytest

from benchmarks import gpu
from benchmarks.programs import Failed

pytestmark = pytest.mark.heavy

OURS = {"step": 0.5, "memory": 3e9, "product": 400e12, "device": "NVIDIA H100 80GB HBM3"}


def options(*words):
    return gpu.parser().parse_args(list(words))


@pytest.mark.parametrize(
    ("device", "peak"),
    [("NVIDIA H100 80GB HBM3", 989e12), ("NVIDIA A100-SXM4-40GB", 312e12), ("NVIDIA L4", 121e12), ("cpu", None)],
)
def test_a_chip_is_known_by_its_name(device, peak):
    assert gpu.peak_of(device) == peak


def test_a_row_is_operations_over_time_over_peak():
    # 6 layers of 12 d² + 4 d f + 6 d 64, and 37,000 d: 64.0 million multiply-adds a token, 6 operations each; 25,600
    # tokens in half a second, and in a second.
    rounds = [OURS, {**OURS, "step": 1.0}]
    cells = gpu.row("ours", options(), rounds, product=400e12, peak=989e12)
    assert cells == [
        "ours", "750.0 (500.0–1,000.0)", "38,400 (25,600–51,200)", "14.8 (9.9–19.7)", "1.5 (1.0–2.0)",
        "3.7 (2.5–4.9)", "3.00",
    ]  # fmt: skip
    cells = gpu.row("on a processor", options(), [{**OURS, "memory": None}], product=400e12, peak=None)
    assert cells[4:] == ["n/a", "4.9", "n/a"]


def test_the_document_has_both_programs_in_turn_and_what_limits_ours(results, monkeypatch):
    asked = []

    def measure(module, options, python, *more):
        asked.append((module, *more))
        if module == "torch_steps":
            return {"step": 1.0, "memory": 5e9}
        return {**OURS, "step": 0.4 if "--dropout" in more else 0.25} if more else OURS

    monkeypatch.setattr(gpu, "measure", measure)
    gpu.main(["--torch-python", sys.executable, "--rounds", "2", "--results", str(results)])
    assert [one[0] for one in asked[:4]] == ["jax_steps", "torch_steps"] * 2
    text = results.read_text("utf-8")
    assert "The large product makes 400.0 TFLOP/s; the data sheet says 989." in text
    assert "ours to PyTorch's, within each round: 2.00 (2.00–2.00)." in text
    assert "| dropout | 400.0 | 20 |" in text
    assert "| nearly all logits and embeddings | 250.0 | 50 |" in text


def test_an_interpreter_that_is_none_is_refused(results):
    with pytest.raises(Failed, match=r"^no-such-python: not a program$"):
        gpu.main(["--torch-python", "no-such-python", "--results", str(results)])


@pytest.mark.slow  # PyTorch compiles in C++ for 80 s.
@pytest.mark.parametrize("compiled", [False, True])
def test_steps_of_pytorch_are_measured(compiled):
    pytest.importorskip("torch")
    environment = {**os.environ, "TORCH_COMPILE_DISABLE": "0" if compiled else "1"}
    words = ["--preset", "demo", "--rows", "2", "--length", "4", "--precision", "bfloat16"]
    command = [sys.executable, "-m", "benchmarks.torch_steps", *words]
    process = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert process.returncode == 0, process.stderr[-2000:]
    assert json.loads(process.stdout)["step"] > 0
