"""Conversations, where each turn answers those before it, and what makes a text unusable."""

from keras_transformer.language import Message, translatable
from keras_transformer.text.turns import BETWEEN

TURNS_NAMES = ("turns", "messages", "dialog", "dialogue", "conversation", "conversations", "utterances", "대화")
ROLE_NAMES = ("role", "from")
SILENT = ("system", "developer", "tool", "function")  # Roles that are not part of the conversation.
TEXT_NAMES = ("content", "text", "utterance", "value", "발화", "내용")

QUESTION, ANSWER = Message("question"), Message("answer")
MISSING = {QUESTION: translatable("no question"), ANSWER: translatable("no answer")}
NUL = translatable("NUL character")


def turns_of(record):
    """Returns the turns of a conversation in a record.

    Args:
        record: A dictionary, with a list under one of `TURNS_NAMES`. Its elements are texts, or dictionaries with one
            of `TEXT_NAMES`.

    Returns:
        A list without the messages of systems and tools; its elements are texts if the record is valid. None if there
        is no conversation.
    """
    turns = next((record[name] for name in TURNS_NAMES if isinstance(record.get(name), list)), None)
    return None if turns is None else [text_of(turn) for turn in turns if not is_silent(turn)]


def is_silent(turn):
    """Returns whether a turn is a dictionary whose role is not part of the conversation."""
    return isinstance(turn, dict) and any(turn.get(name) in SILENT for name in ROLE_NAMES)


def text_of(turn):
    """Returns the text of a turn, which may be a dictionary."""
    if not isinstance(turn, dict):
        return turn
    return next((turn[name] for name in TEXT_NAMES if name in turn), None)


def answered_turns(turns, limit):
    """Yields a pair for every turn but the first; its question is the previous turns.

    Args:
        turns: Texts.
        limit: Maximum number of turns in a question; earlier turns are dropped.

    Yields:
        (question, answer); each turn of a question is a line.
    """
    lines = [" ".join(turn.split()) for turn in turns]
    for i in range(1, len(lines)):
        yield BETWEEN.join(lines[max(0, i - limit) : i]), lines[i]


def conversation_rows(row, conversation, limit):
    """Yields the pairs of a conversation, or its problem, as `read_rows` does.

    Args:
        row: Where it stands in the file.
        conversation: Its turns; texts, if it is valid.
        limit: Maximum number of turns in a question.
    """
    problems = (_turn_problem(text, number) for number, text in enumerate(conversation, 1))
    problem = next(filter(None, problems), None) or (Message("fewer than two turns") if len(conversation) < 2 else None)
    if problem:
        yield row, None, None, problem
        return
    for question, answer in answered_turns(conversation, limit):
        yield row, question, answer, None, conversation[0].strip()


def _turn_problem(text, number):
    turn = Message("turn {number}", number=number)
    return text_problem(text, turn) or (None if text.strip() else Message("no {what}", what=turn))


def text_problem(value, what):
    """Returns the problem of a value that should be a text; None if it is one.

    Args:
        value: The value.
        what: What it is: `QUESTION`, `ANSWER` or the `Message` of a turn.
    """
    if value is None:
        return MISSING.get(what) or Message("no {what}", what=what)
    if not isinstance(value, str):
        return Message("{what} is not a string", what=what)
    return half_a_character(value, what)  # JSON can escape a lone surrogate ("\ud83d").


def half_a_character(text, what):
    """Returns the problem of a text that contains a lone surrogate, which files and TensorFlow reject; else None."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return Message("{what} contains half a character", what=what)
    return None


def pair_problem(question, answer):
    """Returns the problem of a pair of texts; None if it is usable."""
    if not question:
        return MISSING[QUESTION]
    if not answer:
        return MISSING[ANSWER]
    if "\0" in question or "\0" in answer:
        return NUL
    # Some encodings have escapes of half a character, such as unicode_escape.
    return half_a_character(question, QUESTION) or half_a_character(answer, ANSWER)
