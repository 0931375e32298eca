"""What the chat asks its chatbot, which is a stand-in here."""

import argparse

import pytest

from keras_transformer import Beam, GenerationConfig, InputError, Sampling
from keras_transformer.chat.answering import Answer
from keras_transformer.chat.datastore import Exchange, Match
from keras_transformer.cli import chat
from keras_transformer.cli.chat import Conversation, WarmUp, answer_lines
from keras_transformer.cli.generation_options import (
    add_answer_by_option,
    add_cite_option,
    add_fallback_options,
    add_strategy_options,
)

KNOWN = set("abcdefgh")


class Bot:
    """Answers every question by its last line in capitals, and remembers what it was query."""

    def __init__(self, turns):
        self.turns, self.query, self.tokenizer, self.datastore = turns, [], self, None
        self.memorized = False

    def stream(self, question, fallback=None, answer_by=None, generation=None):
        self.query.append(question)
        text = question.split("\n")[-1].upper()
        yield from text
        return Answer(text, 0.0)

    def answers(self, questions, *how):
        return [Answer("".join(self.stream(question, *how)), 0.0) for question in questions if question] or [
            Answer("", 0.0)
        ]

    def candidates(self, questions, generation):
        return [self.answers([question]) * generation.num_return for question in questions]

    def matches(self, questions, generation=None):
        return [[] for _ in questions]

    def way(self, answer_by, *_):
        return answer_by or "generate"

    def retrieves(self, near, way):
        return False

    def has_only_unknown(self, text):
        return bool(text) and not KNOWN & set(text)

    def unknown(self, text):
        return list(text)


@pytest.fixture
def options():
    parser = argparse.ArgumentParser()
    add_strategy_options(parser)
    add_fallback_options(parser)
    add_answer_by_option(parser)
    add_cite_option(parser)
    return parser.parse_args([])


@pytest.mark.parametrize(
    ("turns", "query"),
    [
        (1, ["a", "b", "c", "d"]),
        (2, ["a", "A\nb", "B\nc", "C\nd"]),
        (4, ["a", "a\nA\nb", "A\nb\nB\nc", "B\nc\nC\nd"]),
    ],
)
def test_so_many_turns_are_read(options, turns, query, capsys):
    conversation = Conversation(Bot(turns), options)
    for line in "abcd":
        conversation.hear(line)
    assert conversation.bot.query == query
    assert capsys.readouterr().out == "A\nB\nC\nD\n"


def test_again_asks_as_before_and_forget_forgets(options):
    conversation = Conversation(Bot(3), options)
    for line in ("a", "b", "/again", "c", "/forget", "d", "/again"):
        conversation.hear(line)
    assert conversation.bot.query == ["a", "a\nA\nb", "a\nA\nb", "b\nB\nc", "d", "d"]


def test_the_best_of_several_answers_is_the_turn(options):
    conversation = Conversation(Bot(2), options)
    for line in ("/sample", "/best 2", "a", "b"):
        conversation.hear(line)
    assert conversation.bot.query == ["a", "A\nb"]


def test_lines_are_one_conversation_and_a_blank_one_begins_another(options, monkeypatch, capsys):
    bot = Bot(3)
    monkeypatch.setattr(chat.Chatbot, "load", lambda run: bot)
    answer_lines("run", ["a", "b", "", "c", "?", "d"], options)
    assert bot.query == ["a", "a\nA\nb", "c", "?\n\nd"]
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["A", "B", "", "C", "I do not know any of these characters: ?", "D"]


@pytest.mark.parametrize("leaving", ["exit", " /quit ", "종료"])
def test_lines_end_where_the_user_leaves(options, monkeypatch, leaving):
    bot = Bot(3)
    monkeypatch.setattr(chat.Chatbot, "load", lambda run: bot)
    answer_lines("run", ["a", leaving, "b"], options)
    assert bot.query == ["a"]


class Store:
    """Keeps what it is taught; the first lesson finds the run locked."""

    def __init__(self):
        self.lessons = []

    def teach(self, question, answer):
        self.lessons.append((question, answer))
        if len(self.lessons) == 1:
            raise InputError("locked")
        return []


def test_the_line_after_wrong_is_the_right_answer_unless_it_is_empty_or_a_command(options, capsys):
    conversation = Conversation(Bot(1), options)
    conversation.bot.datastore = Store()
    for line in ("/wrong", "a", "/wrong", "x", "/wrong", "", "/wrong", "/why", "b", "/wrong", "y"):
        assert conversation.hear(line)
    right = "What is the right answer?"
    assert capsys.readouterr().out.splitlines() == [
        "No question was asked yet.", "A",
        right, "locked", right, "Nothing was taught.",
        right, "  generated; no similar question", "B", right, "Taught: b → y  (a new question)",
    ]  # fmt: skip
    assert conversation.bot.datastore.lessons == [("a", "x"), ("b", "y")]
    conversation.hear("/wrong")
    assert not conversation.hear("/quit")


def test_without_a_datastore_there_is_nothing_to_teach(options, capsys):
    conversation = Conversation(Bot(1), options)
    for line in ("a", "/wrong", "b", "/why"):
        conversation.hear(line)
    assert capsys.readouterr().out.splitlines() == [
        "A", chat.NO_DATASTORE, "B", "  generated; the run has no datastore",
    ]  # fmt: skip


