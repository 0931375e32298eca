"""The chat prompt on a terminal, and its line-by-line mode for pipes."""

import argparse
import contextlib
import itertools
import re
import threading

from keras_transformer.chat.answering import HYBRID, RETRIEVE, Answer
from keras_transformer.chat.chatbot import Chatbot, retrieved
from keras_transformer.chat.conversation import (
    guidance,
    is_known,
    unknown_characters,
    with_previous_turns,
)
from keras_transformer.cli.console import echo
from keras_transformer.cli.corrections import taught
from keras_transformer.cli.generation_options import GENERATE, in_words, requested_fallback, source_lines
from keras_transformer.decoding.beam_search import Beam
from keras_transformer.decoding.options import DEFAULT_BEAMS, OF_BEAMS, OF_SAMPLES, SETTINGS, generation_config
from keras_transformer.decoding.samplers import Greedy, Sampling
from keras_transformer.errors import InputError
from keras_transformer.language import KOREAN, language_of_context, translatable
from keras_transformer.language import translate as _
from keras_transformer.text.turns import one_line

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
COMMANDS = re.findall(r"^ *(/\w+)", HELP, re.MULTILINE)
LEAVING = "/quit", "/exit", "exit", "quit", "종료"
GOODBYE = translatable("Goodbye!")
UNSURE = translatable("  Not sure: the nearest known question is “{question}”. Use /wrong to correct the answer.")
SUGGESTIONS = translatable(
    "  I am not sure. Did you mean one of these? Type its number, or teach me the answer with /wrong."
)
EXAMPLES = translatable("  I do not know that. You can ask me, for example (type a number):")
# The same without commands, for pipes.
UNSURE_ALONE = translatable("  Not sure: the nearest known question is “{question}”.")
SUGGESTIONS_ALONE = translatable("  I am not sure. Did you mean one of these?")
EXAMPLES_ALONE = translatable("  I do not know that. You can ask me, for example:")
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
        before_generating: Function that is called before an answer is generated.
    """

    def __init__(self, bot, options, before_generating=lambda: None):
        self.bot, self.options, self.before_generating = bot, options, before_generating
        self.generation = generation_config(options)
        self.fallback = requested_fallback(options, self.generation)
        self.history = []  # Questions and answers, alternating.
        self.last = None  # The last question, with its preceding turns, and its `Answer`.
        self.correcting = False  # Whether the next line is a correction.
        self.suggested = []  # The questions that the next line may choose from by number.

    @property
    def num_return(self):
        """Number of answers to each question."""
        return self.generation.num_return if self.generation else 1

    @property
    def way(self):
        """The way of answering, one of `WAYS`."""
        return self.bot.way(self.options.answer_by, self.fallback, self.generation)

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
        elif command == "/again" and self.history:
            *self.history, question, _answer = self.history
            echo(question)
            self.answer(question)
        elif command in ("/again", "/why", "/wrong") and not self.last:
            echo(_("No question was asked yet."))
        elif command == "/why":
            echo(*source_lines(self.last[1], self.bot.datastore is not None), sep="\n")
        elif command == "/wrong":
            self.correcting = self.bot.datastore is not None
            echo(_(RIGHT if self.correcting else NO_DATASTORE))
        elif command == "/forget":
            self.history, self.last = [], None
        elif command == "/help":
            echo(_(HELP))
        elif command.startswith("/"):
            self.follow(*line.split())
        elif line:
            self.answer(line)
        return True

    def correct(self, answer):
        """Teaches the right answer to the last question; an empty answer cancels the correction."""
        if not answer:
            echo(_(CANCELLED))
            return
        try:
            question = self.last[0]
            echo(taught(question, answer, self.bot.datastore.teach(question, answer)))
        except InputError as error:
            echo(error)

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
            echo(_("Unknown command: {command}. /help lists the commands.", command=command))
            return
        try:
            options = argparse.Namespace(**{**vars(self.options), **changes[command](*values)})
            generation = generation_config(options)
            fallback = requested_fallback(options, generation)
            before, way = self.way, self.bot.way(options.answer_by, fallback, generation)
            self.generation, self.options, self.fallback = generation, options, fallback
            echo(changed_in_words(way, generation))
            if way == GENERATE != before:
                echo(_("  /by {way} goes back to answers of the corpus.", way=before))
        except InputError as error:
            echo(error)
        except (TypeError, ValueError):
            line = " ".join([command, *values])
            echo(_("{line}: invalid value. /help shows how to use {command}.", line=line, command=command))

    def with_previous_turns(self, question):
        """Returns the question, preceded by as many previous turns as the chatbot reads."""
        return with_previous_turns(self.bot, self.history, question)

    def answer(self, question):
        """Answers a question; what it says of its own is in the language of the question."""
        with language_of_question(question):
            self.answer_in_its_language(question)

    def answer_in_its_language(self, question):
        """Streams an answer, or prints several at once. Ctrl-C stops the answer, not the conversation."""
        query, reply = self.with_previous_turns(question), ""
        self.last = None
        try:
            if guide := self.guidance(query, question):
                reply = guide.reply
                self.guide(query, guide, reply or _(SUGGESTIONS if guide.matches else EXAMPLES))
            elif unknown := self.unknown_only(query, question):
                echo(unknown)
                self.last = query, Answer("", 0.0)
            elif self.num_return > 1:
                self.before_generating()
                [answers] = self.bot.candidates([query], self.generation)
                reply = answers[0].text
                for number, answer in enumerate(answers, 1):
                    echo(f"{number}. {answer.text}  ({answer.score:.2f})")
                self.last = query, answers[0]
                self.cite()
            else:
                for text in self.streamed(query):
                    reply += text
                    echo(text, end="", flush=True)
                echo()
                self.doubt()
                self.cite()
        except KeyboardInterrupt:
            echo(" …")
            self.last = query, Answer(reply, 0.0, tuple(self.bot.matches([query], self.generation)[0]))
        self.history += [question, reply]

    def streamed(self, query):
        """Yields the answer in pieces of text, and stores it as the last one."""
        if not self.is_known(query):
            self.before_generating()
        stream = self.bot.stream(
            query, fallback=self.fallback, answer_by=self.options.answer_by, generation=self.generation
        )
        self.last = query, (yield from stream)

    def guide(self, query, guide, text):
        """Prints a `Guidance` with a text and numbered questions, of which the next line may choose one."""
        self.last = query, retrieved(guide.matches) if guide.matches else Answer("", 0.0)
        self.suggested = list(guide.questions)
        echo(text, *(f"  {number}. {one}" for number, one in enumerate(self.suggested, 1)), sep="\n")

    def guidance(self, query, question):
        """Returns the `Guidance` if a bot that memorized its corpus does not know the question, else None.

        With a fallback, which is what to say then, only greetings and the like are left.
        """
        if self.num_return > 1:
            return None
        guide = guidance(self.bot, query, question, self.way, self.generation)
        return guide if guide and (guide.reply or not self.fallback) else None

    def doubt(self):
        """Prints how to correct the last answer, if it was retrieved with low similarity."""
        if hint := self.hint(self.last[1], UNSURE):
            echo(hint)

    def hint(self, answer, unsure):
        """Returns the message `unsure` about an answer that was retrieved with low similarity, else ""."""
        if not (answer.unsure and answer.sources) or self.fallback:
            return ""
        return _(unsure, question=one_line(answer.sources[0].exchange.question))

    def cite(self):
        """Prints the sources of the last answer, if `--cite` was given."""
        if self.options.cite and self.last[0].strip():
            echo(*source_lines(self.last[1], self.bot.datastore is not None), sep="\n")

    def unknown_only(self, query, question):
        """Returns a message if all characters of the question are unknown and it cannot be retrieved, else ""."""
        if self.fallback and self.bot.memorized:  # It has an answer to everything.
            return ""
        unknown = unknown_characters(self.bot, query, question, self.way, self.generation)
        return _("I do not know any of these characters: {characters}", characters=" ".join(unknown)) if unknown else ""

    def is_known(self, query):
        """Returns whether the question is answered from the datastore."""
        return is_known(self.bot, query, self.way, self.generation)


def language_of_question(question):
    """Context manager that says in Korean what answers a question in Korean, whatever the locale is."""
    return language_of_context(KOREAN) if re.search("[가-힣ㄱ-ㅣ]", question) else contextlib.nullcontext()


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
    """Loads the model and compiles the programs for the next questions in the background.

    The user types meanwhile, and gets answers that are retrieved.

    Args:
        bot: The `Chatbot`.
    """

    def __init__(self, bot):
        self.bot, self.completed = bot, []
        self.stop, self.thread = threading.Event(), threading.Thread()

    def resume(self, generation):
        """Starts or resumes for a `GenerationConfig`, unless it is still at work."""
        if not self.thread.is_alive():
            self.stop.clear()
            self.start(generation)

    def start(self, generation):
        """Starts the thread."""
        self.thread = threading.Thread(target=self.run, args=(generation,))
        self.thread.start()

    def run(self, generation):
        """Loads the model, and compiles the programs, once for each combination of settings."""
        with contextlib.suppress(InputError):  # It is raised again where the answer is generated.
            self.bot.load_model()
            if generation not in self.completed:
                self.bot.warm_up(self.stop, generation)
            if not self.stop.is_set():
                self.completed.append(generation)

    def pause(self):
        """Stops after the current program; neither an import nor a compilation can be interrupted."""
        self.stop.set()
        while self.thread.is_alive():
            with contextlib.suppress(KeyboardInterrupt):
                self.thread.join()

    def load(self):
        """Stops, and returns when the model is loaded."""
        self.pause()
        self.start(None)  # In the thread, because an import that Ctrl-C has interrupted cannot be repeated.
        self.pause()


def talk(run_dir, options):
    """Chats on a terminal until the user leaves."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import InMemoryHistory

    echo(_("Loading {run} …", run=run_dir), flush=True)
    bot = Chatbot.load(run_dir)
    warm_up = WarmUp(bot)
    conversation = Conversation(bot, options, before_generating=warm_up.load)
    echo(f"{_(HELP)}\n")
    prompt = PromptSession(history=InMemoryHistory())
    running = True
    try:
        while running:
            if conversation.way != RETRIEVE:
                warm_up.resume(conversation.generation)
            try:
                line = prompt.prompt("> ").strip()
            except (EOFError, KeyboardInterrupt):
                line = "/quit"
            running = conversation.hear(line)
        echo(_(GOODBYE))
    finally:
        warm_up.pause()


