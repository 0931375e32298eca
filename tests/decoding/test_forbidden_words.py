"""Forbidden words on a vocabulary of a few pieces, so that what is banned can be checked by eye."""

import random

import numpy as np
import pytest
from keras import ops

from keras_transformer import Beam, Greedy, InputError, Sampling, Tokenizer, transformer
from keras_transformer.decoding import beam_search, loop
from keras_transformer.decoding.config import AnswerTokens, GenerationConfig
from keras_transformer.decoding.forbidden_words import forbidden_words
from keras_transformer.decoding.generate import begin, generate_answers
from keras_transformer.decoding.phrases import Phrases
from keras_transformer.decoding.piece_reader import NEVER

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


CATS = Pieces("c", "a", "t", "ca", "at", "cat", " cat", " cats", "s", " is", " ")
ID = {piece: number for number, piece in enumerate(CATS.texts()) if piece}


def words(*phrases, tokenizer=CATS, forbidden_ids=()):
    return forbidden_words(phrases, tokenizer, forbidden_ids, END)


def place_of(table, ids):
    place = 0
    for token in ids:
        place = int(table.next[place, table.classes[token]])
    return place


def banned(table, said, left=9):
    """Returns the pieces that cannot follow, with `left` more tokens after each."""
    mask, _ = table.judge(ops.convert_to_tensor([place_of(table, said)], "int32"), left)
    texts = CATS.texts()
    return [texts[token] or {PAD: "pad", START: "start", END: "end"}[token] for token in np.flatnonzero(mask[0])]


AFTER_CAT = ["pad", " ⁇ ", "end", " cat", " cats", " is", " "]


@pytest.mark.parametrize("pieces", [["c", "a", "t"], ["ca", "t"], ["c", "at"], ["cat"], [" cat"], [" ", "c", "at"]])
def test_however_it_is_split_cat_does_not_end(pieces):
    assert banned(words("cat"), [ID[piece] for piece in pieces]) == AFTER_CAT


@pytest.mark.parametrize(
    "pieces", [["cat", "s"], [" cats"], ["ca", "t", "s"], ["s", "cat"], ["c", "c", "at"], ["at"], []]
)
def test_longer_and_other_words_are_no_cat(pieces):
    assert banned(words("cat"), [ID[piece] for piece in pieces]) == ["pad"]


def test_the_last_token_cannot_make_the_word():
    assert banned(words("cat"), [ID["ca"]], left=0) == ["pad", "t", " cat"]
    assert banned(words("cat"), [], left=0) == ["pad", "cat", " cat"]


def test_a_word_without_a_way_past_it_is_never_begun():
    whole = Pieces(" the", " cat", " sat")  # As a tokenizer of whole words has them.
    table = words("cat", tokenizer=whole)
    assert table.steps[place_of(table, [5])] == NEVER
    assert table.steps[place_of(table, [4, 6])] == 0


def test_forbidden_ids_are_no_way_past_a_word():
    letters = Pieces("cat", "s", " ")
    assert words("cat", tokenizer=letters).steps[place_of(words("cat", tokenizer=letters), [4])] == 1
    table = words("cat", tokenizer=letters, forbidden_ids=(4, 5))
    assert table.steps[place_of(table, [4])] == NEVER


def test_a_syllable_in_bytes():
    in_bytes = Pieces("가", "나", *(bytes([byte]) for byte in "나".encode()), "c", b"c", b"\xc3")
    table = words("가나", "c", tokenizer=in_bytes)
    assert table.steps[place_of(table, [4, 5])] == NEVER
    assert table.steps[place_of(table, [4, 6, 7, 8])] == NEVER  # 가, and 나 in bytes.
    assert table.steps[place_of(table, [4, 6, 7, 7, 8])] == 0  # The bytes are not those of a character.
    assert table.steps[place_of(table, [4, 6, 5])] == 0  # A broken character is between them.
    assert table.steps[place_of(table, [10, 4])] == NEVER  # c as a byte.


def test_a_longer_word_is_less_likely_and_pays_only_while_it_is_open():
    table = words("cat")
    places = ops.convert_to_tensor([place_of(table, []), place_of(table, [ID["cat"]])], "int32")
    _, bonus = table.judge(places, 9)
    bonus = ops.convert_to_numpy(bonus)
    assert bonus[0, ID["cat"]] == -bonus[1, ID["s"]] == np.float32(np.log(0.01))
    assert bonus[0, ID[" cats"]] == bonus[0, ID["c"]] == 0


