import pytest

from keras_transformer.chat.courtesies import COURTESIES, courtesy

GREETING, THANKS, FAREWELL, ABOUT = COURTESIES[:4]
HELLO, THANK_YOU, GOODBYE, ABOUT_YOU = COURTESIES[4:]


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        (GREETING, ["안녕", "안녕하세요~", "안녕하세요 반갑습니다!", "안녕 ㅎㅎ", "ㅎㅇ", "저기요…", "하이 🙂"]),
        (THANKS, ["고마워요!!", "네 감사합니다 ㅎㅎ", "ㄱㅅ", "알려줘서 고마워", "정말 정말 고맙습니다."]),
        (FAREWELL, ["잘 가", "안녕히 계세요", "네 수고하세요~", "바이바이", "다음에 또 봐요"]),
        (ABOUT, ["누구세요?", "넌 누구야", "뭐 할 수 있어?", "뭘 물어보면 돼요?", "도와주세요", "너 이름이 뭐야"]),
        (HELLO, ["hi", "Hello!", "hey there", "Good morning", "HELLO bot"]),
        (THANK_YOU, ["thanks", "Thank you so much!", "ok thanks", "thanks for your help"]),
        (GOODBYE, ["bye", "Good night", "Thanks, bye!", "see you later", "Have a nice day."]),
        (ABOUT_YOU, ["who are you?", "What can I ask?", "help", "are you a bot?", "What's your name?"]),
    ],
)  # fmt: skip
def test_what_people_say_to_any_bot(said, texts):
    for text in texts:
        assert courtesy(text) is said, text


@pytest.mark.parametrize(
    "text",
    [
        "", "!", "배송 언제 와요?", "감사 기간은 언제인가요?", "안녕하세요 배송 조회하고 싶어요", "계정 도와주세요",
        "사람이랑 통화하고 싶어요", "hi, where is my parcel?", "there", "goodbye party",
        "help with an order", "how can I thank the courier?",
    ],
)  # fmt: skip
def test_questions_are_none(text):
    assert courtesy(text) is None
