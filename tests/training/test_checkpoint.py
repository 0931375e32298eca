import threading

import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from keras_transformer import Config, InputError, Run, Tokenizer
from keras_transformer.runs.tensor_file import save_tensors
from keras_transformer.training.checkpoint import Writer, load_checkpoint, restore, save_checkpoint, snapshot, state
from keras_transformer.training.trainer import compiled_model

pytestmark = pytest.mark.heavy

CONFIG = Config(vocab_size=400, num_layers=1, d_model=8, num_heads=2, dff=8, dropout=0.5)


@pytest.fixture
def run(tmp_path):
    tokenizer = Tokenizer.train(["가나다 abc"], CONFIG.vocab_size)
    return Run.create(tmp_path / "run", CONFIG, tokenizer, {"name": "none"})


def eager_model(run):
    """Its few steps take less time eagerly than to be traced."""
    model = compiled_model(run, tokens_per_batch=30)
    model.run_eagerly = True
    return model


def batches(number):
    random = np.random.default_rng(number)
    ids = random.integers(4, 250, (6, 5))
    return {"inputs": ids, "segments": np.ones_like(ids), "dec_inputs": ids, "dec_segments": np.ones_like(ids)}, ids


def arrays(model):
    return {name: keras.ops.convert_to_numpy(variable) for name, variable in state(model).items()}


def test_going_on_equals_never_having_stopped(run):
    model = eager_model(run)
    for number in range(4):
        model.train_on_batch(*batches(number))
        if number == 1:
            save_checkpoint(
                run, snapshot(state(model)), step=2, rows=[{"epoch": 1, "val_bits_per_char": 3.25}], seconds=9.5
            )
    expected = arrays(model)

    keras.utils.set_random_seed(99)
    model = eager_model(run)
    tensors, step, rows, seconds = load_checkpoint(run)
    assert (step, rows, seconds) == (2, [{"epoch": 1, "val_bits_per_char": 3.25}], 9.5)
    for kind in ("variables", "optimizer", "metrics"):
        restore(model, tensors, kind)
    for number in range(2, 4):
        model.train_on_batch(*batches(number))
    resumed = arrays(model)
    assert resumed.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(resumed[name], value, err_msg=name)


def test_the_state_holds_weights_dropout_generators_moments_and_metrics(run):
    model = eager_model(run)
    model.train_on_batch(*batches(0))
    kinds = pd.Series(list(state(model))).str.split("/").str[0].value_counts()
    generators = [variable for variable in model.variables if "seed_generator" in variable.path]
    assert kinds["variables"] == len(model.weights) + len(generators)
    assert len(generators) == 7  # Two embeddings, two sublayers of the encoder, three of the decoder.
    assert kinds["optimizer"] > 2 * len(model.weights)
    assert kinds["metrics"] == 6  # loss, accuracy and perplexity: a total and a count each.


def test_without_a_checkpoint_training_starts_at_the_beginning(run):
    assert load_checkpoint(run) == ({}, 0, [], 0.0)


def test_a_checkpoint_of_another_run_is_refused(run, tmp_path):
    model = eager_model(run)
    other = Run.create(tmp_path / "other", CONFIG, run.tokenizer, {"name": "none"})
    save_checkpoint(other, snapshot(state(model)), 0, [], 0.0)
    (other.path / "checkpoint.safetensors").rename(run.path / "checkpoint.safetensors")
    with pytest.raises(InputError, match=r"checkpoint\.safetensors: damaged, or of another run"):
        load_checkpoint(run)


def test_a_checkpoint_that_does_not_fit_the_model_is_refused(run):
    model = eager_model(run)
    with pytest.raises(InputError, match="made by another version: variables/0"):
        restore(model, {"variables/1": np.zeros(3)}, "variables")


@pytest.mark.parametrize("shape", [(1,), (10**6,)])
def test_a_checkpoint_of_smaller_or_larger_weights_is_refused(run, shape):
    model = eager_model(run)
    with pytest.raises(InputError, match="made by another version: variables/0"):
        restore(model, {"variables/0": np.zeros(shape)}, "variables")


@pytest.mark.compiled
def test_a_snapshot_stays_what_it_was():
    variable = keras.Variable(np.arange(6.0))
    before = snapshot({"v": variable})["v"]

    def change(compiled):
        tf.function(lambda: variable.assign_add(np.ones(6)), jit_compile=compiled)()

    for compiled in (False, True):
        change(compiled)
        change(compiled)
        variable.assign(variable * 2)
    assert before.tolist() == [0, 1, 2, 3, 4, 5]


def test_it_writes_beside_what_goes_on_and_in_order():
    go, done = threading.Event(), []
    with Writer() as writer:
        writer.write([go.wait, lambda: done.append(1), lambda: done.append(2)])
        assert done == []
        go.set()
        writer.write([lambda: done.append(3)])
        assert done[:2] == [1, 2]
    assert done == [1, 2, 3]


def test_what_goes_wrong_is_raised_at_the_next_job_and_ends_its_own():
    done = []
    with Writer() as writer:
        writer.write([lambda: 1 / 0, lambda: done.append(1)])
        with pytest.raises(ZeroDivisionError):
            writer.write([lambda: done.append(2)])
    assert done == []


def test_what_goes_wrong_at_the_end_is_raised_there():
    with pytest.raises(ZeroDivisionError), Writer() as writer:
        writer.write([lambda: 1 / 0])


@pytest.mark.parametrize("about", [{}, {"step": 1}, {"step": "x", "rows": [], "seconds": 0}, {"step": 1, "rows": 5}])
def test_a_checkpoint_of_another_shape_is_named(run, about):
    save_tensors(run.path / "checkpoint.safetensors", {}, run.id, about)
    with pytest.raises(InputError, match=r"run/checkpoint\.safetensors: damaged"):
        load_checkpoint(run)
