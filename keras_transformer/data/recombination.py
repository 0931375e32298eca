"""Data augmentation: questions put together from two that are alike.

"여자친구랑 헤어졌어" and "남자친구랑 싸웠어" give "여자친구랑 싸웠어".
Its answer is that of the known question that is nearest to it, by characters. So a model learns which words of a
question decide, where a corpus asks each of its questions once: recombined data (Jia and Liang 2016, "Data
Recombination for Neural Semantic Parsing") with a teacher's answers (Kim and Rush 2016, "Sequence-Level Knowledge
Distillation").
"""

import numpy as np
import pandas
from sklearn.feature_extraction.text import TfidfVectorizer

from keras_transformer.data.augmentation import noisy
from keras_transformer.text.character_ngrams import character_ngrams
from keras_transformer.text.normalize import normalize
from keras_transformer.text.turns import BETWEEN

ALIKE = 25  # The nearest questions, of which one is drawn.
LEAST_SIMILARITY = 0.5  # Between a question that is put together and the known one whose answer it gets.
TRIES = 4  # For each question that is wanted.
ROWS = 1000  # Questions that are compared at a time.
NOISE = 0.25  # Share of the new questions that are mistyped.


def recombine(pairs, copies, seed):
    """New questions of words of two known ones, with answers of the pairs; a quarter of them are mistyped.

    It compares all questions with each other, which takes seconds for ten thousand and hours for a million.

    Args:
        pairs: DataFrame with the columns "question" and "answer".
        copies: New questions for each different one, at most.
        seed: The same seed makes the same questions; a list of integers will do.

    Returns:
        A DataFrame with the same columns.
    """
    random = np.random.default_rng(seed)
    known = pairs.drop_duplicates("question")
    questions, answers = list(known["question"]), known["answer"].to_numpy()
    index = Index(questions)
    taken, made = set(map(normalize, questions)), []
    for question, alike in zip(questions, index.alike(questions)):
        wanted = len(made) + copies
        for other in random.choice(alike, copies * TRIES):
            new = crossed(question, questions[other], random)
            if len(made) < wanted and normalize(new) not in taken:
                taken.add(normalize(new))
                made.append(new)
    nearest, similarities = index.nearest(made)
    typed = [noisy(question, random) if random.random() < NOISE else question for question in made]
    found = pandas.DataFrame({"question": typed, "answer": answers[nearest]})
    return found[(similarities >= LEAST_SIMILARITY) & ~found["question"].isin(questions)].reset_index(drop=True)


class Index:
    """TF-IDF vectors of questions.

    Args:
        questions: Texts.
    """

    def __init__(self, questions):
        self._vectorizer = TfidfVectorizer(analyzer=character_ngrams, dtype=np.float32)
        self._by_ngram = self._vectorizer.fit_transform(map(normalize, questions)).T.tocsr()

    def _similarities(self, texts):
        """Yields cosines with the questions, float32 (texts, questions), for some texts at a time."""
        for start in range(0, len(texts), ROWS):
            vectors = self._vectorizer.transform(map(normalize, texts[start : start + ROWS]))
            yield (vectors @ self._by_ngram).toarray()

    def alike(self, texts):
        """Yields for each text the numbers of the `ALIKE` nearest questions, in any order."""
        for similarities in self._similarities(texts):
            yield from np.argpartition(-similarities, min(ALIKE, similarities.shape[1]) - 1)[:, :ALIKE]

    def nearest(self, texts):
        """The numbers of the nearest questions, an integer array (texts,), and their similarities, float32 (texts,)."""
        found = [(block.argmax(axis=1), block.max(axis=1)) for block in self._similarities(texts)]
        numbers, similarities = zip(*found) if found else ([np.zeros(0, int)], [np.zeros(0, "float32")])
        return np.concatenate(numbers), np.concatenate(similarities)


def crossed(question, other, random):
    """A question with words of another in its last turn; as it is, where they do not fit."""
    *before, last = question.split(BETWEEN)
    words, others = last.split(" "), other.split(BETWEEN)[-1].split(" ")
    crossing = CROSSINGS[random.integers(len(CROSSINGS))]
    return BETWEEN.join([*before, " ".join(crossing(words, others, random))])


def join_ends(words, others, random):
    """The first words of one and the last of the other."""
    if min(len(words), len(others)) < 2:
        return words
    return [*words[: random.integers(1, len(words))], *others[random.integers(1, len(others)) :]]


def exchange_word(words, others, random):
    """A word exchanged for one that ends alike, as Korean words with the same particle do."""
    place = random.integers(len(words))
    fitting = [word for word in others if word[-1:] == words[place][-1:]]
    if not fitting:
        return words
    return [*words[:place], fitting[random.integers(len(fitting))], *words[place + 1 :]]


def replace_word(words, others, random):
    """A word left out, and one of the other put in anywhere."""
    if len(words) < 2:
        return words
    left = list(words)
    del left[random.integers(len(left))]
    left.insert(random.integers(len(left) + 1), others[random.integers(len(others))])
    return left


CROSSINGS = (join_ends, exchange_word, replace_word)
