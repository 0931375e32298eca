"""The conversation: a prompt on a terminal, or a line in and a line out."""

import argparse
import contextlib
import threading

from prompt_toolkit import PromptSession
from prompt_toolkit.history import InMemoryHistory

from keras_transformer.chat.answering import Answer
from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.cli.corrections import taught
from keras_transformer.cli.generation_options import (
    DEFAULT_BEAMS,
    GENERATE,
    OF_BEAMS,
    OF_SAMPLES,
    SETTINGS,
    answers_wanted,
    fallback_asked,
    in_words,
    source_lines,
    strategy_settings,
)
from keras_transformer.errors import InputError
from keras_transformer.text.turns import BETWEEN

HELP = """\
Type a question and press Enter.  질문을 입력하고 Enter를 누르세요.
  /again      answer the last question once more       마지막 질문에 다시 답하기
  /greedy     the likeliest token at every step        가장 그럴듯한 토큰만 고르기
  /beam 4     beam search with so many beams           빔 서치, 빔의 수
  /sample 1   draw tokens, at this temperature         확률대로 뽑기, 온도
  /best 3     so many answers to each question         질문마다 여러 답 보기
  /forget     begin a new conversation                 새 대화 시작하기
  /why        the known exchanges behind the answer    방금 한 답의 근거 보기
  /wrong      teach the right answer                   틀린 답 고쳐 주기
  /by hybrid  or retrieve, generate: how to answer     아는 답을 찾을지 지어낼지 고르기
  /help       this list                                이 도움말
  /quit       leave (or Ctrl-D, Ctrl-C)                나가기"""
GOODBYE = "Goodbye!  안녕히 가세요!"
UNSURE = """\
  Not sure: the nearest known question is “{question}”. /wrong teaches the right answer.
  확실하지 않습니다. 아는 질문 가운데 가장 비슷한 것으로 답했습니다. /wrong으로 고쳐 주세요."""
RIGHT = "What would be right?  어떤 답이 맞나요?"
CANCELLED = "Nothing was taught.  아무것도 가르치지 않았습니다."
NO_DATASTORE = "This run has no datastore to teach. Train it again.  데이터스토어가 없는 모델입니다. 다시 학습하세요."
NOTHING_GIVEN = {**dict.fromkeys(("beam", "n_best", *OF_BEAMS, *OF_SAMPLES, *SETTINGS)), "sample": False}


class Conversation:
    """What is said on a terminal, and how it is answered.

    Args:
        bot: The `Chatbot`.
        options: The parsed options of `apps.strategy` and `apps.answer_by`, which the commands change, and of
            `apps.fallback`.
    """

    def __init__(self, bot, options):
        self.bot, self.options = bot, options
        self.settings = strategy_settings(options)
        self.fallback = fallback_asked(options, self.settings)
        self.said = []  # Questions and answers in turn.
        self.last = None  # The last question, as it was asked, and its `Answer`.
        self.correcting = False  # Whether the next line is the right answer.

    def hear(self, line):
        """Answers a question or follows a command; returns whether the conversation goes on."""
        command = line.split()[0] if line else ""
        correcting, self.correcting = self.correcting, False
        if command == "/quit":
            return False
        if correcting and not command.startswith("/"):
            self.correct(line)
        elif command == "/again" and self.said:
            *self.said, question, _ = self.said
            print(question)
            self.answer(question)
        elif command in ("/again", "/why", "/wrong") and not self.last:
            print("Nothing was asked yet.  아직 질문이 없습니다.")
        elif command == "/why":
            print(*source_lines(self.last[1], self.bot.datastore is not None), sep="\n")
        elif command == "/wrong":
            self.correcting = self.bot.datastore is not None
            print(RIGHT if self.correcting else NO_DATASTORE)
        elif command == "/forget":
            self.said, self.last = [], None
        elif command == "/help":
            print(HELP)
        elif command.startswith("/"):
            self.follow(*line.split())
        elif line:
            self.answer(line)
        return True

    def correct(self, answer):
        """Teaches the right answer to the last question; an empty one cancels that."""
        if not answer:
            print(CANCELLED)
            return
        try:
            question = self.last[0]
            print(taught(question, answer, self.bot.datastore.teach(question, answer)))
        except InputError as error:
            print(error)

    def follow(self, command, *values):
        """Changes how answers are chosen."""
        changes = {
            "/greedy": lambda: {"beam": None, "sample": False, "n_best": None, "answer_by": GENERATE},
            "/beam": lambda number=DEFAULT_BEAMS: {"beam": int(number), "sample": False, "answer_by": None},
            "/sample": lambda temperature=1: {
                "beam": None, "sample": True, "temperature": float(temperature), "answer_by": None,
            },
            "/best": lambda number: {"n_best": int(number), "answer_by": None},
            "/by": lambda way: {"answer_by": way, **({} if way == GENERATE else NOTHING_GIVEN)},
        }  # fmt: skip
        if command not in changes:
            print(f"There is no {command}; /help lists what there is.")
            return
        try:
            options = argparse.Namespace(**{**vars(self.options), **changes[command](*values)})
            settings = strategy_settings(options)
            fallback = fallback_asked(options, settings)
            self.bot.way(options.answer_by, fallback=fallback, settings=settings_given(settings))
            self.settings, self.options, self.fallback = settings, options, fallback
        except InputError as error:
            print(error)
        except (TypeError, ValueError):
            print(f"{' '.join([command, *values])}: /help shows what stands behind {command}")

    def after_the_turns_before(self, question):
        """The question with what was said before it, as far as the chatbot reads that."""
        before = self.said[1 - self.bot.turns :] if self.bot.turns > 1 else []
        return BETWEEN.join([*before, question])

    def answer(self, question):
        """Prints an answer token by token, or several at once; Ctrl-C ends the answer, not the conversation."""
        asked, reply = self.after_the_turns_before(question), ""
        self.last = None
        try:
            if unknown := self.unknown_only(asked, question):
                print(unknown)
                self.last = asked, Answer("", 0.0)
            elif (wanted := answers_wanted(self.options)) > 1:
                [answers] = self.bot.candidates([asked], wanted, **self.settings)
                reply = answers[0].text
                for number, answer in enumerate(answers, 1):
                    print(f"{number}. {answer.text}  ({answer.score:.2f})")
                self.last = asked, answers[0]
                self.cite()
            else:
                for text in self.streamed(asked):
                    reply += text
                    print(text, end="", flush=True)
                print()
                self.doubt()
                self.cite()
        except KeyboardInterrupt:
            print(" …")
            self.last = asked, Answer(reply, 0.0, tuple(self.bot.matches([asked])[0]))
        self.said += [question, reply]

    def streamed(self, asked):
        """Yields the answer in pieces, and notes it as the last one."""
        how = {"fallback": self.fallback, "answer_by": self.options.answer_by, **self.settings}
        self.last = asked, (yield from self.bot.stream(asked, **how))

    def doubt(self):
        """Prints how to correct the last answer, if it was the nearest there is, and far."""
        answer = self.last[1]
        if answer.unsure and not self.fallback:
            print(UNSURE.format(question=" / ".join(answer.sources[0].exchange.question.splitlines())))

    def cite(self):
        """Prints what is behind the last answer, if the options ask for it."""
        if self.options.cite and self.last[0].strip():
            print(*source_lines(self.last[1], self.bot.datastore is not None), sep="\n")

    def unknown_only(self, asked, question):
        """An honest word if no character of the question was met in training and no such question is known, or ""."""
        if not self.bot.tokenizer.knows_nothing_of(question) or self.is_known(asked):
            return ""
        unknown = " ".join(self.bot.tokenizer.unknown(question))
        return f"I never met any of these: {unknown}  (모두 처음 보는 글자예요)"

    def is_known(self, asked):
        """Whether a known exchange answers the question."""
        [near] = self.bot.matches([asked])
        settings = settings_given(self.settings)
        return self.bot.retrieves(near, self.bot.way(self.options.answer_by, None, self.fallback, settings))


