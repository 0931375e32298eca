"""Damage to a run folder: no byte changes unnoticed, and no kill makes a run look damaged."""

import json
import os
import pathlib
import shutil

import numpy as np
import pytest

from keras_transformer import Config, InputError, Run, Tokenizer
from keras_transformer.chat import answering, datastore
from keras_transformer.chat.answering import Answering
from keras_transformer.chat.confidence import Confidence
from keras_transformer.chat.datastore import Datastore, Exchange, save_datastore
from keras_transformer.chat.question_embeddings import QuestionEmbeddings
from keras_transformer.cli.info import about_folder, about_run
from keras_transformer.runs import checksums
from keras_transformer.runs.checksums import CHECKSUMS, check, read_checksums, remove_recorded, write_recorded
from keras_transformer.runs.lock import locked
from keras_transformer.runs.run import RECORDED
from keras_transformer.runs.tensor_file import tensors_checksum
from keras_transformer.training.callbacks import write_metrics
from keras_transformer.training.checkpoint import load_checkpoint, save_checkpoint

CONFIG = Config(vocab_size=300, num_layers=1, d_model=8, num_heads=2, dff=8, keep_epochs=2)
CORPUS = {"name": "none", "pairs": 2}


def make_run(path, step):
    """A run folder with every file that there can be, as training, `teach` and `calibrate` write them."""
    tokenizers = [Tokenizer.train([text], 300, "word") for text in ("가나 다라", f"abc {path.name}")]
    run = Run.create(path, CONFIG, tokenizers[0], CORPUS, target_tokenizer=tokenizers[1])
    rows = [{"epoch": 1, "step": step, "val_bits_per_char": 2.5}]
    weights = {"a/table": np.full((3, 2), step, "float32")}
    save_checkpoint(run, {"variables/0": weights["a/table"]}, step, rows, 1.0)
    run.save_weights(weights, rows[0])
    run.save_epoch(weights, rows[0])
    write_metrics(path / "metrics.csv", rows)
    summary = {"finished": True, "epochs": 1, "best_epoch": 1, "seconds": step / 8}
    checksums.write_json_recorded(path / "summary.json", summary)
    exchanges = [Exchange("가나?", f"다라 {step}", "pairs.csv", 2), Exchange("나가?", "라다", "pairs.csv", 3)]
    embeddings = QuestionEmbeddings(np.arange(3, dtype="int32"), np.full((2, 3), step, "float16"))
    save_datastore(path, run.id, exchanges, embeddings)
    Answering(similarity=step / 100).save(path)
    Confidence(((step / 8, 1.0),), {}, {"answer_by": "generate"}, tensors_checksum(path / "weights.safetensors")).save(
        run
    )
    teach(path, "무엇?", f"그것 {step}")
    return path


def teach(path, question, answer):
    with locked(path):
        line = json.dumps({"question": question, "answer": answer}, ensure_ascii=False) + "\n"
        write_recorded(path / "corrections.jsonl", line.encode())


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checksums")
    return make_run(folder / "first", 10), make_run(folder / "second", 20)


@pytest.fixture
def path(runs, tmp_path):
    """A copy of the first run, that a test may damage."""
    return shutil.copytree(runs[0], tmp_path / "run")


NAMES = sorted(RECORDED | {
    "tokenizer.model", "target_tokenizer.model", "weights-epoch-0001.safetensors", "confidence.json", CHECKSUMS,
})  # fmt: skip


def assert_noticed(path, match=None):
    with pytest.raises(InputError, match=match) as raised:
        about_folder(path)
    assert "\n" not in str(raised.value)


def test_the_run_of_these_tests_is_whole_and_has_every_file(path):
    assert sorted(file.name for file in path.iterdir()) == sorted([*NAMES, "lock"])
    assert about_folder(path)["run"]["training"]["seconds"] == 1.25
    assert sorted(read_checksums(path)[1]) == sorted({*NAMES} - {"confidence.json", CHECKSUMS})
    assert {len(allowed) for allowed in read_checksums(path)[1].values()} == {1}
    names = {answering.ANSWERING, *datastore.FILES}
    assert names <= RECORDED


