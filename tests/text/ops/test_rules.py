import unicodedata

import pytest

tf = pytest.importorskip("tensorflow")

from sentencepiece import sentencepiece_model_pb2  # noqa: E402

from keras_transformer import Tokenizer  # noqa: E402
from keras_transformer.text.jamo import SYLLABLES  # noqa: E402
from keras_transformer.text.ops.rules import Rules, read_rules  # noqa: E402


@pytest.mark.parametrize(
    ("text", "replaced"),
    [
        ("abc", "3"),  # the longest
        ("ababc", "23"),  # from left to right
        ("aab", "12"),
        ("bca", "bc1"),
        ("x", ""),
        ("xx가", "가"),
        ("", ""),
        ("c\0c", "c\0c"),
    ],
)
def test_the_longest_string_is_replaced_from_left_to_right(text, replaced):
    rules = Rules({"a": "1", "ab": "2", "abc": "3", "x": ""})
    assert [one.decode() for one in rules(tf.constant(["ab", text, "c"])).numpy()] == ["2", replaced, "c"]


def test_the_rules_of_a_model_are_read():
    tokenizer = Tokenizer.train(["가나 다"], kind="character", jamo=True)
    model = sentencepiece_model_pb2.ModelProto.FromString(tokenizer.model)
    letters = {chr(syllable): unicodedata.normalize("NFD", chr(syllable)) for syllable in SYLLABLES}
    assert read_rules(model.normalizer_spec.precompiled_charsmap) == letters
    assert read_rules(model.denormalizer_spec.precompiled_charsmap) == {y: x for x, y in letters.items()}


def test_children_may_be_far_away():
    units = [0] * 1024
    units[0] = 1 << 10 | 1 << 9  # The root's are 1 << 8 away,
    units[256 ^ ord("a")] = ord("a") | 1 << 8 | 2 << 10 | 1 << 9  # those of "a" 2 << 8, the value of "a" among them.
    units[256 ^ ord("a") ^ 512] = 1 << 31 | 2
    array = b"".join(unit.to_bytes(4, "little") for unit in units)
    assert read_rules(len(array).to_bytes(4, "little") + array + b"b\0c\0") == {"a": "c"}


def test_a_model_without_rules_has_none():
    assert read_rules(b"") == {}
