"""The HTML export in a browser, from a file, as its readers use it."""

import itertools
import json
import re
import shutil

import numpy as np
import pytest
from keras import ops

from keras_transformer import (
    Beam,
    Chatbot,
    Config,
    InputError,
    Run,
    Tokenizer,
    calibrate,
    export_html,
    trace_attention,
)
from keras_transformer.chat.answering import UNSURE, Answering
from keras_transformer.chat.datastore import Exchange, questions_and_answers, save_datastore
from keras_transformer.chat.question_embeddings import learn_embeddings
from keras_transformer.cli.info import about_folder
from keras_transformer.cli.main import main
from keras_transformer.export import html
from keras_transformer.export.loader import open_bot
from keras_transformer.export.manifest import embed_about, questions_of
from keras_transformer.runs.checksums import write_json_recorded

pytestmark = pytest.mark.heavy

TEXTS = [
    "가나다라마바사 아자차카타파하",
    "안녕하세요 고마워 잘 자",
    "abcdefghijklm nopqrstuvwxyz",
    "hello good night ?!",
]
CONFIG = Config(vocab_size=360, num_layers=2, d_model=16, num_heads=4, dff=24, max_length=12)
ASKED = [
    "안녕하세요", "고마워 ~", "good night!", "bye!", "  잘\u3000 자\xa0 ", "\u1112\u1161\u11ab\u1100", "가나다라 " * 30,
    "👩\u200d👧 漢字 é", "e\u0301 A\u030a", "▁<s></s><sep>", "hello\nbye", "고마워\n\n hello\n잘 자", "a\n" * 40,
    "x\0y", "쀍뷁 뛟 ",
]  # fmt: skip
REPLIES = "([questions, ...settings]) => questions.map((question) => bot.reply(question, ...settings))"


@pytest.fixture(scope="module")
def hybrid_page(hybrid_run, tmp_path_factory):
    """The text of the HTML file of the hybrid run."""
    path = tmp_path_factory.mktemp("html") / "봇.html"
    export_html(hybrid_run, path)
    return path.read_text("utf-8")


@pytest.fixture(scope="module")
def small_page(small_run, tmp_path_factory):
    """The text of the HTML file of the small run, which generates."""
    path = tmp_path_factory.mktemp("html") / "bot.html"
    export_html(small_run, path)
    return path.read_text("utf-8")


@pytest.fixture
def open_chat(show_page):
    """A function that opens a page's text and waits until it can be asked."""

    def open_page(text, **settings):
        page = show_page(text, **settings)
        page.wait_for_selector("#question")
        return page

    return open_page


def made_up(path, config, tokenizer, target_tokenizer=None):
    """A run whose random weights are so large that answers differ."""
    run = Run.create(path, config, tokenizer, {"name": "none", "pairs": 0}, target_tokenizer=target_tokenizer)
    random, model = np.random.default_rng(0), run.build_model()
    for weight in model.weights:
        scale = 1 if len(weight.shape) == 2 else 0.1
        weight.assign(random.normal(size=weight.shape, scale=scale) + weight.path.endswith("gamma"))
    run.save_weights({weight.path: weight for weight in model.weights}, {"epoch": 1})
    return run


def written(run_dir, folder, **options):
    """The text of the HTML file of a run, as it is before it is verified, which takes long."""
    run = Run(run_dir)
    html.write(run, run.load_model(), folder, **options)
    return (folder / html.FILE).read_text("utf-8")


def send(page, question):
    page.fill("#question", question)
    page.press("#question", "Enter")
    page.wait_for_selector("#ask:not([inert])")


def last_message(page):
    return page.locator("#log > .bot").last


def assert_as_the_run(found, expected):
    assert [one["text"] for one in found] == [answer.text for answer in expected]
    for one, answer in zip(found, expected, strict=True):
        assert one["score"] == (None if answer.score is None else pytest.approx(answer.score, 1e-3, 1e-3))
        places = [(m.exchange.question, m.exchange.file, m.exchange.row) for m in answer.sources]
        exchanges = [m["exchange"] for m in one["sources"]]
        assert [(exchange["question"], exchange["file"], exchange["row"]) for exchange in exchanges] == places
        similarities = [match.similarity for match in answer.sources]
        assert [match["similarity"] for match in one["sources"]] == pytest.approx(similarities, abs=1e-4)
        assert one["unsure"] == answer.unsure


