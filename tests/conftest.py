import hashlib
import importlib.metadata
import itertools
import os
import pathlib
import shutil
import socket

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["LANGUAGE"] = "en"  # Of the messages, whatever the locale is.

DATA = pathlib.Path(__file__).parents[1] / "data"
NUMBERS = itertools.count()  # tensorflow-datasets lets nobody take a name twice.
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET_CHROMIUM = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
]  # fmt: skip
PORTS = itertools.count(10_000 + 20 * (os.getpid() % 1000))  # Other ones in each of the processes that test together.


def pytest_configure(config):
    """Compiles a program of XLA or JAX once for all processes that tests run in or start, and keeps it for later runs.

    Compiling is much of the time of a tiny training. The folder is in pytest's cache (`-p no:cacheprovider`: none).
    """
    if not hasattr(config, "cache"):
        return
    folder = config.cache.mkdir(f"compiled-{importlib.metadata.version('tensorflow')}")
    os.environ.setdefault("TF_XLA_FLAGS", f"--tf_xla_persistent_cache_directory={folder}")
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(folder))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")


def pytest_collection_modifyitems(items):
    """Files with slow tests come first, so that of two processes none is left alone with one at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session")
def small_pairs():
    """The corpus of `small_run`: eight answers, each to sixteen ways of writing one question."""
    import pandas as pd

    answers = {
        "안녕하세요": "반가워요!", "고마워": "천만에요.", "잘 자": "좋은 꿈 꾸세요.", "배고파": "밥 먹어요.",
        "hello": "Hi there!", "thank you": "You are welcome.", "good night": "Sleep well.", "bye": "See you soon!",
    }  # fmt: skip
    decorations = ["", "!", "?", " ~", "..", " :)", " ^^", "!!", " ??", "~~", " ;)", ".", "…", " !", " .", "?!"]
    pairs = [(question + mark, answer) for question, answer in answers.items() for mark in decorations]
    return pd.DataFrame(pairs, columns=["question", "answer"])


@pytest.fixture(scope="session")
def small_run(small_pairs, tmp_path_factory):
    """A run folder trained, for seconds, to memorize eight answers, which it generates."""
    from keras_transformer import Config, train
    from keras_transformer.chat.answering import Answering

    config = Config(
        vocab_size=420, num_layers=1, d_model=32, num_heads=2, dff=64, dropout=0.0, batch_size=16, epochs=40,
        patience=0, warmup_steps=150, max_length=24, precision="float32",  # The same on every processor, nearly.
    )  # fmt: skip
    run_dir = tmp_path_factory.mktemp("small") / "run"
    train(small_pairs, run_dir, config)
    Answering().save(run_dir)  # Its training finds both ways as good, and would retrieve.
    return run_dir


@pytest.fixture
def make_evaluation():
    """A function that makes an `Evaluation` of made-up answers; `bits` has what each question adds to bits_per_char."""

    import numpy as np

    from keras_transformer.evaluation.evaluate import Evaluation, scores_of
    from keras_transformer.evaluation.text_metrics import Score, ratio

    def make(asked, answers, bits=None, leaked=None):
        bits = np.array(bits or [(1, 1)] * len(asked), float)
        scores = {"bits_per_char": Score(bits, ratio), "loss": Score(bits, ratio), "perplexity": Score(bits, ratio)}
        return Evaluation(asked, answers, scores | scores_of(answers, list(asked.values())), leaked)

    return make


@pytest.fixture
def free_port():
    """A function that finds a port for a program that is yet to start; the system gives away none as low by itself."""

    def is_free(port):
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            return False
        return True

    return lambda: next(filter(is_free, PORTS))


@pytest.fixture
def made_up_corpus(tmp_path, monkeypatch):
    """A function that makes a corpus of a CSV file's text, found at an address, the only one of the catalog."""
    from keras_transformer.data import catalog

    monkeypatch.setenv("KERAS_TRANSFORMER_DATA", str(tmp_path / "둔 곳"))

    def make(text, url="https://corpora.invalid/a.csv"):
        name = f"made_up_{next(NUMBERS)}"
        folder = tmp_path / f"builders_of_{name}" / name
        folder.mkdir(parents=True)
        data = text.encode()
        (folder / "checksums.tsv").write_text(f"{url}\t{len(data)}\t{hashlib.sha256(data).hexdigest()}\ta.csv\n")
        (folder / "README.md").write_text("지어낸 말뭉치.\n", encoding="utf-8")
        (folder / "CITATIONS.bib").write_text("@misc{nobody}\n")
        real = pathlib.Path(catalog.__file__).parent / "builders/chatbot_ko/chatbot_ko_dataset_builder.py"
        (folder / f"{name}_dataset_builder.py").write_text(real.read_text().replace("chatbot_ko", name))
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setattr(catalog, "BUILDERS", folder.parent.name)
        corpus = catalog.NamedCorpus(name, "ko", 4, "CC0", "https://corpora.invalid")
        monkeypatch.setattr(catalog, "CORPORA", (corpus,))
        return corpus

    return make


@pytest.fixture(scope="module")
def browser():
    """A Chromium; tests that want one are skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=QUIET_CHROMIUM, timeout=300_000)
        yield browser
        browser.close()


@pytest.fixture
def show_page(browser, tmp_path):
    """A function that opens a page's text as a file; in the end, nothing else was asked for and no error was leaked."""
    file, asked, errors, contexts = tmp_path / "쪽.html", [], [], []

    def open_page(text, **settings):
        contexts.append(browser.new_context(**{"locale": "en-GB", "color_scheme": "light", **settings}))
        contexts[-1].set_default_timeout(300_000)
        page = contexts[-1].new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        file.write_text(text, encoding="utf-8")
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert ({*asked} - {"data:,"}, errors) == ({file.as_uri()}, [])
