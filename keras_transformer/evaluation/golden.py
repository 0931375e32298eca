"""Golden answers: questions with the answers that a model must keep giving, in a JSONL file."""

import dataclasses
import json
import os

from keras_transformer.errors import InputError, no_such_file
from keras_transformer.language import translatable
from keras_transformer.language import translate as _
from keras_transformer.text.normalize import compose, normalize

BATCH = 64  # Questions per batch.
NOW_FAILS, NOW_PASSES, STILL_FAILS, STILL_PASSES = CHANGES = (
    translatable("now fails"), translatable("now passes"), translatable("still fails"), translatable("still passes"),
)  # fmt: skip
"""The kinds of changes since the last update, the worst first."""
EMPTY = translatable("is empty")


@dataclasses.dataclass(frozen=True)
class GoldenQuestion:
    """A question of a golden file.

    Attributes:
        question: The question.
        answers: The acceptable answers, a tuple.
        last: The answer at the last update; None if there was none.
    """

    question: str
    answers: tuple
    last: str | None = None

    def accepts(self, answer):
        """Returns whether an answer is acceptable: equal to one of `answers`, ignoring white space and composition."""
        return normalize(answer) in map(normalize, self.answers)


@dataclasses.dataclass(frozen=True)
class GoldenResult:
    """The answer of a model to a golden question.

    Attributes:
        golden: The `GoldenQuestion`.
        answer: The model's answer.
    """

    golden: GoldenQuestion
    answer: str

    @property
    def passed(self):
        """Whether the answer is acceptable."""
        return self.golden.accepts(self.answer)

    @property
    def change(self):
        """One of `CHANGES`; None if the answer is the same as at the last update, or there was none."""
        last = self.golden.last
        if last is None or normalize(last) == normalize(self.answer):
            return None
        if self.passed:
            return STILL_PASSES if self.golden.accepts(last) else NOW_PASSES
        return NOW_FAILS if self.golden.accepts(last) else STILL_FAILS


def read_golden(path):
    """Reads a golden file.

    Args:
        path: A JSONL file in UTF-8. Each line is an object with "question", a text, "answers", a list of texts, and
            optionally "last", a text. Blank lines are skipped.

    Returns:
        A list of `GoldenQuestion`.

    Raises:
        InputError: If the file cannot be read, a row is invalid, or there are no questions.
    """
    records = parse(path, read_lines(path))
    if not records:
        raise InputError(
            _('{path}: holds no question. Add a line such as {{"question": "Hello", "answers": ["Hi!"]}}', path=path)
        )
    return [
        GoldenQuestion(record["question"], tuple(record["answers"]), record.get("last"))
        for _, record in records.values()
    ]


def check_golden(answer_function, golden):
    """Asks a model golden questions.

    Args:
        answer_function: A function from a list of questions to a list of answers, texts.
        golden: `GoldenQuestion`s, a list.

    Returns:
        A list of `GoldenResult`, in the same order.
    """
    results = []
    for first in range(0, len(golden), BATCH):
        batch = golden[first : first + BATCH]
        answers = answer_function([one.question for one in batch])
        results += [GoldenResult(one, answer) for one, answer in zip(batch, answers, strict=True)]
    return results


def write_golden(path, results):
    """Writes the answers of a check as "last" into a golden file, atomically; nothing else in the file changes.

    The file is read again first: rows that were edited during the check keep their edits, and questions that were
    removed stay removed.

    Args:
        path: The file.
        results: `GoldenResult`s.

    Raises:
        InputError: If the file cannot be read or written, or a row is invalid.
    """
    lines = read_lines(path)
    records = parse(path, lines)
    for result in results:
        index, record = records.get(key_of(result.golden.question), (None, {}))
        if index is not None and record.get("last") != result.answer:
            lines[index] = line_of({**record, "last": result.answer}, lines[index])
    write_lines(path, lines)


