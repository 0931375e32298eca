"""Vocabularies of `SubwordTextEncoder` (tensorflow-datasets), which the first Korean tutorials used."""

import pathlib
import tempfile

from keras_transformer.errors import import_extra

HEADER = b"### SubwordTextEncoder"


class Subwords:
    """A `.subwords` file as a vocabulary.

    The ids are those of `SubwordTextEncoder`, followed by the start and end ids, as in the tutorial. Text is not
    normalized.

    Args:
        data: Content of the file, bytes.

    Raises:
        InputError: If tensorflow-datasets is not installed.
        RuntimeError: If the data is not a `.subwords` vocabulary.
    """

    ending = ".subwords"
    units = list
    unk_id = separator_id = None  # Unknown characters are encoded as bytes.

    def __init__(self, data):
        self.data = data
        self._encoder = read(data)
        self.start_id, self.end_id = self._encoder.vocab_size, self._encoder.vocab_size + 1
        self.size = self._encoder.vocab_size + 2

    @staticmethod
    def normal_form(text):
        """Returns the text unchanged."""
        return text

    def encode(self, texts):
        """Returns a list of ids for each text."""
        return [self._encoder.encode(text) for text in texts]

    def decode(self, rows):
        """Returns the text of each list of ids."""
        return [self._encoder.decode([i for i in row if 0 < i < self.start_id]) for row in rows]

    def pieces(self, text):
        """Returns the pieces of a text, where a trailing "_" stands for a space."""
        return [self._piece(token_id) for token_id in self._encoder.encode(text)]

    def knows(self, character):
        """Returns whether any piece contains the character."""
        return any(character in subword for subword in self._encoder.subwords)

    def may_change(self, text):
        """Returns whether further ids may change the last character of a text, which never happens here."""
        return False

    def _piece(self, token_id):
        subwords = self._encoder.subwords
        return subwords[token_id - 1] if token_id <= len(subwords) else f"<0x{token_id - 1 - len(subwords):02X}>"


def read(data):
    """Loads the `SubwordTextEncoder` from the bytes of a file."""
    tfds = import_extra("tensorflow_datasets", "datasets", "a .subwords vocabulary")
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder) / "vocabulary"
        prefix.with_suffix(Subwords.ending).write_bytes(data)
        try:
            return tfds.deprecated.text.SubwordTextEncoder.load_from_file(str(prefix))
        except ValueError as error:
            raise RuntimeError(str(error)) from error
