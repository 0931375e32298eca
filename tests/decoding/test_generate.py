import gc
import itertools
import weakref

import keras
import numpy as np
import pytest
from keras import ops

from keras_transformer import (
    Beam,
    Greedy,
    InputError,
    Sampling,
    create_look_ahead_mask,
    create_padding_mask,
    generate,
    transformer,
)
from keras_transformer.decoding import generate as generation
from keras_transformer.decoding.compiled import compiled
from keras_transformer.decoding.config import AnswerTokens, GenerationConfig
from keras_transformer.decoding.generate import _programs, begin, limit_programs, to_class
from keras_transformer.models.incremental import IncrementalTransformer

pytestmark = pytest.mark.heavy

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


STRATEGIES = [
    Greedy(),
    Beam(3),
    Sampling(temperature=2.0, seed=1),
    Sampling(top_k=3, seed=1),
    Sampling(top_p=0.5, seed=1),
]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_a_row_of_padding_has_no_answer(model, strategy):
    generation = generate(model, [[0, 0, 0], [2, 5, 3]], **LIMITS, strategy=strategy)
    assert generation.lengths[0] == 0 < generation.lengths[1]
    assert generation.scores[0] == 0


@pytest.mark.compiled
@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
@pytest.mark.variants(3)
def test_scores_of_every_strategy_are_those_of_the_whole_pass(model, strategy):
    rules = {"repetition_penalty": 1.5, "no_repeat_ngram": 2, "min_length": 4, "forbidden_ids": [5, 6]}
    generation = generate(model, QUESTIONS, **LIMITS, **rules, strategy=strategy)
    for question, ids, length, score in zip(QUESTIONS, generation.ids, generation.lengths, generation.scores):
        said = ids[:length].tolist()
        assert sum(whole_pass(model, question, said)[0]) == pytest.approx(score, abs=1e-4)
        assert len(said) >= 5 and not {5, 6} & set(said)
        assert len(set(itertools.pairwise(said))) == len(said) - 1


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
@pytest.mark.variants(3)
def test_every_strategy_answers_a_question_alone_as_in_a_batch(model, strategy):
    together = generate(model, QUESTIONS, **LIMITS, strategy=strategy)
    for row, question in enumerate(QUESTIONS):
        assert generate(model, question[None], **LIMITS, strategy=strategy).ids.tolist() == [together.ids[row].tolist()]


def test_the_best_of_a_beam_come_first_and_differ(model):
    generation = generate(model, QUESTIONS, **LIMITS, strategy=Beam(4), num_return=3)
    assert generation.ids.shape == (3, 3, MAX) and generation.lengths.shape == generation.scores.shape == (3, 3)
    ranks = generation.scores / ((5 + generation.lengths) / 6) ** 0.6
    assert (np.diff(ranks) <= 1e-6).all()
    for row, question in enumerate(QUESTIONS):
        assert len({tuple(ids) for ids in generation.ids[row].tolist()}) == 3
        for ids, length, score in zip(generation.ids[row], generation.lengths[row], generation.scores[row]):
            assert sum(whole_pass(model, question, ids[:length])[0]) == pytest.approx(score, abs=1e-4)
    best = generate(model, QUESTIONS, **LIMITS, strategy=Beam(4))
    assert best.ids.tolist() == generation.ids[:, 0].tolist()


def test_one_beam_is_greedy_where_no_end_can_be(model):
    # Elsewhere it keeps the best end that it passes, and looks at what would have come after it.
    ways = Greedy(), Beam(1, 0.0)
    greedy, beam = (generate(model, QUESTIONS, **LIMITS, min_length=MAX, strategy=how) for how in ways)
    assert beam.ids.tolist() == greedy.ids.tolist()
    assert beam.scores == pytest.approx(greedy.scores, abs=1e-4)


def test_samples_differ_by_number_seed_and_call(model):
    def sample(seed, num_return=2):
        how = Sampling(temperature=3.0, seed=seed)
        return generate(model, QUESTIONS[:1], **LIMITS, strategy=how, num_return=num_return).ids.tolist()

    assert sample(1) == sample(1) != sample(2)
    assert sample(1)[0][0] != sample(1)[0][1]
    assert sample(1, num_return=1)[0] == sample(1)[0][0]
    assert sample(None) != sample(None)


def test_samples_are_as_often_as_they_are_likely():
    keras.utils.set_random_seed(0)
    model = transformer(6, 1, 8, 8, 2, 0.0)
    bias = np.log([1e-9, 1e-9, 1e-9, 0.2, 0.5, 0.3])
    model.get_layer("outputs").kernel.assign(np.zeros((8, 6)))
    model.get_layer("outputs").bias.assign(bias)
    how = {"start_id": START, "end_id": END, "max_length": 1, "strategy": Sampling(seed=0), "num_return": 4000}
    ids = generate(model, [[2, 5, 3]], **how).ids
    np.testing.assert_allclose(np.bincount(ids.ravel(), minlength=6) / 4000, [0, 0, 0, 0.2, 0.5, 0.3], atol=0.03)


