"""Endings with which the same is asked in Korean: 반품할래요, 반품하고 싶어요, 반품은 어떻게 하나요.

A small corpus has each question with one ending only, so nothing shows that the ending matters less than the topic.
In English, other beginnings ("I want to", "Can I") gained nothing: `benchmarks/CHATBOT.md`.
"""

import dataclasses
import re

CHANGED = 0.5  # Probability that a form is replaced.
MARKS = r"[\s?!.~…？ㅋㅎㅠㅜ]*$"  # What may follow an ending; it is dropped with it.


@dataclasses.dataclass(frozen=True)
class Form:
    """An ending of questions, and what may stand there instead.

    Attributes:
        pattern: Matches the end of a text.
        others: The texts that may replace it.
    """

    pattern: re.Pattern
    others: tuple

    def replaced(self, text, random):
        """Returns the text with one of the replacements, or as it is without this form."""
        return self.pattern.sub(lambda _: self.others[random.integers(len(self.others))], text, count=1)


def form(after, endings, *others):
    """Returns the `Form` of endings after a Hangul syllable for which the lookbehind `after` holds."""
    return Form(re.compile(rf"(?<=[가-힣]){after}(?:{endings}){MARKS}"), others)


FORMS = (
    # Requests, but no negation (안 돼요, 불가능해요), and no other question (먹어도 돼요, 떠들면 어떻게 돼요).
    form(
        "(?<![안못불도면서게떡])",
        " ?하고 ?싶(어요?|은데요?|습니다)| ?할(래요?|게요?|까요?)|"
        " ?하려(고요?|고 하는데요?|는데요?|면요?)( 어떻게 (해요|하나요|하죠|해야 (해요|하나요|돼요)))?|"
        " ?하는 ?(법|방법)( 좀| 알려 ?주세요|[이은] ?뭐예요|이요)?|[을를]? ?할 수 있(나요|어요|습니까|을까요|는지요?)|"
        " ?(되나요?|돼요?|될까요|되죠|되는지요?|됩니까)| ?가능(한가요|해요|할까요|한지요?|합니까)|"
        " ?해 ?(주세요|줘요?|주나요|주시나요|주실 수 있나요)|하나요|합니까|하죠|"
        " ?(하면|해도) (되나요|돼요|될까요|되죠)|"
        "[은는을를]? 어떻게 (신청)?(해요|하나요|하죠|해야 (해요|하나요|돼요)|하면 (되나요|돼요))",
        "하고 싶어요", "하고 싶은데요", "할래요", "할게요", "하려고요", "하려고 하는데요", "하려면요",
        "하려면 어떻게 해요", "해 주세요", "해주세요", "하는 법", "하는 방법", "할 수 있나요", "할 수 있어요",
        " 되나요", " 돼요", "해도 돼요", " 가능한가요", " 어떻게 해요", "은 어떻게 하나요",
    ),
    form(
        "(?<![맛멋미])",
        " ?있(나요?|어요?|습니까|을까요|음|는데요|는지( ?알려 ?주세요| 궁금해요|요)?)",
        " 있나요", " 있어요", " 있습니까", " 있을까요", " 있는지 궁금해요", " 있음",
    ),
    form(
        "",
        "인가요|이에요|예요|에요|입니까|일까요|이죠|인지요?( 알려 ?주세요)?|"
        "(?<=뭐)[야죠]|(?<=얼마|어디|언제|누구|며칠)[야죠]",
        "인가요", "예요", "입니까", "일까요", "이죠", "인지 알려 주세요", "",
    ),
    form(
        "(?<![끝만어지])",
        "나요|냐|는데요|는지( ?알려 ?주세요| 궁금해요|요)?",
        "나요", "는지요", "는지 알려 주세요", "는지 궁금해요", "는데요", "냐", "",
    ),
)  # fmt: skip


def has_form(text):
    """Returns whether a text has one of the `FORMS`."""
    return any(one.pattern.search(text) for one in FORMS)


def in_another_form(text, random):
    """Returns a text with each of its `FORMS` replaced or not, by chance."""
    for one in FORMS:
        if random.random() < CHANGED:
            text = one.replaced(text, random)
    return text
