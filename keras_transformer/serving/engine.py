"""The inference engine of the server: a chatbot, or an export with `n_best` and `stream`."""

from __future__ import annotations

import dataclasses

import numpy as np

from keras_transformer.chat.answering import GENERATE, RETRIEVE, Answer
from keras_transformer.chat.attention_trace import trace_attention
from keras_transformer.chat.chatbot import generating
from keras_transformer.chat.conversation import courteous_answer
from keras_transformer.decoding.config import GenerationConfig
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _

MAX_WEIGHTS = 500_000  # Maximum number of attention weights in a response, some 4 MB.


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings for answering a question. Equal settings share their compiled programs.

    Attributes:
        generation: The `GenerationConfig`; None for the default way of answering.
        attention: Whether to return attention weights.
        answer_by: "generate", "retrieve" or "hybrid"; None for the default.
    """

    generation: GenerationConfig | None = None
    attention: bool = False
    answer_by: str | None = None

    @property
    def num_return(self):
        """Number of answers to a question."""
        return self.generation.num_return if self.generation else 1

    @property
    def group(self):
        """The key for batching questions. It includes the seed, which equality of settings ignores."""
        strategy = self.generation.strategy if self.generation else None
        return self, getattr(strategy, "seed", None)


class Engine:
    """A chatbot as used by the server. All methods except `accept` are called by a single thread.

    Args:
        bot: An object with `n_best(questions, generation)` and `stream(question, generation=…)`, a generator, like
            `Chatbot`.
        max_length: Maximum number of tokens of an answer.
        way: Its way of answering, one of `WAYS`.
    """

    def __init__(self, bot, max_length, way=GENERATE):
        self.bot, self.max_length, self.way = bot, max_length, way

    def accept(self, settings, questions=1):
        """Validates the settings of a request and returns them completed.

        Args:
            settings: The `Settings` of the request.
            questions: Number of questions of the request.

        Raises:
            InputError: If the settings are invalid or conflict, or the response would be too large.
        """
        return self.completed(dataclasses.replace(settings, generation=self.cut(settings.generation)))

    def cut(self, generation):
        """Returns a `GenerationConfig` or None, with a maximum length of at most that of the model."""
        if generation is None or (generation.max_length or 0) <= self.max_length:
            return generation
        return dataclasses.replace(generation, max_length=self.max_length)

    def completed(self, settings):
        """Returns the settings with all defaults filled in, so that equivalent settings are equal.

        Raises:
            InputError: If the model does not support the settings.
        """
        if settings.answer_by not in (None, self.way):
            raise InputError(
                _("this model answers by {way} only, not by {answer_by}", way=self.way, answer_by=settings.answer_by)
            )
        generation = (settings.generation or GenerationConfig()).limited_to(self.max_length)
        return dataclasses.replace(settings, generation=generation, answer_by=self.way)

    def n_best(self, questions, settings):
        """Returns for each question a pair of its `Answer`s and their attention, which is None unless requested."""
        if settings.attention:
            return [self.answer_with_attention(question, settings) for question in questions]
        return [(answers, None) for answers in self.answers(questions, settings)]

    def answers(self, questions, settings):
        """Returns the `Answer`s to each question."""
        n_best = self.bot.n_best(questions, settings.generation)
        return [[Answer(text, score) for text, score in answers] for answers in n_best]

    def answer_with_attention(self, question, settings):
        """Returns the `Answer`s to one question and their attention."""
        raise InputError(_("this model does not support attention: leave it out"))

    def stream(self, question, settings):
        """Yields the answer to a question in pieces, and at the end the `Answer` if the bot returns one."""
        answer = yield from self.bot.stream(question, **self.how(settings))
        if answer is not None:
            yield answer

    def how(self, settings):
        """Returns the keyword arguments of a stream besides the question."""
        return {"generation": settings.generation}

    def warm_up(self, stop, batch):
        """Warms up the default settings for batches of up to `batch` questions; stops early if `stop` is set."""

    def limit_programs(self, number):
        """Limits the number of programs that are compiled after the warm-up."""


class RunEngine(Engine):
    """The engine for the chatbot of a run folder. It imports Keras only when an answer is generated.

    Args:
        bot: A `Chatbot`.
    """

    def __init__(self, bot):
        super().__init__(bot, bot.max_length - 1)
        self.most_programs = None

    def accept(self, settings, questions=1):
        """See `Engine`. The attention of one question is always returned, however large the model."""
        settings = super().accept(settings, questions)
        if settings.attention and questions > (most := self.most_attended(settings.generation.max_length)):
            raise InputError(_("attention is returned for at most {most} questions of this model at once", most=most))
        return settings

    def most_attended(self, max_length):
        """Returns the maximum number of questions whose attention one response may hold."""
        from keras_transformer.models.transformer import components_of

        decoder = components_of(self.bot.model).decoder.layers
        heads = sum(layer.cross_attention.num_heads for layer in decoder)
        return max(1, MAX_WEIGHTS // (heads * max_length * self.bot.max_length))

    def completed(self, settings):
        """See `Engine`. Requests for attention are answered by generation."""
        generation = settings.generation or (GenerationConfig() if settings.attention else None)
        way = self.bot.way(settings.answer_by, generation=generation)
        if way == GENERATE:
            generation = self.bot.config_of(generation)
        return dataclasses.replace(settings, generation=generation, answer_by=way)

    def answers(self, questions, settings):
        """See `Engine`. Courtesies are replied to without an answer of the model or the datastore."""
        if settings.num_return > 1:
            self.prepare(settings)
            return self.bot.candidates(questions, settings.generation)
        replies = [courteous(self.bot, question, settings) for question in questions]
        others = [question for question, reply in zip(questions, replies) if not reply]
        if others:
            self.prepare(settings)
        answers = iter(self.bot.answers(others, **self.how(settings)) if others else ())
        return [[reply or next(answers)] for reply in replies]

    def how(self, settings):
        """See `Engine`."""
        return {"answer_by": settings.answer_by, "generation": settings.generation}

    def answer_with_attention(self, question, settings):
        """See `Engine`. The attention is a dictionary with the fields of `schemas.Attention`."""
        if not question.strip():
            return [Answer("", 0.0)] * settings.num_return, None
        self.prepare(settings)
        trace = trace_attention(self.bot, question, settings.generation)
        weights = np.round(trace.cross.astype("float64"), 4).tolist()
        [near] = self.bot.matches([question], settings.generation)
        answers = [Answer(*one, tuple(near)) for one in trace.answers]
        return answers, {"question": trace.question, "answer": trace.answer, "weights": weights}

    def warm_up(self, stop, batch):
        """Compiles the programs for every length bucket: for streams, and for every batch size.

        A run that retrieves needs none, unless a request wants to generate: its program is compiled then.
        """
        if self.bot.way() == RETRIEVE:
            return
        self.bot.warm_up(stop)
        for width in sorted({generating().bucket_length(length) for length in range(1, self.bot.max_length + 1)}):
            for rows in (1 << power for power in range((batch - 1).bit_length() + 1)):
                if stop.is_set():
                    return
                questions = np.full((rows, width), self.bot.tokenizer.end_id)
                self.bot.generate(questions)

    def limit_programs(self, number):
        """See `Engine`. The limit applies from the first answer on that may be generated."""
        self.most_programs = number

    def stream(self, question, settings):
        """See `Engine`."""
        if reply := courteous(self.bot, question, settings):
            yield reply.text
            yield reply
            return
        self.prepare(settings)
        yield from super().stream(question, settings)

    def prepare(self, settings):
        """Limits the programs of the model, once, before an answer that may be generated."""
        retrieves = settings.answer_by == RETRIEVE and not settings.generation
        if retrieves or self.most_programs is None:
            return
        generating().limit_programs(self.bot.model, self.most_programs)
        self.most_programs = None


def courteous(bot, question, settings):
    """Returns `courteous_answer`, or None if the settings say how to decode."""
    return None if settings.generation else courteous_answer(bot, question, settings.answer_by)


class ExportEngine(Engine):
    """The engine for an export, which answers with fixed settings.

    Args:
        bot: An `Exported`.
    """

    def __init__(self, bot):
        super().__init__(bot, bot.max_length, bot.way)

    def accept(self, settings, questions=1):
        """See `Engine`. Only the default settings are accepted."""
        settings = super().accept(settings, questions)
        if settings != self.completed(Settings()):
            raise InputError(_("the settings of this model were fixed at export: leave all settings out"))
        return settings

    def warm_up(self, stop, batch):
        """Answers batches of every size, so that everything compiled on first use is compiled now."""
        for rows in (1 << power for power in range((batch - 1).bit_length() + 1)):
            if stop.is_set():
                return
            self.bot.n_best(["?"] * rows)
