"""Required words on a vocabulary of a few pieces, and on random models with real tokenizers."""

import itertools

import numpy as np
import pytest
from keras import ops

from keras_transformer import Beam, Greedy, InputError, Sampling, Tokenizer, transformer
from keras_transformer.decoding import beam_search
from keras_transformer.decoding.config import AnswerTokens, GenerationConfig
from keras_transformer.decoding.constraints import IMPOSSIBLE
from keras_transformer.decoding.generate import generate_answers
from keras_transformer.decoding.phrases import Phrases
from keras_transformer.decoding.piece_reader import NEVER
from keras_transformer.decoding.required_words import required_words

PAD, UNKNOWN, START, END = range(4)


class Pieces:
    """A tokenizer with the given pieces, after the special ones."""

    def __init__(self, *pieces):
        self.pieces = ["", " ⁇ ", "", "", *pieces]
        self.start_id, self.end_id = START, END

    def texts(self):
        return self.pieces

    def normal_form(self, text):
        return text

    spelled = normal_form


CATS = Pieces("c", "a", "t", "ca", "at", "cat", " cat", " cats", "s", " is", " ", " dog")
ID = {piece: number for number, piece in enumerate(CATS.texts()) if piece}


def words(*phrases, tokenizer=CATS, forbidden_ids=()):
    return required_words(phrases, tokenizer, forbidden_ids, END)


def missing(required, *said):
    places = ops.zeros((1, len(required.words)), "int32")
    for token in said:
        places = required.follow(places, ops.convert_to_tensor([token], "int32"))
    return required.missing(places)


@pytest.mark.parametrize(
    ("pieces", "now"),
    [
        ([], 1),
        (["cat"], 0),
        (["ca"], 1),
        (["c"], 1),
        (["c", "at"], 0),
        (["cat", "s"], 1),  # "cats" is another word.
        (["cat", " ", "s"], 0),  # It was found.
        (["s", "cat"], 1),
        (["s", " cat", " is"], 0),
    ],
)
def test_how_many_tokens_are_missing(pieces, now):
    assert int(missing(words("cat"), *(ID[piece] for piece in pieces)).now[0]) == now


def test_each_word_needs_its_tokens():
    both = words("cat", "dog")
    assert int(missing(both).now[0]) == both.least_length == 4  # Each word may need a token after it.
    assert int(missing(both, ID[" cat"]).now[0]) == 3
    assert int(missing(both, ID[" cat"], ID[" dog"]).now[0]) == 0
    after = ops.convert_to_numpy(missing(both, ID[" dog"]).after[0])
    assert (after[ID[" cat"]], after[ID["s"]]) == (0, 4)


def test_bytes_beside_a_word_may_belong_to_a_longer_one():
    in_bytes = Pieces("cat", *(bytes([byte]) for byte in "é".encode()))
    assert int(missing(words("cat", tokenizer=in_bytes), 4).now[0]) == 0
    assert int(missing(words("cat", tokenizer=in_bytes), 4, 5, 6).now[0]) > 0  # caté
    assert int(missing(words("é", tokenizer=in_bytes), 5, 6).now[0]) == 0


def test_what_no_token_spells_is_refused():
    for word, banned in (("mouse", ()), ("cat", (*range(4, 11),))):
        with pytest.raises(InputError, match=f"required word '{word}': no allowed tokens of the tokenizer spell it"):
            words(word, forbidden_ids=banned)


def test_a_word_after_the_end_of_all_words_is_out_of_reach():
    whole = Pieces("cat", "s")
    no_space = words("cat", tokenizer=whole, forbidden_ids=(UNKNOWN,))  # Nothing ends a word.
    assert (no_space.words[0].cost, no_space.least_length) == (NEVER, 1)


