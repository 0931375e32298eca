"""Into what texts are best cut."""

import pytest

from keras_transformer.data.check.cut import are_words, choose_cut

WORDS = ["chat", "chien", "eau", "être"] * 20
PHONES = ["ʃ a", "ʃ j ɛ̃", "o", "ɛ t ʁ"] * 20


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["말"] * 95 + ["두 말"] * 5, True),
        (["말"] * 94 + ["두 말"] * 6, False),
        ([" 말 "], True),
        (["안녕 세상"], False),
    ],
)
def test_words(texts, found):
    assert are_words(texts) is found


def test_words_are_cut_into_characters_and_their_phones_at_spaces():
    cut = choose_cut(WORDS, PHONES, 15, 1)
    assert (cut.preset, cut.settings) == ("characters", {"vocab_size": 500, "target_tokenizer": "word"})
    assert cut.questions.pieces("chat") == ["c", "h", "a", "t"]
    assert cut.answers.pieces("ʃ j ɛ̃") == ["▁ʃ", "▁j", "▁ɛ̃"]
    assert cut.reason == "questions cut into characters, answers into what stands between spaces"


def test_words_for_words_are_cut_into_characters_on_both_sides():
    cut = choose_cut(WORDS, [word[::-1] for word in WORDS], 300, 1)
    assert cut.settings == {"vocab_size": 1000, "target_tokenizer": "character"}
    assert cut.answers.pieces("tahc") == ["t", "a", "h", "c"]


def test_sentences_are_cut_into_pieces_of_one_vocabulary():
    questions = [f"{word} 하고 {other}" for word in WORDS[:4] for other in WORDS[:4]]
    cut = choose_cut(questions, questions, 20, 1)
    assert cut.preset is None
    assert cut.questions is cut.answers
    assert cut.settings == {"vocab_size": 500}
    assert cut.reason.startswith("vocabulary 500: ")
