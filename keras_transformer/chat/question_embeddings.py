"""Question embeddings trained on the exchanges of a corpus, so that questions with the same answer are near each other.

Each character n-gram has a vector. The embedding of a text is the sum of the vectors of its n-grams, weighted by TF-IDF
and scaled to unit length. The vectors are trained with a contrastive loss (InfoNCE, van den Oord et al. 2018, equation
4): within a batch, each question should be more similar to its own answer, and to another question with this answer,
than to the answers and questions of the other rows.

A question or an answer is often replaced by a paraphrase, with synonyms in place of some words (data augmentation by
synonym replacement: Wei and Zou 2019, "EDA: Easy Data Augmentation Techniques for Boosting Performance on Text
Classification Tasks"). So the n-grams of words that the corpus does not have get vectors near those of words it has.
Questions are also asked with other endings (`question_forms`), so that these count less than the topic.

A corpus may be learned beside other exchanges, its background. They teach words that the corpus does not have. They
also show what is common: a phrase such as "I would like to" that only one question of a small corpus has, by chance,
would be taken for what this question is about.

The gradient is computed in NumPy. This is short, needs no compilation, and gives the same result on every Keras backend
and in every process of distributed training. The matrices are small: a second BLAS thread gains nothing, changes the
last bits and, on a busy machine, spends most of its time waiting. One thread computes their products.
"""

import itertools

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from keras_transformer.chat.question_index import NgramVectorizer
from keras_transformer.text.normalize import normalize
from keras_transformer.text.thesaurus import Thesaurus

