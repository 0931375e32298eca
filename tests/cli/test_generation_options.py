"""The options of `chat` and `answer`, as a `GenerationConfig`."""

import argparse

import pytest

from keras_transformer import Beam, GenerationConfig, Greedy, InputError, Sampling
from keras_transformer.chat.answering import Answer
from keras_transformer.chat.datastore import Exchange, Match
from keras_transformer.cli.generation_options import add_strategy_options, in_words, source_lines
from keras_transformer.decoding.options import check_strategy_options, generation_config


def parsed(words):
    parser = argparse.ArgumentParser()
    add_strategy_options(parser)
    options = parser.parse_args(words.split())
    check_strategy_options(options)
    return options


def config(words):
    return generation_config(parsed(words))


@pytest.mark.parametrize(
    ("words", "strategy", "num_return"),
    [
        ("--beam 5", Beam(5, 0.6), 1),
        ("--beam 5 --length-penalty 1", Beam(5, 1.0), 1),
        ("--sample", Sampling(), 1),
        ("--sample --temperature 0.7 --top-k 9 --top-p 0.9", Sampling(0.7, 9, 0.9), 1),
        ("--n-best 1", Greedy(), 1),
        ("--n-best 3", Beam(4, 0.6), 3),
        ("--n-best 9 --length-penalty 0", Beam(9, 0.0), 9),
        ("--n-best 3 --beam 6", Beam(6, 0.6), 3),
        ("--n-best 3 --sample", Sampling(), 3),
    ],
)
def test_strategies(words, strategy, num_return):
    assert config(words) == GenerationConfig(strategy, num_return)


def test_without_an_option_the_run_answers_in_its_own_way():
    assert config("") is None


def test_a_seed_arrives():
    assert config("--sample --seed 7").strategy.seed == 7


def test_rules():
    words = "--min-length 2 --max-length 9 --repetition-penalty 1.2 --no-repeat-ngram 3 --forbidden-ids 5 6"
    assert config(words) == GenerationConfig(
        min_length=2, max_length=9, repetition_penalty=1.2, no_repeat_ngram=3, forbidden_ids=(5, 6)
    )


def test_forbidden_words():
    assert config("--forbid cat --forbid 고양이") == GenerationConfig(forbidden=("cat", "고양이"))
    assert config("--forbid cat").only_words
    assert config("--forbid cat --beam 2") == GenerationConfig(Beam(2), forbidden=("cat",))
    assert not config("--forbid cat --beam 2").only_words
    with pytest.raises(InputError, match="a forbidden word is blank"):
        generation_config(argparse.Namespace(**vars(parsed("")) | {"forbid": [" "]}))


def test_required_words():
    assert config("--require cat --require 고양이") == GenerationConfig(Beam(4), required=("cat", "고양이"))
    assert config("--require cat --forbid dog").only_words
    assert config("--require cat --max-length 9") == GenerationConfig(Beam(4), max_length=9, required=("cat",))
    assert config("--require cat --beam 8 --n-best 2") == GenerationConfig(Beam(8), 2, required=("cat",))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--require cat --sample", r"required words need beam search: Beam\(num_beams=4\), or --beam 4"),
        ("--require cats --forbid CATS", "'cats' is required, but 'CATS' is forbidden: leave one out"),
        ("--top-p 0.9", "--top-p needs --sample"),
        ("--seed 1 --beam 4", "--seed needs --sample"),
        ("--length-penalty 1", "--length-penalty needs --beam N"),
        ("--sample --length-penalty 1", "--length-penalty needs --beam N"),
        ("--beam 2 --n-best 3", "2 beams cannot find 3 answers: take more beams"),
        ("--beam 0", "the number of beams must be at least 1, not 0"),
        ("--n-best 0", "the number of answers must be at least 1, not 0"),
        ("--sample --temperature 0", "temperature must be above 0, not 0.0"),
        ("--max-length 0", "max_length must be 1 or more, not 0"),
        ("--repetition-penalty 0", "repetition_penalty must be 1 or more, not 0.0"),
    ],
)
def test_what_does_not_go_together_is_refused(words, message):
    with pytest.raises(InputError, match=message):
        config(words)


def test_an_answer_is_one_harmless_line():
    assert in_words("one\ntwo\x1b[2J", -1.5, argparse.Namespace(n_best=None)) == r"one\ntwo\u001b[2J"
    assert in_words("one\ntwo", -1.5, argparse.Namespace(n_best=2)) == "-1.5000\tone\\ntwo"
    answer = Answer("one", None, (Match(Exchange("Q\x07?", "one", "a\nb.csv", 2), 0.5),))
    assert source_lines(answer, True) == [r"  [0.50] a\nb.csv, row 2: Q\u0007?"]
