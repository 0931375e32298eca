"""Blind judging of answers: judges do not see which system gave an answer.

    python -m benchmarks.judging blind ANSWERS.jsonl SHEET.tsv           # create a sheet in random order
    python -m benchmarks.judging score ANSWERS.jsonl SHEET.tsv … --out JUDGED.tsv

ANSWERS.jsonl is written by `benchmarks.chatbot`. Each judge fills in the column `mark` of a sheet: 2 for an acceptable
answer, 1 for a borderline one, 0 for an unacceptable one. Each distinct answer to a question occurs in a sheet once,
even if several systems gave it.
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
    """Returns a dictionary from (question, answer) to the list of systems that gave it, in file order."""
    given = {}
    for line in pathlib.Path(path).read_text("utf-8").splitlines():
        row = json.loads(line)
        given.setdefault((row["question"], row["answer"]), []).append(row["system"])
    return given


def blind(answers, sheet):
    """Writes a sheet for a judge."""
    rows = list(read_answers(answers))
    random.Random(0).shuffle(rows)
    write(sheet, COLUMNS, [(*row, "") for row in rows])


def read_sheet(path, pairs):
    """Returns a judge's marks by question and answer; raises `ValueError` if a mark is missing or invalid."""
    with open(path, encoding="utf-8", newline="") as file:
        marks = {(row["question"], row["answer"]): row["mark"] for row in csv.DictReader(file, delimiter="\t")}
    for pair in pairs:
        if marks.get(pair) not in MARKS:
            raise ValueError(
                f"{path}: {' / '.join(pair)}: the mark is {marks.get(pair)!r}, not one of {', '.join(MARKS)}"
            )
    return {pair: int(marks[pair]) for pair in pairs}


def score(answers, sheets, out):
    """Writes all marks with their systems, and returns a table of the shares of acceptable and unacceptable answers."""
    given = read_answers(answers)
    judges = [read_sheet(sheet, given) for sheet in sheets]
    names = [f"judge {number}" for number in range(1, len(judges) + 1)]
    rows = [(*pair, ", ".join(systems), *(judge[pair] for judge in judges)) for pair, systems in given.items()]
    write(out, ("question", "answer", "systems", *names), rows)
    systems = dict.fromkeys(name for systems in given.values() for name in systems)
    cells = [(system, *shares(system, given, judges)) for system in systems]
    return table(("", *(f"fit, {name}" for name in names), *(f"unfit, {name}" for name in names)), cells)


def shares(system, given, judges):
    """Returns the shares of a system's answers that each judge marked 2, then the shares that each judge marked 0."""
    own = [pair for pair, systems in given.items() if system in systems]
    return [f"{sum(judge[pair] == mark for pair in own) / len(own):.0%}" for mark in (2, 0) for judge in judges]


def write(path, columns, rows):
    """Writes a file of tab-separated values."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerows([columns, *rows])


def main(arguments=None):
    """Creates a sheet, or scores filled-in sheets."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judging", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("blind", help="write a sheet for a judge")
    make.add_argument("answers")
    make.add_argument("sheet")
    count = commands.add_parser("score", help="score filled-in sheets")
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
