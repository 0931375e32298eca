"""The tokenizer, which converts text to token ids and back."""

import pathlib

from keras_transformer.errors import InputError
from keras_transformer.padding import PAD_ID
from keras_transformer.text import sentence_pieces
from keras_transformer.text.sentence_pieces import MODEL_TYPES, SentencePieces
from keras_transformer.text.subwords import HEADER, Subwords

KINDS = tuple(MODEL_TYPES)
ENDINGS = (SentencePieces.ending, Subwords.ending)


class Tokenizer:
    """Subword tokenizer: converts text to token ids and back.

    `decode(encode(text)) == normalize(text)` for every text without unknown characters, including Hangul, emoji and
    mixed scripts. With the kinds "sentencepiece" and "bpe" it holds for every text, because they encode unseen
    characters as UTF-8 bytes. Normalization changes white space (runs become one space, the ends are stripped) and
    composes characters (NFC). U+2581 '▁', which SentencePiece uses for spaces, changes as well.

    A vocabulary of `SubwordTextEncoder` (tensorflow-datasets) does not normalize text. Its start and end ids follow its
    other ids, and it has no unknown id.

    Args:
        vocabulary: `SentencePieces` or `Subwords`.

    Attributes:
        vocab_size: Number of token ids.
        pad_id: Id of padding, 0.
        unk_id: Id of the unknown piece, 1. None if there is none.
        start_id: Id of the start token, 2.
        end_id: Id of the end token, 3.
        separator_id: Id of the separator between the turns of a conversation, 4. None if trained without it.
        model: Content of the vocabulary's file, bytes.
        ending: File name extension: ".model" (SentencePiece) or ".subwords".
    """

    pad_id = PAD_ID

    def __init__(self, vocabulary):
        self.vocabulary = vocabulary
        self.vocab_size, self.model, self.ending = vocabulary.size, vocabulary.data, vocabulary.ending
        self.unk_id, self.start_id, self.end_id = vocabulary.unk_id, vocabulary.start_id, vocabulary.end_id
        self.separator_id = vocabulary.separator_id

    @classmethod
    def train(cls, texts, vocab_size=8192, kind="sentencepiece", jamo=False, separator=False):
        """Trains a tokenizer. The result is deterministic.

        Args:
            texts: Strings.
            vocab_size: Maximum vocabulary size. Texts with few distinct pieces give a smaller vocabulary.
            kind: Tokenization algorithm: "sentencepiece" or "unigram" (unigram language model), "bpe" (byte-pair
                encoding), "character", or "word" (split at white space). The last two cover only what occurs in
                `texts`.
            jamo: Whether to split Hangul syllables into letters (jamo) first. Decoding composes them again.
            separator: Whether to reserve an id for the separator between the turns of a conversation.

        Returns:
            A `Tokenizer`.

        Raises:
            InputError: If there is no text, the vocabulary is too small for its characters, or the kind is unknown.
        """
        if kind not in KINDS:
            raise InputError(f"unknown tokenizer kind {kind!r}: use one of {', '.join(map(repr, KINDS))}")
        return cls(sentence_pieces.train(texts, vocab_size, kind, jamo, separator))

    @classmethod
    def load(cls, path):
        """Loads a tokenizer from a SentencePiece model or a `.subwords` vocabulary of tensorflow-datasets.

        Raises:
            InputError: If the file is missing, or is neither of them.
        """
        try:
            data = pathlib.Path(path).read_bytes()
            return cls(Subwords(data) if data.startswith(HEADER) else SentencePieces(data))
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}") from error
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        except RuntimeError as error:
            raise InputError(f"{path}: neither a SentencePiece model nor a .subwords vocabulary, or damaged") from error

    def save(self, path):
        """Saves the vocabulary to a file that SentencePiece or tensorflow-datasets can read."""
        pathlib.Path(path).write_bytes(self.model)

    def encode(self, text):
        """Tokenizes a text into a list of token ids, without start and end. For a list of texts, a list of lists."""
        if isinstance(text, str):
            return self.encode([text])[0]
        return self.vocabulary.encode([self.normal_form(item) for item in text])

    def decode(self, ids):
        """Decodes a sequence of token ids into a text, or a list of sequences into texts, without special tokens."""
        rows = [[int(i) for i in row] if hasattr(row, "__len__") else int(row) for row in ids]
        if not rows:
            return ""
        return self.vocabulary.decode(rows) if isinstance(rows[0], list) else self.vocabulary.decode([rows])[0]

    def normal_form(self, text):
        """Returns the normalized text, which `decode(encode(text))` equals if nothing in it is unknown."""
        return self.vocabulary.normal_form(text)

    def pieces(self, text):
        """Splits a text into pieces, where '▁' (SentencePiece) or '_' (.subwords) stands for a space."""
        return self.vocabulary.pieces(self.normal_form(text))

    def unknown(self, text):
        """Returns the unknown characters of a text (for the kind "word", words), without duplicates, in their order."""
        units = dict.fromkeys(self.vocabulary.units(self.normal_form(text)))
        return [unit for unit in units if not self.vocabulary.knows(unit)]

    def knows_nothing_of(self, text):
        """Returns whether all characters of a text (for the kind "word", words) are unknown. False for a blank text."""
        units = set(self.vocabulary.units(self.normal_form(text))) - {" "}
        return bool(units) and len(self.unknown(text)) == len(units)
