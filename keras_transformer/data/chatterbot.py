"""Corpora of ChatterBot: YAML with a list of conversations, each a list of turns."""

from keras_transformer.data.conversations import conversation_rows
from keras_transformer.data.yaml_files import fields_of, items_of, line_of, scalar_of
from keras_transformer.language import Message, translatable

CONVERSATIONS = "conversations"


def chatterbot_rows(root, turns):
    """Yields the pairs of the conversations in a YAML file, and their problems, as `read_rows` does.

    Args:
        root: Its root node.
        turns: Maximum number of turns in a question.
    """
    for conversation in items_of(fields_of(root)[CONVERSATIONS]):
        row, texts = line_of(conversation), [scalar_of(turn) for turn in items_of(conversation)]
        if not texts:
            yield row, None, None, translatable("not a list of turns")
        elif None in texts:  # A colon in it makes it a mapping.
            yield row, None, None, Message("turn {number} is no text: put it in quotes", number=texts.index(None) + 1)
        else:
            yield from conversation_rows(row, texts, turns)
