"""A good run passes every check; each planted fault is found by the check that is made for it."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from keras_transformer import Tokenizer
from keras_transformer.chat.datastore import EXCHANGES, Datastore
from keras_transformer.doctor import run as doctor_run
from keras_transformer.doctor.finding import FAILED, OK, SKIPPED, WARNING
from keras_transformer.doctor.model import finite_weights
from keras_transformer.doctor.run import run_findings
from keras_transformer.errors import InputError
from keras_transformer.runs.checksums import write_json_recorded, write_recorded
from keras_transformer.runs.run import Run
from keras_transformer.runs.tensor_file import load_tensors

pytestmark = pytest.mark.heavy

FILES = "The files of the run are complete and undamaged"
WEIGHTS = "The weights are finite"
TEXTS = "Tokenizing and detokenizing keep every text"
KNOWN = "Known questions retrieve their own exchange"
ROWS = "The datastore has the rows of the corpus"
EXPORT = "A SavedModel of the run gives its answers"


@pytest.fixture
def of_files(monkeypatch):
    """Leaves out what takes seconds: only the weights of the model are checked, and the export counts as a good one."""
    monkeypatch.setattr(doctor_run, "model_findings", lambda model, *sizes: [finite_weights(model)])
    monkeypatch.setattr(doctor_run, "export", lambda run, path: {"verified": {"equal": 16, "questions": 16}})


def examined(path):
    """The findings by check."""
    return {finding.check: finding for finding in run_findings(path)}


def failed(path):
    """The checks that failed."""
    return [check for check, finding in examined(path).items() if finding.status == FAILED]


def test_a_good_run_passes_every_check(trained, monkeypatch):
    monkeypatch.setattr(doctor_run, "export", lambda run, path: {"verified": {"equal": 16, "questions": 16}})
    findings = examined(trained)
    assert {finding.status for finding in findings.values()} == {OK}
    assert len(findings) == 12
    assert findings[ROWS].measured == "0 of 20 exchanges differ"


@pytest.mark.slow  # Exports a SavedModel.
def test_its_export_passes_too(trained):
    assert examined(trained)[EXPORT].measured == "16 of 16 answers equal"


@pytest.mark.parametrize(
    "name", ["weights.safetensors", "tokenizer.model", "datastore.jsonl", "metrics.csv", "summary.json"]
)
def test_a_file_cut_in_half(run, name):
    data = (run / name).read_bytes()
    (run / name).write_bytes(data[: len(data) // 2])
    [finding] = run_findings(run)
    assert (finding.check, finding.status) == (FILES, FAILED)
    assert name in finding.measured


def test_the_tokenizer_of_another_run(run):
    Tokenizer.train(["나 너 우리"] * 3, vocab_size=270).save(run / "tokenizer.model")
    [finding] = run_findings(run)
    assert (finding.check, finding.status) == (FILES, FAILED)


def test_weights_that_are_not_numbers(run, of_files):
    about = Run(run)
    tensors, facts = load_tensors(run / "weights.safetensors", about.id)
    name = sorted(tensors)[0]
    tensors[name] = np.full_like(tensors[name], np.nan)
    about.save_weights(tensors, facts)
    assert WEIGHTS in failed(run)


def test_rows_that_are_not_those_of_the_corpus(run, of_files):
    lines = [json.loads(line) for line in (run / EXCHANGES).read_text("utf-8").splitlines()]
    shifted = "".join(json.dumps({**line, "row": line["row"] + 1}, ensure_ascii=False) + "\n" for line in lines)
    write_recorded(run / EXCHANGES, shifted.encode())
    assert failed(run) == [ROWS]


def test_a_corpus_that_has_changed_is_a_warning(trained, tmp_path, of_files):
    folder = shutil.copytree(trained.parent, tmp_path / "moved")
    source = json.loads((folder / "run/config.json").read_text("utf-8"))
    source["corpus"]["source"]["corpus"] = [str(folder / "pairs.csv")]
    write_json_recorded(folder / "run/config.json", source)
    finding = examined(folder / "run")[ROWS]
    assert finding.status == OK, finding
    pairs = pd.read_csv(folder / "pairs.csv")
    pairs[::-1].to_csv(folder / "pairs.csv", index=False)
    assert examined(folder / "run")[ROWS].status == WARNING
    (folder / "pairs.csv").unlink()
    assert examined(folder / "run")[ROWS].status == SKIPPED


def test_a_known_question_that_retrieves_another_exchange(run, of_files, monkeypatch):
    nearest = Datastore.nearest
    monkeypatch.setattr(Datastore, "nearest", lambda self, questions, count=1: nearest(self, questions[::-1], count))
    assert failed(run) == [KNOWN]


def test_a_tokenizer_that_loses_text(run, of_files, monkeypatch):
    decode = Tokenizer.decode
    monkeypatch.setattr(Tokenizer, "decode", lambda self, ids: [text[:3] for text in decode(self, ids)])
    assert failed(run) == [TEXTS]


def test_an_export_with_other_answers(run, of_files, monkeypatch):
    def refuse(run, path):
        raise InputError("the export was discarded: only 3 of 16 answers match those of the run")

    monkeypatch.setattr(doctor_run, "export", refuse)
    assert failed(run) == [EXPORT]


def test_a_check_that_raises_is_a_finding_and_the_others_follow(run, of_files, monkeypatch):
    monkeypatch.setattr(doctor_run, "round_trip", lambda *arguments: 1 / 0)
    findings = examined(run)
    assert findings[TEXTS].status == FAILED and findings[TEXTS].measured == "division by zero"
    assert findings[EXPORT].status == OK
