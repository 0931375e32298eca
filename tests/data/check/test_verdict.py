"""What is worth a warning."""

import pytest

from keras_transformer.data.check.parts import Held, Split, describe_split
from keras_transformer.data.check.repeats import find_repeats
from keras_transformer.data.check.survey import Survey
from keras_transformer.data.check.verdict import find_warnings, why_unfit


@pytest.mark.parametrize(
    ("train", "validation", "test", "missing"),
    [(90, 5, 5, None), (1, 1, 0, None), (1, 0, 0, "validation"), (0, 1, 1, "train")],
)
def test_what_is_too_small(train, validation, test, missing):
    unfit = why_unfit(Split(train, Held(validation, 0, 0), Held(test, 0, 0), ()))
    assert unfit is None if missing is None else f"gives no pair to {missing}; about 100" in unfit


def warnings(*pairs):
    """The warnings for a corpus that nothing is suggested for."""
    survey = Survey([(row, *pair, None, pair[0]) for row, pair in enumerate(pairs, 2)])
    return find_warnings(survey, find_repeats(survey.pairs), describe_split(survey.pairs), None)


SOUND = [(f"q{number}", f"a{number}") for number in range(100)]


def test_nothing_to_say():
    assert warnings(*SOUND) == ()


def test_letters_in_parts_are_no_harm():
    assert warnings(*SOUND, ("cafe\u0301", "\u1112\u1161\u11ab")) == ()


def test_rows_with_faults_are_named():
    (warning,) = warnings(*SOUND, ("a\u200b", "b"))
    assert warning == "invisible characters in 1 row (102): remove them: texts that look the same are not"


def test_one_answer_for_all():
    few = [(f"x{number}", "네") for number in range(5)]
    assert warnings(*SOUND, *few) == ()
    (warning,) = warnings(*SOUND, *few, ("y", "네"))
    assert warning.startswith("5.7% of the rows have one and the same answer (first in row 102): ")


def test_repeated_pairs():
    assert warnings(*SOUND, *SOUND[:11]) == ()
    (warning,) = warnings(*SOUND, *SOUND[:12])
    assert warning.startswith("10.7% of the pairs repeat an earlier one, 12 rows (102, 103, 104, 105, 106, …): ")


def test_questions_with_several_answers():
    more = [(question, f"other {answer}") for question, answer in SOUND[:11]]
    assert warnings(*SOUND, *more[:10]) == ()
    (warning,) = warnings(*SOUND, *more)
    assert warning.startswith("11.0% of the questions have several answers")
