import pandas as pd
import pytest

from keras_transformer import Beam, GenerationConfig, InputError, compare
from keras_transformer.evaluation import compare as module

ASKED = {f"질문 {i}": [f"대답 {i}번입니다", f"대답 {i}번입니다"] for i in range(20)}
RIGHT = [references[0] for references in ASKED.values()]
WRONG = ["xyz"] * 20


@pytest.fixture
def compared(monkeypatch):
    """A function that compares made-up `Evaluation`s, whose runs are called 0, 1, ..."""

    def of(*found):
        monkeypatch.setattr(module, "evaluation", lambda run_dir, *_, **__: found[int(run_dir)])
        return compare([str(number) for number in range(len(found))], pd.DataFrame(index=range(40)))

    return of


def test_what_is_better_everywhere_is_so_significantly_and_what_is_equal_is_not(compared, make_evaluation):
    found = compared(*(make_evaluation(ASKED, answers) for answers in (WRONG, RIGHT, WRONG)))
    first, better, equal = found["runs"]
    assert "differences" not in first
    assert first["scores"]["exact_match"] == 0 and better["scores"]["exact_match"] == 1
    assert better["differences"]["exact_match"] == {"difference": 1, "interval": (1, 1), "significant": True}
    assert better["differences"]["chrf"]["difference"] == pytest.approx(100)
    assert better["differences"]["word_error_rate"] == {"difference": -1, "interval": (-1, -1), "significant": True}
    for one in equal["differences"].values():
        assert one == {"difference": 0, "interval": (0, 0), "significant": False}
    assert (found["questions"], found["pairs"]) == (20, 40)
    assert list(found["signatures"]) == ["chrf", "bleu"]


def test_one_question_of_twenty_may_be_chance(compared, make_evaluation):
    found = compared(make_evaluation(ASKED, WRONG, leaked=3), make_evaluation(ASKED, RIGHT[:1] + WRONG[1:]))
    one = found["runs"][1]["differences"]["exact_match"]
    assert one["difference"] == pytest.approx(0.05)
    assert one["interval"][0] == 0 and not one["significant"]
    assert [run["leaked"] for run in found["runs"]] == [3, None]


def test_what_is_of_a_token_is_left_out_and_different_words_have_no_difference(compared, make_evaluation):
    found = compared(make_evaluation(ASKED, WRONG), make_evaluation(ASKED, RIGHT))
    names = ["bits_per_char", "chrf", "bleu", "exact_match", "word_error_rate", "answer_length"]
    assert list(found["runs"][1]["differences"]) == names
    assert list(found["runs"][1]["scores"]) == [*names, "distinct_1", "distinct_2"]


def test_bits_per_character_are_those_of_answers_that_all_runs_can_read(compared, make_evaluation):
    references = {"a": ["12345"], "b": ["1234567890"]}
    all_of_it = make_evaluation(references, ["", ""], bits=[(10, 5), (100, 10)])
    shorter = make_evaluation(references, ["", ""], bits=[(20, 5), (0, 0)])
    found = compared(all_of_it, shorter)
    assert [run["scores"]["bits_per_char"] for run in found["runs"]] == [2, 4]
    assert found["runs"][1]["differences"]["bits_per_char"]["difference"] == 2
    assert found["runs"][1]["differences"]["bits_per_char"]["interval"] == (2, 2)
    nothing = make_evaluation(references, ["", ""], bits=[(0, 0), (10, 10)])
    assert "bits_per_char" not in compared(shorter, nothing)["runs"][1]["scores"]


def test_ten_questions_are_drawn_whatever_is_answered(compared, make_evaluation):
    one = compared(make_evaluation(ASKED, WRONG), make_evaluation(ASKED, RIGHT))["samples"]
    other = compared(make_evaluation(ASKED, RIGHT), make_evaluation(ASKED, RIGHT))["samples"]
    questions = [sample["question"] for sample in one]
    assert questions == [sample["question"] for sample in other]
    assert len(set(questions)) == 10 and questions != list(ASKED)[:10]
    assert questions == sorted(questions, key=list(ASKED).index)
    for sample in one:
        right = ASKED[sample["question"]][0]
        assert sample["references"] == [right]
        assert sample["answers"] == ["xyz", right]


def test_all_runs_are_asked_in_the_same_way(monkeypatch, make_evaluation):
    heard = []

    def evaluation(*arguments):
        heard.append(arguments)
        return make_evaluation({"a": ["b"]}, ["b"])

    monkeypatch.setattr(module, "evaluation", evaluation)
    generation = GenerationConfig(Beam(2), max_length=9)
    compare(["x", "y"], "pairs" * 2, training_answers={"b"}, generation=generation)
    assert heard == [(run, "pairs" * 2, {"b"}, None, generation) for run in ("x", "y")]
    compare(["x", "y"], "pairs" * 2, Beam(2), {"b"}, "generate")
    assert heard[-1] == ("y", "pairs" * 2, {"b"}, "generate", GenerationConfig(Beam(2)))


def test_one_run_is_nothing_to_compare():
    with pytest.raises(InputError, match="name two runs or more to compare"):
        compare(["runs/first"], None)
