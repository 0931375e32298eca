"""Beam search: the likeliest answers, found by keeping several unfinished ones at every step (section 6.1)."""

import dataclasses

from keras import ops

from keras_transformer.decoding.constraints import IMPOSSIBLE, PAD_ID
from keras_transformer.errors import InputError


@dataclasses.dataclass(frozen=True)
class Beam:
    """Keeps the likeliest unfinished answers and the best finished ones.

    Answers are ranked by their log-probability over the length penalty of Wu et al. 2016, equation 14, as in the
    paper's reference: lp(n) = ((5 + n) / 6)^α for n tokens.

    Args:
        num_beams: Unfinished answers kept for each question, and as many finished ones.
        length_penalty: α, at least 0; 0 ranks by log-probability, which prefers short answers.

    Raises:
        InputError: If one of them cannot be.
    """

    num_beams: int = 4
    length_penalty: float = 0.6

    def __post_init__(self):
        if self.num_beams < 1:
            raise InputError(f"num_beams must be 1 or more, not {self.num_beams}")
        if not 0 <= self.length_penalty < float("inf"):
            raise InputError(f"length_penalty must be 0 or more, not {self.length_penalty}")

    def penalty(self, length):
        """lp(length)."""
        return ((5.0 + ops.cast(length, "float32")) / 6.0) ** self.length_penalty

    def best_possible(self, log_probabilities, max_length):
        """The rank that unfinished answers can still reach.

        Further tokens only lower log-probabilities, and the penalty divides them by the most at the greatest length.
        """
        return log_probabilities / self.penalty(max_length)


def start(cache, ended, start_id, max_length, beam):
    """The state before the first token.

    Args:
        cache: What the step function needs at its first call; its rows are the beams, those of a question side by side.
        ended: Booleans (batch,): questions that shall stay without answers.
        start_id: Token that starts every answer.
        max_length: Tokens of an answer at most, its end token included.
        beam: The `Beam`.

    Returns:
        A dictionary: "index" of the next token, "last" ids (batch · num_beams,), "ended" (batch,), "cache", and two
        pools of answers, each a dictionary of "ids" (batch, num_beams, max_length), "scores" (batch, num_beams), their
        log-probabilities, and "ranks" (batch, num_beams), by which the best come first: "alive", ranked by what the
        rules made of their log-probabilities, and "finished", ranked by that over the length penalty. IMPOSSIBLE ranks
        are no answers.
    """
    batch, width = ops.shape(ended)[0], beam.num_beams
    nothing = {
        "ids": ops.zeros((batch, width, max_length), "int32"),
        "scores": ops.zeros((batch, width), "float32"),
        "ranks": ops.full((batch, width), IMPOSSIBLE, "float32"),
    }
    first = ops.where(ops.equal(ops.arange(width), 0), 0.0, IMPOSSIBLE)  # All are equal so far: one of them goes on.
    return {
        "index": ops.convert_to_tensor(0, "int32"),
        "last": ops.full((batch * width,), start_id, "int32"),
        "alive": {**nothing, "ranks": ops.tile(ops.expand_dims(first, 0), (batch, 1))},
        "finished": nothing,
        "ended": ended,
        "cache": cache,
    }


def advance(step, reorder, beam, rules, state, end_id, num_return):
    """Adds tokens until no unfinished answer of any question can come among its `num_return` best.

    Args:
        step: The step function, for batch · num_beams rows.
        reorder: From a cache and row numbers (batch · num_beams,) to the cache of those rows.
        beam: The `Beam`.
        rules: The `TokenConstraints`.
        state: What `start` returned.
        end_id: Token that ends an answer.
        num_return: Answers that are wanted.

    Returns:
        The state at the end. Answers that reach the greatest length without an end stand among the finished.
    """
    max_length = state["alive"]["ids"].shape[-1]

    def unfinished(state):
        return ops.logical_and(state["index"] < max_length, ops.logical_not(ops.all(state["ended"])))

    def add_token(state):
        logits, cache = step(state["last"], state["index"], state["cache"])
        state = grow(beam, rules, {**state, "cache": cache}, ops.log_softmax(logits), reorder, end_id)
        within_reach = beam.best_possible(state["alive"]["ranks"][:, 0], max_length)
        settled = within_reach <= state["finished"]["ranks"][:, num_return - 1]
        return {**state, "ended": ops.logical_or(state["ended"], settled)}

    state = ops.while_loop(unfinished, lambda state: (add_token(state),), (state,))[0]
    cut = {**state["alive"], "ranks": ops.where(state["index"] < max_length, IMPOSSIBLE, state["alive"]["ranks"])}
    return {**state, "finished": without_the_impossible(with_finished(beam, state, cut, max_length))}


