"""The `compare` command: compares runs side by side, as tables with sample answers or as JSON."""

import json
import shutil
import string
import sys

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import add_command, echo, fill_columns, table, wrap
from keras_transformer.cli.evaluation_data import add_split_options, check_split_options, read_split
from keras_transformer.cli.generation_options import GENERATE, add_strategy_options, check_answer_by
from keras_transformer.decoding.options import generation_config
from keras_transformer.errors import InputError
from keras_transformer.evaluation.metric_info import LEGEND
from keras_transformer.language import translate as _
from keras_transformer.language import translate_count

LETTERS = string.ascii_uppercase
NARROW, WIDE = 60, 100  # Minimum and maximum line width in columns, whatever the width of the terminal.


def add_compare(commands):
    """Adds the `compare` command."""
    compare = add_command(
        commands, "compare", run_compare, _("compare runs on the same questions, with significance tests"),
        "keras-transformer compare runs/first runs/second",
    )  # fmt: skip
    compare.add_argument("runs", metavar="RUN", nargs="+", help=_("run folders; the first is the baseline"))
    compare.add_argument(
        "--corpus", metavar="CORPUS", nargs="+", default=[],
        help=_("corpus, named as for `train` (default: the runs' own, if all share it)"),
    )  # fmt: skip
    add_split_options(compare)
    compare.add_argument("--json", action="store_true", help=_("print one JSON object"))
    add_strategy_options(compare, n_best=False)


def run_compare(options):
    """Evaluates the runs and prints the comparison."""
    check_split_options(options)
    check_runs(options.runs)
    from keras_transformer.evaluation.text_metrics import check_packages

    check_packages()
    import_tensorflow_quietly()
    from keras_transformer.evaluation.compare import compare
    from keras_transformer.runs.run import Run

    generation, runs = generation_config(options), [Run(path) for path in options.runs]
    check_answer_by(options, *options.runs)
    if not options.corpus:
        check_own_corpus(runs)
    split = read_split(options, *runs)
    own = [run.corpus["fingerprint"] == split.fingerprint for run in runs]
    echo(_("Comparing on {split} …", split=split.in_words()), file=sys.stderr, flush=True)
    comparison = compare(
        options.runs,
        split.pairs,
        training_answers=split.training_answers if all(own) else None,
        answer_by=options.answer_by,
        generation=generation,
    )
    for run, same in zip(comparison["runs"], own):
        if run["leaked"] is None and not same:
            warn_of_unknown(run["run"])
    if options.json:
        echo(json.dumps(comparison, ensure_ascii=False))
        return 0
    columns = min(max(shutil.get_terminal_size().columns, NARROW), WIDE)
    echo("\n".join(in_lines(comparison, split.heading, columns)))
    return 0


def check_runs(runs):
    """Raises `InputError` if there are too few runs to compare, or more than letters to label them."""
    if not 2 <= len(runs) <= len(LETTERS):
        raise InputError(_("name between 2 and {most} runs to compare, not {runs}", most=len(LETTERS), runs=len(runs)))


def check_own_corpus(runs):
    """Raises `InputError` if the runs were trained on different corpora."""
    for run in runs[1:]:
        if run.corpus["fingerprint"] != runs[0].corpus["fingerprint"]:
            raise InputError(
                _(
                    "{run} and {path} were trained on different corpora: choose one with --corpus CORPUS",
                    run=runs[0].path,
                    path=run.path,
                )
            )


def warn_of_unknown(run):
    """Warns that data leakage cannot be checked for a run."""
    message = _(
        "{run}: trained on another corpus, which was not found: these questions may have been in its training data",
        run=run,
    )
    echo(_("keras-transformer: warning: {message}", message=message), file=sys.stderr)


def in_lines(comparison, heading, columns):
    """Yields the lines of the printed comparison: labels, scores, differences, sample questions with all answers."""
    for letter, run in zip(LETTERS, comparison["runs"]):
        way = run.get("answer_by", GENERATE)
        name = f"{letter}  {run['run']}"
        yield name if way == GENERATE else _("{heading}, answered by {way}", heading=name, way=way)
    yield ""
    yield _(
        "{split}: {questions:,} questions, {pairs:,} answers to them",
        split=heading,
        questions=comparison["questions"],
        pairs=comparison["pairs"],
    )
    yield ""
    yield scores_table(comparison["runs"])
    yield ""
    yield from differences_tables(comparison["runs"], columns)
    for name, signature in comparison["signatures"].items():
        yield f"{name}: {signature}"
    yield ""
    yield from wrap(
        translate_count(
            "{count} question, drawn at random and independently of the answers; the answers of the corpus come first:",
            "{count} questions, drawn at random and independently of the answers; the answers of the corpus come "
            "first:",
            len(comparison["samples"]),
        ),
        columns,
    )
    for sample in comparison["samples"]:
        yield ""
        yield from sample_lines(sample, columns)


def scores_table(runs):
    """Returns the table of scores, with a row for each score and a column for each run."""
    rows = [["", *LETTERS[: len(runs)], _("better")]]
    for name, (form, better, _about) in LEGEND.items():
        if name in runs[0]["scores"]:
            rows.append([name, *(form.format(run["scores"][name]) for run in runs), _(better) if better else ""])
    return table(rows, right=range(1, len(runs) + 1))


def differences_tables(runs, columns):
    """Yields the tables of differences from the baseline, and a note on how to read them."""
    for letter, run in zip(LETTERS[1:], runs[1:]):
        rows = [[f"{letter} − A", "", _("{share} interval", share="95 %"), ""]]
        for name in filter(run["differences"].get, LEGEND):
            one, form = run["differences"][name], signed(LEGEND[name].form)
            low, high = map(form, one["interval"])
            bounds = _("{low} to {high}", low=low, high=high)
            rows.append([name, form(one["difference"]), bounds, verdict(one, LEGEND[name].better)])
        yield table(rows, right=[1])
        yield ""
    yield from wrap(
        _(
            "The intervals come from paired bootstrap resampling (Koehn 2004) with 1,000 resamples of the questions, "
            "shared by all runs. A difference is significant if its interval excludes zero; among twenty comparisons "
            "of equal runs, about one is significant by chance."
        ),
        columns,
    )
    yield ""


def signed(form):
    """Returns a function that formats a number like `form`, with its sign."""
    return form.replace("{:", "{:+").format


def verdict(one, better):
    """Returns whether a difference is significant, and in which direction, as text."""
    if not one["significant"]:
        return _("may be chance")
    if not better:
        return _("significant")
    return _("significantly better") if (one["difference"] > 0) == (better == "more") else _("significantly worse")


def sample_lines(sample, columns):
    """Yields the lines of a question, its reference answers, and the answers of the runs."""
    yield from wrap(sample["question"], columns)
    named = [("=", answer) for answer in sample["references"]] + list(zip(LETTERS, sample["answers"]))
    for name, answer in named:
        for i, line in enumerate(wrap(answer, columns - 5)):
            yield f"  {fill_columns('' if i else name, 1)}  {line}".rstrip()
