"""Tiny programs that stand in for ours and for the peers: they write figures at once instead of training."""

import sys

import pytest

from benchmarks import ours

OURS = """
import argparse, pathlib
parser = argparse.ArgumentParser()
parser.add_argument("command")
parser.add_argument("corpus")
for name in ("run", "preset", "precision", "epochs", "patience"):
    parser.add_argument(f"--{name}")
options = parser.parse_args()
with open(pathlib.Path(__file__).with_name("turns"), "a") as turns:
    turns.write(f"ours {options.precision}\\n")
run = pathlib.Path(options.run)
run.mkdir()
rows = ["epoch,pairs/s,val_bits_per_char", "1,7.0,5.0", "2,400.0,3.0", "3,400.0,2.0"]
(run / "metrics.csv").write_text("\\n".join(rows[: 1 + int(options.epochs or 3)]))
"""

TUTORIAL = """
import csv, json, pathlib, sys
with open(pathlib.Path(__file__).parents[1] / "turns", "a") as turns:
    turns.write("tutorial\\n")
with open(sys.argv[1], newline="") as file:
    assert {"Q", "A"} <= set(next(csv.reader(file)))
print("noise")
for epoch in range(int(sys.argv[sys.argv.index("--epochs") + 1])):
    figures = {"pairs_per_s": 100.0 if epoch else 9.0, "train_s": 30.0 * (epoch + 1), "bits_per_char": 4.0 - epoch}
    print(json.dumps({"peer": "tutorial", "epoch": epoch, **figures}), flush=True)
"""

TORCH = """
import json, pathlib, sys
with open(pathlib.Path(__file__).parents[1] / "turns", "a") as turns:
    turns.write("torch bfloat16\\n" if "--bf16" in sys.argv else "torch float32\\n")
if "--bf16" in sys.argv:
    sys.exit("some words\\nno bfloat16 in /home/me/here")
print(json.dumps({"pairs_per_s": 9.0}))
print(json.dumps({"pairs_per_s": 320.0}))
"""


@pytest.fixture
def ours_is():
    """A function that puts a script in the place of our program, until the test ends."""
    with pytest.MonkeyPatch.context() as patch:

        def put(path, script):
            path.write_text(script)
            patch.setattr(ours, "PROGRAM", (sys.executable, path))

        yield put


@pytest.fixture
def programs(tmp_path, ours_is):
    """Our program and a folder "peers", both made of stand-ins that note their turns in the file "turns"."""
    ours_is(tmp_path / "ours.py", OURS)
    (tmp_path / "peers").mkdir()
    (tmp_path / "peers" / "tutorial_train.py").write_text(TUTORIAL)
    (tmp_path / "peers" / "torch_train.py").write_text(TORCH)
    return tmp_path


@pytest.fixture
def corpus(tmp_path):
    """A corpus with the columns question and answer."""
    path = tmp_path / "pairs.csv"
    path.write_text("question,answer\n" + "".join(f"question {i},answer {i}\n" for i in range(100)))
    return path


@pytest.fixture
def results(tmp_path):
    """Where results go."""
    return tmp_path / "RESULTS.md"