def settings_given(settings):
    """Those settings that say something."""
    return {name: value for name, value in settings.items() if value is not None}


class WarmUp:
    """Compiles what questions to come will need, while the user types."""

    def __init__(self):
        self.done = []

    def resume(self, conversation):
        """Goes on for the conversation as it is now."""
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(conversation,))
        self.thread.start()

    def run(self, conversation):
        """Compiles, once for each way of answering."""
        bot, settings, wanted = conversation.bot, conversation.settings, answers_wanted(conversation.options)
        if (settings, wanted) not in self.done:
            bot.warm_up(self.stop, wanted, **settings)
        if not self.stop.is_set():
            self.done.append((settings, wanted))

    def pause(self):
        """Stops as soon as the program at hand is compiled, which cannot be broken off."""
        self.stop.set()
        while self.thread.is_alive():
            with contextlib.suppress(KeyboardInterrupt):
                self.thread.join()


def talk(run_dir, options):
    """Chats on a terminal until the user leaves."""
    print(f"Loading {run_dir} …", flush=True)
    conversation, warm_up = Conversation(Chatbot.load(run_dir), options), WarmUp()
    print(f"{HELP}\n")
    prompt = PromptSession(history=InMemoryHistory())
    goes_on = True
    while goes_on:
        warm_up.resume(conversation)
        try:
            line = prompt.prompt("> ").strip()
        except (EOFError, KeyboardInterrupt):
            line = "/quit"
        finally:
            warm_up.pause()
        goes_on = conversation.hear(line)
    print(GOODBYE)


def answer_lines(run_dir, questions, options):
    """Prints one answer for each question as it comes, or several, and nothing else; a blank line begins anew."""
    conversation, wanted = Conversation(Chatbot.load(run_dir), options), answers_wanted(options)
    bot, fallback = conversation.bot, conversation.fallback
    how = {"fallback": fallback, "answer_by": options.answer_by, **conversation.settings}
    for question in questions:
        asked = conversation.after_the_turns_before(question) if question.strip() else ""
        unknown = conversation.unknown_only(asked, question)
        if unknown:
            answers = [Answer(unknown, 0.0)] * wanted
        elif wanted > 1:
            [answers] = bot.candidates([asked], wanted, **conversation.settings)
        else:
            answers = bot.answers([asked], **how)
        [pieces] = bot.pieces([asked]) if fallback else [0]
        reply = ""
        for answer in answers:
            said = fallback.said(answer, pieces) if fallback and not unknown else answer.text
            reply = reply or said
            print(in_words(said, answer.score, options), flush=True)
            if options.cite and asked and not unknown:
                print(*source_lines(answer, bot.datastore is not None), sep="\n", flush=True)
        conversation.said = [*conversation.said, question, "" if unknown else reply][-bot.turns :] if asked else []
