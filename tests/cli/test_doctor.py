import json

import pytest

from keras_transformer.cli.main import main
from keras_transformer.doctor import doctor
from keras_transformer.doctor.finding import FAILED, OK, Finding

pytestmark = pytest.mark.heavy

GOOD, BAD = Finding("Two and two are four", OK, "4"), Finding("Water is dry", FAILED, "wet", "Wipe it.")


@pytest.fixture
def findings(monkeypatch):
    """A list of the findings that the doctor has."""
    listed = [GOOD]
    monkeypatch.setattr(doctor, "examine", lambda path: iter(listed))
    return listed


def test_a_healthy_installation(findings, capsys):
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out == "ok       Two and two are four: 4\nAll is well: 1 checks, none failed.\n"


def test_a_failed_check_has_advice_and_status_1(findings, capsys):
    findings.append(BAD)
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "failed   Water is dry: wet\n         Wipe it.\n1 of 2 checks failed.\n" in out


def test_in_korean(findings, capsys):
    assert main(["doctor", "--lang", "ko"]) == 0
    assert capsys.readouterr().out.startswith("정상  Two and two are four: 4\n이상이 없습니다.")


def test_json(findings, capsys):
    findings.append(BAD)
    assert main(["doctor", "--json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert printed[1] == {"check": "Water is dry", "status": "failed", "measured": "wet", "advice": "Wipe it."}


def test_a_folder_that_does_not_exist(capsys, tmp_path):
    assert main(["doctor", str(tmp_path / "none")]) == 2
    assert "there is no such folder" in capsys.readouterr().err


def test_an_installation_is_examined_with_a_tiny_model(monkeypatch):
    monkeypatch.setattr(doctor, "training_findings", lambda: iter([GOOD]))
    checks = [finding.check for finding in doctor.examine()]
    assert "Future tokens do not change past logits" in checks and checks[-1] == GOOD.check