def answer_lines(run_dir, questions, options):
    """Prints the answer or answers to each question as it arrives; a blank line starts a new conversation.

    It ends at a line such as `exit`, as on a terminal. Where it is not sure, it says so as on a terminal, in lines that
    begin with two spaces.
    """
    conversation = Conversation(Chatbot.load(run_dir), options)
    for question in itertools.takewhile(lambda line: line.strip() not in LEAVING, questions):
        with language_of_question(question):
            answer_line(conversation, question)


def answer_line(conversation, question):
    """Prints the answer or answers to a question of `answer_lines`."""
    bot, options = conversation.bot, conversation.options
    fallback, generation = conversation.fallback, conversation.generation
    query = conversation.with_previous_turns(question) if question.strip() else ""
    if (command := question.strip().partition(" ")[0]) in COMMANDS:
        echo(_("  {command} is for a conversation on a terminal.", command=command), flush=True)
        return
    if guide := conversation.guidance(query, question):
        text = guide.reply or _(SUGGESTIONS_ALONE if guide.matches else EXAMPLES_ALONE)
        echo(text, *(f"  - {one}" for one in guide.questions), sep="\n", flush=True)
        conversation.history = [*conversation.history, question, guide.reply][-bot.turns :]
        return
    if unknown := conversation.unknown_only(query, question):
        answers = [Answer(unknown, 0.0)] * conversation.num_return
    elif conversation.num_return > 1:
        [answers] = bot.candidates([query], generation)
    else:
        answers = bot.answers([query], fallback, options.answer_by, generation)
    [pieces] = bot.pieces([query]) if fallback else [0]
    reply = ""
    for answer in answers:
        text = fallback.apply(answer, pieces) if fallback and not unknown else answer.text
        reply = reply or text
        echo(in_words(text, answer.score, options), flush=True)
        if conversation.num_return == 1 and (hint := conversation.hint(answer, UNSURE_ALONE)):
            echo(hint, flush=True)
        if options.cite and query and not unknown:
            echo(*source_lines(answer, bot.datastore is not None), sep="\n", flush=True)
    turns = [*conversation.history, question, "" if unknown else reply]
    conversation.history = turns[-bot.turns :] if query else []
