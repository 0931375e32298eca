import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from benchmarks.programs import Failed
from benchmarks.training import main, round_ratios

ROOT = Path(__file__).parents[2]


def test_ratios_are_taken_within_a_round():
    assert round_ratios([400.0, 300.0], [100.0, 150.0]) == [4.0, 2.0]


def test_programs_run_in_turn_and_the_one_that_fails_is_left_out(programs, corpus, results):
    main(["--peers", str(programs / "peers"), "--corpus", str(corpus), "--rounds", "2", "--results", str(results)])
    first = ["ours float32", "tutorial", "torch float32", "ours bfloat16", "torch bfloat16"]
    assert (programs / "turns").read_text().splitlines() == [*first, *first[:-1]]
    text = results.read_text("utf-8")
    rows = [line.split(" | ")[:3] for line in text.splitlines() if line.startswith("| ")]
    assert rows == [
        ["| program", "precision", "pairs/s"],
        ["| ---", "---:", "---:"],
        ["| keras_transformer", "float32", "400 (400–400)"],
        ["| tutorial", "float32", "100 (100–100)"],
        ["| torch", "float32", "320 (320–320)"],
        ["| keras_transformer", "bfloat16", "400 (400–400)"],
        ["| ours to", "precision", "ratio of pairs/s |"],
        ["| ---", "---:", "---: |"],
        ["| tutorial", "float32", "4.00 (4.00–4.00) |"],
        ["| torch", "float32", "1.25 (1.25–1.25) |"],
    ]
    assert "Left out: torch bfloat16: no bfloat16 in …/here." in text
    assert "`python -m benchmarks.training --peers …/peers --corpus …/pairs.csv --rounds 2 --results" in text
    assert str(programs) not in text


def test_a_folder_without_a_script_leaves_that_peer_out(programs, corpus, results):
    (programs / "peers" / "torch_train.py").unlink()
    main(["--peers", str(programs / "peers"), "--corpus", str(corpus), "--rounds", "1", "--results", str(results)])
    text = results.read_text("utf-8")
    assert "| tutorial | float32 | 4.00 |" in text
    assert "Left out: torch float32: no torch_train.py in the folder of the peers." in text


def test_peers_whose_interpreter_does_not_run_are_left_out(programs, corpus, results):
    python = ["--peers-python", str(programs / "no_such_python")]
    words = ["--peers", str(programs / "peers"), *python, "--corpus", str(corpus), "--rounds", "1"]
    main([*words, "--results", str(results)])
    text = results.read_text("utf-8")
    assert "peers: an interpreter that does not run" in text
    assert "Left out: tutorial float32: FileNotFoundError" in text
    assert "ratio of pairs/s" not in text


def test_without_peers_ours_is_measured_alone(programs, corpus, results):
    main(["--corpus", str(corpus), "--rounds", "1", "--results", str(results)])
    assert (programs / "turns").read_text().splitlines() == ["ours float32", "ours bfloat16"]
    assert "ratio of pairs/s" not in results.read_text("utf-8")


def test_a_failure_of_ours_is_no_result(ours_is, tmp_path, corpus, results):
    ours_is(tmp_path / "ours.py", "raise SystemExit('out of order')")
    with pytest.raises(Failed, match="keras_transformer float32: out of order"):
        main(["--corpus", str(corpus), "--results", str(results)])
    assert not results.exists()


@pytest.mark.parametrize("words", [["--epochs", "1"], ["--rounds", "0"], ["--peers", "no_such_folder"]])
def test_options_that_cannot_be_measured_are_refused(words, capsys):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert words[1] in capsys.readouterr().err


@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["to the benchmark", "to all, as a terminal does"])
def test_ctrl_c_leaves_the_results_as_they_were_and_no_program_behind(send, tmp_path, corpus, results):
    results.write_text("# Results\n\nfrom before\n")
    slow, number = tmp_path / "slow.py", tmp_path / "number"
    slow.write_text(
        f"import os, time\nwith open({str(number)!r} + '.part', 'w') as file:\n    file.write(str(os.getpid()))\n"
        f"os.rename({str(number)!r} + '.part', {str(number)!r})\ntime.sleep(600)\n"
    )
    script = f"""
        import signal, sys
        signal.signal(signal.SIGINT, signal.default_int_handler)  # Whatever whoever runs these tests has set.
        from benchmarks import command, ours, training
        ours.PROGRAM = (sys.executable, {str(slow)!r})
        command.start(lambda: training.main(["--corpus", {str(corpus)!r}, "--results", {str(results)!r}]))
    """
    benchmark = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    while not number.exists() and benchmark.poll() is None:
        time.sleep(0.1)
    send(benchmark.pid, signal.SIGINT)
    _, errors = benchmark.communicate(timeout=300)
    assert benchmark.returncode == 130, errors
    assert "Traceback" not in errors
    assert results.read_text() == "# Results\n\nfrom before\n"
    assert not list(tmp_path.glob(".*.part"))
    with pytest.raises(ProcessLookupError):
        os.kill(int(number.read_text()), 0)
