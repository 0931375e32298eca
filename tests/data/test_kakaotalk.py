"""Chats as KakaoTalk exports them. The people and what they say are made up."""

import pytest

from keras_transformer import InputError
from keras_transformer.data.readers import read_rows

WINDOWS = """\
지민 님과 카카오톡 대화
저장한 날짜 : 2023-05-02 10:00:00

--------------- 2023년 5월 1일 월요일 ---------------
서준님이 들어왔습니다.
[지민] [오후 3:15] 안녕
[지민] [오후 3:15] 뭐 해?
[서준] [오후 3:16] 책 읽어
두 번째 줄
[지민] [오후 3:17] 그래
지민님이 민서님을 초대했습니다.
[서준] [오후 3:18] 응
"""
WINDOWS_ENGLISH = """\
Jimin with KakaoTalk Chats
Date Saved: 2023-05-02 10:00:00

--------------- Monday, May 1, 2023 ---------------
Seojun joined this chatroom.
[Jimin] [3:15 PM] 안녕
[Jimin] [3:15 PM] 뭐 해?
[Seojun] [3:16 PM] 책 읽어
두 번째 줄
[Jimin] [3:17 PM] 그래
Jimin invited Minseo.
[Seojun] [3:18 PM] 응
"""
ANDROID = """\
지민 님과 카카오톡 대화
저장한 날짜 : 2023년 5월 2일 오전 10:00


2023년 5월 1일 오후 3:15
2023년 5월 1일 오후 3:15, 지민 : 안녕
2023년 5월 1일 오후 3:15, 지민 : 뭐 해?
2023년 5월 1일 오후 3:16, 서준 : 책 읽어
두 번째 줄
2023년 5월 1일 오후 3:17, 지민 : 그래
2023년 5월 1일 오후 3:17, 지민님이 민서님을 초대했습니다.
2023년 5월 1일 오후 3:18, 서준 : 응
"""
ANDROID_ENGLISH = """\
KakaoTalk Chats with Jimin
Date Saved : May 2, 2023, 10:00 AM


May 1, 2023, 3:15 PM
May 1, 2023, 3:15 PM, Jimin : 안녕
May 1, 2023, 3:15 PM, Jimin : 뭐 해?
May 1, 2023, 3:16 PM, Seojun : 책 읽어
두 번째 줄
May 1, 2023, 3:17 PM, Jimin : 그래
May 1, 2023, 3:17 PM, Jimin invited Minseo.
May 1, 2023, 3:18\u202fPM, Seojun : 응
"""
IOS = """\
지민 님과 카카오톡 대화
저장한 날짜 : 2023. 5. 2. 오전 10:00


2023년 5월 1일 월요일
2023. 5. 1. 오후 3:15, 지민 : 안녕
2023. 5. 1. 오후 3:15, 지민 : 뭐 해?
2023. 5. 1. 오후 3:16, 서준 : 책 읽어
두 번째 줄
2023. 5. 1. 오후 3:17, 지민 : 그래
2023. 5. 1. 오후 3:17: 지민님이 민서님을 초대했습니다.
2023. 5. 1. 오후 3:18, 서준 : 응
"""
IOS_TIMES = """\
지민 님과 카카오톡 대화
저장한 날짜 : 2023년 5월 2일 오전 10:00


2023년 5월 1일 월요일
오후 3:15, 지민 : 안녕
오후 3:15, 지민 : 뭐 해?
오후 3:16, 서준 : 책 읽어
두 번째 줄
오후 3:17, 지민 : 그래
오후 3:17, 지민님이 민서님을 초대했습니다.
오후 3:18, 서준 : 응
"""
IOS_ENGLISH = """\
Talk_2023.5.2 10:00-1.txt
Date Saved : May 2, 2023 at 10:00


Monday, May 1, 2023
May 1, 2023 at 15:15, Jimin : 안녕
May 1, 2023 at 15:15, Jimin : 뭐 해?
May 1, 2023 at 15:16, Seojun : 책 읽어
두 번째 줄
May 1, 2023 at 15:17, Jimin : 그래
May 1, 2023 at 15:17: Jimin invited Minseo .
May 1, 2023 at 15:18, Seojun : 응
"""
MAC = """\
Date,User,Message
2023-05-01 15:14:00,"서준","서준님이 들어왔습니다."
2023-05-01 15:14:30,"","시스템 알림"
2023-05-01 15:14:40,"서준","사진"


2023-05-01 15:15:00,"지민","안녕
뭐 해?"
2023-05-01 15:16:00,"서준","책 읽어
두 번째 줄"
2023-05-01 15:17:00,"지민","그래"
2023-05-01 15:18:00,"서준","응"
"""
PAIRS = [("안녕 뭐 해?", "책 읽어 두 번째 줄"), ("책 읽어 두 번째 줄", "그래"), ("그래", "응")]
EXPORTS = {
    "windows": WINDOWS, "windows in English": WINDOWS_ENGLISH, "android": ANDROID,
    "android in English": ANDROID_ENGLISH, "ios": IOS, "ios with times alone": IOS_TIMES,
    "ios in English": IOS_ENGLISH, "mac": MAC,
}  # fmt: skip


