import numpy as np
import pytest

from keras_transformer.text.question_forms import FORMS, has_form, in_another_form
from keras_transformer.text.thesaurus import Thesaurus


def others(text, draws=300):
    random = np.random.default_rng(0)
    return {in_another_form(text, random) for _ in range(draws)}


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("반품하고 싶어요", {"반품할래요", "반품하려면 어떻게 해요", "반품 되나요"}),
        ("교환은 어떻게 신청하나요?", {"교환할래요", "교환하고 싶은데요"}),
        ("주차장이 있나요?", {"주차장이 있어요", "주차장이 있음"}),
        ("배송비 얼마예요?", {"배송비 얼마인가요", "배송비 얼마"}),
        ("이름이 뭐야", {"이름이 뭐예요", "이름이 뭐"}),
        ("며칠 걸리나요?", {"며칠 걸리는지 알려 주세요", "며칠 걸리"}),
    ],
)
@pytest.mark.parametrize("marks", ["", ".", "!!", "~ㅠㅠ", "？"])
def test_a_form_is_replaced_by_others_and_the_rest_stays(text, marks, forms):
    found = others(text + marks)
    assert forms | {text + marks} <= found
    assert all(one.startswith(text[:2]) for one in found)


@pytest.mark.parametrize(
    "text",
    [
        *("", "배고파", "하고 싶어요", "how do i return it?", "2층 있"),
        *("환불 불가능한가요", "로그인이 안 돼요", "먹어도 돼요", "기간이 어떻게 돼요?", "어떡하죠"),
        *("담임", "게임", "분야", "먹어야", "끝나요", "만나요", "맛있어요"),
        *("알레르기가 있는데 급식 괜찮을까요", "결제하려는데 쿠폰이 안 먹혀요", "피해 주민 지원 신청"),
    ],
)
def test_what_has_no_form_stays(text):
    assert others(text, 20) == {text}
    assert not has_form(text)


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("오늘 주문하면 오늘 보내 주나요", "오늘 주문하면 오늘 보내 주"),
        ("주차할 수 있는 곳이 어디예요", "주차할 수 있는 곳이 어디"),
        ("맛있는 메뉴 추천해 주세요", "맛있는 메뉴 추천"),
    ],
)
def test_what_is_asked_for_stays(text, topic):
    assert all(one.startswith(topic) for one in others(text))


def test_every_replacement_that_is_not_empty_is_a_form_itself():
    for form in FORMS:
        for other in filter(None, form.others):
            assert has_form(f"반품{other}"), other


def test_a_question_without_synonyms_is_paraphrased_by_its_form_and_an_answer_is_not():
    random = np.random.default_rng(0)
    made = Thesaurus([]).paraphrases("반품할래요", 50, random, forms=True)
    assert "반품하고 싶어요" in made and "반품할래요" not in made
    assert Thesaurus([]).paraphrases("반품할래요", 50, random) == []
