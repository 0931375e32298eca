from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from keras_transformer.visualize.page import inline_svg, styles


@pytest.fixture
def figure():
    figure = Figure((3, 2))
    axes = figure.subplots()
    axes.plot([1, 2], [3, 4], color="#0072B2", marker="o")
    axes.grid(color="0.9")
    axes.set_xlabel("epoch <1> & 2")
    return figure


@pytest.fixture
def svg(figure):
    return ElementTree.fromstring(inline_svg(figure, "first", 'a "curve" & <more>'))


def test_it_is_as_wide_as_there_is_room_and_says_what_it_is(svg):
    assert svg.tag == "svg"
    assert svg.get("viewBox") == "0 0 216 144" and not {"width", "height"} & svg.attrib.keys()
    assert (svg.get("role"), svg.get("aria-label")) == ("img", 'a "curve" & <more>')


def test_text_stays_text_in_the_font_of_the_page(svg):
    texts = ["".join(element.itertext()) for element in svg.iter("text")]
    assert "epoch <1> & 2" in texts
    assert all(element.get("font-size") for element in svg.iter("text"))
    assert not any("font-family" in element.attrib for element in svg.iter())


def test_nothing_of_it_is_a_style_that_a_policy_would_have_to_allow(figure, svg):
    assert not any("style" in element.attrib or element.tag in ("style", "metadata") for element in svg.iter())
    assert "http" not in inline_svg(figure, "first", "")


def test_greys_are_those_of_the_page_and_colours_stay(svg):
    strokes = {element.get("stroke") for element in svg.iter()} - {None}
    assert {"#0072b2", "var(--grid)"} <= strokes
    assert svg.get("fill") == "var(--ink)"  # Of what has none of its own, such as black text.
    assert not strokes & {"#e6e6e6", "#ffffff", "#000000"}


def test_two_in_a_page_have_no_id_in_common(figure, svg):
    other = ElementTree.fromstring(inline_svg(figure, "other", ""))
    one, two = ({element.get("id") for element in picture.iter()} - {None} for picture in (svg, other))
    assert one and not one & two
    uses = {element.get("href") for element in svg.iter("use")}
    clips = {element.get("clip-path") for element in svg.iter()} - {None}
    assert uses and uses <= {f"#{name}" for name in one}
    assert clips and clips <= {f"url(#{name})" for name in one}


def test_the_same_figure_is_the_same_text(figure):
    assert inline_svg(figure, "first", "") == inline_svg(figure, "first", "")


def test_a_font_as_older_versions_write_it_leaves_its_size():
    assert dict(styles("font: 9px 'DejaVu Sans', sans-serif; fill: #000000")) == {
        "font-size": "9px",
        "fill": "var(--ink)",
    }
