import keras
import numpy as np
import pytest
from keras import ops

from keras_transformer.models.transformer import components_of, transformer

pytestmark = pytest.mark.heavy

SOURCE = np.array([[5, 6, 7, 0], [8, 9, 0, 0]])
TARGET = np.array([[1, 2, 3], [1, 4, 5]])
EAGER = keras.backend.backend() != "jax"  # The faster way to make a single step.


@pytest.fixture(scope="module")
def model():
    keras.utils.set_random_seed(0)
    return transformer(vocab_size=12, num_layers=2, dff=16, d_model=8, num_heads=2, dropout=0.5)


@pytest.fixture
def restored_policy():
    policy = keras.config.dtype_policy()
    yield
    keras.config.set_dtype_policy(policy)


def logits_of(model, source=SOURCE, target=TARGET, **kwargs):
    return ops.convert_to_numpy(model([np.array(source), np.array(target)], **kwargs))


def count_by_hand(vocab_size, num_layers, dff, d_model):
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = (d_model * dff + dff) + (dff * d_model + d_model)
    norm = d_model + d_model
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    embeddings = 2 * vocab_size * d_model
    projection = d_model * vocab_size + vocab_size
    return embeddings + num_layers * (encoder_layer + decoder_layer) + projection


@pytest.mark.parametrize(
    ("vocab_size", "num_layers", "dff", "d_model", "num_heads", "count"),
    [
        (8192, 2, 512, 256, 8, 8_935_424),  # The tutorial's sizes.
        (37000, 6, 2048, 512, 8, 101_007_496),  # The paper's base model.
        (16, 1, 4096, 1024, 16, 29_442_064),  # One layer of its big model: all of it would take a gigabyte.
        (11, 3, 16, 8, 2, 4_787),
    ],
    ids=["tutorial", "base", "big", "tiny"],
)
def test_parameter_counts(vocab_size, num_layers, dff, d_model, num_heads, count):
    built = transformer(vocab_size, num_layers, dff, d_model, num_heads, dropout=0.1)
    assert built.count_params() == count_by_hand(vocab_size, num_layers, dff, d_model) == count


def test_names_and_shapes(model):
    assert isinstance(model, keras.Model)
    assert model.name == "transformer"
    assert [x.name for x in model.inputs] == ["inputs", "dec_inputs"]
    assert [x.shape for x in model.inputs] == [(None, None), (None, None)]
    assert {x.dtype for x in model.inputs} == {"int32"}
    assert model.output_shape == (None, None, 12)
    assert {"encoder", "decoder", "outputs"} <= {layer.name for layer in model.layers}
    assert transformer(12, 1, 16, 8, 2, 0.1, name="small").name == "small"


def test_output_is_logits_of_every_position(model):
    logits = logits_of(model)
    assert logits.shape == (2, 3, 12)
    assert logits.min() < 0  # Without softmax.
    assert not np.allclose(logits[:, 0], logits[:, 1], atol=1e-2)


def test_inputs_as_dictionary_or_list(model):
    by_name = model({"inputs": SOURCE, "dec_inputs": TARGET})
    np.testing.assert_array_equal(ops.convert_to_numpy(by_name), logits_of(model))
    predicted = model.predict({"dec_inputs": TARGET, "inputs": SOURCE}, verbose=0)
    np.testing.assert_allclose(predicted, logits_of(model), atol=1e-5)


def test_a_later_target_token_changes_nothing_before_it(model):
    before = logits_of(model, target=[[1, 2, 3, 4], [1, 4, 5, 6]])
    after = logits_of(model, target=[[1, 2, 9, 4], [1, 4, 9, 6]])
    np.testing.assert_array_equal(after[:, :2], before[:, :2])
    assert not np.allclose(after[:, 2], before[:, 2], atol=1e-2)
    assert not np.allclose(after[:, 3], before[:, 3], atol=1e-3)


def test_every_source_token_reaches_every_position(model):
    logits = logits_of(model, source=[[5, 6, 7]], target=[[1, 2, 3]])
    for i in range(3):
        source = np.array([[5, 6, 7]])
        source[0, i] = 11
        changed = logits_of(model, source=source, target=[[1, 2, 3]])
        assert (np.abs(changed - logits).max(-1) > 1e-4).all()


def test_more_padding_of_the_source_changes_nothing(model):
    padded = np.pad(SOURCE, ((0, 0), (0, 3)))
    np.testing.assert_allclose(logits_of(model, source=padded), logits_of(model), atol=1e-5)


def test_more_padding_of_the_target_changes_nothing(model):
    padded = np.pad(TARGET, ((0, 0), (0, 4)))
    np.testing.assert_allclose(logits_of(model, target=padded)[:, :3], logits_of(model), atol=1e-5)


