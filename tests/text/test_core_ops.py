import io
import pathlib
import subprocess
import sys
import types
import unicodedata

import hypothesis
import hypothesis.strategies as st
import pandas as pd
import pytest
import sentencepiece

tf = pytest.importorskip("tensorflow")

from keras_transformer import InputError, Tokenizer  # noqa: E402
from keras_transformer.text.core_ops import CoreTokenizer  # noqa: E402
from keras_transformer.text.normalize import normalize  # noqa: E402
from keras_transformer.text.sentence_pieces import SentencePieces  # noqa: E402

pytestmark = [pytest.mark.heavy, pytest.mark.variants(2)]

ROOT = pathlib.Path(__file__).parents[2]
SMALL_TALK = ROOT / "keras_transformer/data/small_talk/small_talk.csv"
KOREAN = ROOT.parent / "shared/corpora/chatbot_ko/ChatbotData.csv"
KINDS = [(kind, jamo) for kind in ("sentencepiece", "bpe", "character", "word") for jamo in (False, True)]

ODD = [
    "",
    "   ",
    " 앞뒤 \t 빈칸\r\n",
    "한\u3000글\xa0과\u2003탭\x1f",
    "안녕하세요 hello 안녕hello",
    "쀍뛟 뷁 漢字 русский עברית العربية हिन्दी ไทย",
    "ㅋㅋㅋㅋㅋㅋㅋ ㅠㅠㅠ ㄱㄴㄷ",
    unicodedata.normalize("NFD", "안녕하세요 각 café ṩ ậ"),
    "\u1112\u1161\u11ab\u11ab \u1100 \u1161 \u11a8 가\u11a8 각\u11a8",
    "a\u0301\u0323 \u0301 e\u0323\u0302 \u212b \u0344 \u0958",
    "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 😀😀",
    "zero\u200bwidth \u200e\ufeffmarks",
    "\0",
    "가\0나 \0\0",
    "▁",
    "▁▁안녕▁ ▁친구▁▁",
    "<s> </s> <unk> <pad> <sep> <0x41> <0xEA><0xB0><0x80>",
    "\ufffd \U0010ffff \ue000",
    "quotes \" and \\ and '",
]


@pytest.fixture(scope="module")
def texts():
    frame = pd.read_csv(SMALL_TALK)
    return [*frame["question"], *frame["answer"], *ODD]


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: f"{kind[0]}{'_jamo' * kind[1]}")
def tokenizer(request):
    frame = pd.read_csv(SMALL_TALK)
    return Tokenizer.train([*frame["question"], *frame["answer"]], 6000, *request.param, separator=True)


@pytest.fixture(scope="module")
def core(tokenizer):
    """The tokenizer's operations in a graph."""
    operations = CoreTokenizer(tokenizer)
    return types.SimpleNamespace(
        encode=tf.function(operations.encode, input_signature=[tf.TensorSpec([None], tf.string)]),
        decode=tf.function(operations.decode, input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)]),
    )


def decoded(strings):
    return [string.decode() for string in strings.numpy()]


# Equal to `Tokenizer`


def test_the_ids_are_those_of_the_tokenizer(tokenizer, core, texts):
    assert core.encode(tf.constant(texts)).to_list() == tokenizer.encode(texts)


def test_the_texts_are_those_of_the_tokenizer(tokenizer, core, texts):
    ids = tokenizer.encode(texts)
    assert decoded(core.decode(tf.ragged.constant(ids, tf.int32))) == tokenizer.decode(ids)


@hypothesis.given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"])) | st.text("가각 ▁a\u0301\u0323ㅋ<s>\u1100\u1161\u11a8"))
)
@hypothesis.settings(max_examples=50, deadline=None, derandomize=True)
def test_any_texts_have_the_ids_of_the_tokenizer(tokenizer, core, some):
    assert core.encode(tf.constant(some, tf.string)).to_list() == tokenizer.encode(some)


@hypothesis.given(st.lists(st.lists(st.integers(0, 300)), min_size=1))
@hypothesis.settings(max_examples=50, deadline=None, derandomize=True)
def test_any_ids_have_the_texts_of_the_tokenizer(tokenizer, core, ids):
    ids = [[i % tokenizer.vocab_size for i in row] for row in ids]
    assert decoded(core.decode(tf.ragged.constant(ids, tf.int32, ragged_rank=1))) == tokenizer.decode(ids)


def test_a_text_does_not_change_its_neighbours(tokenizer, core, texts):
    alone = [core.encode(tf.constant([text])).to_list()[0] for text in ODD]
    assert core.encode(tf.constant(ODD)).to_list() == alone


@pytest.mark.parametrize(
    "text",
    ["오늘 뭐 해? 밥 먹자 " * 200, "가" * 2000, "ㅋ" * 2000, "밥을먹자" * 500, "漢" * 2000, "e\u0301\u0323" * 700],
    ids=["sentences", "syllable", "letter", "no_spaces", "unknown", "marks"],
)
def test_long_texts_have_the_ids_of_the_tokenizer(tokenizer, core, text):
    assert core.encode(tf.constant([text, "안녕"])).to_list() == tokenizer.encode([text, "안녕"])


def test_the_operations_run_without_a_graph_too(tokenizer):
    operations = CoreTokenizer(tokenizer)
    ids = operations.encode(tf.constant(ODD))
    assert ids.to_list() == tokenizer.encode(ODD)
    assert decoded(operations.decode(ids)) == tokenizer.decode(ids.to_list())


