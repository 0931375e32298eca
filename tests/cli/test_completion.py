"""Completion in the shell, asked for as argcomplete's shell functions do, and in the shells themselves."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

START = "import sys, keras_transformer_trainer; sys.exit(keras_transformer_trainer.main())"
INSTALL = pathlib.Path(__file__).parents[2] / "docs/en/how-to/install.md"
HEAVY = ("tensorflow", "keras", "numpy", "pandas", "prompt_toolkit")


@pytest.fixture
def folder(tmp_path):
    """A folder with a run, an export, a folder of runs, a hidden folder, and a corpus."""
    for path in (
        "first/config.json",
        "exported/export.json",
        "runs/둘째/config.json",
        ".hidden/config.json",
        "pairs.csv",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    return tmp_path


def ask(folder, line, *options):
    """Returns the completions of a command line, and the standard error of the process."""
    answer = folder / ".completions"
    about = {
        "_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_SHELL": "bash", "COMP_LINE": line,
        "COMP_POINT": str(len(line.encode())), "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, *options, "-c", START], env={**os.environ, **about}, cwd=folder, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    completions = answer.read_text("utf-8").split("\n")
    answer.unlink()
    return [word.rstrip() for word in completions], done.stderr


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        ("ev", ["evaluate"]),
        ("data ", ["list", "show", "download", "check"]),
        ("chat ", ["exported", "first", "runs/"]),
        ("chat runs/", ["runs/둘째"]),
        ("chat .h", [".hidden"]),
        ("chat first --answer-by ", ["generate", "retrieve", "hybrid"]),
        ("chat first --be", ["--beam"]),
        ("evaluate first --split ", ["train", "validation", "test"]),
        ("train --preset t", ["tutorial"]),
        ("train --tokenizer w", ["word"]),
        ("train c", ["chatbot_ko", "cornell_movie_dialogs"]),
        ("train pa", ["pairs.csv"]),
        ("data show multi", ["multi30k"]),
        ("test first pa", ["pairs.csv"]),
    ],
)
def test_what_can_follow(folder, words, completions):
    assert ask(folder, f"keras-transformer {words}")[0] == completions


def test_it_imports_nothing_that_takes_long(folder):
    completions, imported = ask(folder, "keras-transformer chat fi", "-X", "importtime")
    assert completions == ["first"]
    modules = {line.rsplit("|", 1)[-1].strip() for line in imported.splitlines() if line.startswith("import time:")}
    assert "keras_transformer.cli.completion" in modules
    assert modules.isdisjoint(HEAVY)


def test_the_entry_script_is_found_where_completion_is_on_for_all_commands():
    import keras_transformer_trainer

    with open(keras_transformer_trainer.__file__, encoding="utf-8") as file:
        assert "PYTHON_ARGCOMPLETE_OK" in file.read(1024)  # As much as argcomplete reads.


@pytest.fixture
def home(tmp_path):
    """A home folder with the start files of the shells, each with the line that our documentation gives."""
    rows = re.findall(r"^\| (\w+) \| `~/(\S+)` \| `(.+)` \|$", INSTALL.read_text("utf-8"), re.MULTILINE)
    assert [shell for shell, *_ in rows] == ["bash", "zsh", "fish"]
    for _, file, line in rows:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(line.replace(r"\|", "|") + "\n")
    return tmp_path


def environment(home):
    """The environment variables of a shell with an activated environment."""
    path = f"{pathlib.Path(sys.executable).parent}:/usr/bin:/bin"
    return {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", "TERM": "dumb"}


def needs(shell):
    return pytest.mark.skipif(not shutil.which(shell), reason=f"{shell} is not installed")


@pytest.mark.parametrize("shell", [pytest.param(shell, marks=needs(shell)) for shell in ("bash", "zsh")])
@pytest.mark.parametrize(
    ("begun", "completed"),
    [
        ("ev", "aluate "),
        ("chat f", "irst "),
        ("chat runs/", "둘째 "),
        ("train pa", "irs.csv "),
        ("train ch", "atbot_ko "),
    ],
)
def test_the_tab_key_in_a_shell(folder, home, shell, begun, completed):
    pexpect = pytest.importorskip("pexpect")
    with (home / f".{shell}rc").open("a") as file:
        file.write("PS1='ready> '\n")
    terminal = pexpect.spawn(shell, ["-i"], env=environment(home), cwd=folder, encoding="utf-8", timeout=60)
    try:
        terminal.expect_exact("ready> ")
        assert "not found" not in terminal.before
        terminal.send(f"keras-transformer {begun}")
        terminal.expect_exact(begun)
        terminal.send("\t")
        terminal.expect_exact(completed)
    finally:
        terminal.close(force=True)


@needs("fish")
@pytest.mark.parametrize(
    ("begun", "completions"),
    [
        ("ev", ["evaluate"]),
        ("chat ", ["exported", "first", "runs/"]),
        ("chat runs/", ["runs/둘째"]),
        ("chat first --answer-by r", ["retrieve"]),
        ("train pa", ["pairs.csv"]),
    ],
)
def test_completions_of_fish(folder, home, begun, completions):
    command = ["fish", "-c", f"complete -C 'keras-transformer {begun}'"]
    done = subprocess.run(command, env=environment(home), cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert [line.split("\t")[0].rstrip() for line in done.stdout.splitlines()] == completions
