import pytest

from keras_transformer import report_html
from keras_transformer.report import report as module


@pytest.fixture
def make_report(small_run, make_evaluation, monkeypatch):
    """A function that makes the report of a run, by default the small one, that answers what it is told to."""

    def make(asked, answers, run=small_run, leaked=0, **settings):
        monkeypatch.setattr(module, "evaluation", lambda *_, **__: make_evaluation(asked, answers, leaked=leaked))
        return report_html(run, None, **settings)

    return make
