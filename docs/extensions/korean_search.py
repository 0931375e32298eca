"""Search in Korean, which Sphinx does not bring."""

import re

from sphinx.search import SearchLanguage

HANGUL = re.compile("[가-힣]{3,}")


class Korean(SearchLanguage):
    """Finds a word with any particle or ending: 말뭉치 finds 말뭉치를 and 말뭉치에서.

    Particles and endings follow the stem, so the index holds the beginnings of every Korean word.
    """

    lang = "ko"
    language_name = "Korean"

    def split(self, input):
        """Returns the words of a text and, of those in Hangul, all beginnings of two syllables or more."""
        words = super().split(input)
        runs = [run for word in words for run in HANGUL.findall(word)]
        return words + [run[:length] for run in runs for length in range(2, len(run))]


def setup(app):
    """Registers the language."""
    app.add_search_language(Korean)
    return {"parallel_read_safe": True}
