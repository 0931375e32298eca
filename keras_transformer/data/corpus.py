"""A corpus as a training reads it: in parts, and a file at a time, so that it may be larger than memory."""

import dataclasses
import functools
import hashlib
import itertools
import os
import pathlib
import re
import warnings

import numpy as np
import pandas

from keras_transformer.data.catalog import corpus_pairs, download_corpus, find_corpus, is_corpus
from keras_transformer.data.loading import CHUNK, CorpusWarning, check_pairs, read_chunks
from keras_transformer.data.readers import ENDINGS
from keras_transformer.data.split import PARTS, split_pairs
from keras_transformer.errors import CorpusTooSmall, InputError

PART_NAMES = {
    "train": "train", "training": "train",
    "validation": "validation", "valid": "validation", "val": "validation", "dev": "validation",
    "test": "test",
}  # fmt: skip
"""Words in the names of a folder's files that say which part a file is."""

SAMPLE = 250_000  # Training pairs at most that a tokenizer learns from: more would cost memory and change nothing.


@dataclasses.dataclass(frozen=True)
class Survey:
    """What reading a corpus once tells.

    Attributes:
        fingerprint: A SHA-256 in hex that tells one corpus from another: it changes with any text, with the pairs'
            order, and with the part a file is.
        sizes: The number of pairs of each of `PARTS`.
        pairs: The number of pairs.
        sample: DataFrame of training pairs for a tokenizer to learn from: all, or `SAMPLE` of them drawn evenly.
    """

    fingerprint: str
    sizes: dict
    pairs: int
    sample: pandas.DataFrame


class Corpus:
    """Pairs, and where they come from.

    Files are read in chunks, of which only one is in memory at a time; those of a folder in the order of their names.
    They are parts of their own where their names say so (`train-01.csv`, `fre_dev.tsv`); all else is parted by the
    frozen split.

    Args:
        source: DataFrame with the columns "question" and "answer"; or what `load_pairs` reads; or a folder of such; or
            a name of the catalog, which is downloaded unless it is here.
        question: Name of the column of questions, for `load_pairs`.
        answer: Name of the column of answers, likewise.
        encoding: Encoding of the files.
        validation: The like of `source` to validate with: its part of validation, if it has parts of its own. All of
            `source` is for training then, but for what its names say is test.

    Attributes:
        source: The keys of `config.toml` that say where the corpus is, a dictionary.
        licence: That of a corpus of the catalog; None of others, which do not say.
        has_validation: Whether it brings its own validation.

    Raises:
        InputError: If there is no such file, or the parts cannot be told.
    """

    def __init__(self, source, question=None, answer=None, encoding="utf-8", validation=None):
        reading = {"question": question, "answer": answer, "encoding": encoding}
        self.source = {"corpus": paths_of(source), "validation": paths_of(validation), **reading}
        self.licence = licence_of(self.source["corpus"])
        self._files = files_of(source, reading)
        if validation is not None:
            held_out = files_of(validation, reading)
            own = any(name == "validation" for name, _ in held_out)
            self._files = [("test" if name == "test" else "train", read) for name, read in self._files]
            self._files += [("validation", read) for name, read in held_out if not own or name == "validation"]
        self.has_validation = any(name == "validation" for name, _ in self._files)

    @classmethod
    def found_at(cls, source):
        """The corpus that another one's `source` says."""
        rest = {key: source.get(key) for key in ("question", "answer", "validation")}
        return cls(source["corpus"], **rest, encoding=source.get("encoding") or "utf-8")

    def survey(self, turns=1, hold_out=True):
        """Reads the whole corpus, with a `CorpusWarning` of what cannot be used.

        Args:
            turns: Turns of a conversation that a question holds at most.
            hold_out: Whether a corpus without its own validation is split; otherwise all that is not test is for
                training, and once more for validation.

        Returns:
            Its `Survey`.

        Raises:
            InputError: If a file cannot be read.
            CorpusTooSmall: If no pair is left to train or to validate with.
        """
        digest, sizes, sample, total = hashlib.sha256(), dict.fromkeys(PARTS, 0), Sample(), 0
        for name, pairs in self._read(turns):
            add_to_fingerprint(digest, name, pairs)
            total += len(pairs)
            for part, rows in self._parted(name, pairs, hold_out).items():
                sizes[part] += len(rows)
                if part == "train":
                    sample.add(rows)
        check_sizes(sizes)
        return Survey(digest.hexdigest(), sizes, total, sample.pairs)

    def fingerprint(self, turns=1):
        """That of its `Survey`, also of a corpus that is not there to train on; it reads and warns like `survey`."""
        digest = hashlib.sha256()
        for name, pairs in self._read(turns):
            add_to_fingerprint(digest, name, pairs)
        return digest.hexdigest()

    def parts(self, turns=1, hold_out=True):
        """Yields for each chunk a dictionary from the parts to their pairs, a DataFrame; arguments as in `survey`."""
        chunks = self._read(turns)
        while True:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CorpusWarning)  # The survey has said it.
                name, pairs = next(chunks, (None, None))
            if pairs is None:
                return
            yield self._parted(name, pairs, hold_out)

    def _read(self, turns):
        return ((name, pairs) for name, read in self._files for pairs in read(turns=turns))

    def _parted(self, name, pairs, hold_out):
        if name in (None, "train") and not self.has_validation and not hold_out:
            return {"train": pairs, "validation": pairs}
        if name is None:
            return split_pairs(pairs)
        if name == "train" and not self.has_validation:
            parts = split_pairs(pairs)
            return {"train": pandas.concat([parts["train"], parts["test"]]), "validation": parts["validation"]}
        return {name: pairs}


