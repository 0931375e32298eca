"""The ways in which a trained run selects its answers: a decoding strategy for candidates, and a reranking function."""

import dataclasses
import functools
from collections.abc import Callable

from benchmarks.korean_chatbot import memory, reranking
from benchmarks.korean_chatbot.exam import Answers
from keras_transformer import Beam, Chatbot, GenerationConfig, Greedy, Sampling
from keras_transformer.data.tokenized import token_ids
from keras_transformer.evaluation.perplexity import likelihood, losses

NEIGHBOURS = 8  # Number of training questions per question.
MEMORY = 0.5  # Weight of the cosine of the encoder outputs, relative to that of the TF-IDF vectors.
BESIDE = {
    "neighbours": f"{NEIGHBOURS} neighbours", "reverse": f"{NEIGHBOURS} reverse", "memory": f"memory, {MEMORY}",
}  # fmt: skip
"""What stands beside candidates, by its name: all that it depends on."""


@dataclasses.dataclass(frozen=True)
class Way:
    """A way of selecting answers.

    Attributes:
        strategy: Decoding strategy that finds the candidates; None for no candidates.
        candidates: Number of candidates.
        choose: Function of the candidates, and of the values named by `beside`, that returns the answer; None for the
            first candidate.
        beside: The additional argument of `choose`, one of `BESIDE`, or None.
    """

    strategy: object
    candidates: int = 1
    choose: Callable | None = None
    beside: str | None = None

    def describe(self):
        """Returns all attributes as JSON."""
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
    """A trained run that answers the questions of an exam in any of the ways.

    Args:
        run: The run folder.
        exam: The `Exam`.
        nearest: The `NearestQuestions` of its training split.
        reverse: Function that returns the folder of a run trained from answers to questions.
    """

    def __init__(self, run, exam, nearest, reverse):
        self._bot, self._exam, self._nearest, self._reverse = Chatbot.load(run), exam, nearest, reverse
        self._found = {}

    def answers(self, way):
        """Returns the `Answers` of a way."""
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
            # A search with fewer results pads its list with ("", 0.0).
            self._found[key] = [[one for one in all_of_it if one[0]] or all_of_it[:1] for all_of_it in found]
        return self._found[key]

    @functools.cached_property
    def _likelihood(self):
        """The bits of the references of each question, and their numbers of characters."""
        found = likelihood(self._bot, dict(zip(self._exam.questions, self._exam.references, strict=True)))
        bits = found.scores()["bits_per_char"].addends
        return bits[:, 0].tolist(), bits[:, 1].tolist()

    def _neighbours(self, candidates):
        return list(self._nearest.neighbours(self._exam.questions, NEIGHBOURS))

    def _remembered(self, candidates):
        """Returns the neighbours by the similarity of encoder outputs and of character n-grams."""
        cosines = memory.cosines(self._bot, self._exam.questions, self._nearest.questions)
        return list(self._nearest.neighbours(self._exam.questions, NEIGHBOURS, MEMORY * (1 + cosines)))

    def _backwards(self, candidates):
        """Returns for each question its log-probabilities given each of its candidates."""
        return log_probabilities(self._reverse_bot, self._exam.questions, candidates)

    @functools.cached_property
    def _reverse_bot(self):
        return Chatbot.load(self._reverse())


def log_probabilities(bot, questions, candidates):
    """Returns for each question its log-probabilities in nats given each of its candidates, by a reverse chatbot."""
    pairs = [(text, question) for question, found in zip(questions, candidates, strict=True) for text, _ in found]
    distinct = list(dict.fromkeys(pairs))
    ids = token_ids(*map(list, zip(*distinct)), bot.tokenizer, bot.target_tokenizer)
    known = dict(zip(distinct, -losses(bot.model, ids), strict=True))
    return [[known[text, question] for text, _ in found] for question, found in zip(questions, candidates, strict=True)]
