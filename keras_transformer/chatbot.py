"""A trained run that answers questions in text."""

import time

import numpy as np
from keras import ops

from keras_transformer.confidence import pieces_a_character
from keras_transformer.decoding.beam import Beam
from keras_transformer.decoding.generate import Task, begin, generate, width_class
from keras_transformer.run import Run
from keras_transformer.text.turns import question_ids

BATCH = 64  # Answers that are made side by side.
SECONDS_A_PIECE = 0.05  # A stream takes so many tokens at once as are made in this time, as every piece has its cost.
INCOMPLETE = "\ufffd"  # What the bytes of a character that is not whole yet decode to.


class Chatbot:
    """A model and its tokenizers, asked in text.

    Its methods take `strategy` and further settings of `generate` by name: `min_length`, `max_length`,
    `repetition_penalty`, `no_repeat_ngram`, `forbidden_ids`.

    Args:
        model: A trained `transformer()`.
        tokenizer: The `Tokenizer` it was trained with, of the questions.
        max_length: Tokens of a question and of an answer, start and end included. Longer questions are read up to
            there, as the model never saw more in training.
        target_tokenizer: The `Tokenizer` of the answers; None for the same.
        turns: Turns of a conversation that it reads, which are the lines of a question; of more, the last ones.
    """

    def __init__(self, model, tokenizer, max_length, target_tokenizer=None, turns=1):
        self.model, self.tokenizer, self.max_length, self.turns = model, tokenizer, max_length, turns
        self.target_tokenizer = target_tokenizer or tokenizer

    @classmethod
    def load(cls, run_dir):
        """The chatbot of a run folder with its best weights; raises `InputError` if it cannot be read."""
        run = Run(run_dir)
        return cls(run.load_model(), run.tokenizer, run.config.max_length, run.target_tokenizer, run.config.turns)

    def reply(self, question, strategy=None, fallback=None, **settings):
        """The answer to one question, "" to a blank one."""
        return self.replies([question], strategy, fallback, **settings)[0]

    def replies(self, questions, strategy=None, fallback=None, **settings):
        """The answers to many questions, in their order; batched by length behind the scenes.

        Args:
            questions: The questions.
            strategy: How answers are chosen, as in `generate`.
            fallback: A `Fallback`, which stands in the place of answers that are too unlikely; None to give all.
            **settings: Of `generate`.
        """
        found = [answers[0] for answers in self.n_best(questions, 1, strategy, **settings)]
        if not fallback:
            return [answer for answer, _ in found]
        return [fallback.instead_of(*one, pieces) for one, pieces in zip(found, self.pieces(questions))]

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

    def stream(self, question, strategy=None, fallback=None, **settings):
        """The answer to one question as it is made: pieces of text, whole characters only, that join to the answer.

        A beam search knows its answer at its end only, and a `Fallback` judges whole answers: that is one piece.
        """
        if isinstance(strategy, Beam):
            yield from filter(None, [self.reply(question, strategy, fallback, **settings)])
            return
        if not (ids := self.ids_of([question])[0]):
            return
        task = Task(**self.settings(strategy=strategy, **settings))
        state, advance = begin(self.model, np.array([ids], "int32"), task)
        shown, made, more, ended = "", 0, task.max_length if fallback else 1, False
        while not ended:
            begun = time.perf_counter()
            made = min(made + more, task.max_length)
            state = advance(state, made)
            ids, ended = (ops.convert_to_numpy(state[name])[0] for name in ("ids", "ended"))
            ended = ended or made == task.max_length
            more = max(1, int(more * SECONDS_A_PIECE / (time.perf_counter() - begun)))
            text = self.target_tokenizer.decode(ids.tolist())
            if fallback:
                text = fallback.instead_of(text, float(state["scores"][0]), *self.pieces([question]))
            whole = text if ended else self.settled(text)
            if len(whole) > len(shown):
                yield whole[len(shown) :]
                shown = whole

    def warm_up(self, stop, num_return=1, **settings):
        """Compiles what `stream`, or `n_best` of one question, needs for each length, so that no question waits for it.

        Args:
            stop: A `threading.Event` that ends it before the next length.
            num_return: Answers that each question will have.
            **settings: Those that the questions will be asked with, "strategy" among them.
        """
        settings = self.settings(num_return=num_return, **settings)
        task = Task(**settings)
        for width in sorted({width_class(length) for length in range(1, self.max_length + 1)}):
            if stop.is_set():
                return
            question = np.full((1, width), self.tokenizer.end_id, "int32")
            if num_return > 1 or isinstance(task.strategy, Beam):
                generate(self.model, question, **settings)
                continue
            state, advance = begin(self.model, question, task)
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


def padded(rows):
    """Rows of ids filled up with 0 to the longest."""
    width = max(map(len, rows))
    return [row + [0] * (width - len(row)) for row in rows]
