"""Multi-turn input: joins the turns of a conversation into one question, with the line to answer last."""

import itertools

BETWEEN = "\n"


def question_ids(tokenizer, questions, turns=1, max_length=None):
    """Tokenizes questions for the encoder.

    Args:
        tokenizer: A `Tokenizer`. For several turns, it must be trained with a separator.
        questions: Texts. If `turns` is above 1, each line of a text is a turn.
        turns: Maximum number of turns. The last ones are kept.
        max_length: Maximum number of tokens. The earliest turns are dropped as a whole until the rest fits. The last
            turn is always kept and may be longer. None for no limit.

    Returns:
        A list of token ids per question: start, pieces, end. For a blank question, only start and end.
    """
    start, end = tokenizer.start_id, tokenizer.end_id
    if turns == 1:
        return [[start, *ids, end] for ids in tokenizer.encode(questions)]
    conversations = [turns_of(question, turns) for question in questions]
    encoded = iter(tokenizer.encode(list(itertools.chain(*conversations))))
    joined = (join(list(itertools.islice(encoded, len(lines))), tokenizer, max_length) for lines in conversations)
    return [[start, *ids, end] for ids in joined]


def turns_of(question, limit):
    """Returns the last turns of a question, at most `limit`. With a limit of 1, the whole question is one turn."""
    return [question] if limit == 1 else [turn for turn in question.split(BETWEEN) if turn.strip()][-limit:]


def one_line(text):
    """Joins the lines of a text, such as the turns of a question, with " / "."""
    return " / ".join(text.strip().splitlines())


def join(rows, tokenizer, max_length):
    """Joins the ids of turns with separators, and drops the earliest turns until they fit."""
    while len(rows) > 1 and max_length is not None and sum(map(len, rows)) + len(rows) + 1 > max_length:
        rows = rows[1:]
    return [i for row in rows for i in (tokenizer.separator_id, *row)][1:]
