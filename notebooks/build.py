"""Executes the notebooks' sources and writes them as notebooks, in English and in Korean.

    python -m notebooks.build [NAME …]        # make notebooks

A source is Python in jupytext's percent format. Each of its texts stands there twice, tagged "en" and "ko"; the code
stands once, and runs once, in a fresh kernel. `NAME.ipynb` and `NAME.ko.ipynb` share it and what it showed.
"""

import argparse
import os
import pathlib
import re
import tempfile

import jupytext
import nbclient
import nbformat

HERE = pathlib.Path(__file__).parent
SOURCES = HERE / "source"
ENDINGS = {"en": ".ipynb", "ko": ".ko.ipynb"}
TIMEOUT = 600  # Seconds that a cell may take.
STARTING = re.compile(r"(\n|WARNING: All log messages before absl.*\n|I0000 .*\n)+")
"""What TensorFlow says when it starts, whatever the level of its log."""

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def names():
    """The notebooks' names, in their order."""
    return sorted(path.stem for path in SOURCES.glob("*.py"))


def read(name):
    """A notebook as its source says, with the texts of both languages."""
    notebook = jupytext.read(SOURCES / f"{name}.py")
    notebook.metadata = nbformat.NotebookNode(kernelspec=KERNEL, language_info={"name": "python"})
    for number, cell in enumerate(notebook.cells, 1):
        cell.id = f"{number:02}"  # By which a cell is the same one in the next commit.
    return notebook


def execute(notebook):
    """Runs a notebook in a fresh kernel, in a new folder, and keeps what its cells show.

    Raises:
        nbclient.exceptions.CellExecutionError: If a cell raises.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with tempfile.TemporaryDirectory() as folder:
        nbclient.NotebookClient(
            notebook, timeout=TIMEOUT, startup_timeout=TIMEOUT, resources={"metadata": {"path": folder}}
        ).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # When it ran.
        if "outputs" in cell:
            cell.outputs = [output for output in cell.outputs if not STARTING.fullmatch(output.get("text", ""))]
    return notebook


def in_language(notebook, language):
    """The notebook with the texts of one language."""
    chosen = nbformat.from_dict(notebook)
    chosen.cells = [cell for cell in notebook.cells if cell.metadata.get("lang") in (None, language)]
    return chosen


def write(name):
    """Builds a notebook in all languages."""
    notebook = execute(read(name))
    for language, ending in ENDINGS.items():
        nbformat.write(in_language(notebook, language), HERE / f"{name}{ending}")


def main():
    """Builds the notebooks that are named, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(names())}; default: all")
    for name in parser.parse_args().names or names():
        print(f"{name} …", flush=True)
        write(name)


if __name__ == "__main__":
    main()
