"""The attention weights of a chatbot while it reads a question and generates the answer."""

import dataclasses
from typing import Any

import numpy as np

from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.decoding.config import Strategy
from keras_transformer.decoding.generate import generate
from keras_transformer.errors import InputError

SPECIAL = {"start_id": "<start>", "end_id": "<end>", "separator_id": "<separator>"}


@dataclasses.dataclass(frozen=True)
class AttentionTrace:
    """A question, its answer, and the attention weights of every layer and head between their tokens.

    Attributes:
        asked: The question's text.
        question: The input tokens of the encoder, a list of texts.
        answer: The generated tokens, including the end token, a list of texts.
        written: The decoded answer after each token. The tokens alone do not determine its spaces.
        encoder: Encoder self-attention, float32 (layers, heads, question, question). Each row sums to 1: the attention
            of the row's token to the columns' tokens.
        decoder: Decoder self-attention, float32 (layers, heads, answer, answer). Row i belongs to the generation of
            token i; the columns are the input tokens of the decoder: the start, then the answer without its last token.
        cross: Cross-attention, float32 (layers, heads, answer, question). Row i belongs to the generation of token i.
        answers: All answers, pairs of text and log-probability; the weights are those of the first.
    """

    asked: str
    question: list[str]
    answer: list[str]
    written: list[str]
    encoder: np.ndarray
    decoder: np.ndarray
    cross: np.ndarray
    answers: list[tuple[str, float]]

    @property
    def read(self) -> list[str]:
        """The input tokens of the decoder, one for each generated token."""
        return [SPECIAL["start_id"], *self.answer[:-1]]


def trace_attention(
    bot: Chatbot, question: str, strategy: Strategy | None = None, num_return: int = 1, **settings: Any
) -> AttentionTrace:
    """Answers one question and records the attention weights.

    Args:
        bot: A `Chatbot`.
        question: The question.
        strategy: The decoding strategy, as for `generate`.
        num_return: Number of answers.
        **settings: Further settings of `generate`.

    Returns:
        An `AttentionTrace`.

    Raises:
        InputError: If the question is blank.
    """
    [ids] = bot.ids_of([question])
    if not ids:
        raise InputError("the question is blank. Write one.")
    settings = bot.settings(strategy=strategy, num_return=num_return, **settings)
    generation = generate(bot.model, np.array([ids], "int32"), **settings, return_attention=True)
    rows = generation.ids.reshape(num_return, -1)
    length = int(generation.lengths.flat[0])
    first = rows[0, :length].tolist()
    weights = {name: weight[0] for name, weight in (generation.attention or {}).items()}
    texts = bot.target_tokenizer.decode(rows)
    return AttentionTrace(
        asked=question,
        question=pieces_of(ids, bot.tokenizer),
        answer=pieces_of(first, bot.target_tokenizer),
        written=bot.target_tokenizer.decode([first[:end] for end in range(1, length + 1)]),
        encoder=weights["encoder"],
        decoder=weights["decoder"][:, :, :length, :length],
        cross=weights["cross"][:, :, :length],
        answers=[(text, float(score)) for text, score in zip(texts, generation.scores.flat)],
    )


def pieces_of(ids, tokenizer):
    """Returns the text of each token id by itself; '▁' for a space."""
    special = {getattr(tokenizer, name): text for name, text in SPECIAL.items()}
    return [special.get(i) or text or "▁" for i, text in zip(ids, tokenizer.decode([[i] for i in ids]))]