def write(tmp_path, text, name="KakaoTalk.txt"):
    path = tmp_path / name
    path.write_bytes(text.encode("utf-8-sig"))
    return path


def talk(*messages):
    """The rows of a chat of (time, speaker, text) on a day."""
    lines = (f"[{speaker}] [{moment}] {text}" for moment, speaker, text in messages)
    return "\n".join(
        ["저장한 날짜 : 2023-05-02 10:00:00", "--------------- 2023년 5월 1일 월요일 ---------------", *lines]
    )


def pairs(path, **options):
    return [row[1:3] for row in read_rows(path, **options)]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("export", EXPORTS)
def test_exports(tmp_path, export, line_end):
    path = write(tmp_path, EXPORTS[export].replace("\n", line_end), f"Chat.{'csv' if export == 'mac' else 'txt'}")
    rows = list(read_rows(path))
    assert [row[1:3] for row in rows] == PAIRS
    assert [row[3] for row in rows] == [None] * 3
    assert {row[4] for row in rows} == {"안녕 뭐 해?"}
    assert [row[0] for row in rows] == ([7, 9, 11] if export == "mac" else [6, 8, 10])


@pytest.mark.parametrize("export", EXPORTS)
def test_names_of_speakers_are_in_no_text(tmp_path, export):
    path = write(tmp_path, EXPORTS[export], f"Chat.{'csv' if export == 'mac' else 'txt'}")
    texts = " ".join(text for row in read_rows(path) for text in (*row[1:3], row[4]))
    assert not [name for name in ("지민", "서준", "민서", "Jimin", "Seojun", "Minseo") if name in texts]


def test_earlier_turns_are_read_too(tmp_path):
    assert pairs(write(tmp_path, WINDOWS), turns=2) == [
        ("안녕 뭐 해?", "책 읽어 두 번째 줄"),
        ("안녕 뭐 해?\n책 읽어 두 번째 줄", "그래"),
        ("책 읽어 두 번째 줄\n그래", "응"),
    ]


def test_a_pause_of_six_hours_ends_a_conversation(tmp_path):
    day = "--------------- 2023년 5월 2일 화요일 ---------------"
    text = talk(("오후 3:15", "가", "a"), ("오후 9:15", "나", "b"), ("오후 9:16", "가", "c"))
    text += f"\n{day}\n[나] [오전 3:17] d\n[가] [오전 12:00] 시계를 되돌림\n[나] [오후 12:30] e"
    assert pairs(write(tmp_path, text)) == [("a", "b"), ("b", "c"), ("d", "시계를 되돌림")]


@pytest.mark.parametrize(
    "unwritten",
    [
        "사진", "사진 3장", "동영상", "이모티콘", "(이모티콘)", "음성메시지", "삭제된 메시지입니다.", "지도: 서울역",
        "파일: 회의록.hwp", "보이스톡 해요", "보이스톡 0:17", "<사진 읽지 않음>", "Photo", "2 photos", "Video",
        "Emoticon", "Voice Note", "This message was deleted.", "File: a.pdf", "Voice Call 00:12", "0f1e2d3c4b5a.jpg",
    ],
)  # fmt: skip
def test_what_answers_a_picture_answers_no_text(tmp_path, unwritten):
    messages = (
        ("오후 3:15", "가", "a"),
        ("오후 3:16", "나", unwritten),
        ("오후 3:16", "나", "b"),
        ("오후 3:17", "가", "c"),
    )
    assert pairs(write(tmp_path, talk(*messages))) == [("a", "b"), ("b", "c")]
    messages = (
        ("오후 3:15", "가", "a"),
        ("오후 3:16", "나", unwritten),
        ("오후 3:17", "가", "b"),
        ("오후 3:18", "나", "c"),
    )
    assert pairs(write(tmp_path, talk(*messages))) == [("b", "c")]


