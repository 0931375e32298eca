import numpy as np
import pytest

from keras_transformer.doctor import training as doctor_training
from keras_transformer.doctor.finding import FAILED, OK
from keras_transformer.training import trainer

pytestmark = pytest.mark.heavy


def test_a_resumed_training_is_compared_with_an_uninterrupted_one(capfd):
    [finding] = doctor_training.training_findings()
    assert finding.status == OK
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow  # Trains four times.
def test_an_optimizer_that_is_not_restored_is_found(monkeypatch):
    restore = trainer.restore
    monkeypatch.setattr(
        trainer, "restore", lambda model, tensors, what: None if what == "optimizer" else restore(model, tensors, what)
    )
    [finding] = doctor_training.training_findings()
    assert finding.status == FAILED


def test_the_largest_difference_is_infinite_for_other_names():
    one, other = {"a": np.array([1.0, 2.0])}, {"a": np.array([1.0, 2.5])}
    assert doctor_training.largest_difference(one, other) == 0.5
    assert doctor_training.largest_difference(one, {"b": np.array([1.0, 2.0])}) == np.inf
