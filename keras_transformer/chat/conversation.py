"""What a conversation adds to single questions: the turns before, and questions that a bot cannot answer."""

import dataclasses

from keras_transformer.chat.answering import GENERATE, Answer
from keras_transformer.chat.chatbot import retrieved
from keras_transformer.chat.courtesies import courtesy
from keras_transformer.text.turns import BETWEEN, turns_of

EXAMPLES = 3  # Known questions that are named as examples.
# Below this similarity, two questions with different answers and similarities that differ by less are both offered. In
# FAQs, this halves the wrong answers to questions in ordinary words (5.4 to 2.6 %), and withholds 2.5 % of right ones.
CLEAR_SIMILARITY, LEAST_LEAD = 0.8, 0.04


@dataclasses.dataclass(frozen=True)
class Guidance:
    """What a bot that memorized its corpus says in place of an answer.

    Attributes:
        reply: The reply to a `Courtesy`; "" if the bot does not know the question.
        questions: Known questions to ask instead.
        matches: The `Match`es that these questions are from; empty if they are examples.
    """

    reply: str
    questions: tuple = ()
    matches: tuple = ()


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


def guidance(bot, query, question, way, generation=None):
    """Returns the `Guidance` if a bot that memorized its corpus does not know what is asked for sure, else None.

    A courtesy that the corpus itself answers is a question like any other.

    Args:
        bot: The `Chatbot`.
        query: The question with the turns before it.
        question: The question.
        way: The way of answering.
        generation: The `GenerationConfig`, if any.
    """
    if not bot.memorized or way == GENERATE or not question.strip():
        return None
    [near] = bot.matches([query], generation)
    said = courtesy(question)
    if said and not (near and courtesy(near[0].exchange.question) == said):
        return Guidance(said.reply, examples(bot) if said.with_examples else ())
    if not near:
        return Guidance("", examples(bot))
    if bot.retrieves(near, way) and (retrieved(near).unsure or is_torn(near)):
        return Guidance("", tuple(dict.fromkeys(match.exchange.question for match in near)), tuple(near))
    return None


def is_torn(near):
    """Returns whether another question with a different answer is about as near as the first one of some `Match`es."""
    first, *others = near
    if first.similarity >= CLEAR_SIMILARITY:
        return False
    second = next((match for match in others if match.exchange.answer != first.exchange.answer), None)
    return second is not None and first.similarity - second.similarity < LEAST_LEAD


def courteous_answer(bot, question, way):
    """Returns the `Answer` to a greeting or another `Courtesy`, with examples of questions; None to another question.

    Args:
        bot: The `Chatbot`.
        question: The question; of several turns, the last one is replied to.
        way: The way of answering.
    """
    *_, last = turns_of(question, bot.turns) or [question]
    guide = guidance(bot, question, last, way) if courtesy(last) else None
    if not guide or not guide.reply:
        return None
    return Answer("\n".join([guide.reply, *(f"- {question}" for question in guide.questions)]), None, courteous=True)


def examples(bot):
    """Returns the first questions of the corpus that have different answers, as a tuple."""
    by_answer = {}
    for exchange in bot.datastore.exchanges():
        by_answer.setdefault(exchange.answer, exchange.question)
        if len(by_answer) == EXAMPLES:
            break
    return tuple(by_answer.values())
