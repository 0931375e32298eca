import dataclasses

import pytest

from keras_transformer import Beam, GenerationConfig, Greedy, InputError, Sampling
from keras_transformer.decoding.config import chosen_generation
from keras_transformer.decoding.constraints import TokenConstraints


def test_the_default_is_one_greedy_answer_as_long_as_the_model_makes():
    config = GenerationConfig()
    assert (config.strategy, config.num_return, config.max_length) == (Greedy(), 1, None)
    assert config.constraints == TokenConstraints()


def test_the_constraints_are_those_of_the_settings():
    config = GenerationConfig(min_length=2, repetition_penalty=1.5, no_repeat_ngram=3, forbidden_ids=[7, 8])
    assert config.constraints == TokenConstraints(2, 1.5, 3, (7, 8))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_length": 0}, "max_length must be 1 or more, not 0"),
        ({"min_length": -1}, "min_length must be 0 or more, not -1"),
        ({"min_length": 6, "max_length": 5}, "min_length 6 is more than max_length 5"),
        ({"repetition_penalty": 0.9}, "repetition_penalty must be 1 or more, not 0.9"),
        ({"no_repeat_ngram": -1}, "no_repeat_ngram must be 0 .* or more, not -1"),
        ({"forbidden_ids": [-1]}, r"forbidden_ids must be token ids, 0 or more, not \[-1\]"),
        ({"num_return": 0}, "num_return must be 1 or more, not 0"),
        ({"num_return": 2}, "greedy decoding finds one answer, not 2: search with beams, or sample"),
        ({"strategy": Beam(2), "num_return": 3}, "2 beams cannot find 3 answers: take more beams"),
    ],
)
def test_what_cannot_be_is_refused_when_it_is_made(settings, message):
    with pytest.raises(InputError, match=message):
        GenerationConfig(**settings)


def test_the_longest_answer_of_the_model_is_filled_in_where_none_is_set():
    config = GenerationConfig(Beam(3), num_return=2, min_length=4)
    assert config.limited_to(9) == dataclasses.replace(config, max_length=9)
    assert config.limited_to(9).limited_to(5) == config.limited_to(9)
    assert config.max_length is None
    with pytest.raises(InputError, match="min_length 4 is more than max_length 3"):
        config.limited_to(3)


def test_equal_settings_are_one_key_whatever_the_seed():
    config = GenerationConfig(Sampling(0.7, seed=1), forbidden_ids=[1, 2])
    alike = GenerationConfig(Sampling(0.7, seed=2), forbidden_ids=(1, 2))
    assert config == alike and hash(config) == hash(alike) and {config: 1}[alike] == 1
    assert GenerationConfig() == GenerationConfig(Greedy(), min_length=0)
    for other in (
        GenerationConfig(Sampling(0.8), forbidden_ids=[1, 2]),
        GenerationConfig(Sampling(0.7), forbidden_ids=[1]),
        GenerationConfig(Sampling(0.7), num_return=2, forbidden_ids=[1, 2]),
        config.limited_to(9),
    ):
        assert other != config


def test_it_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        GenerationConfig().max_length = 3


def test_one_answer_of_several():
    assert GenerationConfig(Beam(3), num_return=3, min_length=2).of_one_answer() == GenerationConfig(
        Beam(3), min_length=2
    )


def test_a_strategy_is_short_for_a_configuration():
    config = GenerationConfig(min_length=2)
    assert chosen_generation(None, None) is None
    assert chosen_generation(None, config) is config
    assert chosen_generation(Beam(2), None) == GenerationConfig(Beam(2))
    with pytest.raises(InputError, match="strategy and generation are both given: put the strategy into the Gen"):
        chosen_generation(Beam(2), config)


def test_what_no_memory_would_hold_is_refused():
    with pytest.raises(InputError, match="num_beams must be at most 1000, not 100000"):
        Beam(100_000)
    with pytest.raises(InputError, match="num_return must be at most 10000, not 100000"):
        GenerationConfig(Sampling(), num_return=100_000)
    with pytest.raises(InputError, match="max_length must be at most 100000, not 1000000"):
        GenerationConfig(max_length=1_000_000)
