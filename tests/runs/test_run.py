import json
import shutil

import keras
import numpy as np
import pytest

from keras_transformer import Config, InputError, Run, Tokenizer

CONFIG = Config(vocab_size=400, num_layers=1, d_model=8, num_heads=2, dff=8)


def weights(model):
    return {variable.path: variable for variable in model.weights}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "run"
    run = Run.create(path, CONFIG, Tokenizer.train(["가나다 abc"], CONFIG.vocab_size), {"name": "none"})
    run.save_weights(weights(run.build_model()), {"epoch": 1})
    return path


@pytest.fixture
def path(made, tmp_path):
    """A copy of a run that a test may damage; without checksums, as runs of earlier versions are."""
    shutil.copytree(made, tmp_path / "run")
    (tmp_path / "run/checksums.json").unlink()
    return tmp_path / "run"


def test_saved_equals_loaded(path):
    run = Run(path)
    model = run.build_model()
    for weight in model.weights:
        weight.assign(np.random.default_rng(0).normal(size=weight.shape))
    run.save_weights(weights(model), {"epoch": 2})
    loaded = Run(path).load_model()
    for ours, theirs in zip(model.weights, loaded.weights):
        np.testing.assert_array_equal(*map(keras.ops.convert_to_numpy, (ours, theirs)))
    assert Run(path).config == CONFIG
    assert Run(path).tokenizer.encode("가 abc") == run.tokenizer.encode("가 abc")


def flip_last_byte(path):
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def edit_config(path, **changes):
    file = path / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: shutil.rmtree(path), "there is no such run folder"),
        (lambda path: (path / "config.json").unlink(), r"config\.json: missing; this is not a run folder"),
        (lambda path: (path / "config.json").write_text("{"), r"config\.json: damaged"),
        (lambda path: (path / "config.json").write_text("[]"), r"config\.json: damaged"),
        (lambda path: edit_config(path, config=5), r"config\.json: damaged: config must be an object"),
        (lambda path: (path / "config.json").write_text("[" * 100_000), r"config\.json: damaged: maximum recursion"),
        (lambda path: edit_config(path, id=5), r"config\.json: damaged: id must be text"),
        (lambda path: edit_config(path, tokenizer=None), r"config\.json: damaged: tokenizer must be text"),
        (lambda path: edit_config(path, **{"from": [1]}), r"config\.json: damaged: list indices must be"),
        (lambda path: edit_config(path, **{"from": {"id": 1, "path": ""}}), r"config\.json: damaged: from must hold"),
        (lambda path: edit_config(path, config={"epochs": 10**400}), r"config\.json: epochs: the number has more"),
        (lambda path: edit_config(path, format=99), r"config\.json: a run of format 99; this version reads format 2"),
        (lambda path: edit_config(path, config={"d_modle": 8}), r"config\.json: unknown setting d_modle"),
        (lambda path: edit_config(path, config={"d_model": 16}), r"weights\.safetensors: no weights of shape"),
        # Sizes that no memory has: they are compared before a model is built.
        (lambda path: edit_config(path, config={"d_model": 2**40}), r"weights\.safetensors: no weights of shape"),
        (lambda path: edit_config(path, config={"num_layers": 10**12}), r"weights\.safetensors: no weights of shape"),
        (lambda path: (path / "tokenizer.model").unlink(), r"tokenizer\.model: missing; the run is incomplete"),
        (
            lambda path: (path / "tokenizer.model").write_bytes(b"x"),
            r"tokenizer\.model: damaged, or the tokenizer of another run",
        ),
        (
            lambda path: Tokenizer.train(["other"], 300).save(path / "tokenizer.model"),
            r"tokenizer\.model: damaged, or the tokenizer of another run",
        ),
        (lambda path: (path / "weights.safetensors").unlink(), r"weights\.safetensors: missing; no epoch has ended"),
        (
            lambda path: (path / "weights.safetensors").write_bytes((path / "weights.safetensors").read_bytes()[:-9]),
            r"weights\.safetensors: damaged",
        ),
        (lambda path: flip_last_byte(path / "weights.safetensors"), r"weights\.safetensors: damaged: the checksum"),
        (lambda path: edit_config(path, id="another"), r"weights\.safetensors: belongs to another run"),
    ],
)
def test_what_is_missing_damaged_or_foreign_is_named(path, damage, message):
    damage(path)
    with pytest.raises(InputError, match=message):
        Run(path).load_model()


