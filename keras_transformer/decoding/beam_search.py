"""Beam search: keeps the most probable hypotheses at every step (section 6.1)."""

import dataclasses

from keras_transformer.decoding import ops
from keras_transformer.decoding.constraints import IMPOSSIBLE
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.layers import Tensor
from keras_transformer.padding import PAD_ID

MOST_BEAMS = 1000
LAST = 2**30  # More than any turn.


@dataclasses.dataclass(frozen=True)
class Beam:
    """Beam search, which keeps the best unfinished hypotheses and the best finished ones.

    Hypotheses are ranked by their log-probability divided by the length penalty of Wu et al. 2016, equation 14, which
    the paper cites: lp(n) = ((5 + n) / 6)^α for n tokens.

    Args:
        num_beams: Number of unfinished hypotheses per question, and of finished ones.
        length_penalty: α, at least 0. With 0, hypotheses are ranked by log-probability alone, which favors short ones.

    Raises:
        InputError: If an argument is out of range.

    Example:
        The log-probability of an answer of 7 tokens is divided by ((5 + 7) / 6)^1.

        >>> float(Beam(num_beams=8, length_penalty=1.0).penalty(7))
        2.0
    """

    num_beams: int = 4
    length_penalty: float = 0.6

    def __post_init__(self):
        if self.num_beams < 1:
            raise InputError(_("num_beams must be 1 or more, not {num_beams}", num_beams=self.num_beams))
        if self.num_beams > MOST_BEAMS:  # Their hypotheses would not fit the memory.
            raise InputError(
                _("num_beams must be at most {most}, not {num_beams}", most=MOST_BEAMS, num_beams=self.num_beams)
            )
        if not 0 <= self.length_penalty < float("inf"):
            raise InputError(
                _("length_penalty must be 0 or more, not {length_penalty}", length_penalty=self.length_penalty)
            )

    def penalty(self, length: Tensor) -> Tensor:
        """Returns lp(length)."""
        return ((5.0 + ops.cast(length, "float32")) / 6.0) ** self.length_penalty

    def best_possible(self, log_probabilities: Tensor, max_length: int) -> Tensor:
        """Returns an upper bound of the rank that unfinished hypotheses can still reach.

        More tokens can only lower the log-probability (see `TokenConstraints.reachable`), and the length penalty is
        largest at the maximum length.
        """
        return log_probabilities / self.penalty(max_length)


def start(cache, ended, start_id, max_length, beam):
    """Creates the state before the first token.

    Args:
        cache: Cache for the first call of the step function. Each row is one beam, and the beams of a question are
            adjacent.
        ended: Booleans (batch,): questions to leave unanswered.
        start_id: Token that starts every answer.
        max_length: Maximum number of tokens of an answer, including the end token.
        beam: The `Beam`.

    Returns:
        A dictionary of "index" (of the next token), "last" (ids, (batch · num_beams,)), "ended" (batch,), "cache", and
        two pools of hypotheses, "alive" and "finished". Each pool is a dictionary of "ids" (batch, num_beams,
        max_length), "scores" (log-probabilities, (batch, num_beams)) and "ranks" (batch, num_beams), sorted by rank in
        descending order. The ranks of "alive" are the log-probabilities after the constraints, and those of "finished"
        are divided by the length penalty as well. "alive" has "places" in the forbidden words as well, int32 (batch,
        num_beams). Entries with the rank IMPOSSIBLE are empty.
    """
    batch, width = ops.shape(ended)[0], beam.num_beams
    empty = {
        "ids": ops.zeros((batch, width, max_length), "int32"),
        "scores": ops.zeros((batch, width), "float32"),
        "ranks": ops.full((batch, width), IMPOSSIBLE, "float32"),
    }
    first = ops.where(ops.equal(ops.arange(width), 0), 0.0, IMPOSSIBLE)  # All beams are equal, so only one is expanded.
    return {
        "index": ops.convert_to_tensor(0, "int32"),
        "last": ops.full((batch * width,), start_id, "int32"),
        "alive": {
            **empty,
            "ranks": ops.tile(ops.expand_dims(first, 0), (batch, 1)),
            "places": ops.zeros((batch, width), "int32"),
        },
        "finished": empty,
        "ended": ended,
        "cache": cache,
    }


