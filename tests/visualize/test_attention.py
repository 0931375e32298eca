import itertools

import numpy as np
import pytest
from matplotlib.text import Text

from keras_transformer import InputError, plot_attention


def words(labels):
    return [label.get_text() for label in labels]


def panels_of(figure):
    """The matrices of a picture; behind them stands the bar of the scale."""
    *panels, bar = figure.axes
    assert bar.get_ylabel() == "attention weight"
    return panels


@pytest.mark.parametrize(
    ("kind", "rows", "columns"),
    [
        ("encoder", "<start> 배고픈데 뭐 먹지 ? <end>", "<start> 배고픈데 뭐 먹지 ? <end>"),
        ("decoder", "밥 먹어요 . <end>", "<start> 밥 먹어요 ."),
        ("cross", "밥 먹어요 . <end>", "<start> 배고픈데 뭐 먹지 ? <end>"),
    ],
)
def test_each_head_is_a_matrix_between_its_tokens(make_attended, kind, rows, columns):
    attended = make_attended()
    panels = panels_of(plot_attention(attended, kind, layer=1))
    assert [panel.get_title() for panel in panels] == ["head 1", "head 2", "head 3"]
    for panel, weights in zip(panels, getattr(attended, kind)[0]):
        [mesh] = panel.collections
        np.testing.assert_array_equal(mesh.get_array(), weights)
        assert panel.yaxis_inverted() and not panel.xaxis_inverted()  # The first token at the top and at the left.
    assert words(panels[0].get_yticklabels()) == rows.split()
    for panel in panels:
        assert words(panel.get_xticklabels()) == columns.split()
        np.testing.assert_array_equal(panel.get_xticks(), np.arange(len(columns.split())) + 0.5)


def test_one_scale_of_colours_for_all(make_attended):
    attended = make_attended()
    meshes = [panel.collections[0] for panel in panels_of(plot_attention(attended))]
    assert {mesh.get_clim() for mesh in meshes} == {(0, attended.cross[1].max())}


def test_layers_and_heads_are_counted_from_1_and_the_last_layer_is_drawn(make_attended):
    attended = make_attended()
    figure = plot_attention(attended, heads=[3, 1])
    assert figure.get_suptitle() == "Cross-attention, layer 2 of 2"
    panels = panels_of(figure)
    assert [panel.get_title() for panel in panels] == ["head 3", "head 1"]
    np.testing.assert_array_equal(panels[0].collections[0].get_array(), attended.cross[1, 2])


def test_tokens_are_no_formulas(make_attended):
    figure = plot_attention(make_attended(answer=("$x$", "\\frac", "_", "<end>")), heads=[1])
    labels = panels_of(figure)[0].get_yticklabels()
    assert words(labels) == ["$x$", "\\frac", "_", "<end>"]
    assert not any(label.get_parse_math() for label in labels)


def test_no_text_touches_another(make_attended):
    long = ("<start>", *["트랜스포머가", "attention", "뭐야", "?"] * 7, "<end>")
    figure = plot_attention(make_attended(question=long, answer=long[1:]), heads=[1, 2])
    figure.draw_without_rendering()
    texts = [*figure.texts, *itertools.chain(*(panel.findobj(Text) for panel in panels_of(figure)))]
    boxes = [text.get_window_extent() for text in texts if text.get_text() and text.get_visible()]
    assert len(boxes) > 3 * len(long)  # The tokens of the rows once, those of the columns under both heads.
    width, height = figure.bbox.size
    assert all(box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height for box in boxes)
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_long_tokens_leave_room_for_the_cells(make_attended):
    word = "Donaudampfschifffahrtsgesellschaft"
    figure = plot_attention(make_attended(question=("<start>", word), answer=(word, "<end>")), heads=[1])
    figure.draw_without_rendering()
    [panel] = panels_of(figure)
    width, height = panel.get_window_extent().size / figure.dpi
    assert width / 2 > 0.2 and height / 2 > 0.2  # Inches.


@pytest.mark.parametrize(
    ("kind", "layer", "heads", "message"),
    [
        ("self", None, None, "unknown kind of attention 'self': choose one of 'cross', 'encoder', 'decoder'"),
        ("cross", 3, None, "there is no layer 3: layers are numbered from 1 to 2"),
        ("cross", 0, None, "there is no layer 0: layers are numbered from 1 to 2"),
        ("cross", None, [1, 4], "there is no head 4: heads are numbered from 1 to 3"),
    ],
)
def test_what_is_not_there_is_named(make_attended, kind, layer, heads, message):
    with pytest.raises(InputError, match=message):
        plot_attention(make_attended(), kind, layer, heads)
