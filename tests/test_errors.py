import configparser
import pathlib
import re
import sys

import pytest

from keras_transformer import InputError
from keras_transformer.errors import DISTRIBUTION, import_extra, no_such_file, no_such_run

ROOT = pathlib.Path(__file__).parents[1]

BROKEN = {
    "half.py": ("import a_dependency_that_is_missing", "No module named 'a_dependency_that_is_missing'"),
    "old.py": ("from json import nothing_of_that_name", "cannot import name 'nothing_of_that_name' from 'json' ("),
    "lost.py": ("import lost.file", "No module named 'lost.file'; 'lost' is not a package"),
}


def test_what_is_installed_is_imported():
    assert import_extra("json.decoder", "serve", "serving") is sys.modules["json.decoder"]


@pytest.mark.parametrize("module", ["no_such_package", "no_such_package.module", "json.no_such_module"])
def test_a_missing_package_is_named_with_its_extra(module):
    with pytest.raises(InputError) as refused:
        import_extra(module, "serve", "serving")
    assert str(refused.value) == (
        f"serving needs the package {module.partition('.')[0]}, which is missing: "
        "pip install 'keras-transformer-trainer[serve]'"
    )


@pytest.mark.parametrize("name", BROKEN)
def test_a_package_that_fails_to_import_is_not_called_missing(tmp_path, monkeypatch, name):
    code, cause = BROKEN[name]
    (tmp_path / name).write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    package = name.removesuffix(".py")
    start = f"serving needs the package {package}, which is installed but cannot be imported: {cause}"
    with pytest.raises(InputError, match=f"^{re.escape(start)}") as refused:
        import_extra(package, "serve", "serving")
    assert str(refused.value).endswith(f". Reinstall it: pip install --force-reinstall {package}")


def test_messages_and_setup_cfg_have_the_same_name():
    setup = configparser.ConfigParser(interpolation=None)
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    assert setup["metadata"]["name"] == DISTRIBUTION


def test_pages_and_messages_never_name_the_extras_of_the_other_project():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("notebooks/**/*.ipynb")]
    files = [*pages, *ROOT.glob("keras_transformer/**/*.py"), *ROOT.glob("notebooks/**/*.py")]
    assert not [path for path in files if re.search(r"keras[-_]transformer\[", path.read_text("utf-8"))]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("faq.cvs", "faq.csv"), ("FAQ", "faq.csv"), ("faq", "faq.csv"), ("faqs", "faq.csv"), ("fqa.csv", "faq.csv"),
        ("질문과 대답.csv", "질문과 답.csv"), ("rnus/run-1/notes.txt", "runs/run-1/notes.txt"),
        ("notes.tx", "notes.txt"), ("notes.ts", "notes.tsv"),
        ("weather.csv", None), ("b.csv", None), ("run", None), ("x", None), ("runs/run-1", None),
        ("nowhere/at/all.csv", None),
    ],
)  # fmt: skip
def test_a_misspelled_file_is_recognized(tmp_path, typed, meant):
    (tmp_path / "runs/run-1").mkdir(parents=True)
    for name in ("a.csv", "faq.csv", "질문과 답.csv", "notes.tsv", "notes.txt", "runs/run-1/notes.txt"):
        (tmp_path / name).touch()
    path = tmp_path / typed
    suggestion = f"; did you mean {tmp_path / meant}?" if meant else ""
    assert str(no_such_file(path)) == f"{path}: no such file{suggestion}"


def test_a_misspelled_run_is_recognized(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("runs/demo").mkdir(parents=True)
    pathlib.Path("demmo").touch()
    assert str(no_such_run("runs/demmo")) == "runs/demmo: there is no such run folder; did you mean runs/demo?"
    assert str(no_such_run("runs/deom")) == "runs/deom: there is no such run folder; did you mean runs/demo?"
    assert str(no_such_run("runs/other")) == "runs/other: there is no such run folder"