@pytest.mark.parametrize("way", ["hybrid", "retrieve", "generate"])
def test_it_answers_as_its_run_in_every_way(way, hybrid_run, hybrid_page, open_chat, questions):
    asked = [*ASKED, *questions, "hello", "hello!?", "thank you all", "안녕하세용", "Ünïcode ΑΣ ΑΣΑ İ"]
    expected = Chatbot.load(hybrid_run).answers(asked, answer_by=way)
    assert {answer.composed for answer in expected} == {True, False}
    assert_as_the_run(open_chat(hybrid_page).evaluate(REPLIES, [asked, way]), expected)


def test_it_searches_with_beams_as_its_run(small_run, small_page, open_chat):
    found = open_chat(small_page).evaluate(REPLIES, [ASKED, "generate", 4])
    assert [one["text"] for one in found] == Chatbot.load(small_run).replies(ASKED, strategy=Beam(4))


@pytest.mark.parametrize(
    ("kind", "own", "changes"),
    [
        ("unigram", None, {"norm_first": True, "tie_embeddings": True, "jamo": True}),
        ("bpe", "character", {"tie_embeddings": True, "turns": 3}),
        ("character", "unigram", {}),
        ("word", None, {}),
    ],
)
@pytest.mark.variants(1)
def test_so_does_that_of_any_tokenizer_and_architecture(kind, own, changes, tmp_path, exchanges, open_chat):
    config = CONFIG.replace(**changes)
    jamo, separator = config.jamo, config.turns > 1
    tokenizer = Tokenizer.train(TEXTS, CONFIG.vocab_size, kind, jamo=jamo, separator=separator)
    target = own and Tokenizer.train(TEXTS[::-1], 320, own)
    run = made_up(tmp_path / "run", config, tokenizer, target)
    save_datastore(run.path, run.id, exchanges, learn_embeddings(*questions_and_answers(exchanges)))
    Answering("hybrid", 0.4).save(run.path)
    page = open_chat(written(run.path, tmp_path))
    asked = [*ASKED, "hello\n배고파", "배고파\n오늘 날씨 어때", "자 잘 자 아"]
    expected = Chatbot.load(run.path)
    assert page.evaluate("texts => texts.map(text => bot.idsOf(text))", asked) == expected.ids_of(asked)
    assert_as_the_run(page.evaluate(REPLIES, [asked, "hybrid"]), expected.answers(asked))
    assert_as_the_run(page.evaluate(REPLIES, [asked, "generate"]), expected.answers(asked, answer_by="generate"))
    ids = np.random.default_rng(1).integers(0, expected.target_tokenizer.vocab_size, (40, 9)).tolist()
    decoded = page.evaluate("rows => rows.map(ids => bot.targetTokenizer.decode(ids))", ids)
    assert decoded == expected.target_tokenizer.decode(ids)
    units = ["안녕 hello", "쀍 뛟", "한 Z", "漢字", "  "]
    unknown = page.evaluate("texts => texts.map(text => bot.tokenizer.unknown(text))", units)
    assert [one["nothingElse"] for one in unknown] == list(map(tokenizer.has_only_unknown, units))
    assert [sorted(one["unknown"]) for one in unknown] == [sorted(tokenizer.unknown(text)) for text in units]


def test_int8_answers_too_and_is_smaller(hybrid_run, hybrid_page, tmp_path, open_chat):
    about = export_html(hybrid_run, tmp_path / "bot.html", quantization="int8")
    assert about["verified"]["equal"] >= 15
    text = (tmp_path / "bot.html").read_text("utf-8")
    data, exact = (len(html.DATA.search(one)[1]) for one in (text, hybrid_page))
    assert data < 0.5 * exact
    page, asked = open_chat(text), ["안녕하세요", "", "hello", "good night"]
    assert [one["text"] for one in page.evaluate(REPLIES, [asked])] == Chatbot.load(hybrid_run).replies(asked)
    assert [one["text"] for one in page.evaluate(REPLIES, [asked, "generate"])][1:] == ["", "Howdy!", "Sleep well."]


