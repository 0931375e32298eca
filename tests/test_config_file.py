import pytest

from keras_transformer import Config, InputError
from keras_transformer.config_file import config_file_text, read_config_file


def read(tmp_path, text):
    path = tmp_path / "설정.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_config_file(path)


def test_settings_and_the_rest_are_told_apart(tmp_path):
    text = """
        # 챗봇
        preset = "small"
        corpus = "대화 말뭉치.csv"
        dropout = 0.2
        tie_embeddings = true
    """
    assert read(tmp_path, text) == (
        {"dropout": 0.2, "tie_embeddings": True},
        {"preset": "small", "corpus": ["대화 말뭉치.csv"]},
    )


@pytest.mark.parametrize(
    "name", ["말뭉치/질문 1.txt", r"C:\\new\"q\".csv", "tab\there\nline", "del\x7f, ∑ and 😀", "\x1f"]
)
def test_what_is_written_is_read_back(tmp_path, name):
    settings = Config(learning_rate=1e-12, clip_norm=1.0, tie_embeddings=True).to_dict()
    rest = {"corpus": [name, "둘.txt"], "question": name, "encoding": "cp949"}
    text = config_file_text(settings, {**rest, "answer": None})
    assert read(tmp_path, text) == (settings, rest)
    assert text.startswith("# Configuration of this run.")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epochs = 3\nepochs 4\n", r"설정\.toml: not TOML: .*line 2"),
        ("epochs = 3\nepochs = 4\n", r"설정\.toml: not TOML: .*line 2"),
        ("epoch = 3", "설정.toml: unknown key 'epoch'; there are accumulate, .*epochs"),
        ('epochs = "3"', "설정.toml: epochs must be a whole number of at least 1, not '3'"),
        ("epochs = 3.0", "설정.toml: epochs must be a whole number of at least 1, not 3.0"),
        ("dropout = nan", "설정.toml: dropout must be a number of at least 0, not nan"),
        ('tie_embeddings = "yes"', "설정.toml: tie_embeddings must be true or false, not 'yes'"),
        ('schedule = "linear"', "설정.toml: schedule must be one of paper"),
        ("corpus = []", "설정.toml: corpus must be a path or a list of paths"),
        ("corpus = [1]", "설정.toml: corpus must be a path or a list of paths"),
        ("run = 1", "설정.toml: run must be text in quotes, not 1"),
        ('preset = "huge"', "설정.toml: no preset named 'huge'"),
        ("[training]\nepochs = 3", "설정.toml: unknown key 'training'"),
        ("# 한글".encode("cp949"), "설정.toml: not UTF-8"),
        ("epochs = 1" + "0" * 5000, r"설정\.toml: not TOML: Exceeds the limit"),
        ("epochs = 1" + "0" * 400, r"설정\.toml: epochs: the number has more than 64 bits"),
        ("seed = 0x" + "f" * 5000, r"설정\.toml: seed: the number has more than 64 bits"),
        ("corpus = [0x" + "f" * 5000 + "]", r"설정\.toml: Exceeds the limit"),
        ("epochs = " + "[" * 100_000, r"설정\.toml: not TOML: maximum recursion depth exceeded"),
        ("a" + ".a" * 20_000 + " = 1", r"설정\.toml: not TOML: a key has more than 64 parts"),
        ("[a" + " . a" * 20_000 + "]", r"설정\.toml: not TOML: a key has more than 64 parts"),
    ],
)
def test_what_cannot_be_used_is_one_line_with_file_and_place(tmp_path, text, message):
    with pytest.raises(InputError, match=message) as error:
        read(tmp_path, text)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.toml: cannot be read: No such file"):
        read_config_file(tmp_path / "none.toml")


def test_a_path_that_no_file_can_have_is_named():
    with pytest.raises(InputError, match="a\0b: cannot be read: embedded null byte"):
        read_config_file("a\0b")


def test_a_long_list_of_dotted_paths_is_no_dotted_key(tmp_path):
    paths = [f"data.v{number}/part.{number}.csv" for number in range(500)]
    for separator in (",", ", ", ",\n"):
        text = f"corpus = [{separator.join(map(repr, paths))}]"
        assert read(tmp_path, text) == ({}, {"corpus": paths})