def add_to_golden(path, question, answer):
    """Adds an acceptable answer to a golden file, atomically; creates the question and the file if missing.

    Args:
        path: The file.
        question: The question, a text.
        answer: The answer, a text.

    Returns:
        Whether the file has changed; False if the answer was acceptable already.

    Raises:
        InputError: If a text is empty, the file cannot be read or written, or a row is invalid.
    """
    if fault := text_fault(question):
        raise InputError(_("the question {fault}. Write one.", fault=_(fault)))
    if fault := text_fault(answer):
        raise InputError(_("the answer {fault}. Write one.", fault=_(fault)))
    lines = read_lines(path) if os.path.lexists(path) else []
    records = parse(path, lines)
    index, record = records.get(key_of(question), (None, {"question": question.strip(), "answers": []}))
    if GoldenQuestion(question, tuple(record["answers"])).accepts(answer):
        return False
    record = {**record, "answers": [*record["answers"], answer.strip()]}
    if index is not None:
        lines[index] = line_of(record, lines[index])
    else:
        place = len(lines) - 1 if lines and not lines[-1] else len(lines)  # Insert before the "" after the final LF.
        lines[place:] = [line_of(record, lines[0] if lines else ""), ""]
    write_lines(path, lines)
    return True


def read_lines(path):
    """Reads the lines of a UTF-8 file without their LF; the last is "" if the file ends with an LF."""
    if os.path.isdir(path):
        raise InputError(_("{path}: a folder, not a file. Name a JSONL file.", path=path))
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        raise no_such_file(path) from None
    except (OSError, ValueError) as error:
        raise InputError(
            _("{path}: cannot be read: {reason}", path=path, reason=getattr(error, "strerror", None) or error)
        ) from None
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise InputError(_("{path}, row {row}: not UTF-8. Save the file in UTF-8.", path=path, row=row)) from None
    return data.decode("utf-8-sig").split("\n")  # Not splitlines(): a text may contain U+2028.


def parse(path, lines):
    """Parses the lines of a golden file.

    Args:
        path: The file, for messages.
        lines: Its lines.

    Returns:
        A dictionary, in the order of the file, from the key of each question to the index of its line and its record.

    Raises:
        InputError: If a row is invalid.
    """
    records = {}
    for index, line in enumerate(lines):
        if not line.strip():
            continue
        record, fault = checked_record(line)
        if fault:
            raise InputError(_("{path}, row {number}: {fault}", path=path, number=index + 1, fault=fault))
        key = key_of(record["question"])
        if key in records:
            earlier = records[key][0] + 1
            raise InputError(
                _(
                    "{path}, row {number}: the same question as in row {earlier}. Put all answers into one of them.",
                    path=path,
                    number=index + 1,
                    earlier=earlier,
                )
            )
        records[key] = index, record
    return records


def checked_record(line):
    """Returns the record of a line and None, or None and an error message if the line is invalid."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):  # RecursionError: brackets nested too deep.
        return None, _('not JSON. Write {"question": "…", "answers": ["…"]} in one line.')
    if not isinstance(record, dict):
        return None, _('not a JSON object. Write {"question": "…", "answers": ["…"]}.')
    if "question" not in record:
        return None, _('"question" is missing. Write a text.')
    if "answers" not in record:
        return None, _('"answers" is missing. Write a list of texts.')
    if fault := text_fault(record["question"]):
        return None, _('"question" {fault}. Write a text.', fault=_(fault))
    answers = record["answers"]
    if not isinstance(answers, list) or not answers:
        fault = _("is not a list") if not isinstance(answers, list) else _(EMPTY)
        return None, _('"answers" {fault}. Write a list of texts.', fault=fault)
    for number, answer in enumerate(answers, 1):
        if fault := text_fault(answer):
            return None, _("answer {number} {fault}. Write a text or remove it.", number=number, fault=_(fault))
    if "last" in record and (fault := text_fault(record["last"])) and fault != EMPTY:
        return None, _('"last" {fault}. Remove it.', fault=_(fault))
    return record, None


def text_fault(text):
    """Returns a description of what is wrong with a text; None if it is valid."""
    if not isinstance(text, str):
        return translatable("is not a text")
    if not text.strip():
        return EMPTY
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return translatable("is not valid Unicode: it contains a lone surrogate")
    return None


def key_of(question):
    """Returns the key by which questions are compared. Line breaks count: they separate turns of a conversation."""
    return compose(question.strip())


def line_of(record, like):
    """Returns a record as a line; it ends with CR if the line `like` does."""
    return json.dumps(record, ensure_ascii=False) + ("\r" if like.endswith("\r") else "")


def write_lines(path, lines):
    """Writes lines to a file, atomically; a symbolic link is kept."""
    from keras_transformer.runs.atomic_io import write_atomically

    try:
        write_atomically(os.path.realpath(path), "\n".join(lines).encode("utf-8"))
    except (PermissionError, FileNotFoundError) as error:
        raise InputError(_("{path}: cannot be written: {reason}", path=path, reason=error.strerror)) from error
