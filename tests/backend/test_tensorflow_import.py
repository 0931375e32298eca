import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.heavy

BUILD = "transformer(vocab_size=20, num_layers=1, dff=8, d_model=4, num_heads=2, dropout=0.1)"


def stderr_of(code, **environment):
    """The standard error of a fresh process that runs the code, with no level of TensorFlow's log but the given one."""
    kept = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    process = subprocess.run([sys.executable, "-c", code], env=kept | environment, capture_output=True, check=True)
    return process.stderr.decode()


@pytest.mark.parametrize(
    "code",
    [
        "import keras_transformer; keras_transformer.train",
        f"from keras_transformer import *; {BUILD}",
        f"import keras_transformer as kt; kt.{BUILD}",
    ],
)
@pytest.mark.variants(1)
def test_the_package_prints_nothing_when_it_imports_tensorflow(code):
    assert stderr_of(code) == ""


def test_the_check_of_a_corpus_prints_its_steps_alone(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("question,answer\nhello,Hi!\n")
    said = stderr_of(f"from keras_transformer.cli.main import main; main(['data', 'check', {str(path)!r}])")
    assert said.splitlines() == [f"reading {path} …", "measuring vocabularies …"]


@pytest.mark.slow  # Starts a program.
def test_a_log_level_of_the_user_stays():
    said = stderr_of("import keras_transformer; keras_transformer.train", TF_CPP_MIN_LOG_LEVEL="0")
    assert "I0000 " in said  # Which informational messages there are depends on the processor.


@pytest.mark.slow  # Starts a program.
def test_messages_of_others_are_not_hidden_afterwards():
    code = "import keras_transformer, os; keras_transformer.train; os.write(2, b'mine')"
    assert stderr_of(code) == "mine"


@pytest.mark.slow  # Starts a program.
def test_a_closed_standard_error_is_no_obstacle():
    code = "import os; os.close(2); import keras_transformer; keras_transformer.train"
    assert stderr_of(code) == ""
