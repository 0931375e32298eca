import numpy as np
import pytest
from scipy import sparse

from keras_transformer.chat import question_embeddings
from keras_transformer.chat.question_embeddings import (
    TEMPERATURE,
    LazyAdam,
    Phrasings,
    QuestionEmbeddings,
    contrastive_gradient,
    draw_rows,
    learn_embeddings,
    rows_with_same_group,
    used_columns,
)
from keras_transformer.chat.question_index import NgramVectorizer

QUESTIONS = ["배고파", "허기져", "졸려", "잠 온다", "심심해", "할 일 없다"]
ANSWERS = ["밥 먹어요.", "밥 먹어요.", "푹 자요.", "푹 자요.", "놀러 가요.", "놀러 가요."]


def embed(questions, embeddings):
    vectorizer, *_ = NgramVectorizer.fit(QUESTIONS, ANSWERS)
    return embeddings(vectorizer(questions)).astype("float32")


@pytest.fixture(scope="module")
def learned():
    return learn_embeddings(QUESTIONS, ANSWERS)


def test_questions_with_the_same_answer_are_near_though_they_share_no_character(learned):
    embedded = embed(QUESTIONS, learned)
    similarities = embedded @ embedded.T
    same = np.equal.outer(ANSWERS, ANSWERS)
    assert similarities[same].min() > 0.5 > similarities[~same].max()


def test_an_embedding_has_length_one_and_is_zeros_without_a_known_ngram(learned):
    np.testing.assert_allclose(np.linalg.norm(embed([*QUESTIONS, "漢字"], learned), axis=1), [1] * 6 + [0], atol=1e-3)


def test_the_same_seed_learns_the_same_to_the_bit(learned):
    np.testing.assert_array_equal(learn_embeddings(QUESTIONS, ANSWERS).vectors, learned.vectors)
    assert not np.array_equal(learn_embeddings(QUESTIONS, ANSWERS, seed=1).vectors, learned.vectors)


def test_one_exchange_is_enough(monkeypatch):
    monkeypatch.setattr(question_embeddings, "STEPS", 2)
    assert np.isfinite(learn_embeddings(["?"], [""]).vectors).all()


def test_only_the_most_frequent_ngrams_have_vectors(monkeypatch):
    monkeypatch.setattr(question_embeddings, "STEPS", 1)
    monkeypatch.setattr(question_embeddings, "MOST_NGRAMS", 1)
    embeddings = learn_embeddings(["가", "가", "나"], ["", "", ""])
    assert len(embeddings) == 1
    vectorizer, *_ = NgramVectorizer.fit(["가", "가", "나"], [""])
    np.testing.assert_allclose(np.linalg.norm(embeddings(vectorizer(["가", "나"])), axis=1), [1, 0], atol=1e-3)


def test_a_row_of_the_same_group_has_the_same_answer():
    groups = np.array([0, 1, 0, 2, 1])
    rows = np.arange(5).repeat(20)
    partners = rows_with_same_group(rows, groups, np.random.default_rng(0))
    assert (groups[partners] == groups[rows]).all()
    assert set(partners[rows == 0]) == {0, 2}


def loss(batch, groups, vectors):
    """The loss by its definition: InfoNCE both ways, averaged over rows, of question and mate, question and answer."""
    questions, *others = (
        np.array((one @ vectors) / np.linalg.norm(one @ vectors, axis=1, keepdims=True)) for one in batch
    )
    same = np.equal.outer(groups, groups)
    total = 0.0
    for other in others:
        for logits in (questions @ other.T / TEMPERATURE, other @ questions.T / TEMPERATURE):
            log_probabilities = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
            total -= np.mean((log_probabilities * same).sum(axis=1) / same.sum(axis=1))
    return total


def test_the_gradient_is_that_of_the_loss():
    random = np.random.default_rng(0)
    batch = [sparse.csr_matrix(random.random((4, 6)) * (random.random((4, 6)) < 0.7)) for _ in range(3)]
    groups, vectors = np.array([0, 1, 0, 2]), random.normal(size=(6, 3))
    gradient = contrastive_gradient(batch, groups, vectors)
    for place in np.ndindex(vectors.shape):
        step = np.zeros_like(vectors)
        step[place] = 1e-6
        difference = loss(batch, groups, vectors + step) - loss(batch, groups, vectors - step)
        assert gradient[place] == pytest.approx(difference / 2e-6, abs=1e-4), place


