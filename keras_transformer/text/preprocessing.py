"""The preprocessing of text in the published chatbot tutorials, before its tokenization."""

import dataclasses
import re

PUNCTUATION = ((r"([?.!,])", r" \1 "),)
SPACES = (('[" "]+', " "),)  # As published: a class of the quotation mark and the space.
CONTRACTIONS = (
    ("i'm", "i am"), ("he's", "he is"), ("she's", "she is"), ("it's", "it is"), ("that's", "that is"),
    ("what's", "that is"), ("where's", "where is"), ("how's", "how is"), ("'ll", " will"), ("'ve", " have"),
    ("'re", " are"), ("'d", " would"), ("won't", "will not"), ("can't", "cannot"), ("n't", " not"), ("n'", "ng"),
    ("'bout", "about"),
)  # fmt: skip
LETTERS = (("[^a-zA-Z?.!,]+", " "),)


@dataclasses.dataclass(frozen=True)
class Preprocessing:
    """Lower-cases a text or not, replaces patterns one after the other, and strips the ends.

    Attributes:
        lower: Whether to lower-case the text first.
        replacements: Pairs of a pattern and its replacement, in the syntax that Python and RE2 share.
    """

    lower: bool
    replacements: tuple[tuple[str, str], ...]

    def __call__(self, text):
        """Returns the preprocessed text."""
        text = text.lower() if self.lower else text
        for pattern, replacement in self.replacements:
            text = re.sub(pattern, replacement, text)
        return text.strip()


PREPROCESSINGS = {
    "punctuation": Preprocessing(False, PUNCTUATION),
    "english": Preprocessing(True, PUNCTUATION + SPACES + LETTERS),
    "contractions": Preprocessing(True, PUNCTUATION + SPACES + CONTRACTIONS + LETTERS),
}
"""By the names that a `.subwords` file has in its metadata."""
