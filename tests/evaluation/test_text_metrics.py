import re
import sys
import unicodedata

import pytest

from keras_transformer import InputError
from keras_transformer.evaluation import text_metrics


def test_the_same_text_is_perfect_and_a_strange_one_worth_nothing():
    assert text_metrics.chrf(["안녕하세요"], [["안녕하세요"]]).value == pytest.approx(100)
    assert text_metrics.bleu(["안녕하세요"], [["안녕하세요"]]).value == pytest.approx(100)
    assert text_metrics.chrf(["xyz"], [["안녕하세요"]]).value == 0


def test_how_a_syllable_is_composed_and_spaced_changes_no_score():
    composed, apart = "좋은 꿈 꾸세요", unicodedata.normalize("NFD", " 좋은  꿈 꾸세요")
    for score in (text_metrics.chrf, text_metrics.bleu, text_metrics.word_error_rate):
        assert (
            score([apart], [[composed]]).value == score([composed], [[apart]]).value == score([apart], [[apart]]).value
        )
    assert text_metrics.distinct([composed, apart], 1) == 0.5


def test_sacrebleu_says_the_same_of_answers_with_different_numbers_of_references():
    from sacrebleu.metrics import BLEU, CHRF

    answers = ["the cat sat on the mat", "a dog", "good night to you all"]
    references = [["the cat sat on a mat", "a cat was on the mat"], ["a dog ran"], ["good night to all"]]
    streams = [["the cat sat on a mat", "a dog ran", "good night to all"], ["a cat was on the mat", None, None]]
    assert text_metrics.chrf(answers, references).value == pytest.approx(CHRF().corpus_score(answers, streams).score)
    assert text_metrics.bleu(answers, references).value == pytest.approx(BLEU().corpus_score(answers, streams).score)


def test_signatures_say_how_it_was_computed():
    english, korean = [["good night to you"]], [["좋은 꿈 꾸세요", "good night"], ["네"]]
    assert "|tok:13a|" in text_metrics.bleu(["good night"], english).signature
    assert text_metrics.bleu(["좋은 꿈", "네"], korean).signature.startswith(
        "nrefs:var|case:mixed|eff:no|tok:char|smooth:exp|"
    )
    assert text_metrics.chrf(["good night"], english).signature.startswith(
        "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|"
    )


def test_an_exact_match_is_any_reference_however_it_is_composed_and_spaced():
    answers = [unicodedata.normalize("NFD", "네,  안녕 "), "Hi", "hi"]
    assert text_metrics.exact_match(answers, [["응", "네, 안녕"], ["Hi"], ["Hi"]]).value == pytest.approx(2 / 3)


def test_word_errors_are_counted_to_the_nearest_reference():
    answers = ["one two three", "a b"]
    references = [["nothing at all here", "one too three"], ["a x b c"]]
    # One word is replaced of three, two are inserted of four.
    assert text_metrics.word_error_rate(answers, references).value == pytest.approx(3 / 7)
    assert text_metrics.word_error_rate([""], [["two words"]]).value == 1


@pytest.mark.parametrize(("n", "share"), [(1, 3 / 6), (2, 3 / 4), (3, 2 / 2), (4, 0)])
def test_distinct_runs_of_words(n, share):
    assert text_metrics.distinct(["a b a", "a b c"], n) == pytest.approx(share)


def test_lengths_are_in_characters_as_they_are_read():
    assert text_metrics.answer_length([unicodedata.normalize("NFD", "안녕"), "abcd"]).value == 3


def test_copied_answers_stand_word_for_word_in_training():
    assert text_metrics.copied(["네.", "네!", "아니요"], ["네.", "아니요 ", "네"]).value == pytest.approx(2 / 3)


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    message = "the package sacrebleu, which is missing: pip install 'keras-transformer-trainer[evaluate]'"
    with pytest.raises(InputError, match=f"^evaluating needs {re.escape(message)}$"):
        text_metrics.check_packages()
