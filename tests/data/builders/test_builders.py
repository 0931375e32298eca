"""The builders by tensorflow-datasets' own test, on corpora of the same form that were made up for it."""

import gzip
import pathlib
import tempfile
import zipfile

import pytest
import tensorflow as tf

tfds = pytest.importorskip("tensorflow_datasets")

from keras_transformer.data.builders.chatbot_ko import chatbot_ko_dataset_builder as chatbot_ko  # noqa: E402
from keras_transformer.data.builders.cornell_movie_dialogs import (  # noqa: E402
    cornell_movie_dialogs_dataset_builder as cornell,
)
from keras_transformer.data.builders.multi30k import multi30k_dataset_builder as multi30k  # noqa: E402
from keras_transformer.data.builders.pairs import pairs_dataset_builder as pairs  # noqa: E402
from keras_transformer.errors import InputError  # noqa: E402

# Of the frozen split: see tests/data/test_split.py.
SMALL_TALK = [("안녕", "반가워요."), ("q11", "a"), ("질문 53", "대답"), ("hello", "Hi, there!")]

# L3 has no text: the pairs before and after it are left out.
FILM_LINES = {
    "L1": b"q1", "L2": b"Don\x92t\x85 +++$+++ go", "L3": b" ", "L10": b"q11", "L11": b"hello",
    "L12": b"\xe9t\xe9\r\x85",
}  # fmt: skip
FILM_TALKS = [["L1", "L2", "L3", "L2"], ["L10", "L11", "L12"]]
FILM_PAIRS = [("q1", "Don’t… +++$+++ go"), ("q11", "hello"), ("hello", "été\r…")]


def write_small_talk(folder):
    rows = "".join(f'"{question}","{answer}",0\r\n' for question, answer in SMALL_TALK)
    (folder / "ChatbotData.csv").write_bytes(f"Q,A,label\r\n{rows}".encode())


def write_films(folder):
    cells = b" +++$+++ u0 +++$+++ m0 +++$+++ BIANCA +++$+++ "
    lines = b"".join(name.encode() + cells + text + b"\n" for name, text in FILM_LINES.items())
    talks = "".join(f"u0 +++$+++ u2 +++$+++ m0 +++$+++ {talk}\n" for talk in FILM_TALKS)
    with zipfile.ZipFile(folder / "films.zip", "w") as archive:
        archive.writestr(f"{cornell.FOLDER}/movie_lines.txt", lines)
        archive.writestr(f"{cornell.FOLDER}/movie_conversations.txt", talks)


def write_captions(folder):
    for name, count in (("train", 3), ("val", 2), ("test_2016_flickr", 1)):
        for language, noun in (("en", "dog"), ("de", "Hund")):
            text = "".join(f"{name}: {noun}\u2028{number} \n" for number in range(count))
            (folder / f"{name}.{language}.gz").write_bytes(gzip.compress(text.encode()))


CAPTION_FILES = {
    f"{name}.{language}.gz": f"{name}.{language}.gz"
    for name in ("train", "val", "test_2016_flickr")
    for language in ("en", "de")
}


