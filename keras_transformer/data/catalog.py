"""Catalog of named corpora: one comes with this package, the others are downloaded and prepared on demand."""

from __future__ import annotations

import collections
import contextlib
import csv
import dataclasses
import difflib
import importlib
import importlib.resources
import io
import json
import os
import pathlib
import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from keras_transformer.data.download import RemoteFile, adopt, fetch
from keras_transformer.data.split import SPLITS, split_name
from keras_transformer.errors import InputError, import_extra, no_such_file
from keras_transformer.language import translatable
from keras_transformer.language import translate as _
from keras_transformer.printable import printable_line
from keras_transformer.runs.lock import lock_file

if TYPE_CHECKING:
    import pandas

BUILDERS = "keras_transformer.data.builders"  # Contains a package for each corpus.
BATCH = 1024  # Number of pairs read at a time.


@dataclasses.dataclass(frozen=True)
class NamedCorpus:
    """A corpus of the catalog. Its description and checksums are in the folder of its builder.

    Attributes:
        name: Name of the corpus.
        language: Language of questions and answers (ISO 639-1).
        pairs: Number of pairs.
        licence: Short name of the licence.
        homepage: URL of its source; None if there is none.
        has_own_splits: Whether it is published with train, validation and test splits; otherwise the frozen split is
            used.
        version: Version of the prepared data.
    """

    name: str
    language: str
    pairs: int
    licence: str
    homepage: str | None
    has_own_splits: bool = False
    version: str = "1.0.0"

    @property
    def description(self) -> str:
        """Description of the corpus."""
        return self._text("README.md")

    @property
    def citation(self) -> str:
        """BibTeX of the publication to cite."""
        return self._text("CITATIONS.bib")

    @property
    def files(self) -> list[RemoteFile]:
        """The `RemoteFile`s of the corpus."""
        rows = [line.split("\t") for line in self._text("checksums.tsv").splitlines()]
        return [RemoteFile(url, int(size), sha256, name) for url, size, sha256, name in rows]

    @property
    def downloads(self) -> pathlib.Path:
        """The folder of the downloaded files."""
        return data_home() / "downloads" / self.name

    @property
    def prepared(self) -> pathlib.Path:
        """The folder of the corpus prepared by tensorflow-datasets."""
        return data_home() / "prepared" / self.name / self.version

    @property
    def is_prepared(self) -> bool:
        """Whether the corpus is prepared; tensorflow-datasets moves the folder to its place only when complete."""
        return (self.prepared / "dataset_info.json").is_file()

    @property
    def splits(self) -> dict[str, int]:
        """Dictionary of the number of pairs in each split; empty if the corpus is not prepared."""
        if not self.is_prepared:
            return {}
        splits = json.loads((self.prepared / "dataset_info.json").read_text(encoding="utf-8"))["splits"]
        return {split["name"]: sum(map(int, split["shardLengths"])) for split in splits}

    def read(self, split: str) -> Iterator[tuple[str, str]]:
        """Yields (question, answer) for every pair in a split."""
        for batch in _builder(self).as_dataset(split=split, batch_size=BATCH).as_numpy_iterator():
            for question, answer in zip(batch["question"], batch["answer"]):
                yield question.decode("utf-8"), answer.decode("utf-8")

    def _text(self, name):
        folder = importlib.resources.files(f"{BUILDERS}.{self.name}")
        return folder.joinpath(name).read_text(encoding="utf-8").strip()


