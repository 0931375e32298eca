"""The command `compare`: runs beside each other, as tables and ten questions, or as JSON."""

import json
import shutil
import string
import sys

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import add_command, pad, table, wrap
from keras_transformer.cli.evaluation_data import add_part_options, check_part_options, read_part
from keras_transformer.cli.generation_options import GENERATE, add_strategy_options, check_answer_by, strategy_settings
from keras_transformer.errors import InputError
from keras_transformer.evaluation.metric_info import LEGEND

LETTERS = string.ascii_uppercase
NARROW, WIDE = 60, 100  # Columns of text at least and at most, however wide the terminal is.


def add_compare(commands):
    """The grammar of `compare`."""
    compare = add_command(
        commands, "compare", run_compare, "ask several runs the same questions, and say which differences are chance",
        "keras-transformer compare runs/first runs/second",
    )  # fmt: skip
    compare.add_argument("runs", metavar="RUN", nargs="+", help="folders of runs; the others are compared to the first")
    compare.add_argument(
        "--corpus", metavar="CORPUS", nargs="+", default=[],
        help="a corpus, named as for `train` (default: the runs' own, if they have the same)",
    )  # fmt: skip
    add_part_options(compare)
    compare.add_argument("--json", action="store_true", help="one JSON object")
    add_strategy_options(compare)


def run_compare(options):
    """Prints the tables."""
    check_part_options(options)
    check_runs(options.runs)
    from keras_transformer.evaluation.text_metrics import check_packages

    check_packages()
    import_tensorflow_quietly()
    from keras_transformer.evaluation.compare import compare
    from keras_transformer.runs.run import Run

    settings, runs = strategy_settings(options), [Run(path) for path in options.runs]
    check_answer_by(options, *options.runs)
    settings["answer_by"] = options.answer_by
    if not options.corpus:
        check_own_corpus(runs)
    part = read_part(options, runs[0])
    own = [run.corpus["fingerprint"] == part.fingerprint for run in runs]
    print(f"Comparing on {len(part.pairs):,} pairs …", file=sys.stderr, flush=True)
    found = compare(options.runs, part.pairs, training_answers=part.training_answers if all(own) else None, **settings)
    for run, same in zip(found["runs"], own):
        if run["met"] is None and not same:
            warn_of_unknown(run["run"])
    if options.json:
        print(json.dumps(found, ensure_ascii=False))
        return 0
    columns = min(max(shutil.get_terminal_size().columns, NARROW), WIDE)
    print("\n".join(in_lines(found, options.split, columns)))
    return 0


def check_runs(runs):
    """Raises `InputError` unless there are some to compare, and letters for them."""
    if not 2 <= len(runs) <= len(LETTERS):
        raise InputError(f"name two runs or more to compare, and at most {len(LETTERS)}: here is {len(runs)}")


def check_own_corpus(runs):
    """Raises `InputError` if there is none that was the corpus of all runs."""
    for run in runs[1:]:
        if run.corpus["fingerprint"] != runs[0].corpus["fingerprint"]:
            raise InputError(
                f"{runs[0].path} and {run.path} were trained on different corpora: say by --corpus CORPUS what to ask"
            )


def warn_of_unknown(run):
    """Says that nobody knows what a run has met."""
    what = "was trained on another corpus, which is not found: it may have met these questions in training"
    print(f"keras-transformer: warning: {run}: {what}", file=sys.stderr)


def in_lines(found, split, columns):
    """The lines for people: which run has which letter, scores, differences, questions with all answers."""
    for letter, run in zip(LETTERS, found["runs"]):
        way = run.get("answer_by", GENERATE)
        yield f"{letter}  {run['run']}" + ("" if way == GENERATE else f", answered by {way}")
    yield ""
    yield f"{split} part: {found['questions']:,} questions, {found['pairs']:,} answers to them"
    yield ""
    yield scores_table(found["runs"])
    yield ""
    yield from differences_tables(found["runs"], columns)
    for name, signature in found["signatures"].items():
        yield f"{name}: {signature}"
    yield ""
    yield from wrap(
        f"{len(found['samples'])} of the questions, drawn at random, the same whatever the runs answer; the corpus's "
        "answers first:", columns,
    )  # fmt: skip
    for sample in found["samples"]:
        yield ""
        yield from sample_lines(sample, columns)


def scores_table(runs):
    """The table of scores: a row for each, a column for each run."""
    rows = [["", *LETTERS[: len(runs)], "better"]]
    for name, (form, better, _) in LEGEND.items():
        if name in runs[0]["scores"]:
            rows.append([name, *(form.format(run["scores"][name]) for run in runs), better])
    return table(rows, right=range(1, len(runs) + 1))


def differences_tables(runs, columns):
    """The lines of what the runs but the first differ by, and what is meant by it."""
    for letter, run in zip(LETTERS[1:], runs[1:]):
        rows = [[f"{letter} − A", "", "95 % interval", ""]]
        for name in filter(run["differences"].get, LEGEND):
            one, form = run["differences"][name], signed(LEGEND[name].form)
            bounds = " to ".join(map(form, one["interval"]))
            rows.append([name, form(one["difference"]), bounds, verdict(one, LEGEND[name].better)])
        yield table(rows, right=[1])
        yield ""
    yield from wrap(
        "The intervals are those of paired bootstrap resampling (Koehn 2004): 1,000 times, as many questions are drawn "
        "anew for all runs together. A difference is significant if its interval leaves out zero; of twenty "
        "comparisons of equal runs, about one would be so by chance.", columns,
    )  # fmt: skip
    yield ""


def signed(form):
    """A function that writes a number as `form` does, with its sign."""
    return form.replace("{:", "{:+").format


def verdict(one, better):
    """What a difference says."""
    if not one["significant"]:
        return "may be chance"
    if not better:
        return "significant"
    return "significantly " + ("better" if (one["difference"] > 0) == (better == "more") else "worse")


def sample_lines(sample, columns):
    """The lines of a question, its answers in the corpus, and those of the runs."""
    yield from wrap(sample["question"], columns)
    named = [("=", answer) for answer in sample["references"]] + list(zip(LETTERS, sample["answers"]))
    for name, answer in named:
        for i, line in enumerate(wrap(answer, columns - 5)):
            yield f"  {pad('' if i else name, 1)}  {line}".rstrip()