@pytest.mark.parametrize("name", NAMES)
def test_a_flipped_bit_is_noticed(path, name):
    data = (path / name).read_bytes()
    for place in sorted({0, 1, len(data) // 3, len(data) // 2, len(data) - 2, len(data) - 1}):
        for bit in (1, 32):
            (path / name).write_bytes(data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :])
            assert_noticed(path, name)
    (path / name).write_bytes(data)
    assert about_folder(path)


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_file_is_noticed(path, name):
    data = (path / name).read_bytes()
    for size in (0, 1, len(data) // 2, len(data) - 1):
        (path / name).write_bytes(data[:size])
        assert_noticed(path, name)


@pytest.mark.parametrize("name", sorted({*NAMES} - {"config.toml", "confidence.json", "tokenizer.model"}))
def test_a_file_of_another_run_is_noticed(path, runs, name):
    shutil.copyfile(runs[1] / name, path / name)
    assert_noticed(path)


def test_a_calibration_of_another_run_is_noticed_when_it_is_used(path, runs):
    shutil.copyfile(runs[1] / "confidence.json", path / "confidence.json")
    with pytest.raises(InputError, match="the run was trained after its calibration"):
        Confidence.of_run(Run(path))


@pytest.mark.parametrize("name", sorted({*NAMES} - {"confidence.json", CHECKSUMS}))
def test_a_missing_file_is_noticed(path, name):
    (path / name).unlink()
    assert_noticed(path, f"{name}: missing|not a run folder" if name != "config.json" else None)


def test_files_exchanged_within_a_run_are_noticed(path):
    shutil.copyfile(path / "checkpoint.safetensors", path / "weights.safetensors")
    with pytest.raises(InputError, match=r"weights\.safetensors: damaged, or of another run or another state"):
        Run(path).best_weights()


def test_a_checkpoint_of_another_step_than_the_metrics_is_noticed(path):
    older = (path / "checkpoint.safetensors").read_bytes()
    run = Run(path)
    save_checkpoint(run, {}, 12, [], 2.0)
    assert load_checkpoint(run)[1] == 12
    (path / "checkpoint.safetensors").write_bytes(older)
    with pytest.raises(InputError, match=r"checkpoint\.safetensors: damaged, or of another run or another state"):
        load_checkpoint(run)


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("config.json", Run),
        ("target_tokenizer.model", Run),
        ("weights.safetensors", lambda path: Run(path).best_weights()),
        ("metrics.csv", lambda path: Run(path).metrics()),
        ("summary.json", lambda path: Run(path).summary()),
        ("answering.json", Answering.load),
        ("datastore.jsonl", lambda path: Datastore(path, Run(path).id)),
        ("datastore.safetensors", lambda path: Datastore(path, Run(path).id)),
        ("corrections.jsonl", lambda path: Datastore(path, Run(path).id)),
        ("confidence.json", lambda path: Confidence.of_run(Run(path))),
    ],
)
def test_a_file_is_checked_when_it_is_used(path, name, use):
    use(path)
    data = (path / name).read_bytes()
    place = (
        data.rindex(b"1") if name != "weights.safetensors" else data.index(b'"epoch') + 2
    )  # Still valid JSON or CSV.
    (path / name).write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
    with pytest.raises(InputError, match=name):
        use(path)


def test_what_changes_after_training_is_recorded(path):
    teach(path, "어디?", "저기")
    run = Run(path)
    assert about_run(path)["answering"]["taught"] == 1
    Datastore(path, run.id).teach("누구?", "나")
    run.change_config(CONFIG.replace(epochs=77))
    run.save_epoch({"a/table": np.zeros((3, 2), "float32")}, {"epoch": 2})
    run.save_epoch({"a/table": np.zeros((3, 2), "float32")}, {"epoch": 3})
    assert about_run(path)["run"]["config"]["epochs"] == 77
    remove_recorded(path / "summary.json")
    assert about_run(path)["run"]["training"] is None
    datastore = Datastore(path, run.id)
    for one in list(datastore.corrections):
        datastore.forget(one["question"])
    assert not (path / "corrections.jsonl").exists() and about_run(path)


