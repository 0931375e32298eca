"""The `evaluate` command: scores a run on a split of a corpus, as a table or as JSON."""

import json
import sys

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import add_command
from keras_transformer.cli.evaluation_data import add_corpus, add_part_options, check_part_options, read_split
from keras_transformer.cli.generation_options import GENERATE, add_strategy_options, check_answer_by, generation_config
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
    add_part_options(evaluate)
    evaluate.add_argument("--json", action="store_true", help=_("print one JSON object"))
    add_strategy_options(evaluate, n_best=False)


def run_evaluate(options):
    """Evaluates the run and prints the scores."""
    check_part_options(options)
    from keras_transformer.evaluation.text_metrics import check_packages

    check_packages()
    import_tensorflow_quietly()
    from keras_transformer.evaluation.evaluate import evaluate
    from keras_transformer.runs.run import Run

    generation = generation_config(options)
    check_answer_by(options, options.run)
    split = read_split(options, Run(options.run))
    print(f"Evaluating on {split.in_words()} …", file=sys.stderr, flush=True)
    results = evaluate(
        options.run,
        split.pairs,
        training_answers=split.training_answers,
        answer_by=options.answer_by,
        generation=generation,
    )
    if options.json:
        print(json.dumps(results, ensure_ascii=False))
        return 0
    print(
        f"{options.run}, {split.heading}: {results['questions']:,} questions, "
        f"{results['pairs']:,} answers to them"
        f"{'' if results['answer_by'] == GENERATE else ', answered by ' + results['answer_by']}\n"
    )
    print("\n".join(table(results)))
    return 0


def table(results):
    """Yields the lines of the printed table."""
    rows = [("", "", "95 % interval", "")]
    for name, (form, _better, about) in LEGEND.items():
        if results[name] is not None:
            bounds = results["intervals"].get(name, ())
            rows.append((name, form.format(results[name]), " to ".join(map(form.format, bounds)), about))
    widths = [max(map(len, column)) for column in zip(*rows)]
    for name, value, bounds, about in rows:
        yield f"{name:<{widths[0]}}  {value:>{widths[1]}}  {bounds:<{widths[2]}}  {about}".rstrip()
    yield ""
    for name, signature in results["signatures"].items():
        yield f"{name}: {signature}"
