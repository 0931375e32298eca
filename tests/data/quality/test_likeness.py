"""Which texts are nearly equal."""

import unicodedata

import pytest

from keras_transformer.data.quality.likeness import likeness_key


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Hello!", "hello"),
        ("ＨＥＬＬＯ ～", "hello"),
        ("잘 자~", "잘자"),
        (unicodedata.normalize("NFD", "잘 자"), "잘자"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("3박 4일", "3박4일"),
        ("हिन्दी", "हिन्दी"),
        ("?!… ~", ""),
        ("👋", ""),
    ],
)
def test_keys(text, key):
    assert likeness_key(text) == key
