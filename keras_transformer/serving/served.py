"""What a server answers with: a chatbot, or anything with its `n_best` and `stream`."""

import dataclasses

import numpy as np

from keras_transformer.attended import attend
from keras_transformer.decoding.generate import Task, generate, width_class
from keras_transformer.decoding.strategies import Greedy
from keras_transformer.errors import InputError
from keras_transformer.serving.limits import Refused


@dataclasses.dataclass(frozen=True)
class Settings:
    """How a question is to be answered. Equal settings share their compiled programs.

    Attributes:
        strategy: A strategy of decoding.
        num_return: Answers to a question.
        rules: Further settings of `generate`, sorted pairs of name and value.
        attention: Whether the attention weights are wanted.
    """

    strategy: object = dataclasses.field(default_factory=Greedy)
    num_return: int = 1
    rules: tuple = ()
    attention: bool = False

    @property
    def group(self):
        """What is equal where questions can be answered side by side; seeds are no part of the settings' equality."""
        return self, getattr(self.strategy, "seed", None)


class Served:
    """A chatbot as the server asks it. All but `accept` is called by one thread only.

    Args:
        bot: An object with `n_best(questions, num_return, strategy, **settings)` and
            `stream(question, strategy, **settings)`, a generator, like `Chatbot`.
        max_length: Tokens of an answer at most.
    """

    def __init__(self, bot, max_length):
        self.bot, self.max_length = bot, max_length
        self.accepted = {Settings()}

    def accept(self, settings, limit):
        """The settings as they will be asked.

        Args:
            settings: The `Settings` that a client wants.
            limit: How many different ones there may be.

        Raises:
            InputError: If they cannot be, or not together.
            Refused: If there are too many.
        """
        rules = dict(settings.rules)
        if rules.get("max_length", self.max_length) >= self.max_length:
            rules.pop("max_length", None)
        task = {"start_id": 0, "end_id": 0, "max_length": self.max_length, **rules}
        Task(**task, strategy=settings.strategy, num_return=settings.num_return)
        settings = dataclasses.replace(settings, rules=tuple(sorted(rules.items())))
        if settings not in self.accepted and len(self.accepted) >= limit:
            raise Refused(409, f"this server answers by {limit} different settings at most, and has met as many")
        self.accepted.add(settings)
        return settings

    def n_best(self, questions, settings):
        """For each question a pair: its answers with their scores, and their attention, None unless wanted."""
        if settings.attention:
            return [self.attended(question, settings) for question in questions]
        found = self.bot.n_best(questions, settings.num_return, settings.strategy, **dict(settings.rules))
        return [(answers, None) for answers in found]

    def attended(self, question, settings):
        """The same for one question, with attention."""
        raise InputError("this model does not tell its attention")

    def stream(self, question, settings):
        """The answer to a question in pieces, a generator."""
        return self.bot.stream(question, settings.strategy, **dict(settings.rules))

    def warm_up(self, stop, batch):
        """Prepares what will be asked most: greedy answers to up to `batch` questions; ends early if `stop` is set."""


class ServedRun(Served):
    """The same for the chatbot of a run folder.

    Args:
        bot: A `Chatbot`.
    """

    def __init__(self, bot):
        super().__init__(bot, bot.max_length - 1)

    def attended(self, question, settings):
        """As `Served` says; the attention is a dictionary, as `messages.Attention` describes it."""
        if not question.strip():
            return [("", 0.0)] * settings.num_return, None
        found = attend(self.bot, question, settings.strategy, settings.num_return, **dict(settings.rules))
        weights = np.round(found.cross.astype("float64"), 4).tolist()
        return found.answers, {"question": found.question, "answer": found.answer, "weights": weights}

    def warm_up(self, stop, batch):
        """Compiles the programs of every class of widths, for streams and for every class of rows."""
        self.bot.warm_up(stop)
        for width in sorted({width_class(length) for length in range(1, self.bot.max_length + 1)}):
            for rows in (1 << power for power in range((batch - 1).bit_length() + 1)):
                if stop.is_set():
                    return
                generate(self.bot.model, np.full((rows, width), self.bot.tokenizer.end_id), **self.bot.settings())


class ServedExport(Served):
    """The same for an exported folder, which answers in one way.

    Args:
        bot: An `Exported`.
    """

    def __init__(self, bot):
        super().__init__(bot, bot.max_length)

    def accept(self, settings, limit):
        """As `Served` says; only what says nothing is accepted."""
        settings = super().accept(settings, limit)
        if settings != Settings():
            raise InputError("this model answers in the way that it was exported for: leave all settings out")
        return settings

    def warm_up(self, stop, batch):
        """Asks as many questions at a time as there will be, so that what is compiled at a first question is."""
        for rows in (1 << power for power in range((batch - 1).bit_length() + 1)):
            if stop.is_set():
                return
            self.bot.n_best(["?"] * rows)
