"""What is worth a warning."""

from keras_transformer.data.quality.near_duplicates import find_repeats
from keras_transformer.data.quality.scan import CorpusScan
from keras_transformer.data.quality.statistics import describe_split
from keras_transformer.data.quality.warnings import find_warnings


def warnings(*pairs):
    """The warnings but those of what is recommended."""
    survey = CorpusScan([(row, *pair, None, pair[0]) for row, pair in enumerate(pairs, 2)])
    return find_warnings(survey, find_repeats(survey.pairs), describe_split(survey.pairs))


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


def test_several_ways_to_ask_for_each_answer_are_welcome():
    ways = [(f"{way} {number}?", f"answer {number}") for number in range(8) for way in ("when", "what time", "at what")]
    assert warnings(*ways) == ()
    (common, *_) = warnings(*ways, *[(f"x{number}", "answer 0") for number in range(40)])
    assert common.startswith("67.2% of the rows have one and the same answer (first in row 2): ")


def test_repeated_pairs():
    assert warnings(*SOUND, *SOUND[:11]) == ()
    (warning,) = warnings(*SOUND, *SOUND[:12])
    assert warning.startswith("10.7% of the pairs repeat an earlier one, 12 rows (102, 103, 104, 105, 106, …): ")


def test_questions_with_several_answers():
    more = [(question, f"other {answer}") for question, answer in SOUND[:11]]
    assert warnings(*SOUND, *more[:10]) == ()
    (warning,) = warnings(*SOUND, *more)
    assert warning.startswith("11.0% of the questions have several answers")
