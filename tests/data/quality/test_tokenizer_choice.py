"""How large a vocabulary a corpus can feed."""

import random

from keras_transformer.data.quality.tokenizer_choice import OFTEN, choose_tokenizer, rarest_count
from keras_transformer.text.tokenizer import Tokenizer


def texts(words, count):
    """Sentences of five words, drawn from so many different ones of four letters."""
    draw = random.Random(0)
    known = ["".join(draw.choices("abcdefghijklmnop", k=4)) for _ in range(words)]
    return [" ".join(draw.choices(known, k=5)) for _ in range(count)]


def test_more_text_feeds_a_larger_vocabulary():
    few, many = (choose_tokenizer(texts(1000, count), 16) for count in (300, 5000))
    assert (few[1], many[1]) == (500, 2000)
    assert few[0].vocab_size == 500
    assert few[2] < OFTEN <= many[2]  # The smallest size is taken however little there is.


def test_of_a_sample_the_whole_is_judged():
    sample = texts(1000, 300)
    _, size, _ = choose_tokenizer(sample, 16)
    _, larger, met = choose_tokenizer(sample, 16, share=0.01)
    assert larger > size
    assert met % 100 == 0


def test_all_characters_have_a_place_whatever_the_rule_says():
    hangul = [chr(ord("가") + number) for number in range(1500)]
    tokenizer, size, met = choose_tokenizer(hangul, 1500)
    assert (size, met) == (2000, 0)
    assert tokenizer.unknown("".join(hangul)) == []


def test_more_characters_than_any_size_has():
    han = [chr(0x4E00 + number) for number in range(20_000)] + [chr(0xAC00 + number) for number in range(11_172)]
    han += [chr(0x3400 + number) for number in range(6000)]
    assert choose_tokenizer(han, len(han))[1] == 37_500


def test_how_often_the_rarest_pieces_are_met():
    met = ["abc abd"] * 30 + ["xyz"] * 3
    tokenizer = Tokenizer.train(met, 4 + 256 + 12)
    pieces = [piece for text in met for piece in tokenizer.pieces(text) if len(piece.lstrip("▁")) > 1]
    assert rarest_count(tokenizer, met) == min(map(pieces.count, set(pieces)))
