import numpy as np
import pytest

from keras_transformer.text.normalize import normalize
from keras_transformer.text.thesaurus import LANGUAGES, Thesaurus, paraphrase

SMALL = Thesaurus([
    ["비밀번호", "비번"],
    ["잊어버리", "까먹", "기억이 안 나"],
    ["parcel", "package"],
    ["package", "bundle"],
    ["out of order", "broken"],
    ["order", "purchase"],
])  # fmt: skip


def found(text, thesaurus=SMALL):
    return [text[one.start : one.end] for one in thesaurus.occurrences(text)]


def test_a_korean_expression_is_the_beginning_of_a_word():
    assert found("비번을 까먹었어요") == ["비번", "까먹"]
    assert found("내비번호") == []


def test_a_latin_expression_is_a_word_with_or_without_an_ending():
    assert found("two parcels, a package!") == ["parcels", "package"]
    assert found("parcelling packaging repackage") == []


def test_the_longest_expression_counts_and_those_within_it_do_not():
    assert found("the lift is out of order") == ["out of order"]
    assert found("my order is here") == ["order"]


def test_synonyms_are_the_other_expressions_of_all_groups():
    [one] = SMALL.occurrences("package")
    assert one.synonyms == ("parcel", "bundle")


@pytest.mark.parametrize(
    ("text", "all_replaced"),
    [
        ("비번을 까먹었어요", {"비밀번호을 잊어버리었어요", "비밀번호을 기억이 안 나었어요"}),  # The endings stay.
        ("Two PARCELS, please", {"two package, please"}),
        ("배고파", set()),
        ("", set()),
    ],
)
def test_a_paraphrase_replaces_expressions(text, all_replaced):
    paraphrases = SMALL.paraphrases(text, 50, np.random.default_rng(0))
    assert all_replaced <= set(paraphrases)
    assert text.lower() not in paraphrases
    assert len(paraphrases) == len(set(paraphrases))


def test_a_number_of_paraphrases_is_the_most():
    assert SMALL.paraphrases("비번", 0, np.random.default_rng(0)) == []
    assert SMALL.paraphrases("비번", 1, np.random.default_rng(0)) == ["비밀번호"]


def test_a_paraphrase_without_occurrences_is_the_text():
    assert paraphrase("배고파", [], np.random.default_rng(0)) == "배고파"


def test_an_apostrophe_is_one_whatever_its_shape():
    thesaurus = Thesaurus([["don't remember", "forgot"]])
    assert thesaurus.paraphrases("I don’t remember", 1, np.random.default_rng(0)) == ["i forgot"]


def test_without_groups_nothing_is_found():
    assert Thesaurus([]).occurrences("비번") == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_groups_of_a_language_can_be_found(language):
    import importlib.resources

    path = importlib.resources.files("keras_transformer.text") / "thesauri" / f"{language}.txt"
    lines = [line.lower() for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    assert len(lines) == len(set(lines)) > 1000
    for line in lines:
        group = line.split(", ")
        assert len(group) == len(set(group)) >= 2, line
        assert all(one == normalize(one) for one in group), line
        if language == "ko":
            beginnings = [(one, other) for one in group for other in group if one != other and other.startswith(one)]
            assert not beginnings, line


def test_the_thesaurus_of_the_package_knows_both_languages():
    thesaurus = Thesaurus.load()
    assert found("비번을 까먹었어요", thesaurus) == ["비번을 까먹"]
    assert "didn't arrive" in thesaurus.occurrences("it never showed up")[0].synonyms
