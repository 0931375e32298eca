"""Executes the notebooks' sources and writes them as notebooks, in English and in Korean.

    python -m notebooks.build [NAME …]        # make notebooks

A source is Python in jupytext's percent format. It has each text twice, tagged "en" and "ko", and the code once, in
English. `source/korean.toml` translates the comments, labels and printed words of the code. `NAME.ipynb` and
`NAME.ko.ipynb` are executed one after the other, each in a fresh kernel.
"""

import argparse
import os
import pathlib
import re
import tempfile
import tomllib

import jupytext
import nbclient
import nbformat

HERE = pathlib.Path(__file__).parent
SOURCES = HERE / "source"
KOREAN = tomllib.loads((SOURCES / "korean.toml").read_text("utf-8"))
ENDINGS = {"en": ".ipynb", "ko": ".ko.ipynb"}
TIMEOUT = 3600  # Seconds that a cell may take; a training on a busy machine does take many.
STARTING = re.compile(r"(\n|WARNING: All log messages before absl.*\n|I0000 .*\n)+")
"""What TensorFlow prints when it starts, at any log level."""

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
    return notebook


def in_korean(code, words):
    """Replaces the words in a cell's code; the longest first, as they may contain each other."""
    for english in sorted(words, key=len, reverse=True):
        code = code.replace(english, words[english])
    return code


def write(name):
    """Builds a notebook in all languages."""
    for language, ending in ENDINGS.items():
        nbformat.write(execute(in_language(name, language)), HERE / f"{name}{ending}")


def main():
    """Builds the notebooks with the given names, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(names())}; default: all")
    for name in parser.parse_args().names or names():
        print(f"{name} …", flush=True)
        write(name)


if __name__ == "__main__":
    main()
