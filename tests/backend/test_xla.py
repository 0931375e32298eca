"""What is compiled must be what is not: the same numbers and gradients, in a graph of known shapes and without one."""

import graphlib
import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from keras_transformer import MultiHeadAttention, accuracy, loss_function, transformer
from keras_transformer.backend import xla
from keras_transformer.layers.residual import EPSILON, AddAndNorm
from keras_transformer.models.packed import packed
from keras_transformer.training.ema import AveragingAdam
from keras_transformer.training.losses import TokenLoss
from keras_transformer.training.metrics import Perplexity, TokenAccuracy

pytestmark = [pytest.mark.compiled, pytest.mark.heavy]

RANDOM = np.random.default_rng(0)
X, Y = RANDOM.normal(size=(2, 3, 5, 4)).astype("float32")
MASK = np.triu(np.ones((5, 5), "float32"), k=1)


def with_gradients(function, arrays):
    """The function's values and the gradients of their squares, a function of tensors."""

    def run(*tensors):
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            value = function(*tensors)
            total = ops.sum(value * value)
        return value, *tape.gradient(total, tensors)

    eager = run(*map(tf.constant, arrays))
    graph = tf.function(run).get_concrete_function(*(tf.TensorSpec(array.shape, array.dtype) for array in arrays))
    programs = [op for op in graph.graph.get_operations() if op.type in ("PartitionedCall", "StatefulPartitionedCall")]
    assert programs, "nothing was compiled"
    return eager, graph(*map(tf.constant, arrays))


def assert_equal(eager, compiled):
    assert len(eager) == len(compiled)
    for ours, theirs in zip(eager, compiled):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("norm_first", [False, True])
def test_add_and_norm(norm_first):
    layer = AddAndNorm(dropout=0.0, norm_first=norm_first)
    layer.build(X.shape, Y.shape)
    layer.set_weights([np.array([1, 2, 3, 4]), np.array([10, 20, 30, 40])])
    xla.fuse_elementwise(layer)
    assert_equal(*with_gradients(lambda x, y: layer(x, y, training=True), [X, Y]))


def test_a_norm_by_itself():
    layer = keras.layers.LayerNormalization(epsilon=EPSILON)
    layer.build(X.shape)
    layer.set_weights([np.array([1, 2, 3, 4]), np.array([10, 20, 30, 40])])
    xla.fuse_elementwise(layer)
    assert_equal(*with_gradients(layer, [X]))


def test_pre_norm_drops_and_adds_in_one_program():
    layer = AddAndNorm(dropout=0.5, norm_first=True)
    layer.build(X.shape, Y.shape)
    xla.fuse_elementwise(layer)
    assert len(programs_of(lambda x: layer(layer.sublayer_input(x), x, training=True), X.shape)) == 2


def test_the_gains_get_their_gradients():
    layer = AddAndNorm(dropout=0.0)
    layer.build(X.shape, Y.shape)
    xla.fuse_elementwise(layer)

    def gradients():
        with tf.GradientTape() as tape:
            total = ops.sum(layer(tf.constant(X), tf.constant(Y), training=True) ** 2)
        return tape.gradient(total, [variable.value for variable in layer.trainable_variables])

    assert_equal(gradients(), tf.function(gradients)())


@pytest.mark.parametrize("mask", [None, MASK])
def test_attention(mask):
    layer = MultiHeadAttention(4, 2)
    layer.build(dict.fromkeys(("query", "key", "value"), X.shape))
    xla.fuse_elementwise(layer)
    assert_equal(*with_gradients(lambda x, y: layer({"query": x, "key": y, "value": y, "mask": mask}), [X, Y]))


def test_only_the_model_that_is_asked_for_is_changed():
    model, other = (transformer(20, 1, 16, 8, 2, 0.0) for _ in range(2))
    xla.fuse_elementwise(model)
    ids = np.ones((2, 4), "int32")

    def run(model):
        return lambda x: model({"inputs": tf.constant(ids), "dec_inputs": tf.constant(ids)}) + x[0, 0]

    assert programs_of(run(model)) and not programs_of(run(other))
    assert not programs_of(run(keras.models.clone_model(model)))


@pytest.mark.parametrize("function", [loss_function, accuracy])
def test_losses_and_metrics(function):
    targets, logits = np.array([[1, 2, 3, 0, 0]]), X[:1]
    eager = function(targets, tf.constant(logits))
    np.testing.assert_allclose(
        tf.function(lambda: function(tf.constant(targets), tf.constant(logits)))(), eager, rtol=1e-5
    )


def test_dropout_keeps_the_scale_and_a_share_of_the_numbers():
    keras.utils.set_random_seed(0)
    layer, ones = keras.layers.Dropout(0.25), tf.ones((100, 100))
    xla.fuse_elementwise(layer)
    draw = tf.function(lambda: layer(ones, training=True))
    first, second = draw().numpy(), draw().numpy()
    assert set(np.unique(first)) == {np.float32(0), np.float32(4 / 3)}
    assert (first == 0).mean() == pytest.approx(0.25, abs=0.02)  # Four standard deviations are 0.017.
    assert (first != second).any()
    np.testing.assert_array_equal(tf.function(lambda: layer(ones, training=False))(), ones)


