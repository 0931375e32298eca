import errno
import json
import os

import pytest

from keras_transformer import DiskFull, InputError
from keras_transformer.export import manifest
from keras_transformer.export.manifest import ABOUT, FORMAT, about_file, new_folder, questions_of, read_about, verified


def test_a_folder_is_there_whole_or_not_at_all(tmp_path):
    path = tmp_path / "나간 것"
    with new_folder(path) as folder:
        (folder / "a").write_text("1")
        assert not path.exists()
    assert [file.name for file in path.iterdir()] == ["a"]
    with pytest.raises(KeyboardInterrupt), new_folder(tmp_path / "other") as folder:
        (folder / "a").write_text("1")
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == ["나간 것"]


def test_a_single_file_may_become_the_export(tmp_path):
    with new_folder(tmp_path / "나간 것.html", "a") as folder:
        (folder / "a").write_text("1")
    assert (tmp_path / "나간 것.html").read_text() == "1"
    assert os.listdir(tmp_path) == ["나간 것.html"]
    with pytest.raises(InputError, match="already exists"), new_folder(tmp_path / "나간 것.html", "a"):
        raise AssertionError("must not be reached")


def test_a_place_that_is_taken_is_left_alone(tmp_path):
    (tmp_path / "kept").write_text("mine")
    with pytest.raises(InputError, match="already exists; use a new or empty folder"), new_folder(tmp_path):
        raise AssertionError("must not be reached")
    assert (tmp_path / "kept").read_text() == "mine"
    with pytest.raises(InputError, match="already exists"), new_folder(tmp_path / "kept"):
        raise AssertionError("must not be reached")


def test_an_empty_folder_may_become_the_export(tmp_path):
    (tmp_path / "empty").mkdir()
    with new_folder(tmp_path / "empty") as folder:
        (folder / "a").write_text("1")
    assert (tmp_path / "empty" / "a").read_text() == "1"


def test_a_place_that_cannot_be_written_is_an_input_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"), new_folder(tmp_path / "file" / "below"):
        raise AssertionError("must not be reached")


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path):
    with pytest.raises(DiskFull) as raised, new_folder(tmp_path / "out") as folder:
        (folder / "a").write_text("1")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert raised.value.strerror.startswith("disk full: could not write")
    assert os.listdir(tmp_path) == []


def test_everything_is_on_the_disk_before_the_folder_has_its_name_and_then_the_name_too(tmp_path, monkeypatch):
    done, real_sync, real_replace = [], os.fsync, os.replace

    def sync(descriptor):
        done.append(os.fstat(descriptor).st_ino)
        real_sync(descriptor)

    def replace(source, target):
        done.append("renamed")
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", replace)
    path = tmp_path / "out"
    with new_folder(path) as folder:
        (folder / "variables").mkdir()
        (folder / "variables" / "a").write_text("1")
        (folder / "b").write_text("2")
    written = {one.stat().st_ino for one in (path, *path.rglob("*"))}
    assert len(written) == 4
    assert set(done[: done.index("renamed")]) == written
    assert done[done.index("renamed") + 1 :] == [tmp_path.stat().st_ino]


def test_what_killed_exports_have_left_is_removed(tmp_path):
    own, dead, running = (tmp_path / f".a[b].{number}.part" for number in (os.getpid(), 2**22 + 1, os.getppid()))
    other = tmp_path / f".c.{os.getpid()}.part"
    for folder in (own, dead, running, other):
        folder.mkdir()
        (folder / "file").write_text("")
    with new_folder(tmp_path / "a[b]") as folder:
        assert list(folder.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"a[b]", running.name, other.name}


def test_a_disk_that_is_full_for_a_library_is_full(tmp_path):
    """TensorFlow's ResourceExhaustedError is no OSError."""
    error = RuntimeError("variables/variables.data; No space left on device")
    with pytest.raises(DiskFull, match="disk full: could not write"), new_folder(tmp_path / "out"):
        raise error
    with pytest.raises(RuntimeError, match="another"), new_folder(tmp_path / "out"):
        raise RuntimeError("another")
    assert os.listdir(tmp_path) == []


A, B, C = ("a", -1.0), ("b", -0.5), ("c", -2.0)


def test_every_answer_must_be_the_runs_own_where_weights_are_whole():
    assert verified([A, B], [A, B], exact=True) == {"questions": 2, "equal": 2}
    with pytest.raises(InputError, match="only 1 of 2 answers"):
        verified([A, C], [A, B], exact=True)


def test_so_must_its_score_as_far_as_floating_point_goes():
    assert verified([A, ("b", -0.501)], [A, B], exact=True)["equal"] == 2
    assert verified([("a", -100.1)], [("a", -100.0)], exact=True)["equal"] == 1
    with pytest.raises(InputError, match="only 1 of 2 answers, with their scores, match those of the run"):
        verified([A, ("b", -0.52)], [A, B], exact=True)
    with pytest.raises(InputError, match="only 0 of 1 answers"):
        verified([("a", float("nan"))], [A], exact=True)


