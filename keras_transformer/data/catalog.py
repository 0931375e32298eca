"""Corpora by name: what there is, where it is kept, and how it gets there."""

import contextlib
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

from keras_transformer.data.download import RemoteFile, adopt, fetch
from keras_transformer.errors import InputError
from keras_transformer.runs.lock import lock_to_the_end

BUILDERS = "keras_transformer.data.builders"  # The package that has a package for each corpus.
BATCH = 1024  # Pairs that are read at a time.


@dataclasses.dataclass(frozen=True)
class NamedCorpus:
    """A corpus that can be had by its name; its texts and checksums stand in the folder of its builder.

    Attributes:
        name: Its name.
        language: Of questions and answers, as ISO 639-1 has it.
        pairs: How many there are.
        licence: In a word or two.
        homepage: Where it comes from.
        has_own_parts: Whether it is published in train, validation and test; otherwise the frozen split makes them.
        version: Changes with what is made of it.
    """

    name: str
    language: str
    pairs: int
    licence: str
    homepage: str
    has_own_parts: bool = False
    version: str = "1.0.0"

    @property
    def description(self):
        """A few sentences on what it holds."""
        return self._text("README.md")

    @property
    def citation(self):
        """BibTeX of the publication to cite."""
        return self._text("CITATIONS.bib")

    @property
    def files(self):
        """The `RemoteFile`s that it is made of."""
        rows = [line.split("\t") for line in self._text("checksums.tsv").splitlines()]
        return [RemoteFile(url, int(size), sha256, name) for url, size, sha256, name in rows]

    @property
    def downloads(self):
        """The folder of its files as they were published."""
        return data_home() / "downloads" / self.name

    @property
    def prepared(self):
        """The folder of the corpus as tensorflow-datasets keeps it."""
        return data_home() / "prepared" / self.name / self.version

    @property
    def is_here(self):
        """Whether it is prepared; tensorflow-datasets moves the folder to its place when it is whole."""
        return (self.prepared / "dataset_info.json").is_file()

    @property
    def parts(self):
        """How many pairs each part has; empty unless the corpus is here."""
        if not self.is_here:
            return {}
        splits = json.loads((self.prepared / "dataset_info.json").read_text(encoding="utf-8"))["splits"]
        return {split["name"]: sum(map(int, split["shardLengths"])) for split in splits}

    def _text(self, name):
        folder = importlib.resources.files(f"{BUILDERS}.{self.name}")
        return folder.joinpath(name).read_text(encoding="utf-8").strip()


CORPORA = (
    NamedCorpus("chatbot_ko", "ko", 11_823, "MIT", "https://github.com/songys/Chatbot_data"),
    # 304,713 utterances in 83,097 conversations, less the pairs without text; PyTorch's chatbot tutorial counts so too.
    NamedCorpus(
        "cornell_movie_dialogs", "en", 221_282, "not stated",
        "https://www.cs.cornell.edu/~cristian/Cornell_Movie-Dialogs_Corpus.html",
    ),
    NamedCorpus(
        "multi30k", "en-de", 31_014, "non-commercial", "https://github.com/multi30k/dataset", has_own_parts=True
    ),
)  # fmt: skip


def corpora():
    """The `NamedCorpus`es that can be had by name."""
    return CORPORA


def find_corpus(name):
    """The `NamedCorpus` of a name; raises `InputError` with the nearest name, or all, if it is unknown."""
    names = [corpus.name for corpus in CORPORA]
    if name in names:
        return CORPORA[names.index(name)]
    near = difflib.get_close_matches(name, names, n=1)
    advice = f": did you mean {near[0]}?" if near else f"; there are {', '.join(names)}"
    raise InputError(f"no corpus is named {name!r}{advice}")


def is_corpus(name):
    """Whether that is the name of a corpus, and not a file or folder that stands here."""
    return any(name == corpus.name for corpus in CORPORA) and not os.path.exists(name)


def data_home():
    """The folder of all corpora: `KERAS_TRANSFORMER_DATA`, or `keras_transformer` in the user's folder of caches."""
    if home := os.environ.get("KERAS_TRANSFORMER_DATA"):
        return pathlib.Path(home)
    caches = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(caches) / "keras_transformer"


