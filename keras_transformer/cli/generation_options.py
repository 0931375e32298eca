"""Command-line options for generation: the way of answering, the decoding strategy, and the fallback."""

import pathlib
import sys

from keras_transformer.chat.answering import GENERATE, RETRIEVE, WAYS, Answering
from keras_transformer.cli.console import check_utf8, echo
from keras_transformer.decoding.options import strategy_options_given
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.printable import printable_line
from keras_transformer.text.turns import one_line


def add_strategy_options(parser, n_best=True):
    """Adds the decoding options to a parser; options that are not given are None.

    Args:
        parser: The parser.
        n_best: Whether the command can give several answers to a question.
    """
    group = parser.add_argument_group(
        _("decoding"), _("The default is greedy decoding: the most likely token at each step.")
    )
    strategy = group.add_mutually_exclusive_group()
    strategy.add_argument("--beam", type=int, metavar="N", help=_("beam search with N beams (section 6.1)"))
    strategy.add_argument("--sample", action="store_true", help=_("sample tokens from the predicted distribution"))
    group.add_argument(
        "--length-penalty", type=float, metavar="A", help=_("length penalty of beam search (default: 0.6)")
    )
    group.add_argument("--temperature", type=float, metavar="T", help=_("sampling temperature; lower is less random"))
    group.add_argument("--top-k", type=int, metavar="K", help=_("sample only from the K most likely tokens"))
    group.add_argument(
        "--top-p", type=float, metavar="P", help=_("sample only from the top tokens with total probability P")
    )
    group.add_argument("--seed", type=int, metavar="N", help=_("random seed for reproducible samples"))
    if n_best:
        group.add_argument(
            "--n-best", type=int, metavar="N", help=_("number of answers to each question, with log-probabilities")
        )
    else:
        parser.set_defaults(n_best=None)
    group.add_argument("--min-length", type=int, metavar="N", help=_("minimum number of tokens of an answer"))
    group.add_argument("--max-length", type=int, metavar="N", help=_("maximum number of tokens of an answer"))
    group.add_argument(
        "--repetition-penalty",
        type=float,
        metavar="X",
        help=_("penalty for repeated tokens, above 1 (default: 1, none)"),
    )
    group.add_argument("--no-repeat-ngram", type=int, metavar="N", help=_("forbid repeated n-grams of N tokens"))
    group.add_argument(
        "--forbid", action="append", metavar="WORD",
        help=_("word that no answer contains, whether generated or retrieved; repeat it for several words"),
    )  # fmt: skip
    group.add_argument(
        "--require", action="append", metavar="WORD",
        help=_("word that every answer contains, retrieved or found by beam search; repeat it for several words"),
    )  # fmt: skip
    group.add_argument("--forbidden-ids", type=int, nargs="+", metavar="ID", help=_("token ids never to generate"))


def in_words(answer, score, options):
    """Returns an answer as a line of output, preceded by its log-probability in an n-best list."""
    line = printable_line(answer)
    return line if options.n_best is None else f"{score:.4f}\t{line}"


def add_answer_by_option(parser):
    """Adds the option for the way of answering."""
    parser.add_argument(
        "--answer-by",
        choices=WAYS,
        help=_(
            "generate answers, retrieve that of the nearest known question, or retrieve only above a similarity "
            "threshold (default: the best on validation data; generate if a decoding option is given)"
        ),
    )


def add_cite_option(parser):
    """Adds the option for citing sources."""
    parser.add_argument(
        "--cite", action="store_true", help=_("show the source or nearest known exchanges of each answer")
    )


def check_answer_by(options, *run_dirs):
    """Raises `InputError`, before anything is loaded, if the runs do not support the requested way of answering."""
    if options.answer_by in (None, GENERATE):
        return
    if others := strategy_options_given(options):
        raise InputError(
            _(
                "{option} is for generated answers: leave it out, or --answer-by {answer_by}",
                option=others[0],
                answer_by=options.answer_by,
            )
        )
    from keras_transformer.chat.datastore import Datastore
    from keras_transformer.runs.run import Run

    for run_dir in run_dirs:
        if Run.exists(run_dir) and not Datastore.exists(run_dir):
            raise InputError(
                _(
                    "{run_dir}: has no datastore to {answer_by} from. Train it again, or answer by generate.",
                    run_dir=run_dir,
                    answer_by=options.answer_by,
                )
            )


