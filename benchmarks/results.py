"""The file `RESULTS.md`: one section per benchmark, which only that benchmark writes."""

import contextlib
import os
import pathlib
import re
import statistics

from benchmarks.programs import Failed

RESULTS = pathlib.Path(__file__).with_name("RESULTS.md")
PREAMBLE = """# Results

Written by the benchmarks themselves; each replaces its own section when it runs again. Figures of different sections,
let alone of different machines, do not compare: ratios within a table do.
"""


def median_and_range(values, digits=0):
    """Formats a median with the minimum and maximum, as "375 (370–381)"; a single value without a range."""
    values = list(values)
    low, middle, high = (f"{x:,.{digits}f}" for x in (min(values), statistics.median(values), max(values)))
    return f"{middle} ({low}–{high})" if len(values) > 1 else middle


def table(header, rows):
    """Returns a Markdown table. The first column is text, and the others are right-aligned.

    Args:
        header: Names of the columns.
        rows: Rows of cells, texts.
    """
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))


def publish(path, name, title, paragraphs):
    """Prints the results of a benchmark and writes them to its section.

    Args:
        path: The file of results.
        name: The name of the benchmark, which is the key of its section.
        title: The heading of the section.
        paragraphs: The paragraphs of the section.
    """
    body = "\n\n".join([f"## {title}", *paragraphs])
    print(f"\n{body}\n", flush=True)
    path = pathlib.Path(path)
    document = path.read_text("utf-8") if path.exists() else PREAMBLE
    write_atomically(path, replace_section(document, name, body))


def replace_section(document, name, body):
    """Returns the document with one section replaced, or appended if it is missing. Everything else stays unchanged.

    Args:
        document: The document in Markdown.
        name: The name of the section, which its start and end markers contain.
        body: The new text between the markers.

    Raises:
        Failed: If a marker of the section occurs without the other one, or more than once.
    """
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    section = f"{begin}\n{body}\n{end}"
    counts = document.count(begin), document.count(end)
    if counts == (0, 0):
        return f"{document.rstrip()}\n\n{section}\n"
    start, stop = document.find(begin), document.find(end)
    if counts != (1, 1) or stop < start:
        raise Failed(f"the results need {begin} once and {end} once after it, or neither; repair them by hand")
    return document[:start] + section + document[stop + len(end) :]


def write_atomically(path, text):
    """Writes a text file atomically: at any time, it contains either the complete old text or the complete new text."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(beside, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def without_folders(text):
    """Returns a text in which paths outside the repository are shortened: "/home/me/a.csv" becomes "…/a.csv"."""
    return re.sub(r"(?<![\w.…])(?:~|\.\.)?/(?:[^\s/'\"]+/)*([^\s/'\",:)]+)", r"…/\1", text)
