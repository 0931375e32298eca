"""The `data check` command: a report on a corpus as text or as JSON."""

import json
import sys

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import example_line
from keras_transformer.cli.language_option import add_language_option
from keras_transformer.cli.train_options import DEFAULT_ENCODING, add_setting, add_source_options
from keras_transformer.compat import HelpByColumns
from keras_transformer.config import Config
from keras_transformer.language import translate as _

UNFIT = 2
BAR = 30  # Characters of the longest bar.
SHOWN = 40  # Maximum number of characters shown of a text.


def add_check(data_commands):
    """Adds the `data check` command."""
    check = data_commands.add_parser(
        "check",
        help=_("check whether a corpus is fit for training, and recommend settings"),
        description=_(
            "Check whether a corpus is fit for training: its contents, its problems, and recommended settings."
            "\nThe exit status is 0 if the corpus is fit, with or without warnings, and 2 if it is not."
        ),
        epilog=example_line("keras-transformer data check pairs.csv"),
        formatter_class=HelpByColumns,
    )
    add_language_option(check)
    check.add_argument(
        "corpus",
        metavar="CORPUS",
        nargs="+",
        help=_(
            "a .csv, .tsv or .jsonl file of questions and answers, or two parallel text files; a folder of such "
            "files, or a name from `keras-transformer data list`, gets a short report"
        ),
    )
    add_source_options(check)
    add_setting(check, "turns", Config().turns)
    check.add_argument("--json", action="store_true", help=_("print the report as one JSON object"))
    check.set_defaults(command=run_check)


