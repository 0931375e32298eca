import pathlib

import pandas as pd
import pytest

from keras_transformer import InputError, Tokenizer
from keras_transformer.text.subwords import Subwords, with_preprocessing

tfds = pytest.importorskip("tensorflow_datasets")

ROOT = pathlib.Path(__file__).parents[2]
ODD = [
    "12시 땡!",
    "  two  spaces ",
    "under_score _ \\",
    "👩‍👩‍👧‍👦 漢字 ㅋㅋ",
    "\u1112\u1161\u11ab",
    "zero\u200bwidth",
    "",
]


@pytest.fixture(scope="module")
def texts():
    frame = pd.read_csv(ROOT / "keras_transformer/data/small_talk/small_talk.csv")
    return [*frame["question"][:300], *frame["answer"][:300]]


@pytest.fixture(scope="module")
def saved(texts, tmp_path_factory):
    """The tutorial's encoder, and the file that it saves."""
    encoder = tfds.deprecated.text.SubwordTextEncoder.build_from_corpus(iter(texts), target_vocab_size=600)
    prefix = str(tmp_path_factory.mktemp("vocabulary") / "korean")
    encoder.save_to_file(prefix)
    return encoder, prefix + ".subwords"


@pytest.fixture(scope="module")
def tokenizer(saved):
    return Tokenizer.load(saved[1])


def test_the_same_ids_and_the_same_text(saved, tokenizer, texts):
    encoder, _ = saved
    for text in [*texts, *ODD]:
        assert tokenizer.encode(text) == encoder.encode(text)
        assert tokenizer.decode(tokenizer.encode(text)) == encoder.decode(encoder.encode(text)) == text


def test_start_and_end_are_numbered_as_in_the_tutorial(saved, tokenizer):
    encoder, _ = saved
    assert (tokenizer.start_id, tokenizer.end_id) == (encoder.vocab_size, encoder.vocab_size + 1)
    assert tokenizer.vocab_size == encoder.vocab_size + 2
    assert (tokenizer.pad_id, tokenizer.unk_id, tokenizer.separator_id) == (0, None, None)


def test_padding_start_and_end_vanish_in_decoding(tokenizer):
    ids = tokenizer.encode("안녕 친구")
    row = [tokenizer.start_id, *ids, tokenizer.end_id, 0, 0]
    assert tokenizer.decode(row) == "안녕 친구"
    assert tokenizer.decode([row, row]) == ["안녕 친구"] * 2


def test_pieces_join_to_the_text_and_bytes_are_named(tokenizer):
    assert "".join(tokenizer.pieces("친구야")) == "친구야"
    assert tokenizer.pieces("漢") == ["<0xE6>", "<0xBC>", "<0xA2>"]
    assert tokenizer.unknown("친구야漢") == ["漢"]


def test_saved_equals_loaded(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "again.subwords")
    assert Tokenizer.load(tmp_path / "again.subwords").encode("안녕 漢") == tokenizer.encode("안녕 漢")


def test_a_preprocessing_is_saved_in_the_file_and_tensorflow_datasets_reads_it(saved, tokenizer, tmp_path):
    Tokenizer(Subwords(with_preprocessing(tokenizer.model, "punctuation"))).save(tmp_path / "spaced.subwords")
    spaced = Tokenizer.load(tmp_path / "spaced.subwords")
    assert spaced.normal_form("안녕, 친구!") == "안녕 ,  친구 !"
    assert spaced.encode("안녕, 친구!") == tokenizer.encode("안녕 ,  친구 !") != tokenizer.encode("안녕, 친구!")
    again = tfds.deprecated.text.SubwordTextEncoder.load_from_file(str(tmp_path / "spaced"))
    assert again.subwords == saved[0].subwords
    assert with_preprocessing(spaced.model, None) == tokenizer.model


@pytest.mark.parametrize(
    "data",
    [
        b"### SubwordTextEncoder\n\xff",
        b"### SubwordTextEncoder\n",
        b'### SubwordTextEncoder\n### Metadata: {"preprocessing": "unheard of"}\n',
        b'### SubwordTextEncoder\n### Metadata: {"preprocessing": []}\n',
    ],
)
def test_a_damaged_file_is_named(tmp_path, data):
    (tmp_path / "bad.subwords").write_bytes(data)
    with pytest.raises(InputError, match=r"bad\.subwords: neither a SentencePiece model nor"):
        Tokenizer.load(tmp_path / "bad.subwords")
