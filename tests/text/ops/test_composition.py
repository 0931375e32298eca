import random
import unicodedata

import pytest

tf = pytest.importorskip("tensorflow")

from keras_transformer.text.ops.composition import Composition, unicode_tables  # noqa: E402


@pytest.fixture(scope="module")
def compose():
    operation = tf.function(Composition().__call__, input_signature=[tf.TensorSpec([None], tf.string)])
    return lambda texts: [text.decode() for text in operation(tf.constant(texts, tf.string)).numpy()]


def nfc(texts):
    return [unicodedata.normalize("NFC", text) for text in texts]


@pytest.mark.parametrize(
    ("text", "composed"),
    [
        ("\u1112\u1161\u11ab", "한"),
        ("하\u11ab", "한"),
        ("한\u11ab", "한\u11ab"),  # A syllable has one final.
        ("e\u0301", "é"),
        ("\u0301e", "\u0301e"),  # A mark before a letter stays alone.
        ("a\u0302\u0323", "ậ"),  # Marks are sorted by class first.
        ("a\u0301\u0301", "á\u0301"),  # The second of a class is blocked by the first.
        ("a\u0316\u0301", "á\u0316"),  # One of another class is not.
        ("\u0958", "\u0915\u093c"),  # Excluded from composition.
        ("\u212b", "Å"),
    ],
)
def test_characters_compose_as_unicode_says(compose, text, composed):
    assert compose([text]) == [composed]


def test_what_is_composed_stays_as_it_is(compose):
    texts = ["안녕 hello", "", "\0", "👩‍👩‍👧‍👦"]
    assert compose(texts) == texts
    assert compose([]) == []


def test_texts_do_not_compose_with_each_other(compose):
    assert compose(["e", "\u0301", "", "\u1112", "\u1161"]) == ["e", "\u0301", "", "\u1112", "\u1161"]


def test_every_character_that_may_change_composes(compose):
    decompositions, _, classes = unicode_tables()
    characters = [*decompositions, *classes]
    texts = [text for c in characters for text in (c, f"a{c}\u0301", unicodedata.normalize("NFD", c))]
    assert compose(texts) == nfc(texts)


def test_any_mixture_of_them_composes(compose):
    decompositions, pairs, classes = unicode_tables()
    draw = random.Random(0)
    starters = ["a", "가", "\u1100", *{first for first, _ in pairs}]
    pools = [list(decompositions), starters, list(classes), [c for c in classes if classes[c]]]
    texts = ["".join(draw.choice(draw.choice(pools)) for _ in range(draw.randint(1, 8))) for _ in range(20_000)]
    assert compose(texts) == nfc(texts)


def test_bytes_that_are_no_text_become_the_replacement_character(compose):
    assert compose([b"a\xff", b"e\xcc\x81\xe2\x96"]) == ["a\ufffd", "é\ufffd"]
