import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import HashingVectorizer

from keras_transformer.text.character_ngrams import character_ngrams
from keras_transformer.text.ngram_counts import columns_of, count_ngrams

FEATURES = 2**18
TEXTS = ["배고파", "to be to", "", "ㅋㅋㅋ 漢字", "🙂👍🏽 a\0b", "\U0010ffff ếếếế", "가나다라마바사 " * 30 + "끝"]


def scikit_learn(**settings):
    return HashingVectorizer(n_features=FEATURES, alternate_sign=False, norm=None, dtype=np.float32, **settings)


def test_ngrams_are_counted_in_the_columns_of_scikit_learn():
    counts, expected = count_ngrams(TEXTS, FEATURES), scikit_learn(analyzer=character_ngrams).transform(TEXTS)
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(counts, name), getattr(expected, name), strict=True)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), min_size=1))
def test_every_string_has_the_column_of_scikit_learn(strings):
    expected = scikit_learn(analyzer=lambda string: [string]).transform(strings).indices
    assert columns_of(strings, FEATURES).tolist() == expected.tolist()


def test_blank_texts_and_no_texts_have_no_counts():
    assert count_ngrams(["", " "], FEATURES).shape == (2, FEATURES)
    assert count_ngrams(["", " "], FEATURES).nnz == count_ngrams([], FEATURES).nnz == 0
