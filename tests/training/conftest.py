import pytest


@pytest.fixture
def weights_alone(monkeypatch):
    """Lets a training end with its weights, for tests that ask no more: how to answer by them is half of its time."""
    from keras_transformer.training import trainer

    monkeypatch.setattr(trainer, "index_memorized", lambda *_: None)
    monkeypatch.setattr(trainer, "prepare_answers", lambda *_: "")
    monkeypatch.setattr(trainer, "print_samples", lambda *_: None)


@pytest.fixture
def no_steps(monkeypatch):
    """Lets a training be interrupted before its first step, for tests of what comes before."""
    from keras_transformer.training import trainer

    monkeypatch.setattr(trainer, "index_memorized", lambda *_: None)
    monkeypatch.setattr(trainer, "fit_with_callbacks", lambda *_: False)
