"""The page of `attention_html` in a browser, from a file, as its readers use it."""

import re

import pytest

from keras_transformer import attention_html


def texts(page, selector):
    return page.locator(selector).all_inner_texts()


def shares(weights):
    """Weights as the page writes them."""
    return [f"{(round(1000 * float(weight)) + 5) // 10}%" for weight in weights]


def choose(page, name, value):
    page.locator(f"input[name={name}][value='{value}']").check()


def test_it_begins_with_the_first_token_of_the_answer(make_attended, show_page):
    page = show_page(attention_html(make_attended()))
    assert page.title() == "Attention weights: 배고픈데 뭐 먹지?"
    assert texts(page, "dd") == ["배고픈데 뭐 먹지?", "밥 먹어요."]
    assert texts(page, "#looking li") == ["밥", "먹어요", ".", "<end>"]
    assert texts(page, "#looking .here") == ["밥"]
    assert texts(page, "#looked-at .token") == ["<start>", "배고픈데", "뭐", "먹지", "?", "<end>"]
    assert page.locator("#looked-at .token").nth(1).get_attribute("lang") == "ko"


def test_kind_layer_and_head_are_chosen(make_attended, show_page):
    attended = make_attended()
    page = show_page(attention_html(attended))
    mean = texts(page, ".share")
    assert [int(share.rstrip("%")) for share in mean] == pytest.approx(
        100 * attended.cross[1, :, 0].mean(axis=0), abs=0.6
    )
    for head in range(3):
        choose(page, "head", head)
        assert texts(page, ".share") == shares(attended.cross[1, head, 0]) != mean
    assert page.inner_text("#matrix h2") == "All tokens: layer 2, head 3"
    choose(page, "layer", 0)
    assert texts(page, ".share") == shares(attended.cross[0, 2, 0])
    choose(page, "kind", "encoder")
    assert texts(page, ".share") == shares(attended.encoder[0, 2, 0])
    assert texts(page, "tbody tr:last-child td") == shares(attended.encoder[0, 2, -1])
    choose(page, "kind", "decoder")
    assert texts(page, ".share") == ["100%", "–", "–", "–"]
    assert texts(page, "tbody tr:nth-child(2) td") == [*shares(attended.decoder[0, 2, 1, :2]), "", ""]


def test_the_answer_grows_by_arrow_keys_and_by_buttons(make_attended, show_page):
    attended = make_attended()
    page = show_page(attention_html(attended))
    choose(page, "head", 0)
    page.locator("body").press("ArrowRight")
    assert [page.inner_text(part) for part in ("#kept", "#added", "#place")] == ["밥", " 먹어요", "2 of 4"]
    assert texts(page, ".share") == shares(attended.cross[1, 0, 1])
    assert texts(page, "tbody .here th") == ["먹어요"]
    assert texts(page, "#looking .to-come") == [".", "<end>"]
    page.click("#on")
    assert page.text_content("#so-far") == "The answer so far: 밥 먹어요."
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert page.inner_text("#place") == "4 of 4"
    assert [page.text_content(part) for part in ("#kept", "#added")] == ["밥 먹어요.", ""]
    page.click("#back")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#place") == "2 of 4"


def test_a_token_that_is_pointed_at_shows_where_it_looks_meanwhile(make_attended, show_page):
    attended = make_attended()
    page = show_page(attention_html(attended))
    choose(page, "head", 1)
    page.hover("#looking li:nth-child(3)")
    assert texts(page, ".share") == shares(attended.cross[1, 1, 2])
    page.hover("h1")
    assert texts(page, ".share") == shares(attended.cross[1, 1, 0])
    page.hover("tbody tr:nth-child(2) td:nth-of-type(3)")
    assert texts(page, ".share") == shares(attended.cross[1, 1, 1])
    page.click("tbody tr:nth-child(4)")
    page.hover("h1")
    assert page.inner_text("#place") == "4 of 4"
    most = attended.cross[1, 1, 3].argmax()
    assert page.inner_text("#in-words") == (
        f"“<end>” attends most to “{attended.question[most]}”: {shares(attended.cross[1, 1, 3])[most]}."
    )


def test_a_choice_by_keyboard_forgets_the_token_that_is_pointed_at(make_attended, show_page):
    page = show_page(attention_html(make_attended()))
    choose(page, "kind", "encoder")
    page.hover("#looking li:nth-child(6)")
    page.focus("input[name=kind][value=encoder]")
    page.keyboard.press("ArrowRight")
    assert texts(page, "#looking .here") == ["밥"]


def test_all_of_it_works_by_keyboard(make_attended, show_page):
    page = show_page(attention_html(make_attended()))
    visited = []
    for _ in range(12):
        page.keyboard.press("Tab")
        visited.append(
            page.evaluate("document.activeElement.id || document.activeElement.name || document.activeElement.role")
        )
    assert visited[:9] == ["language", "theme", "kind", "layer", "head", "back", "on", "option", "region"]
    page.focus("#looking [tabindex='0']")
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.textContent") == "<end>"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.textContent") == "."
    assert texts(page, "#looking [tabindex='0']") == texts(page, "#looking [aria-selected=true]") == ["."]
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_arrow_keys_choose_where_the_keyboard_chooses_and_step_after_the_pointer_has_chosen(make_attended, show_page):
    page = show_page(attention_html(make_attended()))
    page.click("input[name=head][value='1']")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#place") == "2 of 4"
    page.focus("input[name=head][value='1']")
    page.keyboard.press("ArrowRight")
    assert page.locator("input[name=head]:checked").get_attribute("value") == "2"
    assert page.inner_text("#place") == "2 of 4"


def test_dark_and_light(make_attended, show_page):
    page = show_page(attention_html(make_attended()), color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.click("#theme")
    assert page.evaluate(ground) == "rgb(255, 255, 255)" != dark
    page.click("#theme")
    assert page.evaluate(ground) == dark


def test_korean_and_english(make_attended, show_page):
    page = show_page(attention_html(make_attended()), locale="ko-KR")
    assert page.inner_text("h1") == "어텐션 가중치"
    assert page.evaluate("document.documentElement.lang") == "ko"
    page.click("#language")
    assert page.inner_text("h1") == "Attention weights"
    assert page.evaluate("document.documentElement.lang") == "en"
    words = page.evaluate("Object.values(WORDS).map((words) => Object.keys(words))")
    assert words[0] == words[1]


def test_it_opens_in_the_language_asked_for(make_attended, show_page):
    page = show_page(attention_html(make_attended(), "ko"), locale="en-GB")
    assert page.inner_text("h1") == "어텐션 가중치"


def test_a_phone_scrolls_only_the_matrix_sideways(make_attended, show_page):
    tokens = ["<start>", *["트랜스포머가"] * 30, "<end>"]
    page = show_page(attention_html(make_attended(question=tokens)), viewport={"width": 360, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate("(e => e.scrollWidth > e.clientWidth)(document.querySelector('.scroll'))")


def test_hostile_tokens_are_only_shown(make_attended, show_page):
    hostile = ["</script><script>throw 1</script>", "<img src=x onerror=throw>", "<!--", "&amp;"]
    page = show_page(attention_html(make_attended(question=hostile)))
    assert texts(page, "#looked-at .token") == hostile
    assert page.locator("img").count() == 0


def test_it_works_in_the_frame_of_a_notebook(make_attended, show_page):
    from playwright.sync_api import expect

    frame = show_page(attention_html(make_attended())._repr_mimebundle_()["text/html"]).frame_locator("iframe")
    frame.locator("#on").click()
    expect(frame.locator("#place")).to_have_text(re.compile("2 of 4"), timeout=300_000)
