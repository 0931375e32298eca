import pytest

from benchmarks import saving
from keras_transformer import Config, preset

pytestmark = pytest.mark.heavy

TINY = Config(vocab_size=400, num_layers=1, d_model=8, num_heads=1, dff=8, batch_size=16, warmup_steps=10)


def test_the_share_is_that_of_waiting_and_writing(corpus, results, monkeypatch):
    asked = []
    monkeypatch.setattr(saving, "measure", lambda *asking: asked.append(asking) or (8.0, [0.1, 0.3], [0.5, 1.1], 10.0))
    saving.main(["--corpus", str(corpus), "--epochs", "2", "--results", str(results)])
    assert asked == [(corpus, preset("small").replace(epochs=2, patience=0))]
    [row] = [line for line in results.read_text("utf-8").splitlines() if line.startswith("| small")]
    assert row == "| small | 8 | 0.20 (0.10–0.30) | 0.80 (0.50–1.10) | 10 | 20.0% |"


@pytest.mark.slow
def test_the_seconds_are_those_of_each_epoch(corpus):
    size, waited, beside, total = saving.measure(corpus, TINY.replace(epochs=3, patience=0))
    assert len(waited) == len(beside) == 3 and 0 < sum(waited) + sum(beside) < total
    assert 0.1 < size < 1  # About 10,000 weights, each with two moments and an average, in 4 bytes.
