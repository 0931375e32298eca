"""The `evaluate` command: scores a run on a split of a corpus, as a table or as JSON."""

import json
import sys

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import add_command, echo, table
from keras_transformer.cli.evaluation_data import add_corpus, add_split_options, check_split_options, read_split
from keras_transformer.cli.generation_options import GENERATE, add_strategy_options, check_answer_by
from keras_transformer.decoding.options import generation_config
from keras_transformer.evaluation.metric_info import LEGEND
from keras_transformer.language import translate as _


def add_evaluate(commands):
    """Adds the `evaluate` command."""
    evaluate = add_command(
        commands, "evaluate", run_evaluate, _("evaluate a run on unseen questions"),
        "keras-transformer evaluate runs/first pairs.csv",
    )  # fmt: skip
    evaluate.add_argument("run", metavar="RUN", help=_("folder of the run"))
    add_corpus(evaluate)
    add_split_options(evaluate)
    evaluate.add_argument("--json", action="store_true", help=_("print one JSON object"))
    add_strategy_options(evaluate, n_best=False)


def run_evaluate(options):
    """Evaluates the run and prints the scores."""
    check_split_options(options)
    from keras_transformer.evaluation.text_metrics import check_packages

    check_packages()
    import_tensorflow_quietly()
    from keras_transformer.evaluation.evaluate import evaluate
    from keras_transformer.runs.run import Run

    generation = generation_config(options)
    check_answer_by(options, options.run)
    split = read_split(options, Run(options.run))
    echo(_("Evaluating on {split} …", split=split.in_words()), file=sys.stderr, flush=True)
    results = evaluate(
        options.run,
        split.pairs,
        training_answers=split.training_answers,
        answer_by=options.answer_by,
        generation=generation,
    )
    if options.json:
        echo(json.dumps(results, ensure_ascii=False))
        return 0
    heading = _(
        "{run}, {split}: {questions:,} questions, {pairs:,} answers to them",
        run=options.run,
        split=split.heading,
        questions=results["questions"],
        pairs=results["pairs"],
    )
    if results["answer_by"] != GENERATE:
        heading = _("{heading}, answered by {way}", heading=heading, way=results["answer_by"])
    echo(f"{heading}\n")
    echo("\n".join(table_lines(results)))
    return 0


def table_lines(results):
    """Yields the lines of the printed table."""
    rows = [("", "", _("{share} interval", share="95 %"), "")]
    for name, (form, _better, about) in LEGEND.items():
        if results[name] is not None:
            bounds = interval(form, *results["intervals"][name]) if name in results["intervals"] else ""
            rows.append((name, form.format(results[name]), bounds, _(about)))
    yield from table(rows, right=(1,)).splitlines()
    yield ""
    for name, signature in results["signatures"].items():
        yield f"{name}: {signature}"


def interval(form, low, high):
    """Returns the bounds of an interval as text."""
    return _("{low} to {high}", low=form.format(low), high=form.format(high))
