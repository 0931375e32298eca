"""The commands `export` and `info`."""

import json

import pytest


def test_a_run_is_exported_and_told_about(call, small_run, tmp_path):
    path = tmp_path / "나간 것"
    done = call("export", small_run, path, "--beam", 2, "--n-best", 2, "--no-xla")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{path}: saved_model, ")
    assert "16 of 16 answers through it are the run's own" in done.stdout
    told = call("info", path)
    assert told.returncode == 0
    assert "kind      saved_model, " in told.stdout
    assert "verified  16 of 16 answers equal" in told.stdout
    about = json.loads(call("info", path, "--json").stdout)
    assert about["options"] == {
        "xla": False, "n_best": 2, "strategy": {"kind": "beam", "num_beams": 2, "length_penalty": 0.6},
    }  # fmt: skip


def test_a_run_is_told_about_too(call, small_run):
    told = call("info", small_run)
    assert told.returncode == 0
    assert told.stdout.startswith("kind      run, ")
    assert "sizes     num_layers 1, d_model 32, num_heads 2, dff 64, max_length 24" in told.stdout
    assert "corpus    pairs, 128 pairs, licence not known" in told.stdout
    assert json.loads(call("info", small_run, "--json").stdout)["vocabulary"].keys() == {"questions", "answers"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["RUN", "."], ".: already exists; use a new or empty folder for the export"),
        (["missing", "out"], "missing: there is no such run folder"),
        (
            ["RUN", "out", "--format", "litert", "--beam", "4"],
            "--beam is an option of --format saved_model, not of litert",
        ),
        (
            ["RUN", "out", "--format", "run", "--forbid", "cat"],
            "--forbid is an option of --format saved_model, not of run",
        ),
        (
            ["RUN", "out", "--format", "litert", "--require", "cat"],
            "--require is an option of --format saved_model, not of litert",
        ),
        (["RUN", "out", "--format", "run", "--no-xla"], "--no-xla is an option of --format saved_model, not of run"),
        (
            ["RUN", "out", "--quantization", "bfloat16"],
            "a SavedModel does not support bfloat16 weights: use float32 or int8",
        ),
        (["RUN", "out", "--sample"], "an export that samples needs a seed"),
        (["RUN", "out", "--top-k", "3"], "--top-k needs --sample"),
    ],
    ids=str,
)
def test_wrong_words_are_one_line(call, small_run, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    refused = call("export", *(small_run if word == "RUN" else word for word in arguments))
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert message in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_is_neither_is_one_line(call, tmp_path):
    told = call("info", tmp_path)
    assert told.returncode == 2
    assert told.stderr == f"keras-transformer: error: {tmp_path}/config.json: missing; this is not a run folder\n"
