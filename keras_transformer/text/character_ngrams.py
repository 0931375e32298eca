"""The n-grams of characters that questions are compared by, within words, as scikit-learn's "char_wb" has them.

A syllable of Hangul or a Chinese character says as much as some letters of an alphabet: n-grams of letters are longer.
"""

LETTERS = range(2, 5)  # Characters of an n-gram of letters: " ta", "cat".
SYLLABLES = range(1, 3)  # Of one that has a syllable or an ideograph.
FIRST_SYLLABLE = "\u2e80"  # Alphabets, digits and signs come before it; kana, Chinese characters and Hangul after it.


def character_ngrams(text):
    """The n-grams of a text, a list; every word has a space before and behind it.

    Args:
        text: A text, normalized (`normalize`).
    """
    return [ngram for word in text.lower().split(" ") if word for ngram in ngrams_of_word(f" {word} ")]


def ngrams_of_word(word):
    """The n-grams of a word with its two spaces, shortest first."""
    return [
        ngram
        for length in range(1, LETTERS.stop)
        for ngram in (word[start : start + length] for start in range(len(word) - length + 1))
        if length in (LETTERS if max(ngram) < FIRST_SYLLABLE else SYLLABLES)
    ]