def test_its_attention_is_that_of_its_run(small_run, small_page, open_chat):
    expected = trace_attention(Chatbot.load(small_run), "고마워 bye")
    found = open_chat(small_page).evaluate(
        """question => {
          const { weights, ...trace } = bot.trace(question);
          const list = (layer) => layer.map((heads) => heads.map((one) => [...one]));
          for (const kind in weights) trace[kind] = weights[kind].map(list);
          return trace;
        }""",
        "고마워 bye",
    )
    assert (found["question"], found["answer"]) == (expected.question, expected.answer)
    for kind in ("encoder", "cross", "decoder"):
        weights = getattr(expected, kind)
        for (layer, head, row), _ in np.ndenumerate(weights[..., 0]):
            line = found[kind][layer][row][head]
            np.testing.assert_allclose(line, weights[layer, head, row, : len(line)], atol=1e-5)
            assert not weights[layer, head, row, len(line) :].any()


@pytest.mark.parametrize(
    ("kind", "layer"),
    [
        ("encoder", "encoder/layer_1/self_attention"),
        ("decoder", "decoder/layer_1/self_attention"),
        ("cross", "decoder/layer_1/cross_attention"),
    ],
)
@pytest.mark.variants(1)
def test_a_head_that_is_switched_off_gives_zeros(kind, layer, tmp_path, open_chat):
    tokenizer = Tokenizer.train(TEXTS, CONFIG.vocab_size)
    run = made_up(tmp_path / "run", CONFIG, tokenizer)
    page = open_chat(written(run.path, tmp_path))
    model, asked = run.load_model(), ASKED[:8]
    whole = Chatbot(model, tokenizer, CONFIG.max_length).answers(asked)
    [output] = [weight for weight in model.weights if weight.path == f"{layer}/output/kernel"]
    depth, head = CONFIG.d_model // CONFIG.num_heads, 2
    kernel = ops.convert_to_numpy(output)
    kernel[head * depth : (head + 1) * depth] = 0  # What the head's output is multiplied with.
    output.assign(kernel)
    expected = Chatbot(model, tokenizer, CONFIG.max_length).answers(asked)
    assert [one.text for one in expected] != [one.text for one in whole]
    page.evaluate("([kind, head]) => bot.model.attentions(kind)[1].off.add(head)", [kind, head])
    assert_as_the_run(page.evaluate(REPLIES, [asked]), expected)
    page.evaluate("kind => bot.model.attentions(kind)[1].off.clear()", kind)
    assert_as_the_run(page.evaluate(REPLIES, [asked]), whole)


def test_the_fallback_stands_where_that_of_its_run_does(small_run, tmp_path, open_chat):
    run = shutil.copytree(small_run, tmp_path / "run")
    calibrate(run, [question for question in questions_of(Run(run).tokenizer) if question])
    about = export_html(run, tmp_path / "bot.html", fallback="모르겠어요.", refusals=0.5)
    bot, fallback = Chatbot.load(run), about["options"]["fallback"]
    asked = ["hello", "쀍뷁 뛟", "", "잘 자", "zq xv", "고마워!", "what is this"]
    expected = [
        "모르겠어요." if score < fallback["least_score"] or pieces > fallback["most_pieces"] else text
        for [(text, score)], pieces in zip(bot.n_best(asked), bot.pieces(asked), strict=True)
    ]
    assert {"모르겠어요.", "Hi there!"} <= set(expected)
    page = open_chat((tmp_path / "bot.html").read_text("utf-8"))
    assert [one["text"] for one in page.evaluate(REPLIES, [asked])] == expected


