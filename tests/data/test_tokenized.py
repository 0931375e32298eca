import errno
import re

import pandas as pd
import pytest

from keras_transformer import DiskFull, Tokenizer
from keras_transformer.data.tokenized import PairEncoder, encode_pairs

PAIRS = pd.DataFrame({"question": ["가 나", "다"], "answer": ["나", "다 가 나"]})


@pytest.fixture
def tokenizer():
    return Tokenizer.train(["가 나 다"], kind="word")


def test_questions_and_answers_lie_one_after_the_other(tokenizer):
    encoded = encode_pairs(PAIRS, tokenizer)
    ids = [[2, *tokenizer.encode(text), 3] for text in ("가 나", "나", "다", "다 가 나")]
    assert encoded.ids.tolist() == [i for text in ids for i in text]
    assert [encoded.question(0).tolist(), encoded.answer(0).tolist()] == ids[:2]
    assert encoded.answer(1).tolist() == ids[3]
    assert encoded.lengths.tolist() == [[4, 2], [3, 4]] and encoded.lengths.dtype == "int32"
    assert (len(encoded), encoded.tokens, encoded.characters) == (2, 6, 6)


def test_added_in_parts_equals_added_at_once(tokenizer):
    with PairEncoder(tokenizer) as encoder:
        for row in range(2):
            encoder.add(PAIRS[row : row + 1])
        assert encoder.finish().ids.tolist() == encode_pairs(PAIRS, tokenizer).ids.tolist()


def test_lines_are_turns_where_there_may_be_several():
    tokenizer = Tokenizer.train(["a b"], kind="character", separator=True)
    pairs = pd.DataFrame({"question": ["a\nb"], "answer": ["a"]})
    a, b = tokenizer.encode("a")[0], tokenizer.encode("b")[0]
    assert encode_pairs(pairs, tokenizer, turns=2).question(0).tolist() == [2, a, 4, b, 3]


def test_a_full_disk_names_the_folder_and_what_to_do(tokenizer, monkeypatch):
    class Full:
        def write(self, data):
            raise OSError(errno.ENOSPC, "No space left on device")

        def close(self):
            raise OSError(errno.ENOSPC, "No space left on device")  # It tries to write the rest.

    monkeypatch.setattr("tempfile.TemporaryFile", Full)
    monkeypatch.setattr("tempfile.gettempdir", lambda: "/small")
    message = re.escape(
        "disk full: the corpus as token ids does not fit into /small: make room, or name another folder"
    )
    with pytest.raises(DiskFull, match=message):
        encode_pairs(PAIRS, tokenizer)
