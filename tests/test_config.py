import json

import pytest

from keras_transformer import PRESETS, Config, InputError, preset


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"d_model": 10, "num_heads": 3}, "d_model 10 cannot be split into 3 equal heads"),
        ({"epochs": 0}, "epochs must be a whole number of at least 1, not 0"),
        ({"epochs": 1.5}, "epochs must be a whole number of at least 1, not 1.5"),
        ({"seed": True}, "seed must be a whole number of at least 0, not True"),
        ({"dropout": 1.0}, "dropout must be below 1"),
        ({"dropout": -0.1}, "dropout must be a number of at least 0, not -0.1"),
        ({"dropout": float("nan")}, "dropout must be below 1"),
        ({"seed": 2**32}, "seed must be below 4294967296"),
        ({"max_length": 2}, "max_length must be at least 3"),
        ({"dropout": "much"}, "dropout must be a number of at least 0, not 'much'"),
    ],
)
def test_settings_that_cannot_work_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        Config(**changes)


def test_settings_survive_json():
    config = Config(d_model=64, dropout=0.25)
    assert Config.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_unknown_settings_are_named():
    with pytest.raises(InputError, match="unknown setting d_modle"):
        Config.from_dict({"d_modle": 64})


def test_presets_hold_the_papers_sizes():
    assert set(PRESETS) == {"demo", "tutorial", "base", "big"}
    base, big = preset("base"), preset("big")
    assert (base.num_layers, base.d_model, base.dff, base.num_heads, base.dropout) == (6, 512, 2048, 8, 0.1)
    assert (big.num_layers, big.d_model, big.dff, big.num_heads, big.dropout) == (6, 1024, 4096, 16, 0.3)
    tutorial = preset("tutorial")
    assert (tutorial.num_layers, tutorial.d_model, tutorial.dff, tutorial.num_heads) == (2, 256, 512, 8)


def test_an_unknown_preset_names_those_there_are():
    with pytest.raises(InputError, match="no preset named 'huge'; there are demo, tutorial, base, big"):
        preset("huge")
