"""Scaled dot-product attention and multi-head attention (section 3.2)."""

from typing import Any

import keras
from keras import ops

from keras_transformer.layers import Tensor
from keras_transformer.layers.dense import Dense

LARGEST_FLOAT16 = 65504.0
HIDDEN_LOGIT = -1e9  # Replaces masked logits in float32, so it cannot overflow in any compute dtype.


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V (section 3.2.1, equation 1).

    The softmax is computed in float32. If every key of a query is masked, its weights and its output are zero.

    Args:
        query: Shape (…, query length, depth).
        key: Shape (…, key length, depth).
        value: Shape (…, key length, value depth).
        mask: None, or a tensor that broadcasts to (…, query length, key length). Nonzero positions are masked.

    Returns:
        A tuple of the output, shape (…, query length, value depth), and the attention weights, shape
        (…, query length, key length). Both have the query's dtype. Each row of weights sums to 1, or to 0 if all of its
        keys are masked.

    Example:
        The query is like the first key, so the output is near the first value.

        >>> query, key, value = np.array([[8.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[10.0], [20.0]])
        >>> output, weights = scaled_dot_product_attention(query, key, value, mask=None)
        >>> print(np.asarray(output).round(2), np.asarray(weights).round(3))
        [[10.03]] [[0.997 0.003]]
    """
    query, key, value = (ops.convert_to_tensor(x) for x in (query, key, value))
    weights = attention_weights(attention_logits(query, key), mask)
    return ops.matmul(weights, ops.cast(value, weights.dtype)), weights


def attention_logits(query, key):
    """Returns Q Kᵀ / √d_k, shape (…, query length, key length)."""
    # Scaling the query first makes it less likely that the product overflows in float16. An overflow gives infinity,
    # and the softmax of infinities would be NaN, so `attention_weights` clips the logits.
    query = query / float(query.shape[-1]) ** 0.5
    return ops.matmul(query, ops.swapaxes(key, -2, -1))


def attention_weights(logits, mask=None):
    """Returns the softmax of the logits, computed in float32 and cast back. Masked positions get a weight of 0."""
    dtype = logits.dtype
    logits = ops.cast(logits, "float32")
    if keras.backend.standardize_dtype(dtype) == "float16":
        logits = ops.clip(logits, -LARGEST_FLOAT16, LARGEST_FLOAT16)
    if mask is None:
        return ops.cast(softmax(logits), dtype)
    visible = ops.equal(mask, 0)
    weights = softmax(ops.where(visible, logits, HIDDEN_LOGIT))
    return ops.cast(ops.where(visible, weights, 0.0), dtype)


def softmax(logits):
    """Softmax over the last axis. `ops.softmax` warns if that axis has size 1, which is valid for a single key."""
    return ops.ones_like(logits) if logits.shape[-1] == 1 else ops.softmax(logits)


@keras.saving.register_keras_serializable(package="keras_transformer")
class MultiHeadAttention(keras.layers.Layer):
    """MultiHead(Q, K, V) = Concat(head_1, …, head_h) W^O (section 3.2.2).

    Args:
        d_model: Width of the output. Each head has a depth of `d_model / num_heads`.
        num_heads: Number of heads. Must divide `d_model`.

    Raises:
        ValueError: If `num_heads` does not divide `d_model`.
    """

    attention = staticmethod(scaled_dot_product_attention)  # `backend.xla.fuse_elementwise` compiles that of a layer.

    def __init__(self, d_model: int, num_heads: int, name: str = "multi_head_attention", **kwargs: Any):
        super().__init__(name=name, **kwargs)
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model} cannot be split into {num_heads} equal heads")
        self.d_model = d_model
        self.num_heads = num_heads
        self.depth = d_model // num_heads
        self.query_dense = Dense(d_model, name="query", dtype=self.dtype_policy)
        self.key_dense = Dense(d_model, name="key", dtype=self.dtype_policy)
        self.value_dense = Dense(d_model, name="value", dtype=self.dtype_policy)
        self.dense = Dense(d_model, name="output", dtype=self.dtype_policy)

    def build(self, inputs_shape: dict[str, tuple[int | None, ...]]) -> None:
        self.query_dense.build(inputs_shape["query"])
        self.key_dense.build(inputs_shape["key"])
        self.value_dense.build(inputs_shape["value"])
        self.dense.build((None, None, self.d_model))

    def call(
        self,
        inputs: dict[str, Tensor],
        cache: dict[str, Tensor] | None = None,
        cache_update_index: Tensor | None = None,
        return_attention_scores: bool = False,
    ) -> Tensor | tuple[Tensor, ...]:
        """Computes attention over the full sequence, or for the newest token with cached keys and values.

        Args:
            inputs: Dictionary of "query" (batch, query length, width), "key" and "value" (batch, key length, width),
                and "mask" (None, or broadcastable to (batch, num_heads, query length, key length); 1 = masked).
            cache: Keys and values of earlier calls, a dictionary of "key" and "value", each of shape
                (batch, num_heads, key length, depth), or None.
            cache_update_index: Position at which the keys and values of `inputs` are written into the cache. If None,
                the cache is used as it is, and "key" and "value" of `inputs` are not read.
            return_attention_scores: Whether to return the attention weights too.

        Returns:
            The output, shape (batch, query length, d_model). With a cache, a tuple of the output and the updated cache.
            With `return_attention_scores`, the attention weights (batch, num_heads, query length, key length) follow.
        """
        query = self.split_heads(self.query_dense(inputs["query"]))
        if cache is None:
            key, value = self.keys_and_values(inputs)
        else:
            cache = self.updated(cache, inputs, cache_update_index)
            key, value = cache["key"], cache["value"]
        output, weights = self.attention(query, key, value, inputs["mask"])
        output = self.dense(self.merge_heads(output))
        return with_extras(output, cache, weights if return_attention_scores else None)

    def keys_and_values(self, inputs: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Projects "key" and "value" of the inputs. Returns both, each (batch, num_heads, key length, depth)."""
        return self.split_heads(self.key_dense(inputs["key"])), self.split_heads(self.value_dense(inputs["value"]))

    def updated(self, cache: dict[str, Tensor], inputs: dict[str, Tensor], index: Tensor | None) -> dict[str, Tensor]:
        """Returns the cache with the keys and values of the inputs written at the index; unchanged if it is None."""
        if index is None:
            return cache
        key, value = self.keys_and_values(inputs)
        start = (0, 0, index, 0)
        return {
            "key": ops.slice_update(cache["key"], start, key),
            "value": ops.slice_update(cache["value"], start, value),
        }

    def split_heads(self, x: Tensor) -> Tensor:
        """Reshapes (batch, length, d_model) to (batch, num_heads, length, depth)."""
        batch, length = ops.shape(x)[:2]
        return ops.transpose(ops.reshape(x, (batch, length, self.num_heads, self.depth)), (0, 2, 1, 3))

    def merge_heads(self, x: Tensor) -> Tensor:
        """Reshapes (batch, num_heads, length, depth) to (batch, length, d_model)."""
        batch, _, length, _ = ops.shape(x)
        return ops.reshape(ops.transpose(x, (0, 2, 1, 3)), (batch, length, self.d_model))

    def compute_output_shape(self, inputs_shape: dict[str, tuple[int | None, ...]]) -> tuple[int | None, ...]:
        return (*inputs_shape["query"][:-1], self.d_model)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "d_model": self.d_model, "num_heads": self.num_heads}


def with_extras(output, cache, scores):
    """Returns the output, or a tuple of it, the cache and the attention scores, as far as they are not None."""
    extras = [extra for extra in (cache, scores) if extra is not None]
    return (output, *extras) if extras else output
