import pytest

tf = pytest.importorskip("tensorflow")

from sentencepiece import sentencepiece_model_pb2  # noqa: E402

from keras_transformer import Tokenizer  # noqa: E402
from keras_transformer.text.ops.detokenizer import Detokenizer  # noqa: E402


@pytest.fixture(scope="module")
def text_of():
    """A function of pieces, "<0xEA>" among them, that gives their text."""
    tokenizer = Tokenizer.train(["ab ab ab cd"] * 9, 270, "bpe")
    model = sentencepiece_model_pb2.ModelProto.FromString(tokenizer.model)
    ids = {piece.piece: i for i, piece in enumerate(model.pieces)}
    join = Detokenizer(model)

    def text_of(*pieces):
        between = [ids["a"]], [ids["<0x80>"]]  # Rows before and after, which must not be touched.
        rows = [between[0], [ids[piece] for piece in pieces], between[1]]
        first, text, last = join(tf.ragged.constant(rows, tf.int32, row_splits_dtype=tf.int32)).numpy()
        assert (first, last) == (b"a", "\ufffd".encode())
        return text.decode()

    return text_of


def bytes_of(data):
    return [f"<0x{byte:02X}>" for byte in data]


def test_the_first_space_is_left_out(text_of):
    assert text_of("▁ab", "▁", "c") == "ab c"
    assert text_of("▁", "▁", "▁ab", "▁ab") == "ab ab"
    assert text_of("<s>", "▁ab", "</s>", "<pad>") == "ab"
    assert text_of("<unk>", "▁ab") == " ⁇  ab"
    assert text_of(*bytes_of(b" "), "▁ab") == "  ab"


@pytest.mark.parametrize(
    "text",
    ["a", "é", "한", "😀", "a한é", "\0\x7f", "\x80\u07ff", "\u0800\ud7ff", "\ue000\ufffd", "\U00010000\U0010ffff"],
)
def test_bytes_become_characters(text_of, text):
    assert text_of("a", *bytes_of(text.encode()), "b", *bytes_of(text.encode())) == f"a{text}b{text}"


@pytest.mark.parametrize(
    "data", ["80", "c3", "eab0", "f09f98", "c080", "e08080", "eda080", "f4908080", "f5808080", "ff"]
)
def test_each_byte_that_is_no_character_is_replaced(text_of, data):
    data = bytes.fromhex(data)
    replaced = "\ufffd" * len(data)
    assert text_of("a", *bytes_of(data), "b") == f"a{replaced}b"
    assert text_of(*bytes_of(data), *bytes_of("한".encode())) == f"{replaced}한"


def test_bytes_with_an_id_between_them_are_no_character(text_of):
    first, second = bytes_of("é".encode())
    assert text_of(first, "</s>", second) == "\ufffd\ufffd"
    assert text_of("▁ab", first) == "ab\ufffd"
