import pytest


@pytest.fixture(scope="session")
def saved_model(small_run, tmp_path_factory):
    """The small run as a SavedModel."""
    from keras_transformer import export_saved_model

    path = tmp_path_factory.mktemp("exported") / "모델"
    export_saved_model(small_run, path)
    return path


@pytest.fixture(scope="session")
def bot(small_run):
    """The small run's chatbot."""
    from keras_transformer import Chatbot

    return Chatbot.load(small_run)
