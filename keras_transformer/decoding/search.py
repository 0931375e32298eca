"""The decoding loop: it knows a step function and a strategy, no model.

A step function maps token ids (batch,), their position and a cache to the logits of the next tokens, (batch,
vocab_size), and the next cache. The loop is written in `keras.ops`, so that each backend may compile it whole.
"""

import dataclasses

from keras import ops

PAD_ID = 0  # Fills up the rows that have ended, and is never an answer's token.
IMPOSSIBLE = -1e9  # A log-probability that no sum of real ones reaches; finite, so that it never makes a NaN.


@dataclasses.dataclass(frozen=True)
class Greedy:
    """Takes the likeliest token at every step."""

    def choose(self, log_probabilities):
        """Token ids (batch,) from log-probabilities (batch, vocab_size)."""
        return ops.cast(ops.argmax(log_probabilities, axis=-1), "int32")


def start(cache, ended, start_id, max_length):
    """The state before the first token.

    Args:
        cache: What the step function needs at its first call.
        ended: Booleans (batch,): rows that shall stay empty.
        start_id: Token that starts every answer.
        max_length: Tokens of an answer at most, its end token included.

    Returns:
        A dictionary: "index" of the next token, "last" ids (batch,), "ids" so far (batch, max_length), their summed
        log-probabilities "scores" (batch,), "ended" and "cache".
    """
    batch = ops.shape(ended)[0]
    return {
        "index": ops.convert_to_tensor(0, "int32"),
        "last": ops.full((batch,), start_id, "int32"),
        "ids": ops.zeros((batch, max_length), "int32"),
        "scores": ops.zeros((batch,), "float32"),
        "ended": ended,
        "cache": cache,
    }


def advance(step, strategy, state, limit, end_id, min_length):
    """Adds tokens until every row has ended or holds `limit` of them.

    Args:
        step: The step function.
        strategy: What chooses a token, such as `Greedy()`.
        state: What `start` or `advance` returned.
        limit: int32 scalar, at most the state's `max_length`.
        end_id: Token that ends an answer.
        min_length: Tokens before an answer may end.

    Returns:
        The new state.
    """

    def unfinished(state):
        return ops.logical_and(state["index"] < limit, ops.logical_not(ops.all(state["ended"])))

    def add_token(state):
        logits, cache = step(state["last"], state["index"], state["cache"])
        log_probabilities = ops.log_softmax(logits)
        token = ops.arange(ops.shape(logits)[-1])
        too_early = ops.logical_and(ops.equal(token, end_id), state["index"] < min_length)
        forbidden = ops.logical_or(ops.equal(token, PAD_ID), too_early)
        chosen = strategy.choose(ops.where(forbidden, IMPOSSIBLE, log_probabilities))
        gain = ops.squeeze(ops.take_along_axis(log_probabilities, chosen[:, None], axis=-1), -1)
        chosen = ops.where(state["ended"], PAD_ID, chosen)
        return {
            "index": state["index"] + 1,
            "last": chosen,
            "ids": ops.slice_update(state["ids"], (0, state["index"]), chosen[:, None]),
            "scores": state["scores"] + ops.where(state["ended"], 0.0, gain),
            "ended": ops.logical_or(state["ended"], ops.equal(chosen, end_id)),
            "cache": cache,
        }

    return ops.while_loop(unfinished, lambda s: (add_token(s),), (state,))[0]
