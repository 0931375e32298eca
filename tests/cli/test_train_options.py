import pandas as pd
import pytest

from keras_transformer import Config
from keras_transformer.cli.main import main, parser
from keras_transformer.cli.train_options import BY_CORPUS, MAIN_SETTINGS
from keras_transformer.config import FIELDS
from keras_transformer.data.quality.recommendation import recommend


def shown(capsys, option):
    with pytest.raises(SystemExit) as end:
        main(["train", option])
    assert end.value.code == 0
    return " ".join(capsys.readouterr().out.split())


def test_help_is_what_most_users_need_and_help_all_is_everything(capsys):
    short, everything = shown(capsys, "--help"), shown(capsys, "--help-all")
    needed = ("CORPUS", "--run", "--question", "--answer", "--preset", "--epochs", "--validation", "--from")
    for option in (*needed, "--no-grow-vocabulary"):
        assert f" {option} " in short and f" {option} " in everything
    for option in ("--help-all", "Example:"):
        assert option in short
    for name in FIELDS.keys() - {*MAIN_SETTINGS}:
        option = f"--{name.replace('_', '-')}"
        assert f" {option}" in everything and f" {option}" not in short


def test_every_setting_shows_its_default(capsys):
    text = shown(capsys, "--help-all")
    for part in (
        "(P_drop, section 5.4) (default: by corpus; small: 0.1)",
        "before early stopping; 0 to disable (default: by corpus; small: 3)",
        "answers are recomposed (default: no)",
        "the order of the pairs (default: 0)",
    ):
        assert part in text
    assert text.count("(default: by corpus") == len(BY_CORPUS)


def words(number, length):
    """Different words of letters."""
    return [
        "".join(chr(97 + (number // 26**place + place) % 26) for place in range(length)) for number in range(number)
    ]


SAMPLES = {
    "few pairs": (pd.DataFrame({"question": words(40, 5), "answer": words(40, 9)}), 40),
    "chat": (
        pd.DataFrame({"question": [f"{one} 질문" for one in words(2000, 4)], "answer": ["네", "아니요"] * 1000}),
        2000,
    ),
    "words": (pd.DataFrame({"question": words(300, 5), "answer": words(300, 6)}), 300),
    "translation": (
        pd.DataFrame(
            {
                "question": [" ".join([one] * (1 + number % 9)) for number, one in enumerate(words(1200, 4))],
                "answer": [" ".join([one] * (1 + number % 9)) for number, one in enumerate(words(1200, 5))],
            }
        ),
        20_000_000,
    ),
}  # Sample, number of pairs.


def test_the_settings_chosen_by_the_corpus_are_those_that_the_recommendation_changes():
    changed, small = set(), Config().to_dict()
    for sample, pairs in SAMPLES.values():
        config = recommend(sample, pairs).config.to_dict()
        changed |= {name for name in FIELDS if config[name] != small[name]}
    assert changed == set(BY_CORPUS)


def test_no_option_has_a_default_so_that_a_file_can_give_it():
    options = vars(parser().parse_args(["train"]))
    given = {name: value for name, value in options.items() if value not in (None, [])}
    assert given.keys() == {"command", "model_devices", "parser"}
