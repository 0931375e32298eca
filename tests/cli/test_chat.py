"""The conversation on a terminal, typed by a program."""

import os
import shutil
import sys

import pytest

from keras_transformer import Chatbot
from keras_transformer.chat.answering import RETRIEVE, Answering
from keras_transformer.chat.confidence import Fallback
from keras_transformer.cli.chat import Conversation, answer_lines
from keras_transformer.cli.main import parser

pexpect = pytest.importorskip("pexpect", reason="pexpect is not installed (it does not run on Windows)")

BACKSPACE, CTRL_C, CTRL_D, UP = "\x7f", "\x03", "\x04", "\x1b[A"


@pytest.fixture
def run(small_run, tmp_path):
    """A run that a conversation may change."""
    return shutil.copytree(small_run, tmp_path / "run")


@pytest.fixture
def terminal(run):
    command = [sys.executable, "-m", "keras_transformer", "chat", str(run)]
    env = {**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
    child = pexpect.spawn(command[0], command[1:], encoding="utf-8", timeout=300, dimensions=(24, 80), env=env)
    child.expect("/quit")
    child.expect(">")
    yield child
    child.close(force=True)


def leaves_politely(child):
    child.expect("Goodbye!")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_a_conversation(terminal):
    terminal.send("잘 자x" + BACKSPACE + "\r")
    terminal.expect("좋은 꿈 꾸세요.")
    terminal.send("/again\r")
    terminal.expect("좋은 꿈 꾸세요.")
    terminal.send("hello\r")
    terminal.expect("Hi there!")
    terminal.send(UP + UP + UP + "\r")  # Back over "hello" and "/again".
    terminal.expect("좋은 꿈 꾸세요.")
    terminal.send("漢字\r")
    terminal.expect("I do not know any of these characters: 漢 字")
    terminal.send("/help\r")
    terminal.expect("/again      answer the last question once more")
    terminal.send("/sing\r")
    terminal.expect("Unknown command: /sing. /help lists the commands.")
    terminal.send("\r")
    terminal.send("bye\r")
    terminal.expect("See you soon!")
    terminal.send("/quit\r")
    leaves_politely(terminal)


@pytest.mark.slow  # Starts a program; the command is tested without one.
def test_a_wrong_answer_is_put_right(terminal):
    terminal.send("hello\r")
    terminal.expect("Hi there!")
    terminal.send("/why\r")
    terminal.expect(r"generated; nearest:\s+\[1\.00\] pair \d+: hello")
    terminal.send("/wrong\r")
    terminal.expect("What is the right answer")
    terminal.send("Howdy!\r")
    terminal.expect(r"Taught: hello → Howdy!  \(before: Hi there!\)")
    terminal.send("/again\r")
    terminal.expect("Howdy!")
    terminal.send("/by retrieve\r")
    terminal.send("/why\r")
    terminal.expect(r"\[1\.00\] corrections.jsonl, row 1: hello")
    terminal.send("/quit\r")
    leaves_politely(terminal)


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D])
@pytest.mark.slow  # Starts a program, as the conversation above.
def test_leaving_by_a_key(terminal, key):
    terminal.send(key)
    leaves_politely(terminal)


@pytest.mark.slow  # Starts a program.
def test_the_way_of_answering_can_be_changed(terminal):
    terminal.send("/beam 3\r")
    terminal.send("잘 자\r")
    terminal.expect("좋은 꿈 꾸세요.")
    terminal.send("/best 2\r")
    terminal.send("hello\r")
    terminal.expect(r"1\. Hi there!  \(-0\.\d\d\)")
    terminal.expect(r"2\. .*\(-\d")
    terminal.send("/best 5\r")
    terminal.expect("3 beams cannot find 5 answers: take more beams")
    terminal.send("/greedy\r")
    terminal.send("/sample 0.01\r")
    terminal.send("bye\r")
    terminal.expect("See you soon!")
    terminal.send("/sample hot\r")
    terminal.expect("/sample hot: invalid value. /help shows how to use /sample.")
    terminal.send("/best\r")
    terminal.expect("/best: invalid value. /help shows how to use /best.")
    terminal.send("/quit\r")
    leaves_politely(terminal)


@pytest.fixture
def memorized(small_run):
    """A conversation with a bot that memorized its corpus and retrieves from it."""
    bot = Chatbot.load(small_run)
    bot.memorized, bot.answering = True, Answering(RETRIEVE)
    return Conversation(bot, parser().parse_args(["chat", str(small_run)]))


