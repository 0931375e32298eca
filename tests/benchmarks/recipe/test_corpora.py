import csv
import io

import pytest

from benchmarks.recipe import corpora
from benchmarks.recipe.corpora import (
    CORPORA,
    FAQ_LANGUAGES,
    IN_ORDINARY_WORDS,
    IN_OTHER_WORDS,
    KNOWN,
    UNSEEN,
    faq,
    faq_asked,
)
from benchmarks.recipe.measuring import questions_by_score

SIZES = {"copy": 5_000, "reverse": 5_000, "sort": 5_000, "sums": 10_000, "commands": 16_000, "commands_ko": 16_000}


@pytest.mark.parametrize("name", CORPORA)
def test_no_question_stands_twice_and_every_corpus_is_always_the_same(name):
    source = CORPORA[name]
    pairs = source.pairs()
    questions = [question for question, _ in pairs]
    assert len(set(questions)) == len(questions)
    assert all(text == " ".join(text.split()) and text for pair in pairs for text in pair)
    assert pairs == source.pairs()
    assert "\n" not in source.about


@pytest.mark.parametrize(("name", "size"), SIZES.items())
def test_generated_corpora_have_their_sizes_and_are_judged_by_unseen_questions(name, size):
    assert len(CORPORA[name].pairs()) == size
    assert CORPORA[name].kind == UNSEEN


def test_generated_answers_follow_from_their_questions():
    assert corpora.copy()[1] == ("lodu hide rado nabe gelo tegu", "lodu hide rado nabe gelo tegu")
    assert corpora.reverse()[1] == ("lodu hide rado nabe gelo tegu", "tegu gelo nabe rado hide lodu")
    assert corpora.sort()[0] == ("y n b i q p", "b i n p q y")
    assert corpora.sums()[:2] == [("97 + 5", "102"), ("65 + 51", "116")]
    assert all(
        len(question.split()) == len(answer.split()) and 3 <= len(answer.split()) <= 10
        for question, answer in corpora.copy()
    )
    assert any(len(question) == len("347 + 250") for question, _ in corpora.sums())


@pytest.mark.parametrize("language", FAQ_LANGUAGES)
def test_the_smaller_faqs_are_the_beginning_of_the_largest(language):
    whole = faq(language, 300)
    assert [len(faq(language, size)) for size in (40, 100, 300)] == [40, 100, 300]
    assert faq(language, 40) == whole[:40] and faq(language, 100) == whole[:100]
    assert CORPORA[f"faq_{language}_100"].pairs() == whole[:100]
    assert CORPORA[f"faq_{language}_100"].kind == KNOWN


@pytest.mark.parametrize("language", FAQ_LANGUAGES)
def test_the_answers_of_a_faq_are_a_sentence_or_two_and_almost_all_different(language):
    answers = [answer for _, answer in faq(language, 300)]
    assert all(15 <= len(answer) <= 120 for answer in answers)
    assert len(set(answers)) >= 270


@pytest.mark.parametrize("language", FAQ_LANGUAGES)
def test_the_faq_is_plain_utf_8(language):
    text = (corpora.FOLDER / f"faq_{language}.csv").read_bytes().decode("utf-8")
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == ["question", "answer"] and {len(row) for row in rows} == {2}
    assert len(rows) == 301 and "\r" not in text and "\ufeff" not in text


@pytest.mark.parametrize(
    ("name", "size", "corpus", "pairs"),
    [
        *((language, 300, f"faq_{language}_40", 40) for language in FAQ_LANGUAGES),
        *((f"services_{language}", 160, f"faq_services_{language}", 160) for language in FAQ_LANGUAGES),
    ],
)
def test_its_questions_are_asked_in_ordinary_and_in_other_words(name, size, corpus, pairs):
    known = [question for question, _ in corpora.read_pairs(corpora.FOLDER / f"faq_{name}.csv")]
    scores = questions_by_score(CORPORA[corpus])
    for words in (IN_ORDINARY_WORDS, IN_OTHER_WORDS):
        asked = faq_asked(name)[words]
        assert list(asked) == known
        assert len(set(asked.values())) == size and not set(asked.values()) & set(known)
        assert len(scores[words]) == pairs


def test_a_faq_has_no_other_sizes():
    with pytest.raises(ValueError, match="not 41"):
        faq("ko", 41)
