"""Which known questions are nearest to a new one: by the characters they share, and by what the encoder makes of them.

Two similarities are added. One is of the TF-IDF vectors of character n-grams (`character_ngrams`), which needs no
training and survives spelling; a part of it is what the new question shares with the known question's answer, whose
words people use who ask in their own. The other is the cosine of the mean memories, the encoder's output averaged over
the tokens of a question, which knows what training has learned about meaning; what all questions have in common is
taken off first.
"""

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

from keras_transformer.text.character_ngrams import character_ngrams
from keras_transformer.text.normalize import normalize

FEATURES = 2**18
ANSWER_WEIGHT = 0.3  # Of a known question's answer beside the question itself; .2 to .5 do about equally well.
MEMORY_WEIGHT = 0.35  # Of the memories' cosine beside the other; on ChatbotData, .25 to .5 do about equally well.
MANY = 1500  # Questions from which on it is that. Fewer teach the encoder less: it is less in proportion.
CANDIDATES = 200  # Questions nearest by TF-IDF whose memories are compared.


class QuestionIndex:
    """An index of questions with their answers.

    Hashed n-grams need no vocabulary, so that a question added later may have characters that no other has.

    Args:
        questions: Texts, at least one.
        answers: Theirs. How many questions and answers have an n-gram weighs it from then on.
        memories: Mean memories of the questions, floats (questions, d_model) of length 1.

    Attributes:
        by_ngram: TF-IDF vectors of the known questions at length 1, and of their answers at length `ANSWER_WEIGHT`,
            summed, a column each: sparse float32 (FEATURES, questions).
        mean: What the memories of the first questions have in common, float32 (d_model,).
        memories: Those of the known questions less that, at length 1 again, float16 (questions, d_model).
        memory_weight: What the cosine of memories weighs beside the other similarity.
    """

    def __init__(self, questions, answers, memories):
        self._count = HashingVectorizer(
            analyzer=character_ngrams, n_features=FEATURES, alternate_sign=False, norm=None, dtype=np.float32
        )
        self._weigh = TfidfTransformer()
        self._weigh.fit(sparse.vstack([self._counts(questions), self._counts(answers)]))
        self.by_ngram = self._vectors(questions, answers)
        self.mean = np.asarray(memories, "float32").mean(axis=0)
        self.memories = self._centred(memories)
        self.memory_weight = MEMORY_WEIGHT * min(1, len(self.memories) / MANY)

    def _counts(self, texts):
        """How often each text has each n-gram: a sparse matrix."""
        return self._count.transform(map(normalize, texts))

    def _weighted(self, texts):
        """TF-IDF vectors at length 1, sparse float32 (texts, FEATURES)."""
        return self._weigh.transform(self._counts(texts)).astype("float32")

    def _vectors(self, questions, answers):
        """Those of known questions, of which their answers are a part: sparse float32 (FEATURES, questions)."""
        return (self._weighted(questions) + ANSWER_WEIGHT * self._weighted(answers)).T.tocsr()

    @property
    def idf(self):
        """What each n-gram weighs by the texts that had it when the index was made, float32 (FEATURES,)."""
        return self._weigh.idf_

    def __len__(self):
        return self.by_ngram.shape[1]

    def add(self, questions, answers, memories):
        """Adds questions at the end; what is known of the others stays as it is."""
        self.by_ngram = sparse.hstack([self.by_ngram, self._vectors(questions, answers)], format="csr")
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
        cosines = self._weighted(questions) @ self.by_ngram
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
            similarity = (lexical + self.memory_weight * semantic) / (1 + self.memory_weight)
            order = np.lexsort((known, -similarity))
            yield known[order], np.clip(similarity[order], 0, 1)

    def _centred(self, memories):
        """Mean memories less their mean over the known questions, at length 1 again, float16."""
        centred = np.asarray(memories, "float32") - self.mean
        return (centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-12)).astype("float16")
