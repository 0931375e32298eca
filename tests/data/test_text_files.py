import gzip

import pytest

from keras_transformer import InputError
from keras_transformer.data.readers import read_rows
from keras_transformer.data.text_files import encoding_of, read_lines


def packed(path, data):
    path.write_bytes(gzip.compress(data))
    return path


def test_a_file_is_closed_where_reading_stops(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a\nb\n")
    lines = read_lines(path)
    assert next(lines) == "a\n"
    lines.close()
    path.unlink()  # Warnings are errors here: a file left open would be one.


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv.gz", "Q,A\n안녕,네\n"),
        ("a.TSV.gz", "Q\tA\n안녕\t네\n"),
        ("a.txt.gz", "\n안녕\t네\n"),
        ("a.jsonl.gz", '\n{"Q": "안녕", "A": "네"}\n'),
    ],
)
def test_compressed_text(tmp_path, name, text):
    assert list(read_rows(packed(tmp_path / name, text.encode()))) == [(2, "안녕", "네", None, "안녕")]


def test_compressed_parallel_text_in_another_encoding(tmp_path):
    paths = [packed(tmp_path / f"a.{name}.gz", text.encode("cp949")) for name, text in (("q", "안녕\n"), ("a", "네\n"))]
    assert list(read_rows(paths, encoding="cp949")) == [(1, "안녕", "네", None, "안녕")]
    assert list(read_rows(paths)) == [(1, "안녕", "네", None, "안녕")]
    with pytest.raises(InputError, match=r"a\.q\.gz: line 1 is not UTF-8; the file is cp949"):
        list(read_rows(paths, encoding="utf-8"))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (gzip.compress(b"Q,A\nhi,hello\n")[:-9], "Compressed file ended before the end-of-stream marker was reached"),
        (b"Q,A\nhi,hello\n", "Not a gzipped file"),
        (gzip.compress(b"a" * 110_000_000), "unpacked, it is more than 200 times as large"),
    ],
    ids=["cut", "not compressed", "bomb"],
)
def test_compressed_text_that_cannot_be_read(tmp_path, data, reason):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(data)
    with pytest.raises(InputError, match=rf"a\.csv\.gz: cannot be read: {reason}"):
        list(read_rows(path))


def test_a_damaged_compressed_file_in_another_encoding(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress("Q,A\n안녕,네\n".encode("cp949") * 50_000)[:-9])
    with pytest.raises(InputError, match=r"a\.csv\.gz: cannot be read: Compressed file ended"):
        list(read_rows(path))


def test_text_that_packs_as_text_does_may_be_of_any_size(tmp_path, monkeypatch):
    monkeypatch.setattr("keras_transformer.data.text_files.ALWAYS_UNPACKED", 10)
    assert len(list(read_lines(packed(tmp_path / "a.txt.gz", b"hello\n" * 20)))) == 20


KOREAN = "질문,답변\n안녕?,반가워요.\n"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (KOREAN.encode("cp949"), "cp949"),
        (KOREAN.encode("euc-kr"), "cp949"),
        ("Q,A\n안녕?,“뷁” · 漢字\n".encode("cp949"), "cp949"),
        ("Q,A\n환호,전화가 왔어요\n".encode("cp949"), "cp949"),  # 환호 happens to be valid UTF-8.
        (KOREAN.encode("utf-16"), "utf-16"),
        (KOREAN.encode("utf-16-be").join([b"\xfe\xff", b""]), "utf-16"),
        (KOREAN.encode(), "utf-8"),
        (KOREAN.encode("utf-8-sig"), "utf-8"),
        (b"Q,A\nhi,hello\n", "utf-8"),
        (b"", "utf-8"),
        (KOREAN.encode() + "안녕,네\n".encode("cp949"), "utf-8"),
        ("Q,A\n제가 é라고 했나요,네\n".encode() + b"a,\xb0\xa1\n", "utf-8"),
        ("é,é\nü,ü\n".encode() + b"a,\xb0\xa1\n", "utf-8"),
        (KOREAN.encode("cp949") + b"a,\xff\n", "utf-8"),
        (KOREAN.encode("cp949")[:-3], "utf-8"),
        ("Q,A\nI don’t,“Don’t”\n".encode("cp1252"), "utf-8"),
        ("Q,A\nÄrger,schön\n".encode("latin-1"), "utf-8"),
        ("Q,A\nこんにちは,はい\n".encode("shift-jis"), "utf-8"),
    ],
    ids=[
        "cp949", "euc-kr", "signs", "chance", "utf-16", "utf-16-be", "utf-8", "marked", "ascii", "empty",
        "damaged", "damaged as cp949 would be", "damaged with Hangul", "damaged cp949", "cut cp949", "English",
        "German", "Japanese",
    ],
)  # fmt: skip
def test_the_encoding_is_found(tmp_path, data, encoding):
    (tmp_path / "a.csv").write_bytes(data)
    assert encoding_of(tmp_path / "a.csv") == encoding
    assert encoding_of(packed(tmp_path / "a.csv.gz", data)) == encoding


def test_the_encoding_is_found_behind_the_first_block(tmp_path, monkeypatch):
    monkeypatch.setattr("keras_transformer.data.text_files.BLOCK", 3)
    (tmp_path / "a.csv").write_bytes(("hello,hi\n" + KOREAN).encode("cp949"))
    assert list(read_lines(tmp_path / "a.csv")) == ["hello,hi\n", "질문,답변\n", "안녕?,반가워요.\n"]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
@pytest.mark.parametrize("encoding", ["utf-99", "hex"])
def test_an_unknown_encoding_leaves_no_file_open(tmp_path, name, encoding):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match=f"no text encoding is named '{encoding}'"):
        list(read_lines(tmp_path / name, encoding))