@pytest.mark.parametrize("strategy", [Greedy(), Beam(3), Sampling(seed=1)], ids=str)
def test_attention_is_that_of_the_whole_pass(model, strategy):
    generation = generate(model, QUESTIONS, **LIMITS, strategy=strategy, return_attention=True)
    assert {name: weights.shape for name, weights in generation.attention.items()} == {
        "encoder": (3, 2, 4, 5, 5), "decoder": (3, 2, 4, MAX, MAX), "cross": (3, 2, 4, MAX, 5),
    }  # fmt: skip
    incremental = IncrementalTransformer(model)
    for row, (question, ids, length) in enumerate(zip(QUESTIONS, generation.ids, generation.lengths)):
        said = np.array([[START, *ids[: length - 1]]])
        whole = whole_attention(incremental.components, question[None], said)
        for name, weights in whole.items():
            kept = generation.attention[name][row]
            rows, keys = weights.shape[-2:]
            np.testing.assert_allclose(kept[..., :rows, :keys], weights[0], atol=1e-5)
            assert not kept[..., rows:, :].any() and not kept[..., keys:].any()


def whole_attention(parts, question, said):
    """The attention weights of one pass: encoder, decoder and cross, each (1, layers, heads, …)."""
    mask = create_padding_mask(question)
    memory, encoder = parts.encoder(parts.embed_source(question), mask, return_attention_scores=True)
    _, decoder = parts.decoder(
        parts.embed_target(said), memory, create_look_ahead_mask(said), mask, return_attention_scores=True
    )
    layers = {"encoder": encoder} | {
        name: [layer[sublayer] for layer in decoder]
        for name, sublayer in (("decoder", "self_attention"), ("cross", "cross_attention"))
    }
    return {name: np.stack([ops.convert_to_numpy(x) for x in found], axis=1) for name, found in layers.items()}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_return": 0}, "num_return must be 1 or more, not 0"),
        ({"num_return": 2}, "greedy decoding finds one answer, not 2"),
        ({"num_return": 3, "strategy": Beam(2)}, "2 beams cannot find 3 answers"),
        ({"max_length": 0}, "max_length must be 1 or more, not 0"),
        ({"min_length": -1}, "min_length must be 0 or more, not -1"),
        ({"min_length": 13}, "min_length 13 is more than max_length 12"),
    ],
)
def test_settings_that_cannot_be_are_refused(model, settings, message):
    with pytest.raises(InputError, match=message):
        generate(model, QUESTIONS, **{**LIMITS, **settings})


@pytest.mark.compiled
def test_many_shapes_are_no_reason_for_a_warning(caplog):
    twice = compiled(lambda x: 2 * x, [])
    for size in range(1, 9):
        assert ops.convert_to_numpy(twice(np.ones(size, "float32"))).tolist() == [2] * size
    assert not caplog.records


def test_no_questions_have_no_answers(model):
    for strategy in (Greedy(), Beam(2), Sampling(seed=1)):
        generation = generate(model, np.zeros((0, 5)), **LIMITS, strategy=strategy)
        assert generation.ids.shape == (0, MAX) and generation.scores.shape == (0,)


@pytest.mark.compiled
def test_seeds_share_a_program(model):
    before = len(_programs[model])
    for seed in range(3):
        generate(model, QUESTIONS, **LIMITS, strategy=Sampling(temperature=0.7, seed=seed))
    assert len(_programs[model]) == before + 1


@pytest.mark.compiled
def test_step_by_step_equals_at_once(model):
    state, advance = begin(model, QUESTIONS, GenerationConfig(max_length=MAX), AnswerTokens(START, END))
    for tokens in range(1, MAX + 1):
        state = advance(state, tokens)
    whole = generate(model, QUESTIONS, **LIMITS)
    assert ops.convert_to_numpy(state["ids"])[:3].tolist() == whole.ids.tolist()


@pytest.mark.compiled
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
    def shape(rows, length):
        return to_class(rows, np.ones((rows, length), int))[0].shape

    assert (shape(3, 5), shape(1, 13), shape(64, 300)) == ((4, 12), (1, 24), (64, 384))


def test_rows_shared_out_among_cores_are_answered_as_together(model, monkeypatch):
    questions = np.random.default_rng(1).integers(4, 30, (37, 6))

    def answers(shares):
        monkeypatch.setattr(generation, "num_shards", lambda rows: shares)
        searched = generate(model, questions, **LIMITS, strategy=Beam(2), num_return=2)
        return searched, generate(model, questions, **LIMITS, strategy=Sampling(seed=3), return_attention=True)

    for together, apart in zip(answers(1), answers(3)):
        assert apart.ids.tolist() == together.ids.tolist()
        np.testing.assert_allclose(apart.scores, together.scores, atol=1e-4)
    for name, weights in together.attention.items():
        np.testing.assert_allclose(apart.attention[name], weights, atol=1e-5)


@pytest.mark.compiled
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
    with pytest.raises(ValueError, match=r"created by transformer\(\)"):
        generate(keras.Model(inputs, inputs), QUESTIONS, **LIMITS)


@pytest.mark.compiled
@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="only TensorFlow's programs are limited")
@pytest.mark.parametrize("strategy", [Greedy(), Beam(2), Sampling(seed=1)], ids=str)
@pytest.mark.variants(2)
def test_answers_without_compilation_are_those_with_it(model, strategy):
    copy = keras.models.clone_model(model)
    copy.set_weights(model.get_weights())
    limit_programs(copy, 0)
    expected, found = (generate(one, QUESTIONS, strategy=strategy, **LIMITS) for one in (model, copy))
    assert found.ids.tolist() == expected.ids.tolist()
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-4)
    assert not _programs[copy]
