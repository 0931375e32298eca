"""Character n-grams within words, for comparing questions, like the "char_wb" analyzer of scikit-learn.

A Hangul syllable or a Chinese character carries as much information as several letters, so its n-grams are shorter.
Characters that express a mood only, such as ㅋㅋ, ㅠㅠ and !!, are ignored: people add them to any question.
"""

import re

LETTERS = range(2, 5)  # Lengths of n-grams of letters only, such as " ta" and "cat".
SYLLABLES = range(1, 3)  # Lengths of n-grams with a syllable or an ideograph.
FIRST_SYLLABLE = "\u2e80"  # Alphabets, digits and signs precede it. Kana, Chinese characters and Hangul follow it.
MOOD = "\u3131-\u318e!~^"  # A range of regular expressions: single Hangul letters, such as those of ㅋㅋ, and signs.


def character_ngrams(text):
    """Returns the n-grams of a text as a list. Every word is padded with one space on each side.

    Args:
        text: A normalized text (see `normalize`).
    """
    return [ngram for word in padded_words(text) for ngram in ngrams_of_word(word)]


def padded_words(text):
    """Returns the words of a normalized text in lowercase, each with one space on each side."""
    return [f" {word} " for word in without_mood(text).lower().split(" ") if word]


def without_mood(text):
    """Returns a text without the characters of `MOOD`; the same text if it has no others."""
    return re.sub(f"[{MOOD}]", "", text).strip(" ") or text


def ngrams_of_word(word):
    """Returns the n-grams of a padded word, shortest first."""
    return [
        ngram
        for length in range(1, LETTERS.stop)
        for ngram in (word[start : start + length] for start in range(len(word) - length + 1))
        if length in (LETTERS if max(ngram) < FIRST_SYLLABLE else SYLLABLES)
    ]