def test_the_way_is_changed_and_what_says_how_to_generate_ends_it(options, capsys):
    conversation = Conversation(Bot(1), options)
    ways = []
    for line in ("/beam 4", "/by hybrid", "/sample 2", "/by retrieve", "/greedy", "/by generate", "/by"):
        conversation.hear(line)
        ways.append((conversation.options.answer_by, conversation.generation))
    assert ways == [
        (None, GenerationConfig(Beam(4))), ("hybrid", None), (None, GenerationConfig(Sampling(2.0))),
        ("retrieve", None), ("generate", None),
        ("generate", None), ("generate", None),
    ]  # fmt: skip
    assert capsys.readouterr().out.splitlines() == [
        "Generates answers by beam search with 4 beams from now on.",
        "Answers by hybrid from now on.",
        "Generates answers by sampling at temperature 2 from now on.",
        "  /by hybrid goes back to answers of the corpus.",
        "Answers by retrieve from now on.",
        "Generates answers by greedy decoding from now on.",
        "  /by retrieve goes back to answers of the corpus.",
        "Generates answers by greedy decoding from now on.",
        "/by: invalid value. /help shows how to use /by.",
    ]


def test_several_answers_to_each_question_are_said(options, capsys):
    Conversation(Bot(1), options).hear("/best 3")
    assert capsys.readouterr().out == (
        "Generates answers by beam search with 4 beams, 3 answers to each question from now on.\n"
    )


@pytest.mark.parametrize("word", ["/quit", "/exit", "exit", "quit", "종료"])
def test_a_word_leaves_unless_it_is_the_right_answer(options, word):
    conversation = Conversation(Bot(1), options)
    assert conversation.hear("a") and conversation.hear(f"{word} a")
    assert not conversation.hear(word)
    conversation.correcting, conversation.correct = True, lambda line: None
    assert conversation.hear(word) == (not word.startswith("/"))


def test_sources_are_shown_where_they_are_asked_for(options, monkeypatch, capsys):
    options.cite = True
    Conversation(Bot(1), options).hear("a")
    monkeypatch.setattr(chat.Chatbot, "load", lambda run: Bot(1))
    answer_lines("run", ["b", "", "?"], options)
    lines = capsys.readouterr().out.splitlines()
    cited = "  generated; the run has no datastore"
    assert lines == [
        "A",
        cited,
        "B",
        cited,
        "",
        "I do not know any of these characters: ?",
    ]


def test_a_far_fetched_answer_is_said_to_be_one(options, monkeypatch, capsys):
    def stream(question, **how):
        yield "오전 9시요."
        return Answer("오전 9시요.", None, (Match(Exchange("몇 시에 열어요?", "오전 9시요."), similarities.pop(0)),))

    similarities, bot = [0.49, 0.5, 0.49], Bot(1)
    monkeypatch.setattr(bot, "stream", stream)
    conversation = Conversation(bot, options)
    conversation.hear("a")
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "오전 9시요." and "“몇 시에 열어요?”" in shown[1] and "/wrong" in shown[1]
    conversation.hear("b")
    assert capsys.readouterr().out == "오전 9시요.\n"
    conversation.fallback = object()  # Which would have stood in its place, were it too far.
    conversation.hear("c")
    assert capsys.readouterr().out == "오전 9시요.\n"


def test_ctrl_c_ends_an_answer_whose_sources_can_be_asked_for(options, monkeypatch, capsys):
    def stream(question, **how):
        yield "오전"
        raise KeyboardInterrupt

    bot = Bot(1)
    bot.datastore = Store()
    monkeypatch.setattr(bot, "stream", stream)
    near = Match(Exchange("몇 시?", "오전 9시요.", "faq.csv", 3), 0.5)
    monkeypatch.setattr(bot, "matches", lambda questions, generation=None: [[near]])
    conversation = Conversation(bot, options)
    conversation.hear("a")
    conversation.hear("/why")
    assert capsys.readouterr().out.splitlines() == [
        "오전 …", "  generated; nearest:", "  [0.50] faq.csv, row 3: 몇 시?",
    ]  # fmt: skip


def test_only_an_answer_that_is_generated_waits_for_the_model(options):
    bot, known = Bot(1), [True, False, False]
    bot.retrieves = lambda near, way: known.pop(0)
    conversation = Conversation(bot, options, before_generating=lambda: bot.query.append("the model"))
    for line in ("a", "b", "/sample", "/best 2", "c"):
        conversation.hear(line)
    assert bot.query == ["a", "the model", "b", "the model", "c"]


class Loading:
    """A chatbot that logs what its warm-up does."""

    def __init__(self, error=None):
        self.error, self.log = error, []

    def load_model(self):
        self.log.append("loaded")
        if self.error:
            raise self.error

    def warm_up(self, stop, generation):
        self.log.append("stopped" if stop.wait(60) else "compiled")


def test_a_warm_up_is_stopped_before_an_answer_is_generated_and_resumed_after_it():
    bot = Loading()
    warm_up = WarmUp(bot)
    warm_up.pause()  # Before it has begun.
    warm_up.resume(None)
    warm_up.resume(None)  # It is at work.
    warm_up.pause()
    assert bot.log == ["loaded", "stopped"]
    warm_up.load()
    assert bot.log == ["loaded", "stopped"] * 2
    bot.warm_up = lambda stop, generation: bot.log.append("compiled")
    for _ in range(2):
        warm_up.resume(None)
        warm_up.thread.join()
    assert bot.log == [*["loaded", "stopped"] * 2, "loaded", "compiled", "loaded"]


def test_a_model_that_cannot_be_loaded_is_left_to_whoever_generates():
    bot = Loading(InputError("damaged"))
    warm_up = WarmUp(bot)
    warm_up.resume(None)
    warm_up.load()
    assert bot.log == ["loaded"] * 2
