import pathlib
import types

import pandas as pd
import pytest

tf = pytest.importorskip("tensorflow")
pytest.importorskip("tensorflow_text", reason="tensorflow-text is not installed here")

from keras_transformer import InputError, Tokenizer  # noqa: E402
from keras_transformer.text.in_graph import InGraphTokenizer  # noqa: E402
from keras_transformer.text.normalize import normalize  # noqa: E402

CORPUS = pathlib.Path(__file__).parents[2] / "keras_transformer/data/small_talk/small_talk.csv"
ODD = ["", "  ", "한\u3000글\xa0과\t탭", "\u1112\u1161\u11ab", "👩‍👩‍👧‍👦 漢字", "a\u0085b\u2028c"]


@pytest.fixture(scope="module")
def texts():
    frame = pd.read_csv(CORPUS)
    return [*frame["question"], *frame["answer"], *ODD]


@pytest.fixture(
    scope="module",
    params=[
        ("sentencepiece", False), ("sentencepiece", True), ("bpe", False), ("character", True), ("word", False),
    ],
)  # fmt: skip
def tokenizer(request, texts):
    return Tokenizer.train(texts, 6000, *request.param)


def test_the_graph_gives_the_same_ids(tokenizer, texts):
    graph = tf.function(InGraphTokenizer(tokenizer).encode)
    assert graph(tf.constant(texts)).to_list() == tokenizer.encode(texts)


def test_the_graph_gives_the_same_text(tokenizer, texts):
    graph = InGraphTokenizer(tokenizer)
    answers = graph.decode(graph.encode(tf.constant(texts))).numpy()
    assert [answer.decode() for answer in answers] == [normalize(text) for text in texts]


def test_padding_start_and_end_vanish(tokenizer):
    ids = tokenizer.encode("안녕")
    padded = tf.constant([[2, *ids, 3, 0, 0]], tf.int32)
    assert InGraphTokenizer(tokenizer).decode(padded).numpy()[0].decode() == "안녕"


def test_a_vocabulary_of_subwords_is_refused():
    with pytest.raises(InputError, match=r"\.subwords .* has no operation"):
        InGraphTokenizer(types.SimpleNamespace(ending=".subwords"))
