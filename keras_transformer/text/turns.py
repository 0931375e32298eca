"""The turns of a conversation as one question: the line that is to be answered, after those before it."""

import itertools

BETWEEN = "\n"


def question_ids(tokenizer, questions, turns=1, max_length=None):
    """What the encoder reads.

    Args:
        tokenizer: A `Tokenizer`, for several turns one trained with a separator.
        questions: Texts; the lines of one are turns if there may be several.
        turns: Turns to read at most, the last ones.
        max_length: Tokens to read at most; of several turns the earliest are left out whole, until the rest fits or
            only the last is left, which may be longer. None for no limit.

    Returns:
        A list of token ids for each question: start, pieces, end; nothing but these two for a blank one.
    """
    start, end = tokenizer.start_id, tokenizer.end_id
    if turns == 1:
        return [[start, *ids, end] for ids in tokenizer.encode(questions)]
    said = [turns_of(question, turns) for question in questions]
    encoded = iter(tokenizer.encode(list(itertools.chain(*said))))
    joined = (join(list(itertools.islice(encoded, len(of_one))), tokenizer, max_length) for of_one in said)
    return [[start, *ids, end] for ids in joined]


def turns_of(question, limit):
    """The last turns of a question, `limit` at most; with a limit of 1, all of it is one."""
    return [question] if limit == 1 else [turn for turn in question.split(BETWEEN) if turn.strip()][-limit:]


def join(rows, tokenizer, max_length):
    """The ids of turns with separators between them, of as many as fit."""
    while len(rows) > 1 and max_length is not None and sum(map(len, rows)) + len(rows) + 1 > max_length:
        rows = rows[1:]
    return [i for row in rows for i in (tokenizer.separator_id, *row)][1:]
