"""Preprocessing and postprocessing as TensorFlow operations: questions to token ids, and token ids to answers."""

import tensorflow as tf

from keras_transformer.text.in_graph import InGraphTokenizer, re2
from keras_transformer.text.normalize import SPACES
from keras_transformer.text.turns import BETWEEN

NOT_UTF8 = 0xFFFD  # Replaces invalid UTF-8 bytes.
LONGEST = 10_000  # Characters of a turn that are read, as many as the server of this package accepts.


class GraphText(tf.Module):
    """The text processing of a `Chatbot` inside a graph.

    Args:
        run: The `Run`, for its tokenizers, maximum question length and turns.
        tokenizer_class: `CoreTokenizer` or `InGraphTokenizer`.
    """

    def __init__(self, run, tokenizer_class=InGraphTokenizer):
        super().__init__()
        self.max_length, self.turns = run.config.max_length, run.config.turns
        self.start_id, self.end_id = run.tokenizer.start_id, run.tokenizer.end_id
        self.separator_id = run.tokenizer.separator_id
        self.source = tokenizer_class(run.tokenizer)
        shared = run.target_tokenizer is run.tokenizer
        self.target = self.source if shared else tokenizer_class(run.target_tokenizer)

    def encode(self, questions):
        """Tokenizes questions, strings (batch,): int32 (batch, length), with a row of zeros for a blank question."""
        questions = whole(questions)
        questions = shortened(questions) if self.turns == 1 else questions
        blank = tf.strings.regex_full_match(questions, f"({re2(SPACES)})?")
        pieces = self.source.encode(questions) if self.turns == 1 else self.encode_turns(questions)
        pieces = pieces[:, : self.max_length - 2]
        rows = tf.shape(questions, out_type=pieces.row_splits.dtype)
        start, end = (tf.fill((rows[0], 1), i) for i in (self.start_id, self.end_id))
        ids = tf.concat([start, pieces, end], axis=1)
        return tf.where(blank[:, None], 0, ids.to_tensor())

    def normalize(self, questions):
        """Normalizes questions, strings (batch,), for comparison."""
        return self.source.normalize(shortened(whole(questions)))

    def encode_turns(self, questions):
        """Tokenizes the last turns of questions, as many as fit, joined by separators: RaggedTensor."""
        turns = tf.strings.split(questions, BETWEEN)
        turns = tf.ragged.boolean_mask(turns, ~tf.strings.regex_full_match(turns, f"({re2(SPACES)})?"))
        turns = turns[:, -self.turns :]
        pieces = self.source.encode(shortened(turns.flat_values))
        joined = tf.concat([tf.fill((pieces.nrows(), 1), self.separator_id), pieces], axis=1)
        # Length of a turn and all later ones, each with a separator. That of the first stands for the start token.
        lengths = turns.with_flat_values(joined.row_lengths())
        sums = tf.cumsum(lengths.to_tensor(), axis=1, reverse=True)
        sums = tf.RaggedTensor.from_tensor(sums, lengths=lengths.row_lengths())
        last = tf.ragged.range(lengths.row_lengths()) == (lengths.row_lengths() - 1)[:, None]
        kept = tf.ragged.boolean_mask(turns.with_flat_values(joined), (sums + 1 <= self.max_length) | last)
        return kept.merge_dims(1, 2)[:, 1:]

    def decode(self, ids):
        """Decodes the ids of answers, int32 (batch, length), into strings (batch,)."""
        return self.target.decode(ids)


def whole(questions):
    """Replaces invalid UTF-8 bytes in strings (batch,) with `NOT_UTF8`."""
    return tf.strings.unicode_transcode(questions, "UTF-8", "UTF-8", replacement_char=NOT_UTF8)


def shortened(texts):
    """Cuts strings (batch,) to `LONGEST` characters, before their tokenization takes memory and time for more."""
    return tf.strings.substr(texts, 0, LONGEST, unit="UTF8_CHAR")
