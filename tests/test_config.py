import json

import pytest

from keras_transformer import Config, InputError
from keras_transformer.config import FIELDS


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"d_model": 10, "num_heads": 3}, "d_model 10 cannot be split into 3 equal heads"),
        ({"epochs": 0}, "epochs must be a whole number of at least 1, not 0"),
        ({"epochs": 1.5}, "epochs must be a whole number of at least 1, not 1.5"),
        ({"seed": True}, "seed must be a whole number of at least 0, not True"),
        ({"dropout": 1.0}, "dropout must be below 1"),
        ({"dropout": -0.1}, "dropout must be a number of at least 0, not -0.1"),
        ({"dropout": float("nan")}, "dropout must be a number of at least 0, not nan"),
        ({"seed": 2**32}, "seed must be below 4294967296"),
        ({"max_length": 2}, "max_length must be a whole number of at least 3, not 2"),
        ({"checkpoint_minutes": float("nan")}, "checkpoint_minutes must be a number of at least 0, not nan"),
        ({"dropout": "much"}, "dropout must be a number of at least 0, not 'much'"),
        ({"label_smoothing": 1}, "label_smoothing must be below 1, not 1"),
        ({"learning_rate": 0.0}, "learning_rate must be a number of at least 1e-12, not 0.0"),
        ({"learning_rate": float("inf")}, "learning_rate must be a number of at least 1e-12, not inf"),
        ({"clip_norm": -1.0}, "clip_norm must be a number of at least 0, not -1.0"),
        ({"accumulate": 0}, "accumulate must be a whole number of at least 1, not 0"),
        ({"batch_tokens": 63}, r"batch_tokens must be 0 \(off\) or at least 64, not 63"),
        ({"tie_embeddings": 1}, "tie_embeddings must be true or false, not 1"),
        ({"schedule": "linear"}, "schedule must be one of paper, inverse_sqrt, cosine, constant, not 'linear'"),
        ({"schedule": []}, r"schedule must be one of paper, inverse_sqrt, cosine, constant, not \[\]"),
        ({"monitor": "val_bleu"}, "monitor must be one of loss, perplexity, accuracy, val_loss, .*, not 'val_bleu'"),
    ],
)
def test_settings_that_cannot_work_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        Config(**changes)


def test_settings_survive_json():
    config = Config(d_model=64, dropout=0.25)
    assert Config.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_what_an_earlier_version_did_not_know_has_its_default():
    assert Config.from_dict({"d_model": 64, "seed": 7}) == Config(d_model=64, seed=7)


def test_every_setting_is_documented_where_it_is_defined():
    for name, field in FIELDS.items():
        assert field.metadata["about"].lower()[:40] in Config.__doc__.lower()
        assert f"    {name}: " in Config.__doc__


def test_unknown_settings_are_named():
    with pytest.raises(InputError, match="unknown setting d_modle"):
        Config.from_dict({"d_modle": 64})