def grow(beam, rules, state, log_probabilities, reorder, end_id):
    """The state with one more token in each unfinished answer."""
    alive, index, width = state["alive"], state["index"], beam.num_beams
    batch, _, max_length = ops.shape(alive["ids"])
    ids = ops.reshape(alive["ids"], (batch * width, max_length))
    allowed = rules.apply(log_probabilities, ids, index, end_id)
    ranks = ops.expand_dims(alive["ranks"], 2) + ops.reshape(allowed, (batch, width, allowed.shape[-1]))
    # At most one candidate of a beam is its end, so that among twice as many there are enough that go on.
    ranks, beams, tokens = best_candidates(ranks, 2 * width)
    rows = beams + width * ops.expand_dims(ops.arange(batch), 1)
    gain = ops.take_along_axis(ops.take(log_probabilities, rows, axis=0), ops.expand_dims(tokens, 2), axis=2)
    candidates = {
        "ids": with_token(pick(alive["ids"], beams), tokens, index),
        "scores": pick(alive["scores"], beams) + ops.squeeze(gain, 2),
        "ranks": ranks,
    }
    ends = ops.equal(tokens, end_id)
    ending = {**candidates, "ranks": ops.where(ends, ranks, IMPOSSIBLE)}
    going_on = {**candidates, "ranks": ops.where(ends, IMPOSSIBLE, ranks), "tokens": tokens, "rows": rows}
    best = the_best(going_on, width)
    return {
        "index": index + 1,
        "last": ops.reshape(best.pop("tokens"), (-1,)),
        "cache": reorder(state["cache"], ops.reshape(best.pop("rows"), (-1,))),
        "alive": best,
        "finished": with_finished(beam, state, ending, index + 1),
        "ended": state["ended"],
    }


def best_candidates(ranks, number):
    """The best of all tokens of all beams.

    Args:
        ranks: float32 (batch, num_beams, vocab_size).
        number: How many.

    Returns:
        Their ranks, falling, float32, their beams and their tokens, int32, each (batch, number).
    """
    batch, width, vocab_size = ops.shape(ranks)
    # First of each beam, then of these: sorting all at once takes longer.
    each = min(number, vocab_size)
    of_beam, tokens = ops.top_k(ranks, each)
    best, places = ops.top_k(ops.reshape(of_beam, (batch, width * each)), number)
    places = ops.cast(places, "int32")
    tokens = ops.take_along_axis(ops.reshape(ops.cast(tokens, "int32"), (batch, width * each)), places, axis=1)
    return best, places // each, tokens


def with_finished(beam, state, ending, length):
    """The pool of the finished answers with the best of some new ones, all of that length."""
    new = ops.logical_and(ending["ranks"] > IMPOSSIBLE / 2, ops.expand_dims(ops.logical_not(state["ended"]), 1))
    ranks = ops.where(new, ending["ranks"] / beam.penalty(length), IMPOSSIBLE)
    finished = state["finished"]
    added = {**ending, "ranks": ranks}
    both = {name: ops.concatenate([finished[name], added[name]], axis=1) for name in finished}
    return the_best(both, beam.num_beams)


def without_the_impossible(pool):
    """The pool with empty answers of score 0 where there are fewer answers than it could hold."""
    real = pool["ranks"] > IMPOSSIBLE / 2
    ids = ops.where(ops.expand_dims(real, 2), pool["ids"], PAD_ID)
    return {"ids": ids, "scores": ops.where(real, pool["scores"], 0.0), "ranks": pool["ranks"]}


def with_token(ids, tokens, index):
    """The ids (batch, n, max_length) with the tokens (batch, n) at a place."""
    here = ops.equal(ops.arange(ids.shape[-1]), index)
    return ops.where(here, ops.expand_dims(tokens, -1), ids)


def the_best(pool, number):
    """The answers of a pool that rank highest, the best first."""
    places = ops.top_k(pool["ranks"], number)[1]
    return {name: pick(values, places) for name, values in pool.items()}


def pick(values, places):
    """The entries (batch, n, …) of values (batch, m, …) at places (batch, n)."""
    for _ in values.shape[2:]:
        places = ops.expand_dims(places, -1)
    return ops.take_along_axis(values, ops.cast(places, "int32"), axis=1)
