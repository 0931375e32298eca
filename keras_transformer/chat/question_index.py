"""An index that finds the stored questions nearest to a new question.

The similarity of two questions is a weighted mean of two cosines:

- The cosine of TF-IDF vectors of character n-grams (`character_ngrams`). It needs no training and tolerates
misspelling. The answer of a stored question counts a little, because users often ask with the words of the answer.
- The cosine of embeddings (`question_embeddings`), which are trained on the corpus and know synonyms. It is multiplied
by the coverage of the new question: the share of its n-grams that have a vector. Otherwise one word in common with a
stored question would make an out-of-domain question similar. An n-gram without a vector, which only a question that was
added later can have in common with a new one, has the weight of both cosines instead.
"""

import numpy as np
from scipy import sparse

from keras_transformer.text.ngram_counts import count_ngrams
from keras_transformer.text.normalize import normalize

FEATURES = 2**18
ANSWER_WEIGHT = 0.3  # Weight of the answer, relative to the question. 0.2 to 0.5 perform about equally well.
EMBEDDING_WEIGHT = 0.8  # Weight of the embeddings' cosine; the rest is that of the n-grams.
DECIMALS = 5  # Similarities are compared by these decimals: the last bits of a sum differ between processors.
CANDIDATES = 200  # Number of questions nearest by TF-IDF whose embeddings are compared.


class NgramVectorizer:
    """Maps texts to TF-IDF vectors of their character n-grams, like `TfidfTransformer` of scikit-learn.

    The n-grams are hashed, so that texts with unseen n-grams can be added later. The inverse document frequencies (IDF)
    are fixed at construction.

    Args:
        idf: The inverse document frequency of each n-gram, float32 (`FEATURES`,).

    Attributes:
        idf: The same.
    """

    def __init__(self, idf):
        self.idf = idf

    @classmethod
    def fit(cls, *corpora):
        """Returns a vectorizer for lists of at least one text, followed by the TF-IDF vectors of each list."""
        counts = [counts_of(texts) for texts in corpora]
        texts = np.float32(1 + sum(one.shape[0] for one in counts))
        frequencies = sum(np.bincount(one.indices, minlength=FEATURES) for one in counts).astype("float32")
        vectorizer = cls(np.log(texts / (1 + frequencies)) + 1)
        return vectorizer, *map(vectorizer.weigh, counts)

    def __call__(self, texts):
        """Returns the TF-IDF vectors of texts, scaled to unit length: sparse float32 (texts, `FEATURES`)."""
        return self.weigh(counts_of(texts))

    def weigh(self, counts):
        """Turns counts into TF-IDF vectors in place, and returns them."""
        counts.data *= self.idf[counts.indices]
        rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        # In float64 and in the order of the columns, so that the vectors have the same bits as those of scikit-learn.
        lengths = np.sqrt(np.bincount(rows, counts.data**2, counts.shape[0]))
        counts.data /= lengths[rows]
        return counts


def counts_of(texts):
    """Returns the number of occurrences of each n-gram in each text: sparse float32 (texts, `FEATURES`)."""
    return count_ngrams(map(normalize, texts), FEATURES)


class QuestionIndex:
    """An index of questions with their answers.

    Args:
        questions: The questions, a list of at least one text.
        answers: The answer to each question, a list of texts.
        embeddings: The `QuestionEmbeddings` trained on them; None to compare n-grams only.
        vectorizer: The `NgramVectorizer`; None to fit one to these questions and answers.

    Attributes:
        vectorizer: The `NgramVectorizer`.
        by_ngram: One column per stored question, sparse float32 (`FEATURES`, questions): the TF-IDF vector of the
            question, plus that of its answer times `ANSWER_WEIGHT`. The rows of n-grams that have a vector are
            multiplied by 1 - `EMBEDDING_WEIGHT`.
        embeddings: The `QuestionEmbeddings`, or None.
        embedded: The embeddings of the stored questions times `EMBEDDING_WEIGHT`, float16 (questions, dimensions).
    """

    def __init__(self, questions, answers, embeddings=None, vectorizer=None):
        if vectorizer is None:
            self.vectorizer, *weighted = NgramVectorizer.fit(questions, answers)
        else:
            self.vectorizer, *weighted = vectorizer, vectorizer(questions), vectorizer(answers)
        self.embeddings = embeddings
        self._factors = np.ones(FEATURES, "float32")
        if embeddings:
            self._factors[embeddings.columns] = 1 - EMBEDDING_WEIGHT
        self.by_ngram, self.embedded = self._vectors(*weighted)

    def _vectors(self, questions, answers):
        """Returns columns of `by_ngram` and rows of `embedded` from TF-IDF vectors of questions and their answers."""
        by_ngram = (questions + ANSWER_WEIGHT * answers).T.tocsr()
        by_ngram.data *= np.repeat(self._factors, np.diff(by_ngram.indptr))
        return by_ngram, (EMBEDDING_WEIGHT * self._embed(questions).astype("float32")).astype("float16")

    def _embed(self, weighted):
        """Returns the embeddings of TF-IDF vectors, float16 (texts, dimensions); (texts, 0) without embeddings."""
        return self.embeddings(weighted) if self.embeddings else np.zeros((weighted.shape[0], 0), "float16")

    def __len__(self):
        return self.by_ngram.shape[1]

    def add(self, questions, answers):
        """Appends questions to the index. The vectors of the other questions do not change."""
        by_ngram, embedded = self._vectors(self.vectorizer(questions), self.vectorizer(answers))
        self.by_ngram = sparse.hstack([self.by_ngram, by_ngram], format="csr")
        self.embedded = np.concatenate([self.embedded, embedded])

    def nearest(self, questions, hidden=()):
        """Finds the stored questions that are nearest to each text.

        Args:
            questions: The texts, a list.
            hidden: The indices of stored questions to exclude.

        Yields:
            For each text, the indices of stored questions, an integer array (matches,), and their similarities from 0
            to 1, float32 (matches,). The nearest question comes first; of equally near ones, the one that was added
            first. Stored questions without a common n-gram are excluded.
        """
        weighted = self.vectorizer(questions)
        cosines = weighted @ self.by_ngram
        hidden = np.fromiter(hidden, int)
        embedded = self._embed(weighted).astype("float32")
        if self.embeddings:
            embedded *= self.embeddings.coverage(weighted)[:, np.newaxis]
        for row, embedding in enumerate(embedded):
            candidates = cosines.indices[cosines.indptr[row] : cosines.indptr[row + 1]]
            lexical = cosines.data[cosines.indptr[row] : cosines.indptr[row + 1]]
            if len(hidden):  # Exclude hidden questions first, so that they do not take the places of candidates.
                visible = ~np.isin(candidates, hidden)
                candidates, lexical = candidates[visible], lexical[visible]
            if len(candidates) > CANDIDATES:
                best = np.argpartition(-lexical, CANDIDATES)[:CANDIDATES]
                candidates, lexical = candidates[best], lexical[best]
            similarity = lexical + self.embedded[candidates].astype("float32") @ embedding
            order = np.lexsort((candidates, -np.round(similarity, DECIMALS)))
            yield candidates[order], np.clip(similarity[order], 0, 1)
