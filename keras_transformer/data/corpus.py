"""Corpora with dataset splits, read in chunks, so that they may be larger than memory."""

import dataclasses
import functools
import hashlib
import itertools
import os
import warnings
from collections.abc import Sequence

import numpy as np
import pandas

from keras_transformer.data.catalog import corpus_pairs, download_corpus, find_corpus, is_corpus, packaged_file
from keras_transformer.data.folders import files_in
from keras_transformer.data.loading import CHUNK, CorpusWarning, check_pairs, read_chunks
from keras_transformer.data.rasa import YAML_ENDINGS
from keras_transformer.data.readers import corpus_paths, read_rows
from keras_transformer.data.split import SPLITS, split_pairs
from keras_transformer.errors import CorpusTooSmall, InputError, NoPairs, no_such_file, similar_path
from keras_transformer.language import translate as _

SAMPLE = 250_000  # Maximum number of pairs to train a tokenizer on; more need memory without improving it.
MAX_PAIRS_IN_MEMORY = 250_000  # A corpus of up to this number of pairs stays in memory after it is read.


def load_pairs(
    path: str | os.PathLike | Sequence[str | os.PathLike], question: str | None = None, answer: str | None = None,
    encoding: str | None = None, turns: int = 1,
) -> pandas.DataFrame:  # fmt: skip
    """Loads the question-answer pairs of a corpus, of all its splits.

    Unusable rows are left out and listed in one `CorpusWarning` for each file.

    Args:
        path: What `train` and `keras-transformer data check` take. A file of one of these formats: CSV, TSV,
            tab-separated text, JSON, JSONL, XLSX, Parquet, Arrow, YAML of ChatterBot or Rasa, an exported chat of
            KakaoTalk, a ZIP file of OPUS; text may be compressed (.gz). Or a list of two parallel text files, where
            line i of the second answers line i of the first. Or a folder of such files. Or the name of a corpus of the
            catalog, such as "small_talk", which is downloaded if necessary. A JSON object may be a conversation instead
            of a pair: {"turns": ["안녕", "네, 안녕하세요", …]}, where each turn answers the previous ones.
        question: Name of the question column (JSON: the key); of parallel text, the language that a file's name ends
            in. None detects it by common names. A file with two columns and no header needs no name.
        answer: Name of the answer column; required if `question` is given.
        encoding: Encoding of the files. None reads each as UTF-8, or as what it is found to be, with a `CorpusWarning`:
            CP949, if it is Korean text in it, or UTF-16 with a byte-order mark.
        turns: Maximum number of conversation turns in a question, one per line.

    Returns:
        A DataFrame with the columns "question" and "answer", stripped of surrounding white space. If there are
        conversations, the column "opening" holds the first turn of each.

    Raises:
        InputError: If a file cannot be read, its columns are unknown, or no row is usable; if there is no such file,
            folder or name.
        DownloadFailed: If a corpus of the catalog cannot be downloaded.

    Example:
        >>> with open("pairs.csv", "w") as file:
        ...     print("question,answer", "hello,Hi!", "bye,See you!", sep=chr(10), file=file)
        >>> load_pairs("pairs.csv").values.tolist()
        [['hello', 'Hi!'], ['bye', 'See you!']]
    """
    chunks = list(Corpus(path, question, answer, encoding).read(turns))
    pairs = pandas.concat([pairs for _split, pairs in chunks], ignore_index=True)
    conversations = "opening" in pairs and (pairs["opening"] != pairs["question"]).any()
    return pairs[["question", "answer", *(["opening"] if conversations else [])]]


@dataclasses.dataclass(frozen=True)
class Survey:
    """Statistics from reading a corpus once.

    Attributes:
        fingerprint: A SHA-256 in hexadecimal that identifies the corpus: it depends on all texts, on the order of the
            pairs, and on the splits of the files.
        sizes: The number of pairs of each split in `SPLITS`.
        pairs: The number of pairs.
        sample: DataFrame of training pairs to train a tokenizer on: all pairs, or a uniform sample of `SAMPLE` pairs.
    """

    fingerprint: str
    sizes: dict
    pairs: int
    sample: pandas.DataFrame


