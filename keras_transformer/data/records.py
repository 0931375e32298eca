"""Records with named fields: JSONL, Parquet and Arrow. Each is a pair, a translation or a conversation."""

import json
import os

from keras_transformer.data.columns import pair_columns
from keras_transformer.data.conversations import ANSWER, QUESTION, conversation_rows, text_problem, turns_of
from keras_transformer.data.text_files import UNREADABLE, unreadable
from keras_transformer.errors import import_extra
from keras_transformer.language import Message

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
        question, answer = (record.get(key) for key in keys)
        yield row, question or "", answer or "", text_problem(question, QUESTION) or text_problem(answer, ANSWER)


def translation_of(record, names):
    """Returns the texts of a translation by language, and the two languages; others are returned with None."""
    texts = record.get(TRANSLATION)
    if not isinstance(texts, dict) or len(texts) < 2 or (names and not set(names) <= texts.keys()):
        return record, None
    return texts, names or list(texts)[:2]


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