def test_half_of_the_answers_must_be_where_weights_are_rounded():
    assert verified([("a", -9.0), C], [A, B], exact=False) == {"questions": 2, "equal": 1}
    with pytest.raises(InputError, match="only 1 of 3 answers match"):
        verified([A, C, ("d", 0.0)], [A, B, ("e", 0.0)], exact=False)


def test_the_questions_are_of_the_runs_own_pieces_too(bot):
    asked = questions_of(bot.tokenizer)
    assert asked == questions_of(bot.tokenizer)
    assert {"안녕하세요", ""} < set(asked)
    assert len(asked) == 16


def test_a_file_that_is_not_the_one_written_is_found(saved_model, tmp_path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(saved_model, copy)
    about = read_about(copy)
    assert set(about["files"]) == {path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()} - {
        "export.json"
    }
    with open(copy / "saved_model.pb", "r+b") as file:
        file.seek(100)
        file.write(b"!")
    with pytest.raises(InputError, match=r"saved_model\.pb: damaged, or changed"):
        read_about(copy)
    (copy / "saved_model.pb").unlink()
    with pytest.raises(InputError, match=r"saved_model\.pb: missing"):
        read_about(copy)
    (copy / "export.json").write_text("{")
    with pytest.raises(InputError, match=r"export\.json: damaged"):
        read_about(copy)


def test_it_says_where_it_comes_from(saved_model, bot):
    about = json.loads((saved_model / "export.json").read_text("utf-8"))
    assert about["kind"] == "saved_model"
    assert about["verified"] == {"questions": 16, "equal": 16}
    assert about["run"]["config"]["d_model"] == 32
    assert about["run"]["training"]["epoch"] >= 1
    assert about["corpus"]["pairs"] == 128
    assert len(about["corpus"]["fingerprint"]) == 64
    assert set(about["versions"]) >= {"keras_transformer", "keras", "tensorflow", "python"}
    assert str(saved_model) not in json.dumps(about)


@pytest.fixture
def about(tmp_path):
    """The content of an export.json that can be read, with one file."""
    (tmp_path / "file").write_text("content")
    sizes = dict.fromkeys(("num_layers", "d_model", "num_heads", "dff", "max_length"), 1)
    return {
        "format": FORMAT, "kind": "onnx", "options": {}, "versions": {}, "verified": {"questions": 16, "equal": 16},
        "run": {"id": "a", "config": sizes, "training": None},
        "corpus": {"name": "a", "fingerprint": "b", "pairs": 3, "licence": None},
        "files": {"file": about_file(tmp_path / "file")},
    }  # fmt: skip


def test_an_export_json_of_this_shape_can_be_read(tmp_path, about):
    (tmp_path / ABOUT).write_text(json.dumps(about))
    assert read_about(tmp_path) == about


@pytest.mark.parametrize("value", [None, [], "a", 3.5, {"a": 1}], ids=str)
@pytest.mark.parametrize("place", ["kind", "run", "run.config", "run.config.max_length", "corpus"])
def test_an_export_json_of_another_shape_is_one_line(tmp_path, about, place, value):
    *keys, last = place.split(".")
    within = about
    for key in keys:
        within = within[key]
    within[last] = [value] if place == "kind" else value
    (tmp_path / ABOUT).write_text(json.dumps(about))
    first = place.partition(".")[0]
    with pytest.raises(InputError, match=rf"export\.json: damaged: {first}[\w.]* is missing or invalid$"):
        read_about(tmp_path)


@pytest.mark.parametrize("value", [None, [], "a", 3.5], ids=str)
@pytest.mark.parametrize("place", ["options", "files", "verified"])
def test_so_are_lists_in_the_place_of_dictionaries(tmp_path, about, place, value):
    (tmp_path / ABOUT).write_text(json.dumps({**about, place: value}))
    with pytest.raises(InputError, match=rf"export\.json: damaged: {place} is missing or invalid$"):
        read_about(tmp_path)


@pytest.mark.parametrize(
    "text", ["[]", "null", "3", '"a"', "{}", '{"format": 1}', "[" * 100_000, "\ud800", "1" * 5000], ids=len
)
def test_what_is_no_export_json_is_one_line(tmp_path, text):
    (tmp_path / ABOUT).write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InputError, match=r"export\.json: damaged: ") as raised:
        read_about(tmp_path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["/etc/passwd", "../file", "a/../../file", "a\0b", ""])
def test_files_outside_of_the_folder_are_not_read(tmp_path, about, monkeypatch, name):
    about["files"] = {name: about["files"]["file"]}
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / ABOUT).write_text(json.dumps(about))
    monkeypatch.setattr(manifest, "about_file", lambda path: pytest.fail(f"{path} was read"))
    with pytest.raises(InputError):
        read_about(tmp_path / "export")
