"""An ensemble of trained Transformers, which predict every token together."""

import copy
import math

from keras import ops

from keras_transformer.models.incremental import IncrementalTransformer


class Ensemble:
    """Several trained Transformers with the interface of an `IncrementalTransformer`.

    The probability of a token is the mean of the models' probabilities (Sutskever et al. 2014, section 3.6):
    p(y) = Σ pₖ(y) / K. Models that differ only in the seed of their training make different mistakes, which the mean
    evens out. Decoding takes K times as long.

    Args:
        models: Models created by `transformer()`, with the same vocabularies.

    Raises:
        ValueError: If a model was not created by `transformer()`.
    """

    def __init__(self, models):
        self.variables = [variable for model in models for variable in model.variables]
        self.members = [IncrementalTransformer(model) for model in models]

    def prefill(self, inputs, rows, copies=1):
        """Encodes the questions with every model; see `IncrementalTransformer.prefill`.

        Returns:
            A list of the models' caches.
        """
        return [member.prefill(inputs, rows, copies) for member in self.members]

    def decode_step(self, ids, index, cache):
        """Runs every decoder for one token of each answer; see `IncrementalTransformer.decode_step`.

        Returns:
            A tuple of the log-probabilities of the next tokens, float32, shape (rows, vocab_size), and the caches for
            the next step.
        """
        steps = [member.decode_step(ids, index, own) for member, own in zip(self.members, cache)]
        log_probabilities = ops.stack([ops.log_softmax(logits) for logits, _ in steps])
        mean = ops.logsumexp(log_probabilities, axis=0) - math.log(len(steps))
        return mean, [own for _, own in steps]

    def reorder_cache(self, cache, rows):
        """Reorders every cache; see `IncrementalTransformer.reorder_cache`."""
        return [member.reorder_cache(own, rows) for member, own in zip(self.members, cache)]


def incremental_of(model):
    """Returns a `transformer()` as an `IncrementalTransformer`, or a copy of an `Ensemble`, which is used like one.

    Programs that hold the result do not keep the model alive that they are cached for.
    """
    return copy.copy(model) if isinstance(model, Ensemble) else IncrementalTransformer(model)
