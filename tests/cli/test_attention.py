"""The command `attention`, as its users see it."""

import sys

import pytest

from keras_transformer.cli import main
from keras_transformer.runs.run import Run
from keras_transformer.visualize import picture


@pytest.fixture
def call(small_run, tmp_path, monkeypatch, capsys):
    """A function that runs the command in an empty folder and returns its status, what it prints, and its errors."""
    monkeypatch.chdir(tmp_path)

    def run(question, *arguments):
        status = main.main(["attention", str(small_run), question, *arguments])
        return (status, *capsys.readouterr())

    return run


def names(folder):
    return [path.name for path in folder.iterdir()]


def test_a_picture(call, tmp_path, monkeypatch):
    figures, save = [], picture.save
    monkeypatch.setattr(picture, "save", lambda figure, path: figures.append(figure) or save(figure, path))
    arguments = ("--output", "그림.png", "--kind", "decoder", "--layer", "1", "--head", "2")
    assert call("배고파", *arguments) == (0, "밥 먹어요.\n", "")
    assert (tmp_path / "그림.png").read_bytes().startswith(b"\x89PNG\r\n")
    assert names(tmp_path) == ["그림.png"]
    [figure] = figures
    assert figure.get_suptitle() == "Decoder self-attention, layer 1 of 1"
    assert [panel.get_title() for panel in figure.axes] == ["head 2", ""]  # The last is the bar of the scale.


def test_a_page_needs_no_matplotlib(call, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, out, errors = call("good night", "--output", "page.HTML", "--n-best", "2")
    assert (status, errors) == (0, "")
    best, second = out.splitlines()
    assert best.endswith("\tSleep well.") and float(best.split("\t")[0]) > float(second.split("\t")[0])
    assert '"question_text":"good night"' in (tmp_path / "page.HTML").read_text(encoding="utf-8")
    assert names(tmp_path) == ["page.HTML"]


@pytest.mark.parametrize(
    ("question", "arguments", "message"),
    [
        ("안녕", ["a.jpg"], "a.jpg: name a file that ends in .html, .png, .svg, .pdf"),
        ("안녕", ["attention"], "attention: name a file that ends in .html, .png, .svg, .pdf"),
        ("안녕", ["none/a.png"], "none/a.png: there is no folder none"),
        ("안녕", ["none/a.html"], "none/a.html: there is no folder none"),
        ("안녕", [".html"], ".html: name a file that ends in .html, .png, .svg, .pdf"),
        (
            "안녕", ["a.html", "--head", "1"],
            "--head is an option of pictures; a page shows every kind, layer and head",
        ),
        ("안녕", ["a.png", "--layer", "2"], "there is no layer 2: layers are numbered from 1 to 1"),
        ("안녕", ["a.png", "--head", "0"], "there is no head 0: heads are numbered from 1 to 2"),
        ("안녕", ["a.png", "--seed", "1"], "--seed needs --sample"),
        (
            "hello " * 24, ["a.png"],
            "the question has 26 tokens including start and end, but this run reads at most 24: ask a shorter one",
        ),
        ("\udcff", ["a.html"], "the question is not UTF-8"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_line_before_the_model_is_loaded(call, tmp_path, monkeypatch, question, arguments, message):
    monkeypatch.setattr(Run, "load_model", None)
    assert call(question, "--output", *arguments) == (2, "", f"keras-transformer: error: {message}\n")
    assert names(tmp_path) == []


def test_a_blank_question_is_one_line(call, tmp_path):
    message = "keras-transformer: error: the question is blank. Write one.\n"
    assert call(" ", "--output", "a.html") == (2, "", message)
    assert names(tmp_path) == []


def test_without_matplotlib_a_picture_names_the_extra(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, out, errors = call("안녕", "--output", "a.pdf")
    assert (status, out) == (2, "")
    assert errors == (
        "keras-transformer: error: a picture needs the package matplotlib, which is missing: "
        "pip install 'keras-transformer-trainer[visualize]'\n"
    )
