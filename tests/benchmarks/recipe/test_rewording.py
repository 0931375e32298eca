import unicodedata

import pytest

from benchmarks.recipe import rewording
from benchmarks.recipe.corpora import faq
from benchmarks.recipe.rewording import (
    REWORDINGS,
    mistyped,
    neighbours,
    one_letter_wrong,
    other_ending,
    with_laughter,
    without_spaces,
)


@pytest.mark.parametrize(
    ("question", "together"),
    [
        ("배송은 며칠 걸리나요?", "배송은며칠걸리나요?"),
        ("휴관일이 언제인가요?", "휴관일이언제인가요?"),
        ("안녕하세요", None),
        ("How do I place an order?", None),
    ],
)
def test_spaces_are_left_out_of_korean(question, together):
    assert without_spaces(question) == together


def test_laughter_stands_at_the_end_and_suits_the_language():
    assert with_laughter("배송비 얼마예요?") == "배송비 얼마예요?ㅋㅋ"
    assert with_laughter("What are your opening hours?") == "What are your opening hours? :)"
    assert with_laughter("1 + 1") is None
    for language, signs in (("ko", rewording.KOREAN_LAUGHTER), ("en", rewording.ENGLISH_LAUGHTER)):
        questions = [question for question, _ in faq(language, 300)]
        assert {with_laughter(question).removeprefix(question) for question in questions} == set(signs)


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("언제 도착해요?", "언제 도착해?"),
        ("배송비 얼마예요?", "배송비 얼마야?"),
        ("무슨 요일이에요?", "무슨 요일이야?"),
        ("주소를 잘못 적었어요", "주소를 잘못 적었어"),
        ("배송은 며칠 걸리나요?", "배송은 며칠 걸리나?"),
        ("무료인가요?", "무료인가?"),
        ("가격표 빼고 보내 주세요", "가격표 빼고 보내 줘"),
        ("카드로 낼 수 있죠?", "카드로 낼 수 있지?"),
        ("책을 기증하고 싶습니다.", "책을 기증하고 싶어요."),
        ("주문했습니다", "주문했어요"),
        ("감사합니다", "감사해요"),
        ("너 뭐 해?", "너 뭐 해요?"),
        ("이름이 뭐야?", "이름이 뭐예요?"),
        ("좋은 아침이야", "좋은 아침이에요"),
        ("시험 끝났어!", "시험 끝났어요!"),
        ("정말 많아~", "정말 많아요~"),
        ("방법 있나", "방법 있나요"),
        ("정리할 수 있을까?", "정리할 수 있을까요?"),
        ("벌써 했지?", "벌써 했죠?"),
        ("여자 선생님 계세요?", None),
        ("서류 필요", None),
        ("벌써 올해", None),
        ("우리 동네", None),
        ("하나", None),
    ],
)
def test_korean_speech_levels_are_exchanged(question, other):
    assert other_ending(question) == other


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("What's your phone number?", "What is your phone number?"),
        ("Where is my package?", "Where's my package?"),
        ("what is attention", "what's attention"),
        ("I'm afraid of needles", "I am afraid of needles"),
        ("I am tired", "I'm tired"),
        ("I can't decide", "I cannot decide"),
        ("I do not know", "I don't know"),
        ("Can I return something I've opened?", "Can I return something I have opened?"),
        ("Why isn't my coupon working?", "Why isn't my coupon working please?"),
        ("Don't you sleep?", "Don't you sleep please?"),
        ("Tell me what it is", None),
        ("What is it?", "What is it please?"),
        ("How long do I have to wait?", "How long do I have to wait please?"),
        ("How do I place an order?", "How do I place an order please?"),
        ("I lost my card", None),
        ("1 + 1", None),
    ],
)
def test_english_contractions_are_exchanged_or_please_is_added(question, other):
    assert other_ending(question) == other


def test_neighbours_are_those_of_the_keyboard():
    assert neighbours("ㄱ") == ["ㄷ", "ㅅ", "ㅇ", "ㄹ"]
    assert neighbours("ㅏ") == ["ㅑ", "ㅐ", "ㅓ", "ㅣ", "ㅡ"]
    assert neighbours("g") == ["t", "y", "f", "h", "v", "b"]
    assert neighbours("ㅘ") == neighbours("1") == []


def test_a_syllable_keeps_all_letters_but_one():
    assert mistyped("가") == ["다", "사", "아", "라", "갸", "개", "거", "기", "그"]
    assert mistyped("잠") == ["밤", "담", "맘", "남", "쟘", "잼", "점", "짐", "즘", "잡", "잦", "잔", "잨"]
    assert mistyped("Q") == ["W", "A"]


def test_one_letter_is_wrong_in_a_word_of_two_letters_at_least():
    assert one_letter_wrong("배송비 얼마예요?") == "배송비 얼나예요?"
    assert one_letter_wrong("What are your opening hours?") == "Whaf are your opening hours?"
    assert one_letter_wrong("I a 1 꽃") is None
    for language in ("ko", "en"):
        for question, _ in faq(language, 300):
            wrong = one_letter_wrong(question)
            assert wrong != question and len(wrong) == len(question)
            letters = [unicodedata.normalize("NFD", text) for text in (question, wrong)]
            assert sum(right != other for right, other in zip(*letters, strict=True)) == 1


@pytest.mark.parametrize("name", REWORDINGS)
def test_a_question_is_always_reworded_in_the_same_way(name):
    questions = [question for question, _ in faq("ko", 300)]
    reworded = [REWORDINGS[name](question) for question in questions]
    assert reworded == [REWORDINGS[name](question) for question in questions]
    assert sum(one is not None for one in reworded) > 280
    assert all(one != question for one, question in zip(reworded, questions, strict=True))
