"""The tokenizer, which converts text to token ids and back."""

import os
import pathlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.padding import PAD_ID
from keras_transformer.text import jamo as hangul
from keras_transformer.text import sentence_pieces
from keras_transformer.text.normalize import check_unicode
from keras_transformer.text.sentence_pieces import MODEL_TYPES, SentencePieces
from keras_transformer.text.subwords import HEADER, Subwords

if TYPE_CHECKING:
    import numpy

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

    pad_id: int = PAD_ID
    vocab_size: int
    unk_id: int | None
    start_id: int
    end_id: int
    separator_id: int | None
    model: bytes
    ending: str

    def __init__(self, vocabulary: SentencePieces | Subwords):
        self.vocabulary = vocabulary
        self.vocab_size, self.model, self.ending = vocabulary.size, vocabulary.data, vocabulary.ending
        self.unk_id, self.start_id, self.end_id = vocabulary.unk_id, vocabulary.start_id, vocabulary.end_id
        self.separator_id = vocabulary.separator_id

    @classmethod
    def train(
        cls, texts: Iterable[str], vocab_size: int = 8192, kind: str = "sentencepiece", jamo: bool = False,
        separator: bool = False,
    ) -> "Tokenizer":  # fmt: skip
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

        Example:
            >>> tokenizer = Tokenizer.train(["good night", "good day"], kind="word")
            >>> tokenizer.vocab_size, tokenizer.pieces("good day")
            (7, ['▁good', '▁day'])
        """
        if kind not in KINDS:
            raise InputError(
                _("unknown tokenizer kind {kind!r}: use one of {kinds}", kind=kind, kinds=", ".join(map(repr, KINDS)))
            )
        return cls(sentence_pieces.train(texts, vocab_size, kind, jamo, separator))

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Tokenizer":
        """Loads a tokenizer from a SentencePiece model or a `.subwords` vocabulary of tensorflow-datasets.

        Raises:
            InputError: If the file is missing, or is neither of them.
        """
        try:
            data = pathlib.Path(path).read_bytes()
        except (OSError, ValueError) as error:  # ValueError: a path with a NUL character.
            raise InputError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
        return cls.of_file(path, data)

    @classmethod
    def of_file(cls, path: str | os.PathLike, data: bytes) -> "Tokenizer":
        """Returns the tokenizer of a file's content, as `load` does; the path is for error messages."""
        try:
            return cls(Subwords(data) if data.startswith(HEADER) else SentencePieces(data))
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        except (RuntimeError, ValueError) as error:
            raise InputError(
                _("{path}: neither a SentencePiece model nor a .subwords vocabulary, or damaged", path=path)
            ) from error

    def save(self, path: str | os.PathLike) -> None:
        """Saves the vocabulary to a file that SentencePiece or tensorflow-datasets can read."""
        pathlib.Path(path).write_bytes(self.model)

    @overload  # A text is also an iterable of texts, but the first signature is tried first.
    def encode(self, text: str) -> list[int]: ...  # type: ignore[overload-overlap]
    @overload
    def encode(self, text: Iterable[str]) -> list[list[int]]: ...
    def encode(self, text: str | Iterable[str]) -> list[int] | list[list[int]]:
        """Tokenizes a text into a list of token ids, without start and end. For a list of texts, a list of lists.

        Example:
            >>> tokenizer = Tokenizer.train(["good night", "good day"], kind="word")
            >>> tokenizer.encode("good day"), tokenizer.encode(["good day", "good night"])
            ([4, 5], [[4, 5], [4, 6]])
        """
        if isinstance(text, str):
            return self.encode([text])[0]
        return self.vocabulary.encode([self.normal_form(item) for item in text])

    @overload  # A text if the array has one axis, a list of texts if it has two.
    def decode(self, ids: "numpy.ndarray") -> Any: ...
    @overload
    def decode(self, ids: Iterable[int]) -> str: ...
    @overload
    def decode(self, ids: Iterable[Iterable[int]]) -> list[str]: ...
    def decode(self, ids: Iterable[Any]) -> str | list[str]:
        """Decodes a sequence of token ids into a text, or a list of sequences into texts, without special tokens.

        Example:
            >>> tokenizer = Tokenizer.train(["good night", "good day"])
            >>> tokenizer.decode([tokenizer.start_id, *tokenizer.encode("good day"), tokenizer.end_id])
            'good day'

        Raises:
            InputError: If an id is not one of the vocabulary.
        """
        rows = [[int(i) for i in row] if hasattr(row, "__len__") else int(row) for row in ids]
        if not rows:
            return ""
        many = isinstance(rows[0], list)
        return self._decode(rows) if many else self._decode([rows])[0]

    def _decode(self, rows):
        for row in rows:
            if row and not 0 <= min(row) <= max(row) < self.vocab_size:
                raise InputError(_("token ids must be from 0 to {largest}", largest=self.vocab_size - 1))
        return self.vocabulary.decode(rows)

    def normal_form(self, text: str) -> str:
        """Returns the normalized text, which `decode(encode(text))` equals if nothing in it is unknown.

        Raises:
            InputError: If the text is not valid Unicode: it contains half a character (a lone surrogate).
        """
        check_unicode(text)
        return self.vocabulary.normal_form(text)

    def texts(self) -> list[str | bytes]:
        """Returns what each token id adds to a decoded text: a text, or bytes for a piece that is a single byte.

        With jamo, the texts are letters, which `decode` composes.
        """
        return self.vocabulary.texts()

    def spelled(self, text: str) -> str:
        """Returns a text in the characters of the pieces: with jamo, syllables are split into letters."""
        return hangul.split(text) if self.vocabulary.composes else text

    def pieces(self, text: str) -> list[str]:
        """Splits a text into pieces, where '▁' (SentencePiece) or '_' (.subwords) stands for a space."""
        return self.vocabulary.pieces(self.normal_form(text))

    def unknown(self, text: str) -> list[str]:
        """Returns the unknown characters of a text (for the kind "word", words), without duplicates, in their order."""
        units = dict.fromkeys(self.vocabulary.units(self.normal_form(text)))
        return [unit for unit in units if not self.vocabulary.knows(unit)]

    def has_only_unknown(self, text: str) -> bool:
        """Returns whether all characters of a text (for the kind "word", words) are unknown. False for a blank text."""
        units = set(self.vocabulary.units(self.normal_form(text))) - {" "}
        return bool(units) and len(self.unknown(text)) == len(units)