def test_a_taken_place_is_refused(path, tmp_path):
    run = Run(path)
    with pytest.raises(InputError, match="already contains a run"):
        Run.create(path, CONFIG, run.tokenizer, {})
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        Run.create(tmp_path / "file/run", CONFIG, run.tokenizer, {})


def test_a_creation_broken_off_can_be_repeated(path, tmp_path):
    run = Run(path)
    (tmp_path / "new").mkdir()
    (tmp_path / "new/tokenizer.model").write_bytes(b"half")
    Run.create(tmp_path / "new", CONFIG, run.tokenizer, {})
    assert Run(tmp_path / "new").tokenizer.model == run.tokenizer.model


def test_another_tokenizer_that_a_first_try_left_behind_is_not_taken(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/tokenizer.subwords").write_bytes(b"### SubwordTextEncoder")
    (tmp_path / "run/target_tokenizer.model").write_bytes(b"half")
    Run.create(tmp_path / "run", CONFIG, Tokenizer.train(["가나다 abc"], 400), {})
    assert sorted(path.name for path in (tmp_path / "run").glob("*tokenizer*")) == ["tokenizer.model"]


def test_metrics_are_numbers_and_what_is_missing_is_left_out(path):
    (path / "metrics.csv").write_text("epoch,loss,val_bits_per_char,learning_rate\n1,2.5,3.0,\n2,1.5,2.75,0.001\n")
    assert Run(path).metrics() == [
        {"epoch": 1, "loss": 2.5, "val_bits_per_char": 3.0},
        {"epoch": 2, "loss": 1.5, "val_bits_per_char": 2.75, "learning_rate": 0.001},
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epoch,val_bits_per_char\n1,low\n", "damaged: could not convert string to float: 'low'"),
        ("epoch,val_bits_per_char\n1,2.0,3.0\n", "damaged: float"),
        ("epoch,val_bits_per_char\n1,2.0\n2,\n", "damaged: every row must have epoch and val_bits_per_char"),
        ("\x80", "damaged: 'utf-8' codec can't decode"),
    ],
)
def test_damaged_metrics_are_named(path, text, message):
    (path / "metrics.csv").write_text(text, "latin-1")
    with pytest.raises(InputError, match=rf"run/metrics\.csv: {message}"):
        Run(path).metrics()


@pytest.mark.parametrize("text", [None, "", "epoch,val_bits_per_char\n"])
def test_there_are_no_metrics_before_an_epoch_has_ended(path, text):
    if text is not None:
        (path / "metrics.csv").write_text(text)
    assert Run(path).metrics() == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Expecting property name"),
        ("5", "'int' object is not iterable"),
        ("\x80", "'utf-8' codec can't decode"),
        ("[" * 100_000, "maximum recursion depth"),
        ('["finished", "epochs", "best_epoch", "seconds"]', "'list' object has no attribute 'values'"),
        ('{"finished": true, "epochs": 3, "seconds": 1.5}', "no best_epoch"),
        ('{"finished": true, "epochs": "3", "best_epoch": null, "seconds": 1}', "its values must be numbers"),
        ('{"finished": 1' + "0" * 5000 + "}", "Exceeds the limit"),
    ],
)
def test_a_damaged_summary_is_named(path, text, message):
    (path / "summary.json").write_text(text, "latin-1")
    with pytest.raises(InputError, match=rf"run/summary\.json: damaged: {message}"):
        Run(path).summary()


def test_a_place_that_no_folder_can_have_is_named():
    with pytest.raises(InputError, match="a\0b: cannot be written: embedded null byte"):
        Run.make_folder("a\0b")
