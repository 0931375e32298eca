"""A chatbot that answers questions with a trained run.

Retrieving an answer needs neither the model nor Keras. Methods that generate load the one and import the other.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from keras_transformer.backend.tensorflow_import import silent_tensorflow
from keras_transformer.chat.answering import (
    GENERATE,
    HYBRID,
    NOTHING,
    RETRIEVE,
    TAUGHT_SIMILARITY,
    UNSURE,
    Answer,
    Answering,
    checked_way,
)
from keras_transformer.chat.confidence import Fallback, pieces_a_character
from keras_transformer.chat.datastore import Datastore, Match
from keras_transformer.decoding import ops
from keras_transformer.decoding.beam_search import Beam
from keras_transformer.decoding.config import AnswerTokens, GenerationConfig, Strategy, chosen_generation
from keras_transformer.decoding.phrases import Phrases
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.padding import pad
from keras_transformer.runs.run import Run
from keras_transformer.text.normalize import normalize
from keras_transformer.text.tokenizer import Tokenizer
from keras_transformer.text.turns import question_ids

if TYPE_CHECKING:
    import keras

    from keras_transformer.decoding.generate import Generation
    from keras_transformer.models.ensemble import Ensemble

SOURCES = 3  # Maximum number of matches per answer.
INSTEAD = 30  # Matches among which one with all required words and without a forbidden one is sought.
BATCH = 64  # Maximum number of questions per batch.
SECONDS_A_PIECE = 0.05  # Target time per piece of a stream; every piece has an overhead.
INCOMPLETE = "\ufffd"  # Incomplete bytes of a character decode to this.


class Chatbot:
    """A model with its tokenizers, which answers questions in text.

    The methods take `generation`, a `GenerationConfig`: strategy, lengths and constraints. Some also take `strategy`, a
    shortcut for `generation=GenerationConfig(strategy)`. With either, the answer is generated. Otherwise `answer_by`
    selects the way of answering; the default is that of the `fallback`, or else that of the run.

    A configuration that only forbids or requires words leaves the way of answering as it is: an exchange whose answer
    contains a forbidden word, or lacks a required one, is never retrieved. A similar enough exchange answers in its
    place, or else the model; where the run memorized its corpus, the nearest that is left.

    A run that memorized its corpus and retrieves does not generate an answer to a question that has nothing in common
    with a known one: the answer is empty. What it would generate is ungrammatical.

    Args:
        model: A trained `transformer()`, an `Ensemble` of several, or the `Run` to load the model from when the first
            answer is generated.
        tokenizer: The `Tokenizer` of the questions that the model was trained with.
        max_length: Maximum number of tokens of a question and of an answer, including start and end. Longer questions
            are truncated, because the model was not trained on them.
        target_tokenizer: The `Tokenizer` of the answers; None for the same.
        turns: Number of turns of a conversation that the model reads, one per line of a question; of more turns, the
            last ones.

    Attributes:
        datastore: The run's `Datastore`; None if it has none.
        answering: The run's `Answering`, its default way of answering.
        memorized: Whether the run memorized its whole corpus, such as a FAQ: it cannot answer much else.
    """

    def __init__(
        self, model: keras.Model | Ensemble | Run, tokenizer: Tokenizer, max_length: int,
        target_tokenizer: Tokenizer | None = None, turns: int = 1,
    ):  # fmt: skip
        self._model = model
        self.tokenizer, self.max_length, self.turns = tokenizer, max_length, turns
        self.target_tokenizer = target_tokenizer or tokenizer
        self.answer_tokens = AnswerTokens.of(self.target_tokenizer)
        self.datastore: Datastore | None = None
        self.answering, self.memorized = Answering(), False

    @classmethod
    def load(cls, run_dir: str | os.PathLike) -> Chatbot:
        """Loads the chatbot of a run folder; raises `InputError` if it cannot be read.

        The model with the best weights is loaded when the first answer is generated. A run that retrieves needs none as
        long as its training has not ended.
        """
        run = Run(run_dir)
        bot = cls.of_run(run)
        if run.summary() or bot.answering.way != RETRIEVE:
            run.check_weights()
        return bot

    @classmethod
    def of_run(cls, run: Run, model: keras.Model | None = None) -> Chatbot:
        """Returns the chatbot of a `Run`; raises `InputError` if the run cannot be read.

        Args:
            run: The `Run`.
            model: Its loaded model; None to load it when the first answer is generated.
        """
        bot = cls(model or run, run.tokenizer, run.config.max_length, run.target_tokenizer, run.config.turns)
        bot.memorized = not run.config.hold_out
        if Datastore.exists(run.path):
            bot.datastore, bot.answering = Datastore(run.path, run.id), Answering.of_run(run)
        return bot

    @classmethod
    def ensemble(cls, run_dirs: Sequence[str | os.PathLike]) -> Chatbot:
        """Loads several runs that generate every answer together, by the mean of their probabilities (see `Ensemble`).

        The limits are those of the first run. The ensemble has no datastore.

        Raises:
            InputError: If a run cannot be read, or has another tokenizer than the first.
        """
        first, *others = runs = [Run(run_dir) for run_dir in run_dirs]
        for run in others:
            if models_of(run.tokenizers) != models_of(first.tokenizers):
                raise InputError(
                    _(
                        "{run}: has another tokenizer than {first}; runs that answer together are trained on the same "
                        "corpus with different seeds, or with --tokenizer-file",
                        run=run.path,
                        first=first.path,
                    )
                )
        with silent_tensorflow():
            from keras_transformer.models.ensemble import Ensemble
        model = Ensemble([run.load_model() for run in runs])
        return cls(model, first.tokenizer, first.config.max_length, first.target_tokenizer, first.config.turns)

    @property
    def model(self) -> keras.Model | Ensemble:
        """The model. Loading it raises `InputError` if its weights are damaged."""
        self.load_model()
        return self._model

    def load_model(self) -> None:
        """Loads the model now, unless it is loaded, so that the first generated answer does not have to wait for it."""
        if isinstance(self._model, Run):
            self._model = self._model.load_model()

    def reply(
        self,
        question: str,
        strategy: Strategy | None = None,
        fallback: Fallback | None = None,
        answer_by: str | None = None,
        generation: GenerationConfig | None = None,
    ) -> str:
        """Returns the answer to one question; "" for a blank question. Arguments are those of `replies`."""
        return self.replies([question], strategy, fallback, answer_by, generation)[0]

    def replies(
        self,
        questions: Sequence[str],
        strategy: Strategy | None = None,
        fallback: Fallback | None = None,
        answer_by: str | None = None,
        generation: GenerationConfig | None = None,
    ) -> list[str]:
        """Returns the answers to many questions, in their order. Questions are batched by length.

        Args:
            questions: The questions, a list of texts.
            strategy: The decoding strategy, short for `generation=GenerationConfig(strategy)`.
            fallback: A `Fallback`, which replaces answers of low confidence; None to return all answers.
            answer_by: "generate", "retrieve" or "hybrid"; None for the run's default.
            generation: The `GenerationConfig`. If it asks for several answers, the first is returned.

        Returns:
            A list of texts.

        Raises:
            InputError: If both `strategy` and `generation` are given, or the arguments conflict.
        """
        answers = self.answers(questions, fallback, answer_by, chosen_generation(strategy, generation))
        if not fallback:
            return [answer.text for answer in answers]
        pieces = self.pieces(questions)
        return [fallback.apply(*one) for one in zip(answers, pieces)]

    def answers(
        self,
        questions: Sequence[str],
        fallback: Fallback | None = None,
        answer_by: str | None = None,
        generation: GenerationConfig | None = None,
    ) -> list[Answer]:
        """Returns an `Answer` with score and sources to each question, as `replies` but without the fallback text."""
        way = self.way(answer_by, fallback, generation)
        matches = self.matches(questions, generation)
        answers = {number: retrieved(near) for number, near in enumerate(matches) if self.retrieves(near, way)}
        if self.memorized and way != GENERATE:
            unlike_any = (number for number, near in enumerate(matches) if not near and questions[number].strip())
            answers |= dict.fromkeys(unlike_any, NOTHING)
        rest = [number for number in range(len(matches)) if number not in answers]
        one = (generation or GenerationConfig()).of_one_answer()
        for number, [(text, score)] in zip(rest, self.n_best([questions[number] for number in rest], one)):
            answers[number] = Answer(text, score, tuple(matches[number]))
        return [answers[number] for number in range(len(matches))]

    def candidates(self, questions: Sequence[str], generation: GenerationConfig | None = None) -> list[list[Answer]]:
        """Returns the result of `n_best` as a list of `Answer`s to each question, with the nearest exchanges."""
        pairs = zip(self.n_best(questions, generation), self.matches(questions, generation))
        return [[Answer(*one, tuple(near)) for one in answers] for answers, near in pairs]

    def matches(self, questions: Sequence[str], generation: GenerationConfig | None = None) -> list[list[Match]]:
        """Returns the nearest `Match`es of each question; empty without a datastore, or for a blank question.

        Those whose answers contain a forbidden word of the `GenerationConfig`, or lack a required one, are left out.
        """
        of_words = generation is not None and bool(generation.forbidden or generation.required)
        rows = [row for row, question in enumerate(questions) if question.strip()]
        if self.datastore is None or not rows:
            return [[] for _ in questions]
        matches = self.datastore.nearest([questions[row] for row in rows], INSTEAD if of_words else SOURCES)
        if of_words:
            fits = fitting(generation)
            matches = [allowed(near, fits, self.memorized)[:SOURCES] for near in matches]
        nearest = dict(zip(rows, matches))
        return [nearest.get(row, []) for row in range(len(questions))]

    def way(
        self,
        answer_by: str | None = None,
        fallback: Fallback | None = None,
        generation: GenerationConfig | None = None,
    ) -> str:
        """Returns the way of answering for these arguments; raises `InputError` if they conflict."""
        calibrated = fallback.answer_by if fallback else None
        decoding = generation is not None and not generation.only_words
        if generation and generation.required:  # What is wrong with them shows before the first answer.
            self.config_of(generation).constraints_for(self.answer_tokens)
        way = checked_way(answer_by or (GENERATE if decoding else calibrated or self.answering.way))
        if calibrated not in (None, way):
            raise InputError(
                _(
                    "the run was calibrated for answers by {calibrated}, not by {way}: calibrate it again",
                    calibrated=calibrated,
                    way=way,
                )
            )
        if way != GENERATE and decoding:
            raise InputError(_("answers by {way}: leave out the decoding settings, or answer by generate", way=way))
        if way != GENERATE and self.datastore is None:
            raise InputError(
                _("this run has no datastore to {way} from: train it again, or answer by generate", way=way)
            )
        return way

    def retrieves(self, near: Sequence[Match], way: str) -> bool:
        """Returns whether the nearest match answers; a taught exchange that is near does in every way of answering."""
        if not near:
            return False
        if near[0].exchange.taught and near[0].similarity >= TAUGHT_SIMILARITY:
            return True
        return way != GENERATE and (way != HYBRID or near[0].similarity >= self.answering.similarity)

    def n_best(
        self, questions: Sequence[str], generation: GenerationConfig | None = None
    ) -> list[list[tuple[str, float]]]:
        """Generates one or several answers to each of many questions.

        Args:
            questions: The questions, a list of texts.
            generation: The `GenerationConfig`, with the number of answers; None for one answer by greedy decoding.

        Returns:
            For each question, a list of pairs of the answer and its log-probability in nats, summed over its tokens.
            The answers of a beam search are sorted, best first. Answers to a blank question are ("", 0.0), as are
            missing ones where beam search finds fewer.
        """
        config = self.config_of(generation)
        ids = self.ids_of(questions)
        order = sorted((i for i, row in enumerate(ids) if row), key=lambda i: len(ids[i]))
        answers = [[("", 0.0)] * config.num_return for _ in ids]
        rows_per_question = config.strategy.num_beams if isinstance(config.strategy, Beam) else config.num_return
        batch = max(1, BATCH // rows_per_question)
        for first in range(0, len(order), batch):
            rows = order[first : first + batch]
            generated = self.generate(pad([ids[i] for i in rows]), config)
            texts = iter(self.target_tokenizer.decode(generated.ids.reshape(len(rows) * config.num_return, -1)))
            for i, scores in zip(rows, generated.scores.reshape(len(rows), config.num_return)):
                answers[i] = [(next(texts), float(score)) for score in scores]
        return answers

    def stream(
        self,
        question: str,
        strategy: Strategy | None = None,
        fallback: Fallback | None = None,
        answer_by: str | None = None,
        generation: GenerationConfig | None = None,
    ) -> Generator[str, None, Answer]:
        """Streams the answer to one question while it is generated. Arguments are those of `replies`.

        The answer comes in one piece if it is retrieved, found by beam search, or subject to a `Fallback`, which
        judges whole answers.

        Yields:
            Pieces of text, in whole characters, that join to the answer.

        Returns:
            At the end (`answer = yield from bot.stream(…)`), the `Answer` of the model, even where the `Fallback`
            replaced it.
        """
        generation = chosen_generation(strategy, generation)
        way = self.way(answer_by, fallback, generation)
        if fallback and fallback.by_similarity:
            [answer] = self.answers([question], answer_by=way, generation=generation)
            yield from filter(None, [fallback.apply(answer, *self.pieces([question]))])
            return answer
        [near] = self.matches([question], generation)
        if self.retrieves(near, way):
            yield near[0].exchange.answer
            return retrieved(near)
        if self.memorized and way != GENERATE and not near and question.strip():
            return NOTHING
        config = self.config_of(generation).of_one_answer()
        if isinstance(config.strategy, Beam):
            [[(text, score)]] = self.n_best([question], config)
            reply = fallback.instead_of(text, score, *self.pieces([question])) if fallback else text
            yield from filter(None, [reply])
            return Answer(text, score, tuple(near))
        if not (ids := self.ids_of([question])[0]):
            return Answer("", 0.0)
        state, advance = generating().begin(self.model, np.array([ids], "int32"), config, self.answer_tokens)
        longest = config.max_length or self.max_length - 1
        shown, text, length, step, ended = "", "", 0, longest if fallback else 1, False
        while not ended:
            start = time.perf_counter()
            length = min(length + step, longest)
            state = advance(state, length)
            ids, ended = (ops.convert_to_numpy(state[name])[0] for name in ("ids", "ended"))
            ended = ended or length == longest
            step = max(1, int(step * SECONDS_A_PIECE / (time.perf_counter() - start)))
            text = reply = self.target_tokenizer.decode(ids.tolist())
            if fallback:
                reply = fallback.instead_of(text, float(state["scores"][0]), *self.pieces([question]))
            whole = reply if ended else self.settled(reply)
            if len(whole) > len(shown):
                yield whole[len(shown) :]
                shown = whole
        return Answer(text, float(state["scores"][0]), tuple(near))

    def warm_up(self, stop: threading.Event, generation: GenerationConfig | None = None) -> None:
        """Compiles the programs of `stream`, or of `n_best` for one question, for every length bucket.

        Args:
            stop: A `threading.Event` that stops the warm-up before the next bucket.
            generation: The `GenerationConfig` of the questions to come.
        """
        config = self.config_of(generation)
        for width in sorted({generating().bucket_length(length) for length in range(1, self.max_length + 1)}):
            if stop.is_set():
                return
            question = np.full((1, width), self.tokenizer.end_id, "int32")
            if config.num_return > 1 or isinstance(config.strategy, Beam):
                self.generate(question, config)
                continue
            state, advance = generating().begin(self.model, question, config, self.answer_tokens)
            advance(state, 1)

    def ids_of(self, questions: Sequence[str]) -> list[list[int]]:
        """Returns the encoder input of each question: start, pieces, end; empty for a blank question."""
        rows = question_ids(self.tokenizer, questions, self.turns, self.max_length)
        cut = ([*row[: self.max_length - 1], row[-1]] if len(row) > self.max_length else row for row in rows)
        return [row if question.strip() else [] for question, row in zip(questions, cut)]

    def pieces(self, questions: Sequence[str]) -> list[float]:
        """Returns the number of pieces per character of each question, which a `Fallback` judges."""
        return [pieces_a_character(*both) for both in zip(questions, self.ids_of(questions))]

    def settled(self, text: str) -> str:
        """Returns the prefix of an unfinished answer that further tokens cannot change."""
        whole = text.rstrip(INCOMPLETE)
        return whole[:-1] if self.target_tokenizer.vocabulary.may_change(whole) else whole

    def generate(
        self, inputs: np.ndarray, generation: GenerationConfig | None = None, return_attention: bool = False
    ) -> Generation:
        """Generates answers to encoder inputs, the rows of `ids_of` padded with 0; see `decoding.generate`."""
        config = self.config_of(generation)
        return generating().generate_answers(self.model, inputs, config, self.answer_tokens, return_attention)

    def config_of(self, generation: GenerationConfig | None) -> GenerationConfig:
        """Returns the configuration with the maximum length filled in; None for the default."""
        return (generation or GenerationConfig()).limited_to(self.max_length - 1)


def models_of(tokenizers):
    """Returns the file contents of a dictionary of tokenizers, which are equal for equal tokenizers."""
    return {name: tokenizer.model for name, tokenizer in tokenizers.items()}


def generating():
    """Returns the module `decoding.generate`, which imports Keras."""
    with silent_tensorflow():
        from keras_transformer.decoding import generate
    return generate


def fitting(generation):
    """Returns a function of texts that tells whether one has all required words and no forbidden one."""
    forbidden, *required = (
        Phrases(map(normalize, words)) for words in (generation.forbidden, *([word] for word in generation.required))
    )
    return lambda text: not forbidden.occur_in(text) and all(word.occur_in(text) for word in required)


def allowed(near, fits, memorized=False):
    """Returns the matches whose answers fit, which a function of the answer decides.

    One that takes the place of the nearest is similar enough that its answer may well be right. A bot that memorized
    its corpus takes any: it is not sure of it, but what it would generate instead is ungrammatical.
    """
    left = [match for match in near if fits(match.exchange.answer)]
    if memorized or left[:1] == near[:1]:
        return left
    return [match for match in left if match.similarity >= UNSURE]


def retrieved(near):
    """Returns the `Answer` of the nearest match; its sources are the matches with this answer, then the others."""
    answer = near[0].exchange.answer
    return Answer(answer, None, tuple(sorted(near, key=lambda match: match.exchange.answer != answer)))
