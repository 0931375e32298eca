import contextlib
import io
import pathlib
import random
import unicodedata

import hypothesis
import hypothesis.strategies as st
import pandas as pd
import pytest
import sentencepiece

from keras_transformer import InputError, Tokenizer
from keras_transformer.config import TOKENIZERS
from keras_transformer.text.normalize import normalize
from keras_transformer.text.tokenizer import KINDS

ROOT = pathlib.Path(__file__).parents[2]
KOREAN = ROOT.parent / "shared/corpora/chatbot_ko/ChatbotData.csv"
TEXTS = ["안녕하세요", "안녕 친구야 😀", "오늘 뭐 해?", "hello there", "hello friend", "the 트랜스포머 model"]


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.train(TEXTS, vocab_size=400)


def test_special_ids_are_fixed_and_no_text_has_them(tokenizer):
    assert (tokenizer.pad_id, tokenizer.unk_id, tokenizer.start_id, tokenizer.end_id) == (0, 1, 2, 3)
    for text in [*TEXTS, "<pad> <unk> <s> </s>", "漢字"]:
        assert min(tokenizer.encode(text)) > 3


@pytest.mark.parametrize(
    "text",
    [
        *TEXTS,
        "쀍뛟 뷁",  # syllables never met
        "ㅋㅋㅋ ㅠㅠ",
        "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽",
        "한국어와 English, 日本語 и русский",
        "zero\u200bwidth \u200e marks",
        'quotes " and \\ and <unk> <s>',
    ],
)
def test_text_survives_exactly(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text)) == text


@hypothesis.given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="▁")))
@hypothesis.settings(max_examples=300, deadline=None, derandomize=True)
def test_any_text_comes_back_normalized(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text)) == normalize(text)


def test_composed_and_decomposed_hangul_have_the_same_ids(tokenizer):
    assert tokenizer.encode(unicodedata.normalize("NFD", "안녕하세요")) == tokenizer.encode("안녕하세요")


def test_many_texts_at_once_equal_one_by_one(tokenizer):
    ids = tokenizer.encode(TEXTS)
    assert ids == [tokenizer.encode(text) for text in TEXTS]
    assert tokenizer.decode(ids) == TEXTS


def test_padding_start_and_end_vanish_in_decoding(tokenizer):
    ids = tokenizer.encode("안녕 친구야")
    assert tokenizer.decode([tokenizer.start_id, *ids, tokenizer.end_id, 0, 0]) == "안녕 친구야"
    assert tokenizer.decode([]) == ""


@pytest.mark.parametrize("ids", [[-1], [5, 10**12], [[], [4, 1000]]])
def test_ids_beyond_the_vocabulary_are_refused(tokenizer, ids):
    with pytest.raises(InputError, match=rf"token ids must be from 0 to {tokenizer.vocab_size - 1}$"):
        tokenizer.decode(ids)


def test_unknown_characters_are_named(tokenizer):
    assert tokenizer.unknown("안녕 漢字 漢") == ["漢", "字"]
    assert tokenizer.has_only_unknown("漢字 ꙮ")
    assert not tokenizer.has_only_unknown("안녕 漢字")
    assert not tokenizer.has_only_unknown("  ")


def test_saved_equals_loaded(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "t.model")
    loaded = Tokenizer.load(tmp_path / "t.model")
    assert loaded.model == tokenizer.model
    assert loaded.encode("안녕 hello 漢") == tokenizer.encode("안녕 hello 漢")


def test_training_again_gives_the_same_tokenizer(tokenizer):
    assert Tokenizer.train(TEXTS, vocab_size=400).model == tokenizer.model


def test_vocabulary_is_no_larger_than_asked(tokenizer):
    assert tokenizer.vocab_size <= 400


@pytest.mark.parametrize("texts", [[], ["", "  "], ["\0", " \0\0"]])
def test_nothing_to_learn_from_is_refused(texts):
    with pytest.raises(InputError, match="no text"):
        Tokenizer.train(texts)


