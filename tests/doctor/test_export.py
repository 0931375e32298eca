import json

import pytest

from keras_transformer.doctor import export as doctor_export
from keras_transformer.doctor.doctor import examine
from keras_transformer.doctor.export import export_findings
from keras_transformer.doctor.finding import FAILED, OK, WARNING
from keras_transformer.export.registry import export

pytestmark = pytest.mark.heavy

FILES = "The files of the export are complete and undamaged"
VERSIONS = "It was written with the installed versions"
ALONE = "A batch of questions gets the answers of each question alone"


@pytest.fixture(scope="module")
def exported(trained, tmp_path_factory):
    """The run as a run folder for inference, the export that is written fastest."""
    path = tmp_path_factory.mktemp("exported") / "run"
    export(trained, path, "run")
    return path


class Bot:
    """An export whose answers are the numbers of the questions in the batch."""

    def replies(self, questions):
        return [str(number) for number in range(len(questions))]


@pytest.mark.slow  # As a good run does.
def test_a_good_export_passes(exported):
    findings = {finding.check: finding for finding in examine(exported)}
    assert findings[FILES].status == findings[VERSIONS].status == OK
    assert findings["Future tokens do not change past logits"].status == OK


def test_a_changed_file(exported):
    data = (exported / "tokenizer.model").read_bytes()
    try:
        (exported / "tokenizer.model").write_bytes(data[:-1])
        [finding] = export_findings(exported)
    finally:
        (exported / "tokenizer.model").write_bytes(data)
    assert (finding.check, finding.status) == (FILES, FAILED)


def test_another_version_is_a_warning(exported):
    about = json.loads((exported / "export.json").read_text("utf-8"))
    assert doctor_export.versions_alike(about).status == OK
    finding = doctor_export.versions_alike({**about, "versions": {"tensorflow": "2.15.0"}})
    assert finding.status == WARNING and finding.measured.startswith("tensorflow 2.15.0 → 2.")


def test_answers_that_depend_on_the_batch():
    finding = doctor_export.answers_alike(Bot())
    assert (finding.status, finding.measured) == (FAILED, "7 of 8 answers differ")
