"""A trained run that answers questions in text."""

import time

import numpy as np
from keras import ops

from keras_transformer.chat.answering import GENERATE, HYBRID, TAUGHT_SIMILARITY, Answer, Answering, checked_way
from keras_transformer.chat.confidence import pieces_a_character
from keras_transformer.chat.datastore import Datastore
from keras_transformer.decoding.beam_search import Beam
from keras_transformer.decoding.config import GenerationConfig
from keras_transformer.decoding.generate import begin, bucket_length, generate
from keras_transformer.errors import InputError
from keras_transformer.runs.run import Run
from keras_transformer.text.turns import question_ids

SOURCES = 3  # Matches that an answer names.
BATCH = 64  # Answers that are made side by side.
SECONDS_A_PIECE = 0.05  # A stream takes so many tokens at once as are made in this time, as every piece has its cost.
INCOMPLETE = "\ufffd"  # What the bytes of a character that is not whole yet decode to.


class Chatbot:
    """A model and its tokenizers, asked in text.

    Its methods take `strategy` and further settings of `generate` by name: `min_length`, `max_length`,
    `repetition_penalty`, `no_repeat_ngram`, `forbidden_ids`. With one of these the answer is generated, as they say
    how; otherwise it is made in the way that `answer_by` names, by default that of the `fallback` or else the run's
    own.

    Args:
        model: A trained `transformer()`.
        tokenizer: The `Tokenizer` it was trained with, of the questions.
        max_length: Tokens of a question and of an answer, start and end included. Longer questions are read up to
            there, as the model never saw more in training.
        target_tokenizer: The `Tokenizer` of the answers; None for the same.
        turns: Turns of a conversation that it reads, which are the lines of a question; of more, the last ones.

    Attributes:
        datastore: The run's `Datastore`; None if it has none.
        answering: Its `Answering`, which says how it answers where nothing else is asked for.
    """

    def __init__(self, model, tokenizer, max_length, target_tokenizer=None, turns=1):
        self.model, self.tokenizer, self.max_length, self.turns = model, tokenizer, max_length, turns
        self.target_tokenizer = target_tokenizer or tokenizer
        self.datastore, self.answering = None, Answering()

    @classmethod
    def load(cls, run_dir):
        """The chatbot of a run folder with its best weights; raises `InputError` if it cannot be read."""
        run = Run(run_dir)
        return cls.of_run(run, run.load_model())

    @classmethod
    def of_run(cls, run, model):
        """The chatbot of a `Run` whose model is loaded; raises `InputError` if the rest cannot be read."""
        bot = cls(model, run.tokenizer, run.config.max_length, run.target_tokenizer, run.config.turns)
        if Datastore.exists(run.path):
            bot.datastore, bot.answering = Datastore(run.path, run.id), Answering.load(run.path)
        return bot

    def reply(self, question, strategy=None, fallback=None, answer_by=None, **settings):
        """The answer to one question, "" to a blank one."""
        return self.replies([question], strategy, fallback, answer_by, **settings)[0]

    def replies(self, questions, strategy=None, fallback=None, answer_by=None, **settings):
        """The answers to many questions, in their order; batched by length behind the scenes.

        Args:
            questions: The questions.
            strategy: How tokens are chosen, as in `generate`.
            fallback: A `Fallback`, which stands in the place of answers that are too unlikely; None to give all.
            answer_by: "generate", "retrieve" or "hybrid"; None for the run's own way.
            **settings: Of `generate`.
        """
        answers = self.answers(questions, strategy, fallback, answer_by, **settings)
        if not fallback:
            return [answer.text for answer in answers]
        pieces = self.pieces(questions)
        return [fallback.said(*one) for one in zip(answers, pieces)]

    def answers(self, questions, strategy=None, fallback=None, answer_by=None, **settings):
        """The same with scores and sources, an `Answer` to each; what a `fallback` would say stands not in it."""
        way = self.way(answer_by, strategy, fallback, settings)
        matches = self.matches(questions)
        found = [retrieved(near) if self.retrieves(near, way) else None for near in matches]
        rest = [number for number, answer in enumerate(found) if answer is None]
        generated = self.n_best([questions[number] for number in rest], 1, strategy, **settings)
        for number, [(text, score)] in zip(rest, generated):
            found[number] = Answer(text, score, tuple(matches[number]))
        return found

    def candidates(self, questions, num_return, strategy=None, **settings):
        """What `n_best` gives, a list of `Answer`s to each question, with the exchanges that are near to it."""
        found = zip(self.n_best(questions, num_return, strategy, **settings), self.matches(questions))
        return [[Answer(*one, tuple(near)) for one in answers] for answers, near in found]

    def matches(self, questions):
        """For each question the nearest exchanges of the datastore; none without one, or for a blank question."""
        asked = [number for number, question in enumerate(questions) if question.strip()]
        if self.datastore is None or not asked:
            return [[] for _ in questions]
        found = dict(zip(asked, self.datastore.nearest([questions[number] for number in asked], SOURCES)))
        return [found.get(number, []) for number in range(len(questions))]

    def way(self, answer_by=None, strategy=None, fallback=None, settings=()):
        """In which way a question is answered that is asked so; raises `InputError` if it cannot be."""
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

    def retrieves(self, near, way):
        """Whether the nearest of these matches answers; a taught exchange does in every way, if it is near."""
        if not near:
            return False
        if near[0].exchange.taught and near[0].similarity >= TAUGHT_SIMILARITY:
            return True
        return way != GENERATE and (way != HYBRID or near[0].similarity >= self.answering.similarity)

    def n_best(self, questions, num_return, strategy=None, **settings):
        """Several answers to each of many questions.

        Args:
            questions: The questions.
            num_return: Answers to each.
            strategy: A `Beam`, whose answers come the best first, or `Sampling`.
            **settings: Of `generate`.

        Returns:
            For each question a list of pairs: the answer, and its summed log-probability in nats. Those to a blank
            question are ("", 0.0), as are those that are missing where a search finds fewer.
        """
        ids = self.ids_of(questions)
        order = sorted((i for i, row in enumerate(ids) if row), key=lambda i: len(ids[i]))
        found = [[("", 0.0)] * num_return for _ in ids]
        settings = self.settings(strategy=strategy, num_return=num_return, **settings)
        beside = strategy.num_beams if isinstance(strategy, Beam) else num_return
        batch = max(1, BATCH // beside)
        for first in range(0, len(order), batch):
            rows = order[first : first + batch]
            generation = generate(self.model, padded([ids[i] for i in rows]), **settings)
            texts = iter(self.target_tokenizer.decode(generation.ids.reshape(len(rows) * num_return, -1)))
            for i, scores in zip(rows, generation.scores.reshape(len(rows), num_return)):
                found[i] = [(next(texts), float(score)) for score in scores]
        return found

    def stream(self, question, strategy=None, fallback=None, answer_by=None, **settings):
        """The answer to one question as it is made: pieces of text, whole characters only, that join to the answer.

        A beam search knows its answer at its end only, a `Fallback` judges whole answers, and what is retrieved is
        there at once: that is one piece.

        Returns:
            At its end (`answer = yield from bot.stream(…)`), the `Answer`, which is the model's own also where a
            `Fallback` was said instead.
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
            said = fallback.instead_of(text, score, *self.pieces([question])) if fallback else text
            yield from filter(None, [said])
            return Answer(text, score, tuple(near))
        if not (ids := self.ids_of([question])[0]):
            return Answer("", 0.0)
        config = GenerationConfig(**self.settings(strategy=strategy, **settings))
        state, advance = begin(self.model, np.array([ids], "int32"), config)
        shown, text, made, more, ended = "", "", 0, config.max_length if fallback else 1, False
        while not ended:
            begun = time.perf_counter()
            made = min(made + more, config.max_length)
            state = advance(state, made)
            ids, ended = (ops.convert_to_numpy(state[name])[0] for name in ("ids", "ended"))
            ended = ended or made == config.max_length
            more = max(1, int(more * SECONDS_A_PIECE / (time.perf_counter() - begun)))
            text = said = self.target_tokenizer.decode(ids.tolist())
            if fallback:
                said = fallback.instead_of(text, float(state["scores"][0]), *self.pieces([question]))
            whole = said if ended else self.settled(said)
            if len(whole) > len(shown):
                yield whole[len(shown) :]
                shown = whole
        return Answer(text, float(state["scores"][0]), tuple(near))

    def warm_up(self, stop, num_return=1, **settings):
        """Compiles what `stream`, or `n_best` of one question, needs for each length, so that no question waits for it.

        Args:
            stop: A `threading.Event` that ends it before the next length.
            num_return: Answers that each question will have.
            **settings: Those that the questions will be asked with, "strategy" among them.
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

    def ids_of(self, questions):
        """What the encoder reads of each: start, pieces, end; nothing for a blank question."""
        rows = question_ids(self.tokenizer, questions, self.turns, self.max_length)
        cut = ([*row[: self.max_length - 1], row[-1]] if len(row) > self.max_length else row for row in rows)
        return [row if question.strip() else [] for question, row in zip(questions, cut)]

    def pieces(self, questions):
        """Into how many pieces a character each question is cut, as a `Fallback` judges it."""
        return [pieces_a_character(*both) for both in zip(questions, self.ids_of(questions))]

    def settled(self, text):
        """The start of an unfinished answer that more tokens cannot change."""
        whole = text.rstrip(INCOMPLETE)
        return whole[:-1] if self.target_tokenizer.vocabulary.may_change(whole) else whole

    def settings(self, **settings):
        """What `generate` has to know besides the questions."""
        tokens = self.target_tokenizer
        return {"start_id": tokens.start_id, "end_id": tokens.end_id, "max_length": self.max_length - 1, **settings}


def retrieved(near):
    """The `Answer` of the nearest of these matches; its sources are those that give it, then the others."""
    answer = near[0].exchange.answer
    return Answer(answer, None, tuple(sorted(near, key=lambda match: match.exchange.answer != answer)))


def padded(rows):
    """Rows of ids filled up with 0 to the longest."""
    width = max(map(len, rows))
    return [row + [0] * (width - len(row)) for row in rows]
