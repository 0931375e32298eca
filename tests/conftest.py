import collections
import gc
import hashlib
import importlib.metadata
import io
import itertools
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

import filelock
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
# Where programs that train and decode are defined.
COMPILED = "keras_transformer.decoding.", "keras_transformer.export.", "keras_transformer.training."
UPDATE = "keras_transformer.training.ema"
BENCHMARKS = pathlib.Path(__file__).parent / "benchmarks"
EMBEDDING_STEPS = 60  # Of 600, by which the embeddings of a few exchanges are learned.
FEW_STEPS = 9  # Of a training that takes less time eagerly than its programs take to be traced.
MOST_MODELS = 3  # Which are kept for later trainings.
HEAVY_FIXTURES = {"small_run", "browser"}
PORTS = itertools.count(10_000 + 20 * (os.getpid() % 1000))  # Other ones in each of the processes that test together.


def pytest_addoption(parser):
    parser.addoption("--compiled", action="store_true", help="compile all programs with XLA, as users' are")
    hard = parser.getgroup("hard use", "what `make test-hard` does more of where it is asked to")
    hard.addoption("--fuzz-inputs", type=int, default=2000, metavar="N", help="random inputs in all (2000)")
    hard.addoption("--kills", type=int, default=12, metavar="N", help="processes that are killed in all (12)")
    hard.addoption("--soak-minutes", type=float, default=1, metavar="M", help="minutes of each long use (1)")


def pytest_terminal_summary(terminalreporter):
    reports = itertools.chain.from_iterable(terminalreporter.stats.values())
    properties = itertools.chain.from_iterable(getattr(report, "user_properties", ()) for report in reports)
    figures = sorted({figure for name, figure in properties if name == "figures"})
    if figures:
        terminalreporter.section("figures")
        terminalreporter.write("\n".join(figures) + "\n")


def pytest_configure(config):
    gc.set_threshold(100_000, 50, 100)  # Tracing makes millions of objects that stay; seeking garbage took a seventh.
    if not hasattr(config, "workerinput"):  # Other processes have what the first one set.
        keep_temporary_files_together(config)
    if hasattr(config, "cache"):
        keep_programs(config)


def keep_temporary_files_together(config):
    """Has all processes write temporary files to one folder, which is removed in the end.

    A process that is killed leaves files behind, such as those that TensorFlow's AutoGraph writes. `tmp_path` is
    elsewhere, where pytest keeps the last three.
    """
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
    folder = os.environ["TMPDIR"] = tempfile.tempdir = tempfile.mkdtemp()
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def keep_programs(config):
    """Compiles a program of XLA or JAX once for all processes that tests run in or start, and keeps it for later runs.

    Compiling is much of the time of a tiny training. The folder is in pytest's cache (`-p no:cacheprovider`: none).
    """
    folder = config.cache.mkdir(f"compiled-{importlib.metadata.version('tensorflow')}")
    os.environ.setdefault("TF_XLA_FLAGS", f"--tf_xla_persistent_cache_directory={folder}")
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(folder))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")


def pytest_collection_modifyitems(items):
    """Marks tests of a trained run or in a browser as heavy, and variants and heavy tests of benchmarks as slow.

    Files with the most of these and of slow tests come first, so that of two processes none is left alone at the end.
    """
    for item in items:
        if HEAVY_FIXTURES & {*item.fixturenames}:
            item.add_marker("heavy")
        if BENCHMARKS in item.path.parents and item.get_closest_marker("heavy"):
            item.add_marker("slow")  # What measures the package is no part of it.
    for item in left_out(items):
        item.add_marker("slow")
    marked = (item for item in items if any(item.iter_markers("heavy")) or any(item.iter_markers("slow")))
    counts = collections.Counter(item.path for item in marked)
    items.sort(key=lambda item: -counts[item.path])


def left_out(items):
    """Yields the variants of tests that `make test` leaves out: of each test it tries some, spread over all of them."""
    variants = collections.defaultdict(list)
    for item in items:
        if item.get_closest_marker("variants"):
            variants[item.nodeid.partition("[")[0]].append(item)
    for several in variants.values():
        [count] = several[0].get_closest_marker("variants").args
        tried = {round(number * (len(several) - 1) / max(1, count - 1)) for number in range(count)}
        yield from (item for number, item in enumerate(several) if number not in tried)


