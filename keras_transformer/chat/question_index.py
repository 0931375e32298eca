"""An index that finds the stored questions nearest to a new question.

The similarity of two questions is the mean of two cosines:

- The cosine of TF-IDF vectors of character n-grams (`character_ngrams`). It needs no training and tolerates
misspelling. The answer of a stored question counts a little, because users often ask with the words of the answer.
- The cosine of embeddings (`question_embeddings`), which are trained on the corpus. It is multiplied by the coverage of
the new question: the share of its n-grams that have a vector. Otherwise one word in common with a stored question would
make an out-of-domain question similar.
"""

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

from keras_transformer.text.character_ngrams import character_ngrams
from keras_transformer.text.normalize import normalize

FEATURES = 2**18
ANSWER_WEIGHT = 0.3  # Weight of the answer, relative to the question. 0.2 to 0.5 perform about equally well.
CANDIDATES = 200  # Number of questions nearest by TF-IDF whose embeddings are compared.


class NgramVectorizer:
    """Maps texts to TF-IDF vectors of their character n-grams.

    The n-grams are hashed, so that texts with unseen n-grams can be added later. The inverse document frequencies (IDF)
    are fixed at construction.

    Args:
        questions: The questions, a list of at least one text.
        answers: The answer to each question, a list of texts.
    """

    def __init__(self, questions, answers):
        self._count = HashingVectorizer(
            analyzer=character_ngrams, n_features=FEATURES, alternate_sign=False, norm=None, dtype=np.float32
        )
        self._weigh = TfidfTransformer()
        self._weigh.fit(sparse.vstack([self._counts(questions), self._counts(answers)]))

    def __call__(self, texts):
        """Returns the TF-IDF vectors of texts, scaled to unit length: sparse float32 (texts, `FEATURES`)."""
        return self._weigh.transform(self._counts(texts)).astype("float32")

    def _counts(self, texts):
        """Returns the number of occurrences of each n-gram in each text: sparse float32 (texts, `FEATURES`)."""
        return self._count.transform(map(normalize, texts))

    @property
    def idf(self):
        """The inverse document frequency of each n-gram, float32 (`FEATURES`,)."""
        return self._weigh.idf_


class QuestionIndex:
    """An index of questions with their answers.

    Args:
        questions: The questions, a list of at least one text.
        answers: The answer to each question, a list of texts.
        embeddings: The `QuestionEmbeddings` trained on them; None to compare n-grams only.

    Attributes:
        vectorizer: The `NgramVectorizer` fitted to these questions and answers.
        by_ngram: One column per stored question, sparse float32 (`FEATURES`, questions): the TF-IDF vector of the
            question, plus that of its answer times `ANSWER_WEIGHT`.
        embeddings: The `QuestionEmbeddings`, or None.
        embedded: The embeddings of the stored questions, float16 (questions, dimensions).
    """

    def __init__(self, questions, answers, embeddings=None):
        self.vectorizer, self.embeddings = NgramVectorizer(questions, answers), embeddings
        self.by_ngram, self.embedded = self._vectors(questions, answers)

    def _vectors(self, questions, answers):
        """Returns the columns of `by_ngram` and the rows of `embedded` for questions with their answers."""
        weighted = self.vectorizer(questions)
        by_ngram = (weighted + ANSWER_WEIGHT * self.vectorizer(answers)).T.tocsr()
        return by_ngram, self._embed(weighted)

    def _embed(self, weighted):
        """Returns the embeddings of TF-IDF vectors, float16 (texts, dimensions); (texts, 0) without embeddings."""
        return self.embeddings(weighted) if self.embeddings else np.zeros((weighted.shape[0], 0), "float16")

    def __len__(self):
        return self.by_ngram.shape[1]

    def add(self, questions, answers):
        """Appends questions to the index. The vectors of the other questions do not change."""
        by_ngram, embedded = self._vectors(questions, answers)
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
        if not len(questions):
            return  # scikit-learn rejects an empty list.
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
            similarity = lexical
            if self.embeddings:
                similarity = (lexical + self.embedded[candidates].astype("float32") @ embedding) / 2
            order = np.lexsort((candidates, -similarity))
            yield candidates[order], np.clip(similarity[order], 0, 1)
