"""The `calibrate` command: measures the confidence of a run's answers, for `--fallback`."""

import json
import sys

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import add_command, echo, table
from keras_transformer.cli.evaluation_data import (
    add_corpus,
    add_split_options,
    check_split_options,
    nothing_held_out,
    read_split,
)
from keras_transformer.cli.generation_options import add_strategy_options, check_answer_by
from keras_transformer.decoding.options import generation_config
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _

RATES = (0.01, 0.02, 0.05, 0.1, 0.2)
LEAST_QUESTIONS, BETTER_QUESTIONS = 9, 39  # 2 / rate − 1, for the rates 20 % and 5 % (the default of `--refusals`).


def add_calibrate(commands):
    """Adds the `calibrate` command."""
    calibrate = add_command(
        commands, "calibrate", run_calibrate, _("calibrate the confidence of a run's answers, for `--fallback`"),
        "keras-transformer calibrate runs/first",
    )  # fmt: skip
    calibrate.add_argument("run", metavar="RUN", help=_("folder of the run"))
    add_corpus(calibrate)
    add_split_options(calibrate, split="validation")
    calibrate.add_argument("--json", action="store_true", help=_("print the table as JSON"))
    add_strategy_options(calibrate, n_best=False)


def run_calibrate(options):
    """Calibrates the run and prints its confidence thresholds."""
    check_split_options(options)
    check_answer_by(options, options.run)
    import_tensorflow_quietly()
    from keras_transformer.evaluation.calibrate import calibrate, without_duplicates
    from keras_transformer.runs.run import Run

    generation = generation_config(options)
    run = Run(options.run)
    check_own_corpus(options, run)
    split = read_split(options, run)
    questions = without_duplicates(split.pairs["question"])
    if len(questions) < LEAST_QUESTIONS:
        raise InputError(
            _(
                "{count} questions are too few to calibrate on: ask at least {least}, better {better}",
                count=len(questions),
                least=LEAST_QUESTIONS,
                better=BETTER_QUESTIONS,
            )
        )
    message = _("Asking {count:,} questions: {split} …", count=len(questions), split=split.in_words())
    echo(message, file=sys.stderr, flush=True)
    confidence = calibrate(options.run, questions, answer_by=options.answer_by, generation=generation)
    about = summary(confidence)
    echo(json.dumps(about, ensure_ascii=False) if options.json else "\n".join(in_lines(options.run, about)))
    return 0


def check_own_corpus(options, run):
    """Raises `InputError` if the run's own corpus is to be used, but has no unseen questions."""
    if not options.corpus and not run.config.hold_out:
        raise InputError(nothing_held_out(run, f"keras-transformer calibrate {run.path} FILE"))


def summary(confidence):
    """Returns a calibration as a dictionary: thresholds and out-of-domain refusals for each refusal rate."""
    from keras_transformer.evaluation.out_of_domain import separation

    count = len(confidence.in_domain)
    return {
        "questions": count,
        "settings": confidence.settings,
        "auroc": {kind: separation(confidence, numbers) for kind, numbers in confidence.out_of_domain.items()},
        "rates": [row(confidence, rate) for rate in RATES if rate >= 2 / (count + 1)],
    }


def row(confidence, rate):
    """Returns the thresholds for a false refusal rate, and the shares of out-of-domain questions refused."""
    least_score, most_pieces = confidence.bounds(rate)
    kinds = confidence.out_of_domain.items()
    refused = {kind: float((confidence.of(*zip(*numbers)) <= rate).mean()) for kind, numbers in kinds}
    return {"refusals": rate, "least_score": least_score, "most_pieces": most_pieces, "refused": refused}


def in_lines(run, about):
    """Yields the lines of the printed table."""
    kinds = about["auroc"]
    yield _("{run}: calibrated on {count:,} questions", run=run, count=about["questions"])
    yield ""
    score = _("least similarity") if "answer_by" in about["settings"] else _("least score")
    rows = [(_("refusals"), score, _("most pieces"), *map(_, kinds))]
    for row in about["rates"]:
        bounds = f"{row['least_score']:.2f}", f"{row['most_pieces']:.2f}"
        rows.append((f"{row['refusals']:.0%}", *bounds, *(f"{row['refused'][kind]:.0%}" for kind in kinds)))
    rows.append(("AUROC", "", "", *(f"{value:.3f}" for value in kinds.values())))
    yield table(rows, right=range(len(rows[0])))
    yield ""
    yield _(
        "refusals: allowed share of in-domain questions refused; to the right, shares of invented questions refused."
    )
    yield _("AUROC: how well the confidence separates invented from in-domain questions; 0.5 is chance, 1 is perfect.")
