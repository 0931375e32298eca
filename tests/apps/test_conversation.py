"""What the chat asks its chatbot, which is a stand-in here."""

import argparse

import pytest

from keras_transformer.apps import chat
from keras_transformer.apps.chat import Conversation, answer_lines
from keras_transformer.apps.fallback import add_fallback_options
from keras_transformer.apps.strategy import add_strategy_options

KNOWN = set("abcdefgh")


class Bot:
    """Answers every question by its last line in capitals, and remembers what it was asked."""

    def __init__(self, turns):
        self.turns, self.asked, self.tokenizer = turns, [], self

    def stream(self, question, strategy=None, fallback=None):
        self.asked.append(question)
        yield from question.split("\n")[-1].upper()

    def n_best(self, questions, wanted, strategy=None):
        return [[("".join(self.stream(question)), 0.0)] * wanted if question else [("", 0.0)] for question in questions]

    def knows_nothing_of(self, text):
        return bool(text) and not KNOWN & set(text)

    def unknown(self, text):
        return list(text)


@pytest.fixture
def options():
    parser = argparse.ArgumentParser()
    add_strategy_options(parser)
    add_fallback_options(parser)
    return parser.parse_args([])


@pytest.mark.parametrize(
    ("turns", "asked"),
    [
        (1, ["a", "b", "c", "d"]),
        (2, ["a", "A\nb", "B\nc", "C\nd"]),
        (4, ["a", "a\nA\nb", "A\nb\nB\nc", "B\nc\nC\nd"]),
    ],
)
def test_so_many_turns_are_read(options, turns, asked, capsys):
    conversation = Conversation(Bot(turns), options)
    for line in "abcd":
        conversation.hear(line)
    assert conversation.bot.asked == asked
    assert capsys.readouterr().out == "A\nB\nC\nD\n"


def test_again_asks_as_before_and_forget_forgets(options):
    conversation = Conversation(Bot(3), options)
    for line in ("a", "b", "/again", "c", "/forget", "d", "/again"):
        conversation.hear(line)
    assert conversation.bot.asked == ["a", "a\nA\nb", "a\nA\nb", "b\nB\nc", "d", "d"]


def test_the_best_of_several_answers_is_the_turn(options):
    conversation = Conversation(Bot(2), options)
    for line in ("/sample", "/best 2", "a", "b"):
        conversation.hear(line)
    assert conversation.bot.asked == ["a", "A\nb"]


def test_lines_are_one_conversation_and_a_blank_one_begins_another(options, monkeypatch, capsys):
    bot = Bot(3)
    monkeypatch.setattr(chat.Chatbot, "load", lambda run: bot)
    answer_lines("run", ["a", "b", "", "c", "?", "d"], options)
    assert bot.asked == ["a", "a\nA\nb", "c", "?\n\nd"]
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["A", "B", "", "C", "I never met any of these: ?  (모두 처음 보는 글자예요)", "D"]
