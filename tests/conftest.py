import os
import pathlib

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

DATA = pathlib.Path(__file__).parents[1] / "data"


@pytest.fixture(scope="session")
def small_run(tmp_path_factory):
    """A run folder trained, for seconds, to know eight answers by heart."""
    import pandas as pd

    from keras_transformer import Config, train

    answers = {
        "안녕하세요": "반가워요!", "고마워": "천만에요.", "잘 자": "좋은 꿈 꾸세요.", "배고파": "밥 먹어요.",
        "hello": "Hi there!", "thank you": "You are welcome.", "good night": "Sleep well.", "bye": "See you soon!",
    }  # fmt: skip
    decorations = ["", "!", "?", " ~", "..", " :)", " ^^", "!!", " ??", "~~", " ;)", ".", "…", " !", " .", "?!"]
    pairs = [(question + mark, answer) for question, answer in answers.items() for mark in decorations]
    config = Config(
        vocab_size=420, num_layers=1, d_model=32, num_heads=2, dff=64, dropout=0.0, batch_size=16, epochs=40,
        patience=0, warmup_steps=150, max_length=24,
    )  # fmt: skip
    run_dir = tmp_path_factory.mktemp("small") / "run"
    train(pd.DataFrame(pairs, columns=["question", "answer"]), run_dir, config)
    return run_dir