def pytest_collection_finish():
    """Spares the search for garbage what has been imported."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item):
    """Decides whether the programs by which a test and its fixtures train and decode are compiled with XLA.

    XLA takes seconds for a program that a tiny model runs once, in less, and never frees its memory. So only tests that
    are marked as `compiled` train and decode as users do, unless all do by `--compiled`; others run the same operations
    one by one.
    """
    everything = item.config.getoption("--compiled")
    compile_programs(everything or item.get_closest_marker("compiled") is not None)
    learn_few_steps()
    reuse_programs(not everything)


def learn_few_steps():
    """Spares trainings most of the seconds in which the embeddings of a corpus are learned, without its background."""
    answering = sys.modules.get("keras_transformer.training.answering")
    if not answering or not answering.SMALL_CORPUS:
        return
    answering.SMALL_CORPUS, learn = 0, answering.learn_embeddings

    def learn_some(*args, **kwargs):
        embeddings = sys.modules["keras_transformer.chat.question_embeddings"]
        steps, embeddings.STEPS = embeddings.STEPS, EMBEDDING_STEPS
        try:
            return learn(*args, **kwargs)
        finally:
            embeddings.STEPS = steps

    answering.learn_embeddings = learn_some


def compile_programs(wanted=True):
    tensorflow, xla = map(sys.modules.get, ("tensorflow", "keras_transformer.backend.xla"))
    if tensorflow and wanted == hasattr(tensorflow.function, "compiling"):
        tensorflow.function = tensorflow.function.compiling if wanted else uncompiled(tensorflow.function)
        # Nor does TensorFlow's own optimization of a graph (Grappler) pay before one that runs once.
        tensorflow.config.optimizer.set_experimental_options({"disable_meta_optimizer": not wanted})
        # To note where each operation was made takes a tenth of tracing, and is read only if one fails.
        stacks = sys.modules["tensorflow.python.util.tf_stack"]
        stacks.extract_stack = stacks.extract_stack.compiling if wanted else always(stacks.extract_stack)
    if xla and wanted == hasattr(xla.fusible, "compiling"):
        xla.fusible = xla.fusible.compiling if wanted else never(xla.fusible)


def is_compiling():
    return not hasattr(sys.modules["tensorflow"].function, "compiling")


def uncompiled(function):
    """Returns TensorFlow's `tf.function` without compilation of our programs; its attribute `compiling` has it."""

    import tensorflow

    def make_function(*args, **kwargs):
        if not args:  # A decorator.
            return lambda function: make_function(function, **kwargs)
        if args[0].__module__ == UPDATE and not tensorflow.inside_function():
            return args[0]  # Of a training that runs eagerly.
        if args[0].__module__.startswith(COMPILED):
            kwargs.pop("jit_compile", None)
        return function(*args, **kwargs)

    make_function.compiling = function
    return make_function


def never(condition):
    """Returns a function that is false whatever it is given; its attribute `compiling` has the condition."""

    def is_never(*_):
        return False

    is_never.compiling = condition
    return is_never


def always(function):
    """Returns a function that returns what the given one does now; its attribute `compiling` has the given one."""
    result = function()

    def return_result(*_, **__):
        return result

    return_result.compiling = function
    return return_result


def reuse_programs(wanted):
    """Spares a training the tracing of its programs, where one of the same settings was in this process.

    Tracing takes three of the five seconds of CPU that a tiny training takes.
    """
    trainer = sys.modules.get("keras_transformer.training.trainer")
    if trainer and wanted != hasattr(trainer.fit, "tracing"):
        trainer.fit = trained_as_before(trainer) if wanted else trainer.fit.tracing