class MadeUp:
    """Writes the files that a builder is to find in place of downloaded ones."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.EXAMPLE_DIR = folder.name
        cls.write(pathlib.Path(folder.name))
        super().setUpClass()


class TestChatbotKo(MadeUp, tfds.testing.DatasetBuilderTestCase):
    DATASET_CLASS = chatbot_ko.Builder
    SPLITS = {"train": 2, "validation": 1, "test": 1}  # noqa: RUF012
    DL_DOWNLOAD_RESULT = "ChatbotData.csv"
    write = staticmethod(write_small_talk)


class TestCornellMovieDialogs(MadeUp, tfds.testing.DatasetBuilderTestCase):
    DATASET_CLASS = cornell.Builder
    SPLITS = {"train": 2, "validation": 1}  # noqa: RUF012
    DL_DOWNLOAD_RESULT = "films.zip"
    write = staticmethod(write_films)


class TestMulti30k(MadeUp, tfds.testing.DatasetBuilderTestCase):
    DATASET_CLASS = multi30k.Builder
    SPLITS = {"train": 3, "validation": 2, "test": 1}  # noqa: RUF012
    DL_DOWNLOAD_RESULT = CAPTION_FILES
    write = staticmethod(write_captions)


class TestPairs(MadeUp, tfds.testing.DatasetBuilderTestCase):
    DATASET_CLASS = pairs.Builder
    SPLITS = {"train": 2, "validation": 1, "test": 1}  # noqa: RUF012
    SKIP_CHECKSUMS = True

    @classmethod
    def write(cls, folder):
        write_small_talk(folder)
        cls.BUILDER_CONFIG_NAMES_TO_TEST = [pairs.PairsConfig(paths=[folder / "ChatbotData.csv"])]


class Downloads:
    """Stands for the manager of downloads: all files are there."""

    def __init__(self, folder, names):
        self.paths = tf.nest.map_structure(folder.joinpath, names)

    def download(self, _):
        return self.paths


def made(builder, downloads, tmp_path):
    """The pairs that a builder makes, by their splits."""
    splits = builder(data_dir=tmp_path / "data")._split_generators(downloads)
    return {
        name: [(example["question"], example["answer"]) for _, example in examples] for name, examples in splits.items()
    }


def test_small_talk_keeps_its_order_in_the_frozen_split(tmp_path):
    write_small_talk(tmp_path)
    assert made(chatbot_ko.Builder, Downloads(tmp_path, "ChatbotData.csv"), tmp_path) == {
        "train": [SMALL_TALK[0], SMALL_TALK[3]],
        "validation": [SMALL_TALK[1]],
        "test": [SMALL_TALK[2]],
    }


def test_utterances_are_answered_by_the_next_ones(tmp_path):
    write_films(tmp_path)
    assert made(cornell.Builder, Downloads(tmp_path, "films.zip"), tmp_path) == {
        "train": [FILM_PAIRS[0], FILM_PAIRS[2]],
        "validation": [FILM_PAIRS[1]],
    }


def test_captions_have_parts_of_their_own(tmp_path):
    write_captions(tmp_path)
    assert made(multi30k.Builder, Downloads(tmp_path, CAPTION_FILES), tmp_path) == {
        "train": [(f"train: dog\u2028{number}", f"train: Hund\u2028{number}") for number in range(3)],
        "validation": [(f"val: dog\u2028{number}", f"val: Hund\u2028{number}") for number in range(2)],
        "test": [("test_2016_flickr: dog\u20280", "test_2016_flickr: Hund\u20280")],
    }


def test_captions_of_different_number_are_refused(tmp_path):
    write_captions(tmp_path)
    (tmp_path / "val.de.gz").write_bytes(gzip.compress(b"Hund\n"))
    with pytest.raises(ValueError, match="shorter"):
        made(multi30k.Builder, Downloads(tmp_path, CAPTION_FILES), tmp_path)


@pytest.mark.parametrize("encoding", ["utf-8", "cp949"])
def test_pairs_of_ones_own(tmp_path, encoding):
    path = tmp_path / "내 말뭉치.csv"
    path.write_bytes("말,대꾸\n안녕,반가워요.\n".encode(encoding))
    config = pairs.PairsConfig(paths=[path], question="말", answer="대꾸", encoding=encoding)
    builder = pairs.Builder(data_dir=tmp_path / "data", config=config)
    builder.download_and_prepare()
    (example,) = builder.as_dataset(split="train").as_numpy_iterator()
    assert {name: text.decode() for name, text in example.items()} == {"question": "안녕", "answer": "반가워요."}


def test_changed_pairs_are_prepared_anew(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("q,a\nhello,hi\n")
    before = pairs.PairsConfig(paths=[path])
    assert pairs.PairsConfig(paths=[path]).name == before.name
    assert pairs.PairsConfig(paths=[path], encoding="cp949").name != before.name
    path.write_text("q,a\nhello,hey\n")
    assert pairs.PairsConfig(paths=[path]).name != before.name


def test_pairs_of_no_file(tmp_path):
    builder = pairs.Builder(data_dir=tmp_path)
    with pytest.raises(InputError, match="name the files"):
        builder.download_and_prepare()


def test_pairs_of_a_file_that_is_not_there():
    with pytest.raises(InputError, match=r"nowhere.csv: no such file"):
        pairs.PairsConfig(paths=["nowhere.csv"])
