import json
import re
import sys

import pytest

from benchmarks import streaming
from keras_transformer import load_pairs

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")

OURS = """
import argparse, pathlib, signal, sys, time
parser = argparse.ArgumentParser()
parser.add_argument("command")
parser.add_argument("corpus")
for name in ("run", "preset"):
    parser.add_argument(f"--{name}")
options = parser.parse_args()
signal.signal(signal.SIGINT, signal.default_int_handler)  # Whatever whoever runs these tests has set.
held = b"x" * 50_000_000
pathlib.Path(options.run).mkdir()
(pathlib.Path(options.run) / "config.json").write_text("{}")
try:
    time.sleep(60)
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_every_pair_of_the_corpus_differs(tmp_path):
    streaming.write_corpus(tmp_path, pairs=100, shards=3)
    files = sorted(tmp_path.iterdir())
    rows = [row for file in files for row in load_pairs(file).itertuples(index=False, name=None)]
    assert len(files) == 3 and len(rows) == len({question for question, _ in rows}) == 100
    assert json.loads(files[0].read_text("utf-8").splitlines()[0])["question"].startswith("0 ")


def test_the_memory_is_noted_until_the_training_is_stopped(tmp_path, ours_is, results, monkeypatch):
    monkeypatch.setattr(streaming, "SECONDS_BETWEEN_LOOKS", 0.05)
    ours_is(tmp_path / "ours.py", OURS)
    streaming.main(["--pairs", "200", "--shards", "2", "--minutes", "0.01", "--results", str(results)])
    text = results.read_text("utf-8")
    assert re.search(r"^\| \d+ \| \d+ \|$", text, re.MULTILINE)
    assert float(text.split("Resident memory at most: ")[1].split(" MB")[0]) > 50


def test_a_training_that_never_starts_is_a_failure(tmp_path, ours_is, results, monkeypatch):
    monkeypatch.setattr(streaming, "SECONDS_BETWEEN_LOOKS", 0.05)
    ours_is(tmp_path / "ours.py", "import sys; sys.exit('no corpus')")
    with pytest.raises(streaming.Failed, match="no corpus"):
        streaming.main(["--pairs", "200", "--shards", "2", "--results", str(results)])
