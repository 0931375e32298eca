"""The `data check` command: a report on a corpus as text or as JSON."""

import json
import shutil
import sys

from keras_transformer.cli.console import echo, example_line, fitted, table
from keras_transformer.cli.language_option import add_language_option
from keras_transformer.cli.train_options import add_setting, add_source_options
from keras_transformer.compat import HelpByColumns
from keras_transformer.config import Config
from keras_transformer.language import translatable
from keras_transformer.language import translate as _

UNFIT = 2
NARROW = 40  # Minimum line width in columns, whatever the width of the terminal.
BAR = 30  # Characters of the longest bar.
SHOWN = 40  # Maximum number of characters shown of a text.
SPLIT_NAMES = {
    "train": translatable("training"), "validation": translatable("validation"), "test": translatable("test"),
}  # fmt: skip


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
            "a file of questions and answers (CSV, TSV, JSON, XLSX, Parquet, YAML or a KakaoTalk chat), or two "
            "parallel text files; a folder of such files, or a name from `keras-transformer data list`, gets a short "
            "report"
        ),
    )
    add_source_options(check)
    add_setting(check, "turns", Config().turns)
    check.add_argument("--json", action="store_true", help=_("print the report as one JSON object"))
    check.set_defaults(command=run_check, parser=check)


def run_check(options):
    """Prints the report."""
    from keras_transformer.data.quality.report import check_corpus

    turns = Config().turns if options.turns is None else Config(turns=options.turns).turns
    report = check_corpus(options.corpus, options.question, options.answer, options.encoding, turns, tell)
    text = json.dumps(report.to_dict(), ensure_ascii=False) if options.json else "\n".join(printed_lines(report))
    # Under a locale other than UTF-8, Python represents the bytes of a Korean file name as surrogates.
    echo(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
    return UNFIT if report.unfit else 0


def printed_lines(report):
    """Returns the lines of the report, wrapped between words on a terminal."""
    if not sys.stdout.isatty():
        return report_lines(report)
    columns = max(NARROW, shutil.get_terminal_size().columns)
    return (fitted(line, columns) for line in report_lines(report))


def tell(step):
    """Prints the current step to standard error."""
    echo(f"{step} …", file=sys.stderr, flush=True)


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
    """Yields the format of each file; of a text file, its encoding and line ends."""
    from keras_transformer.data.quality.text_issues import NOT_COMPOSED

    for file in report.files:
        if file.line_ends is None:
            yield _("{path}: {size:,} bytes of {format}", path=file.path, size=file.size, format=file.encoding)
            continue
        encoding = _("{encoding} with a byte-order mark", encoding=file.encoding) if file.mark else file.encoding
        ends = _(" and ").join(f"{count:,} {name}" for name, count in file.line_ends.items()) or _("none")
        mixed = _(" (mixed, harmless)") if len(file.line_ends) > 1 else ""
        yield _(
            "{path}: {size:,} bytes of {encoding}; line ends: {ends}",
            path=file.path,
            size=file.size,
            encoding=encoding,
            ends=ends + mixed,
        )
    if NOT_COMPOSED in report.faults:
        yield _(
            "  {problem} in {rows}, harmless: training composes them",
            problem=_(NOT_COMPOSED),
            rows=report.faults[NOT_COMPOSED],
        )


def sizes_lines(report):
    """Yields the sizes of the splits, for a corpus whose files are not examined."""
    yield _("{corpus}: {count:,} pairs", corpus=report.corpus, count=report.pairs)
    held_out = report.recommendation.config.hold_out
    sizes = [(name, size) for name, size in report.sizes.items() if held_out or name != "validation"]
    yield from indented([(split_heading(name), f"{size:,}", f"{size / report.pairs:.1%}") for name, size in sizes])


def pairs_lines(report):
    """Yields the numbers of pairs, repetitions, and ambiguous questions."""
    repeats = report.repeats
    yield ""
    yield _(
        "Pairs: {count:,} (different questions: {questions:,}, answers: {answers:,})",
        count=report.pairs,
        questions=repeats.questions,
        answers=repeats.answers,
    )
    first = [shown(report, report.first, side) for side in (0, 1)]
    yield _("  the first: {question}, {answer}", question=first[0], answer=first[1])
    if repeats.duplicates.count:
        yield _("  repeated pairs: {rows}", rows=repeats.duplicates)
    if repeats.ambiguous:
        yield _("  questions with several answers: {count:,}; those with most", count=repeats.ambiguous)
    for example in repeats.most_answered:
        text = shown(report, example.row, 0)
        yield _("    {count:,} answers: {question}", count=example.count, question=text)
    if repeats.commonest:
        yield _("  answers given most often")
    for example in repeats.commonest:
        yield _(
            "    {share:.1%}, {count:,} times: {answer}",
            share=example.count / report.pairs,
            count=example.count,
            answer=shown(report, example.row, 1),
        )


def split_lines(report):
    """Yields the sizes of the splits, and the overlap of held-out splits with training; none without held-out data."""
    if not report.recommendation.config.hold_out:
        return
    split = report.split
    headings = _("pairs"), _("share"), _("question also in training"), _("answer also in training")
    rows = [(_("split by question"), *headings)]
    rows += [(split_heading("train"), f"{split.train:,}", f"{split.train / report.pairs:.1%}", "", "")]
    for name, held_out in (("validation", split.validation), ("test", split.test)):
        shares = [f"{count:,} ({count / max(1, held_out.pairs):.1%})" for count in (held_out.near, held_out.known)]
        size = f"{held_out.pairs:,}", f"{held_out.pairs / report.pairs:.1%}"
        rows += [(split_heading(name), *size, *shares)]
    yield ""
    yield from indented(rows)
    if split.near:
        yield _("  questions that differ only in case, punctuation or spaces:")
    for row, train_row in split.near:
        held_out, trained = shown(report, row, 0), shown(report, train_row, 0)
        yield _("    {question} and {other}", question=held_out, other=trained)


def split_heading(name):
    """Returns what a split is called in the report."""
    return _(SPLIT_NAMES[name])


def characters_lines(report):
    """Yields the scripts and rare characters."""
    characters = report.characters
    scripts = ", ".join(f"{name} {share:.1%}" for name, share in named_scripts(characters.scripts))
    yield ""
    yield _(
        "Different characters: {count:,} ({scripts})", count=characters.different, scripts=scripts or _("no letters")
    )
    if characters.rarest:
        rare = ", ".join(
            _("{text} (row {row})", text=visible(character), row=row) for character, row in characters.rarest.items()
        )
        more = ", …" if characters.once + characters.twice > len(characters.rarest) else ""
        yield _(
            "  occur once: {once:,}; twice: {twice:,}: {characters}",
            once=characters.once,
            twice=characters.twice,
            characters=rare + more,
        )


def named_scripts(scripts):
    """Yields the scripts with their shares; only the names of common ones are translated."""
    names = {"Hangul": _("Hangul"), "Latin": _("Latin"), "Han": _("Han"), "emoji": _("emoji")}
    for name, share in scripts.items():
        yield names.get(name, name), share


def lengths_lines(report):
    """Yields the lengths of the texts in characters and, for trainable pairs, in tokens."""
    rows = [(_("length"), _("median"), "95 %", "99 %", _("longest"), _("row"))]
    rows += [length_cells(_("questions, characters"), report.question_characters)]
    rows += [length_cells(_("answers, characters"), report.answer_characters)]
    rows += [length_cells(_("questions, tokens"), report.tokens.questions)]
    rows += [length_cells(_("answers, tokens"), report.tokens.answers)]
    yield ""
    yield from indented(rows)
    yield from histogram_lines(report)


def length_cells(name, lengths):
    """Returns a row of the table of lengths."""
    numbers = lengths.median, lengths.p95, lengths.p99, lengths.longest, lengths.row
    return (name, *(f"{number:,}" for number in numbers))


def histogram_lines(report):
    """Yields a histogram of the lengths in tokens."""
    tokens = report.tokens
    yield ""
    if tokens.pairs == report.pairs:
        yield _("Tokens, start and end included")
    else:
        yield _("Tokens, start and end included, of {count:,} pairs drawn at random", count=tokens.pairs)
    most = max(count for start, end, *counts in tokens.histogram for count in counts)
    rows = [(_("tokens"), _("questions"), "", _("answers"), "")]
    for start, end, questions, answers in tokens.histogram:
        bars = ["#" * -(-BAR * count // most) for count in (questions, answers)]
        rows.append((f"{start:,}-{end:,}", f"{questions:,}", bars[0].ljust(BAR), f"{answers:,}", bars[1]))
    yield from indented(rows, left=(2, 4))


def recommendation_lines(report):
    """Yields the recommended command, its settings, and the reasons for them."""
    yield ""
    yield _("To train on it:")
    yield f"  {report.command}"
    yield f"  {report.recommendation.line}"
    yield from (f"    {reason}" for reason in report.recommendation.reasons[1:])


def verdict_lines(report):
    """Yields the warnings and the verdict."""
    if report.warnings:
        yield ""
        yield _("Warnings:")
        yield from (f"  {number}. {warning}" for number, warning in enumerate(report.warnings, 1))
    if report.files or report.pairs:
        yield ""
    verdict = _(report.verdict)
    if report.warnings:
        verdict = f"{verdict} ({len(report.warnings)})"
    line = _("Verdict: {verdict}", verdict=verdict)
    yield f"{line}: {report.unfit}" if report.unfit else line


def shown(report, row, side):
    """Returns a text of a row, shortened to one line, with the row number."""
    text = visible(" ".join(report.texts[row][side].split()))
    text = text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
    return _("{text} (row {row})", text=f"“{text}”", row=row)


def visible(text):
    r"""Returns a text with its control and invisible characters escaped, such as \x1b."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def indented(rows, left=(0,)):
    """Yields the rows of a table as indented lines, aligned right except the columns in `left`."""
    right = set(range(len(rows[0]))).difference(left)
    return (f"  {line}" for line in table(rows, right).split("\n"))
