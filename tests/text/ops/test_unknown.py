import pytest

tf = pytest.importorskip("tensorflow")

from keras_transformer.text.ops.unknown import UnknownAsBytes, UnknownAsOne  # noqa: E402

SIZE = 500


def rows(*ids):
    return tf.ragged.constant(ids, tf.int32, row_splits_dtype=tf.int32)


def test_unknown_pieces_side_by_side_become_one():
    ids = rows([7, SIZE, SIZE + 65, 8, SIZE], [SIZE, SIZE], [], [9])
    assert UnknownAsOne(SIZE)(ids).to_list() == [[7, 1, 8, 1], [1], [], [9]]


def test_unknown_characters_become_their_bytes():
    spell = UnknownAsBytes(SIZE, range(100, 356))
    ids = rows([7, SIZE + ord("가"), 8], [], [SIZE, SIZE + ord("A"), SIZE + ord("é"), SIZE + ord("😀")])
    bytes_ = [100 + byte for byte in "\0Aé😀".encode()]
    assert spell(ids).to_list() == [[7, 100 + 0xEA, 100 + 0xB0, 100 + 0x80, 8], [], bytes_]
