"""The conversation: a prompt on a terminal, or a line in and a line out."""

import argparse
import contextlib
import threading

from prompt_toolkit import PromptSession
from prompt_toolkit.history import InMemoryHistory

from keras_transformer.apps.fallback import fallback_asked
from keras_transformer.apps.strategy import DEFAULT_BEAMS, answers_wanted, in_words, strategy_settings
from keras_transformer.chatbot import Chatbot
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
  /help       this list                                이 도움말
  /quit       leave (or Ctrl-D, Ctrl-C)                나가기"""
GOODBYE = "Goodbye!  안녕히 가세요!"


class Conversation:
    """What is said on a terminal, and how it is answered.

    Args:
        bot: The `Chatbot`.
        options: The parsed options of `apps.strategy`, which the commands change, and of `apps.fallback`.
    """

    def __init__(self, bot, options):
        self.bot, self.options = bot, options
        self.settings = strategy_settings(options)
        self.fallback = fallback_asked(options, self.settings)
        self.said = []  # Questions and answers in turn.

    def hear(self, line):
        """Answers a question or follows a command; returns whether the conversation goes on."""
        command = line.split()[0] if line else ""
        if command == "/quit":
            return False
        if command == "/again" and self.said:
            *self.said, question, _ = self.said
            print(question)
            self.answer(question)
        elif command == "/again":
            print("Nothing was asked yet.")
        elif command == "/forget":
            self.said = []
        elif command == "/help":
            print(HELP)
        elif command.startswith("/"):
            self.follow(*line.split())
        elif line:
            self.answer(line)
        return True

    def follow(self, command, *values):
        """Changes how answers are chosen."""
        changes = {
            "/greedy": lambda: {"beam": None, "sample": False, "n_best": None},
            "/beam": lambda number=DEFAULT_BEAMS: {"beam": int(number), "sample": False},
            "/sample": lambda temperature=1: {"beam": None, "sample": True, "temperature": float(temperature)},
            "/best": lambda number: {"n_best": int(number)},
        }
        if command not in changes:
            print(f"There is no {command}; /help lists what there is.")
            return
        try:
            options = argparse.Namespace(**{**vars(self.options), **changes[command](*values)})
            settings = strategy_settings(options)
            self.fallback = fallback_asked(options, settings)
            self.settings, self.options = settings, options
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
        try:
            if unknown := unknown_only(self.bot, question):
                print(unknown)
            elif (wanted := answers_wanted(self.options)) > 1:
                answers = self.bot.n_best([asked], wanted, **self.settings)[0]
                reply = answers[0][0]
                for number, (answer, score) in enumerate(answers, 1):
                    print(f"{number}. {answer}  ({score:.2f})")
            else:
                for text in self.bot.stream(asked, fallback=self.fallback, **self.settings):
                    reply += text
                    print(text, end="", flush=True)
                print()
        except KeyboardInterrupt:
            print(" …")
        self.said += [question, reply]


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
    bot = conversation.bot
    for question in questions:
        unknown = unknown_only(bot, question)
        asked = conversation.after_the_turns_before(question) if question.strip() else ""
        answers = [(unknown, 0.0)] * wanted if unknown else bot.n_best([asked], wanted, **conversation.settings)[0]
        if conversation.fallback and not unknown:
            [(answer, score)], [pieces] = answers, bot.pieces([asked])
            answers = [(conversation.fallback.instead_of(answer, score, pieces), score)]
        reply = "" if unknown else answers[0][0]
        conversation.said = [*conversation.said, question, reply][-bot.turns :] if asked else []
        for answer, score in answers:
            print(in_words(answer, score, options), flush=True)


def unknown_only(bot, question):
    """An honest word if no character of the question was met in training, else nothing."""
    if not bot.tokenizer.knows_nothing_of(question):
        return ""
    unknown = " ".join(bot.tokenizer.unknown(question))
    return f"I never met any of these: {unknown}  (모두 처음 보는 글자예요)"