class Corpus:
    """Question-answer pairs with their source and dataset splits.

    Files are read in chunks. A corpus of up to `MAX_PAIRS_IN_MEMORY` pairs is read and checked once and stays in
    memory. Of a larger one, only one chunk is in memory at a time, and every pass reads the files again. The files of a
    folder are read in the order of their names. A file whose name contains a split (`train-01.csv`, `fre_dev.tsv`)
    belongs to that split; all other pairs are divided by the frozen split.

    Args:
        source: DataFrame with the columns "question" and "answer", or anything that `load_pairs` takes.
        question: Name of the question column, as for `load_pairs`.
        answer: Name of the answer column, as for `load_pairs`.
        encoding: Encoding of the files, as for `load_pairs`.
        validation: Source of the validation pairs, in the same forms as `source`. If it has splits of its own, only its
            validation split is used. All of `source` except its test files is then used for training.

    Attributes:
        source: Dictionary of the keys of `config.toml` with the location of the corpus.
        licence: Licence of a corpus of the catalog; None for others.
        language: Language of a corpus of the catalog; None for others.
        has_validation: Whether the corpus has a validation split of its own.
        has_splits: Whether the corpus is published with dataset splits, at least for some of its pairs.

    Raises:
        InputError: If a file does not exist or cannot be read from its start, or the splits cannot be determined.
    """

    def __init__(self, source, question=None, answer=None, encoding=None, validation=None):
        reading = {"question": question, "answer": answer, "encoding": encoding}
        self.source = {"corpus": paths_of(source), "validation": paths_of(validation), **reading}
        named = entry_of(self.source["corpus"])
        self.licence, self.language = (named.licence, named.language) if named else (None, None)
        self._files = files_of(source, reading)
        if validation is not None:
            validation_files = files_of(validation, reading)
            own = any(name == "validation" for name, _ in validation_files)
            self._files = [("test" if name == "test" else "train", read) for name, read in self._files]
            self._files += [("validation", read) for name, read in validation_files if not own or name == "validation"]
        self.has_validation = any(name == "validation" for name, _ in self._files)
        self.has_splits = any(name is not None for name, _ in self._files)
        self._in_memory = {}

    @classmethod
    def from_source(cls, source):
        """Creates a corpus from the attribute `source` of another one."""
        return cls(source["corpus"], *(source.get(key) for key in ("question", "answer", "encoding", "validation")))

    def survey(self, turns=1, hold_out=True):
        """Reads the whole corpus, with a `CorpusWarning` about unusable rows.

        Args:
            turns: Maximum number of conversation turns in a question.
            hold_out: Whether to split a corpus without a validation split of its own. Otherwise all pairs except test
                pairs are used for training and again for validation.

        Returns:
            A `Survey`.

        Raises:
            InputError: If a file cannot be read.
            CorpusTooSmall: If there are no pairs for training or validation.
        """
        digest, sizes, sample, total = hashlib.sha256(), dict.fromkeys(SPLITS, 0), Sample(), 0
        for name, pairs in self.read(turns):
            add_to_fingerprint(digest, name, pairs)
            total += len(pairs)
            for split, rows in self._split(name, pairs, hold_out).items():
                sizes[split] += len(rows)
                if split == "train":
                    sample.add(rows)
        check_sizes(sizes)
        return Survey(digest.hexdigest(), sizes, total, sample.pairs)

    def fingerprint(self, turns=1):
        """Returns the fingerprint of the `Survey`, also for corpora without training pairs.

        It reads the corpus and warns like `survey`.
        """
        digest = hashlib.sha256()
        for name, pairs in self.read(turns):
            add_to_fingerprint(digest, name, pairs)
        return digest.hexdigest()

    def splits(self, turns=1, hold_out=True):
        """Yields a dictionary from split names to DataFrames for each chunk; the arguments are those of `survey`."""
        for name, pairs in self._read_again(turns):
            yield self._split(name, pairs, hold_out)

    def chunks(self, turns=1):
        """Yields the chunks of the whole corpus, without dividing it into splits."""
        return (pairs for _, pairs in self._read_again(turns))

    def _read_again(self, turns):
        """Yields what `read` yields, without the warnings that `survey` has issued before."""
        chunks = self.read(turns)
        while True:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CorpusWarning)
                name, pairs = next(chunks, (None, None))
            if pairs is None:
                return
            yield name, pairs

    def read(self, turns=1):
        """Yields the name of the split, or None, and the pairs of each chunk, with a `CorpusWarning` like `survey`.

        They come from memory, without the warning, if they are there.
        """
        if turns in self._in_memory:
            yield from self._in_memory[turns]
            return
        chunks, total = [], 0
        for name, read in self._files:
            for pairs in read(turns=turns):
                total += len(pairs)
                chunks.append((name, pairs))
                if total > MAX_PAIRS_IN_MEMORY:
                    chunks.clear()
                yield name, pairs
        if total <= MAX_PAIRS_IN_MEMORY:
            self._in_memory = {turns: chunks}

    def _split(self, name, pairs, hold_out):
        if name in (None, "train") and not self.has_validation and not hold_out:
            return {"train": pairs, "validation": pairs}
        if name is None:
            return split_pairs(pairs)
        if name == "train" and not self.has_validation:
            splits = split_pairs(pairs)
            return {"train": pandas.concat([splits["train"], splits["test"]]), "validation": splits["validation"]}
        return {name: pairs}


