import threading

import pytest

from keras_transformer.training.writer import Writer


def test_it_writes_beside_what_goes_on_and_in_order():
    go, done = threading.Event(), []
    with Writer() as writer:
        writer.write([go.wait, lambda: done.append(1), lambda: done.append(2)])
        assert done == []
        go.set()
        writer.write([lambda: done.append(3)])
        assert done[:2] == [1, 2]
    assert done == [1, 2, 3]


def test_what_goes_wrong_is_raised_at_the_next_job_and_ends_its_own():
    done = []
    with Writer() as writer:
        writer.write([lambda: 1 / 0, lambda: done.append(1)])
        with pytest.raises(ZeroDivisionError):
            writer.write([lambda: done.append(2)])
    assert done == []


def test_what_goes_wrong_at_the_end_is_raised_there():
    with pytest.raises(ZeroDivisionError), Writer() as writer:
        writer.write([lambda: 1 / 0])