def test_beams_are_dealt_to_banks_in_turn():
    ranks = ops.convert_to_tensor([[-1.0, -2.0, -3.0, -4.0, IMPOSSIBLE, -0.5]])
    bank = ops.convert_to_tensor([[2, 2, 2, 0, 0, 1]], "int32")
    turns = ops.convert_to_numpy(beam_search.turns(ranks, bank, 3))[0]
    assert np.argsort(turns).tolist() == [3, 5, 0, 1, 2, 4]


def scripted(probabilities):
    logits = ops.convert_to_tensor(np.log(probabilities).astype("float32"))
    return lambda ids, index, cache: (ops.take(logits, ids, axis=0), cache)


def search(probabilities, tokenizer, max_length, num_beams=4, **settings):
    """Returns the ids, scores and ranks of all answers."""
    config = GenerationConfig(Beam(num_beams), max_length=max_length, **settings)
    constraints = config.constraints_for(AnswerTokens.of(tokenizer))
    state = beam_search.start({}, ops.zeros((1,), "bool"), tokenizer.start_id, max_length, config.strategy)
    state = beam_search.advance(
        scripted(probabilities), lambda cache, rows: cache, config.strategy, constraints, state,
        tokenizer.end_id, num_beams,
    )  # fmt: skip
    return [ops.convert_to_numpy(state["finished"][name])[0] for name in ("ids", "scores", "ranks")]


def likely(*rows):
    """The probabilities of pieces after the start and after each piece: {piece: {next piece: probability}}."""
    table = np.full((len(CATS.texts()), len(CATS.texts())), 1e-4)
    for before, after in rows:
        for piece, probability in after.items():
            table[ID.get(before, START), ID.get(piece, END)] = probability
    return table / table.sum(axis=1, keepdims=True)


MODEL = likely(
    ("", {" cat": 0.9, " is": 0.08, " dog": 0.01}), (" cat", {"end": 0.97, " is": 0.02}), (" is", {"end": 0.9}),
    (" dog", {"end": 0.9, " is": 0.05}), (" cats", {"end": 0.9}),
)  # fmt: skip


def answer(*required, **settings):
    ids, _, _ = search(MODEL, CATS, 5, required=required, **settings)
    return "".join(CATS.texts()[token] for token in ids[0])


def test_the_likeliest_answer_with_the_words():
    assert answer() == " cat"
    assert answer("cat") == " cat"
    assert answer("is") == " is"
    assert answer("is", "cat") == " cat is"
    assert answer("dog") == " dog"
    assert answer("dog", num_beams=1) == " dog"
    assert answer("is", forbidden=("cat",)) == " is"
    assert answer("cats", forbidden=("cat",)) == " cats"


def test_a_word_may_repeat_what_else_may_not():
    assert answer("cat cat", no_repeat_ngram=1) == " cat cat"


def test_a_score_is_the_log_probability_of_the_answer():
    ids, scores, _ = search(MODEL, CATS, 5, required=("is", "dog"))
    for row, score in zip(ids, scores):
        said = [START, *row[: (row != PAD).sum()]]
        assert score == pytest.approx(sum(np.log(MODEL[a, b]) for a, b in itertools.pairwise(said)), abs=1e-4)


TEXTS = ["고양이는 귀엽다", "나는 고양이가 좋아", "the cat sat on the mat", "Cats and classes", "École à côté"] * 2


