import collections

import pytest

from keras_transformer.text.intents import LANGUAGES, languages_of, load_intents
from keras_transformer.text.normalize import normalize


@pytest.mark.parametrize(
    ("texts", "languages"),
    [
        (["배송 언제 와요", "환불 되나요"], ["ko"]),
        (["Where is my parcel?", "Can I get a refund?"], ["en"]),
        (["배송 언제 와요", "Where is my parcel?"], ["ko", "en"]),
        (["배송 언제 와요"] * 10 + ["Where is my parcel?"], ["ko"]),
        (["12 + 30", "7 + 5"], []),
        (["bonjour", "merci", "chapeau"], []),
    ],
)
def test_a_corpus_is_in_the_languages_of_a_tenth_of_its_questions(texts, languages):
    assert languages_of(texts) == languages


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_intent_has_at_least_three_questions_in_its_language(language):
    intents = load_intents(language)
    assert len(intents) > 1_500
    assert min(map(len, intents)) >= 3
    assert languages_of([question for intent in intents for question in intent]) == [language]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_question_is_in_two_intents(language):
    counts = collections.Counter(normalize(question) for intent in load_intents(language) for question in intent)
    assert not [question for question, count in counts.items() if count > 1]
    assert not [question for question in counts if question != question.strip() or not question]
