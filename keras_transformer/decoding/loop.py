"""The decoding loop for greedy decoding and sampling, where each row is one independent answer.

It depends on a step function and a strategy only, not on a model. A step function maps token ids (rows,), their
position and a cache to the logits of the next tokens, (rows, vocab_size), and the next cache. The loop is written in
`keras.ops`, so each backend can compile all of it.
"""

from keras import ops

from keras_transformer.decoding.constraints import IMPOSSIBLE
from keras_transformer.padding import PAD_ID


def start(cache, ended, uniforms, start_id):
    """Creates the state before the first token.

    Args:
        cache: Cache for the first call of the step function.
        ended: Booleans (rows,): rows to leave empty.
        uniforms: Random numbers of the strategy, one per token, float32 (rows, max_length).
        start_id: Token that starts every answer.

    Returns:
        A dictionary of "index" (of the next token), "last" (ids, (rows,)), "ids" so far (rows, max_length), "scores"
        (their summed log-probabilities, (rows,)), "places" (in the forbidden words, (rows,)), "ended", "uniforms" and
        "cache".
    """
    rows, max_length = ops.shape(uniforms)
    return {
        "index": ops.convert_to_tensor(0, "int32"),
        "last": ops.full((rows,), start_id, "int32"),
        "ids": ops.zeros((rows, max_length), "int32"),
        "scores": ops.zeros((rows,), "float32"),
        "places": ops.zeros((rows,), "int32"),
        "ended": ended,
        "uniforms": uniforms,
        "cache": cache,
    }


def advance(step, strategy, constraints, state, limit, end_id):
    """Adds tokens until every row has ended or contains `limit` tokens.

    Args:
        step: The step function.
        strategy: The strategy that selects each token, such as `Greedy()`.
        constraints: The `TokenConstraints`.
        state: The state that `start` or `advance` returned.
        limit: int32 scalar, at most the state's `max_length`.
        end_id: Token that ends an answer.

    Returns:
        The new state. Its scores are the model's log-probabilities, before the constraints.
    """

    def unfinished(state):
        return ops.logical_and(state["index"] < limit, ops.logical_not(ops.all(state["ended"])))

    def add_token(state):
        logits, cache = step(state["last"], state["index"], state["cache"])
        log_probabilities = ops.log_softmax(logits)
        allowed = constraints.apply(log_probabilities, state["ids"], state["index"], end_id, state["places"])
        chosen = strategy.select_token(allowed, ops.take(state["uniforms"], state["index"], axis=1))
        gain = ops.squeeze(ops.take_along_axis(log_probabilities, chosen[:, None], axis=-1), -1)
        # If the constraints ban every token, the answer ends without an end token.
        ended = ops.logical_or(state["ended"], ops.max(allowed, axis=-1) < IMPOSSIBLE / 2)
        chosen = ops.where(ended, PAD_ID, chosen)
        return {
            **state,
            "index": state["index"] + 1,
            "last": chosen,
            "ids": ops.slice_update(state["ids"], (0, state["index"]), chosen[:, None]),
            "scores": state["scores"] + ops.where(ended, 0.0, gain),
            "places": constraints.follow(state["places"], chosen),
            "ended": ops.logical_or(ended, ops.equal(chosen, end_id)),
            "cache": cache,
        }

    return ops.while_loop(unfinished, lambda state: (add_token(state),), (state,))[0]
