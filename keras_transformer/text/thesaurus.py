"""Synonyms of everyday questions in Korean and English: 비번 and 비밀번호, "parcel" and "package".

A small corpus does not tell which words mean the same. The files in `thesauri` do: each line is a group of expressions
that replace each other in most questions to a shop, an office, a clinic, a school or a friend.
"""

import dataclasses
import functools
import importlib.resources
import re

from keras_transformer.text.normalize import normalize
from keras_transformer.text.question_forms import has_form, in_another_form

LANGUAGES = ("en", "ko")
ENDINGS = re.compile(r"(?:s|es|ed|d|ing|er)?(?![a-z0-9'])")  # What may follow a Latin expression.
BEGINNINGS = re.compile(r"(?<![\w'])\w")  # Of words.
LEAST_REPLACED = 0.3  # Lowest probability that an expression is replaced; that of a paraphrase is drawn from it to 1.


@dataclasses.dataclass(frozen=True)
class Occurrence:
    """An expression of the thesaurus in a text.

    Attributes:
        start: Index of its first character.
        end: Index after its last character.
        synonyms: The other expressions of its groups, a tuple of texts.
    """

    start: int
    end: int
    synonyms: tuple


class Thesaurus:
    """Groups of expressions that mean the same.

    A Korean expression is the beginning of a word, which a particle or an ending may follow. A Latin one consists of
    whole words; the last one may have a regular ending, such as -s or -ed.

    Args:
        groups: Lists of expressions, each of at least two.
    """

    def __init__(self, groups):
        self._synonyms = {}
        for group in groups:
            for expression in group:
                others = (one for one in group if one != expression)
                self._synonyms[expression] = (*self._synonyms.get(expression, ()), *others)
        self._longest = max(map(len, self._synonyms), default=0)

    @classmethod
    @functools.cache
    def load(cls):
        """Returns the thesaurus of all languages."""
        folder = importlib.resources.files("keras_transformer.text") / "thesauri"
        texts = ((folder / f"{language}.txt").read_text("utf-8") for language in LANGUAGES)
        lines = (line.lower() for text in texts for line in text.splitlines())
        return cls([line.split(", ") for line in lines if line and not line.startswith("#")])

    def occurrences(self, text):
        """Returns the `Occurrence`s in a text in lowercase, in order: at each word, the longest expression."""
        found, end = [], 0
        for match in BEGINNINGS.finditer(text):
            if match.start() < end:
                continue
            if occurrence := self._occurrence_at(text, match.start()):
                found.append(occurrence)
                end = occurrence.end
        return found

    def _occurrence_at(self, text, start):
        """Returns the longest `Occurrence` that starts at an index; None if there is none."""
        for end in range(min(start + self._longest, len(text)), start, -1):
            if synonyms := self._synonyms.get(text[start:end]):
                if not text[end - 1].isascii():
                    return Occurrence(start, end, synonyms)
                if ending := ENDINGS.match(text, end):
                    return Occurrence(start, ending.end(), synonyms)
        return None

    def paraphrases(self, text, count, random, forms=False):
        """Returns paraphrases of a text, in which synonyms replace some or all of the expressions.

        Args:
            text: The text.
            count: Maximum number of paraphrases.
            random: A NumPy random generator.
            forms: Whether the text is a question, which may be asked in another form (`question_forms`).

        Returns:
            A list of distinct texts in lowercase, without the original.
        """
        text = normalize(text).lower().replace("’", "'")
        if not count:
            return []
        occurrences, forms = self.occurrences(text), forms and has_form(text)
        if not occurrences and not forms:
            return []
        drawn = (paraphrase(text, occurrences, random) for _ in range(count))
        if forms:
            drawn = (in_another_form(one, random) for one in drawn)
        return [one for one in dict.fromkeys(drawn) if one != text]


def paraphrase(text, occurrences, random):
    """Returns a text with synonyms in place of some of its occurrences."""
    probability = random.uniform(LEAST_REPLACED, 1)
    pieces, end = [], 0
    for one in occurrences:
        if random.random() < probability:
            pieces += text[end : one.start], one.synonyms[random.integers(len(one.synonyms))]
            end = one.end
    return "".join(pieces) + text[end:]
