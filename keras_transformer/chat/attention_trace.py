"""The attention weights of a chatbot while it reads a question and generates the answer."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _

if TYPE_CHECKING:
    from keras_transformer.chat.chatbot import Chatbot
    from keras_transformer.decoding.config import GenerationConfig

SPECIAL = {"start_id": "<start>", "end_id": "<end>", "separator_id": "<separator>"}


@dataclasses.dataclass(frozen=True)
class AttentionTrace:
    """A question, its answer, and the attention weights of every layer and head between their tokens.

    Attributes:
        question_text: The text of the question.
        question: The input tokens of the encoder, a list of texts.
        answer: The generated tokens, including the end token, a list of texts.
        partial_answers: The decoded answer after each token, a list of texts. It contains the spaces, which the tokens
            alone do not determine.
        encoder: Encoder self-attention, float32 (layers, heads, question, question). Each row sums to 1: the attention
            of the row's token to the columns' tokens.
        decoder: Decoder self-attention, float32 (layers, heads, answer, answer). Row i belongs to the generation of
            token i; the columns are the input tokens of the decoder: the start, then the answer without its last token.
        cross: Cross-attention, float32 (layers, heads, answer, question). Row i belongs to the generation of token i.
        answers: All answers, pairs of text and log-probability; the weights are those of the first.
    """

    question_text: str
    question: list[str]
    answer: list[str]
    partial_answers: list[str]
    encoder: np.ndarray
    decoder: np.ndarray
    cross: np.ndarray
    answers: list[tuple[str, float]]

    @property
    def decoder_input(self) -> list[str]:
        """The input tokens of the decoder, one for each generated token."""
        return [SPECIAL["start_id"], *self.answer[:-1]]


def trace_attention(bot: Chatbot, question: str, generation: GenerationConfig | None = None) -> AttentionTrace:
    """Answers one question and records the attention weights.

    Args:
        bot: A `Chatbot`.
        question: The question.
        generation: The `GenerationConfig`; None for one answer by greedy decoding.

    Returns:
        An `AttentionTrace`.

    Raises:
        InputError: If the question is blank.
    """
    [ids] = bot.ids_of([question])
    if not ids:
        raise InputError(_("the question is blank. Write one."))
    config = bot.config_of(generation)
    generated = bot.generate(np.array([ids], "int32"), config, return_attention=True)
    rows = generated.ids.reshape(config.num_return, -1)
    length = int(generated.lengths.flat[0])
    first = rows[0, :length].tolist()
    weights = {name: weight[0] for name, weight in (generated.attention or {}).items()}
    texts = bot.target_tokenizer.decode(rows)
    return AttentionTrace(
        question_text=question,
        question=pieces_of(ids, bot.tokenizer),
        answer=pieces_of(first, bot.target_tokenizer),
        partial_answers=bot.target_tokenizer.decode([first[:end] for end in range(1, length + 1)]),
        encoder=weights["encoder"],
        decoder=weights["decoder"][:, :, :length, :length],
        cross=weights["cross"][:, :, :length],
        answers=[(text, float(score)) for text, score in zip(texts, generated.scores.flat)],
    )


def pieces_of(ids, tokenizer):
    """Returns the text of each token id by itself; '▁' for a space."""
    special = {getattr(tokenizer, name): text for name, text in SPECIAL.items()}
    return [special.get(i) or text or "▁" for i, text in zip(ids, tokenizer.decode([[i] for i in ids]))]
