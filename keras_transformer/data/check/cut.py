"""Into what the texts of a corpus are best cut: pieces; or characters, where each question is a word."""

import dataclasses

from keras_transformer.data.check.vocabulary import OFTEN, choose_tokenizer
from keras_transformer.text.tokenizer import Tokenizer

MOSTLY = 0.95  # Share of the questions that must be single words.


@dataclasses.dataclass(frozen=True)
class Cut:
    """How texts become tokens.

    Attributes:
        questions: `Tokenizer` of the questions.
        answers: That of the answers.
        preset: Name of the preset that goes with it; None for the one that the number of tokens suggests.
        settings: What else to train with, a dictionary.
        reason: Why, in a line.
    """

    questions: Tokenizer
    answers: Tokenizer
    preset: str | None
    settings: dict
    reason: str


def choose_cut(questions, answers, characters, share):
    """The `Cut` for a corpus.

    Args:
        questions: Strings to train on, some: the turns of all questions.
        answers: The answers of the same pairs.
        characters: Different characters that a vocabulary must hold.
        share: Which share of all texts of training these are.
    """
    if are_words(questions):
        return cut_of_words(questions, answers, characters)
    tokenizer, vocab_size, rarest = choose_tokenizer([*questions, *answers], characters, share)
    fed = f"95 of 100 pieces are met at least {rarest:,} times"
    reason = f"vocabulary {vocab_size:,}: {fed if rarest >= OFTEN else 'the least that holds all characters'}"
    return Cut(tokenizer, tokenizer, None, {"vocab_size": vocab_size}, reason)


def cut_of_words(questions, answers, characters):
    """The `Cut` of single words: into characters; their answers at spaces, if they have any, as phones have."""
    kind, what = ("character", "characters") if are_words(answers) else ("word", "what stands between spaces")
    vocab_size = 500 * -(-2 * characters // 500)  # Twice: what is put together from characters may be more.
    tokenizers = Tokenizer.train(questions, vocab_size, "character"), Tokenizer.train(answers, vocab_size, kind)
    settings = {"vocab_size": vocab_size, "target_tokenizer": kind}
    return Cut(*tokenizers, "characters", settings, f"questions cut into characters, answers into {what}")


def are_words(texts):
    """Whether texts are single words, but for a few."""
    return sum(len(text.split()) == 1 for text in texts) >= MOSTLY * len(texts)
