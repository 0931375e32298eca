"""How answers are chosen, in the words of the command line and of the prompt."""

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
    from keras_transformer.decoding.generate import GenerationConfig

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
