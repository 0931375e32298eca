"""Linear layers, with which every sublayer begins and ends; fast for a single row too.

A step of decoding one answer multiplies a single row by each matrix. The time goes into reading the matrix, which XLA
lets one core do alone; of a batch of products, of parts of the matrix, all cores take their share.
"""

import keras
from keras import ops

PARTS = 4


@keras.saving.register_keras_serializable(package="keras_transformer")
class Dense(keras.layers.Dense):
    """x W + b and the activation, as Keras has it; always with b."""

    def call(self, inputs, training=None):
        depth = inputs.shape[-1]
        if not is_single_row(inputs) or depth % PARTS:
            return super().call(inputs, training=training)
        parts = ops.reshape(self.kernel, (PARTS, depth // PARTS, self.units))
        x = ops.sum(ops.matmul(ops.reshape(inputs, (PARTS, 1, depth // PARTS)), parts), axis=0)
        return self.activation(ops.reshape(x, (*inputs.shape[:-1], self.units)) + self.bias)


def times_transposed(x, table):
    """The product x Wᵀ: rows (…, depth) and a matrix (units, depth) to (…, units)."""
    units, depth = table.shape
    if not is_single_row(x) or units % PARTS:
        return ops.matmul(x, ops.transpose(table))
    parts = ops.transpose(ops.reshape(table, (PARTS, units // PARTS, depth)), (0, 2, 1))
    row = ops.broadcast_to(ops.reshape(x, (1, 1, depth)), (PARTS, 1, depth))
    return ops.reshape(ops.matmul(row, parts), (*x.shape[:-1], units))


def is_single_row(x):
    """Whether x is (1, …, 1, depth)."""
    return all(size == 1 for size in x.shape[:-1])
