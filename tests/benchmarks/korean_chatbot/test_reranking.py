import pytest
from sacrebleu.metrics import CHRF

from benchmarks.korean_chatbot import reranking

GOOD, NEAR, ODD = "밥 먹어요.", "밥을 먹어요.", "잘 자요!"


def test_agreement_picks_what_is_most_like_all():
    assert reranking.by_agreement([(ODD, -1.0), (GOOD, -9.0), (NEAR, -9.0), (GOOD, -9.0)]) == GOOD


def test_what_is_drawn_more_often_counts_more():
    assert reranking.by_agreement([(GOOD, -1.0), (ODD, -2.0), (ODD, -2.0)]) == ODD


def test_of_equals_the_first():
    assert reranking.by_agreement([("네", -5.0), ("가", -1.0)]) == "네"
    assert reranking.by_agreement([("가", -1.0), ("네", -5.0)]) == "가"


def test_beams_count_by_their_probability():
    beams = [(ODD, -0.1), (GOOD, -9.0), (NEAR, -9.0)]
    assert reranking.by_weighted_agreement(beams) == ODD
    assert reranking.by_agreement(beams) != ODD


def test_unlikely_scores_do_not_vanish():
    assert reranking.by_weighted_agreement([(ODD, -2000.0), (GOOD, -2000.0), (NEAR, -2000.0)]) != ODD


def test_neighbours_decide_by_how_near_they_are():
    candidates = [(ODD, -0.1), (GOOD, -9.0)]
    assert reranking.by_neighbours(candidates, [(NEAR, 0.9), ("잘 자요", 0.2)]) == GOOD
    assert reranking.by_neighbours(candidates, [(NEAR, 0.2), ("잘 자요", 0.9)]) == ODD
    assert reranking.by_neighbours(candidates, []) == ODD


def test_a_neighbours_answer_may_be_given_itself():
    assert reranking.among_neighbours([(ODD, -1.0), ("네.", -1.0)], [(GOOD, 0.9), (NEAR, 0.5)], share=0.9) == GOOD
    assert reranking.among_neighbours([(ODD, -1.0), (ODD, -1.0)], [(GOOD, 0.9)], share=0.1) == ODD
    assert reranking.among_neighbours([(ODD, -1.0)], []) == ODD


def test_neighbours_count_their_share_however_many_there_are():
    neighbours = [(GOOD, 0.1)] * 50
    assert reranking.among_neighbours([(ODD, -1.0)], neighbours, share=0.4) == ODD
    assert reranking.among_neighbours([(ODD, -1.0)], neighbours, share=0.6) == GOOD


def test_the_reverse_model_weighs_against_the_models_own_likelihood():
    candidates = [("네.", -1.0), (GOOD, -3.0)]
    assert reranking.by_reverse(candidates, [-8.0, -2.0]) == GOOD  # -9 against -5
    assert reranking.by_reverse(candidates, [-8.0, -2.0], weight=0.1) == "네."  # -1.8 against -3.2


@pytest.mark.parametrize(
    ("text", "other"),
    [
        (GOOD, GOOD),
        (GOOD, NEAR),
        (NEAR, GOOD),
        (GOOD, ODD),
        ("하하하하 하하", "하하하"),
        ("네", GOOD),
        ("", GOOD),
        ("", ""),
    ],
)
def test_similarity_is_what_sacrebleu_tells(text, other):
    assert reranking.similarity(text, other) == pytest.approx(CHRF().sentence_score(text, [other]).score)


def test_similarity_can_be_told_by_hand():
    # Of "가나다" and "가나라": 2 of 3 characters, 1 of 2 pairs, 0 of 1: as much precision as recall.
    assert reranking.similarity("가나다", "가나라") == pytest.approx(100 * (2 / 3 + 1 / 2 + 0) / 3)