@pytest.mark.heavy
@pytest.mark.parametrize("jamo", [False, True], ids=["syllables", "jamo"])
@pytest.mark.parametrize("kind", ["sentencepiece", "bpe", "character", "word"])
@pytest.mark.variants(1)
def test_every_answer_of_random_models_has_all_words(kind, jamo):
    tokenizer, draw = Tokenizer.train(TEXTS, 400, kind, jamo), np.random.default_rng(0)
    size = tokenizer.vocab_size
    for required, forbidden in (
        (("고양이",), ()),
        (("고양이", "나"), ()),
        (("cat", "좋아"), ("the",)),
        (("on the", "Côté", "나는"), ("고양이",)),
    ):
        least = GenerationConfig(required=required).constraints_for(AnswerTokens.of(tokenizer)).required.least_length
        for max_length in (least, least + 6):
            model = draw.dirichlet(np.full(size, 0.02), size) * 0.999 + 0.001 / size
            ids, _, ranks = search(model, tokenizer, max_length, required=required, forbidden=forbidden)
            answers = [tokenizer.decode(row) for row, rank in zip(ids.tolist(), ranks) if rank > IMPOSSIBLE / 2]
            assert answers
            for text in answers:
                assert all(Phrases([word]).occur_in(text) for word in required), text
                assert not (forbidden and Phrases(forbidden).occur_in(text)), text


@pytest.fixture(scope="module")
def model_and_tokens():
    import keras

    keras.utils.set_random_seed(1)
    tokenizer = Tokenizer.train(TEXTS, 300, "bpe")
    model = transformer(tokenizer.vocab_size, 1, 16, 8, 2, 0.0)
    return model, AnswerTokens.of(tokenizer)


QUESTIONS = np.array([[2, 265, 266, 3], [2, 270, 3, 0], [0, 0, 0, 0]])
WORDS = GenerationConfig(max_length=12, required=("고양이", "cat"))


@pytest.mark.heavy
def test_a_batch_equals_one_by_one_and_eager_execution(model_and_tokens):
    import tensorflow as tf

    model, tokens = model_and_tokens
    batch = generate_answers(model, QUESTIONS, WORDS, tokens)
    texts = tokens.tokenizer.decode(batch.ids)
    assert texts[2] == ""
    assert all(Phrases([word]).occur_in(text) for word in WORDS.required for text in texts[:2])
    for row in range(2):
        alone = generate_answers(model, QUESTIONS[row : row + 1], WORDS, tokens)
        assert alone.ids[0].tolist() == batch.ids[row].tolist()
        assert alone.scores[0] == pytest.approx(batch.scores[row], abs=1e-4)
    other = GenerationConfig(max_length=12, required=("cat", "고양이"))  # Another program, as it is another order.
    tf.config.run_functions_eagerly(True)
    try:
        eager = generate_answers(model, QUESTIONS, other, tokens)
    finally:
        tf.config.run_functions_eagerly(False)
    assert eager.ids.tolist() == batch.ids.tolist()
    np.testing.assert_allclose(eager.scores, batch.scores, atol=1e-4)


def test_what_cannot_be_is_refused(model_and_tokens):
    model, tokens = model_and_tokens
    with pytest.raises(InputError, match="max_length 2 is too small for the required words, which take up to"):
        generate_answers(model, QUESTIONS, GenerationConfig(max_length=2, required=("고양이", "cat")), tokens)
    with pytest.raises(InputError, match="words need the tokenizer of the answers"):
        WORDS.constraints_for(AnswerTokens(START, END))
    for strategy in (Greedy(), Sampling()):
        with pytest.raises(InputError, match=r"required words need beam search: Beam\(num_beams=4\), or --beam 4"):
            GenerationConfig(strategy, required=("cat",))
    with pytest.raises(InputError, match="'black cat' is required, but 'Cat' is forbidden: leave one out"):
        GenerationConfig(required=("black cat",), forbidden=("dog", "Cat"))
    assert GenerationConfig(required=("cat",), forbidden=("black cat",)).strategy == Beam()


def test_no_answer_at_all_is_told(model_and_tokens, monkeypatch):
    model, tokens = model_and_tokens
    nothing = {"ids": np.zeros((3, 4, 12), "int32"), "scores": np.zeros((3, 4), "float32")}
    monkeypatch.setattr("keras_transformer.decoding.generate.run_rows", lambda *args, **settings: nothing)
    with pytest.raises(InputError, match="no answer with the required words was found: take more beams"):
        generate_answers(model, QUESTIONS, WORDS, tokens)
