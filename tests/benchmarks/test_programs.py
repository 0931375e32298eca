import os
import sys
import time

import pytest

from benchmarks.programs import Failed, run_program, steady_speed


def python(script):
    return run_program([sys.executable, "-c", script])


def test_output_status_and_time_are_those_of_the_program():
    outcome = python("import sys, time; time.sleep(0.2); print('안녕'); print('hm', file=sys.stderr); sys.exit(3)")
    assert (outcome.output, outcome.errors, outcome.status) == ("안녕\n", "hm\n", 3)
    assert outcome.seconds >= 0.2


def test_the_cpu_time_is_that_of_the_program_and_what_it_reads_that_of_the_file(tmp_path):
    (tmp_path / "asked").write_text("hello\n")
    with open(tmp_path / "asked", "rb") as stdin:
        outcome = run_program(
            [sys.executable, "-c", "import time; print(input()); sum(range(10**6)); print(time.process_time())"],
            stdin=stdin,
        )
    line, seconds = outcome.output.split()
    assert line == "hello"
    assert outcome.cpu_seconds >= float(seconds)


def test_memory_is_that_of_the_program():
    assert python("held = b'x' * 200_000_000").peak_mb >= 200


def test_memory_is_not_that_of_whoever_starts_it():
    held = b"x" * 300_000_000
    assert python("pass").peak_mb < 100
    assert held


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit(4)", "exit status 4, without a word"),
        ("import os; os.kill(os.getpid(), 9)", "ended by SIGKILL, without a word"),
    ],
)
def test_a_failure_is_told_by_the_last_line_of_standard_error(script, reason):
    with pytest.raises(Failed) as failure:
        python(script).check()
    assert str(failure.value) == reason


def test_an_interpreter_that_is_not_there_is_a_failure():
    with pytest.raises(Failed, match="No such file or directory: 'no_such_python'"):
        run_program(["no_such_python"]).check()


def test_a_program_that_is_watched_can_be_stopped_and_is_still_measured():
    seen = []

    def watch(seconds, output):
        seen.append(output)
        return "ready" in output

    begin = time.perf_counter()
    script = "import os, time; print('ready', os.getpid(), flush=True); time.sleep(600)"
    outcome = run_program([sys.executable, "-c", script], watch)
    assert time.perf_counter() - begin < 300
    assert outcome.status == -9
    assert outcome.peak_mb > 1
    with pytest.raises(ProcessLookupError):
        os.kill(int(seen[-1].split()[1]), 0)


def test_watching_misses_nothing_of_a_program_that_ends_at_once():
    seen = []
    assert run_program([sys.executable, "-c", "print('last')"], lambda _, output: seen.append(output)).status == 0
    assert seen[-1] == "last\n"


def test_speed_leaves_out_the_first_epoch_and_weighs_epochs_by_their_time():
    assert steady_speed([1.0, 100.0]) == 100
    assert steady_speed([1.0, 100.0, 300.0]) == pytest.approx(150)  # 300 pairs in 3 s, 300 in 1 s: 600 in 4 s.


def test_one_epoch_is_no_measurement():
    with pytest.raises(Failed, match="gave figures for 1 epochs"):
        steady_speed([100.0])
