import math
import types

import pytest
import tensorflow as tf

from keras_transformer.training.callbacks import EpochScores, TolerantTensorBoard


def test_epoch_scores_are_means_over_tokens():
    """Keras' loss is a mean over batches; the perplexity is one over tokens."""
    scores = EpochScores(pairs_per_step=8, validation=types.SimpleNamespace(tokens=30, characters=60))
    scores.on_epoch_begin(0)
    scores.on_train_batch_end(0, {})
    logs = {"loss": 9.0, "perplexity": math.e, "val_loss": 9.0, "val_perplexity": 4.0}
    scores.on_epoch_end(0, logs)
    assert (logs["loss"], logs["val_loss"]) == (1.0, math.log(4))
    assert logs["val_bits_per_char"] == pytest.approx(1.0)  # 2 bits a token, 2 characters a token.
    assert logs["pairs/s"] > 0


def test_training_does_not_end_for_the_logs_of_tensorboard(tmp_path):
    message = "logs: some of TensorBoard's logs could not be written"
    with pytest.warns(UserWarning, match=message), TolerantTensorBoard(tmp_path / "logs").errors_as_warnings():
        raise tf.errors.ResourceExhaustedError(None, None, "No space left on device")
