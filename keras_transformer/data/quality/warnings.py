"""Warnings of the quality check: what to fix or to know before training."""

from keras_transformer.language import translatable, translate_count
from keras_transformer.language import translate as _

# Shares above which a warning is issued.
COMMON_ANSWER = 0.05
AMBIGUOUS = 0.10
DUPLICATES = 0.10
NEAR_QUESTIONS = 0.05
TOO_LONG = 0.01
TIMES_THE_MEAN = 5  # Minimum number of questions of a too common answer, as a multiple of the mean of all answers.
FEW_QUESTIONS = 500  # Fewer are worth a warning if nothing is held out.
FEW_HELD = 50  # Minimum number of validation pairs for meaningful scores.

ADVICE = {
    "control characters": translatable("remove them, or the model learns to write them"),
    "invisible characters": translatable("remove them: texts that look the same are not"),
    "replacement characters (U+FFFD)": translatable(
        "the text was damaged before; restore it from its source, or delete the rows"
    ),
    "text read in a wrong encoding": translatable("save it from its source again, as UTF-8, or delete the rows"),
}
"""Advice for the harmful ones of `text_issues.FAULTS`. Decomposed letters are harmless: the tokenizer composes them."""


NO_PAIR = translatable("no question-answer pair in it: each row needs a question and an answer")
"""The reason why a corpus without pairs is unfit."""


def find_warnings(survey, repeats=None, split=None, recommendation=None, tokens=None, too_long=None):
    """Returns the warnings about a corpus.

    Args:
        survey: The `CorpusScan`.
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
        *_faults(survey),
        *(_repeated(len(survey), repeats) if repeats else ()),
        *(_held_out(split, recommendation, repeats.questions) if recommendation else ()),
        *(_too_long(recommendation.config, tokens, too_long) if recommendation else ()),
    )


def _left_out(survey):
    if survey.left_out:
        count = sum(rows.count for rows in survey.left_out.values())
        kinds = (_("{problem} in {rows}", problem=_(problem), rows=rows) for problem, rows in survey.left_out.items())
        yield _(
            "{count:,} of {all:,} rows left out: {kinds}: fix or delete them",
            count=count,
            all=len(survey) + count,
            kinds="; ".join(kinds),
        )


def _faults(survey):
    for name, advice in ADVICE.items():
        if name in survey.faults:
            yield _("{problem} in {rows}: {advice}", problem=_(name), rows=survey.faults[name], advice=_(advice))


def _repeated(pairs, repeats):
    if repeats.duplicates.count > DUPLICATES * pairs:
        yield _(
            "{share:.1%} of the pairs repeat an earlier one, {rows}: they weigh more; delete them",
            share=repeats.duplicates.count / pairs,
            rows=repeats.duplicates,
        )
    if repeats.ambiguous > AMBIGUOUS * repeats.questions:
        yield _(
            "{share:.1%} of the questions have several answers: the model learns none of them well; keep the best",
            share=repeats.ambiguous / repeats.questions,
        )
    # Several ways to ask for each answer are welcome, and make every answer of a small corpus common.
    usual = TIMES_THE_MEAN * pairs / max(1, repeats.answers)
    if repeats.commonest and repeats.commonest[0].count > max(COMMON_ANSWER * pairs, usual):
        common = repeats.commonest[0]
        yield _(
            "{share:.1%} of the rows have one and the same answer (first in row {row}): "
            "the model will say it too often; give those questions answers of their own",
            share=common.count / pairs,
            row=common.row,
        )


def nothing_held_out(recommendation, questions):
    """Yields a warning if the recommended training holds nothing out, because there are few different questions."""
    if not recommendation.config.hold_out and questions < FEW_QUESTIONS:
        yield _(
            "few different questions, so that nothing is held out for validation and test: no score says how new "
            "questions are answered; add questions, or ask the trained run some of your own"
        )


def _held_out(split, recommendation, questions):
    if not recommendation.config.hold_out:
        yield from nothing_held_out(recommendation, questions)
        return
    if not split.test.pairs:
        yield _("the test split is empty, so there is no final test score; add questions")
    if split.validation.pairs < FEW_HELD:
        yield translate_count(
            "validation has only {count} pair: its scores are noisy; add questions",
            "validation has only {count} pairs: its scores are noisy; add questions",
            split.validation.pairs,
        )
    if split.near_share > NEAR_QUESTIONS:
        yield _(
            "{share:.1%} of the held-out pairs ask what training asks, but for case, punctuation or "
            "spaces: scores will look better than on new questions; delete such repeats",
            share=split.near_share,
        )


def _too_long(config, tokens, too_long):
    share = too_long.count / tokens.pairs
    if share > TOO_LONG:
        yield _(
            "{share:.1%} of the pairs are longer than {max_length} tokens and left out of training: {rows}: "
            "shorten or split them",
            share=share,
            max_length=config.max_length,
            rows=too_long,
        )
