"""What a conversation adds to single questions: the turns before, and questions that a bot cannot answer."""

from keras_transformer.chat.chatbot import retrieved
from keras_transformer.text.turns import BETWEEN


def with_previous_turns(bot, history, question):
    """Returns the question, preceded by as many previous turns as the chatbot reads.

    Args:
        bot: The `Chatbot`.
        history: The previous questions and answers, alternating.
        question: The question.
    """
    before = history[1 - bot.turns :] if bot.turns > 1 else []
    return BETWEEN.join([*before, question])


def is_known(bot, query, way, generation=None):
    """Returns whether a question is answered from the datastore, given the `GenerationConfig`."""
    [near] = bot.matches([query], generation)
    return bot.retrieves(near, way)


def unknown_characters(bot, query, question, way, generation=None):
    """Returns the characters of a question if all are unknown and it cannot be retrieved, else an empty list.

    Args:
        bot: The `Chatbot`.
        query: The question with the turns before it.
        question: The question.
        way: The way of answering.
        generation: The `GenerationConfig`, if any.
    """
    if not bot.tokenizer.has_only_unknown(question) or is_known(bot, query, way, generation):
        return []
    return bot.tokenizer.unknown(question)


def suggestions(bot, query, way, generation=None):
    """Returns the nearest `Match`es if a bot that memorized its corpus does not know the question, else []."""
    if not bot.memorized:
        return []
    [near] = bot.matches([query], generation)
    return near if bot.retrieves(near, way) and retrieved(near).unsure else []


def questions_of(matches):
    """Returns the different questions of some `Match`es, in their order."""
    return list(dict.fromkeys(match.exchange.question for match in matches))
