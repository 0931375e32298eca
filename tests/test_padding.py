import re
from pathlib import Path

import numpy as np
import pytest

import keras_transformer
from keras_transformer import Tokenizer
from keras_transformer.padding import PAD_ID, pad


@pytest.mark.parametrize("row", [[5, 6], (5, 6), np.array([5, 6])])
def test_rows_are_padded_to_the_longest_or_to_a_length(row):
    assert pad([row, [], [7]]).tolist() == [[5, 6], [0, 0], [7, 0]]
    assert pad([row, [7]], 3).tolist() == [[5, 6, 0], [7, 0, 0]]
    assert pad([row]).dtype == "int32"


def test_the_id_is_defined_once():
    package = Path(keras_transformer.__file__).parent
    homes = [path for path in package.rglob("*.py") if re.search(r"^PAD_ID\b.*=", path.read_text("utf-8"), re.M)]
    assert [path.name for path in homes] == ["padding.py"]
    assert Tokenizer.pad_id == PAD_ID == 0
