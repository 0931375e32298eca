import random

import pytest

tf = pytest.importorskip("tensorflow")

import sentencepiece  # noqa: E402
from sentencepiece import sentencepiece_model_pb2  # noqa: E402

from keras_transformer.text.ops.segmentation import BytePairs, Characters, Unigram, Words  # noqa: E402
from keras_transformer.text.ops.unknown import UnknownAsOne  # noqa: E402

KINDS = {"UNIGRAM": Unigram, "BPE": BytePairs, "CHAR": Characters, "WORD": Words}


def pieces_of(kind, scores, text):
    """The pieces of a text as `kind` cuts it, "?" where it knows none; ids are the places in `scores`."""
    names, numbers = list(scores), list(scores.values())
    (ids,) = kind({piece: i for i, piece in enumerate(names)}, numbers)(tf.constant([text])).to_list()
    return [names[i] if i < len(names) else "?" for i in ids]


def test_words_begin_at_the_sign_for_a_space():
    scores = dict.fromkeys(["▁a", "▁", "▁b▁", "b"], 0.0)
    assert pieces_of(Words, scores, "▁a▁▁a▁b▁c") == ["▁a", "▁", "▁a", "?", "?"]
    assert pieces_of(Words, scores, "b▁a") == ["b", "▁a"]


def test_characters_are_pieces_of_one():
    assert pieces_of(Characters, {"가": 0.0, "나": 0.0, "가나": 0.0}, "가나다") == ["가", "나", "?"]


def test_what_is_unknown_keeps_its_character():
    units = Characters({"가": 0, "나": 1}, [0.0, 0.0])(tf.constant(["다가"]))
    assert units.to_list() == [[2 + ord("다"), 0]]


@pytest.mark.parametrize(
    ("scores", "text", "pieces"),
    [
        ({"a": -9, "b": -9, "c": -9, "ab": -1, "bc": -2}, "abc", ["ab", "c"]),  # The better pair first,
        ({"a": -9, "b": -9, "c": -9, "ab": -2, "bc": -1}, "abc", ["a", "bc"]),  # wherever it stands;
        ({"a": -9, "aa": -1}, "aaa", ["aa", "a"]),  # of equals the left one.
        ({"a": -9, "aa": -1, "aaaa": -2}, "a" * 9, ["aaaa", "aaaa", "a"]),
        ({"a": -9, "aa": -1, "aaa": -2}, "a" * 7, ["aa", "aa", "aaa"]),
        # Once there is one "aa", the better "aaa" is made before another.
        ({"a": -9, "aa": -2, "aaa": -1}, "a" * 7, ["aaa", "aaa", "a"]),
        ({"a": -9, "ab": -1}, "abab", ["ab", "ab"]),  # "b" alone is no piece, yet joins.
        ({"a": -9, "ab": -1}, "b", ["?"]),
    ],
)
def test_byte_pairs_are_joined_by_score(scores, text, pieces):
    assert pieces_of(BytePairs, scores, text) == pieces


@pytest.mark.parametrize(
    ("scores", "text", "pieces"),
    [
        ({"a": -1, "b": -1, "ab": -1.5}, "ab", ["ab"]),
        ({"a": -1, "b": -1, "ab": -2.5}, "ab", ["a", "b"]),
        ({"a": -1, "b": -1, "ab": -2}, "ab", ["ab"]),  # Of equals the longest at the end.
        ({"a": -1, "b": -2, "c": -1, "ab": -3, "bc": -3}, "abc", ["a", "bc"]),
        ({"a": -1, "b": -1, "ab": -9}, "a가b", ["a", "?", "b"]),
        # Better two pieces of -8 than one that is unknown, which scores -8 - 10.
        ({"a": -8, "bc": -8}, "abc", ["a", "bc"]),
        ({"ab": -8, "c": -1}, "abc", ["ab", "c"]),
        ({"ab": -8}, "aab", ["?", "ab"]),
    ],
)
def test_unigram_pieces_have_the_highest_sum(scores, text, pieces):
    assert pieces_of(Unigram, scores, text) == pieces


@pytest.mark.parametrize("kind", [Words, Characters, BytePairs, Unigram])
def test_no_text_is_no_piece(kind):
    scores = {"a": -1.0, "aa": -2.0}
    pieces = kind({"a": 0, "aa": 1}, list(scores.values()))
    assert pieces(tf.constant(["", "a", ""])).to_list() == [[], [0], []]
    assert pieces(tf.constant([], tf.string)).to_list() == []


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_any_vocabulary_cuts_as_in_sentencepiece(name, seed):
    """Of few letters and few scores, so that there are many ways, and many of them equal."""
    draw = random.Random(seed)
    names = {"".join(draw.choices("ab▁", k=draw.randint(1, 4))) for _ in range(draw.randint(3, 20))}
    scores = {name: -float(draw.randint(1, 8)) for name in sorted(names)}
    model = sentencepiece_model_pb2.ModelProto()
    model.trainer_spec.model_type = getattr(model.trainer_spec, name)
    model.normalizer_spec.add_dummy_prefix = model.normalizer_spec.remove_extra_whitespaces = False
    model.pieces.add(piece="<pad>", score=0, type=model.SentencePiece.CONTROL)
    model.pieces.add(piece="<unk>", score=0, type=model.SentencePiece.UNKNOWN)
    for piece, score in scores.items():
        model.pieces.add(piece=piece, score=score)
    theirs = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())
    ours = KINDS[name]({piece: i for i, piece in enumerate(scores, 2)}, [0.0, 0.0, *scores.values()])
    texts = ["".join(draw.choices("aab▁c", k=draw.randint(0, 30))) for _ in range(300)]
    assert UnknownAsOne(len(model.pieces))(ours(tf.constant(texts))).to_list() == theirs.encode(texts)
