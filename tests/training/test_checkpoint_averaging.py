import csv
import shutil

import numpy as np
import pandas as pd
import pytest

from keras_transformer import Chatbot, Config, InputError, Run, average_epochs, train
from keras_transformer.chat.datastore import read_exchanges
from keras_transformer.runs.lock import locked
from keras_transformer.runs.run import load_tensors

pytestmark = pytest.mark.heavy

CONFIG = Config(
    vocab_size=400, num_layers=1, d_model=16, num_heads=2, dff=16, batch_size=32, epochs=5, patience=0,
    warmup_steps=50, max_length=16, keep_epochs=3,
)  # fmt: skip
PAIRS = pd.DataFrame({"question": [f"질문 {i}" for i in range(160)], "answer": [f"대답 {i % 7}" for i in range(160)]})


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    run_dir = tmp_path_factory.mktemp("kept") / "run"
    train(PAIRS, run_dir, CONFIG)
    return run_dir


def weights(run_dir, name):
    return load_tensors(run_dir / name, Run(run_dir).id)


def test_the_last_epochs_are_kept_and_no_others(trained):
    names = [f"weights-epoch-000{epoch}.safetensors" for epoch in (3, 4, 5)]
    assert sorted(path.name for path in trained.glob("weights-epoch-*")) == names
    assert [weights(trained, name)[1]["epoch"] for name in names] == [3, 4, 5]
    best = weights(trained, "weights.safetensors")[0]
    for name, value in weights(trained, names[2])[0].items():  # This short training is best in its last epoch.
        np.testing.assert_array_equal(value, best[name])


def test_the_average_of_one_epoch_has_its_scores(trained):
    with open(trained / "metrics.csv", encoding="utf-8") as file:
        fourth = list(csv.DictReader(file))[3]
    average = average_epochs(PAIRS[:], shutil.copytree(trained, trained.parent / "one"), last=2)
    assert average["epochs"] == [4, 5]
    assert average["best"]["epoch"] == 5
    for epoch_file in (trained.parent / "one").glob("weights-epoch-0005.*"):
        epoch_file.unlink()
    alone = average_epochs(PAIRS, trained.parent / "one", last=1)
    assert alone["epochs"] == [4]
    for name in ("val_loss", "val_perplexity", "val_accuracy", "val_bits_per_char"):
        assert alone[name] == pytest.approx(float(fourth[name]), rel=1e-5)


def test_the_average_is_kept_only_if_asked_for(trained, tmp_path):
    run_dir = shutil.copytree(trained, tmp_path / "run")
    before = (run_dir / "weights.safetensors").read_bytes()
    average = average_epochs(PAIRS, run_dir, best=2)
    assert average["epochs"] == [4, 5]
    assert (run_dir / "weights.safetensors").read_bytes() == before
    average_epochs(PAIRS, run_dir, best=2, keep=True)
    kept, about = weights(run_dir, "weights.safetensors")
    assert about == {name: value for name, value in average.items() if name != "best"}
    fourth, fifth = (weights(run_dir, f"weights-epoch-000{epoch}.safetensors")[0] for epoch in (4, 5))
    for name, value in kept.items():
        np.testing.assert_allclose(value, (fourth[name] + fifth[name]) / 2, rtol=1e-6, atol=1e-9)
    assert Run(run_dir).load_model().count_params() > 0


@pytest.mark.parametrize("number", [0, 4])
def test_more_epochs_than_are_kept_are_refused(trained, number):
    with pytest.raises(InputError, match=f"cannot average {number} epochs: it keeps the weights of 3"):
        average_epochs(PAIRS, trained, last=number)


def test_another_corpus_is_refused(trained):
    with pytest.raises(InputError, match="was trained on another corpus"):
        average_epochs(PAIRS[1:], trained, last=2)


def test_an_average_that_is_kept_has_a_datastore_and_what_was_taught(trained):
    run_dir = shutil.copytree(trained, trained.parent / "remembering")
    Chatbot.load(run_dir).datastore.teach("질문 1", "가르친 대답")
    (run_dir / "datastore.safetensors").unlink()
    average_epochs(PAIRS[:], run_dir, last=3, keep=True)
    bot = Chatbot.load(run_dir)
    assert len(bot.datastore) == len(read_exchanges(run_dir / "datastore.jsonl"))
    assert bot.reply("질문 1") == "가르친 대답"


def test_an_average_is_not_saved_while_the_run_is_trained(trained):
    before = (trained / "weights.safetensors").read_bytes()
    with locked(trained):
        with pytest.raises(InputError, match=r"another training .* is writing to it"):
            average_epochs(PAIRS, trained, last=2, keep=True)
        assert average_epochs(PAIRS, trained, last=2)["epochs"] == [4, 5]
    assert (trained / "weights.safetensors").read_bytes() == before
