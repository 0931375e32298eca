import itertools
import struct
import sys

import pyarrow
import pyarrow.parquet
import pytest

from keras_transformer import InputError
from keras_transformer.data.readers import read_rows
from keras_transformer.data.records import json_records


def test_a_line_of_json_is_read_when_it_is_asked_for():
    seen = []
    records = json_records(endless(seen))
    assert list(itertools.islice(records, 2)) == [(1, {"Q": "안녕?"}, None), (2, None, "not a JSON object")]
    assert len(seen) == 2


def endless(seen):
    """A line of JSON, then a number for ever; `seen` grows with every line taken."""
    for line in itertools.chain(['{"Q": "안녕?"}\n'], itertools.repeat("3\n")):
        seen.append(line)
        yield line


def parquet(path, **columns):
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


def arrow(path, new=pyarrow.ipc.new_stream, **columns):
    table = pyarrow.table(columns)
    with pyarrow.OSFile(str(path), "wb") as file, new(file, table.schema) as writer:
        writer.write_table(table)
    return path


def pairs(*arguments, **options):
    return [row[:4] for row in read_rows(*arguments, **options)]


@pytest.mark.parametrize("write", [parquet, arrow])
def test_pairs_of_columns(tmp_path, write):
    path = write(
        tmp_path / f"a.{write.__name__}", id=[1, 2, 3, 4], 질문=["안녕?", " ", "몇?", "b"], 답변=["네", "x", "3", None],
        embedding=[[0.5], [0.5], [0.5], [0.5]], image=[b"\xff", b"\xff", b"\xff", b"\xff"],
    )  # fmt: skip
    found = [(1, "안녕?", "네", None), (2, "", "x", "no question"), (3, "몇?", "3", None), (4, "b", "", "no answer")]
    assert pairs(path) == found
    assert pairs(path, "답변", "질문")[0] == (1, "네", "안녕?", None)


@pytest.mark.parametrize("write", [parquet, arrow])
def test_rows_are_counted_over_batches(tmp_path, monkeypatch, write):
    monkeypatch.setattr("keras_transformer.data.records.BATCH", 2)
    path = write(tmp_path / f"a.{write.__name__}", q=list("abcde"), a=list("vwxyz"))
    assert [row[:3] for row in pairs(path)] == list(zip(range(1, 6), "abcde", "vwxyz"))


def test_two_columns_of_one_name(tmp_path):
    table = pyarrow.table([["a"], ["b"], ["c"]], names=["q", "a", "a"])
    with pyarrow.OSFile(str(tmp_path / "a.arrow"), "wb") as file, pyarrow.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(InputError, match=r"a\.arrow: cannot be read: 'Field \"a\" exists 2 times in schema'"):
        pairs(tmp_path / "a.arrow")


def test_texts_that_lie_beyond_an_arrow_file_are_not_read(tmp_path):
    path = arrow(tmp_path / "a.arrow", q=["12345678"], a=["b"])
    before, _offsets, text = path.read_bytes().rpartition(struct.pack("<2i", 0, 8))
    path.write_bytes(before + struct.pack("<2i", 0, 1_000_000) + text)
    with pytest.raises(InputError, match=r"a\.arrow: cannot be read: .*offset"):
        pairs(path)


def test_an_arrow_file_with_an_index(tmp_path):
    path = arrow(tmp_path / "a.arrow", pyarrow.ipc.new_file, q=["a"], a=["b"])
    assert pairs(path) == [(1, "a", "b", None)]


@pytest.mark.parametrize(
    ("columns", "turns", "found"),
    [
        ({"dialog": [["a", "b", "c"]]}, 2, [(1, "a", "b", None), (1, "a\nb", "c", None)]),
        (
            {"messages": [[{"role": "system", "content": "x"}, {"role": "user", "content": "a"}],
                          [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]]},
            1, [(1, None, None, "fewer than two turns"), (2, "a", "b", None)],
        ),
    ],
)  # fmt: skip
def test_conversations(tmp_path, columns, turns, found):
    assert pairs(parquet(tmp_path / "a.parquet", **columns), turns=turns) == found


def test_translations(tmp_path):
    texts = [{"en": "hi", "fr": "salut", "ko": "안녕"}, {"en": "bye", "fr": None, "ko": "잘 가"}]
    path = parquet(tmp_path / "a.parquet", id=["1", "2"], translation=texts)
    assert pairs(path) == [(1, "hi", "salut", None), (2, "bye", "", "no answer")]
    assert pairs(path, "ko", "en") == [(1, "안녕", "hi", None), (2, "잘 가", "bye", None)]
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"translation": {"en": "hi", "fr": "salut"}}\n')
    assert pairs(lines) == [(1, "hi", "salut", None)]


