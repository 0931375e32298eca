"""Warnings of the quality check: what to fix or to know before training."""

# Shares above which a warning is issued.
COMMON_ANSWER = 0.05
AMBIGUOUS = 0.10
DUPLICATES = 0.10
NEAR_QUESTIONS = 0.05
TOO_LONG = 0.01
TIMES_THE_MEAN = 5  # Minimum number of questions of a too common answer, as a multiple of the mean of all answers.
FEW_HELD = 50  # Minimum number of validation pairs for meaningful scores.

ADVICE = {
    "control characters": "remove them, or the model learns to write them",
    "invisible characters": "remove them: texts that look the same are not",
    "replacement characters (U+FFFD)": "the text was damaged before; restore it from its source, or delete the rows",
    "text read in a wrong encoding": "save it from its source again, as UTF-8, or delete the rows",
}
"""Advice for the harmful ones of `text_issues.FAULTS`. Decomposed letters are harmless: the tokenizer composes them."""


NO_PAIR = "no question-answer pair in it: each row needs a question and an answer"
"""The reason why a corpus without pairs is unfit."""


def find_warnings(survey, repeats=None, split=None, recommendation=None, tokens=None, too_long=None):
    """Returns the warnings about a corpus.

    Args:
        survey: The `Survey`.
        repeats: The `Repeats`. This and the other arguments are None for a corpus without pairs.
        split: The `Split`.
        recommendation: The `Recommendation`.
        tokens: The `Tokens` of a sample.
        too_long: The `Rows` of the sample that are too long.

    Returns:
        A tuple of lines: the problem, its location, and what to do or to expect.
    """
    return (
        *_left_out(survey),
        *(f"{name} in {survey.faults[name]}: {ADVICE[name]}" for name in ADVICE if name in survey.faults),
        *(_repeated(len(survey), repeats) if repeats else ()),
        *(_held_out(split, recommendation) if recommendation else ()),
        *(_too_long(recommendation.config, tokens, too_long) if recommendation else ()),
    )


def _left_out(survey):
    if survey.left_out:
        count = sum(rows.count for rows in survey.left_out.values())
        kinds = "; ".join(f"{problem} in {rows}" for problem, rows in survey.left_out.items())
        yield f"{count:,} of {len(survey) + count:,} rows left out: {kinds}: mend or delete them"


def _repeated(pairs, repeats):
    if repeats.duplicates.count > DUPLICATES * pairs:
        share = repeats.duplicates.count / pairs
        yield f"{share:.1%} of the pairs repeat an earlier one, {repeats.duplicates}: they weigh more; delete them"
    if repeats.ambiguous > AMBIGUOUS * repeats.questions:
        share = repeats.ambiguous / repeats.questions
        yield f"{share:.1%} of the questions have several answers: the model learns none of them well; keep the best"
    # Several ways to ask for each answer are welcome, and make every answer of a small corpus common.
    usual = TIMES_THE_MEAN * pairs / max(1, repeats.answers)
    if repeats.commonest and repeats.commonest[0].count > max(COMMON_ANSWER * pairs, usual):
        common = repeats.commonest[0]
        yield (
            f"{common.count / pairs:.1%} of the rows have one and the same answer (first in row {common.row}): "
            "the model will say it too often; give those questions answers of their own"
        )


def nothing_held_out(recommendation):
    """Yields a warning if the recommended training holds nothing out."""
    if not recommendation.config.hold_out:
        yield (
            "few different questions, so that nothing is held out for validation and test: no score says how new "
            "questions are answered; add questions, or ask the trained run some of your own"
        )


def _held_out(split, recommendation):
    if not recommendation.config.hold_out:
        yield from nothing_held_out(recommendation)
        return
    if not split.test.pairs:
        yield "the test split is empty, so there is no final test score; add questions"
    if split.validation.pairs < FEW_HELD:
        yield f"validation has only {split.validation.pairs} pairs: its scores are noisy; add questions"
    if split.near_share > NEAR_QUESTIONS:
        yield (
            f"{split.near_share:.1%} of the held-out pairs ask what training asks, but for case, punctuation or "
            "spaces: scores will look better than on new questions; delete such repeats"
        )


def _too_long(config, tokens, too_long):
    share = too_long.count / tokens.pairs
    if share > TOO_LONG:
        yield (
            f"{share:.1%} of the pairs are longer than {config.max_length} tokens and left out of training: "
            f"{too_long}: shorten or split them"
        )
