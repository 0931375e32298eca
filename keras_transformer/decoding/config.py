"""Generation configuration: lengths, constraints and decoding strategy, validated on creation."""

import dataclasses
from typing import TypeAlias

from keras_transformer.decoding.beam_search import Beam
from keras_transformer.decoding.constraints import TokenConstraints
from keras_transformer.decoding.samplers import Greedy, Sampling
from keras_transformer.errors import InputError

Strategy: TypeAlias = Greedy | Sampling | Beam
"""The decoding strategies of `generate`."""


@dataclasses.dataclass(frozen=True)
class GenerationConfig:
    """Settings of `generate`, where they are documented. One program is compiled per configuration and input shape.

    Raises:
        InputError: If a setting is out of range, or the strategy cannot return that many answers.
    """

    start_id: int
    end_id: int
    max_length: int
    min_length: int = 0
    repetition_penalty: float = 1.0
    no_repeat_ngram: int = 0
    forbidden_ids: tuple = ()
    strategy: object = None
    num_return: int = 1
    rules: TokenConstraints = dataclasses.field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "strategy", self.strategy or Greedy())
        object.__setattr__(self, "forbidden_ids", tuple(map(int, self.forbidden_ids)))  # Hashable, unlike a list.
        rules = TokenConstraints(self.min_length, self.repetition_penalty, self.no_repeat_ngram, self.forbidden_ids)
        object.__setattr__(self, "rules", rules)
        if self.max_length < 1:
            raise InputError(f"max_length must be 1 or more, not {self.max_length}")
        if self.min_length > self.max_length:
            raise InputError(f"min_length {self.min_length} is more than max_length {self.max_length}")
        if self.num_return < 1:
            raise InputError(f"num_return must be 1 or more, not {self.num_return}")
        if isinstance(self.strategy, Greedy) and self.num_return > 1:
            raise InputError(f"greedy decoding finds one answer, not {self.num_return}: search with beams, or sample")
        if isinstance(self.strategy, Beam) and self.num_return > self.strategy.num_beams:
            raise InputError(f"{self.strategy.num_beams} beams cannot find {self.num_return} answers: take more beams")