def test_too_small_a_vocabulary_says_what_is_needed():
    with pytest.raises(InputError, match=r"vocabulary of 100 is too small.*at least 263"):
        Tokenizer.train(["가나다"], vocab_size=100)


def test_unknown_kind_is_refused():
    with pytest.raises(InputError, match="unknown tokenizer kind 'words': use one of 'sentencepiece', 'unigram'"):
        Tokenizer.train(["a"], kind="words")


# The kinds

SENTENCES = ["가나 다라", "가 나다", "hello 가나"]


@pytest.mark.parametrize(
    ("kind", "jamo", "pieces"),
    [
        ("word", False, ["▁가나", "▁다라"]),
        ("character", False, list("가나▁다라")),
        ("character", True, list("ᄀ\u1161ᄂ\u1161▁ᄃ\u1161ᄅ\u1161")),
        ("word", True, ["▁ᄀ\u1161ᄂ\u1161", "▁ᄃ\u1161ᄅ\u1161"]),
    ],
)
def test_pieces_of_the_closed_kinds(kind, jamo, pieces):
    assert Tokenizer.train(SENTENCES, kind=kind, jamo=jamo).pieces("가나 다라") == pieces


def test_bpe_joins_the_most_frequent_pair_first():
    tokenizer = Tokenizer.train(["ab ab ab cd"] * 9, vocab_size=4 + 256 + 5 + 2, kind="bpe")
    assert tokenizer.pieces("ab cd") == ["▁ab", "▁", "c", "d"]


def test_unigram_is_another_name_of_sentencepiece():
    assert Tokenizer.train(TEXTS, 400, "unigram").model == Tokenizer.train(TEXTS, 400).model


def test_the_kinds_of_settings_and_tokenizers_are_the_same():
    assert KINDS == TOKENIZERS


@pytest.mark.parametrize("jamo", [False, True])
@pytest.mark.parametrize("kind", ["sentencepiece", "bpe", "character", "word"])
def test_each_kind_gives_back_what_it_learned_from(kind, jamo):
    texts = [
        *TEXTS,
        "쀍뛟 뷁",
        "ㅋㅋㅋ ㅠㅠ",
        "👩‍👩‍👧‍👦 🏳️‍🌈",
        "English, 日本語 и русский",
        "zero\u200bwidth \u200e marks",
        "café",
    ]
    tokenizer = Tokenizer.train(texts, 600, kind, jamo)
    assert [tokenizer.decode(ids) for ids in tokenizer.encode(texts)] == texts
    decomposed = [unicodedata.normalize("NFD", text) for text in texts]
    assert tokenizer.encode(decomposed) == tokenizer.encode(texts)


@pytest.mark.parametrize("kind", ["sentencepiece", "bpe"])
def test_letters_spell_a_syllable_never_met(kind):
    tokenizer = Tokenizer.train(["밝은 바다 북"] * 9, 300, kind, jamo=True)
    assert tokenizer.unknown("붉은 漢") == ["漢"]
    assert tokenizer.decode(tokenizer.encode("붉은 漢")) == "붉은 漢"


def test_a_closed_kind_names_what_it_does_not_know():
    characters, words = (Tokenizer.train(["가나 다"], kind=kind) for kind in ("character", "word"))
    assert characters.unknown("가 라 다") == ["라"] and words.unknown("가나 가 다") == ["가"]
    assert words.has_only_unknown("라마 나") and not words.has_only_unknown("라마 다")
    assert words.encode("가") == [words.unk_id]


def test_what_does_not_fit_into_a_closed_vocabulary_is_counted():
    with pytest.warns(UserWarning, match=r"word tokenizer of 6 ids leaves 50\.0 % of the text unknown"):
        Tokenizer.train(["가", "나", "다", "라"], 6, "word")


def test_a_separator_has_an_id_where_it_is_asked_for():
    assert Tokenizer.train(TEXTS, 400, separator=True).separator_id == 4
    assert Tokenizer.train(TEXTS, 400).separator_id is None