def test_a_conversation(hybrid_page, open_chat):
    page = open_chat(hybrid_page)
    send(page, "hello")
    assert last_message(page).locator(".text").inner_text() == "Howdy!"
    assert last_message(page).locator("summary").inner_text() == "Retrieved, similarity 1.00"
    last_message(page).locator("summary").click()
    assert last_message(page).locator("li").all_inner_texts() == ["[1.00] corrections.jsonl, row 1: hello"]
    page.locator("input[name=way][value=generate]").check()
    send(page, "good night")
    assert last_message(page).locator(".text").inner_text() == "Sleep well."
    assert last_message(page).locator("summary").inner_text().startswith("Generated, log-probability -")
    page.locator("input[name=decoding][value=beam]").check()
    send(page, "고마워")
    assert last_message(page).locator(".text").inner_text() == "천만에요."
    assert page.locator("#log > .you .text").all_inner_texts() == ["hello", "good night", "고마워"]
    page.click("#forget")
    assert page.locator("#log > li").count() == 0
    send(page, "   ")
    assert page.locator("#log > li").count() == 0


def test_an_answer_is_streamed(small_page, open_chat):
    texts = open_chat(small_page).evaluate("[...bot.answer('good night')].map(({ text }) => text)")
    assert texts[-1] == "Sleep well."
    assert len(set(texts)) > 2
    assert all(after.startswith(before) for before, after in itertools.pairwise(texts))


def test_a_bot_that_memorized_its_corpus_lists_the_nearest_questions(hybrid_run, tmp_path, open_chat):
    run = shutil.copytree(hybrid_run, tmp_path / "run")
    config = json.loads((run / "config.json").read_text("utf-8"))
    config["config"]["hold_out"] = False
    write_json_recorded(run / "config.json", config)
    Answering("retrieve").save(run)
    page = open_chat(written(run, tmp_path))
    assert page.locator("#inside > summary").inner_text() == "Look inside"
    assert not page.locator("#ways").is_visible() and not page.locator("#attention").is_visible()
    send(page, "Who are you?")
    assert last_message(page).locator(".text").inner_text() == "I am a bot that answers set questions, for example:"
    assert last_message(page).locator("button").count() == 3
    send(page, "안녕히 계세요~")
    assert last_message(page).locator(".text").inner_text() == "안녕히 가세요. 또 찾아 주세요."
    assert last_message(page).locator("button").count() == 0
    assert page.evaluate("bot.reply('漢字')") == {"text": "", "score": None, "sources": [], "unsure": True}
    send(page, "漢字")
    assert last_message(page).locator(".text").inner_text() == "I do not know that. You can ask me, for example:"
    send(page, "night owls")
    [near] = Chatbot.load(run).matches(["night owls"])
    assert near[0].similarity < UNSURE
    known = list(dict.fromkeys(match.exchange.question for match in near))
    assert last_message(page).locator(".text").inner_text() == "I am not sure. Did you mean one of these?"
    assert last_message(page).locator("button").all_inner_texts() == known
    last_message(page).locator("button").first.click()
    page.wait_for_selector("#ask:not([inert])")
    assert page.locator("#log > .you .text").all_inner_texts()[3:] == ["night owls", known[0]]
    assert last_message(page).locator(".text").inner_text() == near[0].exchange.answer
    torn = "bot.isTorn([{similarity: 0.6, exchange: {answer: 'a'}}, {similarity: %s, exchange: {answer: '%s'}}])"
    assert [page.evaluate(torn % other) for other in ((0.57, "b"), (0.55, "b"), (0.57, "a"))] == [True, False, False]
    page.locator("#inside > summary").click()  # The attention of the last question is drawn now.
    page.wait_for_selector("#attention table tbody")
    assert page.locator("#traced-question").inner_text() == known[0]


def test_a_page_may_have_a_title_of_its_own(small_run, tmp_path, open_chat, capsys):
    path, title = tmp_path / "bot.html", "Café <b>솔</b> & Co"
    assert main(["export", str(small_run), str(path), "--format", "html", "--title", title]) == 0
    page = open_chat(path.read_text("utf-8"))
    assert (page.title(), page.locator("h1").inner_text()) == (title, title)
    assert main(["export", str(small_run), str(tmp_path / "other"), "--title", title]) == 2
    assert "--title is an option of --format html, not of saved_model" in capsys.readouterr().err
    with pytest.raises(InputError, match="the title is blank"):
        export_html(small_run, tmp_path / "blank.html", title=" ")


