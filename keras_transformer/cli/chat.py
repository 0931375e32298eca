"""The chat prompt on a terminal, and its line-by-line mode for pipes."""

import argparse
import contextlib
import threading

from prompt_toolkit import PromptSession
from prompt_toolkit.history import InMemoryHistory

from keras_transformer.chat.answering import HYBRID, RETRIEVE, Answer
from keras_transformer.chat.chatbot import Chatbot, retrieved
from keras_transformer.cli.corrections import taught
from keras_transformer.cli.generation_options import (
    DEFAULT_BEAMS,
    GENERATE,
    OF_BEAMS,
    OF_SAMPLES,
    SETTINGS,
    fallback_asked,
    generation_config,
    in_words,
    source_lines,
)
from keras_transformer.decoding.beam_search import Beam
from keras_transformer.decoding.samplers import Greedy, Sampling
from keras_transformer.errors import InputError
from keras_transformer.language import translatable
from keras_transformer.language import translate as _
from keras_transformer.text.turns import BETWEEN

HELP = translatable(
    """\
Type a question and press Enter.
  /again      answer the last question once more
  /greedy     greedy decoding
  /beam 4     beam search, number of beams
  /sample 1   sampling, temperature
  /best 3     several answers to each question
  /forget     start a new conversation
  /why        show the sources of the last answer
  /wrong      correct the last answer
  /by hybrid  answer by hybrid, retrieve or generate
  /help       show this list
  /quit       leave (or exit, Ctrl-D, Ctrl-C)"""
)
LEAVING = "/quit", "/exit", "exit", "quit", "종료"
GOODBYE = translatable("Goodbye!")
UNSURE = translatable("  Not sure: the nearest known question is “{question}”. Use /wrong to correct the answer.")
SUGGESTIONS = translatable(
    "  I do not know that. Did you mean one of these? Type its number, or teach me the answer with /wrong."
)
RIGHT = translatable("What is the right answer?")
CANCELLED = translatable("Nothing was taught.")
NO_DATASTORE = translatable("This run has no datastore. Train it again.")
NOTHING_GIVEN = {**dict.fromkeys(("beam", "n_best", *OF_BEAMS, *OF_SAMPLES, *SETTINGS)), "sample": False}


class Conversation:
    """A conversation with a chatbot on a terminal.

    Args:
        bot: The `Chatbot`.
        options: The parsed options of `generation_options`. The commands change the strategy and the way of
            answering, but not the fallback.
    """

    def __init__(self, bot, options):
        self.bot, self.options = bot, options
        self.generation = generation_config(options)
        self.fallback = fallback_asked(options, self.generation)
        self.said = []  # Questions and answers, alternating.
        self.last = None  # The last question, with its preceding turns, and its `Answer`.
        self.correcting = False  # Whether the next line is a correction.
        self.suggested = []  # The questions that the next line may choose from by number.

    @property
    def num_return(self):
        """Number of answers to each question."""
        return self.generation.num_return if self.generation else 1

    def hear(self, line):
        """Answers a question or runs a command; returns False when the user quits."""
        command = line.split()[0] if line else ""
        correcting, self.correcting = self.correcting, False
        suggested, self.suggested = self.suggested, []
        if correcting and not command.startswith("/"):
            self.correct(line)
        elif line in LEAVING:
            return False
        elif line in map(str, range(1, len(suggested) + 1)):
            self.answer(suggested[int(line) - 1])
        elif command == "/again" and self.said:
            *self.said, question, _answer = self.said
            print(question)
            self.answer(question)
        elif command in ("/again", "/why", "/wrong") and not self.last:
            print(_("No question was asked yet."))
        elif command == "/why":
            print(*source_lines(self.last[1], self.bot.datastore is not None), sep="\n")
        elif command == "/wrong":
            self.correcting = self.bot.datastore is not None
            print(_(RIGHT if self.correcting else NO_DATASTORE))
        elif command == "/forget":
            self.said, self.last = [], None
        elif command == "/help":
            print(_(HELP))
        elif command.startswith("/"):
            self.follow(*line.split())
        elif line:
            self.answer(line)
        return True

    def correct(self, answer):
        """Teaches the right answer to the last question; an empty answer cancels the correction."""
        if not answer:
            print(_(CANCELLED))
            return
        try:
            question = self.last[0]
            print(taught(question, answer, self.bot.datastore.teach(question, answer)))
        except InputError as error:
            print(error)

    def follow(self, command, *values):
        """Runs a command that changes how answers are generated."""
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
            print(_("Unknown command: {command}. /help lists the commands.", command=command))
            return
        try:
            options = argparse.Namespace(**{**vars(self.options), **changes[command](*values)})
            generation = generation_config(options)
            fallback = fallback_asked(options, generation)
            way = self.bot.way(options.answer_by, fallback, generation)
            self.generation, self.options, self.fallback = generation, options, fallback
            print(changed_in_words(way, generation))
        except InputError as error:
            print(error)
        except (TypeError, ValueError):
            line = " ".join([command, *values])
            print(_("{line}: invalid value. /help shows how to use {command}.", line=line, command=command))

    def after_the_turns_before(self, question):
        """Returns the question, preceded by as many previous turns as the chatbot reads."""
        before = self.said[1 - self.bot.turns :] if self.bot.turns > 1 else []
        return BETWEEN.join([*before, question])

    def answer(self, question):
        """Streams an answer, or prints several at once. Ctrl-C stops the answer, not the conversation."""
        asked, reply = self.after_the_turns_before(question), ""
        self.last = None
        try:
            if unknown := self.unknown_only(asked, question):
                print(unknown)
                self.last = asked, Answer("", 0.0)
            elif near := self.suggestions(asked):
                self.last = asked, retrieved(near)
                self.suggested = list(dict.fromkeys(match.exchange.question for match in near))
                print(_(SUGGESTIONS), *(f"  {number}. {one}" for number, one in enumerate(self.suggested, 1)), sep="\n")
            elif self.num_return > 1:
                [answers] = self.bot.candidates([asked], self.generation)
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
        """Yields the answer in pieces of text, and stores it as the last one."""
        stream = self.bot.stream(
            asked, fallback=self.fallback, answer_by=self.options.answer_by, generation=self.generation
        )
        self.last = asked, (yield from stream)

    def suggestions(self, asked):
        """Returns the nearest `Match`es if a bot that memorized its corpus does not know the question, else []."""
        if not self.bot.memorized or self.fallback or self.num_return > 1:
            return []
        [near] = self.bot.matches([asked])
        way = self.bot.way(self.options.answer_by, self.fallback, self.generation)
        return near if self.bot.retrieves(near, way) and retrieved(near).unsure else []

    def doubt(self):
        """Prints how to correct the last answer, if it was retrieved with low similarity."""
        answer = self.last[1]
        if answer.unsure and not self.fallback:
            print(_(UNSURE, question=" / ".join(answer.sources[0].exchange.question.splitlines())))

    def cite(self):
        """Prints the sources of the last answer, if `--cite` was given."""
        if self.options.cite and self.last[0].strip():
            print(*source_lines(self.last[1], self.bot.datastore is not None), sep="\n")

    def unknown_only(self, asked, question):
        """Returns a message if all characters of the question are unknown and it cannot be retrieved, else ""."""
        if not self.bot.tokenizer.knows_nothing_of(question) or self.is_known(asked):
            return ""
        unknown = " ".join(self.bot.tokenizer.unknown(question))
        return _("I do not know any of these characters: {characters}", characters=unknown)

    def is_known(self, asked):
        """Returns whether the question is answered from the datastore."""
        [near] = self.bot.matches([asked])
        return self.bot.retrieves(near, self.bot.way(self.options.answer_by, self.fallback, self.generation))