@pytest.mark.skipif(not KOREAN.exists(), reason="the Korean chatbot corpus is not beside the repository")
@pytest.mark.parametrize(
    ("kind", "vocab_size", "jamo"),
    [
        ("sentencepiece", 8192, False),
        pytest.param("sentencepiece", 8192, True, marks=pytest.mark.slow),
        pytest.param("bpe", 8192, False, marks=pytest.mark.slow),
        pytest.param("character", 2000, False, marks=pytest.mark.slow),
        pytest.param("word", 30000, False, marks=pytest.mark.slow),
    ],
)
def test_the_whole_korean_corpus_has_the_same_ids_and_texts(kind, vocab_size, jamo):
    frame = pd.read_csv(KOREAN)
    texts = [*frame["Q"], *frame["A"]]
    tokenizer = Tokenizer.train(texts, vocab_size, kind, jamo)
    operations = CoreTokenizer(tokenizer)
    ids = tf.function(operations.encode)(tf.constant(texts))
    expected = tokenizer.encode(texts)
    assert [text for text, one, other in zip(texts, ids.to_list(), expected) if one != other] == []
    assert decoded(tf.function(operations.decode)(ids)) == tokenizer.decode(expected)


# What it takes and gives


def test_the_ids_are_int32_and_ragged(core):
    ids = core.encode(tf.constant(["안녕", ""]))
    assert isinstance(ids, tf.RaggedTensor)
    assert (ids.dtype, ids.shape.as_list(), ids.row_lengths().numpy()[1]) == (tf.int32, [2, None], 0)


def test_no_texts_have_no_ids(core):
    assert core.encode(tf.constant([], tf.string)).to_list() == []
    assert core.decode(tf.ragged.constant([], tf.int32, ragged_rank=1)).numpy().tolist() == []


def test_padding_start_separator_and_end_vanish(tokenizer):
    ids = tokenizer.encode("안녕")
    padded = tf.constant([[2, *ids, 4, *ids, 3, 0, 0], [0] * (2 * len(ids) + 5)], tf.int32)
    expected = tokenizer.decode([*ids, *ids])
    assert decoded(CoreTokenizer(tokenizer).decode(padded)) == [expected, ""]


def test_bytes_that_are_no_text_count_as_the_replacement_character(tokenizer, core):
    given = tf.constant([b"a\xffb", b"\xed\xa0\x80", b"\xea\xb0"])
    assert core.encode(given).to_list() == tokenizer.encode(["a\ufffdb", "\ufffd\ufffd\ufffd", "\ufffd"])


# Where no other package is


@pytest.mark.slow  # Starts a program.
def test_a_saved_model_needs_tensorflow_alone(tmp_path):
    tokenizer = Tokenizer.train(["안녕 친구야", "hello there"] * 9, 300, jamo=True)
    module = tf.Module()
    module.tokenizer = CoreTokenizer(tokenizer)
    module.again = tf.function(
        lambda texts: module.tokenizer.decode(module.tokenizer.encode(texts)),
        input_signature=[tf.TensorSpec([None], tf.string)],
    )
    tf.saved_model.save(module, tmp_path / "saved")
    program = """
import sys
import tensorflow as tf
again = tf.saved_model.load(sys.argv[1]).again
sys.stdout.buffer.write(b"\\n".join(again(tf.constant(sys.argv[2:])).numpy()))
assert not {"tensorflow_text", "sentencepiece", "keras_transformer"} & set(sys.modules)
"""
    texts = [unicodedata.normalize("NFD", "안녕  漢字"), "hello\tthere"]
    command = [sys.executable, "-c", program, str(tmp_path / "saved"), *texts]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().split("\n") == [normalize(text) for text in texts]


# SentencePiece models of others


def learned(**settings):
    """A tokenizer as SentencePiece learns it with its own settings but for the special ids."""
    model = io.BytesIO()
    frame = pd.read_csv(SMALL_TALK)
    ids = {"pad_id": 0, "unk_id": 1, "bos_id": 2, "eos_id": 3}
    settings = {"vocab_size": 1200, "hard_vocab_limit": False, "num_threads": 1, "minloglevel": 2, **ids, **settings}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(frame["answer"]), model_writer=model, **settings)
    return Tokenizer(SentencePieces(model.getvalue()))


@pytest.mark.parametrize(
    "settings",
    [
        {},  # With rules for NFKC.
        {"model_type": "bpe", "split_by_whitespace": False},
        {"remove_extra_whitespaces": False, "byte_fallback": True},
        {"model_type": "bpe", "add_dummy_prefix": False},
        {"model_type": "word", "add_dummy_prefix": False, "remove_extra_whitespaces": False},
        {"model_type": "char", "unk_surface": "<?>"},
        {"character_coverage": 0.98, "byte_fallback": True},
    ],
    ids=lambda settings: "_".join(settings) or "default",
)
def test_models_with_other_settings_are_equalled_too(settings, texts):
    tokenizer = learned(**settings)
    operations = CoreTokenizer(tokenizer)
    texts = [*texts, "①ﬁ½ ｶﾞ Ａ\u00a8 ﷺ", "\x07", "\x07 a"]
    ids = tokenizer.encode(texts)
    assert operations.encode(tf.constant(texts)).to_list() == ids
    ids += [[5, 6, 7], [1, 1], [0, 6], list(range(5, 40))]
    assert decoded(operations.decode(tf.ragged.constant(ids, tf.int32))) == tokenizer.decode(ids)


@pytest.mark.parametrize("settings", [{"user_defined_symbols": ["<x>"]}, {"treat_whitespace_as_suffix": True}])
def test_pieces_of_unknown_kinds_are_refused(settings):
    with pytest.raises(InputError, match="user-defined or unused pieces, or spaces at the ends"):
        CoreTokenizer(learned(**settings))