@pytest.mark.parametrize("jamo", [False, True], ids=["syllables", "jamo"])
@pytest.mark.parametrize("kind", ["sentencepiece", "bpe", "character", "word"])
@pytest.mark.variants(2)
def test_the_table_agrees_with_the_decoded_text(kind, jamo):
    texts = ["고양이는 귀엽다", "나는 고양이가 좋아", "the cat sat on the mat", "Cats and classes", "École à côté"] * 2
    tokenizer = Tokenizer.train(texts, 600, kind, jamo)
    phrases = ("고양이", "cat", "école", "나", "on the")
    table, found = words(*phrases, tokenizer=tokenizer), 0
    draw, encoded = random.Random(0), tokenizer.encode(texts)
    by_text = {text: token for token, text in enumerate(tokenizer.texts())}
    encoded += [[by_text.get(bytes([byte]), END) for byte in character.encode()] for character in "고양이나É"]
    for _ in range(2000):
        ids = []
        for row in draw.choices(encoded, k=4):
            first = draw.randrange(len(row))
            ids += row[first : first + draw.randint(1, 3)]
        ids = [token for token in ids if token != END]
        says = Phrases(phrases).occur_in(tokenizer.decode(ids))
        never_ends = bool(table.steps[place_of(table, ids)])
        # A letter in bytes, which is not one of the phrases', counts as the end of a word.
        in_bytes = any(isinstance(tokenizer.texts()[token], bytes) for token in ids)
        assert never_ends == says or (in_bytes and never_ends)
        found += says
    assert 20 < found < 1980


def scripted(table):
    logits = ops.convert_to_tensor(np.log(np.array(table, "float32") + 1e-9))
    return lambda ids, index, cache: (ops.take(logits, ids, axis=0), cache)


def likely(*rows):
    """A model by the likeliest pieces after the start and after each piece: {piece: {next piece: probability}}."""
    table = np.full((len(CATS.texts()), len(CATS.texts())), 1e-4)
    for before, after in rows:
        for piece, probability in after.items():
            table[ID.get(before, START), ID.get(piece, END)] = probability
    return scripted(table)


MODEL = likely(
    ("", {" cat": 0.9, " is": 0.08}), (" cat", {"end": 0.99, "s": 0.005}), (" is", {"end": 0.9}), ("s", {"end": 0.9})
)


def greedy(phrases, max_length=5):
    constraints = GenerationConfig(forbidden=phrases).constraints_for(AnswerTokens.of(CATS))
    state = loop.start({}, ops.zeros((1,), "bool"), ops.zeros((1, max_length)), START)
    state = loop.advance(MODEL, Greedy(), constraints, state, max_length, END)
    return "".join(CATS.texts()[token] for token in ops.convert_to_numpy(state["ids"])[0])


def beams(phrases, max_length=5, num_beams=3):
    constraints = GenerationConfig(forbidden=phrases).constraints_for(AnswerTokens.of(CATS))
    state = beam_search.start({}, ops.zeros((1,), "bool"), START, max_length, Beam(num_beams))
    state = beam_search.advance(
        MODEL, lambda cache, rows: cache, Beam(num_beams), constraints, state, END, num_beams
    )  # fmt: skip
    ids = ops.convert_to_numpy(state["finished"]["ids"])[0]
    return ["".join(CATS.texts()[token] for token in row) for row in ids]


def test_greedy_decoding_goes_around_a_word():
    assert greedy(()) == " cat"
    assert greedy(("cat",)) == " is"
    assert greedy(("cat", "is")) == " cats"


def test_beams_carry_their_places():
    assert beams(())[0] == " cat"
    assert beams(("cat",))[:2] == [" is", " cats"]
    assert not any(Phrases(["cat"]).occur_in(answer) for answer in beams(("cat",), num_beams=8))


def test_repetition_gives_way_to_the_end_of_a_word():
    others = [ID[piece] for piece in ("s", "a", "t", "ca")]
    config = GenerationConfig(forbidden=("cat",), no_repeat_ngram=1, forbidden_ids=others)
    constraints = config.constraints_for(AnswerTokens.of(CATS))
    ids = ops.convert_to_tensor([[ID["c"], 0, 0]], "int32")  # As if "cat" were said, and only "c" can follow.
    place = ops.convert_to_tensor([place_of(constraints.words, [ID["c"], ID["at"]])], "int32")
    allowed = constraints.apply(ops.zeros((1, len(CATS.texts()))), ids, ops.convert_to_tensor(1), END, place)
    assert allowed[0, ID["c"]] > -10


