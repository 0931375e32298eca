"""A chatbot that answers questions with a trained run."""

import os
import threading
import time
from collections.abc import Generator, Iterable, Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_transformer.chat.answering import GENERATE, HYBRID, TAUGHT_SIMILARITY, Answer, Answering, checked_way
from keras_transformer.chat.confidence import Fallback, pieces_a_character
from keras_transformer.chat.datastore import Datastore, Match
from keras_transformer.decoding.beam_search import Beam
from keras_transformer.decoding.config import GenerationConfig, Strategy
from keras_transformer.decoding.generate import begin, bucket_length, generate
from keras_transformer.errors import InputError
from keras_transformer.padding import pad
from keras_transformer.runs.run import Run
from keras_transformer.text.tokenizer import Tokenizer
from keras_transformer.text.turns import question_ids

SOURCES = 3  # Matches that an answer cites.
BATCH = 64  # Answers that are generated in a batch.
SECONDS_A_PIECE = 0.05  # Target time per piece of a stream; every piece has an overhead.
INCOMPLETE = "\ufffd"  # Incomplete bytes of a character decode to this.


class Chatbot:
    """A model with its tokenizers, which answers questions in text.

    The methods take `strategy` and further settings of `generate` by name: `min_length`, `max_length`,
    `repetition_penalty`, `no_repeat_ngram`, `forbidden_ids`. With any of these, the answer is generated. Otherwise
    `answer_by` selects the way of answering; the default is that of the `fallback`, or else that of the run.

    Args:
        model: A trained `transformer()`.
        tokenizer: The `Tokenizer` of the questions that the model was trained with.
        max_length: Maximum number of tokens of a question and of an answer, including start and end. Longer questions
            are truncated, because the model was not trained on them.
        target_tokenizer: The `Tokenizer` of the answers; None for the same.
        turns: Number of turns of a conversation that the model reads, one per line of a question; of more turns, the
            last ones.

    Attributes:
        datastore: The run's `Datastore`; None if it has none.
        answering: The run's `Answering`, its default way of answering.
    """

    def __init__(
        self, model: keras.Model, tokenizer: Tokenizer, max_length: int, target_tokenizer: Tokenizer | None = None,
        turns: int = 1,
    ):  # fmt: skip
        self.model, self.tokenizer, self.max_length, self.turns = model, tokenizer, max_length, turns
        self.target_tokenizer = target_tokenizer or tokenizer
        self.datastore: Datastore | None = None
        self.answering = Answering()

    @classmethod
    def load(cls, run_dir: str | os.PathLike) -> "Chatbot":
        """Loads the chatbot of a run folder with its best weights; raises `InputError` if it cannot be read."""
        run = Run(run_dir)
        return cls.of_run(run, run.load_model())

    @classmethod
    def of_run(cls, run: Run, model: keras.Model) -> "Chatbot":
        """Returns the chatbot of a `Run` with a loaded model; raises `InputError` if the run cannot be read."""
        bot = cls(model, run.tokenizer, run.config.max_length, run.target_tokenizer, run.config.turns)
        if Datastore.exists(run.path):
            bot.datastore, bot.answering = Datastore(run.path, run.id), Answering.load(run.path)
        return bot

    def reply(
        self, question: str, strategy: Strategy | None = None, fallback: Fallback | None = None,
        answer_by: str | None = None, **settings: Any,
    ) -> str:  # fmt: skip
        """Returns the answer to one question; "" for a blank question."""
        return self.replies([question], strategy, fallback, answer_by, **settings)[0]

    def replies(
        self, questions: Sequence[str], strategy: Strategy | None = None, fallback: Fallback | None = None,
        answer_by: str | None = None, **settings: Any,
    ) -> list[str]:  # fmt: skip
        """Returns the answers to many questions, in their order. Questions are batched by length.

        Args:
            questions: The questions, a list of texts.
            strategy: The decoding strategy, as in `generate`.
            fallback: A `Fallback`, which replaces answers of low confidence; None to return all answers.
            answer_by: "generate", "retrieve" or "hybrid"; None for the run's default.
            **settings: Further settings of `generate`.

        Returns:
            A list of texts.
        """
        answers = self.answers(questions, strategy, fallback, answer_by, **settings)
        if not fallback:
            return [answer.text for answer in answers]
        pieces = self.pieces(questions)
        return [fallback.said(*one) for one in zip(answers, pieces)]

    def answers(
        self, questions: Sequence[str], strategy: Strategy | None = None, fallback: Fallback | None = None,
        answer_by: str | None = None, **settings: Any,
    ) -> list[Answer]:  # fmt: skip
        """Returns an `Answer` with score and sources to each question, as `replies` but without the fallback text."""
        way = self.way(answer_by, strategy, fallback, settings)
        matches = self.matches(questions)
        answers = {number: retrieved(near) for number, near in enumerate(matches) if self.retrieves(near, way)}
        rest = [number for number in range(len(matches)) if number not in answers]
        generated = self.n_best([questions[number] for number in rest], 1, strategy, **settings)
        for number, [(text, score)] in zip(rest, generated):
            answers[number] = Answer(text, score, tuple(matches[number]))
        return [answers[number] for number in range(len(matches))]

    def candidates(
        self, questions: Sequence[str], num_return: int, strategy: Strategy | None = None, **settings: Any
    ) -> list[list[Answer]]:
        """Returns the result of `n_best` as a list of `Answer`s to each question, with the nearest exchanges."""
        pairs = zip(self.n_best(questions, num_return, strategy, **settings), self.matches(questions))
        return [[Answer(*one, tuple(near)) for one in answers] for answers, near in pairs]

    def matches(self, questions: Sequence[str]) -> list[list[Match]]:
        """Returns the nearest `Match`es of each question; empty without a datastore, or for a blank question."""
        rows = [row for row, question in enumerate(questions) if question.strip()]
        if self.datastore is None or not rows:
            return [[] for _ in questions]
        nearest = dict(zip(rows, self.datastore.nearest([questions[row] for row in rows], SOURCES)))
        return [nearest.get(row, []) for row in range(len(questions))]

    def way(
        self, answer_by: str | None = None, strategy: Strategy | None = None, fallback: Fallback | None = None,
        settings: Iterable[str] = (),
    ) -> str:  # fmt: skip
        """Returns the way of answering for these arguments; raises `InputError` if they conflict."""
        decoding = strategy is not None or bool(settings)
        calibrated = fallback.confidence.answer_by if fallback else None
        way = checked_way(answer_by or (GENERATE if decoding else calibrated or self.answering.way))
        if calibrated not in (None, way):
            raise InputError(f"the run was calibrated for answers by {calibrated}, not by {way}: calibrate it again")
        if way != GENERATE and decoding:
            raise InputError(f"answers by {way}: leave out the decoding settings, or answer by generate")
        if way != GENERATE and self.datastore is None:
            raise InputError(f"this run has no datastore to {way} from: train it again, or answer by generate")
        return way

    def retrieves(self, near: Sequence[Match], way: str) -> bool:
        """Returns whether the nearest match answers; a taught exchange that is near does in every way of answering."""
        if not near:
            return False
        if near[0].exchange.taught and near[0].similarity >= TAUGHT_SIMILARITY:
            return True
        return way != GENERATE and (way != HYBRID or near[0].similarity >= self.answering.similarity)

    def n_best(
        self, questions: Sequence[str], num_return: int, strategy: Strategy | None = None, **settings: Any
    ) -> list[list[tuple[str, float]]]:
        """Generates several answers to each of many questions.

        Args:
            questions: The questions, a list of texts.
            num_return: Number of answers to each question.
            strategy: A `Beam`, whose answers are sorted best first, or `Sampling`.
            **settings: Further settings of `generate`.

        Returns:
            For each question, a list of pairs of the answer and its log-probability in nats, summed over its tokens.
            Answers to a blank question are ("", 0.0), as are missing ones where beam search finds fewer.
        """
        ids = self.ids_of(questions)
        order = sorted((i for i, row in enumerate(ids) if row), key=lambda i: len(ids[i]))
        answers = [[("", 0.0)] * num_return for _ in ids]
        settings = self.settings(strategy=strategy, num_return=num_return, **settings)
        rows_per_question = strategy.num_beams if isinstance(strategy, Beam) else num_return
        batch = max(1, BATCH // rows_per_question)
        for first in range(0, len(order), batch):
            rows = order[first : first + batch]
            generation = generate(self.model, pad([ids[i] for i in rows]), **settings)
            texts = iter(self.target_tokenizer.decode(generation.ids.reshape(len(rows) * num_return, -1)))
            for i, scores in zip(rows, generation.scores.reshape(len(rows), num_return)):
                answers[i] = [(next(texts), float(score)) for score in scores]
        return answers

    def stream(
        self, question: str, strategy: Strategy | None = None, fallback: Fallback | None = None,
        answer_by: str | None = None, **settings: Any,
    ) -> Generator[str, None, Answer]:  # fmt: skip
        """Streams the answer to one question while it is generated.

        The answer comes in one piece if it is retrieved, found by beam search, or subject to a `Fallback`, which
        judges whole answers.

        Yields:
            Pieces of text, in whole characters, that join to the answer.

        Returns:
            At the end (`answer = yield from bot.stream(…)`), the `Answer` of the model, even where the `Fallback`
            replaced it.
        """
        way = self.way(answer_by, strategy, fallback, settings)
        if fallback and fallback.by_similarity:
            [answer] = self.answers([question], answer_by=way)
            yield from filter(None, [fallback.said(answer, *self.pieces([question]))])
            return answer
        [near] = self.matches([question])
        if self.retrieves(near, way):
            yield near[0].exchange.answer
            return retrieved(near)
        if isinstance(strategy, Beam):
            [[(text, score)]] = self.n_best([question], 1, strategy, **settings)
            reply = fallback.instead_of(text, score, *self.pieces([question])) if fallback else text
            yield from filter(None, [reply])
            return Answer(text, score, tuple(near))
        if not (ids := self.ids_of([question])[0]):
            return Answer("", 0.0)
        config = GenerationConfig(**self.settings(strategy=strategy, **settings))
        state, advance = begin(self.model, np.array([ids], "int32"), config)
        shown, text, length, step, ended = "", "", 0, config.max_length if fallback else 1, False
        while not ended:
            start = time.perf_counter()
            length = min(length + step, config.max_length)
            state = advance(state, length)
            ids, ended = (ops.convert_to_numpy(state[name])[0] for name in ("ids", "ended"))
            ended = ended or length == config.max_length
            step = max(1, int(step * SECONDS_A_PIECE / (time.perf_counter() - start)))
            text = reply = self.target_tokenizer.decode(ids.tolist())
            if fallback:
                reply = fallback.instead_of(text, float(state["scores"][0]), *self.pieces([question]))
            whole = reply if ended else self.settled(reply)
            if len(whole) > len(shown):
                yield whole[len(shown) :]
                shown = whole
        return Answer(text, float(state["scores"][0]), tuple(near))

    def warm_up(self, stop: threading.Event, num_return: int = 1, **settings: Any) -> None:
        """Compiles the programs of `stream`, or of `n_best` for one question, for every length bucket.

        Args:
            stop: A `threading.Event` that stops the warm-up before the next bucket.
            num_return: Number of answers to each question.
            **settings: The settings of the questions to come, including "strategy".
        """
        settings = self.settings(num_return=num_return, **settings)
        config = GenerationConfig(**settings)
        for width in sorted({bucket_length(length) for length in range(1, self.max_length + 1)}):
            if stop.is_set():
                return
            question = np.full((1, width), self.tokenizer.end_id, "int32")
            if num_return > 1 or isinstance(config.strategy, Beam):
                generate(self.model, question, **settings)
                continue
            state, advance = begin(self.model, question, config)
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

    def settings(self, **settings: Any) -> dict[str, Any]:
        """Returns the settings of `generate`, with special tokens and maximum length filled in."""
        tokens = self.target_tokenizer
        return {"start_id": tokens.start_id, "end_id": tokens.end_id, "max_length": self.max_length - 1, **settings}


def retrieved(near):
    """Returns the `Answer` of the nearest match; its sources are the matches with this answer, then the others."""
    answer = near[0].exchange.answer
    return Answer(answer, None, tuple(sorted(near, key=lambda match: match.exchange.answer != answer)))
