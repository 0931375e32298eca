"""The retrieval index of an export: arrays to find the nearest known question, and similarity thresholds.

They are stored in the graph of a SavedModel (`graph_retrieval`), or in files next to an ONNX, LiteRT or CTranslate2
model (`sidecar`).
"""

import numpy as np

from keras_transformer.chat.answering import GENERATE, HYBRID, TAUGHT_SIMILARITY
from keras_transformer.text.normalize import normalize


def may_retrieve(bot):
    """Returns whether a `Chatbot` may retrieve an answer instead of generating it."""
    if bot.datastore is None:
        return False
    exchanges, _, _ = bot.datastore.visible()
    return any(one.taught or bot.answering.way != GENERATE for one in exchanges)


def retrieval_arrays(index, numbers):
    """Creates the arrays of an inverted index from n-grams to known questions.

    Args:
        index: The `QuestionIndex`.
        numbers: Numbers of the retrievable questions in the index, ascending. They are renumbered from 0.

    Returns:
        A dictionary of arrays:

        - "columns": columns of the n-grams that occur in a question, or did when the index was created, and of those
          of paraphrases, int32 (ngrams,), ascending.
        - "idf": IDF weights of these n-grams, followed by that of any other n-gram, float32 (ngrams + 1,).
        - "starts": start of each n-gram's entries in the next two arrays, then that of any other n-gram, which has
          none, and the end, int32 (ngrams + 2,).
        - "questions" and "weights": numbers of the questions that contain an n-gram, int32 (places,), and its weight in
          `QuestionIndex.by_ngram`, float32 (places,).
        - "vectors": embedding vectors of the n-grams, followed by zeros for any other n-gram, float16 (ngrams + 1,
          dimensions).
        - "embedded": `QuestionIndex.embedded`, float16 (questions, dimensions). With 0 dimensions, only n-grams are
          compared.
    """
    by_ngram = index.by_ngram[:, numbers]
    idf = index.vectorizer.idf
    counts, unseen = np.diff(by_ngram.indptr), idf.max()
    embedded = index.embeddings.columns if index.embeddings else []
    columns = np.union1d(np.flatnonzero((counts > 0) | (idf < unseen)), embedded).astype("int32")
    vectors = np.zeros((len(columns) + 1, index.embedded.shape[1]), "float16")
    if index.embeddings:
        vectors[np.searchsorted(columns, index.embeddings.columns)] = index.embeddings.vectors
    return {
        "columns": columns,
        "idf": np.asarray([*idf[columns], unseen], "float32"),
        "starts": np.cumsum([0, *counts[columns], 0]).astype("int32"),
        "questions": by_ngram.indices.astype("int32"),
        "weights": by_ngram.data.astype("float32"),
        "vectors": vectors,
        "embedded": index.embedded[numbers],
    }


def least_similarity(exchange, answering):
    """Returns the minimum similarity at which an exchange is retrieved, as in `Chatbot.retrieves`."""
    least = {GENERATE: np.inf, HYBRID: answering.similarity}.get(answering.way, 0.0)
    return min(least, TAUGHT_SIMILARITY) if exchange.taught else least


def numbers_by_question(exchanges):
    """Returns a dictionary from normalized questions to the number of the first exchange with that question."""
    numbers = {}
    for number, exchange in enumerate(exchanges):
        numbers.setdefault(normalize(exchange.question), number)
    return numbers
