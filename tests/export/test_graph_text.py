import types

import pytest
import tensorflow as tf

from keras_transformer import Chatbot, Tokenizer
from keras_transformer.export import graph_text
from keras_transformer.export.graph_text import GraphText
from keras_transformer.text.core_ops import CoreTokenizer
from keras_transformer.text.in_graph import InGraphTokenizer

pytestmark = pytest.mark.heavy

TEXTS = ["안녕 세상", "hello there", "오늘은 어때?", "좋아 thank you", "a b c d e f g"]
QUESTIONS = [
    "안녕", "", "   ", "\u3000\n", "hello  there", "처음\n둘째 말\n세 번째 hello", "a\n\n \nb", "\n안녕\n", "x" * 50,
    "긴 말 " * 30 + "\n안녕", "안녕\n" + "긴 말 " * 30, "하나\n둘\n셋\n넷\n다섯", "<sep>\n안녕", "e\u0301\n한",
    *("a " * length + "\nb" for length in range(1, 24)),  # Of one of these the last token just fits.
]  # fmt: skip


@pytest.fixture(scope="module", params=[InGraphTokenizer, CoreTokenizer])
def tokenizer_class(request):
    return request.param


@pytest.mark.parametrize("turns", [1, 2, 4])
@pytest.mark.parametrize("max_length", [3, 8, 24])
@pytest.mark.variants(6)
def test_a_graph_reads_what_the_chatbot_reads(tokenizer_class, turns, max_length):
    tokenizer = Tokenizer.train(TEXTS, 320, separator=turns > 1)
    run = types.SimpleNamespace(
        tokenizer=tokenizer,
        target_tokenizer=tokenizer,
        config=types.SimpleNamespace(max_length=max_length, turns=turns),
    )
    bot = Chatbot(None, tokenizer, max_length, turns=turns)
    text = GraphText(run, tokenizer_class)
    encode = tf.function(text.encode, [tf.TensorSpec((None,), tf.string)], autograph=False)
    expected = bot.ids_of(QUESTIONS)
    found = [[i for i in row if i] for row in encode(tf.constant(QUESTIONS)).numpy().tolist()]
    assert found == expected
    alone = [[i for i in encode(tf.constant([question])).numpy()[0].tolist() if i] for question in QUESTIONS]
    assert alone == expected
    assert encode(tf.constant([], tf.string)).shape[0] == 0


def test_bytes_that_are_not_text_are_read_as_the_sign_for_it(tokenizer_class):
    tokenizer = Tokenizer.train(TEXTS, 320)
    config = types.SimpleNamespace(max_length=24, turns=1)
    run = types.SimpleNamespace(tokenizer=tokenizer, target_tokenizer=tokenizer, config=config)
    ids = GraphText(run, tokenizer_class).encode(tf.constant([b"a \xff b", "a \ufffd b".encode()])).numpy()
    assert ids[0].tolist() == ids[1].tolist()


def test_answers_are_decoded_by_their_own_tokenizer(tokenizer_class):
    source, target = Tokenizer.train(TEXTS, 320), Tokenizer.train(["ABC DEF"], kind="character")
    config = types.SimpleNamespace(max_length=24, turns=1)
    text = GraphText(types.SimpleNamespace(tokenizer=source, target_tokenizer=target, config=config), tokenizer_class)
    ids = [[*target.encode("FAD BE"), target.end_id, 0]]
    assert text.decode(tf.constant(ids))[0].numpy() == b"FAD BE"


@pytest.mark.parametrize(("turns", "question"), [(1, "가나다라마바사"), (2, "버림\n가나다라마바사\n하")])
def test_a_turn_is_cut_before_it_is_tokenized(monkeypatch, turns, question):
    read = []

    class Noting(InGraphTokenizer):
        def encode(self, texts):
            read.extend(text.decode() for text in texts.numpy())
            return super().encode(texts)

    monkeypatch.setattr(graph_text, "LONGEST", 3)
    tokenizer = Tokenizer.train(TEXTS, 320, separator=True)
    config = types.SimpleNamespace(max_length=24, turns=turns)
    run = types.SimpleNamespace(tokenizer=tokenizer, target_tokenizer=tokenizer, config=config)
    GraphText(run, Noting).encode(tf.constant([question]))
    assert read == ["가나다", "하"][:turns]
