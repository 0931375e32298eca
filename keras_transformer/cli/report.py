"""The command `report`: a page on a run, one HTML file."""

import os
import pathlib
import shlex
import sys

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import add_command
from keras_transformer.cli.evaluation_data import add_corpus, add_part_options, check_part_options, read_part, words_of
from keras_transformer.cli.generation_options import add_strategy_options, check_answer_by, strategy_settings
from keras_transformer.errors import InputError
from keras_transformer.visualize.picture import check_place

ENDING = ".html"


def add_report(commands):
    """The grammar of `report`."""
    report = add_command(
        commands, "report", run_report, "write a page on a run: scores, answers, curves, settings, how to repeat it",
        "keras-transformer report runs/first --output first.html",
    )  # fmt: skip
    report.add_argument("run", metavar="RUN", help="folder of the run")
    add_corpus(report)
    report.add_argument("--output", metavar="FILE", required=True, help="the page to write, a file in .html")
    add_part_options(report)
    add_strategy_options(report)


def run_report(options):
    """Writes the page, and prints its place."""
    check_part_options(options)
    path = pathlib.Path(options.output)
    if path.suffix.lower() != ENDING:
        raise InputError(f"{path}: name a file that ends in {ENDING}")
    check_place(path)
    import_tensorflow_quietly()
    from keras_transformer.report.report import check_packages, report_html
    from keras_transformer.runs.atomic_io import write_atomically
    from keras_transformer.runs.run import Run

    check_packages()
    settings, run = strategy_settings(options), Run(options.run)
    check_answer_by(options, options.run)
    part = read_part(options, run)
    corpus = [os.path.basename(os.path.normpath(source)) for source in part.source]
    print(f"Evaluating on {len(part.pairs):,} pairs …", file=sys.stderr, flush=True)
    page = report_html(
        run.path, part.pairs, training_answers=part.training_answers, corpus=" ".join(corpus), part=options.split,
        commands=commands(run, corpus, options), answer_by=options.answer_by, **settings,
    )  # fmt: skip
    write_atomically(path, page.encode("utf-8"))
    print(path)
    return 0


def commands(run, corpus, options):
    """What is to be typed to get the same page."""
    name, asked = run.path.resolve().name, [*corpus, *words_of(options)]
    return [
        shlex.join(["keras-transformer", *words])
        for words in (
            ["train", "--config", "config.toml", "--run", name],
            ["evaluate", name, *asked],
            ["report", name, *asked, "--output", os.path.basename(options.output)],
        )
    ]