def advance(step, reorder, beam, constraints, state, end_id, num_return):
    """Adds tokens until no unfinished hypothesis can enter the `num_return` best ones of its question.

    Args:
        step: The step function, for batch · num_beams rows.
        reorder: Function of a cache and row numbers (batch · num_beams,) that returns the cache of those rows.
        beam: The `Beam`.
        constraints: The `TokenConstraints`.
        state: The state that `start` returned.
        end_id: Token that ends an answer.
        num_return: Number of answers to return per question.

    Returns:
        The final state. Hypotheses that reach the maximum length without an end token count as finished.
    """
    max_length = state["alive"]["ids"].shape[-1]

    def unfinished(state):
        return ops.logical_and(state["index"] < max_length, ops.logical_not(ops.all(state["ended"])))

    def add_token(state):
        logits, cache = step(state["last"], state["index"], state["cache"])
        state = grow(beam, constraints, {**state, "cache": cache}, ops.log_softmax(logits), reorder, end_id)
        reachable = constraints.reachable(state["alive"]["ranks"], state["alive"]["places"])
        within_reach = beam.best_possible(ops.max(reachable, axis=1), max_length)
        settled = within_reach <= state["finished"]["ranks"][:, num_return - 1]
        return {**state, "ended": ops.logical_or(state["ended"], settled)}

    if constraints.required:
        places = ops.zeros((*ops.shape(state["alive"]["ranks"]), len(constraints.required.words)), "int32")
        state = {**state, "alive": {**state["alive"], "required": places}}
    state = ops.while_loop(unfinished, lambda state: (add_token(state),), (state,))[0]
    cut = {**state["alive"], "ranks": ops.where(state["index"] < max_length, IMPOSSIBLE, state["alive"]["ranks"])}
    return {**state, "finished": clear_impossible(with_finished(beam, state, cut, max_length))}


def grow(beam, constraints, state, log_probabilities, reorder, end_id):
    """Extends each unfinished hypothesis by one token and returns the new state."""
    alive, index, width = state["alive"], state["index"], beam.num_beams
    batch, _, max_length = ops.shape(alive["ids"])
    ids = ops.reshape(alive["ids"], (batch * width, max_length))
    required = constraints.required
    missing = required.missing(ops.reshape(alive["required"], (batch * width, -1))) if required else None
    allowed = constraints.apply(log_probabilities, ids, index, end_id, ops.reshape(alive["places"], (-1,)), missing)
    ranks = ops.expand_dims(alive["ranks"], 2) + ops.reshape(allowed, (batch, width, allowed.shape[-1]))
    # At most one candidate per beam is the end token, so 2 · num_beams candidates leave enough unfinished ones.
    ranks, beams, tokens = (
        candidates_of_banks(ranks, missing, max_length, end_id) if missing else best_candidates(ranks, 2 * width)
    )
    rows = beams + width * ops.expand_dims(ops.arange(batch), 1)
    gain = ops.take_along_axis(ops.take(log_probabilities, rows, axis=0), ops.expand_dims(tokens, 2), axis=2)
    candidates = {
        "ids": with_token(pick(alive["ids"], beams), tokens, index),
        "scores": pick(alive["scores"], beams) + ops.squeeze(gain, 2),
        "ranks": ranks,
        "places": constraints.follow(pick(alive["places"], beams), tokens),
    }
    if required:
        candidates["required"] = required.follow(pick(alive["required"], beams), tokens)
    ends = ops.equal(tokens, end_id)
    ending = {**candidates, "ranks": ops.where(ends, ranks, IMPOSSIBLE)}
    continuing = {**candidates, "ranks": ops.where(ends, IMPOSSIBLE, ranks), "tokens": tokens, "rows": rows}
    best = best_hypotheses(continuing, width)
    return {
        "index": index + 1,
        "last": ops.reshape(best.pop("tokens"), (-1,)),
        "cache": reorder(state["cache"], ops.reshape(best.pop("rows"), (-1,))),
        "alive": best,
        "finished": with_finished(beam, state, ending, index + 1),
        "ended": state["ended"],
    }


def best_candidates(ranks, number):
    """Returns the best tokens over all beams.

    Args:
        ranks: float32 (batch, num_beams, vocab_size).
        number: Number of candidates per question.

    Returns:
        A tuple of ranks in descending order, float32, beam indices, int32, and tokens, int32, each of shape
        (batch, number).
    """
    batch, width, vocab_size = ops.shape(ranks)
    # Two stages, first per beam and then over the results, are faster than one sort over all candidates.
    each = min(number, vocab_size)
    of_beam, tokens = ops.top_k(ranks, each)
    best, places = ops.top_k(ops.reshape(of_beam, (batch, width * each)), number)
    places = ops.cast(places, "int32")
    tokens = ops.take_along_axis(ops.reshape(ops.cast(tokens, "int32"), (batch, width * each)), places, axis=1)
    return best, places // each, tokens