def trained_as_before(trainer):
    """Returns `trainer.fit` with models of earlier trainings, which begin with the values of the new ones."""
    models, fit, compiled_model = {}, trainer.fit, trainer.compiled_model

    def known_model(run, tokens_per_batch, *settings):
        fresh = compiled_model(run, tokens_per_batch, *settings)
        if not is_compiling() and run.config.epochs * settings[0] <= FEW_STEPS:
            fresh.run_eagerly = True
            return fresh
        config = run.config.replace(epochs=1, patience=0, monitor="val_accuracy", keep_epochs=1)
        sizes = run.tokenizer.vocab_size, run.target_tokenizer.vocab_size
        key = repr((config, sizes, tokens_per_batch, settings, update_of(fresh), is_compiling()))
        model = models.pop(key, fresh)
        if update_of(model) != update_of(fresh):
            model = fresh  # The earlier training diverged, and traced another learning rate.
        models[key] = model
        for other in [*models][:-MOST_MODELS]:
            del models[other]
        if model is not fresh:
            for old, new in zip(variables_of(model), variables_of(fresh), strict=True):
                old.assign(new)
            model._eval_epoch_iterator = None  # An interrupted `fit` leaves its own.
        return model

    def fit_with_known_model(*arguments):
        trainer.compiled_model = known_model
        try:
            return fit(*arguments)
        except BaseException:
            models.clear()
            raise
        finally:
            trainer.compiled_model = compiled_model

    fit_with_known_model.tracing = fit
    return fit_with_known_model


def update_of(model):
    """Returns the settings of the optimizer, but for its name, which Keras counts on."""
    optimizer = getattr(model.optimizer, "inner_optimizer", model.optimizer)  # float16 wraps it.
    return {name: value for name, value in optimizer.get_config().items() if name != "name"}


def variables_of(model):
    return [*model.variables, *model.metrics_variables, *model.optimizer.variables]


@pytest.fixture(scope="session", name="compile_programs")
def compile_programs_function():
    """The function that has the rest of a test compile its programs, for fixtures that several tests share."""
    return compile_programs


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
def make_once(tmp_path_factory):
    """A function that has a folder made by one of the processes that test together, and gives each of them a copy."""

    def make_once(name, make):
        own = tmp_path_factory.mktemp("made") / name
        if "PYTEST_XDIST_WORKER" not in os.environ:
            make(own)
            return own
        shared = tmp_path_factory.getbasetemp().parent / f"made {name}"
        with filelock.FileLock(f"{shared}.lock"):
            if not shared.exists():
                make(own)
                shutil.copytree(own, f"{shared}.part")
                os.rename(f"{shared}.part", shared)
                return own
        return pathlib.Path(shutil.copytree(shared, own))

    return make_once


@pytest.fixture(scope="session")
def small_run(small_pairs, make_once):
    """A run folder trained, for seconds, to memorize eight answers, which it generates. No test changes it."""
    from keras_transformer import Config, train
    from keras_transformer.chat.answering import Answering

    learn_few_steps()  # If only a few tests run, nothing has imported what this changes before.
    config = Config(
        vocab_size=420, num_layers=1, d_model=32, num_heads=2, dff=64, dropout=0.0, batch_size=16, epochs=40,
        patience=0, warmup_steps=150, max_length=24, precision="float32",  # The same on every processor, nearly.
    )  # fmt: skip

    def make(run_dir):
        train(small_pairs, run_dir, config)
        Answering().save(run_dir)  # Its training finds both ways as good, and would retrieve.

    run = make_once("run", make)
    before = contents(run)
    yield run
    assert contents(run) == before, "a test changed the run that all tests share"


def contents(folder):
    """Returns the content of each file but the lock, which holds the number of the process that used the run last."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "lock"}


@pytest.fixture
def call(monkeypatch, capsys):
    """A function that calls a command with its words in this process, and returns what a process of its own would.

    A process takes six seconds of CPU to import TensorFlow. What only a process has (signals, its exit, a closed
    pipe, its locale) is tested in one.
    """
    from keras_transformer.cli.main import main
    from keras_transformer.language import current_language, language_in_use

    def call(*words, stdin=b""):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        with language_in_use(current_language()):  # The language of `--lang` ends with the command.
            try:
                status = main([*map(str, words)])
            except SystemExit as exit:  # Wrong usage and `--help`.
                status = exit.code
        return subprocess.CompletedProcess(words, status, *capsys.readouterr())

    return call


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
