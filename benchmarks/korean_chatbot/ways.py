"""How a trained run chooses its answers: a search for candidates, and what picks one of them."""

import dataclasses
import functools
from collections.abc import Callable

from benchmarks.korean_chatbot import memory, reranking
from benchmarks.korean_chatbot.exam import Answers
from keras_transformer import Beam, Chatbot, GenerationConfig, Greedy, Sampling
from keras_transformer.data.tokenized import token_ids
from keras_transformer.evaluation.perplexity import likelihood, losses

NEIGHBOURS = 8  # Training questions that answers are compared with.
MEMORY = 0.5  # What the memories' cosine counts beside that of the TF-IDF vectors.
BESIDE = {
    "neighbours": f"{NEIGHBOURS} neighbours", "reverse": f"{NEIGHBOURS} reverse", "memory": f"memory, {MEMORY}",
}  # fmt: skip
"""What stands beside candidates, by its name: all that it depends on."""


@dataclasses.dataclass(frozen=True)
class Way:
    """A way of choosing answers.

    Attributes:
        strategy: Of `generate`, which finds the candidates; None to search for none.
        candidates: Their number.
        choose: A function of the candidates, and of what stands beside them, that returns the answer; None for the
            first.
        beside: One of `BESIDE`, which `choose` wants to know too, or None.
    """

    strategy: object
    candidates: int = 1
    choose: Callable | None = None
    beside: str | None = None

    def describe(self):
        """All of it as JSON."""
        chooser = self.choose and self.choose.__name__
        return [repr(self.strategy), self.candidates, chooser, self.beside and BESIDE[self.beside]]


SAMPLES = Sampling(seed=0)
CAUTIOUS = Sampling(temperature=0.7, seed=0)
RETRIEVAL = "the nearest question's answer, by TF-IDF and memory"
WAYS = {
    "greedy": Way(Greedy()),
    "beam 4, length penalty 0": Way(Beam(4, 0.0)),
    "beam 4, length penalty 0.6": Way(Beam(4, 0.6)),
    "beam 4, length penalty 1": Way(Beam(4, 1.0)),
    "beam 8": Way(Beam(8)),
    "8 of beam 8, by agreement": Way(Beam(8), 8, reranking.by_weighted_agreement),
    "8 of beam 8, by neighbours": Way(Beam(8), 8, reranking.by_neighbours, "neighbours"),
    "8 of beam 8, by the reverse model": Way(Beam(8), 8, reranking.by_reverse, "reverse"),
    "32 samples, by agreement": Way(SAMPLES, 32, reranking.by_agreement),
    "32 samples at temperature 0.7, by agreement": Way(CAUTIOUS, 32, reranking.by_agreement),
    "32 samples at temperature 0.7, by neighbours": Way(CAUTIOUS, 32, reranking.by_neighbours, "neighbours"),
    "32 samples at temperature 0.7, by the reverse model": Way(CAUTIOUS, 32, reranking.by_reverse, "reverse"),
    "32 samples at temperature 0.7 and neighbours' answers, by agreement": Way(
        CAUTIOUS, 32, reranking.among_neighbours, "neighbours"
    ),
    RETRIEVAL: Way(None, 0, reranking.nearest, "memory"),
}
"""The ways by their names."""


class Asker:
    """A trained run that is asked the questions of an exam in any of the ways.

    Args:
        run: The run folder.
        exam: The `Exam`.
        nearest: The `NearestQuestions` of its training split.
        reverse: A function that returns the folder of a run trained from answers to questions.
    """

    def __init__(self, run, exam, nearest, reverse):
        self._bot, self._exam, self._nearest, self._reverse = Chatbot.load(run), exam, nearest, reverse
        self._found = {}

    def answers(self, way):
        """The `Answers` that a way gives."""
        candidates = self._candidates(way)
        if way.choose is None:
            texts = [found[0][0] for found in candidates]
        elif way.beside is None:
            texts = list(map(way.choose, candidates))
        else:
            sources = {"neighbours": self._neighbours, "reverse": self._backwards, "memory": self._remembered}
            beside = sources[way.beside](candidates)
            texts = list(map(way.choose, candidates, beside))
        return Answers(texts, *self._likelihood)

    def _candidates(self, way):
        if way.strategy is None:
            return [[] for _ in self._exam.questions]
        key = way.strategy, way.candidates
        if key not in self._found:
            found = self._bot.n_best(self._exam.questions, GenerationConfig(*key))
            # A search that finds fewer fills its list with "", as if that were certain.
            self._found[key] = [[one for one in all_of_it if one[0]] or all_of_it[:1] for all_of_it in found]
        return self._found[key]

    @functools.cached_property
    def _likelihood(self):
        """Bits of the references of each question, and their characters."""
        found = likelihood(self._bot, dict(zip(self._exam.questions, self._exam.references, strict=True)))
        bits = found.scores()["bits_per_char"].addends
        return bits[:, 0].tolist(), bits[:, 1].tolist()

    def _neighbours(self, candidates):
        return list(self._nearest.neighbours(self._exam.questions, NEIGHBOURS))

    def _remembered(self, candidates):
        """The neighbours by what the encoder makes of the questions, besides the characters that they share."""
        cosines = memory.cosines(self._bot, self._exam.questions, self._nearest.questions)
        return list(self._nearest.neighbours(self._exam.questions, NEIGHBOURS, MEMORY * (1 + cosines)))

    def _backwards(self, candidates):
        """For each question the log-probabilities of it given each of its candidates."""
        return log_probabilities(self._reverse_bot, self._exam.questions, candidates)

    @functools.cached_property
    def _reverse_bot(self):
        return Chatbot.load(self._reverse())


def log_probabilities(bot, questions, candidates):
    """For each question its log-probabilities in nats, given each of its candidates, by a bot that answers with it."""
    pairs = [(text, question) for question, found in zip(questions, candidates, strict=True) for text, _ in found]
    distinct = list(dict.fromkeys(pairs))
    ids = token_ids(*map(list, zip(*distinct)), bot.tokenizer, bot.target_tokenizer)
    known = dict(zip(distinct, -losses(bot.model, ids), strict=True))
    return [[known[text, question] for text, _ in found] for question, found in zip(questions, candidates, strict=True)]