class PackagedCorpus(NamedCorpus):
    """A corpus that comes with this package as a CSV file, in a folder beside this module."""

    @property
    def files(self) -> list[RemoteFile]:
        """An empty list: nothing is downloaded."""
        return []

    @property
    def prepared(self) -> pathlib.Path:
        """The CSV file."""
        return pathlib.Path(__file__).with_name(self.name) / f"{self.name}.csv"

    @property
    def is_prepared(self) -> bool:
        """True."""
        return True

    @property
    def splits(self) -> dict[str, int]:
        """Dictionary of the number of pairs in each split."""
        sizes = collections.Counter(split_name(question) for question, _ in self._rows())
        return {split: sizes[split] for split in SPLITS}

    def read(self, split: str) -> Iterator[tuple[str, str]]:
        """Yields (question, answer) for every pair in a split."""
        return (pair for pair in self._rows() if split_name(pair[0]) == split)

    def _rows(self):
        with open(self.prepared, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                yield row["question"], row["answer"]

    def _text(self, name):
        return self.prepared.with_name(name).read_text(encoding="utf-8").strip()


CORPORA = (
    PackagedCorpus("small_talk", "ko, en", 1_811, "CC0 1.0", None),
    NamedCorpus("chatbot_ko", "ko", 11_823, "MIT", "https://github.com/songys/Chatbot_data"),
    # 304,713 utterances in 83,097 conversations, without empty pairs. PyTorch's chatbot tutorial has the same count.
    NamedCorpus(
        "cornell_movie_dialogs", "en", 221_282, translatable("not stated"),
        "https://www.cs.cornell.edu/~cristian/Cornell_Movie-Dialogs_Corpus.html",
    ),
    NamedCorpus(
        "multi30k", "en-de", 31_014, translatable("non-commercial"), "https://github.com/multi30k/dataset",
        has_own_splits=True,
    ),
)  # fmt: skip


def corpora() -> tuple[NamedCorpus, ...]:
    """Returns all `NamedCorpus`es of the catalog."""
    return CORPORA


def find_corpus(name):
    """Returns the `NamedCorpus` of a name; raises `InputError` with a similar name, or all names, if it is unknown."""
    names = [corpus.name for corpus in CORPORA]
    if name in names:
        return CORPORA[names.index(name)]
    similar = difflib.get_close_matches(name, names, n=1)
    if similar:
        raise InputError(_("no corpus is named {name!r}: did you mean {similar}?", name=name, similar=similar[0]))
    raise InputError(_("no corpus is named {name!r}; there are {names}", name=name, names=", ".join(names)))


def is_corpus(name):
    """Returns whether a name is that of a corpus, and not of an existing file or folder."""
    return any(name == corpus.name for corpus in CORPORA) and not os.path.exists(name)


def packaged_file(name):
    """Returns the path of a corpus that comes with this package; None for everything else."""
    if is_corpus(name) and isinstance(corpus := find_corpus(name), PackagedCorpus):
        return corpus.prepared
    return None


def data_home():
    """Returns the folder of all downloads: `KERAS_TRANSFORMER_DATA`, or `keras_transformer` in the user's cache."""
    if home := os.environ.get("KERAS_TRANSFORMER_DATA"):
        return pathlib.Path(home)
    caches = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(caches) / "keras_transformer"


def download_corpus(name: str, files: Iterable[str | os.PathLike] = ()) -> None:
    """Downloads and prepares a corpus if necessary. An interrupted download is resumed.

    Args:
        name: Name of the corpus.
        files: Paths of files that were downloaded in another way, under any name. Only the others are downloaded.

    Raises:
        DownloadFailed: If a file cannot be downloaded.
        InputError: If the name is unknown, a given file does not belong to the corpus, or tensorflow-datasets is
            missing.
    """
    corpus = find_corpus(name)
    if corpus.is_prepared:
        return
    builder = _builder(corpus)  # Raises first if a package is missing.
    local_files = {_file_of(corpus, path): path for path in files}
    corpus.downloads.mkdir(parents=True, exist_ok=True)
    with open(corpus.downloads / "lock", "ab") as lock:
        if not lock_file(lock):
            raise InputError(_("{name}: another process is preparing it; wait for it", name=name))
        if not corpus.is_prepared:
            for folder in corpus.prepared.parent.glob("incomplete.*"):  # Of a process that was killed.
                shutil.rmtree(folder)
            _download_and_prepare(corpus, builder, local_files)


def _download_and_prepare(corpus, builder, local_files):
    """Downloads the files of a corpus that are not given, and prepares it."""
    for file in corpus.files:
        path = corpus.downloads / file.name
        if file in local_files:
            adopt(file, local_files[file], path)
        else:
            fetch(file, path)
    print(printable_line(_("{name}: preparing {path} …", name=corpus.name, path=corpus.prepared)), file=sys.stderr)
    _prepare(builder, corpus.downloads)


def load_corpus(name: str) -> dict[str, pandas.DataFrame]:
    """Loads a downloaded corpus.

    Args:
        name: Name of the corpus.

    Returns:
        A dictionary from "train", "validation" and "test" to a DataFrame with the columns "question" and "answer". A
        corpus without splits of its own is split by `split_pairs`.

    Raises:
        InputError: If the name is unknown, or the corpus is not downloaded.
    """
    import pandas

    splits = _find_prepared(name).splits
    return {split: pandas.DataFrame(corpus_pairs(name, split), columns=["question", "answer"]) for split in splits}


def corpus_pairs(name: str, split: str = "train") -> Iterator[tuple[str, str]]:
    """Yields (question, answer) for every pair in a split of a corpus, in order.

    Args:
        name: Name of the corpus.
        split: Name of the split.

    Raises:
        InputError: If the name or the split is unknown, or the corpus is not downloaded.
    """
    corpus = _find_prepared(name)
    if split not in corpus.splits:
        raise InputError(
            _(
                "{name}: no split is named {split!r}; there are {splits}",
                name=name,
                split=split,
                splits=", ".join(corpus.splits),
            )
        )
    yield from corpus.read(split)


def _find_prepared(name):
    corpus = find_corpus(name)
    if not corpus.is_prepared:
        raise InputError(_("{name}: not downloaded yet: run keras-transformer data download {name}", name=name))
    return corpus


def _file_of(corpus, path):
    """Returns the `RemoteFile` of a corpus that a path contains."""
    if not pathlib.Path(path).is_file():
        raise no_such_file(path)
    for file in corpus.files:
        if file.is_at(path):
            return file
    names = ", ".join(file.name for file in corpus.files)
    raise InputError(
        _(
            "{path}: is none of the files of {name} ({names}): its size or SHA-256 differs",
            path=path,
            name=corpus.name,
            names=names,
        )
    )


def _builder(corpus):
    """Returns the tensorflow-datasets builder of a corpus."""
    # tensorflow-datasets only needs the first of them later, during preparation.
    for package in ("importlib_resources", "tensorflow_datasets"):
        import_extra(package, "datasets", "a corpus by name")
    module = importlib.import_module(f"{BUILDERS}.{corpus.name}.{corpus.name}_dataset_builder")
    return module.Builder(data_dir=data_home() / "prepared")


def _prepare(builder, downloads):
    """Prepares a corpus from downloaded files with tensorflow-datasets.

    The files are in its folder of manual downloads under their registered names, so it verifies them and does not
    download them itself, which it could not resume.
    """
    import tensorflow_datasets as tfds

    scratch = downloads / "tensorflow_datasets"
    config = tfds.download.DownloadConfig(manual_dir=downloads)
    output = io.StringIO()  # Hides nested progress bars without sizes; errors are raised.
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        builder.download_and_prepare(download_dir=scratch, download_config=config)
    shutil.rmtree(scratch)
