"""What a chatbot looked at while it read a question and wrote its answer."""

import dataclasses

import numpy as np

from keras_transformer.decoding.generate import generate
from keras_transformer.errors import InputError

SPECIAL = {"start_id": "<start>", "end_id": "<end>", "separator_id": "<separator>"}


@dataclasses.dataclass(frozen=True)
class AttentionTrace:
    """A question, its answer, and the attention weights of every layer and head between their tokens.

    Attributes:
        asked: The question's text.
        question: The tokens that the encoder read, texts in their order.
        answer: The tokens that were made, up to and with the end.
        written: The answer's text after each of its tokens; the tokens alone do not say where its spaces are.
        encoder: float32 (layers, heads, question, question). Each row sums to 1: from the token of the row to those of
            the columns.
        decoder: float32 (layers, heads, answer, answer). Row i made token i; the columns are the tokens that were
            read: the start, then the answer less its last.
        cross: float32 (layers, heads, answer, question). Row i made token i.
        answers: All answers, pairs of text and log-probability; the weights are those of the first.
    """

    asked: str
    question: list
    answer: list
    written: list
    encoder: np.ndarray
    decoder: np.ndarray
    cross: np.ndarray
    answers: list

    @property
    def read(self):
        """The tokens that the decoder read, one for each that it made."""
        return [SPECIAL["start_id"], *self.answer[:-1]]


def trace_attention(bot, question, strategy=None, num_return=1, **settings):
    """Asks a chatbot one question, and keeps its attention.

    Args:
        bot: A `Chatbot`.
        question: The question.
        strategy: How tokens are chosen, as for `generate`.
        num_return: Answers to it.
        **settings: Of `generate`.

    Returns:
        What it `AttentionTrace`.

    Raises:
        InputError: If the question is blank.
    """
    [ids] = bot.ids_of([question])
    if not ids:
        raise InputError("a blank question has nothing to attend to: ask something")
    how = bot.settings(strategy=strategy, num_return=num_return, **settings)
    made = generate(bot.model, np.array([ids], "int32"), **how, return_attention=True)
    rows = made.ids.reshape(num_return, -1)
    length = int(made.lengths.flat[0])
    first = rows[0, :length].tolist()
    weights = {name: weight[0] for name, weight in made.attention.items()}
    texts = bot.target_tokenizer.decode(rows)
    return AttentionTrace(
        asked=question,
        question=pieces_of(ids, bot.tokenizer),
        answer=pieces_of(first, bot.target_tokenizer),
        written=bot.target_tokenizer.decode([first[:end] for end in range(1, length + 1)]),
        encoder=weights["encoder"],
        decoder=weights["decoder"][:, :, :length, :length],
        cross=weights["cross"][:, :, :length],
        answers=[(text, float(score)) for text, score in zip(texts, made.scores.flat)],
    )


def pieces_of(ids, tokenizer):
    """What each token id reads as by itself; '▁' for a space."""
    special = {getattr(tokenizer, name): text for name, text in SPECIAL.items()}
    return [special.get(i) or text or "▁" for i, text in zip(ids, tokenizer.decode([[i] for i in ids]))]