class Sample:
    """Pairs drawn evenly from all that are added, the same at every reading; all of them while they are few."""

    def __init__(self):
        self._random, self._drawn = np.random.default_rng(0), None

    def add(self, pairs):
        """Takes notice of more pairs."""
        pairs = pairs[["question", "answer"]].assign(lot=self._random.random(len(pairs)))
        drawn = pairs if self._drawn is None else pandas.concat([self._drawn, pairs])
        self._drawn = drawn if len(drawn) <= SAMPLE else drawn.nsmallest(SAMPLE, "lot")

    @property
    def pairs(self):
        """Those drawn, a DataFrame."""
        return self._drawn.drop(columns="lot")


def files_of(source, reading):
    """The files of a corpus: for each the part that it is, or None, and a function that yields its chunks."""
    if hasattr(source, "columns"):
        return [(None, lambda turns: [check_pairs(source)])]
    [path, *others] = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    if not others and not os.path.exists(path) and not os.path.splitext(path)[1]:
        return named_files(path)
    if others or not os.path.isdir(path):
        return [(None, functools.partial(read_chunks, source, **reading))]
    files = sorted(file for file in pathlib.Path(path).iterdir() if file.suffix.lower() in ENDINGS)
    if not files:
        raise InputError(f"{path}: a folder without a corpus file, whose name ends in one of {', '.join(ENDINGS)}")
    names = [part_of(file) for file in files]
    if None in names and set(names) != {None}:
        raise InputError(
            f"{files[names.index(None)]}: its name says no part (train, validation, test), as others in the folder do"
        )
    return [(name, functools.partial(read_chunks, file, **reading)) for name, file in zip(names, files)]


def named_files(name):
    """The like of `files_of` for a corpus of the catalog, which is downloaded unless it is here."""
    try:
        corpus = find_corpus(name)
    except InputError as error:
        raise InputError(f"{name}: no such file; and {error}") from error
    download_corpus(name)
    return [(part, functools.partial(named_chunks, name, part)) for part in corpus.parts]


def named_chunks(name, part, turns):
    """Yields the pairs of a part of a corpus of the catalog, as `read_chunks` does those of a file."""
    pairs, first = corpus_pairs(name, part), 1
    while chunk := list(itertools.islice(pairs, CHUNK)):
        rows = pandas.RangeIndex(first, first + len(chunk))
        yield pandas.DataFrame(chunk, columns=["question", "answer"]).assign(file=name, row=rows)
        first += len(chunk)


def part_of(file):
    """The part that a file's name says it is, or None."""
    words = re.split(r"[\W\d_]+", file.stem.lower())
    return next((PART_NAMES[word] for word in words if word in PART_NAMES), None)


def paths_of(source):
    """Where a corpus is, a list of paths; None if it was made in memory."""
    if source is None or hasattr(source, "columns"):
        return None
    return [os.fspath(path) for path in ([source] if isinstance(source, (str, os.PathLike)) else source)]


def licence_of(paths):
    """The licence of a corpus of the catalog that is meant by `paths`; None for others."""
    [path, *others] = paths or [None]
    return find_corpus(path).licence if path and not others and is_corpus(path) else None


def add_to_fingerprint(digest, name, pairs):
    """Adds a chunk to a checksum."""
    digest.update((name or "").encode())
    openings = pairs["opening"] if "opening" in pairs else pairs["question"]
    for question, answer, opening in zip(pairs["question"], pairs["answer"], openings, strict=True):
        # With the lengths before them, text that moves from a question to its answer changes the sum.
        text = f"{len(question)}:{question}{len(answer)}:{answer}" + ("" if opening == question else opening)
        digest.update(text.encode("utf-8", "surrogatepass"))


def check_sizes(sizes):
    """Raises `CorpusTooSmall` if a part of the training has nothing."""
    for name in ("train", "validation"):
        if not sizes[name]:
            raise CorpusTooSmall(
                f"the corpus is too small: of its {sum(sizes.values())} pairs the split gives none to {name}; "
                "about 100 different questions are needed at least; --no-hold-out trains on all of them"
            )
