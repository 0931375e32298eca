import json
import sys

import pytest

from benchmarks import lengths
from benchmarks.flops import multiply_adds, training_flops
from keras_transformer import Config, preset, transformer

TINY = Config(num_layers=1, d_model=2, num_heads=1, dff=3, vocab_size=5)


def test_multiply_adds_by_hand():
    # Encoder: 4·2² + 2·2·3 = 28, attention 2·2·1·1 = 4. Decoder: the same, its second attention 4·2² + 4. Logits: 2·5.
    assert multiply_adds(TINY, 1, 1) == 32 + 32 + 20 + 10
    # Two more tokens of the question: encoder 3·28 + 2·2·3·3, over the memory (1 + 3)·2·2² + 2·2·1·3.
    assert multiply_adds(TINY, 3, 1) == (84 + 36) + 32 + (32 + 12) + 10
    assert training_flops(TINY, 1, 1) == 6 * 94


def test_multiply_adds_of_the_matrices_are_the_models_parameters():
    sizes = {"num_layers": 2, "d_model": 8, "num_heads": 2, "dff": 12, "vocab_size": 20}
    model = transformer(**sizes, dropout=0.0)
    kernels = sum(weight.shape[0] * weight.shape[1] for weight in model.weights if weight.name == "kernel")
    attention = 2 * 3 * 2 * 8  # Layers, attentions, products, width: for one query and one key.
    assert multiply_adds(Config(**sizes), 1, 1) == kernels + attention


@pytest.mark.parametrize("length", [32, 1024])
def test_equations_of_the_preset_are_those_of_the_docstring(length):
    assert lengths.flops_per_token(preset("tutorial"), length) == 6 * (4_718_592 + 3_072 * length)


def test_a_step_is_measured():
    found = lengths.measure_length(TINY, length=8, tokens=32, steps=2, precision="float32")
    assert found["batch"] == 4
    assert found["seconds"] > 0
    assert found["before_mb"] > 1


def test_rows_are_relative_to_the_first(tmp_path, results, monkeypatch):
    script = tmp_path / "one.py"
    script.write_text(
        "import json, sys\nlength = int(sys.argv[sys.argv.index('--only') + 1])\nprint('noise')\n"
        "print(json.dumps({'batch': 64 // length, 'seconds': length / 1e6, 'before_mb': 1.0}))"
    )
    monkeypatch.setattr(lengths, "MEASURE_ONE", (sys.executable, script))
    lengths.main(["--lengths", "32", "64", "--tokens", "64", "--results", str(results)])
    rows = [
        line.strip("| ").split(" | ") for line in results.read_text("utf-8").splitlines() if line[:3] in ("| 3", "| 6")
    ]
    assert [row[:6] for row in rows] == [
        ["32", "2", "28.9", "1.00", "0", "1.00"],
        ["64", "1", "29.5", "1.02", "1", "2.00"],
    ]


def test_one_length_is_printed_for_the_process_that_asks(capsys, monkeypatch):
    monkeypatch.setattr(lengths, "preset", lambda name: TINY)
    lengths.main(["--only", "4", "--tokens", "8", "--steps", "1"])
    assert json.loads(capsys.readouterr().out)["batch"] == 2
