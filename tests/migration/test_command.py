"""What `import-tutorial` prints."""

import os
import subprocess
import sys

import pytest

REPORT = """\
{weights}: 2 layers, d_model 8, 8 heads, dff 12, 269 token ids
Read as the tutorial github, with the preprocessing punctuation.
The weights do not show the number of heads: 8 is the tutorial's; --num-heads sets another.
If the answers are not those of your model, try another --tutorial, --num-heads or --preprocessing.
Next:
  keras-transformer chat {run}
  keras-transformer train CORPUS --run NEW_RUN --from {run}
"""


def test_it_says_what_it_found_and_what_to_do_next(call, weights_file, subwords, tmp_path):
    run = tmp_path / "run"
    options = ["--tutorial", "github", "--preprocessing", "punctuation"]
    result = call("import-tutorial", weights_file, "--tokenizer", subwords, "--run", run, *options)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == REPORT.format(weights=weights_file, run=run)
    about = call("info", run)
    assert "corpus    imported from chatbot.h5 (tutorial github), 0 pairs, licence not known\n" in about.stdout
    taught = call("teach", run, "안녕", "반가워요")
    assert taught.returncode == 2 and "this run has no datastore to correct" in taught.stderr


def test_a_number_of_heads_that_is_given_is_not_called_an_assumption(call, weights_file, subwords, tmp_path):
    options = ["--run", tmp_path / "run", "--num-heads", 2]
    result = call("import-tutorial", weights_file, "--tokenizer", subwords, *options)
    assert "2 heads" in result.stdout and "do not show" not in result.stdout


@pytest.mark.parametrize("language, words", [("en", "there is no such file"), ("ko", "없습니다")])
def test_an_error_is_one_line_and_leaves_nothing(call, subwords, tmp_path, language, words):
    options = ["--tokenizer", subwords, "--run", tmp_path / "run", "--lang", language]
    result = call("import-tutorial", tmp_path / "none.h5", *options)
    assert (result.returncode, result.stdout) == (2, "")
    assert words in result.stderr and len(result.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.heavy
def test_the_run_is_one_like_any_other(call, weights_file, subwords, tmp_path):
    run = tmp_path / "run"
    call("import-tutorial", weights_file, "--tokenizer", subwords, "--run", run, "--num-heads", 2)
    answers = call("answer", run, stdin="안녕 하세요!\nhello there\n".encode()).stdout
    assert len(answers.splitlines()) == 2
    exported = call("export", run, tmp_path / "exported", "--format", "ctranslate2")
    assert (exported.returncode, exported.stderr) == (0, "")
    assert "16 of 16 answers through it are the run's own" in exported.stdout


@pytest.mark.heavy
@pytest.mark.slow  # Starts a program.
def test_a_vocabulary_of_tensorflow_datasets_is_read_in_silence(call, weights_file, subwords, tmp_path):
    run = tmp_path / "run"
    call("import-tutorial", weights_file, "--tokenizer", subwords, "--run", run)
    environment = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    command = [sys.executable, "-m", "keras_transformer", "tokenize", run, "반가워요!"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=True)
    assert (result.stdout, result.stderr) == ("반가워요\t !\n3\t9\n", "")
