"""Rewords known questions as users do, to evaluate a run, never to train it.

Each function takes a question in Korean or English and returns the reworded question, or None if it does not apply. The
same question is always reworded in the same way.
"""

import hashlib
import re
import unicodedata

KOREAN_LAUGHTER = ("ㅋㅋ", "ㅠㅠ", "!!", "ㅎㅎ", "~")
ENGLISH_LAUGHTER = ("!!", "~", " :)", " lol", " haha")

ASKED = "뭐|거|언제|얼마|누구|어디"
POLITE = "해|어|아|나|가|까|네|지|고|돼|줘|려|져|봐|와|워|써|사|타|내|래|데|면|서"
FINALS, FINAL_SS, FINAL_BS, FINAL_L = (
    "[\u11a8-\u11c2]",
    "\u11bb",
    "\u11b9",
    "\u11af",
)  # Any final consonant, and those of 있, 없, 할.
NOUNS = "".join(f"(?<!{syllable})" for syllable in "올이피오방손침저")  # 올해, 이해, 피해, … are not verbs.
KOREAN_ENDINGS = (
    # Polite to plain.
    ("예요", "야"),
    ("이에요", "이야"),
    ("주세요", "줘"),
    (f"({POLITE})요", r"\1"),
    ("죠", "지"),
    # Formal to polite.
    (f"({FINAL_SS}|{FINAL_BS}|싶)습니다", r"\1어요"),
    ("합니다", "해요"),
    ("드립니다", "드려요"),
    # Plain to polite.
    (f"({ASKED})야", r"\1예요"),
    (f"({FINALS})이야", r"\1이에요"),
    (f"{NOUNS}해", "해요"),
    (f"((?:{FINAL_SS}|{FINAL_BS}|싫|싶)어|(?:좋|많|같)아|아파|고파|몰라|줘|돼|봐)", r"\1요"),
    (f"((?:{FINAL_SS}|{FINAL_BS}|되)나|(?:는|인|은)가|{FINAL_L}까)", r"\1요"),
    (f"{FINAL_SS}지", f"{FINAL_SS}죠"),
)
"""Endings of sentences and what stands in their place, the first that fits. All are regular: other endings stay."""

CONTRACTIONS = (
    ("what's", "what is"), ("where's", "where is"), ("who's", "who is"), ("how's", "how is"), ("that's", "that is"),
    ("there's", "there is"), ("it's", "it is"), ("i'm", "i am"), ("you're", "you are"), ("we're", "we are"),
    ("they're", "they are"), ("i've", "i have"), ("don't", "do not"), ("doesn't", "does not"), ("didn't", "did not"),
    ("can't", "cannot"), ("won't", "will not"), ("isn't", "is not"), ("aren't", "are not"), ("wasn't", "was not"),
)  # fmt: skip
# "Why isn't it …?" and "Don't you …?" cannot be written in two words where they stand.
WITHIN_A_STATEMENT = r"(?<=\w )" + "".join(f"(?<!{word} )" for word in ("why", "what", "how", "when", "where"))
NO_SUBJECT_NEXT = r"(?! (?:i|you|he|she|it|we|they|there)\b)"
WORD_NEXT = r"(?= \w)(?! (?:been|got|it|to)\b)"  # Not in "what it is", "what is it", "it's been" or "I have to".

KEYBOARDS = (("ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔ", "ㅁㄴㅇㄹㅎㅗㅓㅏㅣ", "ㅋㅌㅊㅍㅠㅜㅡ"), ("qwertyuiop", "asdfghjkl", "zxcvbnm"))
VOWEL_KEYS = "ㅛㅕㅑㅐㅔㅗㅓㅏㅣㅠㅜㅡ"
SYLLABLE = (
    "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ",
    "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ",
    " ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ",
)
"""The letters of a Hangul syllable in the order of Unicode: first consonants, vowels, last consonants or none."""
FIRST_SYLLABLE = ord("가")


def pick(question, options):
    """Returns one of the options, selected by a hash of the question."""
    return options[int(hashlib.sha256(question.encode("utf-8")).hexdigest()[:8], 16) % len(options)]


def is_korean(question):
    """Returns whether a question contains a Hangul syllable."""
    return re.search("[가-힣]", question) is not None


