import dataclasses
import itertools
import re

import pytest
from matplotlib.patches import FancyBboxPatch

from keras_transformer import plot_model_shape, transformer
from keras_transformer.visualize import model as drawn
from keras_transformer.visualize.model import shape_of

SIZES = {"num_layers": 3, "dff": 2048, "d_model": 16, "num_heads": 2, "dropout": 0.1}


def words(figure):
    return [text.get_text() for text in figure.axes[0].texts]


@pytest.fixture(scope="module")
def model():
    return transformer(12_000, **SIZES, target_vocab_size=11_000)


@pytest.fixture(scope="module")
def figure(model):
    return plot_model_shape(model)


def test_every_block_tells_its_shape_and_its_parameters(figure):
    written = words(figure)
    assert written[written.index("Input Embedding (12,000 tokens)") + 1] == "(batch, n, 16) · 192,000 parameters"
    assert written[written.index("Linear") + 1] == "(batch, m, 11,000) · 187,000 parameters"
    assert written.count("Add & Norm") == 5
    assert "Inputs\n(batch, n)" in written and "Outputs (shifted right)\n(batch, m)" in written
    assert written.count("N = 3") == 2


def test_the_sum_at_the_foot_is_that_of_the_model(figure, model):
    whole, terms = words(figure)[-2:]
    assert whole == f"{model.count_params():,} parameters"
    products = re.sub(r"\([a-z ]+\)|[,=]", "", terms).split("+")
    numbers = [[int(factor) for factor in product.split("×")] for product in products]
    assert sum(factors[0] * (factors[1:] or [1])[0] for factors in numbers) == model.count_params()


def test_a_shared_table_is_counted_once():
    model = transformer(50, **SIZES, tie_embeddings=True)
    written = words(plot_model_shape(model))
    assert written.count("(batch, m, 16) · the embedding's table") == 1
    assert written.count("(batch, m, 50) · the embedding's table") == 1
    assert written[-2] == f"{model.count_params():,} parameters"
    assert written[-1].startswith("= 800 (input embedding) + 3 × ")
    assert "linear" not in written[-1] and "output embedding" not in written[-1]


def assert_legible(figure):
    """No two texts overlap, and none leaves the page."""
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    page = figure.bbox
    assert all(page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1 for box in boxes)


def test_every_text_has_room(figure):
    assert_legible(figure)


def test_a_pre_norm_model_has_its_norms_before_the_sublayers_and_two_at_the_end():
    model = transformer(12_000, **SIZES, norm_first=True)
    figure = plot_model_shape(model)
    written = words(figure)
    assert written.count("Layer Norm") == 5 + 2
    assert "Add & Norm" not in written
    assert written.index("Layer Norm") < written.index("Multi-Head Attention (2 × 8)")
    assert "+ 64 (final norms) +" in written[-1]
    assert_legible(figure)


def test_texts_fit_their_boxes_even_those_of_large_models(model, monkeypatch):
    shape = shape_of(model)
    embedding = dataclasses.replace(shape.encoder.embedding, parameters=3_145_728_000)
    encoder = dataclasses.replace(shape.encoder, embedding=embedding, num_layers=96)
    layer = [dataclasses.replace(block, shape=(None, None, 12_288)) for block in shape.decoder.layer]
    layer[0] = dataclasses.replace(layer[0], title="Masked Multi-Head Attention (96 × 128)", parameters=604_028_928)
    linear = dataclasses.replace(shape.linear, shape=(None, None, 256_000), parameters=3_145_984_000)
    shared = dataclasses.replace(shape.decoder.embedding, shape=(None, None, 1_000_000), shared=True)
    decoder = dataclasses.replace(shape.decoder, embedding=shared, layer=layer, num_layers=96)
    large = dataclasses.replace(shape, encoder=encoder, decoder=decoder, linear=linear)
    monkeypatch.setattr(drawn, "shape_of", lambda _: large)
    figure = plot_model_shape(model)
    assert_legible(figure)
    [axes] = figure.axes
    boxes = [patch.get_window_extent() for patch in axes.patches if isinstance(patch, FancyBboxPatch)]
    columns = [box for box in boxes if box.height < 100]
    held = 0
    for text in axes.texts:
        extent = text.get_window_extent()
        for box in columns:
            if box.contains(*extent.get_points().mean(axis=0)):
                held += 1
                assert box.x0 < extent.x0 and extent.x1 < box.x1, text.get_text()
    assert held == 2 * len(columns) == 2 * (1 + 4 + 1 + 6 + 2)