def download_corpus(name, files=()):
    """Brings a corpus here and prepares it, unless it is here; what was interrupted goes on where it stopped.

    Args:
        name: The corpus's name.
        files: Paths of its files that were got by other means, under any name; only the others are downloaded.

    Raises:
        DownloadFailed: If a file cannot be had.
        InputError: If the name is unknown, a file given is none of the corpus's, or tensorflow-datasets is missing.
    """
    corpus = find_corpus(name)
    if corpus.is_here:
        return
    builder = _builder(corpus)  # First of all: it tells if a package is missing.
    given = {_file_of(corpus, path): path for path in files}
    corpus.downloads.mkdir(parents=True, exist_ok=True)
    with open(corpus.downloads / "lock", "ab") as lock:
        try:
            lock_to_the_end(lock)
        except (BlockingIOError, PermissionError) as error:
            raise InputError(f"{name}: another process is preparing it; wait for it") from error
        if not corpus.is_here:
            _bring(corpus, builder, given)


def _bring(corpus, builder, given):
    """Gets the files of a corpus, but for those given, and prepares it."""
    for file in corpus.files:
        place = corpus.downloads / file.name
        if file in given:
            adopt(file, given[file], place)
        else:
            fetch(file, place)
    print(f"{corpus.name}: preparing {corpus.prepared} …", file=sys.stderr)
    _prepare(builder, corpus.downloads)


def load_corpus(name):
    """Reads a corpus that is here.

    Args:
        name: The corpus's name.

    Returns:
        A dictionary from "train", "validation" and "test" to a DataFrame with the columns "question" and "answer". If
        the corpus has no parts of its own, they are those that `split_pairs` makes of all of them together.

    Raises:
        InputError: If the name is unknown, or the corpus is not here.
    """
    import pandas

    parts = _find_here(name).parts
    return {part: pandas.DataFrame(corpus_pairs(name, part), columns=["question", "answer"]) for part in parts}


def corpus_pairs(name, part="train"):
    """Yields the (question, answer) of every pair in a part of a corpus, in order.

    Raises:
        InputError: If the name or the part is unknown, or the corpus is not here.
    """
    corpus = _find_here(name)
    if part not in corpus.parts:
        raise InputError(f"{name}: no part is named {part!r}; there are {', '.join(corpus.parts)}")
    for batch in _builder(corpus).as_dataset(split=part, batch_size=BATCH).as_numpy_iterator():
        for question, answer in zip(batch["question"], batch["answer"]):
            yield question.decode("utf-8"), answer.decode("utf-8")


def _find_here(name):
    corpus = find_corpus(name)
    if not corpus.is_here:
        raise InputError(f"{name}: not downloaded yet: keras-transformer data download {name}")
    return corpus


def _file_of(corpus, path):
    """Which of a corpus's files a path holds."""
    if not pathlib.Path(path).is_file():
        raise InputError(f"{path}: no such file")
    for file in corpus.files:
        if file.is_at(path):
            return file
    names = ", ".join(file.name for file in corpus.files)
    raise InputError(f"{path}: is none of the files of {corpus.name} ({names}): size and SHA-256 are those of none")


def _builder(corpus):
    """The tensorflow-datasets builder of a corpus."""
    try:
        importlib.import_module(
            "importlib_resources"
        )  # Which tensorflow-datasets misses only in the midst of its work.
        module = importlib.import_module(f"{BUILDERS}.{corpus.name}.{corpus.name}_dataset_builder")
    except ModuleNotFoundError as error:
        extra = "pip install 'keras_transformer[datasets]'"
        raise InputError(f"corpora by name need the package {error.name}, which is missing: {extra}") from error
    return module.Builder(data_dir=data_home() / "prepared")


def _prepare(builder, downloads):
    """Lets tensorflow-datasets make its files of those downloaded.

    It takes a file that stands in its folder of manual downloads under the registered name, checks it, and leaves its
    own downloading, which cannot resume.
    """
    import tensorflow_datasets as tfds

    scratch = downloads / "tensorflow_datasets"
    config = tfds.download.DownloadConfig(manual_dir=downloads)
    talk = io.StringIO()  # Bars within bars and unknown sizes; what goes wrong is raised.
    with contextlib.redirect_stdout(talk), contextlib.redirect_stderr(talk):
        builder.download_and_prepare(download_dir=scratch, download_config=config)
    shutil.rmtree(scratch)
