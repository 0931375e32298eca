"""Interrupted equals uninterrupted, wherever in its writing a training ends."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from keras_transformer import Config, Run, split_pairs, train
from keras_transformer.runs.tensor_file import load_tensors

TINY = Config(
    vocab_size=400, num_layers=1, d_model=8, num_heads=2, dff=8, batch_size=100, epochs=2, patience=0,
    warmup_steps=50, max_length=16, checkpoint_minutes=1e-9,
)  # fmt: skip


def contents(run_dir):
    """All that a training has made, without what the clock says."""
    run_id = Run(run_dir).id
    tensors, facts = {}, []
    for name in ("weights", "checkpoint"):
        arrays, about = load_tensors(run_dir / f"{name}.safetensors", run_id)
        tensors.update({f"{name} {key}": value for key, value in arrays.items()})
        facts.append(about)
    weights, checkpoint = facts
    del checkpoint["seconds"]
    for row in [weights, *checkpoint["rows"]]:
        del row["pairs/s"]
    summary = json.loads((run_dir / "summary.json").read_text())
    del summary["seconds"]
    metrics = pd.read_csv(run_dir / "metrics.csv", dtype=str).drop(columns="pairs/s")
    return tensors, [weights, checkpoint, summary, metrics.to_dict("records")]


def assert_same(ours, theirs):
    (tensors, facts), (expected_tensors, expected_facts) = ours, theirs
    assert facts == expected_facts
    assert tensors.keys() == expected_tensors.keys()
    for name, value in expected_tensors.items():
        np.testing.assert_array_equal(tensors[name], value, err_msg=name)


@pytest.mark.slow
def test_a_kill_before_any_write_changes_nothing(tmp_path, monkeypatch):
    """A copy of the run folder before each of its writes is what a kill at that moment leaves."""
    pairs = pd.DataFrame(
        {"question": [f"질문 {i}" for i in range(140)], "answer": [f"대답 {i % 7}" for i in range(140)]}
    )
    written, replace = [], os.replace

    def copying(source, target):
        if tmp_path / "run" in target.parents and target.name != "checksums.json":
            shutil.copytree(tmp_path / "run", tmp_path / str(len(written)))
            written.append(target.name.split(".")[0])
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", copying)
        train(pairs, tmp_path / "run", TINY)
    epoch = ["checkpoint", "checkpoint", "weights", "metrics"]  # The first of them between its two steps.
    begin, end = ["tokenizer", "config", "config"], ["summary", "datastore", "datastore", "answering"]
    assert written == [*begin, *epoch, *epoch, *end]  # config.toml, then config.json.

    expected = contents(tmp_path / "run")
    for number in range(written.index("weights"), len(written)):
        copy = tmp_path / str(number)
        assert list(copy.glob(f".{written[number]}.*.part"))
        assert train(pairs, copy, TINY)["finished"]
        assert_same(contents(copy), expected)
        assert (copy / "answering.json").read_bytes() == (tmp_path / "run/answering.json").read_bytes()
        assert not list(copy.glob(".*.part"))


SETTINGS = {
    "preset": "small", "vocab-size": 400, "num-layers": 1, "d-model": 16, "num-heads": 2, "dff": 16, "batch-size": 32,
    "epochs": 60, "patience": 3, "warmup-steps": 100, "max-length": 16, "checkpoint-minutes": 1e-9,
}  # fmt: skip
KILLER = """
import os, random, signal, threading

when, name, count = os.environ["DIE"].split()
replace, left = os.replace, int(count)

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def dying_replace(source, target):
    global left
    left -= name in os.path.basename(target)
    if left or name not in os.path.basename(target):
        return replace(source, target)
    if when == "half-way":
        os.truncate(source, os.path.getsize(source) // 2)
    if when in ("half-way", "before"):
        die()
    replace(source, target)
    if when == "after":
        die()
    threading.Timer(random.Random(int(count)).uniform(0, 0.01), die).start()

os.replace = dying_replace
"""
"""Python runs it at its start: SIGKILL half-way in the n-th write of a file, before or after it, or soon after it."""


@pytest.fixture
def command(tmp_path):
    """Starts the training of a run folder, in a process that may be told when to die."""
    pairs = pd.DataFrame({"question": [f"질문 {i}" for i in range(160)], "answer": "하나 둘 셋"})
    unseen = pairs["question"].isin(split_pairs(pairs)["validation"]["question"])
    pairs.loc[unseen, "answer"] = "셋 둘 하나"  # What training teaches is wrong for them: early stopping sets in.
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    (tmp_path / "site").mkdir()
    (tmp_path / "temporary").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text(KILLER)
    paths = os.pathsep.join([str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")])
    options = [f"--{name}={value}" for name, value in SETTINGS.items()]

    def start(run, die=None):
        environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
        if die:
            environment |= {"PYTHONPATH": paths, "DIE": die}
        words = [sys.executable, "-m", "keras_transformer", "train", "pairs.csv", "--run", run, *options]
        return subprocess.Popen(
            words, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    return start


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL here")
def test_training_killed_over_and_over_equals_one_that_never_was(command, tmp_path):
    never_killed, run_dir = command("never killed"), tmp_path / "run"
    chance, leftovers = random.Random(0), 0
    for _ in range(3):
        process = command("run")
        time.sleep(chance.uniform(0, 5))
        process.kill()
        assert process.wait() == -signal.SIGKILL
    deaths = ["half-way weights 1"]
    deaths += [
        f"{when} . {chance.randint(2, 12)}" for _ in range(2) for when in ("half-way", "soon", "before", "after")
    ]
    deaths += ["half-way metrics 7", "before metrics 3", "before summary 1"]  # The second while patience runs out.
    for die in deaths:
        assert command("run", die).wait() == -signal.SIGKILL
        assert not (run_dir / "summary.json").exists()
        leftovers += len(list(run_dir.glob(".*.part")))
    assert leftovers
    assert command("run").wait() == 0
    assert never_killed.wait() == 0

    expected = contents(tmp_path / "never killed")
    summary = expected[1][2]
    assert summary["best_epoch"] + 3 == summary["epochs"] < 60
    assert_same(contents(run_dir), expected)
    assert sorted(os.listdir(run_dir)) == sorted(os.listdir(tmp_path / "never killed"))
    assert not list((tmp_path / "temporary").glob("__autograph_generated_file*"))
