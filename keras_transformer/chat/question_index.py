"""Which known questions are nearest to a new one: by the characters they share, and by what the encoder makes of them.

Two cosines are added. One is of the TF-IDF vectors of characters and pairs of characters within words (scikit-learn's
"char_wb"), which needs no training and survives spelling. The other is of the mean memories, the encoder's output
averaged over the tokens of a question, which knows what training has learned about meaning; what all questions have in
common is taken off first.
"""

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

from keras_transformer.text.normalize import normalize

FEATURES = 2**18
MEMORY_WEIGHT = 0.35  # Of the memories' cosine beside the other; on ChatbotData, .25 to .5 do about equally well.
CANDIDATES = 200  # Questions nearest by TF-IDF whose memories are compared.


class QuestionIndex:
    """An index of questions.

    Hashed n-grams need no vocabulary, so that a question added later may have characters that no other has.

    Args:
        questions: Texts, at least one; their frequencies weigh the n-grams from then on.
        memories: Their mean memories, floats (questions, d_model) of length 1.
    """

    def __init__(self, questions, memories):
        self._count = HashingVectorizer(
            analyzer="char_wb",
            ngram_range=(1, 2),
            n_features=FEATURES,
            alternate_sign=False,
            norm=None,
            dtype=np.float32,
        )
        self._weigh = TfidfTransformer()
        # "char_wb" puts a space at both ends of every word, which would be a character that all texts have in common.
        self._space = HashingVectorizer(analyzer="char", n_features=FEATURES, norm=None).transform([" "]).indices
        self._vectors = self._weigh.fit_transform(self._counts(questions)).astype("float32")
        self._by_feature = self._vectors.T.tocsr()
        self._mean = np.asarray(memories, "float32").mean(axis=0)
        self._memories = self._centred(memories)

    def _counts(self, questions):
        """How often each text has each n-gram: a sparse matrix."""
        counts = self._count.transform(map(normalize, questions))
        counts.data[np.isin(counts.indices, self._space)] = 0
        counts.eliminate_zeros()
        return counts

    def __len__(self):
        return self._vectors.shape[0]

    def add(self, questions, memories):
        """Adds questions at the end; what is known of the others stays as it is."""
        vectors = self._weigh.transform(self._counts(questions)).astype("float32")
        self._vectors = sparse.vstack([self._vectors, vectors], format="csr")
        self._by_feature = self._vectors.T.tocsr()
        self._memories = np.concatenate([self._memories, self._centred(memories)])

    def nearest(self, questions, memories, hidden=()):
        """The nearest known questions.

        Args:
            questions: Texts.
            memories: Their mean memories, floats (questions, d_model) of length 1.
            hidden: Numbers of known questions that are left out.

        Yields:
            For each text the numbers of known questions, nearest first and of equals the first added, and their
            similarities, floats from 0 to 1. Questions without a common character are left out.
        """
        if not len(questions):
            return  # scikit-learn refuses an empty list.
        vectors = self._weigh.transform(self._counts(questions)).astype("float32")
        cosines = vectors @ self._by_feature
        hidden = np.fromiter(hidden, int)
        for row, memory in enumerate(self._centred(memories).astype("float32")):
            known = cosines.indices[cosines.indptr[row] : cosines.indptr[row + 1]]
            lexical = cosines.data[cosines.indptr[row] : cosines.indptr[row + 1]]
            if len(hidden):  # Before the candidates are chosen, which they would be among.
                visible = ~np.isin(known, hidden)
                known, lexical = known[visible], lexical[visible]
            if len(known) > CANDIDATES:
                best = np.argpartition(-lexical, CANDIDATES)[:CANDIDATES]
                known, lexical = known[best], lexical[best]
            semantic = self._memories[known].astype("float32") @ memory
            similarity = (lexical + MEMORY_WEIGHT * semantic) / (1 + MEMORY_WEIGHT)
            order = np.lexsort((known, -similarity))
            yield known[order], np.clip(similarity[order], 0, 1)

    def _centred(self, memories):
        """Mean memories less their mean over the known questions, at length 1 again, float16."""
        centred = np.asarray(memories, "float32") - self._mean
        return (centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-12)).astype("float16")
