"""What an export needs to answer from a run's datastore: what finds the nearest question, and if it is near enough.

The graph of a SavedModel holds them (`graph_retrieval`), as do the files beside an ONNX or LiteRT model (`beside`).
"""

import numpy as np

from keras_transformer.chat.answering import GENERATE, HYBRID, TAUGHT_SIMILARITY
from keras_transformer.text.normalize import normalize


def may_retrieve(bot):
    """Whether some question has an answer that a `Chatbot` does not generate."""
    if bot.datastore is None:
        return False
    exchanges, _, _ = bot.datastore.visible()
    return any(one.taught or bot.answering.way != GENERATE for one in exchanges)


def retrieval_arrays(index, numbers):
    """Which known questions have each n-gram, and by which weights, one n-gram behind the other.

    Args:
        index: The `QuestionIndex`.
        numbers: The numbers in it of the questions that can be found, ascending. Below they count from 0.

    Returns:
        A dictionary of arrays:

        - "columns": those of the n-grams that a question has, or had when the index was made, int32 (ngrams,),
          ascending.
        - "idf": what these weigh, and behind them what any other n-gram weighs, float32 (ngrams + 1,).
        - "starts": where the questions of each of these begin in the next two arrays, and end, int32 (ngrams + 2,).
        - "questions" and "weights": the numbers of the questions that have an n-gram, int32 (places,), and its share
          in their TF-IDF vectors, float32 (places,).
        - "vectors": those that the n-grams of "columns" add to an embedding, and zeros for any other, float16
          (ngrams + 1, dimensions).
        - "embedded": the embeddings of the questions at length 1, float16 (questions, dimensions); without dimensions
          if n-grams alone are compared.
    """
    by_ngram = index.by_ngram[:, numbers]
    idf = index.vectorizer.idf
    counts, unseen = np.diff(by_ngram.indptr), idf.max()
    columns = np.flatnonzero((counts > 0) | (idf < unseen))
    vectors = np.zeros((len(columns) + 1, index.embedded.shape[1]), "float16")
    if index.embeddings:
        vectors[np.searchsorted(columns, index.embeddings.columns)] = index.embeddings.vectors
    return {
        "columns": columns.astype("int32"),
        "idf": np.asarray([*idf[columns], unseen], "float32"),
        "starts": np.cumsum([0, *counts[columns], 0]).astype("int32"),
        "questions": by_ngram.indices.astype("int32"),
        "weights": by_ngram.data.astype("float32"),
        "vectors": vectors,
        "embedded": index.embedded[numbers],
    }


def least_similarity(exchange, answering):
    """From which similarity on an exchange answers, by the run's `Answering`, as `Chatbot.retrieves` says."""
    least = {GENERATE: np.inf, HYBRID: answering.similarity}.get(answering.way, 0.0)
    return min(least, TAUGHT_SIMILARITY) if exchange.taught else least


def numbers_by_question(exchanges):
    """A dictionary: for each question, normalized, the number of the first exchange that asks it."""
    numbers = {}
    for number, exchange in enumerate(exchanges):
        numbers.setdefault(normalize(exchange.question), number)
    return numbers
