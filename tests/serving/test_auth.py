import pytest

from keras_transformer import InputError
from keras_transformer.serving.auth import VARIABLE, KeyCheck, read_key
from keras_transformer.serving.limits import RequestRejected


def test_the_key_is_that_of_the_file_or_else_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert read_key() is None
    monkeypatch.setenv(VARIABLE, "from-outside")
    assert read_key() == "from-outside"
    (tmp_path / "key").write_text("  from-a-file\n")
    assert read_key(tmp_path / "key") == "from-a-file"


@pytest.mark.parametrize("text", ["", " \n", "two words", "two\nlines", "열쇠"])
def test_a_file_without_a_key_is_an_error(tmp_path, text):
    (tmp_path / "key").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="key: an API key is one line of letters, digits and signs"):
        read_key(tmp_path / "key")


def test_an_empty_variable_is_an_error_and_no_open_door(monkeypatch):
    monkeypatch.setenv(VARIABLE, "")
    with pytest.raises(InputError, match=VARIABLE):
        read_key()


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(InputError, match="no-key: No such file"):
        read_key(tmp_path / "no-key")
    (tmp_path / "key").write_bytes(b"\xff")
    with pytest.raises(InputError, match="not UTF-8"):
        read_key(tmp_path / "key")


@pytest.mark.parametrize(
    "shown", [None, b"", b"secret", b"Bearer", b"Bearer ", b"Bearer wrong", b"Bearer secret2", b"Bearer \xff"]
)
def test_only_the_key_itself_opens(shown):
    check = KeyCheck("secret")
    check.check(b"Bearer secret")
    with pytest.raises(RequestRejected) as refusal:
        check.check(shown)
    assert refusal.value.status == 401
    assert refusal.value.headers == {"WWW-Authenticate": "Bearer"}
