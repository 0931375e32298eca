"""Decoding beside the peers, with stand-ins for all programs."""

import sys

import pytest

from benchmarks import decoding, ours, roofline, utilisation
from keras_transformer import Config

pytestmark = pytest.mark.heavy

OURS = """
import json, sys
scale = 10 if sys.argv[-1] == "base" else 1
print("noise")
for batch, beams, ms in ((1, 1, 8.0), (32, 1, 60.0), (1, 4, 16.0), (32, 4, 180.0)):
    print(json.dumps({"batch": batch, "beams": beams, "ms": ms * scale}))
"""

CTRANSLATE2 = """
import json, sys
scale = int(sys.argv[sys.argv.index("--threads") + 1]) * (10 if "--base" in sys.argv else 1)
for batch, ms in ((1, 10.0), (32, 80.0)):
    print(json.dumps({"peer": "x", "batch": batch, "tokens": 20, "ms": ms * scale}))
"""

TUTORIAL = 'print(\'{"peer": "tutorial", "batch": 1, "tokens": 20, "ms": 1600.0}\')'


@pytest.fixture
def peers(tmp_path, monkeypatch):
    for name, script in (("ours", OURS), ("ctranslate2_decode", CTRANSLATE2), ("tutorial_decode", TUTORIAL)):
        (tmp_path / f"{name}.py").write_text(script)
    monkeypatch.setattr(decoding, "MEASURE_ONE", (sys.executable, tmp_path / "ours.py"))
    monkeypatch.setattr(utilisation, "matmul_peak", lambda precision: 2e11)
    monkeypatch.setattr(ours, "PROGRAM", (sys.executable, "-c", "pass"))
    return tmp_path


def test_ratios_are_taken_to_the_fastest_number_of_threads(peers, results):
    decoding.main(["--peers", str(peers), "--rounds", "2", "--results", str(results)])
    rows = [line.strip("| ").split(" | ") for line in results.read_text("utf-8").splitlines()]
    cells = {row[0]: row[1:] for row in reversed(rows) if len(row) > 2}  # Of rows of one name the first.
    assert cells["tutorial, batch 1, greedy"] == [
        "8.0 (8.0–8.0)", "10.0 (10.0–10.0)", "0.800 (0.800–0.800)", "10.0 (10.0–10.0)",
        "0.800 (0.800–0.800)", "1,600.0 (1,600.0–1,600.0)", "0.005 (0.005–0.005)",
    ]  # fmt: skip
    assert cells["base, batch 32, greedy"][:3] == ["600.0 (600.0–600.0)", "800.0 (800.0–800.0)", "0.750 (0.750–0.750)"]
    assert cells["base, batch 1, 4 beams"][1:] == ["–"] * 6


def test_without_peers_ours_runs_alone(peers, results):
    decoding.main(["--rounds", "1", "--results", str(results)])
    assert "| tutorial, batch 32 | 3.00 |" in results.read_text("utf-8")


@pytest.mark.slow
def test_a_real_measurement(monkeypatch):
    monkeypatch.setattr(decoding, "preset", lambda name: Config(num_layers=1, d_model=8, num_heads=2, dff=8))
    monkeypatch.setattr(decoding, "CALLS", 2)
    found = list(decoding.measure_sizes("tutorial"))
    assert [(one["batch"], one["beams"]) for one in found] == [(1, 1), (32, 1), (1, 4), (32, 4)]
    assert all(one["ms"] > 0 for one in found)


def test_the_least_time_by_hand():
    config = Config(num_layers=1, d_model=2, num_heads=1, dff=3)
    assert roofline.encoder_weights(config) == 16 + 12 + 8
    assert roofline.step_weights(config, 5) == 24 + 12 + 10
    # Reading: 4 bytes a weight. Computing: 2 operations a weight and row.
    assert roofline.least_ms(config, 5, 1, 1, 10, bandwidth=4e3, peak=1e9) == pytest.approx(36 + 10 * 46)
    assert roofline.least_ms(config, 5, 7, 3, 10, bandwidth=1e12, peak=2e3) == pytest.approx(36 * 21 + 10 * 46 * 7)


def test_the_bandwidth_is_that_of_some_memory():
    assert 1e8 < roofline.read_bandwidth(1 << 20) < 1e13
