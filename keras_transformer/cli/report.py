"""The `report` command: writes a report on a run as one HTML file."""

import os
import pathlib
import shlex
import sys

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import add_command, echo
from keras_transformer.cli.evaluation_data import (
    add_corpus,
    add_split_options,
    check_split_options,
    read_split,
    words_of,
)
from keras_transformer.cli.generation_options import add_strategy_options, check_answer_by
from keras_transformer.decoding.options import generation_config
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.visualize.picture import check_writable_path

ENDING = ".html"


def add_report(commands):
    """Adds the `report` command."""
    report = add_command(
        commands, "report", run_report, _("write an HTML report on a run: scores, answers, curves, settings, commands"),
        "keras-transformer report runs/first --output first.html",
    )  # fmt: skip
    report.add_argument("run", metavar="RUN", help=_("folder of the run"))
    add_corpus(report)
    report.add_argument("--output", metavar="FILE", required=True, help=_("HTML file to write"))
    add_split_options(report)
    add_strategy_options(report, n_best=False)


def run_report(options):
    """Writes the report and prints its path."""
    check_split_options(options)
    path = pathlib.Path(options.output)
    if path.suffix.lower() != ENDING:
        raise InputError(_("{path}: name a file that ends in {ending}", path=path, ending=ENDING))
    check_writable_path(path)
    import_tensorflow_quietly()
    from keras_transformer.report.report import check_packages, report_html
    from keras_transformer.runs.atomic_io import write_atomically
    from keras_transformer.runs.run import Run

    check_packages()
    generation, run = generation_config(options), Run(options.run)
    check_answer_by(options, options.run)
    split = read_split(options, run)
    options.split = split.split  # So that the commands name it.
    corpus = [os.path.basename(os.path.normpath(source)) for source in split.source]
    echo(_("Evaluating on {split} …", split=split.in_words()), file=sys.stderr, flush=True)
    page = report_html(
        run.path, split.pairs, training_answers=split.training_answers, corpus=" ".join(corpus), split=split.split,
        commands=commands(run, corpus, options), answer_by=options.answer_by, generation=generation,
    )  # fmt: skip
    write_atomically(path, page.encode("utf-8"))
    echo(path)
    return 0


def commands(run, corpus, options):
    """Returns the commands that reproduce the report."""
    name, evaluation = run.path.resolve().name, [*corpus, *words_of(options)]
    return [
        shlex.join(["keras-transformer", *words])
        for words in (
            ["train", "--config", "config.toml", "--run", name],
            ["evaluate", name, *evaluation],
            ["report", name, *evaluation, "--output", os.path.basename(options.output)],
        )
    ]
