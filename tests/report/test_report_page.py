"""The report in a browser: on a phone, in the dark, and without asking anybody for anything."""

import shutil

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
]  # fmt: skip
LONG = "가나다" * 60


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, timeout=300_000)
        yield browser
        browser.close()


@pytest.fixture
def show(browser, make_report, tmp_path):
    """A function that opens a report as a file; in the end, nothing else was asked for and no error was met."""
    file, requests, errors, contexts = tmp_path / "보고서.html", [], [], []
    asked = {LONG: [LONG, "짧은 답"], **{f"질문 {i}": ["답"] for i in range(20)}}
    text = make_report(asked, ["W" * 300] * len(asked), corpus=LONG, commands=["keras-transformer " * 20])
    file.write_text(text, encoding="utf-8")

    def open_page(**settings):
        contexts.append(browser.new_context(**settings))
        contexts[-1].set_default_timeout(300_000)
        page = contexts[-1].new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert ({*requests} - {"data:,"}, errors) == ({file.as_uri()}, [])


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