def test_an_unsure_answer_names_the_nearest_question(hybrid_run, tmp_path, open_chat):
    run = shutil.copytree(hybrid_run, tmp_path / "run")
    Answering("retrieve").save(run)
    page = open_chat(written(run, tmp_path))
    send(page, "night owls")
    [[nearest, *_]] = Chatbot.load(run).matches(["night owls"])
    assert last_message(page).locator(".unsure").inner_text() == (
        f"Not sure: the nearest known question is “{nearest.exchange.question}”."
    )


def test_attention_is_drawn_while_the_reader_types_and_heads_are_switched_off(small_run, small_page, open_chat):
    from playwright.sync_api import expect

    page = open_chat(small_page)
    page.locator("#question").press_sequentially("good night")
    page.wait_for_selector("#traced:not([hidden])")
    expect(page.locator("#traced-question")).to_have_text("good night", timeout=300_000)
    expected = trace_attention(Chatbot.load(small_run), "good night")

    def shares(weights):
        return [f"{float(100 * weight):.0f}%" for weight in weights]

    def first_row():
        return [int(share.rstrip("%")) for share in page.locator("tbody tr:first-child td span").all_text_contents()]

    assert page.locator("thead th").all_inner_texts() == expected.question
    assert page.locator("tbody th").all_inner_texts() == expected.answer
    assert first_row() == pytest.approx(100 * expected.cross[0, :, 0].mean(axis=0), abs=0.6)
    page.locator("input[name=head][value='1']").check()
    assert first_row() == pytest.approx(100 * expected.cross[0, 1, 0], abs=0.6)
    page.check("#off")
    assert (
        page.inner_text("#is-off")
        == "Switched off, so generated answers may differ: Answer → question, layer 1, head 2"
    )
    assert page.evaluate("[...bot.model.attentions('cross')[0].off]") == [1]
    page.locator("input[name=kind][value=decoder]").check()
    assert page.locator("tbody tr:first-child td").count() == len(page.locator("tbody tr").all())
    page.click("#all-on")
    assert page.inner_text("#is-off") == "" and page.inner_text("#traced-answer") == "Sleep well."


def test_it_compares_itself_with_its_run(hybrid_page, open_chat):
    from playwright.sync_api import expect

    page = open_chat(hybrid_page)
    page.click("#about-file summary")
    assert "none" not in page.inner_text("#facts") and "128 pairs" in page.inner_text("#facts")
    page.click("#check")
    result = "16 of 16 answers of this browser are those of the run at export."
    expect(page.locator("#checked")).to_have_text(result, timeout=300_000)


def test_hostile_texts_are_only_shown(small_run, tmp_path, open_chat):
    hostile = "</script><script>throw 1</script><!--<img src=x onerror=throw> &amp; $data"
    run = shutil.copytree(small_run, tmp_path / "run")
    exchanges = [Exchange(hostile, f"{hostile} !", hostile, 1), Exchange("hello", "hi", "a.csv", 2)]
    save_datastore(run, Run(run).id, exchanges, learn_embeddings(*questions_and_answers(exchanges)))
    Answering("retrieve").save(run)
    text = written(run, tmp_path)
    embed_about(tmp_path / html.FILE, {"corpus": {"name": hostile, "pairs": 2}, "run": {"id": hostile}, "options": {}})
    assert hostile not in text
    page = open_chat((tmp_path / html.FILE).read_text("utf-8"))
    send(page, hostile)
    assert last_message(page).locator(".text").inner_text() == f"{hostile} !"
    assert page.locator("#log > .you .text").inner_text() == hostile
    assert hostile in page.text_content("#facts")
    assert page.locator("img").count() == 0


def test_korean_and_english_dark_and_light(small_page, open_chat):
    page = open_chat(small_page, locale="ko-KR", color_scheme="dark")
    assert page.inner_text("h1") == page.title() == "챗봇"
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.click("#theme")
    assert page.evaluate(ground) == "rgb(255, 255, 255)" != dark
    page.click("#language")
    assert page.inner_text("h1") == "Chatbot"
    assert page.evaluate("document.documentElement.lang") == "en"
    words = page.evaluate("Object.values(WORDS).map((words) => Object.keys(words))")
    assert words[0] == words[1]


