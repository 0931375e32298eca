"""Chats that KakaoTalk exports, from Android, iOS, Windows and the Mac, in Korean and English.

The formats, of which KakaoTalk has no description, are those of the parsers and tests of `zeikar/kakaotalk-viewer`:

    [지민] [오후 3:15] 안녕                  Windows, below "--------------- 2023년 5월 1일 월요일 ---------------"
    2023년 5월 1일 오후 3:15, 지민 : 안녕    Android
    2023. 5. 1. 오후 3:15, 지민 : 안녕       iOS, below "2023년 5월 1일 월요일"
    오후 3:15, 지민 : 안녕                   iOS, the same
    May 1, 2023 at 15:15, Jimin : hi         iOS and Android in English
    2023-05-01 15:15:00,"지민","안녕"        Mac, a CSV file with the columns Date, User and Message

A line of none of these forms continues the message above it.
"""

import contextlib
import datetime
import re
import typing

from keras_transformer.data.conversations import answered_turns
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _

HEAD = 10  # The first lines, by which an export is recognized.
COLUMNS = ["Date", "User", "Message"]
PAUSE = datetime.timedelta(hours=6)  # A choice, not a measurement: shorter than a night, longer than a lesson.

DATE = (
    r"(?:(?P<year>\d{4})[년.] ?(?P<month>\d{1,2})[월.] ?(?P<day>\d{1,2})[일.]"
    r"|(?P<month_name>[A-Z][a-z]{2,8}) (?P<english_day>\d{1,2}), (?P<english_year>\d{4}))"
)
TIME = r"(?:(?P<noon>오전|오후)\s)?(?P<hour>\d{1,2}):(?P<minute>\d\d)(?:\s(?P<half>[AaPp])\.?[Mm]\.?)?"
SAVED = re.compile(r"(?:저장한 날짜|Date Saved) ?: ?[^\t]*\d[^\t]*")
DAY = re.compile(
    rf"(?P<line>-{{5,}} )?(?P<weekday>[A-Z][a-z]+day, )?{DATE}(?P<weekday_after> [월화수목금토일]요일)?(?: -{{5,}})?"
)
WINDOWS = re.compile(rf"\[(?P<speaker>.*?)\] \[{TIME}\](?: (?P<text>.*))?")
STAMPED = re.compile(rf"{DATE}(?:,| at)?\s{TIME}(?P<rest>[,:]\s.*)?")
TIMED = re.compile(rf"{TIME}(?P<rest>,\s.*)")
SPOKEN = re.compile(r",\s(?P<speaker>.*?) : ?(?P<text>.*)")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

NOBODY = "nobody"  # Who says a notice.
NOTICE = re.compile(
    r".*님이 (?:들어왔습니다|나갔습니다)\.?|.*님을 (?:초대|내보)(?:했|하였|냈)습니다\.?|채팅방 관리자가 .*습니다\.?"
    r"|.* (?:joined|left)(?: this chatroom| the chatroom)?\.|.* invited .*\."
)
LONGEST_NOTICE = 1000  # Characters. It may list whom somebody invites.
UNWRITTEN = re.compile(
    r"<?(?:사진|동영상)(?: 읽지 않음>)?(?: \d+[장개])?|이모티콘|\(이모티콘\)|음성 ?메시지|\(?삭제된 메시지입니다\.?\)?"
    r"|(?:파일|샵검색|지도|위치|연락처): .*|(?:보이스톡|페이스톡|그룹콜|라이브톡) (?:해요|취소|부재중|종료|\d+:\d\d).*"
    r"|(?:\d+ )?photos?(?: \d+)?|videos?|\(?emoticons?\)?|voice (?:note|message)|this message was deleted\."
    r"|file: .*|(?:voice|video) call.*|live talk.*|\S+\.(?:jpe?g|png|gif|webp|mp4|mov|m4a)",
    re.IGNORECASE,
)
"""Messages without words: pictures, stickers, calls, files, and what was deleted."""
STICKER = re.compile(r"^\((?:이모티콘|emoticon)\)\s*", re.IGNORECASE)  # Before the words that were sent with it.


class ChatMessage(typing.NamedTuple):
    """A message.

    Attributes:
        row: Its first line.
        moment: When it was sent; None if that is not known.
        speaker: Who sent it.
        text: What it says; "" for a picture, a sticker and the like.
        problem: The problem with its row; None if there is none.
    """

    row: int
    moment: datetime.datetime | None
    speaker: str
    text: str
    problem: str | None = None


class Conversation:
    """Messages without a long pause between them. Those of one person in a row are one turn."""

    def __init__(self):
        self._rows, self._turns = [], []
        self._speaker = None  # Of the last turn.
        self._last = None

    def ends_before(self, message):
        """Returns whether a message starts another conversation.

        That is so after a pause, and after another person's message without words: what answers a picture answers no
        text.
        """
        if self._last is None:
            return False
        if message.moment and self._last.moment and message.moment - self._last.moment > PAUSE:
            return True
        return not self._last.text and message.speaker != self._last.speaker

    def add(self, message):
        """Adds a message."""
        self._last = message
        if not message.text:
            return
        if message.speaker != self._speaker:
            self._speaker = message.speaker
            self._rows.append(message.row)
            self._turns.append([])
        self._turns[-1].append(message.text)

    def pairs(self, limit):
        """Yields the pairs as `read_rows` does, with the row of the turn that is answered."""
        turns = [" ".join(" ".join(texts).split()) for texts in self._turns]
        for row, (question, answer) in zip(self._rows, answered_turns(turns, limit)):
            yield row, question, answer, None, turns[0]


