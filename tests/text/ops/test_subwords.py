"""The operations give the ids and the texts of tensorflow-datasets."""

import pathlib

import hypothesis
import hypothesis.strategies as st
import pandas as pd
import pytest

tf = pytest.importorskip("tensorflow")
tfds = pytest.importorskip("tensorflow_datasets")

from keras_transformer import InputError, Tokenizer  # noqa: E402
from keras_transformer.text.core_ops import CoreSubwords, core_tokenizer  # noqa: E402
from keras_transformer.text.subwords import Subwords, with_preprocessing  # noqa: E402

pytestmark = pytest.mark.heavy

ROOT = pathlib.Path(__file__).parents[3]
ODD = [
    "", " ", "  ", " 앞", "뒤 ", "한  칸 두   칸", "안녕, 친구! 뭐 해?", "a b", "a,b", "a , b ,", "\tm\n x",
    "\u3000글\xa0과", "under_score _ __ _a a_", "ㅋㅋㅋ ㅠㅠ 漢字 русский العربية हिन्दी", "👍🏽 😀😀", "1½ ² Ⅷ ① ٣",
    "e\u0301 각", "\ud7ff\ue000\U0010ffff", "it's I'm don't", 'quotes " and \\ and \'', "가" * 300,
    "x" * 300 + " y" * 300,
]  # fmt: skip


@pytest.fixture(scope="module")
def texts():
    frame = pd.read_csv(ROOT / "keras_transformer/data/small_talk/small_talk.csv")[::4]
    return [*frame["question"], *frame["answer"], *ODD]


@pytest.fixture(scope="module")
def vocabulary(texts, tmp_path_factory):
    prefix = tmp_path_factory.mktemp("vocabulary") / "some"
    encoder = tfds.deprecated.text.SubwordTextEncoder.build_from_corpus(iter(texts[: -len(ODD)]), 700)
    encoder.save_to_file(str(prefix))
    return prefix.with_suffix(".subwords").read_bytes()


@pytest.fixture(scope="module", params=[None, "punctuation", "english", "contractions"])
def tokenizer(vocabulary, request):
    return Tokenizer(Subwords(with_preprocessing(vocabulary, request.param)))


@pytest.fixture(scope="module")
def core(tokenizer):
    operations = core_tokenizer(tokenizer)
    assert isinstance(operations, CoreSubwords)
    operations.encode = tf.function(operations.encode, input_signature=[tf.TensorSpec([None], tf.string)])
    operations.decode = tf.function(operations.decode, input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])
    return operations


def decoded(strings):
    return [string.decode() for string in strings.numpy()]


def test_the_ids_and_the_texts_are_those_of_the_tokenizer(tokenizer, core, texts):
    ids = tokenizer.encode(texts)
    assert core.encode(tf.constant(texts)).to_list() == ids
    assert decoded(core.decode(tf.ragged.constant(ids, tf.int32))) == tokenizer.decode(ids)


@hypothesis.given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"])) | st.text("가각 ab_,.?!'\"1²\u0301\u3000"))
)
@hypothesis.settings(max_examples=50, deadline=None, derandomize=True)
def test_any_texts_have_the_ids_of_the_tokenizer(tokenizer, core, some):
    assert core.encode(tf.constant(some, tf.string)).to_list() == tokenizer.encode(some)


@hypothesis.given(st.lists(st.lists(st.integers(0, 5000)), min_size=1))
@hypothesis.settings(max_examples=50, deadline=None, derandomize=True)
def test_any_ids_have_the_texts_of_the_tokenizer(tokenizer, core, ids):
    ids = [[tokenizer.vocab_size - 1 - i % tokenizer.vocab_size for i in row] for row in ids]
    assert decoded(core.decode(tf.ragged.constant(ids, tf.int32, ragged_rank=1))) == tokenizer.decode(ids)


def test_pieces_of_letters_and_punctuation_are_refused(tmp_path):
    tfds.deprecated.text.SubwordTextEncoder(["a", "a.b"]).save_to_file(str(tmp_path / "mixed"))
    with pytest.raises(InputError, match="pieces of letters and punctuation"):
        core_tokenizer(Tokenizer.load(tmp_path / "mixed.subwords"))
