"""The journey of a newcomer in a browser, from the empty page to a downloaded bot, in English and in Korean."""

import contextlib
import re
import signal
import subprocess
import sys
import urllib.parse

import pandas
import pytest

from keras_transformer import Config, train

pytest.importorskip("gradio")
playwright = pytest.importorskip("playwright.sync_api")
axe_playwright = pytest.importorskip("axe_playwright_python.sync_playwright")

COMMAND = [sys.executable, "-m", "keras_transformer", "studio"]
PAIRS = [
    ("숙제 있어?", "네, <b>12쪽</b>이에요."),
    ("도서관은 어디야?", "2층에 있어요."),
    ("Who is our teacher?", "Ms. Kim."),
    ("What is for lunch?", "Kimchi stew."),
]
RECIPE = "epochs = 40\nd_model = 32\nnum_heads = 2\ndff = 32\nnum_layers = 1\nvocab_size = 320\nhold_out = false\n"
WORDS = {
    "en": {
        "tabs": ["Talk", "Train", "Compare", "Give away"], "check": "Check them", "recipe": "Change the recipe",
        "start": "Start training", "finished": "finished", "teach": "Teach", "taught": "Taught",
        "make": "Prepare the download", "upload": "upload a file",
    },
    "ko": {
        "tabs": ["대화", "학습", "비교", "나누기"], "check": "검사하기", "recipe": "레시피 바꾸기",
        "start": "학습 시작", "finished": "끝남", "teach": "가르치기", "taught": "가르쳤습니다",
        "make": "다운로드 준비", "upload": "파일 올리기",
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def bots(tmp_path_factory):
    """The folder of the studio."""
    return tmp_path_factory.mktemp("studio") / "봇들"


@pytest.fixture(scope="module")
def address(bots):
    """The address of a studio in an empty folder, in a process of its own."""
    process = subprocess.Popen(
        [*COMMAND, bots, "--port", "0", "--no-browser"], stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    with process:
        said = ""
        while not (found := re.search(r"http://[\d.:]+\d", said)):
            line = process.stderr.readline()
            assert line, said
            said += line
        yield found[0]
        process.send_signal(signal.SIGINT)
        assert process.wait(120) in (0, 130), process.stderr.read()


@pytest.fixture
def open_studio(browser, address):
    """A function that opens the studio; in the end, no page has asked another host, and none has logged an error."""
    asked, errors, contexts = [], [], []

    def open_studio(**settings):
        contexts.append(browser.new_context(**settings))
        contexts[-1].set_default_timeout(150_000)
        page = contexts[-1].new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: message.type == "error" and errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        page.get_by_role("tab").first.wait_for()
        return page

    yield open_studio
    for context in contexts:
        context.close()
    others = [url for url in asked if not url.startswith((address, "data:", "blob:", "file:"))]
    left = (
        "AbortError",
        "Unexpected error Connection errored out",
    )
    assert (others, [error for error in errors if not error.startswith(left)]) == ([], [])


def tab(page, number):
    """Opens a tab and looks for barriers in it."""
    page.get_by_role("tab").nth(number).click()
    page.wait_for_timeout(1000)  # Until what fades in has its contrast.
    findings = axe_playwright.Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in findings] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def field(page, name):
    return page.locator(f"#{name} :is(textarea, input)").first


def upload(page, file):
    """Chooses a file; once more, as a person would, if nothing happens: a busy browser may lose it."""
    for _ in range(4):
        with contextlib.suppress(playwright.TimeoutError):
            with page.expect_file_chooser(timeout=15_000) as chooser:
                page.locator("#upload button").first.click()
            chooser.value.set_files(file)
            page.get_by_text(file.name).first.wait_for(timeout=30_000)
            return
    pytest.fail(f"{file.name} was not uploaded")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("locale", ["en-GB", "ko-KR"])
def test_no_tab_has_barriers_in_any_size_and_colors(open_studio, locale, width, scheme):
    page = open_studio(locale=locale, viewport={"width": width, "height": 800}, color_scheme=scheme)
    for number in range(4):
        tab(page, number)


@pytest.mark.slow
@pytest.mark.parametrize(("locale", "ending"), [("en-GB", "xlsx"), ("ko-KR", "csv"), ("ko-KR", "parquet")])
def test_an_uploaded_file_is_checked(open_studio, tmp_path, locale, ending):
    file, words = tmp_path / f"질문.{ending}", WORDS[locale[:2]]
    pairs = pandas.DataFrame(PAIRS, columns=["질문", "답변"])
    {"csv": pairs.to_csv, "xlsx": pairs.to_excel, "parquet": pairs.to_parquet}[ending](file, index=False)
    page = open_studio(locale=locale)
    tab(page, 1)
    page.get_by_label(words["upload"]).check()
    upload(page, file)
    page.get_by_role("button", name=words["check"], exact=True).click()
    page.locator("#report", has_text="4").wait_for()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "settings"),
    [
        ("en", {"locale": "en-GB", "viewport": {"width": 1280, "height": 900}, "color_scheme": "light"}),
        ("ko", {"locale": "ko-KR", "viewport": {"width": 390, "height": 800}, "color_scheme": "dark"}),
    ],
)
def test_from_the_empty_page_to_a_downloaded_bot(open_studio, tmp_path, language, settings):
    words, page = WORDS[language], open_studio(**settings)
    assert urllib.parse.urlsplit(page.url).path == f"/{language}/"
    assert [one.inner_text() for one in page.get_by_role("tab").all()] == words["tabs"]

    def press(name):
        page.get_by_role("button", name=words[name], exact=True).last.click()

    for number in range(4):
        tab(page, number)
    tab(page, 1)
    page.locator("#pairs input").first.focus()
    for question, answer in PAIRS:
        for text in (question, answer):
            page.keyboard.insert_text(text)
            page.keyboard.press("Enter")
    press("check")
    page.locator("#report .verdict").wait_for()
    page.get_by_role("button", name=words["recipe"]).click()
    field(page, "recipe").fill(RECIPE)
    field(page, "name").fill(f"bot-{language}")
    press("start")
    page.locator("#progress progress").wait_for()
    page.reload()
    tab(page, 1)
    finished = page.get_by_text(f"bot-{language}: {words['finished']}")
    finished.wait_for()
    page.locator("#curves svg").wait_for()
    page.locator("#samples td", has_text="Kimchi stew.").wait_for()

    tab(page, 0)
    assert field(page, "talk-run").input_value() == f"bot-{language}"
    field(page, "question").fill("숙제 있나요?")
    page.keyboard.press("Enter")
    page.get_by_text("네, <b>12쪽</b>이에요.").first.wait_for()
    page.locator("#sources td", has_text=f"bot-{language}.csv").first.wait_for()
    page.frame_locator("#attention iframe").locator(f"html[lang={language}]").wait_for()
    field(page, "right").fill("13쪽!")
    press("teach")
    page.locator("#taught", has_text=words["taught"]).wait_for()
    field(page, "question").fill("숙제 있나요?")
    page.keyboard.press("Enter")
    page.locator("#conversation .answer", has_text="13쪽!").wait_for()
    field(page, "question").fill("Who sings in the choir?")
    page.keyboard.press("Enter")
    page.locator("#conversation button", has_text="Who is our teacher?").wait_for()
    tab(page, 0)
    page.locator("#conversation button", has_text="Who is our teacher?").focus()
    page.keyboard.press("Enter")
    page.locator("#conversation .answer", has_text="Ms. Kim.").wait_for()
    assert page.locator("#conversation .question").last.inner_text() == "Who is our teacher?"

    tab(page, 3)
    press("make")
    page.locator("#download").wait_for()
    with page.expect_download() as download:
        page.locator("#download").click()
    bot = tmp_path / download.value.suggested_filename
    download.value.save_as(bot)
    assert bot.name == f"bot-{language}.html"
    page.goto(bot.as_uri())
    page.locator("#question").fill("Who is our teacher?")
    page.keyboard.press("Enter")
    page.get_by_text("Ms. Kim.").first.wait_for()


@pytest.mark.slow
def test_two_bots_are_asked_side_by_side(open_studio, bots):
    pairs = pandas.DataFrame(PAIRS, columns=["question", "answer"])
    page = open_studio(locale="en-GB")
    recipe = Config(vocab_size=320, num_layers=1, d_model=16, num_heads=2, dff=16, epochs=1, hold_out=False)
    for name in ("older", "newer"):
        train(pairs, bots / name, recipe)
    tab(page, 2)
    assert [field(page, name).input_value() for name in ("run-a", "run-b")] == ["newer", "older"]
    field(page, "both").fill("Who is our teacher?")
    page.keyboard.press("Enter")
    page.locator("#side-by-side td", has_text="Ms. Kim.").nth(1).wait_for()
