"""Decoding settings by the names of the command's options, as objects with an attribute for each of them.

An option that is not given is None; `sample` is True or False.
"""

from keras_transformer.errors import InputError
from keras_transformer.language import translatable
from keras_transformer.language import translate as _

DEFAULT_BEAMS = 4
OF_BEAMS = ("length_penalty",)
OF_SAMPLES = ("temperature", "top_k", "top_p", "seed")
OF_WORDS = ("forbid", "require")
COUNTS = {"beam": translatable("the number of beams"), "n_best": translatable("the number of answers")}
SETTINGS = ("min_length", "max_length", "repetition_penalty", "no_repeat_ngram", "forbidden_ids")


def generation_config(options):
    """Returns the `GenerationConfig` of options; None if no decoding option is given.

    Raises:
        InputError: If an option is invalid, or conflicts with another.
    """
    from keras_transformer.decoding.config import GenerationConfig

    for name, number in given_options(options, COUNTS).items():
        if number < 1:
            raise InputError(_("{what} must be at least 1, not {number}", what=_(COUNTS[name]), number=number))
    words = {"forbidden": options.forbid or (), "required": options.require or ()}
    if not (strategy_options_given(options) or any(words.values())):
        return None
    return GenerationConfig(make_strategy(options), num_answers(options), **words, **given_options(options, SETTINGS))


def num_answers(options):
    """Returns the number of answers to each question."""
    return 1 if options.n_best is None else options.n_best


def check_strategy_options(options):
    """Raises `InputError` if an option is given without the strategy that it belongs to."""
    for names, enabled, strategy in (
        (OF_SAMPLES, options.sample, "--sample"),
        (OF_BEAMS, beams(options) is not None, "--beam N"),
    ):
        if not enabled and (misplaced := given_options(options, names)):
            raise InputError(
                _("--{option} needs {strategy}", option=next(iter(misplaced)).replace("_", "-"), strategy=strategy)
            )


def strategy_options_given(options):
    """Returns the decoding options that were given, as written on the command line.

    `--forbid` and `--require` are not among them: retrieved answers respect them, too.
    """
    names = ("beam", "sample", *OF_BEAMS, *OF_SAMPLES, "n_best", *SETTINGS)
    enabled = (name for name, value in given_options(options, names).items() if value is not False)
    return [f"--{name.replace('_', '-')}" for name in enabled]


def make_strategy(options):
    """Returns the decoding strategy of the options; None for the default."""
    from keras_transformer.decoding.beam_search import Beam
    from keras_transformer.decoding.samplers import Sampling

    if options.sample:
        return Sampling(**given_options(options, OF_SAMPLES))
    if (num_beams := beams(options)) is not None:
        return Beam(num_beams, **given_options(options, OF_BEAMS))
    return None


def beams(options):
    """Returns the number of beams, or None for another strategy; `--n-best` alone implies beam search."""
    if options.beam is not None or options.sample or num_answers(options) == 1:
        return options.beam
    return max(DEFAULT_BEAMS, options.n_best)


def given_options(options, names):
    """Returns the named options that are not None, as a dictionary."""
    return {name: value for name in names if (value := getattr(options, name)) is not None}
