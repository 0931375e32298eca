"""Training on a terminal, typed by a program."""

import os
import re
import sys

import pytest

pytestmark = pytest.mark.heavy

pexpect = pytest.importorskip("pexpect", reason="pexpect is not installed (it does not run on Windows)")

CTRL_C = "\x03"
SIZES = (
    "--preset small --num-layers 1 --d-model 16 --num-heads 2 --dff 16 --vocab-size 400 --batch-size 16 "
    "--warmup-steps 50 --patience 0 --monitor accuracy"
)


@pytest.fixture
def train(tmp_path):
    """A function that starts a training on a terminal of a width."""
    corpus = tmp_path / "말뭉치.csv"
    corpus.write_text("질문,답변\n" + "".join(f"질문 {i}번,대답 {i % 5}\n" for i in range(120)), "utf-8")
    children = []

    def start(columns, epochs, **environment):
        words = ["-m", "keras_transformer", "train", str(corpus), "--run", "실행", "--epochs", epochs, *SIZES.split()]
        env = {**os.environ, "TERM": "xterm-256color", **environment}
        env.pop("COLUMNS", None)
        size = {"dimensions": (24, columns)}
        child = pexpect.spawn(sys.executable, words, encoding="utf-8", timeout=120, cwd=tmp_path, env=env, **size)
        children.append(child)
        return child

    yield start
    for child in children:
        child.close(force=True)


def rest_of(child):
    """What a terminal was sent until the end, without escape sequences, and the exit status."""
    child.expect(pexpect.EOF)
    child.close()
    return re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", child.before), child.exitstatus


@pytest.mark.slow
def test_a_training_stopped_and_resumed(train):
    child = train(40, "400", NO_COLOR="1")
    child.expect("validation")
    child.expect(r"2/400")
    child.send(CTRL_C)
    text, status = rest_of(child)
    assert status == 130 and "Traceback" not in text
    assert "Stopping after this step" in text
    assert " ".join(text.split()).endswith("Stopped and saved in 실행. Run the same command to resume.")
    stopped = int(re.findall(r"(\d+)/400", text)[-1])

    last = stopped + 60  # Long enough for the bar to be drawn.
    child = train(80, str(last))
    child.expect("Resuming at step")
    text, status = rest_of(child)
    assert status == 0
    assert re.search(rf"{last}/{last} +\d+\.\d\d\d +\d+\.\d\d\d +[01]\.\d\d\d +[\d,]+ +0:00:00", text), text
    assert "━" in text and "Epoch " not in text
    assert text.index("Sample answers") < text.index("Talk to it:  keras-transformer chat '실행'")

    text, status = rest_of(train(80, str(last)))
    assert status == 0
    assert "Nothing left to train: 실행 is finished" in text and "epoch " not in text.replace("best epoch ", "")