def retrieves_memorized(run, answer_by):
    """Returns whether a `Run` memorized its corpus and retrieves, by default or by the way of answering given."""
    return not run.config.hold_out and (answer_by or Answering.of_run(run).way) == RETRIEVE


def tell_unfinished(*run_dirs):
    """Says on standard error which of the runs have not been trained to the end: they may answer badly.

    An export, which cannot be trained, is none of them.
    """
    from keras_transformer.export.manifest import ABOUT
    from keras_transformer.runs.run import Run

    for run_dir in run_dirs:
        is_run = Run.exists(run_dir) and not pathlib.Path(run_dir, ABOUT).is_file()
        if is_run and Run(run_dir).summary() is None:
            message = _(
                "{run_dir}: training has not finished. If it has stopped, run the same train command to finish it.",
                run_dir=run_dir,
            )
            echo(message, file=sys.stderr, flush=True)


def source_lines(answer, has_datastore):
    """Returns the lines that cite the sources of an answer.

    Args:
        answer: An `Answer`.
        has_datastore: Whether the run has a datastore.
    """
    if not answer.composed:
        return [match_line(match) for match in answer.sources if match.exchange.answer == answer.text]
    if answer.sources:
        return [_("  generated; nearest:"), *map(match_line, answer.sources)]
    return [_("  generated; no similar question") if has_datastore else _("  generated; the run has no datastore")]


def match_line(match):
    """Returns a `Match` as a line: similarity, source and question."""
    question = one_line(match.exchange.question)
    return printable_line(f"  [{match.similarity:.2f}] {match.exchange.place}: {question}")


def add_fallback_options(parser):
    """Adds the options for a confidence threshold to a parser."""
    group = parser.add_argument_group(
        _("confidence threshold"),
        _(
            "Requires `calibrate` on the run, with the same decoding options. `chat` and `answer` require none for a "
            "bot that memorized its corpus, such as a FAQ: it is unsure below a similarity of .5."
        ),
    )
    group.add_argument("--fallback", metavar="TEXT", help=_("text to return when the confidence is too low"))
    group.add_argument(
        "--refusals", type=float, metavar="RATE",
        help=_("allowed share of in-domain questions that are refused (default: 0.05)"),
    )  # fmt: skip


def fallback_options(options):
    """Returns the given fallback options as keyword arguments of `export`.

    Raises:
        InputError: If `--refusals` is given without `--fallback`, or the text is not UTF-8.
    """
    if options.fallback is None:
        if options.refusals is not None:
            raise InputError(_("--refusals needs --fallback TEXT"))
        return {}
    check_utf8("--fallback", options.fallback)
    refusals = {} if options.refusals is None else {"refusals": options.refusals}
    return {"fallback": options.fallback, **refusals}


def requested_fallback(options, generation):
    """Returns the `Fallback` of the options; None without `--fallback`.

    That of a bot that memorized its corpus and retrieves needs no calibration, which it has no questions for.

    Args:
        options: The parsed options, with "run".
        generation: The result of `generation_config`.

    Raises:
        InputError: If the options are invalid, or the run is not calibrated for such answers.
    """
    arguments = fallback_options(options)
    if not arguments:
        return None
    if options.n_best is not None:
        raise InputError(_("--fallback applies to a single answer: leave out --n-best"))
    from keras_transformer.chat.confidence import Confidence, Fallback
    from keras_transformer.runs.run import CONFIDENCE, Run

    text = arguments.pop("fallback")
    run = Run(options.run)
    is_calibrated = bool(arguments) or (run.path / CONFIDENCE).is_file()
    if not is_calibrated and generation is None and retrieves_memorized(run, options.answer_by):
        return Fallback(text)
    return Confidence.load(options.run, options.answer_by, generation).fallback(text, **arguments)
