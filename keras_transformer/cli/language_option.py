"""The option `--lang`, which every command has."""

import argparse

from keras_transformer.language import LANGUAGES, language_of_locale, use_language
from keras_transformer.language import translate as _


def add_language_option(parser):
    """Adds the option to a parser. Its value is not needed any more: `choose_language` has read it."""
    parser.add_argument(
        "--lang", choices=LANGUAGES, metavar="|".join(LANGUAGES), default=argparse.SUPPRESS,
        help=_("language of the output (default: by locale)"),
    )  # fmt: skip


def choose_language(arguments):
    """Sets the language that the arguments name, else that of the locale.

    The parser is built after this, because its help texts are in that language. It also refuses an unknown language.

    Args:
        arguments: Command-line arguments; None for those of the process.
    """
    reader = argparse.ArgumentParser(add_help=False)
    reader.add_argument("--lang", nargs="?")
    language = reader.parse_known_args(arguments)[0].lang
    use_language(language if language in LANGUAGES else language_of_locale())
