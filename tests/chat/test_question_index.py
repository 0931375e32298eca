import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

from keras_transformer.chat.question_embeddings import QuestionEmbeddings, learn_embeddings
from keras_transformer.chat.question_index import FEATURES, NgramVectorizer, QuestionIndex
from keras_transformer.text.character_ngrams import character_ngrams

QUESTIONS = ["배고파", "잘 자", "hello there"]
BLANK = ["", "", ""]  # Answers that say nothing.


def nearest(index, questions, **settings):
    return [
        [(int(number), round(float(similarity), 3)) for number, similarity in zip(*found)]
        for found in index.nearest(questions, **settings)
    ]


def embeddings_of(vectors):
    """`QuestionEmbeddings` of n-grams with these vectors, a dictionary."""
    columns = HashingVectorizer(n_features=FEATURES, analyzer=lambda ngram: [ngram]).transform(vectors).indices
    order = np.argsort(columns)
    return QuestionEmbeddings(columns[order], np.array(list(vectors.values()))[order])


def test_a_vectorizer_of_the_frequencies_of_another_gives_the_same_vectors():
    (vectorizer, *_), texts = NgramVectorizer.fit(QUESTIONS, BLANK), ["배고파!", "hello there", "漢字"]
    assert np.array_equal(NgramVectorizer(vectorizer.idf)(texts).toarray(), vectorizer(texts).toarray())


def test_the_nearest_of_three_questions():
    found = nearest(QuestionIndex(QUESTIONS, BLANK), ["배고파!", "hello", "漢字", ""])
    assert [one[:1] and one[0][0] for one in found] == [0, 2, [], []]
    assert found[0][0][1] == pytest.approx(1)
    assert 0 < found[1][0][1] < 1


def test_equal_questions_are_alike_by_one_and_of_equals_the_first_comes_first():
    index = QuestionIndex(["잘 자", "배고파", "배고파"], BLANK)
    assert nearest(index, [" 배고파 "]) == [[(1, 1.0), (2, 1.0)]]


def test_the_similarity_is_mostly_that_of_the_embeddings():
    """밥 is as near to 국 as to 물 by the n-gram that they share, "?", and the embeddings decide."""
    words = {"밥": [1, 0], "국": [0.8, 0.6], "물": [0, 1]}
    vectors = {ngram: vector for word, vector in words.items() for ngram in (word, f" {word}", f"{word}?")}
    vectors |= {"?": [0, 0], "? ": [0, 0]}
    questions = ["밥?", "국?", "물?"]
    lexical = nearest(QuestionIndex(questions, BLANK), ["밥?"])[0]
    assert lexical[1][1] == lexical[2][1] > 0
    [found] = nearest(QuestionIndex(questions, BLANK, embeddings_of(vectors)), ["밥?"])
    fifth = lexical[1][1] / 5
    assert found == [(0, 1.0), (1, pytest.approx(fifth + 0.8 * 0.8, abs=2e-3)), (2, pytest.approx(fifth, abs=2e-3))]


def test_words_that_the_corpus_does_not_have_make_a_question_less_similar():
    """The n-grams of 밥 are as large a share of "밥 漢" as the square of the cosine between the two texts."""
    index = QuestionIndex(["밥"], [""], embeddings_of({"밥": [1, 0], " 밥": [1, 0], "밥 ": [1, 0]}))
    [[(_, cosine)]] = nearest(QuestionIndex(["밥"], [""]), ["밥 漢"])
    assert nearest(index, ["밥"]) == [[(0, 1.0)]]
    assert nearest(index, ["밥 漢"]) == [[(0, pytest.approx(0.2 * cosine + 0.8 * cosine**2, abs=2e-3))]]


def test_no_questions_are_near_to_nothing():
    assert nearest(QuestionIndex(QUESTIONS, BLANK), []) == []


@pytest.mark.parametrize("embeddings", [None, embeddings_of({"배": [1, 0], "고": [0, 1]})])
def test_questions_are_added_with_characters_that_no_other_has(embeddings):
    index = QuestionIndex(QUESTIONS, BLANK, embeddings)
    before = nearest(index, ["배고파!"])
    index.add(["漢字", "배고파"], ["", ""])
    assert len(index) == 5
    assert nearest(index, ["漢字"])[0] == [(3, 1.0)]
    assert nearest(index, ["배고파!"])[0] == [before[0][0], (4, before[0][0][1])]


def test_hidden_questions_take_no_place_among_the_candidates():
    """Three hundred equal questions would leave none for the one that is added last."""
    index = QuestionIndex(["배고파"] * 300, [""] * 300)
    index.add(["배고파"], [""])
    assert nearest(index, ["배고파"], hidden=set(range(300))) == [[(300, 1.0)]]


def test_a_question_in_the_words_of_an_answer_finds_it():
    index = QuestionIndex(["반품되나요", "어디예요"], ["물건을 돌려보내세요", "서울이에요"])
    [[(number, similarity)]] = nearest(index, ["물건 돌려보내기"])
    assert number == 0 and 0 < similarity < 0.3


def test_of_two_equal_questions_the_one_with_the_likelier_answer_is_nearest():
    index = QuestionIndex(["뭐 해", "뭐 해"], ["잠자요", "밥 먹어요"])
    assert [number for number, _ in nearest(index, ["뭐 먹어"])[0]] == [1, 0]


def test_vectors_have_the_same_bits_as_those_of_scikit_learn():
    questions = ["배고파 배고파", "hello there, hello", "", "ㅋㅋㅋ 漢字 🙂👍🏽", "가나다라마바사 " * 30]
    answers = ["밥 먹어요.", "Hi there!", "a b", "İstanbul", ""]
    hashing = HashingVectorizer(
        analyzer=character_ngrams, n_features=FEATURES, alternate_sign=False, norm=None, dtype=np.float32
    )
    corpora = [hashing.transform(map(str.strip, texts)) for texts in (questions, answers)]
    tfidf = TfidfTransformer().fit(sparse.vstack(corpora))
    vectorizer, *fitted = NgramVectorizer.fit(questions, answers)
    np.testing.assert_array_equal(vectorizer.idf, tfidf.idf_)
    for vectors, expected in zip([*fitted, vectorizer(questions)], map(tfidf.transform, [*corpora, corpora[0]])):
        for name in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(vectors, name), getattr(expected, name), strict=True)


def test_of_questions_that_differ_by_a_mood_the_first_is_nearest():
    questions = [
        f"{question}{mood}" for question in ("잘 자", "배고파", "hello") for mood in ("", "!", "~", " ㅋㅋ", "!!")
    ]
    answers = ["좋은 꿈 꾸세요."] * 5 + ["밥 먹어요."] * 5 + ["Hi!"] * 5
    index = QuestionIndex(questions, answers, learn_embeddings(questions, answers))
    [(numbers, _)] = index.nearest(["배고파ㅠㅠ"])
    assert numbers.tolist()[:5] == [5, 6, 7, 8, 9]
