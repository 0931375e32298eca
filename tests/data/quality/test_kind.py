"""The kind of a corpus."""

import itertools
import random

import pandas
import pytest

from keras_transformer.data.quality.kind import (
    are_words,
    correlation_of_lengths,
    count_words,
    find_kind,
    is_closed,
    share_of_numbers,
)


def frame(pairs):
    return pandas.DataFrame(list(pairs), columns=["question", "answer"])


def kind_of(pairs):
    return find_kind(frame(pairs), len(pairs))


def words(count, seed=0):
    """Different made-up words."""
    drawn = random.Random(seed)
    return sorted({"".join(drawn.choices("abcdefghij", k=drawn.randrange(4, 9))) for _ in range(count)})


def sentences(count, seed, shortest=2, longest=12):
    """Sentences in many different words."""
    drawn, known = random.Random(seed), words(6000, seed)
    return [" ".join(drawn.choices(known, k=drawn.randint(shortest, longest))) for _ in range(count)]


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["말"] * 95 + ["두 말"] * 5, True),
        (["말"] * 94 + ["두 말"] * 6, False),
        ([" 말 "], True),
        (["안녕 세상"], False),
    ],
)
def test_words(texts, found):
    assert are_words(texts) is found


def test_words_for_words_and_words_for_symbols_at_spaces():
    reversed_words = kind_of([(word, word[::-1]) for word in words(200)])
    assert (reversed_words.name, reversed_words.tokenizer, reversed_words.target_tokenizer) == (
        "words", "character", "character",
    )  # fmt: skip
    phones = kind_of([(word, " ".join(word)) for word in words(200)])
    assert (phones.name, phones.tokenizer, phones.target_tokenizer) == ("words", "character", "word")
    assert kind_of([(word, word[::-1]) for word in words(90)]).name == "chat"  # Too few.


def test_keywords_with_sentences_as_answers_are_a_chat():
    assert kind_of(list(zip(words(200), sentences(200, 1)))).name == "chat"


def test_commands_of_few_words_are_a_rule():
    verbs, places = ["walk", "run", "jump", "look"], ["left", "right", "around left", "behind right", "here"]
    parts = [f"{verb} {place}" for verb, place in itertools.product(verbs, places)]
    pairs = [
        (f"{a} {joint} {b} {times}", " ".join([a.upper(), *[b.upper()] * (1 + len(times) % 3)]))
        for a, joint, b, times in itertools.product(parts, ("and", "after"), parts, ("twice", "thrice", "again"))
    ]
    kind = kind_of(pairs)
    assert (kind.name, kind.tokenizer, kind.target_tokenizer, kind.closed) == ("translation", "word", "shared", True)
    assert "2,400 pairs of 23 words" in kind.reason


def test_few_words_with_few_answers_are_a_chat():
    """A FAQ whose questions are put together from parts."""
    starts, ends = [f"may I {word}" for word in words(50)], [f"the {word} please" for word in words(30, 1)]
    pairs = [(f"{start} {end}", f"answer of {end}") for start, end in itertools.product(starts, ends)]
    assert kind_of(pairs).name == "chat"


@pytest.mark.parametrize("largest", [300, 1_000_000], ids=["closed", "open"])
def test_sums_are_a_rule_of_characters(largest):
    drawn = random.Random(0)
    numbers = [(drawn.randrange(largest), drawn.randrange(largest)) for _ in range(8000)]
    kind = kind_of([(f"{a} + {b}", str(a + b)) for a, b in numbers])
    assert (kind.name, kind.tokenizer, kind.target_tokenizer) == ("translation", "character", "shared")


def test_longer_answers_to_longer_questions_are_a_translation():
    questions = sentences(1500, 0)
    kind = kind_of([(question, " ".join(reversed(question.upper().split()))) for question in questions])
    assert (kind.name, kind.tokenizer, kind.closed) == ("translation", "sentencepiece", False)
    assert kind_of([(question, question.upper()) for question in questions[:900]]).name == "chat"  # Too few.


def test_a_chat_has_lengths_of_its_own_or_the_same_answers_again():
    questions, answers = sentences(1500, 0), sentences(1500, 1)
    assert "lengths of questions and answers unrelated" in kind_of(list(zip(questions, answers))).reason
    kind = kind_of([(question, f"{len(question)} " + "ha " * len(question)) for question in questions])
    assert (kind.name, "many with the same answers" in kind.reason) == ("chat", True)


def test_two_scripts_alone_do_not_relate_lengths():
    korean = zip(["안녕", "안녕 친구", "그래"] * 40, ["네", "그래 그래", "응 응"] * 40)
    english = zip(
        ["good morning my friend", "hello there"] * 60, ["what a lovely day it is", "how are you doing, then?"] * 60
    )
    pairs = frame([*korean, *english])
    raw = pairs.apply(lambda texts: texts.str.len()).corr().iloc[0, 1]
    assert raw > 0.8
    assert abs(correlation_of_lengths(pairs)) < 0.6


def test_texts_of_one_length_are_not_related():
    assert correlation_of_lengths(frame([("aaaa", "b")] * 20)) == 0


def test_closed_words():
    assert is_closed(["a b", "b a"] * 50)
    assert not is_closed(sentences(100, 0))
    assert not is_closed(["a b"])  # Too few to hold a tenth out.


def test_numbers():
    assert share_of_numbers(count_words(["3 + 4", "12,000 2024-01-05", "3번 a1"])) == 4 / 7
