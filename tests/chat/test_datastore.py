import json
import subprocess
import sys

import numpy as np
import pytest

from keras_transformer.chat.datastore import (
    CORRECTIONS,
    EMBEDDINGS,
    EXCHANGES,
    Datastore,
    Exchange,
    Match,
    questions_and_answers,
    save_datastore,
)
from keras_transformer.chat.question_embeddings import learn_embeddings
from keras_transformer.errors import InputError, RunLocked
from keras_transformer.runs.lock import locked
from keras_transformer.runs.tensor_file import save_tensors

EXCHANGES_KEPT = [
    Exchange("배고파", "밥 먹어요.", "말뭉치.csv", 2),
    Exchange("잘 자", "좋은 꿈 꾸세요.", "말뭉치.csv", 3),
    Exchange("배고파", "라면 먹을래요?", "말뭉치.csv", 4),
    Exchange("hello", "Hi there!"),
]


@pytest.fixture(scope="module")
def embeddings():
    return learn_embeddings(*questions_and_answers(EXCHANGES_KEPT))


@pytest.fixture
def folder(tmp_path, embeddings):
    save_datastore(tmp_path, "a run", EXCHANGES_KEPT, embeddings)
    return tmp_path


@pytest.fixture
def datastore(folder):
    return Datastore(folder, "a run")


def answers(datastore, *questions):
    return [near[0].exchange.answer if near else None for near in datastore.nearest(questions)]


def test_it_finds_what_was_saved(folder, datastore):
    assert Datastore.exists(folder)
    assert not Datastore.exists(folder / "elsewhere")
    assert len(datastore) == 4
    [[first, second]] = datastore.nearest(["배고파"], 2)
    assert (first.exchange, second.exchange) == (EXCHANGES_KEPT[0], EXCHANGES_KEPT[2])
    assert datastore.nearest([]) == []
    assert datastore.nearest(["漢字", ""]) == [[], []]


def test_an_exchange_says_where_it_comes_from():
    assert EXCHANGES_KEPT[0].place == "말뭉치.csv, row 2"
    assert Exchange("a", "b", None, 7).place == "pair 7"
    assert Match(EXCHANGES_KEPT[1], 0.87654).to_dict() == {
        "question": "잘 자", "answer": "좋은 꿈 꾸세요.", "file": "말뭉치.csv", "row": 3, "similarity": 0.8765,
    }  # fmt: skip


def test_what_is_taught_takes_the_place_of_all_that_was_known(datastore):
    assert datastore.teach(" 배고파 ", "따뜻한 국밥 어때요?") == ["밥 먹어요.", "라면 먹을래요?"]
    assert answers(datastore, "배고파", "배고파!", "잘 자") == ["따뜻한 국밥 어때요?"] * 2 + ["좋은 꿈 꾸세요."]
    [[match]] = datastore.nearest(["배고파"])
    assert (match.exchange.taught, match.exchange.place) == (True, "corrections.jsonl, row 1")
    assert len(datastore) == 3
    assert datastore.teach("배고파", "빵은요?") == ["따뜻한 국밥 어때요?"]
    assert answers(datastore, "배고파") == ["빵은요?"]
    assert datastore.teach("漢字", "한자네요.") == []
    assert answers(datastore, "漢字") == ["한자네요."]


def test_forgetting_brings_back_exactly_what_was_there(folder, datastore):
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    before = datastore.nearest(["배고파", "잘 자"], 3)
    datastore.teach("배고파", "빵은요?")
    datastore.teach("배고파", "국밥은요?")
    assert datastore.nearest(["배고파", "잘 자"], 3) != before
    assert datastore.forget("배고파") == ["국밥은요?"]
    assert datastore.nearest(["배고파", "잘 자"], 3) == before
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"} == files


def test_a_question_of_the_corpus_is_left_aside_and_can_be_taught_anew(folder, datastore):
    assert datastore.forget("배고파") == ["밥 먹어요.", "라면 먹을래요?"]
    assert answers(datastore, "배고파") == [None]
    assert datastore.answers_to("배고파") == []
    with pytest.raises(InputError, match="forget: no exchange has the question '배고파'"):
        datastore.forget("배고파")
    left_aside = (folder / CORRECTIONS).read_bytes()
    datastore.teach("배고파", "빵은요?")
    assert datastore.answers_to("배고파") == ["빵은요?"]
    datastore.forget("배고파")
    assert (folder / CORRECTIONS).read_bytes() == left_aside


def test_what_is_visible_is_numbered_as_in_its_index(datastore):
    datastore.teach("hello", "Howdy!")
    exchanges, numbers, index = datastore.visible()
    assert [one.answer for one in exchanges] == ["밥 먹어요.", "좋은 꿈 꾸세요.", "라면 먹을래요?", "Howdy!"]
    assert numbers == [0, 1, 2, 4]
    assert len(index) == 5


