"""Options that say how answers are made: the way of answering, decoding, a fallback."""

from keras_transformer.cli.console import check_utf8
from keras_transformer.errors import InputError

DEFAULT_BEAMS = 4
OF_BEAMS = ("length_penalty",)
OF_SAMPLES = ("temperature", "top_k", "top_p", "seed")
COUNTS = {"beam": "the number of beams", "n_best": "the number of answers"}
SETTINGS = ("min_length", "max_length", "repetition_penalty", "no_repeat_ngram", "forbidden_ids")


def add_strategy_options(parser):
    """Adds what `chat` and `answer` can be told to their grammar; what is not given is None."""
    group = parser.add_argument_group(
        "how answers are chosen", "By default greedily: the likeliest token at every step."
    )
    how = group.add_mutually_exclusive_group()
    how.add_argument("--beam", type=int, metavar="N", help="beam search with N beams (section 6.1)")
    how.add_argument("--sample", action="store_true", help="draw each token by its probability")
    group.add_argument("--length-penalty", type=float, metavar="A", help="of the beam search (default: 0.6)")
    group.add_argument("--temperature", type=float, metavar="T", help="of the samples: below 1 is more cautious")
    group.add_argument("--top-k", type=int, metavar="K", help="draw from the K likeliest tokens only")
    group.add_argument("--top-p", type=float, metavar="P", help="draw from the likeliest that together reach P only")
    group.add_argument("--seed", type=int, metavar="N", help="the same seed draws the same answers")
    group.add_argument(
        "--n-best", type=int, metavar="N", help="N answers to each question, each with its log-probability"
    )
    group.add_argument("--min-length", type=int, metavar="N", help="tokens before an answer may end")
    group.add_argument("--max-length", type=int, metavar="N", help="tokens of an answer at most")
    group.add_argument(
        "--repetition-penalty", type=float, metavar="X", help="above 1, what was said becomes less likely"
    )
    group.add_argument("--no-repeat-ngram", type=int, metavar="N", help="no run of N tokens comes twice in an answer")
    group.add_argument("--forbidden-ids", type=int, nargs="+", metavar="ID", help="tokens that no answer holds")


def strategy_settings(options):
    """The settings of `generate` that parsed options ask for.

    Returns:
        A dictionary of those given, with "strategy", which is None if no option says how answers are chosen; the number
        of answers is told by `answers_wanted`.

    Raises:
        InputError: If one of them cannot be, or not together with the others.
    """
    from keras_transformer.decoding.config import GenerationConfig

    for name, number in given(options, COUNTS).items():
        if number < 1:
            raise InputError(f"{COUNTS[name]} must be at least 1, not {number}")
    settings = {**given(options, SETTINGS), "strategy": make_strategy(options)}
    limits = {"start_id": 0, "end_id": 0, "max_length": 2**31 - 1, "num_return": answers_wanted(options)}
    GenerationConfig(**{**limits, **settings})  # Checks them before anything is loaded.
    return settings


def answers_wanted(options):
    """How many answers each question is to have."""
    return 1 if options.n_best is None else options.n_best


def check_strategy_options(options):
    """Raises `InputError` if an option is given without the one that it belongs to."""
    for names, wanted, needed in (
        (OF_SAMPLES, options.sample, "--sample"),
        (OF_BEAMS, beams(options) is not None, "--beam N"),
    ):
        if not wanted and (strangers := given(options, names)):
            raise InputError(f"--{next(iter(strangers)).replace('_', '-')} needs {needed}")


def strategy_options_given(options):
    """Those of these options that the command line has, as they are written."""
    names = ("beam", "sample", *OF_BEAMS, *OF_SAMPLES, "n_best", *SETTINGS)
    return [f"--{name.replace('_', '-')}" for name, value in given(options, names).items() if value is not False]


def make_strategy(options):
    """The strategy that options ask for; None if they say nothing of it."""
    from keras_transformer.decoding.beam_search import Beam
    from keras_transformer.decoding.samplers import Greedy, Sampling

    if options.sample:
        return Sampling(**given(options, OF_SAMPLES))
    if (num_beams := beams(options)) is not None:
        return Beam(num_beams, **given(options, OF_BEAMS))
    return Greedy() if strategy_options_given(options) else None