def run_check(options):
    """Prints the report."""
    import_tensorflow_quietly()
    from keras_transformer.data.quality.report import check_corpus

    encoding = options.encoding or DEFAULT_ENCODING
    turns = Config().turns if options.turns is None else Config(turns=options.turns).turns
    report = check_corpus(options.corpus, options.question, options.answer, encoding, turns, tell)
    text = json.dumps(report.to_dict(), ensure_ascii=False) if options.json else "\n".join(report_lines(report))
    # Under a locale other than UTF-8, Python represents the bytes of a Korean file name as surrogates.
    print(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
    return UNFIT if report.unfit else 0


def tell(step):
    """Prints the current step to standard error."""
    print(f"{step} …", file=sys.stderr, flush=True)


def report_lines(report):
    """Yields the lines of the printed report; the verdict comes last, where it stays visible on a terminal."""
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
    """Yields the encoding and line ends of each file."""
    from keras_transformer.data.quality.text_issues import NOT_COMPOSED

    for file in report.files:
        mark = " with a byte-order mark" if file.mark else ""
        ends = " and ".join(f"{count:,} {name}" for name, count in file.line_ends.items()) or "none"
        mixed = " (mixed, harmless)" if len(file.line_ends) > 1 else ""
        yield f"{file.path}: {file.size:,} bytes of {file.encoding}{mark}; line ends: {ends}{mixed}"
    if NOT_COMPOSED in report.faults:
        yield f"  {NOT_COMPOSED} in {report.faults[NOT_COMPOSED]}, harmless: training composes them"


def sizes_lines(report):
    """Yields the sizes of the splits, for a corpus whose files are not examined."""
    yield f"{report.corpus}: {report.pairs:,} pairs"
    held_out = report.recommendation.config.hold_out
    sizes = [(name, size) for name, size in report.sizes.items() if held_out or name != "validation"]
    yield from aligned([(name, f"{size:,}", f"{size / report.pairs:.1%}") for name, size in sizes])


def pairs_lines(report):
    """Yields the numbers of pairs, repetitions, and ambiguous questions."""
    repeats = report.repeats
    yield ""
    yield f"Pairs: {report.pairs:,} (different questions: {repeats.questions:,}, answers: {repeats.answers:,})"
    yield f"  the first: {shown(report, report.first, 0)}, {shown(report, report.first, 1)}"
    if repeats.duplicates.count:
        yield f"  repeated pairs: {repeats.duplicates}"
    if repeats.ambiguous:
        yield f"  questions with several answers: {repeats.ambiguous:,}; those with most"
    for example in repeats.most_answered:
        yield f"    {example.count:,} answers: {shown(report, example.row, 0)}"
    if repeats.commonest:
        yield "  answers given most often"
    for example in repeats.commonest:
        yield f"    {example.count / report.pairs:.1%}, {example.count:,} times: {shown(report, example.row, 1)}"


def split_lines(report):
    """Yields the sizes of the splits, and the overlap of held-out splits with training; none without held-out data."""
    if not report.recommendation.config.hold_out:
        return
    split = report.split
    table = [("split by question", "pairs", "share", "question also in training", "answer also in training")]
    table += [("training", f"{split.train:,}", f"{split.train / report.pairs:.1%}", "", "")]
    for name, held_out in (("validation", split.validation), ("test", split.test)):
        shares = [f"{count:,} ({count / max(1, held_out.pairs):.1%})" for count in (held_out.near, held_out.known)]
        table += [(name, f"{held_out.pairs:,}", f"{held_out.pairs / report.pairs:.1%}", *shares)]
    yield ""
    yield from aligned(table)
    if split.near:
        yield "  questions that differ only in case, punctuation or spaces:"
    for row, train_row in split.near:
        yield f"    {shown(report, row, 0)} and {shown(report, train_row, 0)}"


def characters_lines(report):
    """Yields the scripts and rare characters."""
    characters = report.characters
    scripts = ", ".join(f"{name} {share:.1%}" for name, share in characters.scripts.items())
    yield ""
    yield f"Different characters: {characters.different:,} ({scripts or 'no letters'})"
    if characters.rarest:
        rare = ", ".join(f"{visible(character)} (row {row})" for character, row in characters.rarest.items())
        more = ", …" if characters.once + characters.twice > len(characters.rarest) else ""
        yield f"  occur once: {characters.once:,}; twice: {characters.twice:,}: {rare}{more}"


def lengths_lines(report):
    """Yields the lengths of the texts in characters and, for trainable pairs, in tokens."""
    table = [("length", "median", "95 %", "99 %", "longest", "row")]
    table += [length_cells("questions, characters", report.question_characters)]
    table += [length_cells("answers, characters", report.answer_characters)]
    table += [length_cells("questions, tokens", report.tokens.questions)]
    table += [length_cells("answers, tokens", report.tokens.answers)]
    yield ""
    yield from aligned(table)
    yield from histogram_lines(report)


def length_cells(name, lengths):
    """Returns a row of the table of lengths."""
    numbers = lengths.median, lengths.p95, lengths.p99, lengths.longest, lengths.row
    return (name, *(f"{number:,}" for number in numbers))


def histogram_lines(report):
    """Yields a histogram of the lengths in tokens."""
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
    """Yields the recommended command, its settings, and the reasons for them."""
    yield ""
    yield "To train on it:"
    yield f"  {report.command}"
    yield f"  {report.recommendation.line}"
    yield from (f"    {reason}" for reason in report.recommendation.reasons[1:])


def verdict_lines(report):
    """Yields the warnings and the verdict."""
    if report.warnings:
        yield ""
        yield "Warnings:"
        yield from (f"  {number}. {warning}" for number, warning in enumerate(report.warnings, 1))
    if report.files or report.pairs:
        yield ""
    count = f" ({len(report.warnings)})" if report.warnings else ""
    yield f"Verdict: {report.verdict}{count}" + (f": {report.unfit}" if report.unfit else "")


def shown(report, row, side):
    """Returns a text of a row, shortened to one line, with the row number."""
    text = visible(" ".join(report.texts[row][side].split()))
    return f"“{text if len(text) <= SHOWN else text[: SHOWN - 1] + '…'}” (row {row})"


def visible(text):
    r"""Returns a text with its control and invisible characters escaped, such as \x1b."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def aligned(table, left=(0,)):
    """Yields the rows of a table as aligned lines: right-aligned, except the columns in `left`."""
    widths = [max(map(len, column)) for column in zip(*table)]
    sides = ["<" if i in left else ">" for i in range(len(widths))]
    for cells in table:
        yield "  ".join(["", *(f"{cell:{side}{width}}" for cell, side, width in zip(cells, sides, widths))]).rstrip()
