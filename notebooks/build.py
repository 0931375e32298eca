"""Executes the notebooks' sources and writes them as notebooks, in English and in Korean.

    python -m notebooks.build [NAME …]        # make notebooks
    python -m notebooks.build --keep-outputs  # after a change of texts alone, or of the repository's address

A source is Python in jupytext's percent format. It has each text twice, tagged "en" and "ko", and the code once, in
English. `source/korean.toml` translates the comments, labels and printed words of the code. `NAME.ipynb` and
`NAME.ko.ipynb` are executed one after the other, each in a fresh kernel.

The first cell of code installs the package where it is missing. Without an address of the repository, `url` in
`setup.cfg`, it can do so in a clone only; with one, it does so everywhere, and the notebooks link to Colab.
"""

import argparse
import configparser
import os
import pathlib
import re
import tempfile
import tomllib

import jupytext
import nbclient
import nbformat

from keras_transformer.errors import DISTRIBUTION

HERE = pathlib.Path(__file__).parent
SOURCES = HERE / "source"
KOREAN = tomllib.loads((SOURCES / "korean.toml").read_text("utf-8"))
ENDINGS = {"en": ".ipynb", "ko": ".ko.ipynb"}
TIMEOUT = 3600  # Seconds that a cell may take; a training on a busy machine does take many.
STARTING = re.compile(r"(\n|WARNING: All log messages before absl.*\n|I0000 .*\n)+")
"""What TensorFlow prints when it starts, at any log level."""

HEAD = re.compile(r"^.*\.ipynb\) · .*$", re.MULTILINE)
"""The line of a notebook below its title."""

GITHUB = "https://github.com/"
COLAB = "https://colab.research.google.com/github/"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def names():
    """Returns the names of the notebooks, in their order."""
    return sorted(path.stem for path in SOURCES.glob("*.py"))


def read(name):
    """Reads the source of a notebook, with the texts of both languages."""
    notebook = jupytext.read(SOURCES / f"{name}.py")
    notebook.metadata = nbformat.NotebookNode(kernelspec=KERNEL, language_info={"name": "python"})
    for number, cell in enumerate(notebook.cells, 1):
        cell.id = f"{number:02}"  # Stays the same when the notebook is built again.
    return notebook


def repository():
    """Returns the address of the repository without a slash at its end; None until `setup.cfg` has one."""
    setup = configparser.ConfigParser(interpolation=None)
    setup.read(HERE.parent / "setup.cfg", encoding="utf-8")
    return setup["metadata"].get("url", "").rstrip("/") or None


def execute(notebook):
    """Executes a notebook in a fresh kernel and a new folder, and stores the outputs of its cells.

    Raises:
        nbclient.exceptions.CellExecutionError: If a cell raises.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with tempfile.TemporaryDirectory() as folder:
        nbclient.NotebookClient(
            notebook, timeout=TIMEOUT, startup_timeout=TIMEOUT, resources={"metadata": {"path": folder}}
        ).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # The time of the execution.
        if "outputs" in cell:
            cell.outputs = [output for output in cell.outputs if not STARTING.fullmatch(output.get("text", ""))]
    return notebook


def in_language(name, language):
    """Reads the source of a notebook, with the texts and the code of one language."""
    notebook = read(name)
    notebook.cells = [cell for cell in notebook.cells if cell.metadata.get("lang") in (None, language)]
    if language == "ko":
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.source = in_korean(cell.source, KOREAN.get(name, {}))
    if address := repository():
        add_address(notebook, address, f"{name}{ENDINGS[language]}")
    return notebook


def add_address(notebook, address, file):
    """Adds the repository's address to the cell that installs the package, and on GitHub the notebook's link to Colab.

    Args:
        notebook: The notebook, in one language.
        address: The address.
        file: File name of the notebook.
    """
    title, install = notebook.cells[0], code_cells(notebook)[0]
    extras = re.search(r'"\.\.(\[.+\])"', install.source)[1]
    install.source = re.sub(r"sys\.exit\(.+\)", f'package = "{DISTRIBUTION}{extras} @ git+{address}"', install.source)
    if address.startswith(GITHUB):
        link = f"[Colab]({COLAB}{address.removeprefix(GITHUB)}/blob/main/notebooks/{file})"
        title.source = HEAD.sub(lambda line: f"{line[0]} · {link}", title.source, count=1)


def in_korean(code, words):
    """Replaces the words in a cell's code; the longest first, as they may contain each other."""
    for english in sorted(words, key=len, reverse=True):
        code = code.replace(english, words[english])
    return code


def write(name):
    """Builds a notebook in all languages."""
    for language, ending in ENDINGS.items():
        nbformat.write(execute(in_language(name, language)), HERE / f"{name}{ending}")


def code_cells(notebook):
    """Returns the cells of code."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def rewrite(name):
    """Writes a notebook in all languages again without executing it; its cells keep their outputs.

    Raises:
        ValueError: If code has changed other than that of the first cell, which installs the package.
    """
    for language, ending in ENDINGS.items():
        notebook, path = in_language(name, language), HERE / f"{name}{ending}"
        kept = nbformat.read(path, as_version=4)
        cells, before = code_cells(notebook), code_cells(kept)
        if [(cell.id, cell.source) for cell in cells[1:]] != [(cell.id, cell.source) for cell in before[1:]]:
            raise ValueError(f"{path.name}: the code of its source has changed: build it without --keep-outputs")
        for cell, old in zip(cells, before):
            cell.outputs, cell.execution_count = old.outputs, old.execution_count
        notebook.metadata = kept.metadata
        nbformat.write(notebook, path)


def main():
    """Builds the notebooks with the given names, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(names())}; default: all")
    parser.add_argument("--keep-outputs", action="store_true", help="do not execute them; keep the outputs of before")
    options = parser.parse_args()
    for name in options.names or names():
        print(f"{name} …", flush=True)
        (rewrite if options.keep_outputs else write)(name)


if __name__ == "__main__":
    main()
