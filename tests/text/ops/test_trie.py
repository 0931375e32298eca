import pytest

tf = pytest.importorskip("tensorflow")

from keras_transformer.text.ops.trie import NONE, Trie, table  # noqa: E402


def test_strings_are_found_by_place_and_length():
    found = Trie({"a": 7, "ab": 8, "abc": 9, "c": 10}).find(tf.constant([ord(c) for c in "abcab"]))
    assert found.numpy().tolist() == [
        [7, 8, 9],
        [NONE, NONE, NONE],
        [10, NONE, NONE],
        [7, 8, NONE],
        [NONE, NONE, NONE],
    ]


def test_nothing_is_found_in_nothing():
    assert Trie({"ab": 0}).find(tf.constant([], tf.int32)).shape == (0, 2)


def test_tables_take_numbers_strings_and_nothing():
    assert table({5: 1}, -1).lookup(tf.constant([5, 6], tf.int64)).numpy().tolist() == [1, -1]
    assert table({"가": 1}, -1).lookup(tf.constant(["가", "나"])).numpy().tolist() == [1, -1]
    assert table({}, -1).lookup(tf.constant([5], tf.int64)).numpy().tolist() == [-1]
