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
        ("반품하고 싶어요", {"반품할래요", "반품하려면 어떻게 해요", "반품되나요"}),
        ("교환은 어떻게 신청하나요?", {"교환할래요", "교환하고 싶은데요"}),
        ("주차장이 있나요?", {"주차장이 있어요", "주차장이 있음"}),
        ("배송비 얼마예요?", {"배송비 얼마인가요", "배송비 얼마"}),
        ("며칠 걸리나요?", {"며칠 걸리는지 알려 주세요", "며칠 걸리"}),
    ],
)
def test_a_form_is_replaced_by_others_and_the_rest_stays(text, forms):
    found = others(text)
    assert forms | {text} <= found
    rest = text[:2]
    assert all(one.startswith(rest) for one in found)


@pytest.mark.parametrize("text", ["", "배고파", "하고 싶어요", "how do i return it?", "2층 있"])
def test_what_has_no_form_stays(text):
    assert others(text, 20) == {text}
    assert not has_form(text)


def test_every_replacement_that_is_not_empty_is_a_form_itself():
    for form in FORMS:
        for other in filter(None, form.others):
            assert has_form(f"반품{other}"), other


def test_a_question_without_synonyms_is_paraphrased_by_its_form():
    made = Thesaurus([]).paraphrases("반품할래요", 20, np.random.default_rng(0))
    assert "반품하고 싶어요" in made and "반품할래요" not in made
