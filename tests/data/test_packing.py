import collections

import numpy as np
import pytest

from keras_transformer.data.packing import PackedRows, choose_widths, lay_out, pack
from keras_transformer.data.tokenized import EncodedPairs


def encoded(*pairs):
    """Pairs of ids without start 2 and end 3."""
    texts = [[2, *text, 3] for pair in pairs for text in pair]
    return EncodedPairs(np.concatenate(texts), np.cumsum([0, *map(len, texts)]), characters=0)


@pytest.fixture
def corpus():
    random = np.random.default_rng(0)
    lengths = random.integers(1, 20, (500, 2))
    return encoded(*[(random.integers(4, 99, q), random.integers(4, 99, a)) for q, a in lengths])


def pairs_in(batches, epoch):
    """Every (question, answer) that an epoch's batches hold, counted."""
    found = collections.Counter()
    for step in range(epoch * len(batches), (epoch + 1) * len(batches)):
        for inputs, segments, dec_inputs, dec_segments, targets in zip(*batches.at(step)):
            for segment in range(1, segments.max() + 1):
                question, answer = inputs[segments == segment], dec_inputs[dec_segments == segment]
                following = targets[dec_segments == segment]
                assert answer[1:].tolist() == following[:-1].tolist() and following[-1] == 3
                found[tuple(question), tuple(answer), int(following[-1])] += 1
    return found


def test_pairs_lie_side_by_side_with_their_targets_one_step_on():
    arrays = lay_out(encoded(([5, 6], [7]), ([8], [9, 10])), [[0, 1]], widths=(8, 6))
    assert [array.tolist() for array in arrays] == [
        [[2, 5, 6, 3, 2, 8, 3, 0]],
        [[1, 1, 1, 1, 2, 2, 2, 0]],
        [[2, 7, 2, 9, 10, 0]],
        [[1, 1, 2, 2, 2, 0]],
        [[7, 3, 9, 10, 3, 0]],
    ]


class InOrder:
    permutation = staticmethod(np.arange)


def test_a_pair_goes_into_the_first_row_with_room_for_both_texts():
    lengths = np.array([(6, 2), (3, 7), (4, 2), (1, 1)])  # In rows of 8 and 8 the third fits into none before.
    assert list(pack(lengths, (8, 8), InOrder)) == [[0, 3], [1], [2]]


def test_every_pair_comes_once_an_epoch(corpus):
    batches = PackedRows(corpus, batch_size=32, seed=0)
    expected = collections.Counter(
        (tuple(corpus.question(pair)), tuple(corpus.answer(pair)[:-1]), 3) for pair in range(len(corpus))
    )
    assert pairs_in(batches, 0) == pairs_in(batches, 3) == expected


def test_epochs_differ_and_the_seed_fixes_them(corpus):
    batches, again = PackedRows(corpus, 32, seed=4), PackedRows(corpus, 32, seed=4)
    np.testing.assert_array_equal(batches.at(len(batches) + 1), again.at(len(batches) + 1))
    assert not np.array_equal(batches.at(0), batches.at(len(batches)))
    assert not np.array_equal(batches.at(0), PackedRows(corpus, 32, seed=5).at(0))


def test_without_shuffling_every_epoch_is_the_same(corpus):
    batches = PackedRows(corpus, 32, shuffle=False)
    np.testing.assert_array_equal(batches.at(2), batches.at(len(batches) + 2))


def test_batches_hold_the_pairs_or_the_tokens_asked_for_on_average(corpus):
    pairs = PackedRows(corpus, batch_size=50)
    assert len(corpus) / len(pairs) == pytest.approx(50, rel=0.1)
    tokens = PackedRows(corpus, batch_size=1, batch_tokens=1000)
    assert corpus.lengths.sum() / len(tokens) == pytest.approx(1000, rel=0.1)


def test_the_longer_side_gets_64_tokens_and_the_other_its_share():
    assert choose_widths(np.array([(10, 20), (10, 20)])).tolist() == [32, 64]
    assert choose_widths(np.array([(9, 9)])).tolist() == [64, 64]


def test_a_longer_text_makes_all_rows_as_long():
    assert choose_widths(np.array([(10, 20), (40, 20), (10, 100)])).tolist() == [40, 104]


def test_a_batch_larger_than_the_corpus_is_the_corpus():
    batches = PackedRows(encoded(([5], [7])), batch_size=64)
    assert len(batches) == 1 and batches.at(0)[0].shape == (1, 64)


def test_the_last_batch_is_filled_up_with_padding(corpus):
    batches = PackedRows(corpus, batch_size=7)
    last = batches.at(len(batches) - 1)
    assert {array.shape for array in last} == {array.shape for array in batches.at(0)}


def test_rows_of_padding_make_a_batch_a_multiple(corpus):
    plain, filled = PackedRows(corpus, batch_size=32), PackedRows(corpus, batch_size=32, multiple=4)
    rows = plain.shapes[0][0]
    assert rows % 4 and len(filled) == len(plain)
    for step in (0, len(plain) - 1):
        for array, wider, shape in zip(plain.at(step), filled.at(step), filled.shapes):
            assert wider.shape == shape and len(wider) == rows + 4 - rows % 4
            np.testing.assert_array_equal(wider[:rows], array)
            assert not wider[rows:].any()