def test_a_translation_that_is_a_text_is_an_answer(tmp_path):
    path = parquet(tmp_path / "a.parquet", source=["hi"], translation=["salut"])
    assert pairs(path) == [(1, "hi", "salut", None)]


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_what_cannot_be_read(tmp_path, name):
    write = {"a.parquet": parquet, "a.arrow": arrow}[name]
    with pytest.raises(InputError, match=f"{name}: no such file"):
        pairs(tmp_path / name)
    with pytest.raises(InputError, match=f"{name}: no known question or answer column among text, label; name the"):
        pairs(write(tmp_path / name, text=["x"], label=[1]))
    whole = write(tmp_path / name, q=["a"] * 999, a=["b"] * 999).read_bytes()
    for data in (b"", b"no such file", whole[: len(whole) // 2]):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError, match=f"{name}: cannot be read: .+"):
            pairs(tmp_path / name)


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    path = parquet(tmp_path / "a.parquet", q=["a"], a=["b"])
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(InputError, match=r"^reading Parquet and Arrow files needs the package pyarrow.*\[parquet\]'$"):
        pairs(path)


def json_file(tmp_path, text, name="a.json"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        '[{"question": "안녕", "answer": "네"},\n {"question": "hi", "answer": "Hello"}]',
        '{"version": 1, "notes": ["x"], "data": [{"Q": "안녕", "A": "네"}, {"Q": "hi", "A": "Hello"}]}',
        '[{"messages": [{"role": "user", "content": "안녕"}, {"role": "assistant", "content": "네"}]},'
        '{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello"}]}]',
    ],
    ids=["list", "in a field", "conversations"],
)
def test_a_json_file(tmp_path, text):
    assert pairs(json_file(tmp_path, text)) == [(1, "안녕", "네", None), (2, "hi", "Hello", None)]


def test_lines_of_json_in_a_file_that_is_named_json(tmp_path):
    text = '\n{"Q": "안녕", "A": "네"}\n\n{"Q": "hi", "A": "Hello"}\n'
    assert pairs(json_file(tmp_path, text)) == [(2, "안녕", "네", None), (4, "hi", "Hello", None)]


def test_intents_have_several_phrasings_and_answers_in_turn(tmp_path):
    intents = """{"intents": [
      {"tag": "greeting", "patterns": ["안녕", "안녕하세요", "hi"], "responses": ["네!", "어서 오세요."]},
      {"tag": "fallback", "patterns": [], "responses": ["다시 말씀해 주세요."]},
      {"tag": "hours", "patterns": ["언제 열어요?"], "responses": []},
      {"tag": "bye", "patterns": "bye", "responses": "See you!"}
    ]}"""
    rows = list(read_rows(json_file(tmp_path, intents)))
    assert [(row, question, answer) for row, question, answer, problem, _opening in rows if not problem] == [
        (1, "안녕", "네!"), (1, "안녕하세요", "어서 오세요."), (1, "hi", "네!"), (4, "bye", "See you!"),
    ]  # fmt: skip
    assert [(row[0], str(row[3])) for row in rows if row[3]] == [(2, "no question"), (3, "no answer")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"Q": "a", "A": "b"},\n{"Q": "c" "A": "d"}]', r"a\.json: line 2: not JSON$"),
        ("", r"a\.json: line 1: not JSON$"),
        ('{"Q": "a", "A": "b"}', r'a\.json: not a list of objects, such as \[\{"question": "…", "answer": "…"\}, …\]'),
        ('[["a", "b"]]', r"a\.json: not a list of objects"),
        ('{"train": [{"Q": "a", "A": "b"}], "test": [{"Q": "c", "A": "d"}]}', r"a\.json: not a list of objects"),
        ('[{"title": "a", "paragraphs": []}]', r"a\.json: no known question or answer column among title, paragraphs"),
        ("[" * 100_000, r"a\.json: line 1: not JSON$"),
    ],
    ids=["comma", "empty", "one object", "lists", "two lists", "others", "deep"],
)  # fmt: skip
def test_json_without_pairs(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        pairs(json_file(tmp_path, text))


def test_what_is_no_object_in_a_list_is_left_out(tmp_path):
    rows = list(read_rows(json_file(tmp_path, '[{"Q": "a", "A": "b"}, 3]')))
    assert [(row[0], row[3] and str(row[3])) for row in rows] == [(1, None), (2, "not a JSON object")]