def test_all_of_it_works_by_keyboard_and_on_a_phone(hybrid_page, open_chat):
    page = open_chat(hybrid_page, viewport={"width": 360, "height": 640})
    assert page.evaluate("document.activeElement.id") == "question"
    page.keyboard.type("hello")
    page.keyboard.press("Enter")
    page.wait_for_selector("#traced:not([hidden])")
    assert page.evaluate("document.activeElement.id") == "question"
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.focus("#language")
    focused = "(element => element.id || element.name || element.tagName)(document.activeElement)"
    visited = []
    for _ in range(12):
        page.keyboard.press("Tab")
        visited.append(page.evaluate(focused))
    assert [name for name in visited if name != "log"][:5] == ["theme", "SUMMARY", "question", "BUTTON", "forget"]
    assert {"kind", "layer", "head"} <= set(visited)


def test_the_file_says_where_it_comes_from(hybrid_run, hybrid_page, tmp_path, capsys):
    path = tmp_path / "bot.html"
    path.write_text(hybrid_page, "utf-8")
    about = about_folder(path)
    assert (about["kind"], about["answers"]) == ("html", {"by": "hybrid", "run": "hybrid"})
    assert about["verified"] == {"questions": 16, "equal": 16}
    assert list(about["files"]) == ["bot.html"]
    assert "http:" not in hybrid_page and "https:" not in hybrid_page and str(hybrid_run) not in hybrid_page
    main(["info", str(path)])
    assert re.search(r"html, \d\.\d MB in 1 file\n", capsys.readouterr().out)
    (tmp_path / "other.html").write_text("<p>", "utf-8")
    with pytest.raises(InputError, match=r"other\.html: not an export of this package"):
        about_folder(tmp_path / "other.html")


def test_a_forgotten_exchange_is_not_in_the_file(hybrid_run, tmp_path):
    run = shutil.copytree(hybrid_run, tmp_path / "run")
    Chatbot.load(run).datastore.forget("배고파")
    _, tensors = html.unpacked(html.DATA.search(written(run, tmp_path))[1])
    known = json.loads(tensors["exchanges"].tobytes())["question"]
    assert "배고파" not in known and "배고파!" in known


def test_the_command_writes_one_file_and_replaces_none(small_run, tmp_path, capsys):
    path = tmp_path / "bot.html"
    assert main(["export", str(small_run), str(path), "--format", "html"]) == 0
    assert " MB in 1 file; 16 of 16 answers through it are the run's own" in capsys.readouterr().out
    assert [file.name for file in tmp_path.iterdir()] == ["bot.html"]
    with pytest.raises(InputError, match="already exists"):
        export_html(small_run, path)
    with pytest.raises(InputError, match=r"bot\.html: an HTML export runs in a browser only"):
        open_bot(path)


def test_what_cannot_be_exported_is_said(small_run, tmp_path, monkeypatch):
    run = Run(small_run)
    with pytest.raises(InputError, match="quantization must be one of float32, int8, not 'int4'"):
        html.write(run, None, tmp_path, quantization="int4")
    monkeypatch.setattr(run.tokenizer, "ending", ".subwords")
    with pytest.raises(InputError, match=r"tokenizer\.subwords: .* to export to HTML, train with a SentencePiece"):
        html.write(run, None, tmp_path)
    assert not list(tmp_path.iterdir())


def test_numbers_are_rounded_to_half_precision_as_numpy_does(small_page, open_chat):
    scales = np.float32(10) ** np.arange(-8, 2, dtype="float32").repeat(200)
    numbers = np.random.default_rng(0).normal(size=2000).astype("float32") * scales
    page = open_chat(small_page)
    rounded = page.evaluate("numbers => numbers.map((number) => roundToHalf(Math.fround(number)))", numbers.tolist())
    assert rounded == numbers.astype("float16").astype(float).tolist()
    bits = np.arange(0x7C00, dtype="uint16")
    assert page.evaluate("bits => bits.map(fromHalf)", bits.tolist()) == bits.view("float16").astype(float).tolist()
