"""What is said instead of answers that a run is not sure of, in the words of the command line."""

from keras_transformer.cli.command import check_utf8
from keras_transformer.errors import InputError


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