def test_padding_inside_the_target_is_not_seen(model):
    # What follows a hidden position is the same whatever is hidden, but for the position's own row.
    weights = {w.path: w for w in model.weights}
    table = weights["target_embedding/table"]
    target = [[1, 0, 3]]
    before = logits_of(model, SOURCE[:1], target)
    kept = ops.convert_to_numpy(table)
    changed = np.array(kept)
    changed[0] += 1
    table.assign(changed)
    after = logits_of(model, SOURCE[:1], target)
    table.assign(kept)
    np.testing.assert_array_equal(after[:, [0, 2]], before[:, [0, 2]])
    assert not np.array_equal(after[:, 1], before[:, 1])


def test_rows_of_a_batch_do_not_see_each_other(model):
    logits = logits_of(model)
    np.testing.assert_allclose(logits_of(model, SOURCE[::-1], TARGET[::-1]), logits[::-1], atol=1e-6)
    np.testing.assert_allclose(logits_of(model, SOURCE[:1], TARGET[:1]), logits[:1], atol=1e-5)


def test_the_order_of_the_tokens_matters(model):
    # Without positions, the encoder would see a bag of words.
    one, other = logits_of(model, [[5, 6, 7]], [[1]]), logits_of(model, [[7, 6, 5]], [[1]])
    assert not np.allclose(one, other, atol=1e-4)


def test_dropout_is_active_in_training_only(model):
    inference = logits_of(model)
    np.testing.assert_array_equal(logits_of(model, training=False), inference)
    one, other = logits_of(model, training=True), logits_of(model, training=True)
    assert not np.allclose(one, inference, atol=1e-2)
    assert not np.allclose(one, other, atol=1e-2)


def test_without_dropout_training_equals_inference():
    calm = transformer(12, 1, 16, 8, 2, dropout=0.0)
    np.testing.assert_allclose(logits_of(calm, training=True), logits_of(calm), atol=1e-6)


def test_a_source_of_padding_alone_is_finite_and_trains():
    keras.utils.set_random_seed(0)
    fresh = transformer(12, 1, 16, 8, 2, dropout=0.1)
    source = [[5, 6, 7, 0], [0, 0, 0, 0]]
    assert np.isfinite(logits_of(fresh, source)).all()
    fresh.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), run_eagerly=EAGER)
    before = fresh.get_weights()
    assert np.isfinite(fresh.train_on_batch([np.array(source), TARGET], TARGET))
    after = fresh.get_weights()
    assert all(np.isfinite(w).all() for w in after)
    # Every weight is reached; a key's bias shifts all logits of a query alike, so it alone may have no gradient.
    stuck = [w.path for w, a, b in zip(fresh.weights, before, after, strict=True) if (a == b).all()]
    assert all(path.endswith("key/bias") or "seed" in path for path in stuck)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_mixed_precision_trains(policy, restored_policy):
    keras.utils.set_random_seed(0)
    keras.config.set_dtype_policy(policy)
    mixed = transformer(12, 1, 16, 8, 2, dropout=0.1)
    assert mixed.get_layer("encoder").layers[0].feed_forward.inner.compute_dtype == policy.removeprefix("mixed_")
    assert {keras.backend.standardize_dtype(w.dtype) for w in mixed.trainable_weights} == {"float32"}
    mixed.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), run_eagerly=EAGER)
    source = np.array([[5, 6, 7, 0], [0, 0, 0, 0]])
    assert np.isfinite(mixed.train_on_batch([source, TARGET], TARGET))
    assert all(np.isfinite(w).all() for w in mixed.get_weights())


def test_mixed_precision_is_near_single_precision(model, restored_policy):
    keras.config.set_dtype_policy("mixed_bfloat16")
    mixed = transformer(12, 2, 16, 8, 2, dropout=0.5)
    mixed.set_weights(model.get_weights())
    np.testing.assert_allclose(logits_of(mixed).astype("float32"), logits_of(model), atol=0.15)


def test_it_learns_to_copy():
    keras.utils.set_random_seed(0)
    learner = transformer(12, 1, 32, 16, 2, dropout=0.0)
    learner.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    learner.optimizer.build(learner.trainable_variables)  # Else TensorFlow traces the training step twice.
    source = np.random.default_rng(0).integers(2, 12, (64, 4))
    start = np.ones((64, 1), "int64")
    target = np.concatenate([start, source[:, :-1]], axis=1)
    history = learner.fit([source, target], source, epochs=40, batch_size=64, verbose=0)
    assert history.history["loss"][0] > 2
    assert history.history["loss"][-1] < 0.7  # Guessing would stay at ln 10 = 2.3.


def test_any_length_works(model):
    # Longer than the vocabulary, which the tutorial takes for the number of positions.
    rng = np.random.default_rng(0)
    logits = logits_of(model, rng.integers(1, 12, (1, 300)), rng.integers(1, 12, (1, 290)))
    assert logits.shape == (1, 290, 12)
    assert np.isfinite(logits).all()


def test_one_token_works(model):
    assert logits_of(model, [[5]], [[1]]).shape == (1, 1, 12)


def test_the_same_seed_gives_the_same_model():
    logits = []
    for seed in (1, 1, 2):
        keras.utils.set_random_seed(seed)
        logits.append(logits_of(transformer(12, 1, 16, 8, 2, 0.1)))
    np.testing.assert_array_equal(logits[0], logits[1])
    assert not np.allclose(logits[0], logits[2], atol=1e-2)


