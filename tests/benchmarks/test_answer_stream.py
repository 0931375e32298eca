import pytest

from benchmarks import answer_stream
from keras_transformer import Config

pytestmark = pytest.mark.heavy

TINY = Config(vocab_size=1200, num_layers=1, d_model=8, num_heads=1, dff=8, max_length=40)


def test_both_kinds_are_timed_as_often(results, monkeypatch):
    monkeypatch.setattr(answer_stream, "preset", lambda name: TINY)
    answer_stream.main(["--calls", "2", "--results", str(results)])
    [row] = [line for line in results.read_text("utf-8").splitlines() if line.startswith("| tutorial")]
    assert row.count("–") == 5


def test_an_answer_comes_in_pieces():
    at_once, streamed, first, pieces = answer_stream.measure(TINY, calls=2)
    assert len(at_once) == len(streamed) == 2
    assert all(0 < early < late for early, late in zip(first, streamed))
    assert all(1 <= number <= answer_stream.TOKENS for number in pieces)
