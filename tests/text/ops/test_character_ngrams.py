import numpy as np
import pytest
import tensorflow as tf
from sklearn.feature_extraction.text import HashingVectorizer

from keras_transformer.text.character_ngrams import character_ngrams
from keras_transformer.text.ops.character_ngrams import CharacterNgrams, columns_of

FEATURES = 2**18
TEXTS = [
    "배고파", "hello there", "a", "a b", "?!", "ＡＢＣ", "🙂👍🏽", "漢字 かな", "ㅋㅋㅋ ㅠ", "ㅋㅋ 배고파 ㅠㅠ!",
    "hey~ ^^ you", "HELLO Hello", "é Ü ß",
    "a\0b", "İstanbul", "ΟΔΟΣ ΣΑΣ. Σ", "", "tiếng Việt",
    "USB포트 3개", "\u0301a", "\U0010ffff \U0001f1f0\U0001f1f7", "가나다라마바사 " * 30 + "끝",
]  # fmt: skip


def scikit_learn(**settings):
    return HashingVectorizer(n_features=FEATURES, alternate_sign=False, norm=None, dtype=np.float32, **settings)


@pytest.fixture(scope="module")
def ngrams():
    return CharacterNgrams(FEATURES)


def test_they_are_counted_where_scikit_learn_counts_them(ngrams):
    found = tf.function(ngrams, [tf.TensorSpec((None,), tf.string)], autograph=False)(tf.constant(TEXTS))
    expected = scikit_learn(analyzer=character_ngrams).transform(TEXTS)
    for text, columns, counts in zip(TEXTS, found.to_list(), expected.toarray()):
        assert np.array_equal(np.bincount(columns, minlength=FEATURES), counts), text


def test_strings_of_every_length_have_the_same_column():
    strings = [
        "",
        "a",
        "é",
        "漢",
        "🙂",
        "a漢",
        "éé",
        "é漢",
        "漢漢",
        "a🙂",
        "漢🙂",
        "🙂🙂",
        "abc",
        "abcd",
        "ếếế",
        "ếếếế",
    ]
    expected = [scikit_learn(analyzer=lambda text: [text]).transform([string]).indices[0] for string in strings]
    assert columns_of(tf.constant(strings), FEATURES).numpy().tolist() == expected


def test_no_text_has_none(ngrams):
    assert ngrams(tf.constant([], tf.string)).to_list() == []