def test_loading_names_the_file_that_is_missing_or_damaged(tmp_path):
    with pytest.raises(InputError, match=r"none\.model: No such file"):
        Tokenizer.load(tmp_path / "none.model")
    (tmp_path / "bad.model").write_bytes(b"not a model")
    with pytest.raises(InputError, match=r"bad\.model: neither a SentencePiece model nor"):
        Tokenizer.load(tmp_path / "bad.model")


@pytest.mark.skipif(not KOREAN.exists(), reason="the Korean chatbot corpus is not beside the repository")
@pytest.mark.parametrize("jamo", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("kind", "vocab_size"),
    [
        ("sentencepiece", 8192),
        pytest.param("bpe", 8192, marks=pytest.mark.slow),
        pytest.param("character", 2000, marks=pytest.mark.slow),
        pytest.param("word", 30000, marks=pytest.mark.slow),
    ],
)
def test_the_whole_korean_corpus_survives(kind, vocab_size, jamo):
    frame = pd.read_csv(KOREAN)
    texts = [*frame["Q"], *frame["A"]]
    tokenizer = Tokenizer.train(texts, vocab_size, kind, jamo)
    assert [text for text in texts if tokenizer.decode(tokenizer.encode(text)) != normalize(text)] == []


def test_a_model_with_other_special_ids_is_refused(tmp_path):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS), model_writer=model, vocab_size=60, hard_vocab_limit=False, minloglevel=2
    )
    (tmp_path / "theirs.model").write_bytes(model.getvalue())
    message = r"theirs\.model: the ids of padding, unknown, start and end are -1, 0, 1, 2, not 0, 1, 2, 3"
    with pytest.raises(InputError, match=message):
        Tokenizer.load(tmp_path / "theirs.model")


@pytest.mark.parametrize("kind", ["word", "character"])
def test_a_closed_vocabulary_holds_one_piece_at_least(kind):
    with pytest.raises(InputError, match="a vocabulary of 4 is too small: at least 5 are needed"):
        Tokenizer.train(TEXTS, 4, kind)
    with pytest.warns(UserWarning, match="unknown"):
        assert Tokenizer.train(TEXTS, 5, kind).vocab_size == 5


@pytest.mark.parametrize("kind", ["sentencepiece", "word"])
def test_half_a_character_is_named(kind):
    tokenizer = Tokenizer.train(["good night", "good day"], kind=kind)
    for method in (tokenizer.encode, tokenizer.pieces, tokenizer.unknown, tokenizer.has_only_unknown):
        with pytest.raises(InputError, match=r"'good \\ud83d' is not UTF-8"):
            method("good \ud83d")
    with pytest.raises(InputError, match=r"'good \\ud83d' is not UTF-8"):
        Tokenizer.train(["good night", "good \ud83d"], kind=kind)


def test_every_damage_to_a_model_is_one_line(tmp_path):
    data = Tokenizer.train(["good night", "good day"], kind="word").model
    path, chance = tmp_path / "t.model", random.Random(0)
    for _ in range(200):
        damaged = bytearray(data)
        damaged[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged[: chance.randrange(len(data))] if chance.random() < 0.3 else damaged)
        with contextlib.suppress(InputError):
            Tokenizer.load(path)
    with pytest.raises(InputError, match="a\0b: embedded null byte"):
        Tokenizer.load("a\0b")


@pytest.mark.parametrize("kind", ["sentencepiece", "bpe"])
@pytest.mark.parametrize("word", ["a" * 400_000, "a" + "\u0301\u0327" * 200_000])
def test_a_word_without_end_trains_a_tokenizer_as_its_beginning_does(kind, word):
    """SentencePiece takes minutes for the first one, and fails with the second."""
    tokenizer = Tokenizer.train([*TEXTS, word], 400, kind)
    assert tokenizer.model == Tokenizer.train([*TEXTS, normalize(word)[:2000]], 400, kind).model
    assert tokenizer.decode(tokenizer.encode(word[:50])) == normalize(word[:50])
