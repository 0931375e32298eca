"""Which known questions are nearest to a new one: by the characters they share, and by learned embeddings.

The similarity is the mean of two. One is the cosine of TF-IDF vectors of character n-grams (`character_ngrams`), which
needs no training and tolerates spelling; the answer of a known question counts a little, because people ask with its
words. The other is the cosine of embeddings (`question_embeddings`), which have learned from the corpus what asks for
the same answer. They know nothing of n-grams that the corpus does not have, so their cosine counts as much as the
corpus covers the question: one word in common with a known question does not make a foreign one similar.
"""

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

from keras_transformer.text.character_ngrams import character_ngrams
from keras_transformer.text.normalize import normalize

FEATURES = 2**18
ANSWER_WEIGHT = 0.3  # Of a known question's answer beside the question itself; .2 to .5 do about equally well.
CANDIDATES = 200  # Questions nearest by TF-IDF whose embeddings are compared.


class NgramVectorizer:
    """TF-IDF vectors of texts by their character n-grams, hashed: a text added later may have n-grams of its own.

    Args:
        questions: Texts, at least one.
        answers: Theirs. How many questions and answers have an n-gram weighs it from then on.
    """

    def __init__(self, questions, answers):
        self._count = HashingVectorizer(
            analyzer=character_ngrams, n_features=FEATURES, alternate_sign=False, norm=None, dtype=np.float32
        )
        self._weigh = TfidfTransformer()
        self._weigh.fit(sparse.vstack([self._counts(questions), self._counts(answers)]))

    def __call__(self, texts):
        """The vectors of texts at length 1, sparse float32 (texts, `FEATURES`)."""
        return self._weigh.transform(self._counts(texts)).astype("float32")

    def _counts(self, texts):
        """How often each text has each n-gram: a sparse matrix."""
        return self._count.transform(map(normalize, texts))

    @property
    def idf(self):
        """What each n-gram weighs, float32 (FEATURES,)."""
        return self._weigh.idf_


class QuestionIndex:
    """An index of questions with their answers.

    Args:
        questions: Texts, at least one.
        answers: Theirs.
        embeddings: The `QuestionEmbeddings` learned from them; None to compare n-grams alone.

    Attributes:
        vectorizer: The `NgramVectorizer` of these questions and answers.
        by_ngram: TF-IDF vectors of the known questions at length 1, and of their answers at length `ANSWER_WEIGHT`,
            summed, a column each: sparse float32 (FEATURES, questions).
        embeddings: As above.
        embedded: Embeddings of the known questions, float16 (questions, dimensions).
    """

    def __init__(self, questions, answers, embeddings=None):
        self.vectorizer, self.embeddings = NgramVectorizer(questions, answers), embeddings
        self.by_ngram, self.embedded = self._vectors(questions, answers)

    def _vectors(self, questions, answers):
        """Those of known questions: TF-IDF, sparse (FEATURES, questions), and embeddings (questions, dimensions)."""
        weighted = self.vectorizer(questions)
        by_ngram = (weighted + ANSWER_WEIGHT * self.vectorizer(answers)).T.tocsr()
        return by_ngram, self._embed(weighted)

    def _embed(self, weighted):
        """The embeddings of TF-IDF vectors; without any dimension if none were learned."""
        return self.embeddings(weighted) if self.embeddings else np.zeros((weighted.shape[0], 0), "float16")

    def __len__(self):
        return self.by_ngram.shape[1]

    def add(self, questions, answers):
        """Adds questions at the end; what is known of the others stays as it is."""
        by_ngram, embedded = self._vectors(questions, answers)
        self.by_ngram = sparse.hstack([self.by_ngram, by_ngram], format="csr")
        self.embedded = np.concatenate([self.embedded, embedded])

    def nearest(self, questions, hidden=()):
        """The nearest known questions.

        Args:
            questions: Texts.
            hidden: Numbers of known questions that are left out.

        Yields:
            For each text the numbers of known questions, nearest first and of equals the first added, and their
            similarities, floats from 0 to 1. Questions without a common n-gram are left out.
        """
        if not len(questions):
            return  # scikit-learn refuses an empty list.
        weighted = self.vectorizer(questions)
        cosines = weighted @ self.by_ngram
        hidden = np.fromiter(hidden, int)
        embedded = self._embed(weighted).astype("float32")
        if self.embeddings:
            embedded *= self.embeddings.coverage(weighted)[:, np.newaxis]
        for row, embedding in enumerate(embedded):
            known = cosines.indices[cosines.indptr[row] : cosines.indptr[row + 1]]
            lexical = cosines.data[cosines.indptr[row] : cosines.indptr[row + 1]]
            if len(hidden):  # Before the candidates are chosen, which they would be among.
                visible = ~np.isin(known, hidden)
                known, lexical = known[visible], lexical[visible]
            if len(known) > CANDIDATES:
                best = np.argpartition(-lexical, CANDIDATES)[:CANDIDATES]
                known, lexical = known[best], lexical[best]
            similarity = lexical
            if self.embeddings:
                similarity = (lexical + self.embedded[known].astype("float32") @ embedding) / 2
            order = np.lexsort((known, -similarity))
            yield known[order], np.clip(similarity[order], 0, 1)
