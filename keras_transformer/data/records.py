"""Records with named fields: JSON, JSONL, Parquet and Arrow. Each is a pair, a translation or a conversation."""

import itertools
import json
import os

from keras_transformer.data.columns import pair_columns
from keras_transformer.data.conversations import ANSWER, QUESTION, conversation_rows, text_problem, turns_of
from keras_transformer.data.text_files import UNREADABLE, unreadable
from keras_transformer.errors import InputError, import_extra
from keras_transformer.language import Message
from keras_transformer.language import translate as _

TRANSLATION = "translation"  # A field of a text for each language, as datasets of Hugging Face have it.
BATCH = 1000  # Rows of a Parquet or Arrow file that are in memory at a time.


def record_rows(path, records, names, turns):
    """Yields the pairs of records, and their problems, as `read_rows` does.

    Args:
        path: The file, for messages.
        records: Tuples (row, record, problem), as from `json_records`.
        names: Names of the fields of question and answer; None to find them.
        turns: Maximum number of turns in a question.
    """
    keys = None
    for row, record, problem in records:
        if problem:
            yield row, None, None, problem
            continue
        conversation = turns_of(record) if names is None else None
        if conversation or (conversation is not None and keys is None):
            yield from conversation_rows(row, conversation, turns)
            continue
        record, languages = translation_of(record, names)
        if keys is None:
            present = list(record)
            keys = languages or [present[column] for column in pair_columns(path, present, names)]
        for question, answer in phrasings(*(record.get(key) for key in keys)):
            yield row, question or "", answer or "", text_problem(question, QUESTION) or text_problem(answer, ANSWER)


def phrasings(questions, answers):
    """Returns the pairs of a record. Of several answers, each question gets one, in turn.

    Args:
        questions: The question, or a list of phrasings, as intents have them.
        answers: The answer, or a list of answers.
    """
    questions, answers = (texts if isinstance(texts, list) else [texts] for texts in (questions, answers))
    return zip(questions or [None], itertools.cycle(answers or [None]))


def translation_of(record, names):
    """Returns the texts of a translation by language, and the two languages; others are returned with None."""
    texts = record.get(TRANSLATION)
    if not isinstance(texts, dict) or len(texts) < 2 or (names and not set(names) <= texts.keys()):
        return record, None
    return texts, names or list(texts)[:2]


def json_file_records(path, lines):
    """Returns an iterator of (number, object, problem) for the records of a JSON file, which is read whole.

    The file is a list of objects, or an object that has such a list among its fields. Lines with an object each are
    read as JSONL.

    Args:
        path: The file, for messages.
        lines: Its lines.

    Raises:
        InputError: If the file is not JSON, or has no such list.
    """
    lines = list(lines)
    try:
        root = json.loads("".join(lines))
    except (ValueError, RecursionError) as error:
        if is_json_object(next(filter(str.strip, lines), "")):
            return json_records(lines)
        line = getattr(error, "lineno", 1)
        raise InputError(_("{path}: line {line}: not JSON", path=path, line=line)) from None
    fields = root.values() if isinstance(root, dict) else [root]
    lists = [field for field in fields if isinstance(field, list) and any(isinstance(one, dict) for one in field)]
    if len(lists) != 1:
        raise InputError(
            _('{path}: not a list of objects, such as [{{"question": "…", "answer": "…"}}, …], in it', path=path)
        )
    return (
        (number, record, None) if isinstance(record, dict) else (number, None, Message("not a JSON object"))
        for number, record in enumerate(lists[0], 1)
    )


def is_json_object(line):
    """Returns whether a line is a JSON object."""
    return next(json_records([line]), (None, None, None))[1] is not None


def json_records(lines):
    """Yields (row, object, problem) for each line of a JSONL file, like `delimited_records`."""
    for row, line in enumerate(lines, 1):
        if line.isspace():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):  # RecursionError: brackets nested too deep.
            yield row, None, Message("not JSON")
            continue
        if isinstance(record, dict):
            yield row, record, None
        else:
            yield row, None, Message("not a JSON object")


def parquet_records(path):
    """Yields (row, record, None) for each row of a Parquet file, like `json_records`."""
    parquet = import_extra("pyarrow.parquet", "parquet", "reading Parquet and Arrow files")
    return _records(path, parquet_batches(parquet, path))


def parquet_batches(parquet, path):
    """Yields the rows of a Parquet file in batches, without columns that hold no text."""
    with parquet.ParquetFile(path) as file:
        yield from file.iter_batches(BATCH, columns=text_columns(file.schema_arrow))


def arrow_records(path):
    """Yields (row, record, None) for each row of an Arrow file, as `Dataset.save_to_disk` of Hugging Face writes it."""
    arrow = import_extra("pyarrow", "parquet", "reading Parquet and Arrow files")
    return _records(path, arrow_batches(arrow, path))


def arrow_batches(arrow, path):
    """Yields the rows of an Arrow file in batches, without columns that hold no text."""
    with arrow.OSFile(os.fspath(path)) as source:
        try:
            reader = arrow.ipc.open_stream(source)
        except arrow.ArrowInvalid:  # The other format of Arrow files, with an index at the end.
            source.seek(0)
            reader = arrow.ipc.open_file(source)
            reader = map(reader.get_batch, range(reader.num_record_batches))
        for batch in reader:
            batch = batch.select(text_columns(batch.schema))
            batch.validate(full=True)  # A damaged one may point beyond the file.
            yield from (batch.slice(first, BATCH) for first in range(0, len(batch), BATCH))


def text_columns(schema):
    """Returns the names of the columns to read: those of images, sounds and embeddings are large and hold no text."""
    types = {field.name: str(field.type) for field in schema}
    return [name for name, type in types.items() if "binary" not in type and ("string" in type or "<" not in type)]


def _records(path, batches):
    import pyarrow

    row = 0
    try:
        for batch in batches:
            for record in batch.to_pylist():
                row += 1
                yield row, record, None
    except (pyarrow.ArrowException, KeyError, *UNREADABLE) as error:  # KeyError: two columns of one name.
        raise unreadable(path, error) from None
