"""Retrieval from a datastore as TensorFlow operations, equivalent to `Datastore.nearest`."""

import tensorflow as tf

from keras_transformer.chat.answering import GENERATE
from keras_transformer.chat.question_index import CANDIDATES, DECIMALS, FEATURES
from keras_transformer.export.retrieval_index import least_similarity, numbers_by_question, retrieval_arrays
from keras_transformer.text.core_ops import CPU
from keras_transformer.text.ops.character_ngrams import CharacterNgrams
from keras_transformer.text.ops.trie import NONE, table


class GraphRetrieval(tf.Module):
    """Retrieves answers as the run does by default, from a snapshot of its datastore.

    Args:
        bot: The run's `Chatbot`. Its datastore must not be empty.
        text: The `GraphText` of the run.
    """

    def __init__(self, bot, text):
        super().__init__()
        exchanges, numbers, index = bot.datastore.visible()
        self._text = text
        self._closed = bot.memorized and bot.answering.way != GENERATE
        with tf.device(CPU):
            self._ngrams = CharacterNgrams(FEATURES)
            self._keep(**retrieval_arrays(index, numbers))
            self._exact = table(numbers_by_question(exchanges), NONE)
            self._answers = tf.constant([one.answer for one in exchanges])
            self._least = tf.constant([least_similarity(one, bot.answering) for one in exchanges], tf.float64)

    def _keep(self, columns, idf, starts, questions, weights, vectors, embedded):
        """Stores the arrays of `retrieval_arrays`."""
        self._rows = table({int(column): row for row, column in enumerate(columns)}, len(columns))
        self._idf, self._starts, self._vectors = variable(idf), variable(starts), variable(vectors)
        self._questions, self._weights, self._embedded = variable(questions), variable(weights), variable(embedded)

    def __call__(self, questions, inputs):
        """Retrieves the answers of the nearest exchanges.

        Args:
            questions: Strings (batch,).
            inputs: Their ids, int32 (batch, length). A row of zeros is a blank question without a nearest exchange.

        Returns:
            A dictionary of "retrieved", bool (batch,), whether no answer is to be generated; "answers", strings
            (batch,), "" for those to generate, and where a run that memorized its corpus knows nothing similar; and
            "similarities" of the nearest questions, float32 (batch,), 0 if there is none.
        """
        with tf.device(CPU):
            texts = self._text.normalize(questions)
            kinds = tf.TensorSpec((), tf.int32), tf.TensorSpec((), tf.float32)
            nearest, similarities = tf.map_fn(self._nearest, self._ngrams(texts), fn_output_signature=kinds)
            exact = self._exact.lookup(texts)
            similarities = tf.where(exact == NONE, similarities, 1.0)
            asked = tf.reduce_any(inputs != 0, axis=1)
            nearest = tf.where(asked, tf.where(exact == NONE, nearest, exact), NONE)
            found, numbers = nearest != NONE, tf.maximum(nearest, 0)
            answered = found & (tf.cast(similarities, tf.float64) >= tf.gather(self._least, numbers))
            return {
                "answers": tf.where(answered, tf.gather(self._answers, numbers), ""),
                "retrieved": answered | (asked & ~found) if self._closed else answered,
                "similarities": tf.where(found, similarities, 0.0),
            }

    def _nearest(self, ngrams):
        """Finds the nearest known question.

        Args:
            ngrams: Columns of the n-grams of the question, int32 (ngrams,).

        Returns:
            A tuple of the number of the nearest question, `NONE` if none has an n-gram in common, and its similarity.
        """
        ngrams, _, counts = tf.unique_with_counts(ngrams)
        rows = self._rows.lookup(tf.cast(ngrams, tf.int64))
        weights = unit_vectors(tf.cast(counts, tf.float32) * tf.gather(self._idf, rows))
        starts, ends = tf.gather(self._starts, rows), tf.gather(self._starts, rows + 1)
        places = tf.ragged.range(starts, ends).values
        products = tf.repeat(weights, ends - starts) * tf.gather(self._weights, places)
        num_known = self._embedded.shape[0]
        cosines = tf.math.unsorted_segment_sum(products, tf.gather(self._questions, places), num_known)
        candidates = tf.sort(tf.math.top_k(cosines, min(CANDIDATES, num_known)).indices)  # Of equal ones, first wins.
        similarities = lexical = tf.gather(cosines, candidates)
        if self._embedded.shape[1]:
            vectors = tf.cast(tf.gather(self._vectors, rows), tf.float32)
            covered = tf.where(tf.reduce_any(vectors != 0, axis=1), weights, 0.0)
            embedding = rounded(unit_vectors(tf.linalg.matvec(vectors, weights, transpose_a=True)))
            embedding *= tf.reduce_sum(covered**2)
            embedded = tf.cast(tf.gather(self._embedded, candidates), tf.float32)
            similarities = lexical + tf.linalg.matvec(embedded, embedding)
        similarities = tf.where(lexical > 0, similarities, -1.0)
        best = tf.argmax(tf.round(similarities * 10**DECIMALS))  # Of equal ones, the first wins.
        number = tf.where(lexical[best] > 0, candidates[best], NONE)
        return number, tf.clip_by_value(similarities[best], 0.0, 1.0)


def unit_vectors(vectors):
    """Normalizes vectors, float32 (…, size), to unit length. Zero vectors stay zero."""
    return vectors / tf.maximum(tf.norm(vectors, axis=-1, keepdims=True), 1e-12)


def rounded(vectors):
    """Rounds vectors to the precision of the stored embeddings."""
    return tf.cast(tf.cast(vectors, tf.float16), tf.float32)


def variable(values):
    """Creates a variable, which is saved next to the graph and not as a constant in it."""
    return tf.Variable(values, trainable=False)
