import numpy as np
import pandas as pd
import pytest

from keras_transformer import Beam, Chatbot, GenerationConfig, InputError, Run, evaluate, split_pairs

VALUES = [
    "loss", "perplexity", "bits_per_char", "chrf", "bleu", "exact_match", "word_error_rate", "answer_length", "copied",
]  # fmt: skip


@pytest.fixture(scope="module")
def validation(small_pairs):
    return split_pairs(small_pairs)["validation"]


def test_a_run_that_knows_its_corpus_by_heart(small_run, small_pairs, validation):
    found = evaluate(small_run, validation, training_answers=split_pairs(small_pairs)["train"]["answer"])
    bot = Chatbot.load(small_run)
    right = np.mean([bot.reply(row.question) == row.answer for row in validation.itertuples()])
    assert found["exact_match"] == pytest.approx(right) and right > 0.8
    assert found["chrf"] > 80 and found["word_error_rate"] < 0.2
    assert found["copied"] == 1
    assert found["questions"] == found["pairs"] == len(validation)
    assert list(found["intervals"]) == VALUES
    assert all(low <= found[name] <= high for name, (low, high) in found["intervals"].items())
    assert list(found["signatures"]) == ["chrf", "bleu"]


def test_each_question_is_asked_once_and_all_its_answers_are_right(small_run, monkeypatch):
    heard = []

    def replies(self, questions, **how):
        heard.append((questions, how))
        return ["Hi there!"] * len(questions)

    monkeypatch.setattr(Chatbot, "replies", replies)
    pairs = pd.DataFrame(
        [("hello", "Hello!"), ("bye", "See you!"), (" hello ", "Hi there!")], columns=["question", "answer"]
    )
    generation = GenerationConfig(Beam(2), max_length=9)
    found = evaluate(small_run, pairs, generation=generation)
    assert heard == [(["hello", "bye"], {"answer_by": None, "generation": generation})]
    evaluate(small_run, pairs, Beam(2))
    assert heard[1][1] == {"answer_by": None, "generation": GenerationConfig(Beam(2))}
    assert (found["questions"], found["pairs"], found["exact_match"], found["copied"]) == (2, 3, 0.5, None)
    assert (found["distinct_1"], found["distinct_2"]) == (0.5, 0.5)
    assert found["signatures"]["bleu"].startswith("nrefs:var|")
    assert "copied" not in found["intervals"]


def test_a_model_that_only_copies_what_it_is_fed_has_no_answer_right(small_run, validation, monkeypatch):
    """It sees the token to come in its own input: perfect when it is fed the answers, helpless without them."""

    class Copier(Chatbot):
        def replies(self, questions, **how):
            """Its own tokens one after the other; the input has none to copy after the last."""
            rows = np.zeros((len(questions), self.max_length), "int32")
            rows[:, 0] = self.target_tokenizer.start_id
            for place in range(self.max_length - 1):
                logits = self.model({"inputs": rows, "dec_inputs": rows}, training=False)
                rows[:, place + 1] = np.argmax(logits[:, place], axis=-1)
            return self.target_tokenizer.decode(rows[:, 1:].tolist())

    run = Run(small_run)
    size, end = run.target_tokenizer.vocab_size, run.target_tokenizer.end_id

    def copy(inputs, training=False):
        coming = np.pad(inputs["dec_inputs"][:, 1:], ((0, 0), (0, 1)))
        return 50 * np.eye(size, dtype="float32")[np.where(coming == 0, end, coming)]

    copier = Copier(copy, run.tokenizer, run.config.max_length, run.target_tokenizer)
    monkeypatch.setattr(Chatbot, "load", lambda run_dir: copier)
    found = evaluate(small_run, validation)
    assert found["loss"] < 1e-6
    assert found["exact_match"] == found["chrf"] == found["answer_length"] == 0


def test_nothing_to_evaluate_on_is_said(small_run, small_pairs):
    with pytest.raises(InputError, match="there are no pairs to evaluate on"):
        evaluate(small_run, small_pairs[:0])
    with pytest.raises(InputError, match="the pairs have no column 'answer'"):
        evaluate(small_run, small_pairs[["question"]])