@pytest.fixture(scope="module")
def model_and_tokens():
    import keras

    keras.utils.set_random_seed(1)
    tokenizer = Tokenizer.train(["고양이는 귀엽다", "나는 고양이가 좋아", "the cat sat"] * 2, 300, "bpe")
    model = transformer(tokenizer.vocab_size, 1, 16, 8, 2, 0.0)
    return model, AnswerTokens.of(tokenizer)


QUESTIONS = np.array([[2, 265, 266, 3], [2, 270, 3, 0]])
NEVER_SAID = ("나는 고양이 나는 고양이 나는 고양이 나는 고양이",)  # Longer than ten tokens can say.


@pytest.mark.heavy
@pytest.mark.compiled
@pytest.mark.parametrize("strategy", [Greedy(), Sampling(seed=3), Beam(3)], ids=["greedy", "sampling", "beams"])
@pytest.mark.variants(1)
def test_what_cannot_occur_changes_nothing(model_and_tokens, strategy):
    model, tokens = model_and_tokens
    plain, forbidding = (
        generate_answers(model, QUESTIONS, GenerationConfig(strategy, max_length=4, forbidden=phrases), tokens)
        for phrases in ((), NEVER_SAID)
    )
    assert plain.ids.tolist() == forbidding.ids.tolist()
    assert plain.scores.tolist() == forbidding.scores.tolist()


@pytest.mark.heavy
@pytest.mark.compiled
@pytest.mark.slow  # Compiles a program of a thousand rows.
def test_a_thousand_samples_never_say_it(model_and_tokens):
    model, tokens = model_and_tokens
    letters, said = ("고", "나", "a", "e", "s", "t"), []
    for phrases in ((), letters):
        config = GenerationConfig(Sampling(2.0, seed=0), num_return=500, max_length=12, forbidden=phrases)
        ids = generate_answers(model, QUESTIONS, config, tokens).ids.reshape(1000, -1)
        said.append(sum(map(Phrases(letters).occur_in, tokens.tokenizer.decode(ids))))
    assert said[0] > 100
    assert said[1] == 0


@pytest.mark.heavy
@pytest.mark.parametrize("strategy", [Greedy(), Sampling(seed=3)], ids=["greedy", "sampling"])
def test_step_by_step_equals_in_one_call(model_and_tokens, strategy):
    model, tokens = model_and_tokens
    config = GenerationConfig(strategy, max_length=8, forbidden=("고", "a"))
    whole = generate_answers(model, QUESTIONS[:1], config, tokens)
    state, advance = begin(model, QUESTIONS[:1], config, tokens)
    for limit in range(1, 9):
        state = advance(state, limit)
    assert ops.convert_to_numpy(state["ids"])[:1].tolist() == whole.ids.tolist()


@pytest.mark.heavy
@pytest.mark.compiled
@pytest.mark.parametrize("strategy", [Greedy(), Beam(3)], ids=["greedy", "beams"])
@pytest.mark.variants(1)
def test_eager_equals_compiled(model_and_tokens, strategy):
    import tensorflow as tf

    model, tokens = model_and_tokens
    config = GenerationConfig(strategy, max_length=6, forbidden=("고", "a"))
    whole = generate_answers(model, QUESTIONS, config, tokens)
    other = GenerationConfig(strategy, max_length=6, forbidden=("a", "고"))  # Another program, as it is another order.
    tf.config.run_functions_eagerly(True)
    try:
        eager = generate_answers(model, QUESTIONS, other, tokens)
    finally:
        tf.config.run_functions_eagerly(False)
    assert eager.ids.tolist() == whole.ids.tolist()
    np.testing.assert_allclose(eager.scores, whole.scores, atol=1e-4)


def test_words_need_a_tokenizer():
    with pytest.raises(
        InputError, match=r"forbidden and required words need the tokenizer of the answers: AnswerTokens.of"
    ):
        GenerationConfig(forbidden=("cat",)).constraints_for(AnswerTokens(START, END))
