"""What the tab "Compare" shows of two bots' scores and answers: markup in which their texts are text."""

import pytest

pytest.importorskip("gradio")

from keras_transformer.studio.compare import comparison_of, golden_changes_of, two_of

EVIL, HARMLESS = "<script>", "&lt;script&gt;"


def test_two_different_bots_are_chosen_where_there_are_two():
    assert two_of([], None, None) == (None, None)
    assert two_of(["a"], None, None) == ("a", None)
    assert two_of(["a", "b"], None, None) == ("a", "b")
    assert two_of(["a", "b", "c"], "b", None) == ("b", "a")
    assert two_of(["a", "b", "c"], "b", "c") == ("b", "c")
    assert two_of(["a", "b", "c"], "gone", "a") == ("a", "b")


def test_scores_have_their_difference_and_whether_it_may_be_chance():
    runs = [
        {"scores": {"chrf": 41.27, "exact_match": 0.5}},
        {
            "scores": {"chrf": 46.27, "exact_match": 0.5},
            "differences": {
                "chrf": {"interval": [2.0, 8.0], "significant": True},
                "exact_match": {"interval": [-0.1, 0.1], "significant": False},
            },
        },
    ]
    samples = [{"question": EVIL, "references": ["a", "b"], "answers": ["a", EVIL]}]
    markup = comparison_of({"runs": runs, "questions": 1, "samples": samples})
    assert "1 question<" in markup
    assert "<td>chrf</td><td>41.3</td><td>46.3</td><td>+2.0 to +8.0</td><td>significant</td>" in markup
    assert "<td>may be chance</td>" in markup
    assert f"<td>{HARMLESS}</td><td>a / b</td><td>a</td><td>{HARMLESS}</td>" in markup and EVIL not in markup


def result(passed, *changed):
    return {"questions": 2, "passed": passed, "results": [{"change": None}, *changed]}


def test_golden_answers_that_differ_are_shown_with_both():
    changed = {"change": "fixed", "question": EVIL, "last": "old", "answer": "new", "answers": ["new", "newer"]}
    markup = golden_changes_of("one", "two", result(1), result(2, changed))
    assert "one: 1 of 2 pass; two: 2 of 2 pass" in markup
    assert f"<td>{HARMLESS}</td><td>old</td><td>new</td><td>fixed</td><td>new / newer</td>" in markup
    assert "Both give the same answers." in golden_changes_of("one", "two", result(1), result(1))