def beams(options):
    """The beams of a beam search, which several answers need where nothing else is said; None for another strategy."""
    if options.beam is not None or options.sample or answers_wanted(options) == 1:
        return options.beam
    return max(DEFAULT_BEAMS, options.n_best)


def in_words(answer, score, options):
    """An answer as a line of output, in an n-best list with its log-probability in front."""
    return answer if options.n_best is None else f"{score:.4f}\t{answer}"


def given(options, names):
    """Those options that have a value."""
    return {name: value for name in names if (value := getattr(options, name)) is not None}


WAYS = GENERATE, *_ = ("generate", "retrieve", "hybrid")  # As in `chat.answering`, whose import takes seconds.


def add_answer_by_option(parser):
    """Adds the way of answering to a grammar."""
    parser.add_argument(
        "--answer-by", choices=WAYS,
        help="compose answers, or give that of the nearest known question, or that where one is near enough (default: "
        "what was best when training ended; generate, if an option says how answers are generated)",
    )  # fmt: skip


def add_cite_option(parser):
    """Adds whether the exchanges behind an answer are shown to a grammar."""
    parser.add_argument(
        "--cite", action="store_true", help="show below each answer the known exchanges behind it, or near to it"
    )


def check_answer_by(options, *run_dirs):
    """Raises `InputError` if the runs cannot answer in the way that options ask for; before anything is loaded."""
    if options.answer_by in (None, GENERATE):
        return
    if others := strategy_options_given(options):
        raise InputError(f"{others[0]} is for generated answers: leave it out, or --answer-by {options.answer_by}")
    from keras_transformer.chat.datastore import Datastore
    from keras_transformer.runs.run import Run

    for run_dir in run_dirs:
        if Run.exists(run_dir) and not Datastore.exists(run_dir):
            raise InputError(
                f"{run_dir}: has no datastore to {options.answer_by} from. Train it again, or answer by generate."
            )


def source_lines(answer, has_datastore):
    """The lines below an answer that show the exchanges behind it.

    Args:
        answer: An `Answer`.
        has_datastore: Whether the run has a datastore.
    """
    if not answer.composed:
        return [match_line(match) for match in answer.sources if match.exchange.answer == answer.text]
    if answer.sources:
        return ["  composed; nearest:", *map(match_line, answer.sources)]
    return ["  composed; nothing known is near" if has_datastore else "  composed; the run has no datastore"]


def match_line(match):
    """A `Match` as a line."""
    question = " / ".join(match.exchange.question.splitlines())
    return f"  [{match.similarity:.2f}] {match.exchange.place}: {question}"


def add_fallback_options(parser):
    """Adds what `chat`, `answer` and `export` can be told to their grammar."""
    group = parser.add_argument_group(
        "when not to answer", "For a run that `calibrate` has asked, for answers made in the same way."
    )
    group.add_argument("--fallback", metavar="TEXT", help="what is said where the run is not sure of its answer")
    group.add_argument(
        "--refusals", type=float, metavar="RATE",
        help="share of the questions of its own kind that may be refused for it (default: 0.05)",
    )  # fmt: skip


def fallback_given(options):
    """The options of these that have a value, by the names that `export` gives them.

    Raises:
        InputError: If one is given without the other that it belongs to, or the text is not UTF-8.
    """
    if options.fallback is None:
        if options.refusals is not None:
            raise InputError("--refusals needs --fallback TEXT")
        return {}
    check_utf8("--fallback", options.fallback)
    refusals = {} if options.refusals is None else {"refusals": options.refusals}
    return {"fallback": options.fallback, **refusals}


def fallback_asked(options, settings):
    """The `Fallback` that options ask for; None if they ask for none.

    Args:
        options: Parsed ones, with "run".
        settings: What `strategy_settings` makes of them.

    Raises:
        InputError: If it cannot be, or the run is not calibrated for such answers.
    """
    given = fallback_given(options)
    if not given:
        return None
    if options.n_best is not None:
        raise InputError("--fallback judges the one answer to a question: leave out --n-best")
    from keras_transformer.chat.confidence import Confidence

    text = given.pop("fallback")
    return Confidence.load(options.run, answer_by=options.answer_by, **settings).fallback(text, **given)
