"""Quality at equal epochs: both ways are really trained, and the table says which is better."""

import pytest

from benchmarks import quality
from benchmarks.corpus import Corpus
from keras_transformer import Config

pytestmark = pytest.mark.heavy


def test_the_table_has_medians_and_differences_of_equal_seeds():
    scores = [([5.0, 3.0], [5.5, 4.0]), ([6.0, 2.0], [5.0, 4.5]), ([4.0, 1.0], [4.25, 1.5])]
    assert quality.report(scores)[1].splitlines()[2:] == [
        "| 1 | 5.000 (4.250–5.500) | 5.000 (4.000–6.000) | -0.250 (-0.500–1.000) |",
        "| 2 | 4.000 (1.500–4.500) | 2.000 (1.000–3.000) | -1.000 (-2.500–-0.500) |",
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::keras_transformer.CorpusWarning")
def test_both_ways_train_the_same_settings(tmp_path):
    rows = ["question,answer", *(f"word{i} one,answer {i % 7} and more" for i in range(150))]
    (tmp_path / "pairs.csv").write_text("\n".join(rows), "utf-8")
    config = Config(vocab_size=300, num_layers=1, d_model=16, num_heads=2, dff=16, epochs=2, warmup_steps=20)
    fast, plain = quality.measure(Corpus(tmp_path / "pairs.csv"), config)
    assert len(fast) == len(plain) == 2
    assert fast[1] < fast[0] and plain[1] < plain[0]
    assert fast[1] == pytest.approx(plain[1], rel=0.1)
