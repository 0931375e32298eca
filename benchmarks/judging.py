"""Answers judged by people who are not told whose they are.

    python -m benchmarks.judging blind ANSWERS.jsonl SHEET.tsv           # what a judge gets, in random order
    python -m benchmarks.judging score ANSWERS.jsonl SHEET.tsv … --out JUDGED.tsv

ANSWERS.jsonl is what `benchmarks.chatbot` writes. A judge fills in the column `mark` of a sheet of their own: 2 for an
answer fit to be given, 1 for a borderline one, 0 for one that is not. Each different answer to a question stands in a
sheet once, whoever gave it.
"""

import argparse
import csv
import json
import pathlib
import random

from benchmarks.results import table

COLUMNS = ("question", "answer", "mark")
MARKS = ("0", "1", "2")


def read_answers(path):
    """For each question and answer the systems that gave it, a dictionary from pairs to lists, in the file's order."""
    given = {}
    for line in pathlib.Path(path).read_text("utf-8").splitlines():
        row = json.loads(line)
        given.setdefault((row["question"], row["answer"]), []).append(row["system"])
    return given


def blind(answers, sheet):
    """Writes a sheet to fill in."""
    rows = list(read_answers(answers))
    random.Random(0).shuffle(rows)
    write(sheet, COLUMNS, [(*row, "") for row in rows])


def read_sheet(path, pairs):
    """The marks of a judge by question and answer; raises `ValueError` where one is missing or is none."""
    with open(path, encoding="utf-8", newline="") as file:
        marks = {(row["question"], row["answer"]): row["mark"] for row in csv.DictReader(file, delimiter="\t")}
    for pair in pairs:
        if marks.get(pair) not in MARKS:
            raise ValueError(
                f"{path}: {' / '.join(pair)}: the mark is {marks.get(pair)!r}, not one of {', '.join(MARKS)}"
            )
    return {pair: int(marks[pair]) for pair in pairs}


def score(answers, sheets, out):
    """Writes all marks beside the systems, and returns a table of the shares that are fit and that are not."""
    given = read_answers(answers)
    judges = [read_sheet(sheet, given) for sheet in sheets]
    names = [f"judge {number}" for number in range(1, len(judges) + 1)]
    rows = [(*pair, ", ".join(systems), *(judge[pair] for judge in judges)) for pair, systems in given.items()]
    write(out, ("question", "answer", "systems", *names), rows)
    systems = dict.fromkeys(name for systems in given.values() for name in systems)
    cells = [(system, *shares(system, given, judges)) for system in systems]
    return table(("", *(f"fit, {name}" for name in names), *(f"unfit, {name}" for name in names)), cells)


def shares(system, given, judges):
    """The share of a system's answers that each judge finds fit, then that each finds unfit."""
    own = [pair for pair, systems in given.items() if system in systems]
    return [f"{sum(judge[pair] == mark for pair in own) / len(own):.0%}" for mark in (2, 0) for judge in judges]


def write(path, columns, rows):
    """Writes a file of tab-separated values."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerows([columns, *rows])


def main(arguments=None):
    """Makes a sheet, or counts filled ones."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judging", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("blind", help="write a sheet for a judge")
    make.add_argument("answers")
    make.add_argument("sheet")
    count = commands.add_parser("score", help="count what judges filled in")
    count.add_argument("answers")
    count.add_argument("sheets", nargs="+")
    count.add_argument("--out", required=True, help="file for all marks")
    options = parser.parse_args(arguments)
    if options.command == "blind":
        blind(options.answers, options.sheet)
    else:
        print(score(options.answers, options.sheets, options.out))


if __name__ == "__main__":
    main()
