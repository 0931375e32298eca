"""The weights of a tutorial's Transformer as weights of the paper's, with which it computes the same logits.

What differs between both is absorbed by the weights:

- A position table of all sines followed by all cosines is the paper's, where they alternate, with its columns in
  another order. Permuting the residual stream, that is, every matrix that reads or writes it, changes nothing else:
  layer normalization does not depend on the order.
- A residual that is added twice, LayerNorm(2 x + Attention(x, memory)), is the paper's LayerNorm(x' + Attention'(x',
  memory)) with x' = 2 x, the output of the layer normalization before, and with queries projected by half of the
  matrix. Factors of two are exact in floating point.
"""

import collections
import dataclasses

import numpy as np

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _

STREAM_AXES = {
    "table": 1, "norm/gamma": 0, "norm/beta": 0,
    "query/kernel": 0, "key/kernel": 0, "value/kernel": 0, "inner/kernel": 0, "outputs/kernel": 0,
    "output/kernel": 1, "output/bias": 0, "outer/kernel": 1, "outer/bias": 0,
}  # fmt: skip
"""The axis along the residual stream of the weights that have one, by the ends of their names."""

ENCODER = (("self_attention",), ("self_attention_norm", "feed_forward_norm"))
DECODER = (("self_attention", "cross_attention"), ("self_attention_norm", "cross_attention_norm", "feed_forward_norm"))
PROJECTIONS = ("query", "key", "value", "output")


@dataclasses.dataclass(frozen=True)
class Layers:
    """The layers that have weights, each kind in the order of the model.

    Attributes:
        embeddings: Tables, a list of arrays.
        dense: Pairs of a kernel, as a matrix, and a bias.
        norms: Pairs of gamma and beta.
        num_heads: Number of heads, which the kernels of Keras' own multi-head attention show; otherwise None.
    """

    embeddings: list
    dense: list
    norms: list
    num_heads: int | None


@dataclasses.dataclass(frozen=True)
class Sizes:
    """The sizes of a tutorial's Transformer that its weights show. `num_heads` is None where they do not show it."""

    vocab_size: int
    num_layers: int
    d_model: int
    dff: int
    num_heads: int | None


def layers_of(arrays):
    """Groups arrays, in the order of the model's layers, into `Layers`."""
    embeddings, dense, norms, num_heads = [], [], [], None
    arrays = collections.deque(arrays)
    while arrays:
        first, second = arrays.popleft(), arrays[0] if arrays else np.zeros(())
        if first.ndim == second.ndim == 1:
            norms.append((first, arrays.popleft()))
        elif columns := columns_of(first, second):
            dense.append((first.reshape(-1, columns), arrays.popleft().reshape(columns)))
            num_heads = num_heads or (second.shape[0] if second.ndim == 2 else None)
        else:
            embeddings.append(first)
    return Layers(embeddings, dense, norms, num_heads)


def columns_of(kernel, bias):
    """Returns the number of columns of a kernel as a matrix, with this bias; 0 if the bias is not the kernel's.

    The kernels of Keras' own multi-head attention have the axes (d_model, heads, depth) or, of the output,
    (heads, depth, d_model).
    """
    fits = 0 < bias.ndim < kernel.ndim <= 3 and kernel.shape[kernel.ndim - bias.ndim :] == bias.shape
    return bias.size if fits else 0


def sizes_of(layers):
    """Returns the `Sizes` of `Layers`.

    Raises:
        InputError: If they are not those of a tutorial's Transformer.
    """
    num_layers = (len(layers.dense) - 1) // 16
    counts = len(layers.embeddings), len(layers.dense), len(layers.norms)
    if num_layers < 1 or counts != (2, 16 * num_layers + 1, 5 * num_layers):
        raise InputError(
            _(
                "not the Transformer of the tutorial: found {embeddings} embeddings, {dense} dense layers and {norms} "
                "layer normalizations, where N layers have 2, 16 N + 1 and 5 N",
                embeddings=counts[0],
                dense=counts[1],
                norms=counts[2],
            )
        )
    vocab_size, d_model = shape_of_table(layers.embeddings[0])
    return Sizes(vocab_size, num_layers, d_model, layers.dense[4][0].shape[1], layers.num_heads)


