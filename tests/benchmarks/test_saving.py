from benchmarks import saving
from keras_transformer import Config

TINY = Config(vocab_size=400, num_layers=1, d_model=8, num_heads=1, dff=8, batch_size=16, warmup_steps=10)


def test_every_epoch_is_saved_and_timed(corpus, results, monkeypatch):
    monkeypatch.setattr(saving, "preset", lambda name: TINY)
    saving.main(["--corpus", str(corpus), "--epochs", "2", "--results", str(results)])
    [row] = [line for line in results.read_text("utf-8").splitlines() if line.startswith("| small")]
    name, megabytes, waited, beside, training, share = row.strip("| ").split(" | ")
    assert (name, megabytes) == ("small", "0") and float(training) > 0 and "–" in waited and "–" in beside
    assert 0 < float(share.rstrip("%")) < 100


def test_the_seconds_are_those_of_each_epoch(corpus):
    size, waited, beside, total = saving.measure(corpus, TINY.replace(epochs=3, patience=0))
    assert len(waited) == len(beside) == 3 and 0 < sum(waited) + sum(beside) < total
    assert 0.1 < size < 1  # About 10,000 weights, each with two moments and an average, in 4 bytes.
