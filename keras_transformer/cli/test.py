"""The `test` command: tests a run or an export against golden answers."""

import itertools
import json
import shutil
import sys

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import add_command, echo, table, wrap
from keras_transformer.evaluation.golden import CHANGES, check_golden, read_golden, write_golden
from keras_transformer.language import translate as _
from keras_transformer.language import translate_count

FAILED = 1
NARROW, WIDE = 60, 120  # Minimum and maximum line width in columns, whatever the width of the terminal.


def add_test(commands):
    """Adds the `test` command."""
    test = add_command(
        commands,
        "test",
        run_test,
        _("test a run or an export against golden answers; exit with status 1 if one fails"),
        "keras-transformer test runs/first golden.jsonl",
    )
    test.add_argument("run", metavar="RUN", help=_("folder of a run or an export"))
    test.add_argument(
        "golden", metavar="GOLDEN.jsonl",
        help=_('file with one JSON object per line: {"question": "…", "answers": ["an acceptable answer", …]}'),
    )  # fmt: skip
    test.add_argument("--json", action="store_true", help=_("print one JSON object with all results"))
    test.add_argument(
        "--update", action="store_true",
        help=_('save the answers in the file as "last", to report changes later; keeps the acceptable answers'),
    )  # fmt: skip


def run_test(options):
    """Prints the failed answers and the changes since the last update."""
    golden = read_golden(options.golden)
    import_tensorflow_quietly()
    from keras_transformer.export.loader import open_bot

    bot = open_bot(options.run)
    asking = translate_count(
        "Asking {run} {count:,} question …", "Asking {run} {count:,} questions …", len(golden), run=options.run
    )
    echo(asking, file=sys.stderr, flush=True)
    results = check_golden(bot.replies, golden)
    if options.json:
        echo(json.dumps(in_json(options.run, results), ensure_ascii=False))
    else:
        columns = min(max(shutil.get_terminal_size().columns, NARROW), WIDE)
        echo("\n".join(in_lines(results, columns)))
    if options.update:
        write_golden(options.golden, results)
    return 0 if all(result.passed for result in results) else FAILED


def in_json(run, results):
    """Returns the results as a dictionary."""
    passed = sum(result.passed for result in results)
    return {
        "run": str(run),
        "questions": len(results),
        "passed": passed,
        "failed": len(results) - passed,
        "changed": len(changes(results)),
        "results": [
            {
                "question": result.golden.question,
                "answer": result.answer,
                "passed": result.passed,
                "answers": list(result.golden.answers),
                "last": result.golden.last,
                "change": result.change,
            }
            for result in results
        ],
    }


def in_lines(results, columns):
    """Yields the lines of the printed results."""
    if failed := [result for result in results if not result.passed]:
        rows = [(result.golden.question, result.answer, expected(result.golden)) for result in failed]
        yield from section(_("Failed:"), (_("question"), _("answered"), _("expected")), rows, columns)
    if changed := changes(results):
        rows = [(result.golden.question, result.golden.last, result.answer, _(result.change)) for result in changed]
        names = (_("question"), _("last"), _("now"), "")
        yield from section(_("Changed since the last update:"), names, rows, columns)
    yield totals(results)


def changes(results):
    """Returns the results that have changed since the last update, the new failures first."""
    return sorted((result for result in results if result.change), key=lambda result: CHANGES.index(result.change))


def expected(golden):
    """Returns the first acceptable answer and the number of others."""
    first, others = golden.answers[0], len(golden.answers) - 1
    if not others:
        return first
    return translate_count("{answer} (or {count:,} other)", "{answer} (or {count:,} others)", others, answer=first)


def section(title, names, rows, columns):
    """Yields the lines of a titled table, followed by an empty line; long cells are wrapped."""
    from rich.cells import cell_len

    yield title
    change = max(cell_len(_(one)) for one in CHANGES) if len(names) > 3 else 0
    width = (columns - 2 * (len(names) - 1) - change) // 3
    cells = [names]
    for row in rows:
        wrapped = (wrap(" ".join(text.split()) or _("(nothing)"), width) for text in row)
        cells += itertools.zip_longest(*wrapped, fillvalue="")
    yield from table(cells).split("\n")
    yield ""


def totals(results):
    """Returns the summary line."""
    failed = sum(not result.passed for result in results)
    values = {"passed": len(results) - failed, "count": len(results), "failed": failed}
    if all(result.golden.last is None for result in results):
        return _("{passed:,} of {count:,} pass; {failed:,} fail; no last update to compare with.", **values)
    return _(
        "{passed:,} of {count:,} pass; {failed:,} fail; {changed:,} changed since the last update.",
        changed=len(changes(results)),
        **values,
    )
