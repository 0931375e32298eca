import pathlib

import numpy as np

from keras_transformer import Tokenizer, load_pairs
from keras_transformer.data.batching import Buckets, by_length
from keras_transformer.data.tokenized import encode_pairs

CORPUS = pathlib.Path(__file__).parents[2] / "keras_transformer/data/small_talk/small_talk.csv"


def test_a_training_can_go_on_at_any_step():
    pairs = load_pairs(CORPUS).head(300)
    tokenizer = Tokenizer.train([*pairs["question"], *pairs["answer"]], vocab_size=1000)
    batches = Buckets(encode_pairs(pairs, tokenizer), batch_size=32, seed=1)
    step = len(batches) + 7
    whole = [batch for _, batch in zip(range(step + 3), batches.from_step(0))]
    for (inputs, targets), (late_inputs, late_targets) in zip(whole[step:], batches.from_step(step)):
        np.testing.assert_array_equal(inputs["inputs"], late_inputs["inputs"])
        np.testing.assert_array_equal(targets, late_targets)


def test_similar_lengths_stand_side_by_side():
    # (question, answer): bands of answers 2-3 and 4-5; questions fall in the odd band, rise in the even one.
    lengths = np.array([(9, 4), (3, 2), (1, 5), (8, 3), (5, 2)])
    assert lengths[by_length(lengths)].tolist() == [[8, 3], [5, 2], [3, 2], [1, 5], [9, 4]]
