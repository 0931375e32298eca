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

    Attributes:
        vectors: TF-IDF vectors of the known questions at length 1, sparse float32 (questions, FEATURES).
        mean: What the memories of the first questions have in common, float32 (d_model,).
        memories: Those of the known questions less that, at length 1 again, float16 (questions, d_model).
        space: The columns of n-grams that are left out.
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
        self.space = HashingVectorizer(analyzer="char", n_features=FEATURES, norm=None).transform([" "]).indices
        self.vectors = self._weigh.fit_transform(self._counts(questions)).astype("float32")
        self._by_feature = self.vectors.T.tocsr()
        self.mean = np.asarray(memories, "float32").mean(axis=0)
        self.memories = self._centred(memories)

    def _counts(self, questions):
        """How often each text has each n-gram: a sparse matrix."""
        counts = self._count.transform(map(normalize, questions))
        counts.data[np.isin(counts.indices, self.space)] = 0
        counts.eliminate_zeros()
        return counts

    @property
    def idf(self):
        """What each n-gram weighs by the questions that had it when the index was made, float32 (FEATURES,)."""
        return self._weigh.idf_

    def __len__(self):
        return self.vectors.shape[0]

    def add(self, questions, memories):
        """Adds questions at the end; what is known of the others stays as it is."""
        vectors = self._weigh.transform(self._counts(questions)).astype("float32")
        self.vectors = sparse.vstack([self.vectors, vectors], format="csr")
        self._by_feature = self.vectors.T.tocsr()
        self.memories = np.concatenate([self.memories, self._centred(memories)])

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
            semantic = self.memories[known].astype("float32") @ memory
            similarity = (lexical + MEMORY_WEIGHT * semantic) / (1 + MEMORY_WEIGHT)
            order = np.lexsort((known, -similarity))
            yield known[order], np.clip(similarity[order], 0, 1)

    def _centred(self, memories):
        """Mean memories less their mean over the known questions, at length 1 again, float16."""
        centred = np.asarray(memories, "float32") - self.mean
        return (centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-12)).astype("float16")
