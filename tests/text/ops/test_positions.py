import pytest

tf = pytest.importorskip("tensorflow")

from keras_transformer.text.ops.positions import code_points, every_second, reachable, row_ends  # noqa: E402


def test_each_text_is_closed():
    characters = code_points(tf.constant(["가a", ""]))
    assert characters.to_list() == [[ord("가"), ord("a"), 0], [0]]
    begins, ends = row_ends(characters)
    assert begins.numpy().tolist() == [True, False, False, True]
    assert ends.numpy().tolist() == [False, False, True, True]


@pytest.mark.parametrize("marks", [[1, 1, 1, 0, 1, 0, 1, 1], [0, 0, 1, 1, 1, 1], [0], []])
def test_every_second_of_a_run_counts_from_its_first(marks):
    expected, run = [], 0
    for mark in marks:
        run = run + 1 if mark else 0
        expected.append(run % 2 == 1)
    assert every_second(tf.constant(marks, tf.int32) > 0).numpy().tolist() == expected


def test_the_positions_on_a_path_are_reachable():
    jumps = tf.constant([2, 2, 5, 4, 4, 5, 5])
    begins = tf.constant([True, False, False, True, False, False, False])
    assert reachable(begins, jumps).numpy().nonzero()[0].tolist() == [0, 2, 3, 4, 5]


@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 1000])
def test_paths_of_any_length_are_followed_to_their_end(length):
    jumps = tf.minimum(tf.range(length) + 1, length - 1)
    begins = tf.range(length) == length // 3
    assert reachable(begins, jumps).numpy().nonzero()[0].tolist() == list(range(length // 3, length))
