"""Text around a search, as TensorFlow operations: questions to token ids, and token ids to answers."""

import tensorflow as tf

from keras_transformer.text.in_graph import InGraphTokenizer, re2
from keras_transformer.text.normalize import SPACES
from keras_transformer.text.turns import BETWEEN

NOT_UTF8 = 0xFFFD  # What stands for bytes that are no UTF-8.


class GraphText(tf.Module):
    """What a `Chatbot` does before and after its search, inside a graph.

    Args:
        run: The `Run`, for its tokenizers, its longest question and its turns.
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
        """Token ids of questions, strings (batch,): int32 (batch, length), a row of zeros for a blank one."""
        questions = whole(questions)
        blank = tf.strings.regex_full_match(questions, f"({re2(SPACES)})?")
        pieces = self.source.encode(questions) if self.turns == 1 else self.encode_turns(questions)
        pieces = pieces[:, : self.max_length - 2]
        rows = tf.shape(questions, out_type=pieces.row_splits.dtype)
        start, end = (tf.fill((rows[0], 1), i) for i in (self.start_id, self.end_id))
        ids = tf.concat([start, pieces, end], axis=1)
        return tf.where(blank[:, None], 0, ids.to_tensor())

    def normalize(self, questions):
        """Questions, strings (batch,), as they are compared with others."""
        return self.source.normalize(whole(questions))

    def encode_turns(self, questions):
        """The pieces of the last turns of questions, as many as fit, with separators between: RaggedTensor."""
        turns = tf.strings.split(questions, BETWEEN)
        turns = tf.ragged.boolean_mask(turns, ~tf.strings.regex_full_match(turns, f"({re2(SPACES)})?"))
        turns = turns[:, -self.turns :]
        pieces = self.source.encode(turns.flat_values)
        joined = tf.concat([tf.fill((pieces.nrows(), 1), self.separator_id), pieces], axis=1)
        # Places that a turn and all after it take, each with a separator, which for the first is that of the start.
        lengths = turns.with_flat_values(joined.row_lengths())
        sums = tf.cumsum(lengths.to_tensor(), axis=1, reverse=True)
        sums = tf.RaggedTensor.from_tensor(sums, lengths=lengths.row_lengths())
        last = tf.ragged.range(lengths.row_lengths()) == (lengths.row_lengths() - 1)[:, None]
        kept = tf.ragged.boolean_mask(turns.with_flat_values(joined), (sums + 1 <= self.max_length) | last)
        return kept.merge_dims(1, 2)[:, 1:]

    def decode(self, ids):
        """Strings (batch,) of the ids of answers, int32 (batch, length)."""
        return self.target.decode(ids)


def whole(questions):
    """Strings (batch,) with `NOT_UTF8` in the place of bytes that are none."""
    return tf.strings.unicode_transcode(questions, "UTF-8", "UTF-8", replacement_char=NOT_UTF8)