def test_dropout_of_the_same_seed_is_the_same():
    def draw():
        keras.utils.set_random_seed(7)
        layer = keras.layers.Dropout(0.5)
        xla.fuse_elementwise(layer)
        return tf.function(lambda: layer(tf.ones((8, 8)), training=True))().numpy()

    np.testing.assert_array_equal(draw(), draw())


def test_only_a_graph_that_knows_the_shapes_is_compiled():
    seen = {}

    @tf.function(input_signature=[tf.TensorSpec((2, 3)), tf.TensorSpec((None, 3))])
    def trace(known, unknown):
        seen.update(known=xla.fusible(known), unknown=xla.fusible(known, unknown))

    trace(tf.zeros((2, 3)), tf.zeros((2, 3)))
    assert seen == {"known": True, "unknown": False}
    assert not xla.fusible(tf.zeros((2, 3)))  # Eager.


def test_arrays_may_stand_among_the_tensors():
    targets, logits = np.array([[1, 2]]), np.zeros((1, 2, 3), "float32")
    np.testing.assert_allclose(tf.function(lambda: loss_function(targets, tf.constant(logits)))(), np.log(3), rtol=1e-6)


def double(x):
    return x * 2


def programs_of(function, shape=(2, 3)):
    graph = tf.function(function).get_concrete_function(tf.TensorSpec(shape)).graph
    return [op for op in graph.get_operations() if "PartitionedCall" in op.type]


def test_what_a_graph_computed_is_found_again():
    once = programs_of(lambda x: (xla.jit_compile_if_static(double, x), xla.fused_before(double, x)))
    alone = programs_of(lambda x: xla.fused_before(double, x))
    other = programs_of(lambda x: (xla.jit_compile_if_static(double, x), xla.fused_before(double, x + 1)))
    assert (len(once), len(alone), len(other)) == (1, 1, 2)
    assert xla.fused_before(double, tf.constant(3)) == 6  # Eager.


def test_what_a_graph_computed_is_found_as_another_function():
    def doubled_and_more(x):
        return double(x), x

    def both(x):
        return xla.jit_compile_if_static(doubled_and_more, x, found_as=double), xla.fused_before(double, x)

    assert len(programs_of(both)) == 1


def test_the_perplexity_of_a_step_needs_no_program_beside_that_of_the_loss():
    targets = tf.constant([[1, 2]])

    def step(logits):
        return TokenLoss(2, 0.1)(targets, logits), xla.fused_before(Perplexity.measure, targets, logits)[0]

    assert len(programs_of(step, (1, 2, 3))) == 1


def test_a_loss_after_a_measure_has_its_gradient():
    def gradient(x):
        xla.fused_before(double, x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            made = xla.jit_compile_if_static(double, x)
        return tape.gradient(made, x)

    np.testing.assert_array_equal(tf.function(gradient)(tf.zeros((2, 3))), np.full((2, 3), 2))


@pytest.mark.parametrize("smoothing", [0, 0.1])
def test_a_compiled_token_loss_and_its_gradient_equal_those_of_keras(smoothing):
    random = np.random.default_rng(0)
    targets = random.integers(0, 5, (2, 3))
    logits = random.normal(size=(2, 3, 5)).astype("float32")

    def gradient(loss):
        with tf.GradientTape() as tape:
            made = tf.constant(logits)
            tape.watch(made)
            value = loss(made)
        return value, tape.gradient(value, made)

    def of_keras(logits):
        spread = (1 - smoothing) * tf.one_hot(targets, 5) + smoothing / 5
        return tf.reduce_sum(tf.where(targets == 0, 0.0, keras.losses.categorical_crossentropy(spread, logits, True)))

    ours = tf.function(lambda: gradient(lambda made: TokenLoss(1, smoothing)(tf.constant(targets), made)))()
    for mine, theirs in zip(ours, gradient(of_keras), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.slow  # Compiles whole models.
@pytest.mark.parametrize("norm_first", [False, True])
def test_no_program_is_run_twice_at_a_time(norm_first):
    model = packed(transformer(20, 3, 16, 8, 2, 0.1, norm_first=norm_first))
    xla.fuse_elementwise(model)
    model.compile(AveragingAdam(), TokenLoss(8), metrics=[TokenAccuracy(), Perplexity()])
    ids = RANDOM.integers(4, 20, (2, 8))  # Questions and answers of the same shape share their programs.
    rows = {name: np.ones_like(ids) for name in ("inputs", "segments", "dec_inputs", "dec_segments")}
    model.train_on_batch(rows, ids)
    data = ({name: tf.constant(value) for name, value in rows.items()}, tf.constant(ids))
    graph = tf.function(lambda: model.train_step(data)).get_concrete_function().graph
    needs = {op: [*op.control_inputs, *(tensor.op for tensor in op.inputs)] for op in graph.get_operations()}
    before, calls = {}, {}
    for op in graphlib.TopologicalSorter(needs).static_order():
        before[op] = set(needs[op]).union(*(before[need] for need in needs[op]))
        if op.type in ("PartitionedCall", "StatefulPartitionedCall"):
            calls.setdefault(op.get_attr("f").name, []).append(op)
    assert max(map(len, calls.values())) >= 9  # Of each of three layers, three sublayers.
    for name, called in calls.items():
        for earlier, later in itertools.pairwise(called):
            assert earlier in before[later], name
