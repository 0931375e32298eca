"""The command `data check`: its grammar, and the report on a corpus as text or as JSON."""

import argparse
import json
import sys

from keras_transformer.cli.train_options import DEFAULT_ENCODING, add_setting, add_source_options
from keras_transformer.config import FIELDS, Config
from keras_transformer.data.quality.text_issues import NOT_COMPOSED

UNFIT = 2
BAR = 30  # Characters of the longest bar.
SHOWN = 40  # Characters of a text that are shown.


def add_check(data_commands):
    """The grammar of `data check`."""
    check = data_commands.add_parser(
        "check", help="tell whether a corpus is fit for training, and how to train on it",
        description="Tell whether a corpus is fit for training: what is in it, what to mend, and how to train on it.\n"
        "The exit status is 0 if it is fit, with or without warnings, and 2 if it is not.",
        epilog="Example:  keras-transformer data check pairs.csv",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    check.add_argument(
        "corpus", metavar="CORPUS", nargs="+",
        help="a .csv, .tsv or .jsonl file of questions and answers, or two text files with a line for each; a folder "
        "of such files, or a name of `keras-transformer data list`, has a short report",
    )  # fmt: skip
    add_source_options(check)
    add_setting(check, "turns", FIELDS["turns"])
    check.add_argument("--json", action="store_true", help="the whole report as one JSON object")
    check.set_defaults(command=run_check)


def run_check(options):
    """Prints the report."""
    from keras_transformer.data.quality.report import check_corpus

    encoding = options.encoding or DEFAULT_ENCODING
    turns = Config().turns if options.turns is None else Config(turns=options.turns).turns
    report = check_corpus(options.corpus, options.question, options.answer, encoding, turns, tell)
    text = json.dumps(report.to_dict(), ensure_ascii=False) if options.json else "\n".join(report_lines(report))
    # Where the locale is not UTF-8, Python has the bytes of a Korean file name as surrogates.
    print(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
    return UNFIT if report.unfit else 0


def tell(doing):
    """Says on standard error what is being done."""
    print(f"{doing} …", file=sys.stderr, flush=True)


def report_lines(report):
    """The report as lines for people; the verdict comes last, where a terminal shows it."""
    yield from files_lines(report)
    if report.pairs and not report.files:
        yield from sizes_lines(report)
    elif report.pairs:
        yield from pairs_lines(report)
        yield from split_lines(report)
        yield from characters_lines(report)
        yield from lengths_lines(report)
    if report.recommendation:
        yield from recommendation_lines(report)
    yield from verdict_lines(report)


def files_lines(report):
    """How the files are written."""
    for file in report.files:
        mark = " with a byte-order mark" if file.mark else ""
        ends = " and ".join(f"{count:,} {name}" for name, count in file.line_ends.items()) or "none"
        mixed = " (mixed, which does no harm)" if len(file.line_ends) > 1 else ""
        yield f"{file.path}: {file.size:,} bytes of {file.encoding}{mark}; line ends: {ends}{mixed}"
    if NOT_COMPOSED in report.faults:
        yield f"  {NOT_COMPOSED} in {report.faults[NOT_COMPOSED]}, which does no harm: training composes them"


def sizes_lines(report):
    """The sizes of the parts, where the files are not examined."""
    yield f"{report.corpus}: {report.pairs:,} pairs"
    held_out = report.recommendation.config.hold_out
    yield from aligned([(name, f"{size:,}") for name, size in report.sizes.items() if held_out or name != "validation"])


def pairs_lines(report):
    """What is said once and more than once."""
    repeats = report.repeats
    yield ""
    yield f"Pairs: {report.pairs:,} (different questions: {repeats.questions:,}, answers: {repeats.answers:,})"
    yield f"  the first: {shown(report, report.first, 0)}, {shown(report, report.first, 1)}"
    if repeats.duplicates.count:
        yield f"  repeated pairs: {repeats.duplicates}"
    if repeats.ambiguous:
        yield f"  questions with several answers: {repeats.ambiguous:,}, most of all"
    for example in repeats.most_answered:
        yield f"    {example.count:,} answers: {shown(report, example.row, 0)}"
    if repeats.commonest:
        yield "  answers given most often"
    for example in repeats.commonest:
        yield f"    {example.count / report.pairs:.1%}, {example.count:,} times: {shown(report, example.row, 1)}"


def split_lines(report):
    """The parts, and what of the held-out ones training knows; nothing if training holds nothing out."""
    if not report.recommendation.config.hold_out:
        return
    split = report.split
    table = [("split by question", "pairs", "asked alike in training", "answered the same in training")]
    table += [("training", f"{split.train:,}", "", "")]
    for name, part in (("validation", split.validation), ("test", split.test)):
        shares = [f"{count:,} ({count / max(1, part.pairs):.1%})" for count in (part.near, part.known)]
        table += [(name, f"{part.pairs:,}", *shares)]
    yield ""
    yield from aligned(table)
    if split.near:
        yield "  asked alike, but for case, punctuation or spaces:"
    for row, train_row in split.near:
        yield f"    {shown(report, row, 0)} and {shown(report, train_row, 0)}"


def characters_lines(report):
    """Which characters there are."""
    characters = report.characters
    scripts = ", ".join(f"{name} {share:.1%}" for name, share in characters.scripts.items())
    yield ""
    yield f"Different characters: {characters.different:,} ({scripts or 'no letters'})"
    if characters.rarest:
        rare = ", ".join(f"{visible(character)} (row {row})" for character, row in characters.rarest.items())
        more = ", …" if characters.once + characters.twice > len(characters.rarest) else ""
        yield f"  met once: {characters.once:,}; twice: {characters.twice:,}: {rare}{more}"


def lengths_lines(report):
    """How long the texts are, in characters and, of what can be trained on, in tokens."""
    table = [("length", "median", "95 %", "99 %", "longest", "row")]
    table += [length_cells("questions, characters", report.question_characters)]
    table += [length_cells("answers, characters", report.answer_characters)]
    table += [length_cells("questions, tokens", report.tokens.questions)]
    table += [length_cells("answers, tokens", report.tokens.answers)]
    yield ""
    yield from aligned(table)
    yield from histogram_lines(report)


def length_cells(name, lengths):
    """A row of the table of lengths."""
    numbers = lengths.median, lengths.p95, lengths.p99, lengths.longest, lengths.row
    return (name, *(f"{number:,}" for number in numbers))


def histogram_lines(report):
    """The lengths in tokens as bars."""
    tokens = report.tokens
    whole = tokens.pairs == report.pairs
    yield ""
    yield "Tokens, start and end included" + ("" if whole else f", of {tokens.pairs:,} pairs drawn at random")
    most = max(count for _, _, *counts in tokens.histogram for count in counts)
    table = [("tokens", "questions", "", "answers", "")]
    for start, end, questions, answers in tokens.histogram:
        bars = ["#" * -(-BAR * count // most) for count in (questions, answers)]
        table.append((f"{start:,}-{end:,}", f"{questions:,}", bars[0].ljust(BAR), f"{answers:,}", bars[1]))
    yield from aligned(table, left=(2, 4))


def recommendation_lines(report):
    """What to type, what it does, and why."""
    yield ""
    yield "To train on it:"
    yield f"  {report.command}"
    yield f"  {report.recommendation.line}"
    yield from (f"    {reason}" for reason in report.recommendation.reasons[1:])


def verdict_lines(report):
    """What to mend, and the verdict."""
    if report.warnings:
        yield ""
        yield "Warnings:"
        yield from (f"  {number}. {warning}" for number, warning in enumerate(report.warnings, 1))
    if report.files or report.pairs:
        yield ""
    count = f" ({len(report.warnings)})" if report.warnings else ""
    yield f"Verdict: {report.verdict}{count}" + (f": {report.unfit}" if report.unfit else "")


def shown(report, row, side):
    """A text of a row, shortened to a line, with the row's number."""
    text = visible(" ".join(report.texts[row][side].split()))
    return f"“{text if len(text) <= SHOWN else text[: SHOWN - 1] + '…'}” (row {row})"


def visible(text):
    r"""A text whose control and invisible characters are spelled out: \x1b."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def aligned(table, left=(0,)):
    """The rows of a table as lines: numbers to the right, what is named in `left` to the left."""
    widths = [max(map(len, column)) for column in zip(*table)]
    sides = ["<" if i in left else ">" for i in range(len(widths))]
    for cells in table:
        yield "  ".join(["", *(f"{cell:{side}{width}}" for cell, side, width in zip(cells, sides, widths))]).rstrip()
