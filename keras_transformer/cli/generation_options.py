"""Command-line options for generation: the way of answering, the decoding strategy, and the fallback."""

from keras_transformer.cli.console import check_utf8
from keras_transformer.errors import InputError
from keras_transformer.language import translatable
from keras_transformer.language import translate as _

DEFAULT_BEAMS = 4
OF_BEAMS = ("length_penalty",)
OF_SAMPLES = ("temperature", "top_k", "top_p", "seed")
COUNTS = {"beam": translatable("the number of beams"), "n_best": translatable("the number of answers")}
SETTINGS = ("min_length", "max_length", "repetition_penalty", "no_repeat_ngram", "forbidden_ids")


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
    group.add_argument("--forbidden-ids", type=int, nargs="+", metavar="ID", help=_("token ids never to generate"))


def generation_config(options):
    """Returns the `GenerationConfig` of parsed options; None if no decoding option is given.

    Raises:
        InputError: If an option is invalid, or conflicts with another.
    """
    from keras_transformer.decoding.config import GenerationConfig

    for name, number in given(options, COUNTS).items():
        if number < 1:
            raise InputError(_("{what} must be at least 1, not {number}", what=_(COUNTS[name]), number=number))
    strategy = make_strategy(options)
    if strategy is None:
        return None
    return GenerationConfig(strategy, answers_wanted(options), **given(options, SETTINGS))


def answers_wanted(options):
    """Returns the number of answers to each question."""
    return 1 if options.n_best is None else options.n_best


def check_strategy_options(options):
    """Raises `InputError` if an option is given without the strategy that it belongs to."""
    for names, enabled, strategy in (
        (OF_SAMPLES, options.sample, "--sample"),
        (OF_BEAMS, beams(options) is not None, "--beam N"),
    ):
        if not enabled and (misplaced := given(options, names)):
            raise InputError(
                _("--{option} needs {strategy}", option=next(iter(misplaced)).replace("_", "-"), strategy=strategy)
            )


def strategy_options_given(options):
    """Returns the decoding options that were given, as written on the command line."""
    names = ("beam", "sample", *OF_BEAMS, *OF_SAMPLES, "n_best", *SETTINGS)
    return [f"--{name.replace('_', '-')}" for name, value in given(options, names).items() if value is not False]


def make_strategy(options):
    """Returns the decoding strategy of the options; None if no decoding option is given."""
    from keras_transformer.decoding.beam_search import Beam
    from keras_transformer.decoding.samplers import Greedy, Sampling

    if options.sample:
        return Sampling(**given(options, OF_SAMPLES))
    if (num_beams := beams(options)) is not None:
        return Beam(num_beams, **given(options, OF_BEAMS))
    return Greedy() if strategy_options_given(options) else None


def beams(options):
    """Returns the number of beams, or None for another strategy; `--n-best` alone implies beam search."""
    if options.beam is not None or options.sample or answers_wanted(options) == 1:
        return options.beam
    return max(DEFAULT_BEAMS, options.n_best)


def in_words(answer, score, options):
    """Returns an answer as a line of output, preceded by its log-probability in an n-best list."""
    return answer if options.n_best is None else f"{score:.4f}\t{answer}"


def given(options, names):
    """Returns the named options that are not None, as a dictionary."""
    return {name: value for name in names if (value := getattr(options, name)) is not None}


WAYS = GENERATE, *RETRIEVING = (
    "generate",
    "retrieve",
    "hybrid",
)  # Same as in `chat.answering`, which takes seconds to import.


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
    question = " / ".join(match.exchange.question.splitlines())
    return f"  [{match.similarity:.2f}] {match.exchange.place}: {question}"


def add_fallback_options(parser):
    """Adds the options for a confidence threshold to a parser."""
    group = parser.add_argument_group(
        _("confidence threshold"), _("Requires `calibrate` on the run, with the same decoding options.")
    )
    group.add_argument("--fallback", metavar="TEXT", help=_("text to return when the confidence is too low"))
    group.add_argument(
        "--refusals", type=float, metavar="RATE",
        help=_("allowed share of in-domain questions that are refused (default: 0.05)"),
    )  # fmt: skip


def fallback_given(options):
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


def fallback_asked(options, generation):
    """Returns the `Fallback` of the options; None without `--fallback`.

    Args:
        options: The parsed options, with "run".
        generation: The result of `generation_config`.

    Raises:
        InputError: If the options are invalid, or the run is not calibrated for such answers.
    """
    arguments = fallback_given(options)
    if not arguments:
        return None
    if options.n_best is not None:
        raise InputError(_("--fallback applies to a single answer: leave out --n-best"))
    from keras_transformer.chat.confidence import Confidence

    text = arguments.pop("fallback")
    return Confidence.load(options.run, options.answer_by, generation).fallback(text, **arguments)
