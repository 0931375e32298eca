"""Data augmentation: training questions as somebody else might type them.

A model that only knows its questions letter by letter fails once a space is missing or "ㅋㅋ" stands at the end. Copies
with such noise, and the same answer, teach it what does not matter (Belinkov and Bisk 2018, "Synthetic and Natural
Noise Both Break Neural Machine Translation").
"""

import unicodedata

import numpy as np

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
"""Polite endings of Korean sentences and the same in plain speech."""
LEADS, VOWELS, TAILS = (range(0x1100, 0x1113), range(0x1161, 0x1176), range(0x11A8, 0x11C3))


def augment(pairs, copies, seed):
    """Noisy copies of pairs; a copy that asks what another question of the pairs asks is left out.

    Args:
        pairs: DataFrame with the columns "question" and "answer".
        copies: Copies of each pair, at most.
        seed: The same seed makes the same copies; a list of integers will do.

    Returns:
        A DataFrame with the same columns.
    """
    random, known = np.random.default_rng(seed), set(pairs["question"])
    repeated = pairs.loc[pairs.index.repeat(copies), ["question", "answer"]].reset_index(drop=True)
    repeated["question"] = [noisy(question, random) for question in repeated["question"]]
    return repeated[~repeated["question"].isin(known)].reset_index(drop=True)


def noisy(question, random):
    """The question with one to three kinds of noise in its last turn."""
    *before, last = question.split(BETWEEN)
    for index in sorted(random.choice(len(NOISE), random.integers(1, 4), replace=False, p=SHARES)):
        last = NOISE[index](last, random)
    return BETWEEN.join([*before, last])


def change_ending(text, random):
    """Polite Korean made plain, and plain Korean polite; other texts stay."""
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
    """Other marks at the end."""
    bare = text.rstrip(" ?!.~ㅋㅎㅠㅜ^") or text
    return bare + MARKS[random.integers(len(MARKS))]


def drop_spaces(text, random):
    """All spaces left out, or each of them with an even chance; a text without any stays."""
    if random.random() < 0.5:
        return text.replace(" ", "")
    return "".join(one for one in text if one != " " or random.random() < 0.5)


def drop_word(text, random):
    """One of at least three words left out."""
    words = text.split(" ")
    if len(words) < 3:
        return text
    del words[random.integers(len(words))]
    return " ".join(words)


def misspell(text, random):
    """One character mistyped: another letter in it, or it is missing, doubled, or exchanged with the next."""
    if len(text) < 2:
        return text
    place, kind = int(random.integers(len(text))), random.integers(8)
    before, one, after = text[:place], text[place], text[place + 1 :]
    if kind == 0:
        return before + after
    if kind == 1:
        return before + one + one + after
    if kind == 2 and after:
        return before + after[0] + one + after[1:]
    return before + other_letter(one, random) + after


def other_letter(character, random):
    """A Hangul syllable with one of its letters exchanged; another character in the place of any other."""
    if not "가" <= character <= "힣":
        return (
            chr(random.integers(ord("a"), ord("z") + 1)) if character.isascii() and character.isalpha() else character
        )
    letters = list(unicodedata.normalize("NFD", character))
    place = random.integers(len(letters))
    kind = (LEADS, VOWELS, TAILS)[place]
    letters[place] = chr(random.choice(kind))
    return unicodedata.normalize("NFC", "".join(letters))


NOISE = (drop_word, change_ending, change_marks, misspell, drop_spaces)
SHARES = (0.3, 0.15, 0.15, 0.2, 0.2)
