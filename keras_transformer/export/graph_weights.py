"""Model weights in a graph, as float32 or int8."""

import keras
import tensorflow as tf

from keras_transformer.runs.quantization import SCALE, quantized


class GraphWeights(tf.Module):
    """The weights shared by the functions of a SavedModel.

    They are new TensorFlow variables, because `saved_model_cli` would not find the variables of the Keras model.

    Args:
        model: A `transformer()`.
        quantization: "float32" or "int8".
    """

    def __init__(self, model, quantization):
        super().__init__()
        values = {weight.path: keras.ops.convert_to_numpy(weight.value) for weight in model.weights}
        tensors = quantized(values) if quantization == "int8" else values
        self.tensors = {path: tf.Variable(value, trainable=False) for path, value in tensors.items()}

    def bound(self, model, function):
        """Returns the function with the model's weights replaced by these."""

        def run(*arguments):
            values = [(weight, self.value_of(weight.path)) for weight in model.weights]
            with keras.StatelessScope(state_mapping=values):
                return function(*arguments)

        return run

    def value_of(self, path):
        """Returns a weight as float32."""
        value = tf.convert_to_tensor(self.tensors[path])
        if path + SCALE not in self.tensors:
            return value
        return tf.cast(value, tf.float32) * self.tensors[path + SCALE]
