"""Text to token ids and back, by SentencePiece."""

import io
import pathlib

import sentencepiece

from keras_transformer.errors import InputError
from keras_transformer.text.normalize import normalize

PAD_ID, UNK_ID, START_ID, END_ID = 0, 1, 2, 3
SPACE = "▁"  # How SentencePiece writes a space inside a piece.
BYTE_PIECES = 256


class Tokenizer:
    """A SentencePiece unigram tokenizer.

    `decode(encode(text)) == normalize(text)` for every text, Hangul, emoji and mixed scripts included: a character that
    the tokenizer never met is spelled as its UTF-8 bytes. What does change is white space (runs become one space, the
    ends are stripped), the composition of characters (NFC), and U+2581 '▁', SentencePiece's own sign for a space.

    Attributes:
        vocab_size: Number of token ids.
        pad_id: Padding, 0.
        unk_id: Unknown piece, 1.
        start_id: Start of a sentence, 2.
        end_id: End of a sentence, 3.
        model: The serialized SentencePiece model, bytes.
    """

    pad_id, unk_id, start_id, end_id = PAD_ID, UNK_ID, START_ID, END_ID

    def __init__(self, model):
        self.model = model
        self._pieces = sentencepiece.SentencePieceProcessor(model_proto=model)
        self.vocab_size = self._pieces.get_piece_size()

    @classmethod
    def train(cls, texts, vocab_size=8192, kind="sentencepiece"):
        """Learns the pieces of some texts; the same texts give the same tokenizer.

        Args:
            texts: Strings.
            vocab_size: Token ids to have at most; texts with few distinct pieces give fewer.
            kind: "sentencepiece", the only kind so far.

        Returns:
            A `Tokenizer`.

        Raises:
            InputError: If there is no text, the vocabulary is too small for its characters, or the kind is unknown.
        """
        if kind != "sentencepiece":
            raise InputError(f"no tokenizer of kind {kind!r}; there is 'sentencepiece'")
        texts = [text for text in map(normalize, texts) if text]
        if not texts:
            raise InputError("no text to learn a tokenizer from")
        characters = len(set("".join(texts)))
        least = 4 + BYTE_PIECES + characters
        if vocab_size < least:
            raise InputError(
                f"a vocabulary of {vocab_size} is too small: these texts have {characters} different characters, "
                f"so at least {least} are needed"
            )
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=model,
            vocab_size=vocab_size,
            hard_vocab_limit=False,
            character_coverage=1.0,
            byte_fallback=True,
            normalization_rule_name="identity",
            max_sentence_length=1_000_000,
            num_threads=1,  # With more, sums run in another order and the pieces may differ.
            pad_id=PAD_ID,
            unk_id=UNK_ID,
            bos_id=START_ID,
            eos_id=END_ID,
            minloglevel=2,
        )
        return cls(model.getvalue())

    @classmethod
    def load(cls, path):
        """The tokenizer saved at `path`; raises `InputError` if it is missing or no SentencePiece model."""
        try:
            return cls(pathlib.Path(path).read_bytes())
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}") from error
        except RuntimeError as error:
            raise InputError(f"{path}: not a SentencePiece model, or damaged") from error

    def save(self, path):
        """Writes the SentencePiece model, which any SentencePiece program can read."""
        pathlib.Path(path).write_bytes(self.model)

    def encode(self, text):
        """Token ids of a text, without start and end: a list; of a list of texts: a list of lists."""
        if isinstance(text, str):
            return self._pieces.encode(normalize(text))
        return self._pieces.encode([normalize(one) for one in text], num_threads=1)

    def decode(self, ids):
        """The text of a sequence of token ids, or the texts of a list of sequences; padding, start and end vanish."""
        ids = [[int(i) for i in row] if hasattr(row, "__len__") else int(row) for row in ids]
        return self._pieces.decode(ids) if ids else ""

    def pieces(self, text):
        """The pieces a text falls into, in which '▁' stands for a space."""
        return self._pieces.encode(normalize(text), out_type=str)

    def unknown_characters(self, text):
        """The characters of a text that no piece covers, each once, in order of appearance."""
        return [c for c in dict.fromkeys(normalize(text)) if any(map(self._is_unknown, self._pieces.encode(c)))]

    def knows_nothing_of(self, text):
        """Whether a text has characters and the tokenizer covers none of them."""
        characters = set(normalize(text)) - {" "}
        return bool(characters) and len(self.unknown_characters(text)) == len(characters)

    def _is_unknown(self, token_id):
        return self._pieces.is_byte(token_id) or self._pieces.is_unknown(token_id)
