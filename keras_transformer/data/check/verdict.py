"""What of all that was found a user should mend, or know, before training."""

# Shares from which on something is worth a warning.
COMMON_ANSWER = 0.05
AMBIGUOUS = 0.10
DUPLICATES = 0.10
NEAR_QUESTIONS = 0.05
TOO_LONG = 0.01
FEW_HELD = 50  # Pairs of the validation below which its scores say little.

ADVICE = {
    "control characters": "remove them, or the model learns to write them",
    "invisible characters": "remove them: texts that look the same are not",
    "replacement characters (U+FFFD)": "the text was damaged before; restore it from its source, or delete the rows",
    "text read in a wrong encoding": "save it from its source again, as UTF-8, or delete the rows",
}
"""What to do about those of `faults.FAULTS` that do harm; letters in parts do none, for the tokenizer composes them."""


def why_unfit(split):
    """Why nothing can be trained on a corpus of this `Split`, or None for one without a pair; None if it can."""
    if split is None:
        return "no question-answer pair in it: each row needs a question and an answer"
    empty = [name for name, size in (("train", split.train), ("validation", split.validation.pairs)) if not size]
    if not empty:
        return None
    return f"too small: the split gives no pair to {empty[0]}; about 100 different questions are needed at least"


def find_warnings(survey, repeats=None, split=None, suggestion=None):
    """What a user should mend, or know.

    Args:
        survey: The `Survey`.
        repeats: The `Repeats`; None for a corpus without pairs, like the next.
        split: The `Split`.
        suggestion: The `Suggestion`; None for a corpus that is unfit.

    Returns:
        A tuple of lines: what is the matter, where, and what to do or to expect.
    """
    return (
        *_left_out(survey),
        *(f"{name} in {survey.faults[name]}: {ADVICE[name]}" for name in ADVICE if name in survey.faults),
        *(_repeated(len(survey), repeats) if repeats else ()),
        *(_held_out(split) if suggestion else ()),
        *(_too_long(suggestion) if suggestion else ()),
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
    if repeats.commonest and repeats.commonest[0].count > COMMON_ANSWER * pairs:
        common = repeats.commonest[0]
        yield (
            f"{common.count / pairs:.1%} of the rows have one and the same answer (first in row {common.row}): "
            "the model will say it too often; give those questions answers of their own"
        )


def _held_out(split):
    if not split.test.pairs:
        yield "the test part is empty: there will be nothing to take a last score on; more questions are needed"
    if split.validation.pairs < FEW_HELD:
        yield f"validation has {split.validation.pairs} pairs only: its scores go up and down by chance; add questions"
    if split.near_share > NEAR_QUESTIONS:
        yield (
            f"{split.near_share:.1%} of the held-out pairs ask what training asks, but for case, punctuation or "
            "spaces: scores will look better than on new questions; delete such repeats"
        )


def _too_long(suggestion):
    share = suggestion.too_long.count / suggestion.tokens.pairs
    if share > TOO_LONG:
        yield (
            f"{share:.1%} of the pairs are longer than {suggestion.max_length} tokens and left out of training: "
            f"{suggestion.too_long}: shorten or split them"
        )
