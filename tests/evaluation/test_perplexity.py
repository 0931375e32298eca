import numpy as np
import pytest

from keras_transformer import Chatbot, CorpusWarning, InputError, Run, split_pairs
from keras_transformer.evaluation.perplexity import likelihood, losses


@pytest.fixture(scope="module")
def bot(small_run):
    return Chatbot.load(small_run)


def values(bot, references):
    return {name: score.value for name, score in likelihood(bot, references).scores().items()}


def test_padding_and_neighbours_change_nothing(bot):
    ids = [([1, 5, 2], [1, 7, 8, 2]), ([1, 5, 6, 9, 5, 6, 7, 8, 5, 2], [1, 7, 8, 9, 10, 11, 12, 13, 14, 7, 2])]
    assert losses(bot.model, ids) == pytest.approx(
        np.concatenate([losses(bot.model, [pair]) for pair in ids]), rel=1e-4
    )


def test_a_loss_is_the_sum_of_what_each_next_token_costs(bot):
    question, answer = [1, 5, 2], [1, 7, 8, 2]
    logits = np.array(bot.model({"inputs": np.array([question]), "dec_inputs": np.array([answer[:-1]])}))[0]
    chances = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    expected = -np.log(chances[[0, 1, 2], answer[1:]]).sum()
    assert losses(bot.model, [(question, answer)]) == pytest.approx([expected], rel=1e-4)


def test_perplexity_and_bits_follow_from_the_loss(bot):
    answer = "반가워요!"
    found = values(bot, {"안녕하세요": [answer]})
    tokens = len(bot.target_tokenizer.encode([answer])[0]) + 1
    assert found["perplexity"] == pytest.approx(np.exp(found["loss"]))
    assert found["bits_per_char"] == pytest.approx(found["loss"] / np.log(2) * tokens / 5)


def test_too_long_pairs_are_left_out_as_in_training(bot):
    short = {"hello": ["Hi there!"]}
    with pytest.warns(CorpusWarning, match="^1 of 2 pairs are longer than 24 tokens and left out of the loss"):
        assert values(bot, {**short, "bye": ["so long, " * 20]}) == pytest.approx(values(bot, short))
    with pytest.raises(InputError, match="no pair of at most 24 tokens"):
        likelihood(bot, {"bye": ["so long, " * 20]})


def test_it_is_what_the_training_noted_of_its_validation(bot, small_run, small_pairs):
    validation = split_pairs(small_pairs)["validation"]
    references = {row.question: [row.answer] for row in validation.itertuples()}
    found, noted = values(bot, references), Run(small_run).summary()
    assert len(references) == Run(small_run).corpus["validation"]
    assert found["bits_per_char"] == pytest.approx(noted["val_bits_per_char"], abs=1e-3)
    assert found["loss"] == pytest.approx(noted["val_loss"], abs=1e-3)
