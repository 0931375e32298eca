"""`RESULTS.md`: a section per benchmark, each written by its own benchmark and by nothing else."""

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
    """A median with the lowest and the highest value, as "375 (370–381)"; a lone value alone."""
    values = list(values)
    low, middle, high = (f"{x:,.{digits}f}" for x in (min(values), statistics.median(values), max(values)))
    return f"{middle} ({low}–{high})" if len(values) > 1 else middle


def table(header, rows):
    """A Markdown table; the first column is text, the others are aligned to the right.

    Args:
        header: Names of the columns.
        rows: Cells of text for each row.
    """
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))


def publish(path, name, title, paragraphs):
    """Prints the results of a benchmark and writes them as its section.

    Args:
        path: The file of results.
        name: The benchmark, the key of its section.
        title: Heading of the section.
        paragraphs: Its text.
    """
    body = "\n\n".join([f"## {title}", *paragraphs])
    print(f"\n{body}\n", flush=True)
    path = pathlib.Path(path)
    document = path.read_text("utf-8") if path.exists() else PREAMBLE
    write_atomically(path, replace_section(document, name, body))


def replace_section(document, name, body):
    """The document with the section of that name replaced, or appended if there is none; all else is left as it is.

    Args:
        document: Markdown.
        name: The section's name, which stands in its two markers.
        body: What is to stand between them.

    Raises:
        Failed: If the document holds a marker of the section without the other, or one of them twice.
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
    """Writes a text file so that at any moment either the old or the new content is there whole."""
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
    """A text with the folders cut from paths that lead out of the repository: "/home/me/a.csv" becomes "…/a.csv"."""
    return re.sub(r"(?<![\w.…])(?:~|\.\.)?/(?:[^\s/'\"]+/)*([^\s/'\",:)]+)", r"…/\1", text)
