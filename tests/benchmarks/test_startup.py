import sys

from benchmarks.programs import Outcome
from benchmarks.startup import QUESTION, commands_of, measure, programs_of, row_of


def taken(*figures):
    return [Outcome("", "", 0, 9.0, cpu, peak) for cpu, peak in figures]


def test_every_program_is_asked_one_question_in_every_round():
    asked = measure({"echo": [[sys.executable, "-c", "print(ascii(input()))"]]}, rounds=2)
    assert [one.output for [outcomes] in asked.values() for one in outcomes] == [f"{QUESTION!a}\n"] * 2


def test_every_command_is_run_from_every_checkout_and_python_once(tmp_path):
    programs = programs_of("runs/a", ["now", "before"])
    assert {len(lines) for name, lines in programs.items() if name in commands_of("runs/a")} == {2}
    assert programs["`info RUN`"][1] == [
        "env", "PYTHONPATH=before", sys.executable, "-P", "-m", "keras_transformer", "info", "runs/a",
    ]  # fmt: skip
    assert programs["`python -c pass`"] == [[sys.executable, "-c", "pass"]]


def test_a_row_has_the_least_time_and_the_most_memory():
    now, before = taken((0.3, 90), (0.25, 100)), taken((5.0, 1200), (6.0, 1100))
    assert row_of("x", [now]) == ["x", "0.25", "100"]
    assert row_of("x", [now, before]) == ["x", "0.25", "100", "5.00", "1,200", "20.0"]
