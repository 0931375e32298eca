"""Parallel text: line i of one file answers line i of the other. Two files, or a ZIP file as OPUS has them."""

import io
import itertools
import os
import re
import zipfile

from keras_transformer.data.columns import find_columns
from keras_transformer.data.text_files import GZIP, UNREADABLE, UTF_8, bounded, codec_of, read_lines, unreadable
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _

LANGUAGES = re.compile(r"(.*\.([A-Za-z_]+)-([A-Za-z_]+))\.\2")
"""The name of the first of two files in a ZIP file of OPUS, such as `OpenSubtitles.ko-en.ko`."""


def parallel_rows(paths, encoding):
    """Yields the pairs of two parallel files, as `read_rows` does."""
    return matched_rows(paths, [read_lines(path, encoding) for path in paths])


def language_of(path):
    """Returns what a file's name ends in, such as "en" for `train.en` and `train.en.gz`, and the path before it."""
    path = os.fspath(path).removesuffix(GZIP)
    stem, ending = os.path.splitext(path)
    return ending.removeprefix("."), stem


def in_direction(paths, names):
    """Returns two parallel files in the order of the languages `names` that they end in, or raises `InputError`."""
    by_language = {language_of(path)[0]: path for path in paths}
    if by_language.keys() != set(names):
        raise InputError(
            _(
                "--question and --answer name columns, but two parallel text files have no columns; of files such as "
                "train.en and train.de, they may name the languages"
            )
        )
    return [by_language[name] for name in names]


def matched_rows(names, lines):
    """Yields the pairs of two iterators of lines; raises `InputError`, with their names, if one has more lines."""
    lines = itertools.zip_longest(*lines)
    for row, (question, answer) in enumerate(lines, 1):
        if question is None or answer is None:
            longer = row + sum(1 for _ in lines)
            counts = [row - 1 if text is None else longer for text in (question, answer)]
            raise InputError(
                _(
                    "{first} has {first_lines} lines and {second} has {second_lines}: "
                    "line i of the first must be answered by line i of the second",
                    first=names[0],
                    first_lines=counts[0],
                    second=names[1],
                    second_lines=counts[1],
                )
            )
        if not (question.isspace() and answer.isspace()):
            yield row, question, answer, None


def zip_rows(path, names, encoding):
    """Yields the pairs of the parallel files in a ZIP file, as `read_rows` does.

    Args:
        path: The ZIP file.
        names: The languages of questions and answers; None for those that the names of the files have, in their order.
        encoding: Encoding of the files; None for UTF-8, which OPUS has.
    """
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, *UNREADABLE) as error:
        raise unreadable(path, error) from None
    with archive:
        files = parallel_files(path, archive.namelist(), names)
        yield from matched_rows(files, [zipped_lines(path, archive, file, encoding) for file in files])


def parallel_files(path, files, names):
    """Returns the names of the two parallel files among those in a ZIP file; raises `InputError` if there are none."""
    for file in files:
        if (match := LANGUAGES.fullmatch(file)) and f"{match[1]}.{match[3]}" in files:
            languages = match[2], match[3]
            columns = find_columns(path, languages, names) if names else (0, 1)
            return [f"{match[1]}.{languages[column]}" for column in columns]
    raise InputError(
        _("{path}: no parallel text in it, two files such as NAME.ko-en.ko and NAME.ko-en.en of OPUS", path=path)
    )


def zipped_lines(path, archive, file, encoding):
    """Yields the lines of a file in a ZIP file, like `read_lines`."""
    name, codec = f"{path}: {file}", codec_of(encoding or UTF_8)
    try:
        packed = archive.getinfo(file).compress_size
        with io.TextIOWrapper(bounded(archive.open(file), packed), codec, newline="") as lines:
            yield from lines
    except UnicodeDecodeError:
        raise InputError(
            _("{path} is not {encoding}: give its encoding with --encoding", path=name, encoding=encoding or UTF_8)
        ) from None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, *UNREADABLE) as error:
        raise unreadable(name, error) from None
