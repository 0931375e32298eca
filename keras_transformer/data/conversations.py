"""Conversations of several turns as questions and their answers."""

from keras_transformer.text.turns import BETWEEN

TURNS_NAMES = ("turns", "messages", "dialog", "dialogue", "conversation", "conversations", "utterances", "대화")
ROLE_NAMES = ("role", "from")
SILENT = ("system", "developer", "tool", "function")  # Roles of what nobody says.
TEXT_NAMES = ("content", "text", "utterance", "value", "발화", "내용")


def turns_of(record):
    """The turns of a conversation that a JSON object holds.

    Args:
        record: The object: a list under one of `TURNS_NAMES`, of texts, or of objects with one of `TEXT_NAMES`.

    Returns:
        A list, of texts where the record is as it should be, without what systems and tools say; None if it holds no
        conversation.
    """
    turns = next((record[name] for name in TURNS_NAMES if isinstance(record.get(name), list)), None)
    return None if turns is None else [text_of(turn) for turn in turns if not is_silent(turn)]


def is_silent(turn):
    """Whether a turn is an object that says it is nobody's."""
    return isinstance(turn, dict) and any(turn.get(name) in SILENT for name in ROLE_NAMES)


def text_of(turn):
    """The text of a turn that may be an object."""
    if not isinstance(turn, dict):
        return turn
    return next((turn[name] for name in TEXT_NAMES if name in turn), None)


def answered_turns(turns, limit):
    """Every turn but the first is an answer to those before it.

    Args:
        turns: Texts.
        limit: Turns that a question holds at most, the last ones.

    Yields:
        (question, answer); the turns of a question are its lines.
    """
    lines = [" ".join(turn.split()) for turn in turns]
    for i in range(1, len(lines)):
        yield BETWEEN.join(lines[max(0, i - limit) : i]), lines[i]
