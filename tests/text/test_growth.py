"""A grown vocabulary has new pieces for new texts, and leaves the tokens of other texts as they are."""

import itertools
import pathlib
import unicodedata

import hypothesis
import hypothesis.strategies as st
import pandas as pd
import pytest

from keras_transformer import InputError, Tokenizer
from keras_transformer.text.growth import grow, join_frequent, lacking, proto, spellings
from keras_transformer.text.sentence_pieces import UNK_ID

SMALL_TALK = pathlib.Path(__file__).parents[2] / "keras_transformer/data/small_talk/small_talk.csv"
OLD = ["good night", "good day", "a good friend is here", "the day is here"]
NEW = ["환불 되나요? 😀", "환불 good 👍", "refunds 환불"] * 3
OPEN, CLOSED = ("sentencepiece", "bpe"), ("character", "word")


def grown(kind, most=100, jamo=False, new=NEW):
    tokenizer = Tokenizer.train(OLD, 300, kind, jamo)
    return tokenizer, grow(tokenizer, new, most)


def new_pieces(tokenizer, more):
    return [piece.piece for piece in proto(more).pieces[tokenizer.vocab_size :]]


@pytest.mark.parametrize("kind", OPEN)
def test_new_characters_and_frequent_words_become_pieces(kind):
    tokenizer, more = grown(kind)
    assert len(tokenizer.encode("환불 😀")) == 12  # 3 bytes of each syllable, 4 of the emoji, and two spaces.
    assert more.pieces("환불 😀") == ["▁환불", "▁", "😀"]
    assert more.pieces("불나요") == ["▁", "불", "나", "요"]  # 나요 occurs three times only.
    assert lacking(tokenizer, NEW) == sorted("환불되나요?😀👍u")
    assert lacking(more, NEW) == []


@pytest.mark.parametrize(
    ("kind", "jamo", "pieces"),
    [
        ("character", False, [*"불환?u나되요👍😀"]),
        ("character", True, [*"ᄇᄒ\u116a\u116e\u11ab\u11af?uᄂᄃᄋ\u1161\u116c\u116d👍😀"]),
        ("word", False, ["▁환불", "▁refunds", "▁되나요?", "▁👍", "▁😀"]),
        ("word", True, ["▁환불", "▁refunds", "▁되나요?", "▁👍", "▁😀"]),
    ],
)
def test_closed_kinds_get_what_they_lack_frequent_units_first(kind, jamo, pieces):
    tokenizer, more = grown(kind, jamo=jamo)
    expected = [unicodedata.normalize("NFD", piece) if jamo else piece for piece in pieces]
    assert new_pieces(tokenizer, more) == expected
    assert tokenizer.unknown(NEW[0]) and not more.unknown(" ".join(NEW))
    assert more.decode(more.encode(NEW)) == NEW


@pytest.mark.parametrize("kind", [*OPEN, *CLOSED])
def test_old_pieces_keep_their_ids_and_scores_and_growing_is_deterministic(kind):
    tokenizer, more = grown(kind)
    old, new = proto(tokenizer).pieces, proto(more).pieces
    assert list(new[: len(old)]) == list(old)
    assert len({piece.piece for piece in new}) == len(new) == more.vocab_size > len(old)
    assert grown(kind)[1].model == more.model


@pytest.fixture(scope="module", params=itertools.product((*OPEN, *CLOSED), (False, True)), ids=str)
def english_and_both(request):
    """A tokenizer of the English half of a corpus, and the same grown by the Korean half."""
    kind, jamo = request.param
    frame = pd.read_csv(SMALL_TALK)
    texts = pd.concat([frame["question"], frame["answer"]])
    korean = texts.str.contains("[가-힣]")
    tokenizer = Tokenizer.train(texts[~korean], 4000, kind, jamo)
    return tokenizer, grow(tokenizer, list(texts[korean]), 1000), list(texts)


def with_single_unknowns(ids):
    """The ids, with one unknown id in place of several in a row, as SentencePiece has it."""
    ids = list(ids)
    return [i for i, last in zip(ids, [None, *ids]) if not i == last == UNK_ID]


def test_every_text_keeps_its_tokens_but_for_neighbours_that_are_one_piece(english_and_both):
    tokenizer, more, texts = english_and_both
    spelled = dict(enumerate(spellings(tokenizer, more), tokenizer.vocab_size))
    assert len(spelled) == more.vocab_size - tokenizer.vocab_size > 0

    def check(text):
        old, new = tokenizer.encode(text), more.encode(text)
        assert with_single_unknowns(itertools.chain.from_iterable(spelled.get(i, [i]) for i in new)) == old
        if not spelled.keys() & {*new}:
            assert new == old

    @hypothesis.given(st.lists(st.sampled_from([*" ".join(texts).split(" "), *"가힣 漢é😀▁<>"]), max_size=8))
    @hypothesis.settings(max_examples=200, deadline=None, derandomize=True, database=None)
    def check_made_up_texts(words):
        check(" ".join(words))
        check("".join(words))

    check_made_up_texts()
    for text in texts:
        check(text)


