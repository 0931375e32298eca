import gc
import weakref

import keras
import numpy as np
import pytest
from keras import ops

from keras_transformer import generate, transformer
from keras_transformer.decoding.generate import _programs, begin, to_class

START, END, MAX = 2, 3, 12
LIMITS = {"start_id": START, "end_id": END, "max_length": MAX}
QUESTIONS = np.array([[2, 5, 6, 7, 3], [2, 9, 3, 0, 0], [2, 11, 12, 3, 0]])


@pytest.fixture(scope="module")
def model():
    keras.utils.set_random_seed(1)
    model = transformer(30, 2, 32, 16, 4, 0.1)
    # Wide embeddings make an untrained model decided about its tokens, and the end rare.
    for name in ("source_embedding", "target_embedding"):
        model.get_layer(name).table.assign(np.random.default_rng(0).normal(0, 1, (30, 16)))
    return model


def whole_pass(model, question, answer):
    """Log-probabilities of each token of an answer in one pass of the whole model."""
    logits = model([question[None], np.array([[START, *answer[:-1]]])], training=False)
    table = ops.convert_to_numpy(ops.log_softmax(logits))[0]
    return [table[i, token] for i, token in enumerate(answer)], table


def test_every_token_is_the_likeliest_of_the_whole_pass(model):
    generation = generate(model, QUESTIONS, **LIMITS)
    for question, ids, length in zip(QUESTIONS, generation.ids, generation.lengths):
        _, table = whole_pass(model, question, ids[:length])
        assert ids[:length].tolist() == (1 + table[:length, 1:].argmax(axis=-1)).tolist()  # Never padding, id 0.


def test_scores_are_those_of_the_whole_pass(model):
    generation = generate(model, QUESTIONS, **LIMITS)
    for question, ids, length, score in zip(QUESTIONS, generation.ids, generation.lengths, generation.scores):
        assert sum(whole_pass(model, question, ids[:length])[0]) == pytest.approx(score, abs=1e-4)


def test_shapes_and_padding(model):
    generation = generate(model, QUESTIONS, **LIMITS)
    assert generation.ids.shape == (3, MAX)
    assert generation.ids.dtype == generation.lengths.dtype == np.int32
    for ids, length in zip(generation.ids, generation.lengths):
        assert (ids[:length] != 0).all()
        assert (ids[length:] == 0).all()


def test_a_question_alone_equals_the_same_in_a_batch(model):
    together = generate(model, QUESTIONS, **LIMITS)
    for row, question in enumerate(QUESTIONS):
        alone = generate(model, question[None], **LIMITS)
        assert alone.ids.tolist() == [together.ids[row].tolist()]
        assert alone.scores == pytest.approx(together.scores[row : row + 1], abs=1e-4)


def test_padding_changes_nothing(model):
    wide = np.pad(QUESTIONS, ((0, 0), (0, 20)))
    assert generate(model, wide, **LIMITS).ids.tolist() == generate(model, QUESTIONS, **LIMITS).ids.tolist()


def test_exactly_as_many_tokens_as_forced(model):
    generation = generate(model, QUESTIONS, **LIMITS, min_length=MAX)
    assert generation.lengths.tolist() == [MAX] * 3
    assert END not in generation.ids


def test_a_row_of_padding_has_no_answer(model):
    generation = generate(model, [[0, 0, 0], [2, 5, 3]], **LIMITS)
    assert generation.lengths[0] == 0 < generation.lengths[1]


def test_step_by_step_equals_at_once(model):
    state, advance = begin(model, QUESTIONS, **LIMITS)
    for tokens in range(1, MAX + 1):
        state = advance(state, tokens)
    whole = generate(model, QUESTIONS, **LIMITS)
    assert ops.convert_to_numpy(state["ids"])[:3].tolist() == whole.ids.tolist()


def test_further_training_is_seen():
    keras.utils.set_random_seed(0)
    model = transformer(30, 1, 32, 16, 4, 0.0)
    generate(model, QUESTIONS, **LIMITS)
    bias = model.get_layer("outputs").bias
    bias.assign(np.eye(30)[7] * 100)
    assert set(generate(model, QUESTIONS, **LIMITS).ids.ravel()) == {7}


def test_a_loaded_model_answers_alike(model, tmp_path):
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras", safe_mode=True)
    assert generate(loaded, QUESTIONS, **LIMITS).ids.tolist() == generate(model, QUESTIONS, **LIMITS).ids.tolist()


def test_few_shapes_are_compiled():
    assert to_class(np.ones((3, 5), int)).shape == (4, 8)
    assert to_class(np.ones((1, 17), int)).shape == (1, 24)
    assert to_class(np.ones((64, 300), int)).shape == (64, 384)


def test_programs_do_not_keep_a_model_alive():
    model = transformer(30, 1, 32, 16, 4, 0.0)
    generate(model, QUESTIONS, **LIMITS)
    assert model in _programs
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_other_models_are_refused():
    inputs = keras.Input((3,))
    with pytest.raises(ValueError, match=r"made by transformer\(\)"):
        generate(keras.Model(inputs, inputs), QUESTIONS, **LIMITS)
