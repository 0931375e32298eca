"""Dense layers with a fast path for a single row.

A decoding step for one answer multiplies a single row by each matrix. Reading the matrix takes most of the time, and
XLA does it on one core only. Splitting the matrix into blocks and multiplying them as a batch uses all cores.
"""

import keras
from keras import ops

PARTS = 4  # Number of blocks.


@keras.saving.register_keras_serializable(package="keras_transformer")
class Dense(keras.layers.Dense):
    """activation(x W + b), as `keras.layers.Dense` computes it. A bias is required."""

    def call(self, inputs, training=None):
        depth = inputs.shape[-1]
        if not is_single_row(inputs) or depth % PARTS:
            return super().call(inputs, training=training)
        blocks = ops.reshape(self.kernel, (PARTS, depth // PARTS, self.units))
        x = ops.sum(ops.matmul(ops.reshape(inputs, (PARTS, 1, depth // PARTS)), blocks), axis=0)
        return self.activation(ops.reshape(x, (*inputs.shape[:-1], self.units)) + self.bias)


def times_transposed(x, table):
    """Returns x Wᵀ, shape (…, units), for `x` of shape (…, depth) and a matrix `table` of shape (units, depth)."""
    units, depth = table.shape
    if not is_single_row(x) or units % PARTS:
        return ops.matmul(x, ops.transpose(table))
    blocks = ops.transpose(ops.reshape(table, (PARTS, units // PARTS, depth)), (0, 2, 1))
    row = ops.broadcast_to(ops.reshape(x, (1, 1, depth)), (PARTS, 1, depth))
    return ops.reshape(ops.matmul(row, blocks), (*x.shape[:-1], units))


def is_single_row(x):
    """Returns whether `x` has the shape (1, …, 1, depth)."""
    return all(size == 1 for size in x.shape[:-1])
