"""Greetings, thanks and farewells, and questions about the bot itself, which no FAQ answers and everybody types."""

import dataclasses
import re

from keras_transformer.text.normalize import compose


@dataclasses.dataclass(frozen=True)
class Courtesy:
    """What people say to any bot, and the reply.

    Attributes:
        pattern: Regular expression of the whole text in lower case, with nothing but letters and digits left. It uses
            what Python and JavaScript have in common.
        reply: The reply.
        with_examples: Whether questions that the bot knows follow the reply.
    """

    pattern: str
    reply: str
    with_examples: bool


COURTESIES = (
    Courtesy(
        "(안녕(하세요|하세여|하십니까|하신가요)?|안뇽|하이|헬로|ㅎㅇ|(만나서)?(반가워|반가워요|반갑습니다)|처음뵙겠습니다|"
        "좋은(아침|저녁|하루)(이야|이에요|이네요|입니다)?|굿모닝|여보세요|저기요|계세요|계신가요)+[ㅋㅎㅠㅜ]*",
        "안녕하세요! 예를 들어 이런 것을 물어보세요.",
        True,
    ),
    Courtesy(
        "(네|넵|예|아|오|와|정말|너무|진짜|대단히|답변|(알려|도와)(줘서|주셔서|주어서))*"
        "(고마워|고마워요|고맙습니다|감사|감사해요|감사합니다|감사드려요|감사드립니다|땡큐|ㄱㅅ)+[ㅋㅎㅠㅜ]*",
        "천만에요. 더 궁금한 것이 있으면 물어보세요.",
        False,
    ),
    Courtesy(
        "(네|넵|예|그럼|이만)*(잘(가|가요|있어|있어요)|안녕히(계세요|가세요|계십시오)|바이|빠이|ㅂㅂ|ㅂㅇ|"
        "수고(하세요|하셨습니다|많으셨어요)|다음에(봐|봐요|또봐요)|또(봐|봐요|올게|올게요))+[ㅋㅎㅠㅜ]*",
        "안녕히 가세요. 또 찾아 주세요.",
        False,
    ),
    Courtesy(
        "((너는?|넌|당신은)?(누구(야|니|세요|신가요)?|뭐(야|하는봇이야))|"
        "(너는?|넌|당신은)?(사람|로봇|봇|인공지능)(이야|이에요|인가요|이니|이세요|입니까)|(너|네|니|당신)?이름이뭐(야|예요|에요|니)|"
        "(뭐|뭘|무엇을|무얼)(할수있(어|어요|나요|니)|물어(보면|볼수)(돼|돼요|되나요|있어|있어요|있나요))|"
        "도움말|도와(줘|줘요|주세요))",
        "정해진 질문에 답하는 봇입니다. 예를 들어 이런 것을 물어보세요.",
        True,
    ),
    Courtesy(
        "(hi|hello|hallo|hey|hiya|howdy|greetings|good(morning|afternoon|evening|day)|nicetomeetyou)+(there|bot|all|everyone)?",
        "Hello! You can ask me, for example:",
        True,
    ),
    Courtesy(
        "(ok|okay|great|cool|perfect|many)*(thanks|thankyou|thx|cheers)+"
        "(alot|somuch|verymuch|again|foryourhelp|forthehelp|forhelping)*",
        "You are welcome. Ask me anything else.",
        False,
    ),
    Courtesy(
        "(ok|okay|thanks|thankyou)*(bye|goodbye|farewell|cya|see(you|ya)(later|soon)?|goodnight|havea(nice|good|great)day)+",
        "Goodbye!",
        False,
    ),
    Courtesy(
        "(whoareyou|whatareyou|whatisyourname|whatsyourname|areyou(abot|arobot|human|ahuman|real|anai)|whatcan(youdo|iask|iaskyou)|"
        "howcanyouhelp(me)?|help(me)?(please)?|canyouhelp(me)?)",
        "I am a bot that answers set questions, for example:",
        True,
    ),
)  # fmt: skip


def courtesy(text: str) -> Courtesy | None:
    """Returns the `Courtesy` that a text consists of, whatever its spaces and punctuation; None if it is another text.

    Example:
        >>> courtesy("안녕하세요~ 반갑습니다!").reply
        '안녕하세요! 예를 들어 이런 것을 물어보세요.'
        >>> courtesy("감사 일정이 언제예요?")
    """
    letters = "".join(character for character in compose(text).lower() if character.isalnum())
    return next((one for one in COURTESIES if re.fullmatch(one.pattern, letters)), None)
