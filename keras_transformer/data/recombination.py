"""Data augmentation that recombines two similar questions into a new one.

"여자친구랑 헤어졌어" and "남자친구랑 싸웠어" give "여자친구랑 싸웠어".
The new question gets the answer of the most similar training question, by character n-grams. This teaches the model
which words of a question are decisive, even if the corpus contains each question only once. It combines data
recombination (Jia and Liang 2016, "Data Recombination for Neural Semantic Parsing") with the answers of a teacher (Kim
and Rush 2016, "Sequence-Level Knowledge Distillation").
"""

import numpy as np
import pandas
from sklearn.feature_extraction.text import TfidfVectorizer

from keras_transformer.data.augmentation import noisy
from keras_transformer.text.character_ngrams import character_ngrams
from keras_transformer.text.normalize import normalize
from keras_transformer.text.turns import BETWEEN

NUM_NEIGHBOURS = 25  # Number of nearest questions to draw a partner from.
MIN_SIMILARITY = 0.5  # Minimum similarity of a new question and the training question whose answer it gets.
TRIES = 4  # Number of attempts per new question.
ROWS = 1000  # Number of questions compared at a time.
NOISY_SHARE = 0.25  # Share of the new questions that get noise.


def recombine(pairs, copies, seed):
    """Recombines the words of similar questions into new ones, with answers of the pairs; a quarter of them get noise.

    All questions are compared with each other, which takes seconds for ten thousand questions and hours for a million.

    Args:
        pairs: DataFrame with the columns "question" and "answer".
        copies: Maximum number of new questions per distinct question.
        seed: Random seed, an integer or a list of integers.

    Returns:
        A DataFrame with the same columns.
    """
    random = np.random.default_rng(seed)
    distinct = pairs.drop_duplicates("question")
    questions, answers = list(distinct["question"]), distinct["answer"].to_numpy()
    index = Index(questions)
    normal_forms, new_questions = set(map(normalize, questions)), []
    for question, neighbours in zip(questions, index.neighbours(questions)):
        limit = len(new_questions) + copies
        for other in random.choice(neighbours, copies * TRIES):
            new = cross(question, questions[other], random)
            if len(new_questions) < limit and normalize(new) not in normal_forms:
                normal_forms.add(normalize(new))
                new_questions.append(new)
    nearest, similarities = index.nearest(new_questions)
    new_questions = [noisy(text, random) if random.random() < NOISY_SHARE else text for text in new_questions]
    result = pandas.DataFrame({"question": new_questions, "answer": answers[nearest]})
    return result[(similarities >= MIN_SIMILARITY) & ~result["question"].isin(questions)].reset_index(drop=True)


class Index:
    """TF-IDF vectors of questions.

    Args:
        questions: Texts.
    """

    def __init__(self, questions):
        self._vectorizer = TfidfVectorizer(analyzer=character_ngrams, dtype=np.float32)
        self._by_ngram = self._vectorizer.fit_transform(map(normalize, questions)).T.tocsr()

    def _similarities(self, texts):
        """Yields cosine similarities with the questions, float32 (texts, questions), for chunks of the texts."""
        for start in range(0, len(texts), ROWS):
            vectors = self._vectorizer.transform(map(normalize, texts[start : start + ROWS]))
            yield (vectors @ self._by_ngram).toarray()

    def neighbours(self, texts):
        """Yields the indices of the `NUM_NEIGHBOURS` nearest questions of each text, in any order."""
        for similarities in self._similarities(texts):
            kth = min(NUM_NEIGHBOURS, similarities.shape[1]) - 1
            yield from np.argpartition(-similarities, kth)[:, :NUM_NEIGHBOURS]

    def nearest(self, texts):
        """Returns the indices of the nearest questions, integers (texts,), and their similarities, float32 (texts,)."""
        blocks = [(block.argmax(axis=1), block.max(axis=1)) for block in self._similarities(texts)]
        indices, similarities = zip(*blocks) if blocks else ([np.zeros(0, int)], [np.zeros(0, "float32")])
        return np.concatenate(indices), np.concatenate(similarities)


def cross(question, other, random):
    """Recombines the last turn of a question with words of another; returns it unchanged if they do not fit."""
    *before, last = question.split(BETWEEN)
    words, others = last.split(" "), other.split(BETWEEN)[-1].split(" ")
    crossing = CROSSINGS[random.integers(len(CROSSINGS))]
    return BETWEEN.join([*before, " ".join(crossing(words, others, random))])


def join_ends(words, others, random):
    """Joins the first words of one question and the last words of the other."""
    if min(len(words), len(others)) < 2:
        return words
    return [*words[: random.integers(1, len(words))], *others[random.integers(1, len(others)) :]]


def exchange_word(words, others, random):
    """Replaces a word by one with the same last character, such as a Korean word with the same particle."""
    position = random.integers(len(words))
    fitting = [word for word in others if word[-1:] == words[position][-1:]]
    if not fitting:
        return words
    return [*words[:position], fitting[random.integers(len(fitting))], *words[position + 1 :]]


def replace_word(words, others, random):
    """Removes a word, and inserts a word of the other question at a random position."""
    if len(words) < 2:
        return words
    remaining = list(words)
    del remaining[random.integers(len(remaining))]
    remaining.insert(random.integers(len(remaining) + 1), others[random.integers(len(others))])
    return remaining


CROSSINGS = (join_ends, exchange_word, replace_word)
