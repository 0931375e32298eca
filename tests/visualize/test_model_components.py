import keras
import pytest

from keras_transformer import packed, transformer
from keras_transformer.visualize.model import shape_of

SIZES = {"vocab_size": 50, "num_layers": 3, "dff": 16, "d_model": 8, "num_heads": 2, "dropout": 0.1}


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(("target_vocab_size", "norm_first"), [(None, False), (70, False), (None, True)])
def test_the_blocks_parameters_are_all_that_the_model_has(tied, target_vocab_size, norm_first):
    model = transformer(**SIZES, tie_embeddings=tied, target_vocab_size=target_vocab_size, norm_first=norm_first)
    shape = shape_of(model)
    stacks = shape.encoder, shape.decoder
    layers = sum(stack.num_layers * stack.layer_parameters for stack in stacks)
    rest = sum(block.parameters for block in (shape.encoder.embedding, shape.decoder.embedding, shape.linear))
    norms = sum(stack.norm.parameters for stack in stacks if stack.norm)
    assert layers + rest + norms == shape.parameters == model.count_params()
    assert shape.linear.shared == tied
    assert shape.decoder.embedding.shared == (tied and target_vocab_size is None)


def test_sublayers_stand_in_the_papers_order_with_their_sizes():
    shape = shape_of(transformer(**SIZES))
    assert [block.title for block in shape.encoder.layer] == [
        "Multi-Head Attention (2 × 4)", "Add & Norm", "Feed Forward (8 → 16 → 8)", "Add & Norm",
    ]  # fmt: skip
    assert [block.title for block in shape.decoder.layer] == [
        "Masked Multi-Head Attention (2 × 4)", "Add & Norm", "Multi-Head Attention (2 × 4)", "Add & Norm",
        "Feed Forward (8 → 16 → 8)", "Add & Norm",
    ]  # fmt: skip
    assert [block.parameters for block in shape.encoder.layer] == [4 * (8 * 8 + 8), 16, 8 * 16 + 16 + 16 * 8 + 8, 16]
    assert shape.encoder.embedding.title == "Input Embedding (50 tokens)"
    assert {block.shape for block in (shape.encoder.embedding, *shape.encoder.layer)} == {(None, None, 8)}
    assert shape.linear.shape == (None, None, 50)


def test_in_a_pre_norm_model_each_sublayer_stands_after_its_norm():
    shape = shape_of(transformer(**SIZES, norm_first=True))
    assert [block.title for block in shape.encoder.layer] == [
        "Layer Norm", "Multi-Head Attention (2 × 4)", "Layer Norm", "Feed Forward (8 → 16 → 8)",
    ]  # fmt: skip
    assert [block.title for block in shape.decoder.layer] == [
        "Layer Norm", "Masked Multi-Head Attention (2 × 4)", "Layer Norm", "Multi-Head Attention (2 × 4)",
        "Layer Norm", "Feed Forward (8 → 16 → 8)",
    ]  # fmt: skip
    assert (shape.encoder.norm.title, shape.decoder.norm.parameters) == ("Layer Norm", 16)
    assert shape_of(transformer(**SIZES)).encoder.norm is None


def test_the_packed_model_looks_the_same():
    model = transformer(**SIZES)
    assert shape_of(packed(model)) == shape_of(model)


def test_another_model_is_refused():
    with pytest.raises(ValueError, match="pass a model created by transformer"):
        shape_of(keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)]))