def test_what_nothing_asks_cannot_be_forgotten(datastore):
    with pytest.raises(
        InputError, match="forget: no exchange has the question 'hello!'; the nearest question is 'hello'"
    ):
        datastore.forget("hello!")
    with pytest.raises(InputError, match=r"forget: no exchange has the question ''$"):
        datastore.forget(" ")


@pytest.mark.parametrize("texts", [("", "a"), ("a", " \n"), ("\ud800", "a"), ("a", "\ud800")], ids=repr)
def test_blank_and_broken_texts_are_not_taught(folder, datastore, texts):
    with pytest.raises(InputError, match=r"blank|not UTF-8"):
        datastore.teach(*texts)
    assert not (folder / CORRECTIONS).exists()


def test_half_a_character_is_not_looked_for(datastore):
    with pytest.raises(InputError, match=r"'a\\ud800' is not UTF-8"):
        datastore.nearest(["hello", "a\ud800"])


def test_another_one_that_is_open_knows_it_at_the_next_question(folder, datastore):
    other = Datastore(folder, "a run")
    assert answers(other, "배고파") == ["밥 먹어요."]
    datastore.teach("배고파", "빵은요?")
    assert answers(other, "배고파") == ["빵은요?"]
    other.teach("잘 자", "잘 자요!")
    assert answers(datastore, "배고파", "잘 자") == ["빵은요?", "잘 자요!"]
    other.forget("배고파")
    assert answers(datastore, "배고파") == ["밥 먹어요."]
    assert answers(Datastore(folder, "a run"), "잘 자") == ["잘 자요!"]


def test_corrections_written_by_hand_are_read_to_the_last_line(folder, datastore):
    (folder / CORRECTIONS).write_text('{"question": "배고파", "answer": "빵은요?"}', encoding="utf-8")
    assert answers(datastore, "배고파") == ["빵은요?"]


TEACH = """
import sys
from keras_transformer.chat.datastore import Datastore
datastore = Datastore(sys.argv[1], "a run")
for number in range(20):
    datastore.teach(f"{sys.argv[2]} {number}", "taught")
"""


def test_two_who_teach_at_the_same_time_lose_nothing(folder, datastore):
    others = [subprocess.Popen([sys.executable, "-c", TEACH, str(folder), name]) for name in ("one", "two")]
    assert [other.wait(300) for other in others] == [0, 0]
    taught = {one["question"] for one in datastore.corrections}
    assert taught == {f"{name} {number}" for name in ("one", "two") for number in range(20)}


def test_teaching_removes_what_a_killed_process_left_half_written(folder, datastore):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    (folder / f".{CORRECTIONS}.{process.pid}.part").write_text("{")
    datastore.teach("a", "b")
    assert not list(folder.glob(".*.part"))


def test_nothing_is_taught_while_the_run_is_trained(folder, datastore, monkeypatch):
    monkeypatch.setattr("keras_transformer.chat.datastore.WAIT", 0.05)
    with locked(folder), pytest.raises(RunLocked, match="another training"):
        datastore.teach("배고파", "빵은요?")
    assert answers(datastore, "배고파") == ["밥 먹어요."]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no JSON", "damaged: Expecting value"),
        ('["a"]', "damaged: row 1: not an object of answer, file, question, row"),
        ('{"question": "a"}', "damaged: row 1: not an object of"),
        ('{"question": "a", "answer": 1}', "damaged: row 1: its question or answer is not a text"),
        (r'{"question": "\ud83d", "answer": "b"}', "damaged: .* is not UTF-8"),
        ('{"question": "a", "answer": "b"}', "damaged: it has 1 exchanges, not 4"),
        ("", "damaged: it holds no exchange"),
    ],
)
def test_a_damaged_datastore_is_named(folder, text, message):
    (folder / EXCHANGES).write_text(text + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=message) as error:
        Datastore(folder, "a run")
    assert str(error.value).startswith(str(folder / EXCHANGES))


def test_files_of_another_run_and_damaged_corrections_are_refused(folder):
    with pytest.raises(InputError, match="belongs to another run"):
        Datastore(folder, "another run")
    (folder / CORRECTIONS).write_bytes(json.dumps({"question": "a", "forgot": True}).encode())
    with pytest.raises(InputError, match=r"corrections\.jsonl: damaged: row 1"):
        Datastore(folder, "a run")
    (folder / CORRECTIONS).write_bytes(rb'{"question": "a", "forgotten": "\ud800"}')
    with pytest.raises(InputError, match=r"corrections\.jsonl: damaged: row 1: forgotten is not true or false"):
        Datastore(folder, "a run")
    (folder / CORRECTIONS).write_bytes("배고파".encode("cp949"))
    with pytest.raises(InputError, match=r"corrections\.jsonl: damaged: 'utf-8'"):
        Datastore(folder, "a run")


def test_a_datastore_of_the_first_versions_has_no_embeddings_and_compares_ngrams(folder):
    save_tensors(folder / EMBEDDINGS, {"memories": np.zeros((4, 2), "float16")}, "a run", {"exchanges": 4})
    assert answers(Datastore(folder, "a run"), "배고파", "hello?") == ["밥 먹어요.", "Hi there!"]