def chat_rows(path, messages, limit):
    """Yields the pairs of a chat, as `read_rows` does.

    Args:
        path: The file, for messages.
        messages: The `ChatMessage`s.
        limit: Maximum number of turns in a question.

    Raises:
        InputError: At the end, if there was no pair.
    """
    any_pair = False
    for row in _rows(messages, limit):
        any_pair = any_pair or row[3] is None
        yield row
    if not any_pair:
        raise InputError(
            _(
                "{path}: no pair in this KakaoTalk chat: a pair is a message and the answer of another person within "
                "{hours} hours",
                path=path,
                hours=PAUSE.seconds // 3600,
            )
        )


def _rows(messages, limit):
    conversation = Conversation()
    for message in messages:
        if message.problem:
            yield message.row, None, None, message.problem
            continue
        if conversation.ends_before(message):
            yield from conversation.pairs(limit)
            conversation = Conversation()
        conversation.add(message)
    yield from conversation.pairs(limit)


def is_export(lines):
    """Returns whether the first lines of a text file are those of an export of KakaoTalk."""
    lines = [line.strip() for line in lines]
    return any(SAVED.fullmatch(line) or isinstance(parsed(line, 1, None), ChatMessage) for line in lines)


def text_messages(lines):
    """Yields the `ChatMessage`s of the lines of an exported text file."""
    day, message, more = None, None, []
    for row, line in enumerate(lines, 1):
        line = line.rstrip("\r\n")
        found = parsed(line, row, day)
        if found is None:
            more.append(line)
            continue
        if message:
            yield with_words(message, more)
        message, more = found if isinstance(found, ChatMessage) else None, []
        day = found if isinstance(found, datetime.date) else day
    if message:
        yield with_words(message, more)


def parsed(line, row, day):
    """Returns what a line of an exported text file starts.

    Args:
        line: The line.
        row: Its number.
        day: The date above it; None if there is none.

    Returns:
        A `ChatMessage`, the date of a new day, `NOBODY` for a notice, or None: the line continues the message above it.
    """
    if match := DAY.fullmatch(line.strip()):
        return date_of(match) or NOBODY if match["line"] or match["weekday"] or match["weekday_after"] else None
    if match := WINDOWS.fullmatch(line):
        return ChatMessage(row, moment_of(match, day), match["speaker"], match["text"] or "") if match[1] else NOBODY
    if is_notice(line):
        return NOBODY
    if match := STAMPED.fullmatch(line):
        day = date_of(match)
    elif not (match := TIMED.fullmatch(line)):
        return None
    if not match["rest"]:
        return day or NOBODY
    spoken = SPOKEN.fullmatch(match["rest"])
    if not spoken or not spoken["speaker"].strip():
        return NOBODY
    return ChatMessage(row, moment_of(match, day), spoken["speaker"], spoken["text"])


def table_messages(records):
    """Yields the `ChatMessage`s of the rows of an exported CSV file, below its header."""
    for row, cells, problem in records:
        if problem:
            yield ChatMessage(row, None, "", "", problem)
            continue
        date, speaker, text = cells
        moment = None
        with contextlib.suppress(ValueError):
            moment = datetime.datetime.fromisoformat(date.strip())
        if speaker and not (text.startswith(speaker) and is_notice(text.strip())):
            yield with_words(ChatMessage(row, moment, speaker, text))


def is_notice(text):
    """Returns whether a text is a notice that somebody has come or gone."""
    return len(text) <= LONGEST_NOTICE and NOTICE.fullmatch(text)


def with_words(message, more=()):
    """Returns a message with nothing but its words: "" if it has none, such as a picture.

    Args:
        message: The `ChatMessage`.
        more: The lines below its first one.
    """
    text = "\n".join((message.text, *more)).strip()
    return message._replace(text="" if UNWRITTEN.fullmatch(text) else STICKER.sub("", text))


def date_of(match):
    """Returns the date that `DATE` has matched; None if there is no such day."""
    if match["year"]:
        numbers = match["year"], match["month"], match["day"]
    else:
        month = match["month_name"][:3].lower()
        numbers = match["english_year"], MONTHS.index(month) + 1 if month in MONTHS else 0, match["english_day"]
    with contextlib.suppress(ValueError):
        return datetime.date(*map(int, numbers))
    return None


def moment_of(match, day):
    """Returns the date and the time that `TIME` has matched; None if it is not one, or the date is not known."""
    hour = int(match["hour"])
    if half := match["noon"] or match["half"]:
        hour = hour % 12 + (12 if half in ("오후", "P", "p") else 0)
    with contextlib.suppress(ValueError):
        return day and datetime.datetime.combine(day, datetime.time(hour, int(match["minute"])))
    return None
