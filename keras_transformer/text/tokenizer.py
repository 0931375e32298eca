"""Text to token ids and back."""

import pathlib

from keras_transformer.errors import InputError
from keras_transformer.text import sentence_pieces
from keras_transformer.text.sentence_pieces import MODEL_TYPES, SentencePieces
from keras_transformer.text.subwords import HEADER, Subwords

PAD_ID = 0
KINDS = tuple(MODEL_TYPES)
ENDINGS = (SentencePieces.ending, Subwords.ending)


class Tokenizer:
    """Text to token ids and back, by a vocabulary of pieces.

    `decode(encode(text)) == normalize(text)` for every text that has no unknown character, Hangul, emoji and mixed
    scripts included; and by the kinds "sentencepiece" and "bpe" for every text: they spell a character that they never
    met as its UTF-8 bytes. What does change is white space (runs become one space, the ends are stripped), the
    composition of characters (NFC), and U+2581 '▁', SentencePiece's own sign for a space.

    A vocabulary of tensorflow-datasets' `SubwordTextEncoder` changes nothing at all; its start and end come after its
    other ids, and it has no unknown.

    Args:
        vocabulary: `SentencePieces` or `Subwords`.

    Attributes:
        vocab_size: Number of token ids.
        pad_id: Padding, 0.
        unk_id: Unknown piece, 1; None if there is none.
        start_id: Start of a sentence, 2.
        end_id: End of a sentence, 3.
        separator_id: What stands between the turns of a conversation, 4; None unless trained for them.
        model: The vocabulary as the bytes of its file.
        ending: How the file's name ends: ".model" (SentencePiece) or ".subwords".
    """

    pad_id = PAD_ID

    def __init__(self, vocabulary):
        self.vocabulary = vocabulary
        self.vocab_size, self.model, self.ending = vocabulary.size, vocabulary.data, vocabulary.ending
        self.unk_id, self.start_id, self.end_id = vocabulary.unk_id, vocabulary.start_id, vocabulary.end_id
        self.separator_id = vocabulary.separator_id

    @classmethod
    def train(cls, texts, vocab_size=8192, kind="sentencepiece", jamo=False, separator=False):
        """Learns the pieces of some texts; the same texts give the same tokenizer.

        Args:
            texts: Strings.
            vocab_size: Token ids to have at most; texts with few distinct pieces give fewer.
            kind: How text is cut: "sentencepiece" (or "unigram": the likeliest pieces), "bpe" (byte-pair encoding),
                "character", or "word" (at white space). The last two know only what these texts hold.
            jamo: Whether Hangul syllables are cut into their letters first; decoding composes them again.
            separator: Whether an id is kept for what stands between the turns of a conversation.

        Returns:
            A `Tokenizer`.

        Raises:
            InputError: If there is no text, the vocabulary is too small for its characters, or the kind is unknown.
        """
        if kind not in KINDS:
            raise InputError(f"no tokenizer of kind {kind!r}; there are {', '.join(map(repr, KINDS))}")
        return cls(sentence_pieces.train(texts, vocab_size, kind, jamo, separator))

    @classmethod
    def load(cls, path):
        """The tokenizer of a file: a SentencePiece model, or a `.subwords` vocabulary of tensorflow-datasets.

        Raises:
            InputError: If the file is missing or neither of them.
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
        """Writes the vocabulary's file, which SentencePiece, or tensorflow-datasets, can read too."""
        pathlib.Path(path).write_bytes(self.model)

    def encode(self, text):
        """Token ids of a text, without start and end: a list; of a list of texts: a list of lists."""
        if isinstance(text, str):
            return self.encode([text])[0]
        return self.vocabulary.encode([self.normal_form(one) for one in text])

    def decode(self, ids):
        """The text of a sequence of token ids, or the texts of a list of sequences; padding, start and end vanish."""
        rows = [[int(i) for i in row] if hasattr(row, "__len__") else int(row) for row in ids]
        if not rows:
            return ""
        return self.vocabulary.decode(rows) if isinstance(rows[0], list) else self.vocabulary.decode([rows])[0]

    def normal_form(self, text):
        """What `decode(encode(text))` gives back, but for what is unknown."""
        return self.vocabulary.normal_form(text)

    def pieces(self, text):
        """The pieces a text falls into, in which '▁' (SentencePiece) or '_' (.subwords) stands for a space."""
        return self.vocabulary.pieces(self.normal_form(text))

    def unknown(self, text):
        """The characters of a text that no piece covers (of kind "word", the words), each once, in their order."""
        units = dict.fromkeys(self.vocabulary.units(self.normal_form(text)))
        return [unit for unit in units if not self.vocabulary.knows(unit)]

    def knows_nothing_of(self, text):
        """Whether a text has characters (of kind "word", words) and the tokenizer covers none of them."""
        units = set(self.vocabulary.units(self.normal_form(text))) - {" "}
        return bool(units) and len(self.unknown(text)) == len(units)
