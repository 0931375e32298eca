import pandas as pd
import pytest

from keras_transformer import Chatbot, Config, Run, Tokenizer, train
from keras_transformer.data.tokenized import encode_pairs
from keras_transformer.training import trainer
from keras_transformer.training.messages import (
    epochs_hint,
    question_text,
    sample_answers,
    split_sizes,
    training_pairs,
    warm_up_warning,
)

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize(
    ("sizes", "shown"),
    [
        ({"train": 90, "validation": 5, "test": 5}, ["5 for validation (5%)", "5 for test (5%)"]),
        ({"train": 90, "validation": 10, "test": 0}, ["10 for validation (10%)"]),
        ({"train": 100, "validation": 100, "test": 0}, ["validated on the whole corpus"]),
    ],
)
def test_the_sizes_of_the_splits(sizes, shown):
    assert split_sizes({"pairs": 100, **sizes}) == shown


def test_pairs_that_are_not_of_the_corpus_are_counted_apart():
    assert training_pairs(1, 1) == "1 pair"
    assert training_pairs(62, 62) == "62 pairs"
    assert training_pairs(60, 62) == "60 pairs"  # Two are too long.
    assert training_pairs(1120, 62) == "1,120 pairs (1,058 of them varied copies)"


def test_a_warm_up_longer_than_the_training_is_said():
    warning = warm_up_warning(Config(warmup_steps=1600), 72)
    assert warning == (
        "The warm-up of 1,600 steps is longer than the training of 72 steps: "
        "the learning rate never reaches its peak. Lower --warmup-steps or raise --epochs."
    )
    assert warm_up_warning(Config(warmup_steps=72), 72) is None
    assert "the training of 36 steps" in warm_up_warning(Config(warmup_steps=72, accumulate=2), 72)


def rows(*scores):
    return [{"epoch": epoch, "val_accuracy": score, "accuracy": score} for epoch, score in enumerate(scores, 1)]


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([0.5, 0.6, 0.7], True),
        ([0.5, 0.7, 0.701], False),  # No longer improving clearly.
        ([0.5, 0.7, 0.6], False),
        ([0.5, 0.7], False),  # Ended by patience.
        ([], False),
    ],
)
def test_a_last_epoch_that_is_clearly_the_best_asks_for_more(scores, said):
    config = Config(epochs=3, monitor="val_accuracy")
    hint = "The best epoch was the last one: more --epochs may give better answers."
    assert epochs_hint(config, rows(*scores)) == (hint if said else None)
    assert epochs_hint(config.replace(monitor="accuracy"), rows(*scores)) is None


def test_five_validation_questions_are_answered_by_the_best_weights(small_run, small_pairs):
    run = Run(small_run)
    validation = encode_pairs(small_pairs[:17], run.tokenizer)
    asked, answered = map(list, zip(*sample_answers(run, validation, None)))
    assert asked == [small_pairs["question"][place] for place in (0, 4, 8, 12, 16)]
    assert answered == Chatbot.load(small_run).replies(asked)


def test_of_too_few_validation_questions_those_of_the_training_are_taken(small_run, small_pairs):
    run = Run(small_run)
    few, many = (encode_pairs(small_pairs[:size], run.tokenizer) for size in (4, 16))
    assert len(sample_answers(run, few, many)) == 5
    assert len(sample_answers(run, few, encode_pairs(small_pairs[:1], run.tokenizer))) == 1  # Each once.


def test_the_turns_of_a_conversation_stand_in_lines():
    tokenizer = Tokenizer.train(["안녕 나도 응"], kind="character", separator=True)
    pairs = pd.DataFrame({"question": ["안녕\n나도"], "answer": ["응"]})
    encoded = encode_pairs(pairs, tokenizer, turns=2)
    assert question_text(tokenizer, encoded.question(0)) == "안녕\n나도"


def test_training_ends_with_answers_and_what_to_type_next_in_the_first_process(tmp_path, monkeypatch, capsys):
    pairs = pd.DataFrame({"question": [f"질문 {i}" for i in range(160)], "answer": ["대답"] * 160})
    config = Config(
        vocab_size=400, num_layers=1, d_model=8, num_heads=2, dff=8, epochs=1, warmup_steps=50, max_length=16
    )
    train(pairs, tmp_path / "run", config)
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("The warm-up of 50 steps is longer than the training of 3 steps") for line in lines)
    [done] = [number for number, line in enumerate(lines) if line.startswith("Done in ")]
    assert lines[done + 1] == "The best epoch was the last one: more --epochs may give better answers."
    samples, last = lines[done + 2 : -1], lines[-1]
    assert len(samples) == 10 and all(line.startswith("  -> ") for line in samples[1::2])
    assert all(line.startswith("질문 ") for line in samples[::2])
    assert last == f"Talk to it:  keras-transformer chat {tmp_path / 'run'}"
    assert train(pairs, tmp_path / "run")["epochs"] == 1
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith(f"Nothing left to train: {tmp_path / 'run'} is finished, with best epoch 1 of 1 and ")
    assert line.endswith(" validation bits per character. To train longer, raise --epochs.")
    monkeypatch.setattr(trainer, "process_number", lambda: 1)
    trainer.print_samples(Run(tmp_path / "run"), None, None)
    assert capsys.readouterr().out == ""
