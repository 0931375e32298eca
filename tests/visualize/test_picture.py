import subprocess
import sys

import pytest
from matplotlib.figure import Figure

from keras_transformer import InputError
from keras_transformer.visualize.picture import check, save


@pytest.mark.parametrize(
    ("name", "start"),
    [("그림.png", b"\x89PNG\r\n"), ("a.PNG", b"\x89PNG\r\n"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF-")],
)
def test_the_ending_says_the_kind(tmp_path, name, start):
    save(Figure((1, 1)), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_picture_that_fails_leaves_the_old_one(tmp_path):
    figure = Figure((1, 1))
    figure.text(0, 0, r"$\no_such_sign$")
    (tmp_path / "a.png").write_text("old")
    with pytest.raises(ValueError, match="no_such_sign"):
        save(figure, tmp_path / "a.png")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("name", ["a.jpg", "a", ".png", "a.png.txt"])
def test_other_endings_are_refused(tmp_path, name):
    for refusing in (check, lambda path: save(Figure(), path)):
        with pytest.raises(InputError, match=r": a picture ends in \.png, \.svg, \.pdf: name such a file"):
            refusing(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none/a\.png: there is no folder .*none$"):
        check(tmp_path / "none" / "a.png")


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        InputError,
        match=r"^pictures need the package matplotlib, which is missing: pip install 'keras-transformer\[visualize\]'$",
    ):
        check("a.png")


def test_asking_what_endings_there_are_loads_nothing_heavy():
    code = "import sys, keras_transformer.visualize.picture\nassert not {'keras', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
