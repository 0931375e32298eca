"""SentencePiece vocabularies: unigram, BPE, characters and words."""

import contextlib
import io
import warnings

import sentencepiece
from google.protobuf.message import DecodeError
from sentencepiece import sentencepiece_model_pb2

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.padding import PAD_ID
from keras_transformer.text import jamo as hangul
from keras_transformer.text.normalize import check_unicode, normalize

UNK_ID, START_ID, END_ID, SEPARATOR_ID = 1, 2, 3, 4  # After `PAD_ID`.
SEPARATOR = "<sep>"
SPACE = "▁"  # Stands for a space in SentencePiece pieces.
BYTE_PIECES = 256
LONGEST_WORD = 2000  # Characters. Training on longer ones, which are no words, takes the square of their length.

MODEL_TYPES = {
    "sentencepiece": "unigram", "unigram": "unigram", "bpe": "bpe", "character": "char", "word": "word",
}  # fmt: skip
"""Maps the kinds of `Tokenizer.train` to SentencePiece's model types."""

OPEN = {"unigram", "bpe"}
"""Model types that encode unseen characters as UTF-8 bytes. The others are closed and map them to the unknown id."""


class SentencePieces:
    """A SentencePiece model as a vocabulary.

    Args:
        data: The serialized model, bytes.

    Raises:
        RuntimeError: If the data is not a SentencePiece model.
        InputError: If its special ids (padding, unknown, start, end) are not 0, 1, 2, 3.
    """

    ending = ".model"
    unk_id, start_id, end_id = UNK_ID, START_ID, END_ID
    preprocessing = None  # `normalize` is all that a text needs.

    def __init__(self, data):
        self.data = data
        try:
            model = sentencepiece_model_pb2.ModelProto.FromString(data)
        except DecodeError as error:
            raise RuntimeError(str(error)) from error
        self._pieces = sentencepiece.SentencePieceProcessor(model_proto=data)
        self.size = self._pieces.get_piece_size()
        check_special_ids(self._pieces)
        separated = self.size > SEPARATOR_ID and self._pieces.id_to_piece(SEPARATOR_ID) == SEPARATOR
        self.separator_id = SEPARATOR_ID if separated else None
        self.composes = bool(model.denormalizer_spec.precompiled_charsmap)
        self.units = str.split if model.trainer_spec.model_type == model.trainer_spec.WORD else list

    normal_form = staticmethod(normalize)

    def encode(self, texts):
        """Returns a list of ids for each normalized text."""
        return self._pieces.encode(texts, num_threads=1)

    def decode(self, rows):
        """Returns the text of each list of ids."""
        return self._pieces.decode(rows)

    def texts(self):
        """Returns what each id adds to a decoded text: a text, or bytes for a piece that is a single byte."""
        return [self._text(i) for i in range(self.size)]

    def _text(self, i):
        piece = self._pieces.id_to_piece(i)
        if self._pieces.is_byte(i):
            return bytes([int(piece.strip("<>"), 16)])
        if self._pieces.is_control(i) or self._pieces.is_unknown(i):
            return self._pieces.decode([i])
        return piece.replace(SPACE, " ")

    def pieces(self, text):
        """Returns the pieces of a normalized text."""
        return self._pieces.encode(text, out_type=str)

    def knows(self, unit):
        """Returns whether pieces cover a character (for the kind "word", a word) without bytes or the unknown id."""
        return not any(self._pieces.is_byte(i) or self._pieces.is_unknown(i) for i in self._pieces.encode(unit))

    def may_change(self, text):
        """Returns whether further ids may change the last character of a text."""
        return self.composes and hangul.may_grow(text)


def check_special_ids(pieces):
    """Raises `InputError` if the special ids of a SentencePiece processor are not the expected ones."""
    special_ids = [pieces.pad_id(), pieces.unk_id(), pieces.bos_id(), pieces.eos_id()]
    if special_ids != [PAD_ID, UNK_ID, START_ID, END_ID]:
        raise InputError(
            _(
                "the ids of padding, unknown, start and end are {ids}, not 0, 1, 2, 3: "
                "train it with --pad_id=0 --unk_id=1 --bos_id=2 --eos_id=3",
                ids=", ".join(map(str, special_ids)),
            )
        )


def train(texts, vocab_size, kind, jamo, separator):
    """Trains `SentencePieces`. The arguments are those of `Tokenizer.train`."""
    texts = [with_shorter_words(text) for text in map(normalize, texts) if text.strip("\0 ")]
    for text in texts:
        check_unicode(text)
    if not texts:
        raise InputError(_("there is no text to train a tokenizer on"))
    model_type = MODEL_TYPES[kind]
    check_size(texts, vocab_size, jamo, separator, model_type)
    model = io.BytesIO()
    with hangul.rules() if jamo else contextlib.nullcontext({"normalization_rule_name": "identity"}) as rules:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=model,
            model_type=model_type,
            vocab_size=vocab_size,
            hard_vocab_limit=False,
            character_coverage=1.0,
            byte_fallback=model_type in OPEN,
            # With a space before it, the first word is the same piece as in the middle. Characters need none.
            add_dummy_prefix=model_type != "char",
            max_sentence_length=1_000_000,
            num_threads=1,  # Deterministic: more threads sum in another order, and the pieces may differ.
            pad_id=PAD_ID,
            unk_id=UNK_ID,
            bos_id=START_ID,
            eos_id=END_ID,
            control_symbols=[SEPARATOR] if separator else [],
            minloglevel=2,
            **rules,
        )
    vocabulary = SentencePieces(model.getvalue())
    if model_type not in OPEN:
        warn_of_unknown(vocabulary, texts, kind)
    return vocabulary


def with_shorter_words(text):
    """Returns a normalized text whose words are cut off after `LONGEST_WORD` characters."""
    if len(text) <= LONGEST_WORD:
        return text
    return " ".join(word[:LONGEST_WORD] for word in text.split(" "))


def check_size(texts, vocab_size, jamo, separator, model_type):
    """Raises `InputError` if the vocabulary is too small for the characters, or for any piece if it is closed."""
    if model_type not in OPEN:
        if vocab_size <= 4 + separator:
            raise InputError(
                _(
                    "a vocabulary of {vocab_size} is too small: at least {special} are needed",
                    vocab_size=vocab_size,
                    special=5 + separator,
                )
            )
        return
    characters = "".join(set("".join(texts)))
    characters = len(set(hangul.split(characters) if jamo else characters))
    least = 4 + separator + BYTE_PIECES + characters
    if vocab_size < least:
        raise InputError(
            _(
                "a vocabulary of {vocab_size} is too small: these texts have {characters} different characters, "
                "so at least {least} are needed",
                vocab_size=vocab_size,
                characters=characters,
                least=least,
            )
        )


def warn_of_unknown(vocabulary, texts, kind):
    """Warns about the share of the texts that a closed vocabulary does not cover, if any."""
    ids = vocabulary.encode(texts)
    unknown = sum(row.count(UNK_ID) for row in ids)
    if unknown:
        total = sum(map(len, ids))
        warnings.warn(
            _(
                "the {kind} tokenizer of {size} ids leaves {share} of the text unknown: increase --vocab-size, "
                "or use the kind sentencepiece",
                kind=kind,
                size=vocabulary.size,
                share=f"{100 * unknown / total:.1f} %",
            ),
            stacklevel=4,
        )