def candidates_of_banks(ranks, missing, banks, end_id):
    """Returns the candidates of a search for answers with required words.

    This is the dynamic beam allocation of Post & Vilar 2018 (section 3), sorted as in Hu et al. 2019 (section 4). The
    candidates of each beam are its best tokens, and the best of those that bring the answer closer to the required
    words. They form banks by the number of tokens that are still missing. The beams are dealt out to the banks in turn,
    beginning with the one where the fewest tokens are missing, and go to the best candidate that is left there. So a
    hypothesis only competes with those that contain as much of the words, and where a bank has too few candidates, the
    other banks get its beams.

    Args:
        ranks: float32 (batch, num_beams, vocab_size).
        missing: The `Missing` token counts, with batch · num_beams rows.
        banks: The number of banks, more than the tokens that are missing after any allowed token.
        end_id: Token that ends an answer.

    Returns:
        A tuple like that of `best_candidates`, of num_beams candidates that do not end the answer and as many that do,
        unordered.
    """
    batch, width, vocab_size = ops.shape(ranks)
    after = ops.reshape(missing.after, (batch, width, vocab_size))
    closer = after < ops.reshape(missing.now, (batch, width, 1))
    each = min(width + 1, vocab_size)  # One of them may be the end token.
    best = [ops.top_k(ops.where(which, ranks, IMPOSSIBLE), each) for which in (closer, ops.logical_not(closer))]
    of_beam, tokens = (ops.concatenate(pair, axis=2) for pair in zip(*best))
    tokens = ops.cast(tokens, "int32")
    bank = ops.minimum(ops.take_along_axis(after, tokens, axis=2), banks - 1)
    of_beam, tokens, bank = (ops.reshape(values, (batch, width * 2 * each)) for values in (of_beam, tokens, bank))
    ends = ops.equal(tokens, end_id)
    continuing = ops.where(ends, IMPOSSIBLE, of_beam)
    dealt = ops.top_k(-turns(continuing, bank, banks), width)[1]
    ending, ended = ops.top_k(ops.where(ends, of_beam, IMPOSSIBLE), width)
    places = ops.cast(ops.concatenate([dealt, ended], axis=1), "int32")
    ranks = ops.concatenate([pick(continuing, dealt), ending], axis=1)
    return ranks, places // (2 * each), pick(tokens, places)


def turns(ranks, bank, banks):
    """Returns when each candidate gets a beam, int32 (batch, candidates): the least first, and impossible ones last.

    Args:
        ranks: float32 (batch, candidates).
        bank: The bank of each candidate, int32 (batch, candidates).
        banks: The number of banks.
    """
    order = ops.argsort(-ranks, axis=1)
    ranks, bank = pick(ranks, order), pick(bank, order)
    so_far = ops.cumsum(ops.one_hot(bank, banks, dtype="int32"), axis=1)
    position = ops.squeeze(ops.take_along_axis(so_far, ops.expand_dims(bank, 2), axis=2), 2)
    turn = ops.where(ranks > IMPOSSIBLE / 2, position * banks + bank, LAST)
    return pick(turn, ops.argsort(order, axis=1))


def with_finished(beam, state, ending, length):
    """Merges newly ended hypotheses, all of the given length, into the finished pool and keeps the best."""
    new = ops.logical_and(ending["ranks"] > IMPOSSIBLE / 2, ops.expand_dims(ops.logical_not(state["ended"]), 1))
    ranks = ops.where(new, ending["ranks"] / beam.penalty(length), IMPOSSIBLE)
    finished = state["finished"]
    added = {**ending, "ranks": ranks}
    both = {name: ops.concatenate([finished[name], added[name]], axis=1) for name in finished}
    return best_hypotheses(both, beam.num_beams)


def clear_impossible(pool):
    """Replaces the unused entries of a pool with empty answers of score 0."""
    real = pool["ranks"] > IMPOSSIBLE / 2
    ids = ops.where(ops.expand_dims(real, 2), pool["ids"], PAD_ID)
    return {"ids": ids, "scores": ops.where(real, pool["scores"], 0.0), "ranks": pool["ranks"]}


def with_token(ids, tokens, index):
    """Returns the ids (batch, n, max_length) with the tokens (batch, n) written at position `index`."""
    here = ops.equal(ops.arange(ids.shape[-1]), index)
    return ops.where(here, ops.expand_dims(tokens, -1), ids)


def best_hypotheses(pool, number):
    """Returns the highest-ranked hypotheses of a pool, best first."""
    places = ops.top_k(pool["ranks"], number)[1]
    return {name: pick(values, places) for name, values in pool.items()}


def pick(values, places):
    """Gathers the entries at `places` (batch, n) from values (batch, m, …). Returns shape (batch, n, …)."""
    for _axis in values.shape[2:]:
        places = ops.expand_dims(places, -1)
    return ops.take_along_axis(values, ops.cast(places, "int32"), axis=1)