class Sample:
    """A reproducible uniform sample of at most `SAMPLE` of the added pairs."""

    def __init__(self):
        self._random, self._sample = np.random.default_rng(0), None

    def add(self, pairs):
        """Adds pairs to draw from."""
        columns = pairs.columns.intersection(["question", "answer", "file", "row"])
        pairs = pairs[columns].assign(lot=self._random.random(len(pairs)))
        sample = pairs if self._sample is None else pandas.concat([self._sample, pairs])
        self._sample = sample if len(sample) <= SAMPLE else sample.nsmallest(SAMPLE, "lot")

    @property
    def pairs(self):
        """The sample, a DataFrame."""
        return self._sample.drop(columns="lot")


def files_of(source, reading):
    """Returns the files of a corpus as pairs: the split or None, and a function that yields the chunks of the file."""
    if hasattr(source, "columns"):
        return [(None, lambda turns: [check_pairs(source)])]
    paths = corpus_paths(source)
    path = paths[0] if len(paths) == 1 else None
    if path is not None and not os.path.exists(path) and not os.path.splitext(path)[1]:
        return named_files(os.fspath(path))
    if path is None or not os.path.isdir(path):
        next(read_rows(source, **reading), None)  # Raises at once what is wrong with the name or the first lines.
        return [(None, functools.partial(read_chunks, source, **reading))]
    names = (reading["question"], reading["answer"]) if reading["question"] is not None else None
    files = files_in(path, reading["encoding"], names)
    if all(split is None and not isinstance(file, tuple) and file.suffix in YAML_ENDINGS for file, split in files):
        return [(None, functools.partial(project_chunks, [file for file, _split in files], reading))]
    return [(split, functools.partial(read_chunks, file, **reading)) for file, split in files]


def project_chunks(files, reading, turns):
    """Yields the chunks of the YAML files of a project, like `read_chunks`.

    Not every file of a project must have pairs. Raises `NoPairs` if none has.
    """
    without_pairs = []
    for file in files:
        try:
            yield from read_chunks(file, **reading, turns=turns)
        except NoPairs as error:
            without_pairs.append(error)
    if len(without_pairs) == len(files):
        raise without_pairs[0]
    for left_out in filter(None, (error.left_out for error in without_pairs)):
        warnings.warn(left_out, CorpusWarning, stacklevel=4)


def named_files(name):
    """Returns the files of a corpus of the catalog like `files_of`, and downloads it if necessary."""
    try:
        corpus = find_corpus(name)
    except InputError as error:
        if similar_path(name, os.path.isfile):
            raise no_such_file(name) from None
        raise InputError(_("{name}: no such file; and {error}", name=name, error=error)) from error
    if file := packaged_file(name):
        return [(None, functools.partial(read_chunks, file))]
    download_corpus(name)
    return [(split, functools.partial(named_chunks, name, split)) for split in corpus.splits]


def named_chunks(name, split, turns):
    """Yields the pairs of a split of a corpus of the catalog in chunks, like `read_chunks`."""
    pairs, first = corpus_pairs(name, split), 1
    while chunk := list(itertools.islice(pairs, CHUNK)):
        rows = pandas.RangeIndex(first, first + len(chunk))
        yield pandas.DataFrame(chunk, columns=["question", "answer"]).assign(file=name, row=rows)
        first += len(chunk)


def paths_of(source):
    """Returns the paths of a corpus as a list; None for a DataFrame."""
    if source is None or hasattr(source, "columns"):
        return None
    return [os.fspath(path) for path in ([source] if isinstance(source, (str, os.PathLike)) else source)]


def entry_of(paths):
    """Returns the `NamedCorpus` if `paths` is the name of a corpus of the catalog; None for others."""
    [path, *others] = paths or [None]
    return find_corpus(path) if path and not others and is_corpus(path) else None


def add_to_fingerprint(digest, name, pairs):
    """Updates a fingerprint with a chunk."""
    digest.update((name or "").encode())
    openings = pairs["opening"] if "opening" in pairs else pairs["question"]
    for question, answer, opening in zip(pairs["question"], pairs["answer"], openings, strict=True):
        # The lengths ensure that moving text from a question to its answer changes the fingerprint.
        text = f"{len(question)}:{question}{len(answer)}:{answer}" + ("" if opening == question else opening)
        digest.update(text.encode("utf-8", "surrogatepass"))


def check_sizes(sizes):
    """Raises `CorpusTooSmall` if the training or the validation split is empty."""
    for name in ("train", "validation"):
        if not sizes[name]:
            raise CorpusTooSmall(
                _(
                    "the corpus is too small: the split of its {pairs} pairs leaves none for {name}; add "
                    "questions (at least about 100 different ones), or train on all of them with --no-hold-out",
                    pairs=sum(sizes.values()),
                    name=name,
                )
            )
