"""Data augmentation with noisy copies of training questions, as other users might type them.

A model that is only trained on exact questions fails if a space is missing or a question ends with "ㅋㅋ". Noisy copies
with the same answer make it robust (Belinkov and Bisk 2018, "Synthetic and Natural Noise Both Break Neural Machine
Translation").
"""

import unicodedata

import numpy as np

from keras_transformer.text.normalize import compose
from keras_transformer.text.turns import BETWEEN

MARKS = (
    "",
    "",
    "?",
    "!",
    "!!",
    ".",
    "..",
    "~",
    "?!",
    "ㅋㅋ",
    "ㅎㅎ",
    "ㅠㅠ",
    "ㅜㅜ",
    " ㅋㅋㅋ",
    " ㅠㅠ",
    "^^",
    "ㅋ",
    "???",
    "요",
)
ENDINGS = (
    ("습니다", "어요"), ("예요", "야"), ("이에요", "이야"), ("거예요", "거야"), ("인가요", "인가"), ("나요", "나"),
    ("네요", "네"), ("어요", "어"), ("아요", "아"), ("해요", "해"), ("돼요", "돼"), ("려요", "려"),
    ("워요", "워"), ("와요", "와"), ("까요", "까"), ("죠", "지"), ("지요", "지"), ("세요", "셔"),
    ("대요", "대"), ("데요", "데"), ("래요", "래"), ("게요", "게"),
)  # fmt: skip
"""Polite endings of Korean sentences and their plain forms."""
INITIALS, VOWELS, FINALS = (range(0x1100, 0x1113), range(0x1161, 0x1176), range(0x11A8, 0x11C3))


def augment(pairs, copies, seed):
    """Returns noisy copies of pairs, without those that equal an original question.

    Args:
        pairs: DataFrame with the columns "question" and "answer".
        copies: Maximum number of copies of each pair.
        seed: Random seed, an integer or a list of integers.

    Returns:
        A DataFrame with the same columns.
    """
    random, originals = np.random.default_rng(seed), set(pairs["question"])
    rows = np.arange(len(pairs)).repeat(copies)  # Not by label: that of a chunk is repeated in other chunks.
    repeated = pairs[["question", "answer"]].iloc[rows].reset_index(drop=True)
    repeated["question"] = [noisy(question, random) for question in repeated["question"]]
    return repeated[~repeated["question"].isin(originals)].reset_index(drop=True)


def noisy(question, random):
    """Adds one to three kinds of noise to the last turn of a question."""
    *before, last = question.split(BETWEEN)
    for index in sorted(random.choice(len(NOISE), random.integers(1, 4), replace=False, p=PROBABILITIES)):
        last = NOISE[index](last, random)
    return BETWEEN.join([*before, last])


def change_ending(text, random):
    """Changes a polite Korean ending to the plain form, or vice versa; other texts are unchanged."""
    bare = text.rstrip(" ?!.~")
    marks = text[len(bare) :]
    for polite, plain in ENDINGS:
        if bare.endswith(polite):
            return bare.removesuffix(polite) + plain + marks
    for polite, plain in ENDINGS:
        if bare.endswith(plain):
            return bare.removesuffix(plain) + polite + marks
    return text


def change_marks(text, random):
    """Replaces the punctuation at the end."""
    bare = text.rstrip(" ?!.~ㅋㅎㅠㅜ^") or text
    return bare + MARKS[random.integers(len(MARKS))]


def drop_spaces(text, random):
    """Removes all spaces, or each one with a probability of 0.5."""
    if random.random() < 0.5:
        return text.replace(" ", "")
    return "".join(character for character in text if character != " " or random.random() < 0.5)


def drop_word(text, random):
    """Removes a word if there are at least three."""
    words = text.split(" ")
    if len(words) < 3:
        return text
    del words[random.integers(len(words))]
    return " ".join(words)


def misspell(text, random):
    """Adds a typo: a character is changed, removed, doubled, or swapped with the next one."""
    if len(text) < 2:
        return text
    position, kind = int(random.integers(len(text))), random.integers(8)
    before, character, after = text[:position], text[position], text[position + 1 :]
    if kind == 0:
        return before + after
    if kind == 1:
        return before + character + character + after
    if kind == 2 and after:
        return before + after[0] + character + after[1:]
    return before + replace_letter(character, random) + after


def replace_letter(character, random):
    """Replaces a letter in a Hangul syllable, or an ASCII letter; other characters are unchanged."""
    if not "가" <= character <= "힣":
        return (
            chr(random.integers(ord("a"), ord("z") + 1)) if character.isascii() and character.isalpha() else character
        )
    letters = list(unicodedata.normalize("NFD", character))
    position = random.integers(len(letters))
    kind = (INITIALS, VOWELS, FINALS)[position]
    letters[position] = chr(random.choice(kind))
    return compose("".join(letters))


NOISE = (drop_word, change_ending, change_marks, misspell, drop_spaces)
PROBABILITIES = (0.3, 0.15, 0.15, 0.2, 0.2)
