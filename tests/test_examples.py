"""The programs of docs/examples that need no server."""

import importlib.util
import io
import pathlib

import pytest
import sentencepiece

from keras_transformer import InputError, Tokenizer

EXAMPLES = pathlib.Path(__file__).parents[1] / "docs/examples"


@pytest.fixture(scope="module")
def opennmt():
    spec = importlib.util.spec_from_file_location("opennmt_vocabulary", EXAMPLES / "opennmt_vocabulary.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_vocabulary_file_of_opennmt_becomes_a_tokenizer_of_words(opennmt, tmp_path):
    (tmp_path / "src.txt").write_text("<blank>\n<s>\n</s>\nthe\nhouse\n￭!\nthe\n", "utf-8")
    opennmt.convert(tmp_path / "src.txt", tmp_path / "src.model")
    tokenizer = Tokenizer.load(tmp_path / "src.model")
    assert tokenizer.vocab_size == 7
    assert tokenizer.encode("the house ￭! dog") == [4, 5, 6, tokenizer.unk_id]
    assert tokenizer.decode([4, 5, 6]) == "the house ￭!"


def test_a_sentencepiece_model_of_opennmt_keeps_its_pieces(opennmt, tmp_path):
    model, texts = io.BytesIO(), ["hello there", "hello friend how are you", "good night good day"] * 5
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts), model_writer=model, vocab_size=60, hard_vocab_limit=False, minloglevel=2
    )
    (tmp_path / "sp.model").write_bytes(model.getvalue())
    with pytest.raises(InputError, match="the ids of padding, unknown, start and end are -1, 0, 1, 2, not 0, 1, 2, 3"):
        Tokenizer.load(tmp_path / "sp.model")
    opennmt.convert(tmp_path / "sp.model", tmp_path / "tokenizer.model")
    theirs, ours = (
        sentencepiece.SentencePieceProcessor(model_proto=model.getvalue()),
        Tokenizer.load(tmp_path / "tokenizer.model"),
    )
    for text in (*texts[:3], "Hello  ｔｈｅｒｅ", "other"):
        assert ours.pieces(text) == theirs.encode(text, out_type=str)
        assert [i - 1 for i in ours.encode(text) if i != ours.unk_id] == [i for i in theirs.encode(text) if i]
