import os
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


def test_a_picture_takes_the_place_of_an_older_one_only_when_it_is_whole(tmp_path):
    (tmp_path / "a.png").write_text("old")
    os.link(tmp_path / "a.png", tmp_path / "still")
    save(Figure((1, 1)), tmp_path / "a.png")
    assert (tmp_path / "still").read_text() == "old"  # Nothing was written into the older file.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "still"]


@pytest.mark.parametrize("name", ["a.jpg", "a", ".png", "a.png.txt"])
def test_other_endings_are_refused(tmp_path, name):
    for refusing in (check, lambda path: save(Figure(), path)):
        with pytest.raises(InputError, match=r": name a file that ends in \.png, \.svg, \.pdf"):
            refusing(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_folder_is_no_picture(tmp_path):
    (tmp_path / "a.png").mkdir()
    with pytest.raises(InputError, match=r"a\.png: is a folder: name a file"):
        check(tmp_path / "a.png")


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none/a\.png: there is no folder .*none$"):
        check(tmp_path / "none" / "a.png")


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        InputError,
        match=r"^a picture needs the package matplotlib, which is missing: pip install '.*\[visualize\]'$",
    ):
        check("a.png")


def test_asking_what_endings_there_are_loads_nothing_heavy():
    code = "import sys, keras_transformer.visualize.picture\nassert not {'keras', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