def test_only_the_used_columns_of_a_batch_are_computed_with():
    matrices = [sparse.csr_matrix(np.array(rows, "float32")) for rows in ([[0, 2, 0, 0]], [[0, 0, 0, 3], [0, 4, 0, 0]])]
    used, smaller = used_columns(matrices)
    assert list(used) == [1, 3]
    assert [matrix.toarray().tolist() for matrix in smaller] == [[[2, 0]], [[0, 3], [4, 0]]]


def test_a_step_of_adam_only_changes_rows_with_a_gradient():
    """The first step has the length of the learning rate (Kingma & Ba 2015, section 2.1)."""
    values = np.zeros((3, 2), "float32")
    optimizer = LazyAdam(values)
    optimizer.update(np.array([0, 2]), np.array([[1, -2], [5, 0]], "float32"), 0.1)
    np.testing.assert_allclose(values, [[-0.1, 0.1], [0, 0], [-0.1, 0]], rtol=1e-5)


def test_embeddings_are_kept_in_half_precision():
    assert QuestionEmbeddings([1], [[0.1]]).vectors.dtype == "float16"


def test_a_question_is_near_its_paraphrases_with_other_words():
    """The corpus has neither 비번 nor 까먹, neither "parcel" nor "arrive"."""
    questions = ["비밀번호를 잊어버렸어요", "몇 시에 문을 여나요?", "How do I get a refund?", "Where is my package?"]
    answers = ["재설정하세요.", "아홉 시예요.", "Write to us.", "On its way."]
    vectorizer, *_ = NgramVectorizer.fit(questions, answers)
    embeddings = learn_embeddings(questions, answers)
    asked = embeddings(vectorizer(["비번 까먹었어", "영업 시간", "money back", "parcel"])).astype("float32")
    known = embeddings(vectorizer(questions)).astype("float32")
    assert list((asked @ known.T).argmax(axis=1)) == [0, 1, 2, 3]


def test_every_phrasing_of_a_text_is_drawn_and_none_of_another():
    texts = ["비번", "漢字"]
    vectorizer, _vectors = NgramVectorizer.fit(texts)
    phrasings = Phrasings(texts, [5, 5], vectorizer, np.random.default_rng(0))
    expected = vectorizer(["비번", "비밀번호"]).toarray()
    drawn = phrasings.draw(np.zeros(200, int), np.random.default_rng(0)).toarray()
    assert all((drawn == one).all(axis=1).any() for one in expected)
    alone = phrasings.draw(np.ones(50, int), np.random.default_rng(0)).toarray()
    assert (alone == vectorizer(["漢字"]).toarray()).all()


def test_a_background_tells_what_a_question_is_about():
    """Only one question of the corpus has 고 싶은데요, which says nothing about it."""
    questions, answers = ["예약 시간을 바꾸고 싶은데요", "환불이 되나요?"], ["전화해 주세요.", "네, 됩니다."]
    background = [
        ["노래를 듣고 싶은데요", "집에 가고 싶은데요", "그만하고 싶은데요"],
        ["들어 보세요.", "어서 가세요.", "쉬세요."],
    ]
    vectorizer, *_ = NgramVectorizer.fit(questions, answers)

    def cosines(**settings):
        embeddings = learn_embeddings(questions, answers, **settings)
        asked, *known = embeddings(vectorizer(["환불하고 싶은데요", *questions])).astype("float32")
        return known @ asked

    changing, refund = cosines(background=background)
    assert refund > changing
    assert changing < cosines()[0]


@pytest.mark.parametrize(
    ("sizes", "expected"), [([3], [3]), ([400], [256]), ([400, 500], [128, 384]), ([40, 300], [40, 300])]
)
def test_most_rows_of_a_batch_are_of_the_background(sizes, expected):
    rows = draw_rows(sizes, np.random.default_rng(0))
    assert len(set(rows)) == len(rows)
    assert list(np.histogram(rows, np.cumsum([0, *sizes]))[0]) == expected