def changed_in_words(way, generation):
    """Returns how the next questions are answered."""
    if way == RETRIEVE:
        return _("Answers by retrieve from now on.")
    if way == HYBRID:
        return _("Answers by hybrid from now on.")
    strategy = strategy_in_words(generation.strategy if generation else Greedy())
    several = generation.num_return if generation else 1
    if several > 1:
        return _(
            "Generates answers by {strategy}, {count} answers to each question from now on.",
            strategy=strategy,
            count=several,
        )
    return _("Generates answers by {strategy} from now on.", strategy=strategy)


def strategy_in_words(strategy):
    """Returns the name of a decoding strategy with its setting."""
    if isinstance(strategy, Beam):
        return _("beam search with {count} beams", count=strategy.num_beams)
    if isinstance(strategy, Sampling):
        return _("sampling at temperature {temperature:g}", temperature=strategy.temperature)
    return _("greedy decoding")


class WarmUp:
    """Compiles the programs for the next questions in the background, while the user types."""

    def __init__(self):
        self.done = []

    def resume(self, conversation):
        """Starts or resumes compilation for the conversation's current settings."""
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(conversation,))
        self.thread.start()

    def run(self, conversation):
        """Compiles the programs, once for each combination of settings."""
        generation = conversation.generation
        if generation not in self.done:
            conversation.bot.warm_up(self.stop, generation)
        if not self.stop.is_set():
            self.done.append(generation)

    def pause(self):
        """Stops after the current program; a compilation cannot be interrupted."""
        self.stop.set()
        while self.thread.is_alive():
            with contextlib.suppress(KeyboardInterrupt):
                self.thread.join()


def talk(run_dir, options):
    """Chats on a terminal until the user leaves."""
    print(_("Loading {run} …", run=run_dir), flush=True)
    conversation, warm_up = Conversation(Chatbot.load(run_dir), options), WarmUp()
    print(f"{_(HELP)}\n")
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
    print(_(GOODBYE))


def answer_lines(run_dir, questions, options):
    """Prints the answer or answers to each question as it arrives; a blank line starts a new conversation."""
    conversation = Conversation(Chatbot.load(run_dir), options)
    bot, fallback, generation = conversation.bot, conversation.fallback, conversation.generation
    for question in questions:
        asked = conversation.after_the_turns_before(question) if question.strip() else ""
        unknown = conversation.unknown_only(asked, question)
        if unknown:
            answers = [Answer(unknown, 0.0)] * conversation.num_return
        elif conversation.num_return > 1:
            [answers] = bot.candidates([asked], generation)
        else:
            answers = bot.answers([asked], fallback, options.answer_by, generation)
        [pieces] = bot.pieces([asked]) if fallback else [0]
        reply = ""
        for answer in answers:
            text = fallback.said(answer, pieces) if fallback and not unknown else answer.text
            reply = reply or text
            print(in_words(text, answer.score, options), flush=True)
            if options.cite and asked and not unknown:
                print(*source_lines(answer, bot.datastore is not None), sep="\n", flush=True)
        conversation.said = [*conversation.said, question, "" if unknown else reply][-bot.turns :] if asked else []
