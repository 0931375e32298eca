import csv
import sys

import pytest

from benchmarks.corpus import Corpus
from benchmarks.peers import Peer, peer_command, peers_for, read_epochs, speed
from benchmarks.programs import Failed

OUTPUT = """a warning
{"peer": "torch", "epoch": 0, "pairs_per_s": 10.0, "train_s": 9.0, "bits_per_char": 4.0}
{"peer": "torch", "epoch": 1, "pairs_per_s": 350.5, "train_s": 12.0, "bits_per_char": 3.5}
[1, 2]
{"another": "object"}
{"peer": "torch", "epoch": 2, "pairs_per"""


def test_figures_are_found_among_other_lines():
    assert [epoch["bits_per_char"] for epoch in read_epochs(OUTPUT)] == [4.0, 3.5]
    assert speed(OUTPUT) == 350.5


def test_a_peer_without_figures_is_not_measured():
    with pytest.raises(Failed, match="gave figures for 0 epochs"):
        speed("nothing here")


def test_the_tutorial_is_not_asked_for_more_steps_than_the_corpus_has():
    assert peers_for(10_641)[0].more == ("--steps", "60")
    assert peers_for(1645)[0].more == ("--steps", "25")  # 25 × 64 = 1,600


def test_a_peer_whose_script_is_missing_is_told(tmp_path):
    with pytest.raises(Failed, match=r"no torch_train\.py in the folder of the peers"):
        peer_command(sys.executable, tmp_path, Peer("torch", "float32", "torch_train.py"), "corpus.csv", 2)


def test_command_of_a_peer(tmp_path):
    (tmp_path / "torch_train.py").touch()
    peer = Peer("torch", "bfloat16", "torch_train.py", ("--bf16",))
    words = peer_command("python", tmp_path, peer, "corpus.csv", 3)
    assert words == ["python", tmp_path / "torch_train.py", "corpus.csv", "--epochs", "3", "--bf16"]


def test_peers_get_a_corpus_with_their_columns(corpus, tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()
    path = Corpus(corpus).for_peers(folder)
    assert path.parent == folder
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[:2] == [["Q", "A"], ["question 0", "answer 0"]]
    assert len(rows) == 101


def test_a_corpus_with_their_columns_is_handed_on_as_it_is(tmp_path):
    path = tmp_path / "theirs.csv"
    path.write_text("Q,A,label\n" + "".join(f"질문 {i},답 {i},0\n" for i in range(100)), "utf-8")
    assert Corpus(path).for_peers(tmp_path) == path


def test_a_corpus_too_small_for_the_vocabulary_is_told(corpus):
    about = Corpus(corpus)
    assert about.describe(beside_peers=False).startswith("Corpus: pairs.csv, 100 pairs, ")
    assert "flatter ours" not in about.describe(beside_peers=False)
    assert "flatter ours" in about.describe(beside_peers=True)