def test_a_memorized_corpus_suggests_questions_where_it_does_not_know_the_answer(memorized, capsys):
    memorized.hear("which book shall I read")
    shown = capsys.readouterr().out
    assert "I am not sure" in shown and "\n  1. " in shown
    [answer, *_] = [match.exchange.answer for match in memorized.last[1].sources]
    assert answer not in shown
    memorized.hear("1")
    assert capsys.readouterr().out == f"{answer}\n"
    memorized.hear("1")  # Nothing is suggested any more: it is a question.
    assert capsys.readouterr().out != f"{answer}\n"


def test_a_pipe_is_told_too_what_is_not_known_or_not_sure(memorized, monkeypatch, capsys):
    monkeypatch.setattr(Chatbot, "load", lambda path: memorized.bot)
    answer_lines("run", ["which book shall I read", "잘 자"], memorized.options)
    first, *suggested, last = capsys.readouterr().out.splitlines()
    assert first == "  I am not sure. Did you mean one of these?"
    assert suggested and all(line.startswith("  - ") for line in suggested)
    assert last == "좋은 꿈 꾸세요."
    memorized.bot.memorized = False
    answer_lines("run", ["which book shall I read"], memorized.options)
    answer, hint = capsys.readouterr().out.splitlines()
    assert not answer.startswith(" ")
    assert hint == f"  Not sure: the nearest known question is “{suggested[0].removeprefix('  - ')}”."


def test_a_command_in_a_pipe_is_not_taken_for_a_question(memorized, monkeypatch, capsys):
    monkeypatch.setattr(Chatbot, "load", lambda path: memorized.bot)
    answer_lines("run", ["잘 자", "/why", "/by retrieve"], memorized.options)
    assert capsys.readouterr().out.splitlines() == [
        "좋은 꿈 꾸세요.",
        "  /why is for a conversation on a terminal.",
        "  /by is for a conversation on a terminal.",
    ]


def test_the_way_back_from_generated_answers_is_named(memorized, capsys):
    memorized.hear("/beam 3")
    assert capsys.readouterr().out.splitlines() == [
        "Generates answers by beam search with 3 beams from now on.",
        "  /by retrieve goes back to answers of the corpus.",
    ]
    memorized.hear("/greedy")
    assert capsys.readouterr().out == "Generates answers by greedy decoding from now on.\n"
    memorized.hear("/by retrieve")
    assert capsys.readouterr().out == "Answers by retrieve from now on.\n"


def test_a_korean_question_that_is_not_known_is_told_so_in_korean_whatever_the_locale(memorized, monkeypatch, capsys):
    monkeypatch.setattr(Chatbot, "load", lambda path: memorized.bot)
    answer_lines("run", ["세고 자워", "which book shall I read"], memorized.options)
    told = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("  - ")]
    assert told == [
        "  확실하지 않습니다. 혹시 이 가운데 하나인가요?",
        "  I am not sure. Did you mean one of these?",
    ]
    memorized.hear("세고 자워")
    assert capsys.readouterr().out.startswith("  확실하지 않습니다.")
    memorized.hear("/wrong")  # A command speaks the language of the program.
    assert capsys.readouterr().out == "What is the right answer?\n"


def test_a_memorized_corpus_is_greeted_as_anybody_is(memorized, monkeypatch, capsys):
    """Its own exchanges come first: "hello" and "안녕하세요" are among them, "who are you" is not."""
    memorized.hear("hello!")
    assert capsys.readouterr().out == "Hi there!\n"
    memorized.hear("Who are you?")
    first, *examples = capsys.readouterr().out.splitlines()
    assert first == "I am a bot that answers set questions, for example:"
    assert [line[:5] for line in examples] == ["  1. ", "  2. ", "  3. "]
    memorized.hear("漢字")  # Naming these characters would help nobody who asks a FAQ.
    first, *examples = capsys.readouterr().out.splitlines()
    assert first == "  I do not know that. You can ask me, for example (type a number):"
    assert [line[:5] for line in examples] == ["  1. ", "  2. ", "  3. "]
    monkeypatch.setattr(Chatbot, "load", lambda path: memorized.bot)
    answer_lines("run", ["who are you?", "hello!"], memorized.options)
    first, *examples, last = capsys.readouterr().out.splitlines()
    assert first == "I am a bot that answers set questions, for example:"
    assert len(examples) == 3 and all(line.startswith("  - ") for line in examples)
    assert last == "Hi there!"


def test_with_a_fallback_greetings_are_replied_to_and_nothing_is_suggested(memorized):
    memorized.fallback = Fallback("No idea.")
    assert memorized.guidance("Who are you?", "Who are you?").reply.startswith("I am a bot")
    assert memorized.guidance("漢字", "漢字") is None
    memorized.fallback = None
    assert not memorized.guidance("漢字", "漢字").reply


def test_a_memorized_corpus_answers_what_it_knows(memorized, capsys):
    for question in ("잘 자", "잘자"):
        memorized.hear(question)
        assert capsys.readouterr().out == "좋은 꿈 꾸세요.\n"
