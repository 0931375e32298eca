import shutil

import pytest

ANSWERS = {"배고파": "밥 먹어요.", "잘 자": "좋은 꿈 꾸세요.", "hello": "Hi there!", "bye": "See you soon!"}


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A run of one epoch on a CSV file beside it, with a datastore of its exchanges."""
    from keras_transformer import Config, train

    folder = tmp_path_factory.mktemp("doctor")
    rows = [
        f"{question}{mark},{answer}" for question, answer in ANSWERS.items() for mark in ("", "!", "?", " ..", " ~")
    ]
    (folder / "pairs.csv").write_text("\n".join(["question,answer", *rows]), encoding="utf-8")
    config = Config(
        vocab_size=300, num_layers=1, d_model=8, num_heads=2, dff=8, dropout=0.0, batch_size=16, epochs=1, patience=0,
        warmup_steps=2, max_length=16, precision="float32", hold_out=False,
    )  # fmt: skip
    train(folder / "pairs.csv", folder / "run", config)
    return folder / "run"


@pytest.fixture
def run(trained, tmp_path):
    """A copy of this run, to be damaged."""
    return shutil.copytree(trained, tmp_path / "run")
