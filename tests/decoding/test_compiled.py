import threading

import keras
import numpy as np
import pytest

from keras_transformer.backend.devices import Devices
from keras_transformer.decoding import compiled

pytestmark = pytest.mark.compiled


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="the others take all rows at once")
@pytest.mark.parametrize("rows, count", [(0, 1), (1, 1), (63, 1), (64, 2), (127, 3), (128, 4), (1000, 4)])
def test_shares_are_as_many_as_cores_and_not_too_small(rows, count, monkeypatch):
    monkeypatch.setattr(compiled, "cores", lambda: 4)
    assert compiled.num_shards(rows) == count


def test_a_gpu_takes_all_rows_at_once(monkeypatch):
    monkeypatch.setattr(compiled, "cores", lambda: 4)
    monkeypatch.setattr(compiled, "find_devices", lambda: Devices(("a GPU",)))
    assert compiled.num_shards(1000) == 1


def test_calls_are_at_work_at_the_same_time():
    meeting = threading.Barrier(3, timeout=60)

    def run(number):
        meeting.wait()  # Nobody passes before all are here.
        return number

    assert compiled.side_by_side(run, [[1], [2], [3]]) == [1, 2, 3]


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="TensorFlow alone is called from several threads")
def test_calls_at_the_same_time_have_programs_of_their_own():
    meeting, traced = threading.Barrier(2, timeout=60), []

    def double(x):
        traced.append(x)
        meeting.wait()  # Nobody passes before both are here.
        return 2 * x

    run = compiled.compiled(double, [])
    assert compiled.side_by_side(run, [[np.float32(1)], [np.float32(2)]]) == [2, 4]
    assert compiled.side_by_side(run, [[np.float32(3)], [np.float32(4)]]) == [6, 8]
    assert len(traced) == 2


def test_a_fault_of_one_call_is_raised():
    def run(number):
        return 1 / number

    with pytest.raises(ZeroDivisionError):
        compiled.side_by_side(run, [[1], [0]])


@pytest.fixture
def jit(monkeypatch):
    """The values of `jit_compile` of each function that TensorFlow is given."""
    tf, values = pytest.importorskip("tensorflow"), []
    real = tf.function

    def note(function, jit_compile=False, **others):
        values.append(jit_compile)
        return real(function, **others)

    monkeypatch.setattr(tf, "function", note)
    return values


def row(length):
    return np.zeros(length, "float32")


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="only TensorFlow's programs are counted")
def test_what_the_budget_has_no_program_for_runs_uncompiled(jit):
    run = compiled.compiled(lambda x: x + 1, [], compiled.Budget(2))
    for length in (1, 2, 3, 1, 3):
        assert run(row(length)).numpy().tolist() == [1] * length
    assert jit == [True, True, False]


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="only TensorFlow's programs are counted")
def test_of_programs_that_are_not_compiled_the_last_used_are_kept(jit, monkeypatch):
    monkeypatch.setattr(compiled, "UNCOMPILED", 2)
    budget = compiled.Budget(0)
    run = compiled.compiled(lambda x: x + 1, [], budget)
    for length in (1, 2, 1, 3, 1, 2):
        run(row(length))
    assert len(jit) == 4  # 1, 2, 3, and 2 again.
    assert len(budget.uncompiled) == 2


def test_of_configurations_the_last_used_are_remembered(monkeypatch):
    monkeypatch.setattr(compiled, "CONFIGS", 2)
    budget, made = compiled.Budget(0), []
    for key in "abacab":
        budget.programs(key, lambda key=key: made.append(key) or key)
    assert made == ["a", "b", "c", "b"]
