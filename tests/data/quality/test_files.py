"""How a corpus file is written."""

import pytest

from keras_transformer.data.quality.files import examine_file, stray_lines
from keras_transformer.data.quality.rows import Rows
from keras_transformer.errors import InputError


def write(folder, data):
    path = folder / "자료.csv"
    path.write_bytes(data)
    return path


def test_line_ends_are_counted(tmp_path):
    path = write(tmp_path, "Q,A\r\n안녕,네\r\nhi,hello\nbye,see\ryou,too".encode())
    file = examine_file(path, "utf-8")
    assert file.line_ends == {"LF": 1, "CRLF": 2, "CR": 1}
    assert (file.path, file.size, file.mark) == (str(path), 41, False)


@pytest.mark.parametrize(("data", "mark"), [(b"\xef\xbb\xbfQ,A\n", True), (b"Q,A\n", False), (b"", False)])
def test_mark(tmp_path, data, mark):
    assert examine_file(write(tmp_path, data), "utf-8").mark is mark


def test_line_ends_of_utf16_are_no_bytes(tmp_path):
    path = write(tmp_path, "Q,A\r\n안녕,네\r\n".encode("utf-16"))
    assert examine_file(path, "utf-16").line_ends == {"CRLF": 2}


def test_wrong_encoding(tmp_path):
    with pytest.raises(InputError, match="line 1 is not UTF-8"):
        examine_file(write(tmp_path, b"\xff\xff\n"), "utf-8")


def test_stray_lines_are_named(tmp_path):
    lines = ["안녕,네".encode()] * 6
    lines[1] = lines[4] = "안녕,네".encode("cp949")
    assert stray_lines(write(tmp_path, b"\n".join(lines))) == Rows(2, (2, 5))


def test_a_file_in_another_encoding_has_no_stray_lines(tmp_path):
    assert stray_lines(write(tmp_path, "hi,hello\n안녕,네\n잘 자,너도\n".encode("cp949"))) == Rows()
