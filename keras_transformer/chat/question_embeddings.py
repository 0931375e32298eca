"""Embeddings of questions, learned from the exchanges: questions that share an answer should be near each other.

Each character n-gram has a vector. The embedding of a text is their sum, weighted by TF-IDF, at length 1. Contrastive
training fits the vectors (InfoNCE, van den Oord et al. 2018, equation 4): in a batch, a question should be more similar
to its answer, and to another question with the same answer, than to the answers and questions of the others.

The gradient is written out in NumPy. It is short, needs no compilation, and is the same on every Keras backend and in
every process of a distributed training. The products of its matrices are small: a second thread gains nothing, changes
the last bits, and on a busy machine spends most of its time waiting. So they are computed on one.
"""

import numpy as np
from threadpoolctl import threadpool_limits

from keras_transformer.chat.question_index import NgramVectorizer
from keras_transformer.text.normalize import normalize

DIMENSIONS = 128
MOST_NGRAMS = 2**15  # The n-grams that most texts have; the others have no vector.
STEPS, BATCH = 600, 256
LEARNING_RATE = 0.003
TEMPERATURE = 0.1
KEPT = 0.7  # Share of the n-grams of a text that are read in a step, which prepares for new spellings.
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8  # Adam's (Kingma & Ba 2015).
TINY = 1e-12


class QuestionEmbeddings:
    """Maps TF-IDF vectors of texts to embeddings.

    Args:
        columns: Columns of the n-grams that have a vector, int32 (ngrams,), ascending.
        vectors: Their vectors, float16 (ngrams, dimensions).
    """

    def __init__(self, columns, vectors):
        self.columns, self.vectors = np.asarray(columns), np.asarray(vectors, "float16")

    def __len__(self):
        return len(self.columns)

    def __call__(self, weighted):
        """The embeddings of texts at length 1, float16 (texts, dimensions); zeros for a text without a known n-gram.

        Args:
            weighted: Their TF-IDF vectors, sparse float32 (texts, `FEATURES`).
        """
        return at_length_one(weighted[:, self.columns] @ self.vectors.astype("float32"))[0].astype("float16")

    def coverage(self, weighted):
        """How much of each text its embedding is made of: the share of n-grams with a vector, by squared weight.

        Args:
            weighted: TF-IDF vectors of texts, of unit length, sparse float32 (texts, `FEATURES`).

        Returns:
            Shares from 0 to 1, float32 (texts,).
        """
        return np.asarray(weighted[:, self.columns].power(2).sum(axis=1)).ravel()


@threadpool_limits.wrap(limits=1, user_api="blas")
def learn_embeddings(questions, answers, seed=0):
    """The `QuestionEmbeddings` of a corpus.

    Args:
        questions: Texts, at least one.
        answers: Theirs.
        seed: Seed of the first vectors and of the batches.
    """
    random = np.random.default_rng(seed)
    vectorizer = NgramVectorizer(questions, answers)
    sides = vectorizer(questions), vectorizer(answers)
    columns = frequent_columns(sides)
    questions, texts = (side[:, columns] for side in sides)
    groups = np.unique([normalize(answer) for answer in answers], return_inverse=True)[1]
    vectors = random.normal(0, DIMENSIONS**-0.5, (len(columns), DIMENSIONS)).astype("float32")
    optimizer = Adam(vectors.shape)
    for step in range(STEPS):
        rows = random.choice(len(groups), min(BATCH, len(groups)), replace=False)
        batch = questions[rows], questions[mates(rows, groups, random)], texts[rows]
        gradient = contrastive_gradient([thinned(one, random) for one in batch], groups[rows], vectors)
        vectors -= (1 - step / STEPS) * LEARNING_RATE * optimizer.direction(gradient)
    return QuestionEmbeddings(columns, vectors)


def frequent_columns(sides):
    """The columns of the `MOST_NGRAMS` n-grams that most texts have, int32 (ngrams,), ascending."""
    counts = sum(side.getnnz(axis=0) for side in sides)
    most = np.argsort(-counts, kind="stable")[: min(MOST_NGRAMS, np.count_nonzero(counts))]
    return np.sort(most).astype("int32")


def mates(rows, groups, random):
    """For each row one at random that is in the same group, itself perhaps."""
    order = np.argsort(groups, kind="stable")
    starts, ends = (np.searchsorted(groups[order], groups[rows], side) for side in ("left", "right"))
    return order[random.integers(starts, ends)]


def thinned(weighted, random):
    """Sparse vectors of which each entry stays with the probability `KEPT`."""
    thinned = weighted.copy()
    thinned.data *= random.random(len(thinned.data)) < KEPT
    return thinned


def contrastive_gradient(batch, groups, vectors):
    """The gradient of the loss with respect to the vectors of the n-grams, float32 (ngrams, dimensions).

    Args:
        batch: TF-IDF vectors of questions, of other questions with the same answers, and of the answers: sparse float32
            (rows, ngrams), three times.
        groups: The number of each row's answer, (rows,).
        vectors: Those of the n-grams, float32 (ngrams, dimensions).
    """
    same = groups[:, np.newaxis] == groups
    targets = (same / same.sum(axis=1)).astype("float32")  # Symmetric: rows of a group have equal sums.
    (questions, *others), lengths = zip(*(at_length_one(one @ vectors) for one in batch))
    gradients = [np.zeros_like(questions)]
    for other in others:
        logits = questions @ other.T / TEMPERATURE
        of_logits = (softmax(logits) - targets + softmax(logits.T).T - targets) / (TEMPERATURE * len(groups))
        gradients[0] += of_logits @ other
        gradients.append(of_logits.T @ questions)
    return sum(
        one.T @ ((gradient - unit * (gradient * unit).sum(axis=1, keepdims=True)) / length)
        for one, gradient, unit, length in zip(batch, gradients, (questions, *others), lengths)
    )


class Adam:
    """The directions of Adam's steps (Kingma & Ba 2015, algorithm 1).

    Args:
        shape: That of what is trained.
    """

    def __init__(self, shape):
        self._steps, self._mean, self._square = 0, np.zeros(shape, "float32"), np.zeros(shape, "float32")

    def direction(self, gradient):
        """The direction of the next step, an array like the gradient."""
        self._steps += 1
        self._mean += (1 - BETA_1) * (gradient - self._mean)
        self._square += (1 - BETA_2) * (gradient**2 - self._square)
        mean = self._mean / (1 - BETA_1**self._steps)
        return mean / (np.sqrt(self._square / (1 - BETA_2**self._steps)) + EPSILON)


def softmax(logits):
    """Softmax over the last axis."""
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def at_length_one(x):
    """Vectors (…, dimensions) at length 1, zeros as they are; and the lengths that they had (…, 1)."""
    lengths = np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), TINY)
    return x / lengths, lengths
