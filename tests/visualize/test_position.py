import numpy as np
import pytest
from keras import ops

from keras_transformer import InputError, PositionalEncoding, plot_position_encoding


def test_the_map_shows_the_layers_own_table():
    figure = plot_position_encoding(position=7, d_model=6)
    axes, bar = figure.axes
    [image] = axes.images
    np.testing.assert_array_equal(image.get_array(), ops.convert_to_numpy(PositionalEncoding(7, 6).pos_encoding)[0])
    assert image.get_array()[0].tolist() == [0, 1, 0, 1, 0, 1]  # sin 0 and cos 0.
    assert image.get_clim() == (-1, 1)
    assert axes.get_ylim() == (6.5, -0.5)  # Position 0 is the uppermost row.
    assert (axes.get_ylabel(), bar.get_ylabel()) == ("position pos", "value added to the embedding")


def test_zero_has_the_palest_colour():
    [image] = plot_position_encoding(2, 2).axes[0].images
    least, nothing, most = (sum(image.cmap(image.norm(value))[:3]) for value in (-1.0, 0.0, 1.0))
    assert nothing > 2 * least and nothing > 2 * most


def test_fifty_by_128_where_nothing_is_said():
    assert plot_position_encoding().axes[0].images[0].get_array().shape == (50, 128)


@pytest.mark.parametrize("sizes", [{"position": 0}, {"d_model": -1}, {"position": 1.5}])
def test_impossible_sizes_are_named(sizes):
    [name] = sizes
    with pytest.raises(InputError, match=f"^{name} must be a whole number of at least 1, not "):
        plot_position_encoding(**sizes)
