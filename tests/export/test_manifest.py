import errno
import json
import os

import pytest

from keras_transformer import DiskFull, InputError
from keras_transformer.export.manifest import new_folder, questions_of, read_about, verified


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
