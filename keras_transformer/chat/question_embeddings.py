"""Question embeddings trained on the exchanges of a corpus, so that questions with the same answer are near each other.

Each character n-gram has a vector. The embedding of a text is the sum of the vectors of its n-grams, weighted by TF-IDF
and scaled to unit length. The vectors are trained with a contrastive loss (InfoNCE, van den Oord et al. 2018, equation
4): within a batch, each question should be more similar to its own answer, and to another question with this answer,
than to the answers and questions of the other rows.

The gradient is computed in NumPy. This is short, needs no compilation, and gives the same result on every Keras backend
and in every process of distributed training. The matrices are small: a second BLAS thread gains nothing, changes the
last bits and, on a busy machine, spends most of its time waiting. One thread computes their products.
"""

import numpy as np
from threadpoolctl import threadpool_limits

from keras_transformer.chat.question_index import NgramVectorizer
from keras_transformer.text.normalize import normalize

DIMENSIONS = 128
MOST_NGRAMS = 2**15  # Maximum number of n-grams with a vector: the most frequent ones.
STEPS, BATCH = 600, 256
LEARNING_RATE = 0.003
TEMPERATURE = 0.1
KEEP_PROBABILITY = 0.7  # N-gram dropout: share of a text's n-grams kept in a step, for robustness to unseen spellings.
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8  # Hyperparameters of Adam (Kingma & Ba 2015).
TINY = 1e-12


class QuestionEmbeddings:
    """Maps TF-IDF vectors of texts to embeddings.

    Args:
        columns: The columns of the TF-IDF vectors whose n-grams have a vector, int32 (ngrams,), ascending.
        vectors: The vectors of these n-grams, float16 (ngrams, dimensions).
    """

    def __init__(self, columns, vectors):
        self.columns, self.vectors = np.asarray(columns), np.asarray(vectors, "float16")

    def __len__(self):
        return len(self.columns)

    def __call__(self, weighted):
        """Returns the embeddings of texts, scaled to unit length: float16 (texts, dimensions).

        The embedding of a text in which no n-gram has a vector is zero.

        Args:
            weighted: The TF-IDF vectors of the texts, sparse float32 (texts, `FEATURES`).
        """
        return l2_normalize(weighted[:, self.columns] @ self.vectors.astype("float32"))[0].astype("float16")

    def coverage(self, weighted):
        """Returns the share of each text, by squared TF-IDF weight, whose n-grams have a vector.

        Args:
            weighted: The TF-IDF vectors of the texts, of unit length, sparse float32 (texts, `FEATURES`).

        Returns:
            Shares from 0 to 1, float32 (texts,).
        """
        return np.asarray(weighted[:, self.columns].power(2).sum(axis=1)).ravel()


@threadpool_limits.wrap(limits=1, user_api="blas")
def learn_embeddings(questions, answers, seed=0):
    """Trains `QuestionEmbeddings` on a corpus.

    Args:
        questions: The questions, a list of at least one text.
        answers: The answer to each question, a list of texts.
        seed: Random seed of the initial vectors and of the batches.

    Returns:
        The `QuestionEmbeddings`.
    """
    random = np.random.default_rng(seed)
    _vectorizer, *matrices = NgramVectorizer.fit(questions, answers)
    columns = frequent_columns(matrices)
    questions, texts = (matrix[:, columns] for matrix in matrices)
    groups = np.unique([normalize(answer) for answer in answers], return_inverse=True)[1]
    vectors = random.normal(0, DIMENSIONS**-0.5, (len(columns), DIMENSIONS)).astype("float32")
    optimizer = Adam(vectors.shape)
    for step in range(STEPS):
        rows = random.choice(len(groups), min(BATCH, len(groups)), replace=False)
        batch = questions[rows], questions[rows_with_same_group(rows, groups, random)], texts[rows]
        gradient = contrastive_gradient([drop_ngrams(one, random) for one in batch], groups[rows], vectors)
        vectors -= (1 - step / STEPS) * LEARNING_RATE * optimizer.direction(gradient)
    return QuestionEmbeddings(columns, vectors)


def frequent_columns(matrices):
    """Returns the columns of the `MOST_NGRAMS` n-grams that most texts contain, int32 (ngrams,), ascending."""
    counts = sum(matrix.getnnz(axis=0) for matrix in matrices)
    most = np.argsort(-counts, kind="stable")[: min(MOST_NGRAMS, np.count_nonzero(counts))]
    return np.sort(most).astype("int32")


def rows_with_same_group(rows, groups, random):
    """Returns for each row a random row with the same group, which may be the row itself."""
    order = np.argsort(groups, kind="stable")
    starts, ends = (np.searchsorted(groups[order], groups[rows], side) for side in ("left", "right"))
    return order[random.integers(starts, ends)]


def drop_ngrams(weighted, random):
    """Applies n-gram dropout to sparse vectors: keeps each entry with probability `KEEP_PROBABILITY`."""
    kept = weighted.copy()
    kept.data *= random.random(len(kept.data)) < KEEP_PROBABILITY
    return kept


def contrastive_gradient(batch, groups, vectors):
    """Returns the gradient of the loss with respect to the n-gram vectors, float32 (ngrams, dimensions).

    Args:
        batch: Three matrices of TF-IDF vectors, each sparse float32 (rows, ngrams): questions, other questions with the
            same answers, and these answers.
        groups: The group of each row, integers (rows,). Rows with the same answer have the same group.
        vectors: The n-gram vectors, float32 (ngrams, dimensions).
    """
    same = groups[:, np.newaxis] == groups
    targets = (same / same.sum(axis=1)).astype("float32")  # Symmetric: rows of a group have equal sums.
    (questions, *others), lengths = zip(*(l2_normalize(one @ vectors) for one in batch))
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
    """The update directions of the Adam optimizer (Kingma & Ba 2015, algorithm 1).

    Args:
        shape: The shape of the trained array.
    """

    def __init__(self, shape):
        self._steps, self._mean, self._square = 0, np.zeros(shape, "float32"), np.zeros(shape, "float32")

    def direction(self, gradient):
        """Returns the direction of the next update, an array of the same shape as the gradient."""
        self._steps += 1
        self._mean += (1 - BETA_1) * (gradient - self._mean)
        self._square += (1 - BETA_2) * (gradient**2 - self._square)
        mean = self._mean / (1 - BETA_1**self._steps)
        return mean / (np.sqrt(self._square / (1 - BETA_2**self._steps)) + EPSILON)


def softmax(logits):
    """Returns the softmax over the last axis."""
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def l2_normalize(x):
    """Scales vectors to unit length; zero vectors stay zero.

    Args:
        x: Vectors, float32 (…, dimensions).

    Returns:
        The scaled vectors (…, dimensions), and their lengths before scaling (…, 1).
    """
    lengths = np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), TINY)
    return x / lengths, lengths
