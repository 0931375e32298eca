import pathlib

import numpy as np
import pandas as pd
import pytest

from keras_transformer import CorpusWarning, InputError, Tokenizer, load_pairs, make_dataset
from keras_transformer.data.split import split_pairs

ROOT = pathlib.Path(__file__).parents[2]
KOREAN = ROOT.parent / "shared/corpora/chatbot_ko/ChatbotData.csv"


@pytest.fixture(scope="module")
def pairs():
    return load_pairs("small_talk")


@pytest.fixture(scope="module")
def tokenizer(pairs):
    return Tokenizer.train([*pairs["question"], *pairs["answer"]], vocab_size=3000)


def real_share(dataset):
    real = total = 0
    for inputs, _ in dataset:
        for ids in inputs.values():
            real, total = real + np.count_nonzero(ids), total + ids.numpy().size
    return real / total


def decoded(dataset, tokenizer):
    """The pairs that a dataset holds, as text."""
    return [
        (tokenizer.decode([int(i) for i in question]), tokenizer.decode([int(i) for i in answer]))
        for inputs, targets in dataset
        for question, answer in zip(inputs["inputs"].numpy(), targets.numpy())
    ]


def test_a_batch_is_questions_answers_and_the_answers_one_step_on():
    pairs = pd.DataFrame({"question": ["가 나"], "answer": ["다"]})
    tokenizer = Tokenizer.train(["가 나", "다"], vocab_size=300)
    [(inputs, targets)] = make_dataset(pairs, tokenizer)
    question, answer = tokenizer.encode("가 나"), tokenizer.encode("다")
    assert inputs["inputs"].numpy().tolist() == [[2, *question, 3]]
    assert inputs["dec_inputs"].numpy().tolist() == [[2, *answer]]
    assert targets.numpy().tolist() == [[*answer, 3]]


def test_every_pair_comes_once_an_epoch(pairs, tokenizer):
    dataset = make_dataset(pairs, tokenizer, batch_size=50)
    assert len(dataset) == len(list(dataset)) == 37
    assert sorted(decoded(dataset, tokenizer)) == sorted(zip(pairs["question"], pairs["answer"]))


def test_every_epoch_has_its_own_order_and_the_seed_fixes_it(pairs, tokenizer):
    dataset = make_dataset(pairs, tokenizer, seed=5)
    first, second = decoded(dataset, tokenizer), decoded(dataset, tokenizer)
    assert first != second
    again = make_dataset(pairs, tokenizer, seed=5)
    assert [decoded(again, tokenizer), decoded(again, tokenizer)] == [first, second]
    assert decoded(make_dataset(pairs, tokenizer, seed=6), tokenizer) != first


def test_without_shuffling_every_epoch_is_the_same(pairs, tokenizer):
    dataset = make_dataset(pairs, tokenizer, shuffle=False)
    assert decoded(dataset, tokenizer) == decoded(dataset, tokenizer)


def test_nine_tenths_of_a_batch_are_real_tokens(pairs, tokenizer):
    assert real_share(make_dataset(pairs, tokenizer, batch_size=32)) > 0.9


@pytest.mark.skipif(not KOREAN.exists(), reason="the Korean chatbot corpus is not beside the repository")
def test_nine_tenths_of_a_batch_are_real_tokens_on_the_korean_corpus():
    pairs = split_pairs(load_pairs(KOREAN))["train"]
    tokenizer = Tokenizer.train([*pairs["question"], *pairs["answer"]])
    assert real_share(make_dataset(pairs, tokenizer)) > 0.9


def test_pairs_that_are_too_long_are_counted_and_named(tokenizer):
    pairs = pd.DataFrame({"question": ["안녕", "안녕 " * 30], "answer": ["응", "응"]})
    with pytest.warns(CorpusWarning, match="1 of 2 pairs are longer than 10 tokens and left out: '안녕 안녕"):
        dataset = make_dataset(pairs, tokenizer, max_length=10)
    assert decoded(dataset, tokenizer) == [("안녕", "응")]


@pytest.mark.filterwarnings("ignore::keras_transformer.data.loading.CorpusWarning")
def test_nothing_left_is_an_error(tokenizer):
    pairs = pd.DataFrame({"question": ["안녕 " * 30], "answer": ["응"]})
    with pytest.raises(InputError, match="no pair of at most 10 tokens"):
        make_dataset(pairs, tokenizer, max_length=10)


def test_packed_rows_hold_several_pairs_in_one_shape(pairs, tokenizer):
    dataset = make_dataset(pairs, tokenizer, batch_size=32, packed=True)
    shapes = [{tuple(inputs[name].shape) for inputs, _ in dataset} for name in ("inputs", "dec_inputs")]
    assert shapes == [{(11, 32)}, {(11, 64)}]
    assert real_share(dataset) > 0.9
