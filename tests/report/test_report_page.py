"""The report in a browser: on a phone, in the dark, and without asking anybody for anything."""

import pytest

LONG = "가나다" * 60


@pytest.fixture
def show(show_page, make_report):
    """A function that opens a report."""
    asked = {LONG: [LONG, "짧은 답"], **{f"질문 {i}": ["답"] for i in range(20)}}
    text = make_report(asked, ["W" * 300] * len(asked), corpus=LONG, commands=["keras-transformer " * 20])
    return lambda **settings: show_page(text, **settings)


def colour(page, selector, name):
    return page.eval_on_selector(selector, f"element => getComputedStyle(element).{name}")


@pytest.mark.parametrize("width", [320, 375, 1200])
def test_nothing_is_wider_than_the_screen(show, width):
    page = show(viewport={"width": width, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_it_is_light_or_dark_with_its_curves_and_light_in_print(show):
    light, dark = show(color_scheme="light"), show(color_scheme="dark")
    assert colour(light, "body", "backgroundColor") == "rgb(255, 255, 255)"
    assert colour(dark, "body", "backgroundColor") == "rgb(21, 24, 29)"
    assert colour(light, "svg text", "fill") != colour(dark, "svg text", "fill")
    dark.emulate_media(media="print", color_scheme="dark")
    assert colour(dark, "body", "backgroundColor") == "rgb(255, 255, 255)"


def test_curves_and_rows_are_seen(show):
    page = show(viewport={"width": 375, "height": 700})
    assert page.locator("svg").count() == 4
    box = page.locator("svg").first.bounding_box()
    assert box["width"] > 300 and box["height"] > 150
    # Small, but no smaller than what phones call legible.
    assert page.locator("svg text").first.bounding_box()["height"] >= 9
    assert page.get_by_text("짧은 답").count() == 1
