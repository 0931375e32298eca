"""Generation configuration: lengths, constraints and decoding strategy, validated on creation."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TypeAlias

from keras_transformer.decoding.beam_search import Beam
from keras_transformer.decoding.constraints import TokenConstraints
from keras_transformer.decoding.forbidden_words import forbidden_words
from keras_transformer.decoding.phrases import Phrases, checked_phrases
from keras_transformer.decoding.required_words import RequiredWords, required_words
from keras_transformer.decoding.samplers import Forced, Greedy, Sampling
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.text.normalize import normalize
from keras_transformer.text.tokenizer import Tokenizer

MOST_ANSWERS = 10_000  # Maximum number of answers to a question.
LONGEST = 100_000  # Maximum number of tokens of an answer.

Strategy: TypeAlias = Greedy | Sampling | Beam
"""The decoding strategies of `generate`."""


@dataclasses.dataclass(frozen=True)
class AnswerTokens:
    """The special tokens of an answer.

    Attributes:
        start_id: Token that starts every answer.
        end_id: Token that ends an answer.
        tokenizer: The `Tokenizer` of the answers, which forbidden and required words need; None without them.
    """

    start_id: int
    end_id: int
    tokenizer: Tokenizer | None = dataclasses.field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> AnswerTokens:
        """Returns the special tokens of a `Tokenizer`."""
        return cls(tokenizer.start_id, tokenizer.end_id, tokenizer)


@dataclasses.dataclass(frozen=True)
class GenerationConfig:
    """How answers are generated: the decoding strategy, the number of answers, their lengths, and token constraints.

    It names no model and no tokenizer, so one configuration serves several runs. One program is compiled per
    configuration and input shape; configurations that differ in the seed only are equal and share it.

    Args:
        strategy: Decoding strategy: `Greedy()`, `Sampling(…)` or `Beam(…)`. The default is `Greedy()`, or `Beam()` with
            required words.
        num_return: Number of answers per question: independent samples, or the best hypotheses of a beam search, best
            first.
        max_length: Maximum number of tokens of an answer, including the end token. None for the longest answer that
            the model was trained for.
        min_length: Minimum number of tokens before the end token.
        repetition_penalty: Factor for the log-probability of tokens that the answer already contains. 1 is no penalty.
        no_repeat_ngram: Size of the n-grams that may occur only once in an answer. 0 disables the constraint.
        forbidden_ids: Token ids that are never generated.
        forbidden: Words or longer phrases that no answer contains, however they are split into tokens: see `Phrases`.
            A `Chatbot` does not retrieve answers with them either.
        required: Words or longer phrases that every answer contains, found like forbidden ones. Beam search only. A
            `Chatbot` does not retrieve answers without them either.

    Attributes:
        constraints: The `TokenConstraints`.

    Raises:
        InputError: If a setting is out of range, settings conflict, or the strategy cannot return that many answers.
    """

    strategy: Greedy | Sampling | Beam | Forced | None = None
    num_return: int = 1
    max_length: int | None = None
    min_length: int = 0
    repetition_penalty: float = 1.0
    no_repeat_ngram: int = 0
    forbidden_ids: Sequence[int] = ()
    forbidden: Sequence[str] = ()
    required: Sequence[str] = ()
    constraints: TokenConstraints = dataclasses.field(init=False, repr=False, compare=False)

    def __post_init__(self):
        object.__setattr__(self, "strategy", self.strategy or (Beam() if self.required else Greedy()))
        object.__setattr__(self, "forbidden_ids", tuple(map(int, self.forbidden_ids)))  # Hashable, unlike a list.
        object.__setattr__(self, "forbidden", checked_phrases(self.forbidden, "forbidden"))
        object.__setattr__(self, "required", checked_phrases(self.required, "required"))
        constraints = TokenConstraints(
            self.min_length, self.repetition_penalty, self.no_repeat_ngram, self.forbidden_ids
        )
        object.__setattr__(self, "constraints", constraints)
        if self.max_length is not None and self.max_length < 1:
            raise InputError(_("max_length must be 1 or more, not {max_length}", max_length=self.max_length))
        if self.max_length is not None and self.max_length > LONGEST:
            raise InputError(
                _("max_length must be at most {longest}, not {max_length}", longest=LONGEST, max_length=self.max_length)
            )
        if self.max_length is not None and self.min_length > self.max_length:
            raise InputError(
                _(
                    "min_length {min_length} is more than max_length {max_length}",
                    min_length=self.min_length,
                    max_length=self.max_length,
                )
            )
        self.check_required()
        if self.num_return < 1:
            raise InputError(_("num_return must be 1 or more, not {num_return}", num_return=self.num_return))
        if self.num_return > MOST_ANSWERS:
            raise InputError(
                _(
                    "num_return must be at most {most}, not {num_return}",
                    most=MOST_ANSWERS,
                    num_return=self.num_return,
                )
            )
        if isinstance(self.strategy, Greedy) and self.num_return > 1:
            raise InputError(
                _(
                    "greedy decoding finds one answer, not {num_return}: search with beams, or sample",
                    num_return=self.num_return,
                )
            )
        if isinstance(self.strategy, Beam) and self.num_return > self.strategy.num_beams:
            raise InputError(
                _(
                    "{num_beams} beams cannot find {num_return} answers: take more beams",
                    num_beams=self.strategy.num_beams,
                    num_return=self.num_return,
                )
            )

    def check_required(self) -> None:
        """Raises `InputError` if required words conflict with the strategy or with forbidden words."""
        if self.required and not isinstance(self.strategy, Beam):
            raise InputError(_("required words need beam search: Beam(num_beams=4), or --beam 4"))
        for word in self.required:
            for other in self.forbidden:
                if Phrases([normalize(other)]).occur_in(word):
                    raise InputError(
                        _(
                            "{word!r} is required, but {other!r} is forbidden: leave one out",
                            word=word,
                            other=other,
                        )
                    )

    def limited_to(self, longest: int) -> GenerationConfig:
        """Returns the configuration with `max_length` filled in: its own, or `longest` if it is None.

        Raises:
            InputError: If `min_length` is more than `longest`.
        """
        return self if self.max_length is not None else dataclasses.replace(self, max_length=longest)

    @property
    def only_words(self) -> bool:
        """Whether forbidden and required words are all that is set, which retrieved answers can respect, too."""
        words = bool(self.forbidden or self.required)
        return words and self == GenerationConfig(forbidden=self.forbidden, required=self.required)

    def constraints_for(self, tokens: AnswerTokens) -> TokenConstraints:
        """Returns the constraints on tokens, with forbidden and required words as the tokenizer may split them.

        Raises:
            InputError: If there are such words and the `AnswerTokens` have no tokenizer, the tokenizer cannot spell a
                required word, or all of them do not fit into an answer.
        """
        if not (self.forbidden or self.required):
            return self.constraints
        if tokens.tokenizer is None:
            raise InputError(
                _("forbidden and required words need the tokenizer of the answers: AnswerTokens.of(tokenizer)")
            )
        of_answers = tokens.tokenizer, self.forbidden_ids, tokens.end_id
        return dataclasses.replace(
            self.constraints,
            words=forbidden_words(self.forbidden, *of_answers) if self.forbidden else None,
            required=self._that_fit(required_words(self.required, *of_answers)) if self.required else None,
        )

    def _that_fit(self, required: RequiredWords) -> RequiredWords:
        """Returns the required words; raises `InputError` if an answer has too few tokens for them."""
        if self.max_length is not None and self.max_length < required.least_length:
            raise InputError(
                _(
                    "max_length {max_length} is too small for the required words, which take up to {least} tokens",
                    max_length=self.max_length,
                    least=required.least_length,
                )
            )
        return required

    def of_one_answer(self) -> GenerationConfig:
        """Returns the configuration for one answer per question, the first of those that it would return."""
        return dataclasses.replace(self, num_return=1)


def chosen_generation(strategy: Strategy | None, generation: GenerationConfig | None) -> GenerationConfig | None:
    """Returns the configuration for the arguments `strategy` and `generation` of a function; None for neither.

    Raises:
        InputError: If both are given.
    """
    if strategy is None:
        return generation
    if generation is not None:
        raise InputError(_("strategy and generation are both given: put the strategy into the GenerationConfig"))
    return GenerationConfig(strategy)