def is_english(question):
    """Returns whether a question contains Latin letters and no Hangul."""
    return not is_korean(question) and re.search("[A-Za-z]", question) is not None


def without_spaces(question):
    """Returns a Korean question without its spaces. English is not typed in this way."""
    together = re.sub(r"\s+", "", question)
    return together if is_korean(question) and together != question else None


def with_laughter(question):
    """Returns the question with an expression of laughter, tears or excitement at its end."""
    if is_korean(question):
        return question + pick(question, KOREAN_LAUGHTER)
    return question + pick(question, ENGLISH_LAUGHTER) if is_english(question) else None


def other_ending(question):
    """Returns a Korean question in another speech level; an English one with another contraction or a "please"."""
    if is_korean(question):
        return other_speech_level(question)
    return (exchanged_contraction(question) or with_please(question)) if is_english(question) else None


def other_speech_level(question):
    """Returns a Korean question in another speech level; None if its ending is not one of `KOREAN_ENDINGS`."""
    body, mark = re.fullmatch(r"(.*?)([\s?!.~…]*)", question, re.DOTALL).groups()
    body = unicodedata.normalize("NFD", body)  # An ending may begin within a syllable, as in 있, which ends in ㅆ.
    for ending, other in KOREAN_ENDINGS:
        pattern = unicodedata.normalize("NFD", ending) + "$"
        changed, count = re.subn(pattern, unicodedata.normalize("NFD", other), body)
        if count:
            return unicodedata.normalize("NFC", changed) + mark
    return None


def exchanged_contraction(question):
    """Returns an English question with its first contraction expanded, or two words contracted; None without either."""
    for short, long in CONTRACTIONS:
        guards = (WITHIN_A_STATEMENT, NO_SUBJECT_NEXT) if short.endswith("n't") else ("", WORD_NEXT)
        for old, new, before, after in ((short, long, *guards), (long, short, "", WORD_NEXT)):
            changed, count = re.subn(
                rf"{before}\b{old}\b{after}", lambda found, new=new: like(found[0], new), question, count=1, flags=re.I
            )
            if count:
                return changed
    return None


def like(model, text):
    """Returns a text with the first letter in the case of the model's."""
    return text[0].upper() + text[1:] if model[0].isupper() else text


def with_please(question):
    """Returns an English question with a "please" at its end; None if it is not a question."""
    return f"{question[:-1]} please?" if question.endswith("?") else None


def one_letter_wrong(question):
    """Returns the question with a typo: one adjacent key pressed in a word of at least two letters."""
    typed = [
        question[:place] + wrong + question[place + 1 :]
        for word in re.finditer("[가-힣]{2,}|[A-Za-z]{2,}", question)
        for place in range(*word.span())
        for wrong in mistyped(question[place])
    ]
    return pick(question, typed) if typed else None


def mistyped(character):
    """Returns all results of hitting one adjacent key while typing a Latin letter or a Hangul syllable."""
    if character.isascii():
        wrong = neighbours(character.lower())
        return [letter.upper() for letter in wrong] if character.isupper() else wrong
    first, rest = divmod(ord(character) - FIRST_SYLLABLE, 588)
    places = [first, *divmod(rest, 28)]
    found = []
    for part, letters in enumerate(SYLLABLE):
        for wrong in neighbours(letters[places[part]]):
            first, vowel, last = (letters.index(wrong) if part == other else places[other] for other in range(3))
            found.append(chr(FIRST_SYLLABLE + (first * 21 + vowel) * 28 + last))
    return found


def neighbours(letter):
    """Returns the letters on the adjacent keys; in Hangul, only vowels for a vowel, only consonants for a consonant."""
    for rows in KEYBOARDS:
        for row, keys in enumerate(rows):
            if letter in keys:
                place = keys.index(letter)
                beside = {(row, place - 1), (row, place + 1), (row - 1, place), (row - 1, place + 1)}
                beside |= {(row + 1, place - 1), (row + 1, place)}
                found = [rows[r][k] for r, k in sorted(beside) if r in range(3) and k in range(len(rows[r]))]
                return [other for other in found if (other in VOWEL_KEYS) == (letter in VOWEL_KEYS)]
    return []


REWORDINGS = {
    "without spaces": without_spaces,
    "with laughter": with_laughter,
    "another ending": other_ending,
    "one letter wrong": one_letter_wrong,
}
"""By their names."""
