"""The notebooks run as they are, and are built from their sources."""

import ast
import importlib.util
import json
import re
import shutil
import subprocess

import nbformat
import pytest

from notebooks import build

LANGUAGES = pytest.mark.parametrize("language", build.ENDINGS)
NAMES = pytest.mark.parametrize("name", build.names())
LARGEST = 1_000_000  # Bytes of a notebook.


def built(name, language):
    return nbformat.read(build.HERE / f"{name}{build.ENDINGS[language]}", as_version=4)


def said(cell):
    return [output.text for output in cell.get("outputs", []) if output.get("name") == "stderr"]


@pytest.mark.slow
@pytest.mark.timeout(3600)
@NAMES
def test_it_runs_from_a_clean_kernel_and_complains_of_nothing(name, monkeypatch):
    monkeypatch.setattr(build, "TIMEOUT", 3000)  # However slow the machine is.
    monkeypatch.setenv("CORPUS", "small_talk")  # In place of one that is downloaded.
    notebook = build.execute(build.in_language(name, "en"))
    assert [said(cell) for cell in notebook.cells if said(cell)] == []


@NAMES
def test_each_text_stands_in_both_languages(name):
    texts = [cell.metadata["lang"] for cell in build.read(name).cells if cell.cell_type == "markdown"]
    assert texts == ["en", "ko"] * (len(texts) // 2)


@NAMES
@LANGUAGES
def test_what_is_kept_was_built_from_the_source(name, language):
    source, kept = build.in_language(name, language), built(name, language)
    assert [(cell.id, cell.cell_type, cell.source) for cell in kept.cells] == [
        (cell.id, cell.cell_type, cell.source) for cell in source.cells
    ]


@NAMES
@LANGUAGES
def test_what_is_kept_has_its_outputs_from_one_run(name, language):
    code = [cell for cell in built(name, language).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert sum(len(cell.outputs) for cell in code) >= 5
    assert len(json.dumps(built(name, language))) < LARGEST


def without_words(cell):
    """Returns the syntax tree of a code cell, with all strings left blank and without Korean font and language."""
    tree = ast.parse(cell.source if not cell.source.startswith("!") else "")
    tree.body = [one for one in tree.body if not re.search("koreanize_matplotlib|use_language", ast.unparse(one))]
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):  # The words between the values may be in another order.
            node.values = sorted((one for one in node.values if isinstance(one, ast.FormattedValue)), key=ast.dump)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)


@NAMES
def test_the_code_differs_by_its_words_alone(name):
    english, korean = (
        [without_words(cell) for cell in build.in_language(name, language).cells if cell.cell_type == "code"]
        for language in build.ENDINGS
    )
    assert english == korean


@pytest.mark.parametrize("name", build.KOREAN)
def test_each_korean_word_stands_for_one_of_the_code(name):
    code = "\n".join(cell.source for cell in build.read(name).cells if cell.cell_type == "code")
    assert [word for word in build.KOREAN[name] if word not in code] == []


def test_the_longest_words_are_replaced_first():
    words = {"egg": "달걀", '"an egg"': '"달걀 하나"'}
    assert build.in_korean('print("an egg", egg)', words) == 'print("달걀 하나", 달걀)'


def install(name, language="en"):
    """The code of the cell that installs the package."""
    return build.code_cells(build.in_language(name, language))[0].source


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """What pip is asked to install, in the folder of notebooks that are not in a clone."""
    packages = []
    monkeypatch.setattr(subprocess, "run", lambda command, check: packages.append(command[-1]))
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    return packages


@pytest.fixture
def missing(monkeypatch):
    """As if the package was not installed."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)


def test_an_installed_package_is_not_installed_again(installed):
    exec(install("01_attention_by_hand"))
    assert installed == []


@NAMES
@LANGUAGES
def test_in_a_clone_the_package_is_installed_from_there(name, language, installed, missing, tmp_path):
    (tmp_path / "setup.cfg").touch()
    exec(install(name, language))
    assert installed == ["..[datasets,visualize]" if name.startswith("03") else "..[visualize]"]


@LANGUAGES
def test_elsewhere_one_line_says_what_to_do_while_the_repository_has_no_address(
    language, installed, missing, monkeypatch
):
    monkeypatch.setattr(build, "repository", lambda: None)
    with pytest.raises(SystemExit) as caught:
        exec(install("01_attention_by_hand", language))
    assert "keras_transformer" in caught.value.code and "\n" not in caught.value.code
    assert installed == []


@NAMES
@LANGUAGES
def test_elsewhere_the_package_is_installed_from_the_address(name, language, installed, missing, monkeypatch):
    monkeypatch.setattr(build, "repository", lambda: "https://github.com/somebody/something")
    exec(install(name, language))
    extras = "datasets,visualize" if name.startswith("03") else "visualize"
    assert installed == [f"keras-transformer-trainer[{extras}] @ git+https://github.com/somebody/something"]
    file = f"{name}{build.ENDINGS[language]}"
    colab = f"https://colab.research.google.com/github/somebody/something/blob/main/notebooks/{file}"
    head = build.in_language(name, language).cells[0].source.split("\n")[2]
    assert head.endswith(f" · [Colab]({colab})")


def test_only_github_is_linked_to_colab(monkeypatch):
    monkeypatch.setattr(build, "repository", lambda: "https://code.invalid/somebody/something")
    assert "olab" not in build.in_language("01_attention_by_hand", "en").cells[0].source
    assert "git+https://code.invalid/somebody/something" in install("01_attention_by_hand")


def test_the_address_is_that_of_the_package(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "HERE", tmp_path / "notebooks")
    (tmp_path / "setup.cfg").write_text("[metadata]\nurl = https://code.invalid/100%/\n")
    assert build.repository() == "https://code.invalid/100%"
    (tmp_path / "setup.cfg").write_text("[metadata]\n# url = https://code.invalid\n")
    assert build.repository() is None


def test_texts_change_without_new_outputs(tmp_path, monkeypatch):
    name = "01_attention_by_hand"
    for ending in build.ENDINGS.values():
        shutil.copy(build.HERE / f"{name}{ending}", tmp_path)
    before = built(name, "en")
    monkeypatch.setattr(build, "repository", lambda: "https://github.com/somebody/something")
    monkeypatch.setattr(build, "HERE", tmp_path)
    build.rewrite(name)
    after = built(name, "en")
    assert "somebody/something" in after.cells[0].source
    assert [cell.get("outputs") for cell in after.cells] == [cell.get("outputs") for cell in before.cells]
    monkeypatch.setattr(build, "in_korean", lambda code, words: f"{code}\n1 + 1")
    with pytest.raises(ValueError, match=r"01_attention_by_hand.ko.ipynb: the code of its source has changed"):
        build.rewrite(name)


@NAMES
@LANGUAGES
def test_links_lead_somewhere(name, language):
    texts = [cell.source for cell in built(name, language).cells if cell.cell_type == "markdown"]
    links = [link for text in texts for link in re.findall(r"\]\(([^)#]+)", text)]
    assert any("arxiv.org/abs/1706.03762" in link for link in links)
    here = [link for link in links if "://" not in link]
    assert here and [link for link in here if not (build.HERE / link).exists()] == []