def test_weights_have_paths_of_their_own(model):
    paths = [w.path for w in model.weights]
    assert len(set(paths)) == len(paths)
    assert "decoder/layer_1/cross_attention/query/kernel" in paths


def test_saved_and_loaded_without_custom_objects(model, tmp_path):
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras", safe_mode=True)
    assert loaded.name == "transformer"
    np.testing.assert_array_equal(logits_of(loaded), logits_of(model))


def test_weights_alone_are_saved_and_loaded(model, tmp_path):
    model.save_weights(tmp_path / "model.weights.h5")
    other = transformer(vocab_size=12, num_layers=2, dff=16, d_model=8, num_heads=2, dropout=0.5)
    assert not np.allclose(logits_of(other), logits_of(model), atol=1e-2)
    other.load_weights(tmp_path / "model.weights.h5")
    np.testing.assert_array_equal(logits_of(other), logits_of(model))


def test_config_round_trip(model):
    copy = keras.Model.from_config(model.get_config())
    copy.set_weights(model.get_weights())
    np.testing.assert_array_equal(logits_of(copy), logits_of(model))


def test_tied_embeddings_are_one_matrix():
    model = transformer(30, 1, 16, 8, 2, 0.1, tie_embeddings=True)
    untied = transformer(30, 1, 16, 8, 2, 0.1)
    assert model.count_params() == untied.count_params() - 2 * 30 * 8 - 30  # Two matrices and the bias of the output.
    table = model.get_layer("embedding").table
    assert sum(weight.path == table.path for weight in model.weights) == 1
    before = logits_of(model)
    table.assign(table * 2)
    assert np.abs(logits_of(model) - before).max() > 0


@pytest.mark.parametrize(("sizes", "millions"), [((6, 2048, 512, 8), 65), ((6, 4096, 1024, 16), 213)])
def test_tied_parameters_are_those_of_table_3(sizes, millions):
    num_layers, dff, d_model, num_heads = sizes
    model = transformer(37000, num_layers, dff, d_model, num_heads, 0.1, tie_embeddings=True)
    assert model.count_params() == pytest.approx(millions * 1e6, rel=0.04)


def test_tied_embeddings_are_saved_and_loaded(tmp_path):
    model = transformer(12, 1, 16, 8, 2, 0.1, tie_embeddings=True)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras", safe_mode=True)
    assert loaded.count_params() == model.count_params()
    np.testing.assert_array_equal(logits_of(loaded), logits_of(model))


@pytest.mark.parametrize("tied", [False, True])
def test_answers_may_have_token_ids_of_their_own(tied, tmp_path):
    keras.utils.set_random_seed(0)
    built = transformer(12, 1, 16, 8, 2, 0.1, target_vocab_size=7, tie_embeddings=tied)
    tables = {variable.path: tuple(variable.shape) for variable in built.weights if "embedding" in variable.path}
    assert tables == {"source_embedding/table": (12, 8), "target_embedding/table": (7, 8)}
    logits = logits_of(built)
    assert logits.shape == (2, 3, 7)
    parts = components_of(built)
    assert parts.embed_source is not parts.embed_target
    built.save(tmp_path / "model.keras")
    np.testing.assert_array_equal(logits_of(keras.saving.load_model(tmp_path / "model.keras")), logits)


def test_the_output_tied_to_the_target_is_its_table():
    built = transformer(12, 1, 16, 8, 2, 0.0, target_vocab_size=5, tie_embeddings=True)
    parts = components_of(built)
    table = ops.convert_to_numpy(built.get_layer("target_embedding").weights[0])
    state = np.random.default_rng(0).normal(size=(1, 1, 8)).astype("float32")
    np.testing.assert_allclose(ops.convert_to_numpy(parts.project(state))[0, 0], state[0, 0] @ table.T, atol=1e-5)


def test_pre_norm_has_a_final_norm_after_each_stack_and_no_other_weight(model):
    pre_norm = transformer(12, 2, 16, 8, 2, 0.5, norm_first=True)
    final = {f"{stack}/norm/{name}" for stack in ("encoder", "decoder") for name in ("gamma", "beta")}
    assert {w.path for w in pre_norm.weights} == {w.path for w in model.weights} | final


def test_pre_norm_trains_and_is_saved_and_loaded(tmp_path):
    keras.utils.set_random_seed(0)
    built = transformer(12, 1, 16, 8, 2, 0.1, norm_first=True)
    built.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), run_eagerly=EAGER)
    assert np.isfinite(built.train_on_batch([SOURCE, TARGET], TARGET))
    built.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras", safe_mode=True)
    np.testing.assert_array_equal(logits_of(loaded), logits_of(built))


def test_a_model_saved_before_norm_first_is_post_norm(model):
    config = model.get_config()
    for layer in config["layers"]:
        layer["config"].pop("norm_first", None)
    copy = keras.Model.from_config(config)
    copy.set_weights(model.get_weights())
    np.testing.assert_array_equal(logits_of(copy), logits_of(model))
