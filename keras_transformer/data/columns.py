"""The columns of questions and answers, found by their names."""

import difflib
import re

from keras_transformer.errors import InputError
from keras_transformer.language import translatable
from keras_transformer.language import translate as _
from keras_transformer.text.normalize import compose

# Compared without case and spaces; if a header has several of them, the first in this order is used.
QUESTION_NAMES = (
    "question", "questions", "q", "query", "instruction", "input", "inputs", "source", "src", "prompt", "request",
    "utterance", "context", "patterns", "질문", "질의", "물음", "문의", "질문내용", "문의내용", "문제", "발화", "입력",
    "원문", "문의사항", "질문사항", "궁금한점",
)  # fmt: skip
ANSWER_NAMES = (
    "answer", "answers", "a", "reply", "response", "responses", "output", "outputs", "target", "tgt", "completion",
    "translation", "답변", "답", "대답", "응답", "회신", "답변내용", "정답", "출력", "번역", "번역문",
    "안내", "안내문", "안내사항",
)  # fmt: skip

SENTENCE = re.compile(r".*[?!？！…。]|.*[\s가-힣].*\.", re.DOTALL)  # Unlike the name "No."
MOST_NAMED = 10  # Faulty rows, or columns, that a message lists.


def find_columns(path, present, names):
    """Returns the positions of the question and answer columns; None if neither has a known name."""
    present = [compose(name).strip() for name in present]
    if names:
        return [_position(path, present, compose(name).strip()) for name in names]
    lower = ["".join(name.lower().split()) for name in present]
    question, answer = (
        next((lower.index(name) for name in known if name in lower), None) for known in (QUESTION_NAMES, ANSWER_NAMES)
    )
    if question is None and answer is None:
        return None
    if question is None:
        raise unknown_columns(path, present, translatable("question"))
    if answer is None:
        raise unknown_columns(path, present, translatable("answer"))
    return question, answer


def pair_columns(path, present, names):
    """Returns the positions of the question and answer columns; raises `InputError` if they are unknown."""
    columns = find_columns(path, present, names)
    if columns is None:
        raise unknown_columns(path, present, translatable("question or answer"))
    return columns


def _position(path, present, name):
    if name not in present:
        raise InputError(
            _("{path}: no column named {name!r}; there are {names}", path=path, name=name, names=listing(present))
        )
    return present.index(name)


def unknown_columns(path, present, missing):
    """Returns an `InputError` that no column has a known name."""
    return InputError(
        _(
            "{path}: no known {missing} column among {names}; name the columns with --question and --answer",
            path=path,
            missing=_(missing),
            names=listing(present),
        )
    )


def unknown_header(path, row, cells):
    """Returns an `InputError` that the first row probably names columns, by names that are not known."""
    return InputError(
        _(
            "{path}: row {row} looks like a header ({names}): name the columns question and answer in it, or give "
            "their names with --question and --answer; if it is a pair, add a header above it",
            path=path,
            row=row,
            names=listing(cells),
        )
    )


def missing_header(path, row, cells):
    """Returns an `InputError` that the first row of a table is probably data, where a header is needed."""
    return InputError(
        _(
            "{path}: row {row} looks like data and not like a header ({names}): add a header above it, {count} names "
            "with question and answer among them; if it is a header, name the columns with --question and --answer",
            path=path,
            row=row,
            names=listing(cells),
            count=len(cells),
        )
    )


def looks_like_data(cells):
    """Returns whether cells are probably no names: some are numbers and others words, or one is a sentence."""
    cells = [cell.strip() for cell in cells]
    numbers = sum(map(str.isdecimal, cells))
    return 0 < numbers < sum(map(bool, cells)) or any(map(SENTENCE.fullmatch, cells))


def looks_like_a_header(cells):
    """Returns whether two cells, neither of them a known name, are probably names of columns and not a pair."""
    names = (QUESTION_NAMES, ANSWER_NAMES)
    return any(all(map(_resembles_a_name, cells, order)) for order in (names, names[::-1]))


def _resembles_a_name(cell, names):
    """Returns whether a cell is one of the names, misspelled or with another word. A sentence is none.

    Korean words may be joined: 손님질문.
    """
    words = re.split(r"[\s_:]+", compose(cell).lower().strip())
    if len(words) > 2 or cell.strip().endswith((".", "?", "!")):
        return False
    names = [name for name in names if len(name) > 1]
    korean = tuple(name for name in names if not name.isascii())
    return any(word.endswith(korean) or difflib.get_close_matches(word, names, cutoff=0.8) for word in words)


def listing(texts, separator=", "):
    """Returns the first few texts in one line, shortened, and the number of others."""
    shown = [" ".join(text.split()) for text in texts[:MOST_NAMED]]
    shown = [text if len(text) <= 60 else text[:59] + "…" for text in shown]
    if more := len(texts) - len(shown):
        shown.append(_("… and {count} more", count=more))
    return separator.join(shown)
