"""The language of what the commands print: English, or Korean from a gettext catalog.

Messages stand in the code in English, as the arguments of `translate` and `translatable`. Their Korean is in
`locale/ko/LC_MESSAGES/keras_transformer.po`; `make catalog` brings it up to date with the code and compiles it.
"""

import contextlib
import contextvars
import functools
import gettext
import locale
import os
import pathlib
import re
import string
from typing import Literal

from keras_transformer.compat import localize_argparse

ENGLISH, KOREAN = LANGUAGES = ("en", "ko")
CATALOGS = pathlib.Path(__file__).parent / "locale"
DOMAINS = ("keras_transformer", "argparse")
"""The catalogs: that of our own messages, and that of the messages of Python's argparse, in any of its versions."""
VARIABLES = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
"""Environment variables that name the language of messages; the first one that is set decides, as in gettext."""

PARTICLES = {
    "은(는)": ("은", "는"),
    "이(가)": ("이", "가"),
    "을(를)": ("을", "를"),
    "과(와)": ("과", "와"),
    "(으)로": ("으로", "로"),
    "(이)라는": ("이라는", "라는"),
}
"""Korean particles after a placeholder of the catalog: their forms after a final consonant and after a vowel."""
CLOSING = "\"')]"
PARTICLE = re.compile(f"([{re.escape(CLOSING)}]*)({'|'.join(map(re.escape, PARTICLES))})")
RIEUL = 8  # The number of the final consonant ㄹ in Unicode.
DIGITS = dict(zip("0123456789", "영일이삼사오육칠팔구"))

_translations = gettext.NullTranslations()
_of_context: contextvars.ContextVar[gettext.NullTranslations | None] = contextvars.ContextVar("language", default=None)


class Message(str):
    """A message in English with its placeholders filled in, which `translate` returns in the language in use.

    For messages that also are keys or values for programs, which stay English.
    """

    def __new__(cls, message, /, **values):
        """Creates a message from the arguments of `translate`; values may be messages, too."""
        self = super().__new__(cls, filled_in(message, values) if values else message)
        self.message, self.values = message, values
        return self


def translate(message, /, **values):
    """Returns a message in the language in use, with its placeholders filled in.

    Args:
        message: The message in English. A string literal, so that `make catalog` finds it, a `translatable` text or a
            `Message`.
        **values: The values of its placeholders, as for `str.format`. Without values, braces stand for themselves.
    """
    if isinstance(message, Message):
        values = {name: translate(one) if isinstance(one, Message) else one for name, one in message.values.items()}
        message = message.message
    text = translations().gettext(message)
    return filled_in(text, values) if values else text


def translate_count(singular, plural, count, /, **values):
    """Returns the form of a message that goes with a number, in the language in use, with its placeholders filled in.

    Args:
        singular: The message in English for 1, a string literal.
        plural: The message in English for other numbers, a string literal.
        count: The number, also the value of the placeholder `{count}`.
        **values: The values of its other placeholders.
    """
    return filled_in(translations().ngettext(singular, plural, count), {"count": count, **values})


def filled_in(text, values):
    """Returns a text with its placeholders filled in, and with the forms of Korean particles that fit the values."""
    filled = ""
    for literal, field, spec, conversion in string.Formatter().parse(text):
        if match := PARTICLE.match(literal):
            last = filled.rstrip(CLOSING)[-1:]
            literal = match[1] + fitting(match[2], last) + literal[match.end() :]
        filled += literal
        if field is not None:
            placeholder = f"{{{field}!{conversion}:{spec}}}" if conversion else f"{{{field}:{spec}}}"
            filled += placeholder.format(**values)
    return filled


def fitting(particle, last):
    """Returns the form of a particle after a syllable or digit ("2는", "3은"); both forms after other letters."""
    syllable = DIGITS.get(last, last)
    if not "가" <= syllable <= "힣":
        return particle
    final = (ord(syllable) - ord("가")) % 28
    if particle == "(으)로" and final == RIEUL:
        return "로"
    return PARTICLES[particle][0 if final else 1]


def translatable(message):
    """Returns a message as it is, and marks it for the catalog: for constants that are passed to `translate` later."""
    return message


def use_language(language: Literal["en", "ko"]) -> None:
    """Sets the language of all messages from now on, those of `argparse` included.

    Args:
        language: "ko" or "en", the language of a program that does not call this function.
    """
    global _translations
    _translations = read_catalogs(language)
    localize_argparse(_translations)


@contextlib.contextmanager
def language_in_use(language):
    """Context manager that sets the language of all messages inside it."""
    before = current_language()
    use_language(language)
    try:
        yield
    finally:
        use_language(before)


@contextlib.contextmanager
def language_of_context(language):
    """Context manager that sets the language of messages inside it for this thread or asyncio task alone.

    For servers that answer several people at once. The messages of `argparse` keep the language of the process.
    """
    token = _of_context.set(read_catalogs(language))
    try:
        yield
    finally:
        _of_context.reset(token)


def current_language():
    """Returns the language in use, "ko" or "en"."""
    return translations().info().get("language", ENGLISH)


def translations():
    """Returns the gettext translations in use: those of the context, or else those of the process."""
    return _of_context.get() or _translations


@functools.cache
def read_catalogs(language):
    """Returns the gettext translations into a language."""
    if language == ENGLISH:
        return gettext.NullTranslations()
    own, of_argparse = (gettext.translation(domain, CATALOGS, [language]) for domain in DOMAINS)
    own.add_fallback(of_argparse)
    return own


def language_of_locale():
    """Returns "ko" if the user's locale is Korean, else "en"."""
    names = [name for variable in VARIABLES if (name := os.environ.get(variable))]
    name = names[0] if names else locale.getlocale()[0] or ""  # Windows sets no variable.
    return KOREAN if re.match(r"ko(rean)?(?![a-z])", name, re.IGNORECASE) else ENGLISH
