import pytest

from keras_transformer import InputError
from keras_transformer.data.yaml_files import fields_of, items_of, line_of, read_yaml, scalar_of, top_level_keys


def write(tmp_path, text):
    path = tmp_path / "a.yml"
    path.write_text(text, encoding="utf-8")
    return path


def test_nodes_have_their_text_as_written_and_their_lines(tmp_path):
    root = read_yaml(write(tmp_path, "# 1\na:\n- 042\n- yes\n- 2023-05-01\n- ~\n- 'x'\n- b: c\n"))
    items = items_of(fields_of(root)["a"])
    assert [scalar_of(item) for item in items] == ["042", "yes", "2023-05-01", "~", "x", None]
    assert [line_of(item) for item in items] == [3, 4, 5, 6, 7, 8]
    assert (fields_of(items[0]), items_of(root)) == ({}, [])
    assert read_yaml(write(tmp_path, "# nothing\n")) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a:\n- b: [\n", "line 3: not YAML: expected the node content, but found '<stream end>'"),
        ("a:\n - b\n- c\n", "line 3: not YAML: expected <block end>, but found '-'"),
        ("a:\n\t- b\n", r"line 2: not YAML: found character '\\t' that cannot start any token"),
        ("a:\nb\x07\n", "line 2: not YAML: special characters are not allowed"),
        ("a: 1\n---\nb: 1\n", "line 2: not YAML: but found another document"),
        ("a: &a [x]\nb:\n- *a\n", "line 3: an alias is not read: write out what it stands for"),
        ("a: " + "[" * 5000, "line 1: not YAML: nested too deep"),
    ],
)
def test_what_is_not_yaml(tmp_path, text, message):
    with pytest.raises(InputError, match=rf"a\.yml: {message}$"):
        read_yaml(write(tmp_path, text))


def test_aliases_that_stand_for_more_and_more_are_refused(tmp_path):
    lines = ["a0: &a0 [lol]", *(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 20))]
    with pytest.raises(InputError, match=r"a\.yml: line 2: an alias is not read"):
        read_yaml(write(tmp_path, "\n".join(lines)))


@pytest.mark.parametrize(
    "tag", ["!!python/object/apply:os.system [exit]", "!!python/name:os.system", "!!python/object/new:os.x {}"]
)
def test_tags_name_nothing_that_is_made(tmp_path, tag, monkeypatch):
    monkeypatch.setattr("os.system", lambda command: pytest.fail("ran"))
    assert list(fields_of(read_yaml(write(tmp_path, f"a: {tag}\n")))) == ["a"]


def test_keys_at_the_top_level(tmp_path):
    text = "# x: 1\n\nversion: \"3.1\"\n'nlu':\n- intent: a\n  examples: |\n    - b: c\nresponses : {}\nplain\n"
    assert top_level_keys(write(tmp_path, text)) == {"version", "nlu", "responses"}
