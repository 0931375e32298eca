import contextlib
import json
import multiprocessing
import os
import pathlib
import resource
import runpy
import shutil
import string
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

HERE = pathlib.Path(__file__).parent
LONGEST = 10  # Seconds of CPU that one input may take. What waits for ever, pytest-timeout ends.
LARGEST = 2 << 30  # Bytes that the process may grow by.
ODD = [
    "\ud800", "\udfff", "\0", "\x1b[2J", "\x7f", "\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\ufffd", "\u2028",
    "\u2581", "\u1100", "\u1161", "\u11a8", "\u0301" * 40, "e\u0301\u0327", "ﷺ", "Å", "ß", "İ", "가" * 300, "א" * 20,
    "👩‍👩‍👧‍👦", "🇰🇷", "👍🏽", "𝔘", "\U0010ffff", "\r\n", "\n", "\t", " ", "\u3000", "<s>", "</s>", "<unk>", "%s", "{x}",
    "\\", "'", '"', "-", "--", "/", "..", "~", "$HOME", "a" * 2000,
]  # fmt: skip
BYTES = [
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc3", b"\r", b"\n", b"\r\n", b'"', b"'", b",", b"\t",
    b"{", b"}", b"[" * 3000, b"a." * 3000, b"9" * 5000, b"1e999", b"NaN", b"-1", b"null", b"true", b'"\\ud800"', b"=",
    b"\x1a", b"0", b" " * 1000, b"\x80" * 50, b"#", b"[[", b'"""', b"\\", b"2.5", b"99999999999999999999",
]  # fmt: skip


def pytest_collection_modifyitems(items):
    """As many inputs, kills and minutes as asked for may take hours."""
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(pytest.mark.timeout(100_000))


texts = st.lists(
    st.one_of(st.sampled_from(ODD), st.text(max_size=8), st.text("배고파잘자 hello?!", max_size=8)), max_size=6
)
texts = texts.map("".join)
"""Texts of all scripts, with half characters, control characters, right-to-left, marks without a letter and emoji."""

unicode_texts = texts.map(lambda text: text.encode("utf-8", "ignore").decode("utf-8"))
"""The same, without half characters."""

numbers = st.one_of(
    st.integers(-3, 20), st.sampled_from([2**31 - 1, 2**31, 2**63, -(2**63), 10**30, 10**400, 255, 256, 65536]),
    st.floats(), st.sampled_from([0.0, -0.0, 0.5, 1.0, 1e-300, 1e300]),
)  # fmt: skip
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts), lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(string.ascii_lowercase, max_size=5), inner, max_size=3), max_leaves=6,
)  # fmt: skip


@st.composite
def damaged(draw, data):
    """Bytes with a few places overwritten, cut out or inserted, and perhaps cut short."""
    data = bytearray(data)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 12))] = draw(st.one_of(st.sampled_from(BYTES), st.binary(max_size=6)))
    return bytes(data[: draw(st.integers(0, len(data)))] if draw(st.integers(0, 4)) == 0 else data)


@st.composite
def changed(draw, value):
    """A JSON value in which something is replaced by another value, removed or added."""
    value = json.loads(json.dumps(value))
    for _ in range(draw(st.integers(1, 3))):
        holder = value
        while isinstance(holder, (dict, list)) and holder:
            key = draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
            if isinstance(holder[key], (dict, list)) and holder[key] and draw(st.booleans()):
                holder = holder[key]
                continue
            match draw(st.integers(0, 3)):
                case 0:
                    del holder[key]
                case 1 if isinstance(holder, dict):
                    holder[draw(st.text(max_size=5))] = draw(json_values)
                case _:
                    holder[key] = draw(json_values)
            break
    return value


@pytest.fixture
def fuzz(request, record_property):
    """A function that calls a check with its share of the random inputs.

    No input may take ten seconds, nor all together 2 GB. The inputs are the same in every run, unless pytest's option
    `--hypothesis-seed` asks for others.
    """

    def fuzz(inputs, check, share):
        seeded = request.config.getoption("--hypothesis-seed") is not None
        asked = max(1, round(share * request.config.getoption("--fuzz-inputs")))
        count, before, start = 0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()

        @settings(
            max_examples=asked, deadline=None, derandomize=not seeded, database=None,
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(inputs)
        def checked(value):
            nonlocal count
            count, begin = count + 1, time.process_time()
            try:
                check(value)
                assert time.process_time() - begin < LONGEST
            except Exception as error:
                with contextlib.suppress(ValueError):  # Of a number too long to be shown.
                    error.add_note(f"of the input {ascii(value)[:2000]}")
                raise

        checked()
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
        assert grown < LARGEST
        seconds = time.monotonic() - start
        name = request.node.name.removeprefix("test_")
        record_property("figures", f"{count:7,} inputs  {seconds:6.0f} s  {grown >> 20:5} MB more  {name}")

    return fuzz


@pytest.fixture(scope="module")
def run_copy(small_run, tmp_path_factory):
    """A copy of the small run that a test may damage, if it mends it."""
    return shutil.copytree(small_run, tmp_path_factory.mktemp("runs") / "run")


PRELOADED = ["keras_transformer.training.trainer", "keras_transformer.export.registry", "tensorflow_datasets"]


@pytest.fixture(scope="session")
def temporary(tmp_path_factory):
    """The temporary folder of the processes of `start`."""
    return tmp_path_factory.mktemp("temporary")


@pytest.fixture(scope="session")
def start(temporary):
    """A function that starts a process of a function, which has TensorFlow imported already, and no thread of it."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)

    def start(function, *arguments):
        process = context.Process(target=function, args=arguments)
        process.start()
        return process

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(temporary))
        patch.setattr("tempfile.tempdir", os.environ["PYTEST_DEBUG_TEMPROOT"])  # Of the server's socket.
        start(int).join()  # Starts the server.
    return start


SETTINGS = {
    "preset": "small", "vocab-size": 400, "num-layers": 1, "d-model": 8, "num-heads": 2, "dff": 8, "batch-size": 32,
    "epochs": 30, "patience": 0, "warmup-steps": 50, "max-length": 16, "checkpoint-minutes": 1e-9,
}  # fmt: skip
TRAINING = """
exec(fault)
from keras_transformer.cli.main import main

raise SystemExit(main(words))
"""


@pytest.fixture
def train(start, tmp_path):
    """A function that starts the training of a run folder; `fault` is Python that is executed first."""
    corpus, script = tmp_path / "pairs.csv", tmp_path / "train.py"
    rows = "".join(f"질문 {i},대답 {i % 7}\n" for i in range(140))
    corpus.write_text(f"question,answer\n{rows}", encoding="utf-8")
    script.write_text(TRAINING)

    def train(run, fault=""):
        words = ["train", str(corpus), "--run", str(run), *(f"--{name}={value}" for name, value in SETTINGS.items())]
        return start(runpy.run_path, str(script), {"words": words, "fault": fault})

    return train
