import pandas as pd
import pytest

from keras_transformer import Config, InputError, Tokenizer
from keras_transformer.training.tokenizers import make_tokenizers

PAIRS = pd.DataFrame({"question": ["chat", "chien"], "answer": ["ʃ a", "ʃ j ɛ̃"]})


def test_one_tokenizer_of_both_texts_unless_answers_have_their_own():
    source, target = make_tokenizers(PAIRS, Config(tokenizer="character"))
    assert source is target
    assert source.unknown("chat ʃ j") == []


def test_each_of_its_own_learns_from_its_texts_alone():
    source, target = make_tokenizers(PAIRS, Config(tokenizer="character", target_tokenizer="word"))
    assert source.pieces("chat") == ["c", "h", "a", "t"] and source.unknown("ʃ") == ["ʃ"]
    assert target.pieces("ʃ j ɛ̃") == ["▁ʃ", "▁j", "▁ɛ̃"] and target.unknown("t") == ["t"]


def test_tokenizers_come_from_files(tmp_path):
    file = tmp_path / "own.model"
    Tokenizer.train(["가나다"], kind="character").save(file)
    source, target = make_tokenizers(PAIRS, Config(), tokenizer_file=file)
    assert source is target and source.pieces("가") == ["가"]
    source, target = make_tokenizers(PAIRS, Config(tokenizer="word"), target_tokenizer_file=file)
    assert source.pieces("chat") == ["▁chat"] and target.pieces("가") == ["가"]


def test_turns_need_a_separator(tmp_path):
    file = tmp_path / "own.model"
    Tokenizer.train(["가나다"], kind="character").save(file)
    with pytest.raises(InputError, match=r"own\.model: has no separator token, so turns must be 1, not 3"):
        make_tokenizers(PAIRS, Config(turns=3), tokenizer_file=file)
    source, _ = make_tokenizers(PAIRS, Config(tokenizer="character", turns=3))
    assert source.separator_id == 4
