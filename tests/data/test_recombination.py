import numpy as np
import pandas as pd

from keras_transformer.data import recombination
from keras_transformer.data.recombination import Index, cross, exchange_word, join_ends, recombine, replace_word

PAIRS = pd.DataFrame(
    [
        ("여자친구랑 헤어졌어", "마음이 아프겠어요."),
        ("남자친구랑 싸웠어", "먼저 사과해 보세요."),
        ("여자친구랑 영화 봤어", "재미있었겠네요."),
        ("남자친구랑 놀러 갔어", "즐거웠겠네요."),
        ("배고파", "밥 드세요."),
    ],
    columns=["question", "answer"],
)


class Scripted:
    """A random generator that draws what it is told."""

    def __init__(self, *drawn):
        self.drawn = list(drawn)

    def integers(self, *limits):
        return self.drawn.pop(0)


def test_words_of_two_questions():
    words, others = ["나", "밥을", "먹었어"], ["너", "빵을", "샀니"]
    assert join_ends(words, others, Scripted(1, 2)) == ["나", "샀니"]
    assert exchange_word(words, others, Scripted(1, 0)) == ["나", "빵을", "먹었어"]
    assert replace_word(words, others, Scripted(0, 2, 2)) == ["밥을", "먹었어", "샀니"]


def test_what_does_not_fit_stays():
    assert join_ends(["배고파"], ["졸려", "죽겠어"], Scripted()) == ["배고파"]
    assert exchange_word(["배고파"], ["졸려"], Scripted(0)) == ["배고파"]
    assert replace_word(["배고파"], ["졸려"], Scripted()) == ["배고파"]


def test_of_a_conversation_the_last_turn_is_changed():
    assert cross("안녕\n나 배고파", "뭐 해\n나 졸려", Scripted(0, 1, 1)) == "안녕\n나 졸려"


def test_new_questions_have_the_answer_of_the_nearest_known_one(monkeypatch):
    monkeypatch.setattr(recombination, "NOISY_SHARE", 0)
    made = recombine(PAIRS, 3, 0)
    assert len(made) >= 3 and made["question"].is_unique
    assert not set(made["question"]) & set(PAIRS["question"])
    numbers, similarities = Index(list(PAIRS["question"])).nearest(list(made["question"]))
    assert made["answer"].tolist() == PAIRS["answer"].iloc[numbers].tolist()
    assert (similarities >= 0.5).all()


def test_half_of_them_are_mistyped_and_none_is_a_known_question():
    pairs = pd.concat([PAIRS, PAIRS.assign(question=PAIRS["question"] + "요")])
    made = recombine(pairs, 20, 0)
    assert {question[-1] for question in made["question"]} - {"어", "요", "파"}
    assert not set(made["question"]) & set(pairs["question"])


def test_the_same_seed_makes_the_same_questions():
    assert recombine(PAIRS, 3, (0, 1)).equals(recombine(PAIRS, 3, (0, 1)))
    assert not recombine(PAIRS, 3, (0, 1)).equals(recombine(PAIRS, 3, (0, 2)))


def test_questions_of_a_word_have_nothing_to_recombine():
    made = recombine(PAIRS.tail(1), 2, 0)
    assert made.columns.tolist() == ["question", "answer"] and made.empty


def test_the_nearest_and_those_alike():
    index = Index(["잘 자", "배고파", "배고프다"])
    numbers, similarities = index.nearest(["배고파요", "잘 자"])
    assert numbers.tolist() == [1, 0] and 0.5 < similarities[0] < 1 and np.isclose(similarities[1], 1)
    assert [sorted(one) for one in index.neighbours(["배고파"])] == [[0, 1, 2]]
