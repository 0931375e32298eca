"""Forms in which the same is asked in Korean: 반품할래요, 반품하고 싶어요, 반품은 어떻게 하나요.

A small corpus has each question in one form only, and does not tell that the form matters less than what is asked for.
In English, other beginnings ("I want to", "Can I") gained nothing: `benchmarks/CHATBOT.md`.
"""

import dataclasses
import re

CHANGED = 0.5  # Probability that a form is replaced.


@dataclasses.dataclass(frozen=True)
class Form:
    """An ending of questions, and what may stand there instead.

    Attributes:
        pattern: Matches the end of a text.
        others: The replacements.
    """

    pattern: re.Pattern
    others: tuple

    def replaced(self, text, random):
        """Returns the text with one of the replacements, or as it is without this form."""
        return self.pattern.sub(lambda _: self.others[random.integers(len(self.others))], text, count=1)


def form(ending, *others):
    """Returns the `Form` of an ending after a Hangul syllable, with or without a question mark."""
    return Form(re.compile(rf"(?<=[가-힣])(?:{ending})\??$"), others)


FORMS = (
    form(
        " ?(하고 ?싶|할래|할게|하려|하는 ?(법|방법)|할 수 있|되나|돼요|되는|해도 ?[돼되]|가능|"
        "해 ?주|해줘|하나요|하면)[가-힣 ]*|[은는을를]? 어떻게 (해|하|신청|되|돼)[가-힣 ]*|[을를]? 할 수 있[가-힣 ]*",
        "하고 싶어요", "하고 싶은데요", "할래요", "할게요", "하려고요", "하려고 하는데요", "하려면요",
        "하려면 어떻게 해요", "해 주세요", "해주세요", "하는 법", "하는 방법", "할 수 있나요", "할 수 있어요",
        "되나요", "돼요", "해도 돼요", "가능한가요", " 어떻게 해요", "은 어떻게 하나요",
    ),
    form(
        " ?있[나어습을는음][가-힣 ]*",
        " 있나요", " 있어요", " 있습니까", " 있을까요", " 있는지 궁금해요", " 있음",
    ),
    form(
        "인가요|이에요|예요|에요|입니까|일까요|이죠|죠|인지요?( 알려 ?주세요)?|이야|야|임",
        "인가요", "예요", "입니까", "일까요", "이죠", "인지 알려 주세요", "야", "",
    ),
    form(
        "나요|냐|는지요?|는지 알려 ?주세요|는지 궁금[가-힣]*|는데요",
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