def test_nothing_of_the_texts_is_unknown_and_they_come_back(english_and_both):
    _tokenizer, more, texts = english_and_both
    korean = [text for text in texts if any("가" <= letter <= "힣" for letter in text)]
    assert lacking(more, korean) == []
    assert more.decode(more.encode(korean)) == korean


@pytest.mark.parametrize(
    ("kind", "pieces"),
    [
        ("sentencepiece", {"▁환불": ["▁", *(f"<0x{byte:02X}>" for byte in "환불".encode())], "u": ["<0x75>"]}),
        ("bpe", {"▁환불": ["▁", *(f"<0x{byte:02X}>" for byte in "환불".encode())]}),
        ("character", {"환": ["<unk>"]}),
        ("word", {"▁환불": ["<unk>"], "▁되나요?": ["<unk>"]}),
    ],
)
def test_new_pieces_are_spelled_by_the_old_ones(kind, pieces):
    tokenizer, more = grown(kind)
    spelled = dict(zip(new_pieces(tokenizer, more), spellings(tokenizer, more), strict=True))
    names = [piece.piece for piece in proto(tokenizer).pieces]
    assert {piece: [names[i] for i in spelled[piece]] for piece in pieces} == pieces


@pytest.mark.parametrize("kind", OPEN)
def test_words_are_joined_if_they_are_frequent_and_of_one_script(kind):
    texts = ["GPU를 GPU를!", "night-day"] * 5 + ["herein"] * 4
    tokenizer, more = grown(kind, new=texts)
    assert more.pieces("GPU를!") == ["▁GPU", "를", "!"]
    assert more.pieces("herein") == tokenizer.pieces("herein")
    assert new_pieces(*grown(kind, most=0, new=texts)) == [
        piece for piece in new_pieces(tokenizer, more) if len(piece) == 1
    ]


@pytest.mark.parametrize("kind", [*OPEN, *CLOSED])
def test_a_vocabulary_that_has_everything_stays_as_it_is(kind):
    tokenizer = Tokenizer.train(OLD, 300, kind)
    assert grow(tokenizer, OLD, 100) is tokenizer
    assert grow(tokenizer, ["", " \0 "], 100) is tokenizer and lacking(tokenizer, ["\0"]) == []
    assert spellings(tokenizer, tokenizer) == [] == lacking(tokenizer, OLD)


def test_a_grown_vocabulary_grows_again_and_control_tokens_stay_tokens():
    tokenizer = Tokenizer.train(OLD, 300, separator=True)
    more = grow(tokenizer, NEW, 100)
    again = grow(more, ["<s> <sep> <0x41> 漢字\0"] * 5, 100)
    assert again.pieces("漢字 환불") == ["▁漢字", "▁환불"]
    assert again.separator_id == 4 and min(again.encode("<s> <sep> <0x41>")) > 4


def test_a_joined_pair_changes_its_neighbours():
    words = {("a", "b", "c"): 6, ("a", "b"): 5, ("b", "c"): 6, ("x", "y"): 4, ("a", "a", "a"): 7}
    assert join_frequent(words, {"bc"}, 10) == {
        "aa": ("a", "a"),
        "ab": ("a", "b"),
        "aaa": ("a", "a", "a"),
        "abc": ("a", "b", "c"),
    }
    assert join_frequent(words, {}, 2) == {"aa": ("a", "a"), "bc": ("b", "c")}


@pytest.mark.heavy
@pytest.mark.parametrize("kind", OPEN)
def test_the_operations_of_a_graph_split_as_the_grown_vocabulary_does(kind):
    tf = pytest.importorskip("tensorflow")
    from keras_transformer.text.core_ops import CoreTokenizer

    more = grown(kind)[1]
    texts = [*OLD, *NEW, "환불환불 unknown 漢字"]
    assert CoreTokenizer(more).encode(tf.constant(texts)).to_list() == more.encode(texts)


def test_a_vocabulary_of_subwords_cannot_grow(tmp_path):
    tfds = pytest.importorskip("tensorflow_datasets")
    tfds.deprecated.text.SubwordTextEncoder(["a_"]).save_to_file(str(tmp_path / "a"))
    with pytest.raises(InputError, match=r"a \.subwords vocabulary cannot grow: bytes and the start and end tokens"):
        grow(Tokenizer.load(tmp_path / "a.subwords"), ["b"], 10)