DIMENSIONS = 128
MOST_NGRAMS = 2**15  # Maximum number of n-grams with a vector: the most frequent ones.
STEPS = 600
BATCH = (256,)  # Number of rows of the corpus in a batch.
BATCH_BESIDE = 128, 384  # The same beside a background, and that of rows of the background.
LEARNING_RATE = 0.006
TEMPERATURE = 0.1
KEEP_PROBABILITY = 0.7  # N-gram dropout: share of a text's n-grams kept in a step, for robustness to unseen spellings.
PARAPHRASES, MOST_PARAPHRASES = 24, 50_000  # Maximum number for each text; for all questions, and for all answers.
BACKGROUND_PARAPHRASES = 2  # Maximum number for each text of the background.
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
def learn_embeddings(questions, answers, seed=0, background=()):
    """Trains `QuestionEmbeddings` on a corpus.

    Args:
        questions: The questions, a list of at least one text.
        answers: The answer to each question, a list of texts.
        seed: Random seed of the initial vectors, of the paraphrases, and of the batches.
        background: Questions and answers, two lists of texts, that are not part of the corpus; () for none.

    Returns:
        The `QuestionEmbeddings`.
    """
    random = np.random.default_rng(seed)
    vectorizer, *_weighted = NgramVectorizer.fit(questions, answers)
    sizes = [len(questions), *([len(background[0])] if background else [])]
    counts = np.repeat([min(PARAPHRASES, MOST_PARAPHRASES // sizes[0]), BACKGROUND_PARAPHRASES][: len(sizes)], sizes)
    if background:
        questions, answers = [*questions, *background[0]], [*answers, *background[1]]
    normalized = [normalize(answer) for answer in answers]
    _, first, groups = np.unique(normalized, return_index=True, return_inverse=True)
    questions = Phrasings(questions, counts, vectorizer, random, forms=True)
    answers = Phrasings([answers[row] for row in first], counts[first], vectorizer, random)
    columns = frequent_columns([questions.vectors, answers.vectors])
    questions.keep(columns)
    answers.keep(columns)
    vectors = random.normal(0, DIMENSIONS**-0.5, (len(columns), DIMENSIONS)).astype("float32")
    optimizer = LazyAdam(vectors)
    for step in range(STEPS):
        rows = draw_rows(sizes, random)
        others = rows_with_same_group(rows, groups, random)
        batch = questions.draw(rows, random), questions.draw(others, random), answers.draw(groups[rows], random)
        ngrams, batch = used_columns([drop_ngrams(one, random) for one in batch])
        gradient = contrastive_gradient(batch, groups[rows], vectors[ngrams])
        optimizer.update(ngrams, gradient, (1 - step / STEPS) * LEARNING_RATE)
    return QuestionEmbeddings(columns, vectors)


def draw_rows(sizes, random):
    """Returns distinct rows of a batch, as many of each part: of the corpus, and of the background if there is one.

    Args:
        sizes: The number of rows of each part.
        random: A NumPy random generator.
    """
    starts, most = np.cumsum(sizes) - sizes, (BATCH, BATCH_BESIDE)[len(sizes) - 1]
    drawn = (random.choice(size, min(many, size), replace=False) for size, many in zip(sizes, most))
    return np.concatenate([start + rows for start, rows in zip(starts, drawn)])


class Phrasings:
    """Texts and their paraphrases as TF-IDF vectors.

    Args:
        texts: The texts, a list.
        counts: Maximum number of paraphrases of each text, integers (texts,).
        vectorizer: The `NgramVectorizer`.
        random: A NumPy random generator.
        forms: Whether the texts are questions, which may be asked in other forms.

    Attributes:
        vectors: The TF-IDF vectors of all phrasings, sparse float32 (phrasings, columns).
    """

    def __init__(self, texts, counts, vectorizer, random, forms=False):
        thesaurus = Thesaurus.load()
        paraphrases = [thesaurus.paraphrases(text, count, random, forms) for text, count in zip(texts, counts)]
        self.vectors = vectorizer([*texts, *itertools.chain(*paraphrases)])
        self._counts = np.array([len(row) for row in paraphrases])
        self._starts = len(texts) + np.cumsum(self._counts) - self._counts

    def keep(self, columns):
        """Keeps only these columns of the vectors."""
        self.vectors = self.vectors[:, columns]

    def draw(self, rows, random):
        """Returns the vectors of one phrasing of each text, the text itself included, sparse float32 (rows, columns).

        Args:
            rows: The numbers of the texts, integers (rows,).
            random: A NumPy random generator.
        """
        numbers = random.integers(0, self._counts[rows], endpoint=True) - 1  # -1 is the text itself.
        return self.vectors[np.where(numbers < 0, rows, self._starts[rows] + numbers)]


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
    kept.eliminate_zeros()
    return kept


def used_columns(matrices):
    """Returns the columns with entries in any of these sparse matrices, ascending, and the matrices of these alone."""
    is_used = np.zeros(matrices[0].shape[1], bool)
    for one in matrices:
        is_used[one.indices] = True
    used, places = np.flatnonzero(is_used), np.cumsum(is_used) - 1
    return used, [
        sparse.csr_matrix((one.data, places[one.indices], one.indptr), (one.shape[0], len(used))) for one in matrices
    ]


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
    batch = sparse.vstack(batch, format="csr")
    units, lengths = l2_normalize(batch @ vectors)
    questions, *others = units.reshape(3, len(groups), -1)
    gradients = np.zeros_like(units)
    of_questions, *of_others = gradients.reshape(3, len(groups), -1)
    for other, of_other in zip(others, of_others):
        logits = questions @ other.T / TEMPERATURE
        of_logits = (softmax(logits) - targets + softmax(logits.T).T - targets) / (TEMPERATURE * len(groups))
        of_questions += of_logits @ other
        of_other += of_logits.T @ questions
    return batch.T @ ((gradients - units * (gradients * units).sum(axis=1, keepdims=True)) / lengths)


class LazyAdam:
    """The Adam optimizer (Kingma & Ba 2015, algorithm 1, in the order of computation at the end of section 2).

    A step only updates rows that have a gradient, and their moments, as `SparseAdam` of PyTorch does: a batch has a
    small part of the n-grams.

    Args:
        values: The matrix to train, float32, which is updated in place.
    """

    def __init__(self, values):
        self._values, self._steps = values, 0
        self._means, self._squares = np.zeros_like(values), np.zeros_like(values)

    def update(self, rows, gradient, learning_rate):
        """Updates some rows by their gradient.

        Args:
            rows: The numbers of the rows, distinct integers (rows,).
            gradient: The gradient with respect to these rows, float32 (rows, columns).
            learning_rate: The learning rate.
        """
        self._steps += 1
        rate = np.float32(learning_rate * np.sqrt(1 - BETA_2**self._steps) / (1 - BETA_1**self._steps))
        means, squares = self._means[rows], self._squares[rows]
        means += (1 - BETA_1) * (gradient - means)
        squares += (1 - BETA_2) * (np.square(gradient) - squares)
        self._means[rows], self._squares[rows] = means, squares
        steps = np.sqrt(squares, out=squares)
        steps += EPSILON
        np.divide(means, steps, out=steps)
        steps *= rate
        self._values[rows] -= steps


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
