import pytest

from keras_transformer import InputError
from keras_transformer.data.readers import read_rows

CORPUS = """\
categories:
- AI
- 인사
conversations:
- - 몇 살이야?
  - 42
- - 좋아?
  - yes
  - No
- - "여러
    줄"
  - >-
    접은
    글
- - 혼잣말
- - What is it: a colon
  - b
- 목록이 아님
"""


def write(tmp_path, text):
    path = tmp_path / "인사.yml"
    path.write_text(text, encoding="utf-8")
    return path


def test_each_list_is_a_conversation_and_texts_are_as_written(tmp_path):
    assert list(read_rows(write(tmp_path, CORPUS), turns=2)) == [
        (5, "몇 살이야?", "42", None, "몇 살이야?"),
        (7, "좋아?", "yes", None, "좋아?"),
        (7, "좋아?\nyes", "No", None, "좋아?"),
        (10, "여러 줄", "접은 글", None, "여러 줄"),
        (15, None, None, "fewer than two turns", None),
        (16, None, None, "turn 1 is no text: put it in quotes", None),
        (18, None, None, "not a list of turns", None),
    ]


@pytest.mark.parametrize("text", ["", "conversations:\n", "conversations: x\n"])
def test_no_conversation(tmp_path, text):
    assert list(read_rows(write(tmp_path, text))) == []


@pytest.mark.parametrize(
    ("text", "names", "message"),
    [
        ("version: 1\n", (), r"neither conversations: \(ChatterBot\) nor nlu: \(Rasa\) at its top level"),
        ("- a\n", (), "neither conversations:"),
        (CORPUS, ("a", "b"), "--question and --answer name columns, but YAML has no columns"),
    ],
)
def test_what_is_refused(tmp_path, text, names, message):
    with pytest.raises(InputError, match=rf"인사\.yml: {message}"):
        list(read_rows(write(tmp_path, text), *names))