def shape_of_table(table):
    """Returns the vocabulary size and the width of an embedding; raises `InputError` if it is no matrix."""
    if table.ndim != 2:
        raise InputError(_("not the Transformer of the tutorial: an embedding of shape {shape}", shape=table.shape))
    return table.shape


def named(layers, num_layers):
    """Returns the weights of `Layers` by the names of the variables of `transformer()`."""
    tables = (f"{side}_embedding/table" for side in ("source", "target"))
    dense, norms = [], []
    for stack, (attentions, layer_norms) in (("encoder", ENCODER), ("decoder", DECODER)):
        for i in range(num_layers):
            layer = f"{stack}/layer_{i}"
            dense += [f"{layer}/{attention}/{one}" for attention in attentions for one in PROJECTIONS]
            dense += [f"{layer}/feed_forward/{one}" for one in ("inner", "outer")]
            norms += [f"{layer}/{norm}/norm" for norm in layer_norms]
    weights = dict(zip(tables, layers.embeddings, strict=True))
    for name, (kernel, bias) in zip([*dense, "outputs"], layers.dense, strict=True):
        weights |= {f"{name}/kernel": kernel, f"{name}/bias": bias}
    for name, (gamma, beta) in zip(norms, layers.norms, strict=True):
        weights |= {f"{name}/gamma": gamma, f"{name}/beta": beta}
    return weights


def check_shapes(weights, sizes):
    """Raises `InputError` if a weight, by name, does not have the shape that follows from the sizes."""
    d_model = sizes.d_model
    shapes = {
        "table": (sizes.vocab_size, d_model), "outputs/kernel": (d_model, sizes.vocab_size),
        "outputs/bias": (sizes.vocab_size,), "inner/kernel": (d_model, sizes.dff), "inner/bias": (sizes.dff,),
        "outer/kernel": (sizes.dff, d_model), "kernel": (d_model, d_model), "": (d_model,),
    }  # fmt: skip
    for name, value in weights.items():
        expected = next(shape for end, shape in shapes.items() if name.endswith(end))
        if value.shape != expected:
            raise InputError(
                _(
                    "not the Transformer of the tutorial: {weight} has the shape {shape}, not {expected}",
                    weight=name,
                    shape=value.shape,
                    expected=expected,
                )
            )


def as_paper(weights, tutorial, num_layers):
    """Returns weights, by name, with which the paper's equations give the logits of a `Tutorial`."""
    if tutorial.residuals == 2:
        weights = with_residual_once(weights, num_layers)
    return weights if tutorial.alternating else with_alternating_positions(weights)


def with_residual_once(weights, num_layers):
    """Returns the weights for cross-attention with its residual once, from those with its residual twice."""
    weights = dict(weights)
    for i in range(num_layers):
        layer = f"decoder/layer_{i}"
        for name, factor in (
            ("self_attention_norm/norm/gamma", 2), ("self_attention_norm/norm/beta", 2),
            ("cross_attention/query/kernel", 0.5),
        ):  # fmt: skip
            weights[f"{layer}/{name}"] = weights[f"{layer}/{name}"] * np.float32(factor)
    return weights


def with_alternating_positions(weights):
    """Returns the weights for alternating sines and cosines, from those for all sines before all cosines."""
    depth = weights["outputs/kernel"].shape[0]
    columns = np.empty(depth, int)
    columns[0::2], columns[1::2] = np.split(np.arange(depth), [-(-depth // 2)])
    return {name: np.take(value, columns, axis) if (axis := stream_axis(name)) is not None else value
            for name, value in weights.items()}  # fmt: skip


def stream_axis(name):
    """Returns the axis of a weight along the residual stream; None if it has none."""
    return next((axis for end, axis in STREAM_AXES.items() if name.endswith(f"/{end}") or name == end), None)