@pytest.mark.parametrize("text", ["사진 예쁘다", "보이스톡 할까?", "파일 보냈어", "photo of a cat", "(이모티콘) 좋아"])
def test_words_about_pictures_are_words(tmp_path, text):
    messages = ("오후 3:15", "가", text), ("오후 3:16", "나", "응")
    assert pairs(write(tmp_path, talk(*messages))) == [(text.removeprefix("(이모티콘) "), "응")]


def test_a_line_that_only_looks_like_another_message_is_part_of_one(tmp_path):
    text = (
        ANDROID
        + "2023년 5월 1일 오후 3:19 이후에 보자\n[공지] 3:20, 역 : 앞\n2023년 5월 1일 오후 3:20, 지민 : 3:15 : 좋아\n"
    )
    assert pairs(write(tmp_path, text))[-1] == (
        "응 2023년 5월 1일 오후 3:19 이후에 보자 [공지] 3:20, 역 : 앞",
        "3:15 : 좋아",
    )


def test_dates_and_times_that_are_none(tmp_path):
    text = "저장한 날짜 : 1\n[가] [오후 3:15] a\n[나] [오후 29:99] b\n2023년 13월 41일 오후 3:15, 가 : c\n"
    text += "May 32, 2023 at 1:00, 나 : d\n"
    assert pairs(write(tmp_path, text)) == [("a", "b"), ("b", "c"), ("c", "d")]


@pytest.mark.parametrize(
    "text",
    [
        "안녕\t네\n2023년 5월 1일 월요일\t응\n",
        "[a] [b]\t[가]\n3:15\t오후 3:15, 나 : x\n",
        "저장한 날짜 : 1\t응\nb\tc\n",
    ],
)
def test_tab_separated_text_is_no_chat(tmp_path, text):
    assert pairs(write(tmp_path, text)) == [tuple(line.split("\t")) for line in text.splitlines()]


def test_the_columns_of_a_chat_may_be_named(tmp_path):
    path = write(tmp_path, MAC, "chat.csv")
    assert pairs(path, question="User", answer="Message")[-1] == ("서준", "응")


def test_broken_rows_of_a_table_are_told(tmp_path):
    path = write(tmp_path, MAC + '2023-05-01 15:19:00,"지민"\n2023-05-01 15:20:00,"지민","끝\n', "chat.csv")
    assert [(row[0], row[3]) for row in read_rows(path) if row[3]] == [
        (13, "2 columns instead of 3"),
        (14, "broken quotes"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "저장한 날짜 : 2023-05-02 10:00:00\n[지민] [오후 3:15] 안녕\n[지민] [오후 3:16] 뭐 해?\n",
        "저장한 날짜 : 2023-05-02 10:00:00\n",
        talk(("오전 3:15", "가", "a"), ("오후 3:16", "나", "b")),
    ],
    ids=["one speaker", "nothing", "too late"],
)
def test_a_chat_in_which_nobody_answers(tmp_path, text):
    with pytest.raises(InputError, match=r"KakaoTalk\.txt: no pair in this KakaoTalk chat: .* within 6 hours$"):
        pairs(write(tmp_path, text))


@pytest.mark.parametrize(
    "lines",
    [
        ["가 invited " * 20_000, "님을 초대" * 40_000, "] [" * 60_000, " : " * 60_000],
        ["이어지는 긴 줄입니다."] * 100_000,
        ["[서준] [오후 3:18] 혼자 계속 말합니다."] * 100_000,
    ],
    ids=["long lines", "many lines", "many messages"],
)
def test_odd_messages_take_linear_time(tmp_path, lines):
    assert len(pairs(write(tmp_path, WINDOWS + "\n".join(lines)))) == 3  # In seconds: otherwise in hours.


def test_words_on_leaving_are_words(tmp_path):
    text = (
        'Date,User,Message\n2023-05-01 15:15:00,"Jimin","Where is Minseo?"\n2023-05-01 15:16:00,"Seojun","He left."\n'
    )
    assert pairs(write(tmp_path, text, "chat.csv")) == [("Where is Minseo?", "He left.")]
