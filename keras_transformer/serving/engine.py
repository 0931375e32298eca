"""What a server answers with: a chatbot, or anything with an export's `n_best` and `stream`."""

import dataclasses

import numpy as np

from keras_transformer.chat.answering import GENERATE, Answer
from keras_transformer.chat.attention_trace import trace_attention
from keras_transformer.decoding.config import GenerationConfig
from keras_transformer.decoding.generate import bucket_length, generate
from keras_transformer.decoding.samplers import Greedy
from keras_transformer.errors import InputError
from keras_transformer.serving.limits import RequestRejected


@dataclasses.dataclass(frozen=True)
class Settings:
    """How a question is to be answered. Equal settings share their compiled programs.

    Attributes:
        strategy: A strategy of decoding; None if nothing is said of it.
        num_return: Answers to a question.
        rules: Further settings of `generate`, sorted pairs of name and value.
        attention: Whether the attention weights are wanted.
        answer_by: "generate", "retrieve" or "hybrid"; None if nothing is said of it.
    """

    strategy: object = None
    num_return: int = 1
    rules: tuple = ()
    attention: bool = False
    answer_by: str | None = None

    @property
    def group(self):
        """What is equal where questions can be answered side by side; seeds are no part of the settings' equality."""
        return self, getattr(self.strategy, "seed", None)

    def answered_by(self, way):
        """The same with another way of answering."""
        return dataclasses.replace(self, answer_by=way)


class Served:
    """A chatbot as the server asks it. All but `accept` is called by one thread only.

    Args:
        bot: An object with `n_best(questions, num_return, strategy, **settings)` and
            `stream(question, strategy, **settings)`, a generator, like `Chatbot`.
        max_length: Tokens of an answer at most.
        way: How it answers: one of `WAYS`.
    """

    def __init__(self, bot, max_length, way=GENERATE):
        self.bot, self.max_length, self.way = bot, max_length, way
        self.accepted = {self.completed(Settings())}

    def accept(self, settings, limit):
        """The settings as they will be asked.

        Args:
            settings: The `Settings` that a client wants.
            limit: How many different ones there may be.

        Raises:
            InputError: If they cannot be, or not together.
            RequestRejected: If there are too many.
        """
        rules = dict(settings.rules)
        if rules.get("max_length", self.max_length) >= self.max_length:
            rules.pop("max_length", None)
        task = {"start_id": 0, "end_id": 0, "max_length": self.max_length, **rules}
        GenerationConfig(**task, strategy=settings.strategy, num_return=settings.num_return)
        settings = self.completed(dataclasses.replace(settings, rules=tuple(sorted(rules.items()))))
        if settings not in self.accepted and len(self.accepted) >= limit:
            raise RequestRejected(
                409, f"this server answers by {limit} different settings at most, and has met as many"
            )
        self.accepted.add(settings)
        return settings

    def completed(self, settings):
        """The settings with all that was not said filled in, so that those that mean the same are equal.

        Raises:
            InputError: If it cannot be answered so.
        """
        if settings.answer_by not in (None, self.way):
            raise InputError(f"this model answers by {self.way} only, not by {settings.answer_by}")
        strategy = None if settings.strategy == Greedy() else settings.strategy
        return dataclasses.replace(settings, strategy=strategy, answer_by=self.way)

    def n_best(self, questions, settings):
        """For each question a pair: its `Answer`s, and their attention, None unless wanted."""
        if settings.attention:
            return [self.attended(question, settings) for question in questions]
        return [(answers, None) for answers in self.answers(questions, settings)]

    def answers(self, questions, settings):
        """For each question its `Answer`s."""
        found = self.bot.n_best(questions, settings.num_return, settings.strategy, **dict(settings.rules))
        return [[Answer(text, score) for text, score in answers] for answers in found]

    def attended(self, question, settings):
        """The same for one question, with attention."""
        raise InputError("this model does not tell its attention")

    def stream(self, question, settings):
        """The answer to a question in pieces, and at the end the `Answer`, if the bot returns one: a generator."""
        answer = yield from self.bot.stream(question, settings.strategy, **self.how(settings))
        if answer is not None:
            yield answer

    def how(self, settings):
        """What a stream is told besides the question and the strategy, a dictionary."""
        return dict(settings.rules)

    def warm_up(self, stop, batch):
        """Prepares what will be asked most: greedy answers to up to `batch` questions; ends early if `stop` is set."""


class ServedRun(Served):
    """The same for the chatbot of a run folder.

    Args:
        bot: A `Chatbot`.
    """

    def __init__(self, bot):
        super().__init__(bot, bot.max_length - 1)

    def completed(self, settings):
        """As `Served` says; several answers and attention are those of generated answers."""
        if settings.strategy is not None or settings.num_return > 1 or settings.attention:
            given = {"strategy": settings.strategy or Greedy()}
        else:
            given = {}
        way = self.bot.way(settings.answer_by, settings={**given, **dict(settings.rules)})
        return super().completed(dataclasses.replace(settings, answer_by=GENERATE)).answered_by(way)

    def answers(self, questions, settings):
        """As `Served` says."""
        if settings.num_return > 1:
            return self.bot.candidates(questions, settings.num_return, settings.strategy, **dict(settings.rules))
        return [[answer] for answer in self.bot.answers(questions, settings.strategy, **self.how(settings))]

    def how(self, settings):
        """As `Served` says."""
        return {"answer_by": settings.answer_by, **dict(settings.rules)}

    def attended(self, question, settings):
        """As `Served` says; the attention is a dictionary, as `messages.Attention` describes it."""
        if not question.strip():
            return [Answer("", 0.0)] * settings.num_return, None
        found = trace_attention(self.bot, question, settings.strategy, settings.num_return, **dict(settings.rules))
        weights = np.round(found.cross.astype("float64"), 4).tolist()
        [near] = self.bot.matches([question])
        answers = [Answer(*one, tuple(near)) for one in found.answers]
        return answers, {"question": found.question, "answer": found.answer, "weights": weights}

    def warm_up(self, stop, batch):
        """Compiles the programs of every class of widths, for streams and for every class of rows."""
        self.bot.warm_up(stop)
        for width in sorted({bucket_length(length) for length in range(1, self.bot.max_length + 1)}):
            for rows in (1 << power for power in range((batch - 1).bit_length() + 1)):
                if stop.is_set():
                    return
                questions = np.full((rows, width), self.bot.tokenizer.end_id)
                generate(self.bot.model, questions, **self.bot.settings())


class ServedExport(Served):
    """The same for an exported folder, which answers in one way.

    Args:
        bot: An `Exported`.
    """

    def __init__(self, bot):
        super().__init__(bot, bot.max_length, bot.way)

    def accept(self, settings, limit):
        """As `Served` says; only what says nothing is accepted."""
        settings = super().accept(settings, limit)
        if settings != self.completed(Settings()):
            raise InputError("this model answers in the way that it was exported for: leave all settings out")
        return settings

    def warm_up(self, stop, batch):
        """Asks as many questions at a time as there will be, so that what is compiled at a first question is."""
        for rows in (1 << power for power in range((batch - 1).bit_length() + 1)):
            if stop.is_set():
                return
            self.bot.n_best(["?"] * rows)