def test_a_run_of_an_earlier_version_loads_and_is_recorded_by_its_next_training(path):
    (path / CHECKSUMS).unlink()
    about_before = about_folder(path)
    (path / "metrics.csv").write_text("epoch,val_bits_per_char\n1,3.0\n")
    assert Run(path).metrics() == [{"epoch": 1, "val_bits_per_char": 3.0}]
    Run(path).record_files()
    assert about_folder(path)["run"] == about_before["run"]
    (path / "metrics.csv").write_text("epoch,val_bits_per_char\n1,2.0\n")
    assert_noticed(path, r"metrics\.csv: damaged, .* If you changed the file yourself, remove checksums\.json")


def test_other_files_in_the_folder_are_nobodys_business(path):
    (path / "notes.txt").write_text("")
    assert about_folder(path)


class Killed(BaseException):
    pass


def test_a_kill_between_any_two_writes_leaves_a_whole_run(path, monkeypatch):
    """Before each rename and each removal, the folder must be whole: a kill at that moment leaves it so."""
    run, moments = Run(path), []
    replace, unlink = os.replace, pathlib.Path.unlink

    def looking(change):
        def changed(source, *arguments, **options):
            moments.append(pathlib.Path(arguments[0] if arguments else source).name)
            with monkeypatch.context() as real:
                real.setattr(os, "replace", replace)
                real.setattr(pathlib.Path, "unlink", unlink)
                about_run(path)
                load_checkpoint(Run(path))
            return change(source, *arguments, **options)

        return changed

    monkeypatch.setattr(os, "replace", looking(replace))
    monkeypatch.setattr(pathlib.Path, "unlink", looking(unlink))
    save_checkpoint(run, {}, 12, [], 2.0)
    run.save_weights({"a/table": np.zeros((3, 2), "float32")}, {"epoch": 2})
    remove_recorded(path / "answering.json")
    run.change_config(CONFIG.replace(epochs=77))
    assert [name for name in moments if not name.endswith(".part")] == [
        CHECKSUMS, "checkpoint.safetensors", CHECKSUMS,
        CHECKSUMS, "weights.safetensors", CHECKSUMS,
        CHECKSUMS, "answering.json", CHECKSUMS,
        CHECKSUMS, "config.toml", CHECKSUMS, CHECKSUMS, "config.json", CHECKSUMS,
    ]  # fmt: skip


@pytest.mark.parametrize("when", [1, 2, 3])
def test_a_write_after_a_kill_forgets_what_the_killed_one_announced(path, monkeypatch, when):
    run, replace, left = Run(path), os.replace, [when]

    def dying(source, target):
        left[0] -= 1
        if not left[0]:
            raise Killed
        replace(source, target)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(os, "replace", dying)
        save_checkpoint(run, {}, 12, [], 2.0)
    assert load_checkpoint(run)[1] == (12 if when == 3 else 10)
    save_checkpoint(run, {}, 14, [], 3.0)
    assert len(read_checksums(path)[1]["checkpoint.safetensors"]) == 1
    assert about_run(path)


def test_a_file_that_is_replaced_while_it_is_checked_is_not_damaged(path, monkeypatch):
    sha256_of_file, left = checksums.sha256_of_file, [3]

    def replaced_meanwhile(file):
        if left[0] and not file.name.startswith("."):
            left[0] -= 1
            write_recorded(file, f"epoch,val_bits_per_char\n1,{left[0]}\n".encode())
        return sha256_of_file(file)

    monkeypatch.setattr(checksums, "sha256_of_file", replaced_meanwhile)
    check(path / "metrics.csv")
    assert left == [0]
