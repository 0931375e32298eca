"""The vocabularies of tensorflow-datasets' `SubwordTextEncoder`, with which the first Korean tutorials trained."""

import pathlib
import tempfile

from keras_transformer.errors import InputError

HEADER = b"### SubwordTextEncoder"


class Subwords:
    """A `.subwords` file as a vocabulary.

    The ids are those of `SubwordTextEncoder`, and start and end come after them, as the tutorial numbers them. Text is
    taken as it is, neither composed nor stripped.

    Args:
        data: What the file holds, bytes.

    Raises:
        InputError: If tensorflow-datasets, which reads it, is not installed.
        RuntimeError: If it is none.
    """

    ending = ".subwords"
    units = list
    unk_id = separator_id = None  # What is unknown is spelled as bytes.

    def __init__(self, data):
        self.data = data
        self._encoder = read(data)
        self.start_id, self.end_id = self._encoder.vocab_size, self._encoder.vocab_size + 1
        self.size = self._encoder.vocab_size + 2

    @staticmethod
    def normal_form(text):
        """The text itself."""
        return text

    def encode(self, texts):
        """Ids of texts, a list for each."""
        return [self._encoder.encode(text) for text in texts]

    def decode(self, rows):
        """The texts of lists of ids."""
        return [self._encoder.decode([i for i in row if 0 < i < self.start_id]) for row in rows]

    def pieces(self, text):
        """The pieces of a text, in which "_" at the end stands for a space."""
        return [self._piece(token_id) for token_id in self._encoder.encode(text)]

    def knows(self, character):
        """Whether a piece holds the character."""
        return any(character in subword for subword in self._encoder.subwords)

    def may_change(self, text):
        """Whether more ids may change the last character of a text: no."""
        return False

    def _piece(self, token_id):
        subwords = self._encoder.subwords
        return subwords[token_id - 1] if token_id <= len(subwords) else f"<0x{token_id - 1 - len(subwords):02X}>"


def read(data):
    """The `SubwordTextEncoder` of a file's bytes."""
    try:
        from tensorflow_datasets import deprecated
    except ImportError as error:
        raise InputError(
            "a .subwords vocabulary is read by tensorflow-datasets: pip install 'keras-transformer[datasets]'"
        ) from error
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder) / "vocabulary"
        prefix.with_suffix(Subwords.ending).write_bytes(data)
        try:
            return deprecated.text.SubwordTextEncoder.load_from_file(str(prefix))
        except ValueError as error:
            raise RuntimeError(str(error)) from error
