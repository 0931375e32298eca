"""Vocabularies of `SubwordTextEncoder` (tensorflow-datasets), which the first Korean tutorials used."""

import json
import pathlib
import re
import tempfile

from keras_transformer.errors import import_extra, temporary_space
from keras_transformer.language import translate as _
from keras_transformer.text.preprocessing import PREPROCESSINGS

HEADER = b"### SubwordTextEncoder"
ESCAPED = r"\&undsc"  # An underscore of a text, in a piece.
METADATA, PREPROCESSING = b"### Metadata: ", "preprocessing"  # tensorflow-datasets reads past what it does not know.


class Subwords:
    """A `.subwords` file as a vocabulary.

    The ids are those of `SubwordTextEncoder`, followed by the start and end ids, as in the tutorial. Text is not
    normalized, but preprocessed if the metadata of the file names a `Preprocessing`.

    Args:
        data: Content of the file, bytes.

    Attributes:
        subwords: The pieces, a list of strings. Their ids count from 1, and those of the 256 bytes follow.
        preprocessing: The `Preprocessing` of texts; None without one.

    Raises:
        InputError: If tensorflow-datasets is not installed.
        RuntimeError: If the data is not a `.subwords` vocabulary.
    """

    ending = ".subwords"
    units = list
    composes = False
    unk_id = separator_id = None  # Unknown characters are encoded as bytes.

    def __init__(self, data):
        self.data = data
        self._encoder = read(data)
        self.subwords = self._encoder.subwords
        self.preprocessing = preprocessing_of(data)
        self.start_id, self.end_id = self._encoder.vocab_size, self._encoder.vocab_size + 1
        self.size = self._encoder.vocab_size + 2

    def normal_form(self, text):
        """Returns the preprocessed text; without a preprocessing, the text unchanged."""
        return self.preprocessing(text) if self.preprocessing else text

    def encode(self, texts):
        """Returns a list of ids for each text."""
        return [self._encoder.encode(text) for text in texts]

    def decode(self, rows):
        """Returns the text of each list of ids."""
        return [self._encoder.decode([i for i in row if 0 < i < self.start_id]) for row in rows]

    def texts(self):
        """Returns what each id adds to a decoded text: a text, or bytes for a piece that is a single byte."""
        texts = [self._encoder.decode([i]) for i in range(1, len(self.subwords) + 1)]
        return ["", *texts, *(bytes([byte]) for byte in range(256)), "", ""]

    def pieces(self, text):
        """Returns the pieces of a text, where a trailing "_" stands for a space."""
        return [self._piece(token_id) for token_id in self._encoder.encode(text)]

    def knows(self, character):
        """Returns whether any piece contains the character."""
        return any(character in subword for subword in self.subwords)

    def may_change(self, text):
        """Returns whether further ids may change the last character of a text, which never happens here."""
        return False

    @property
    def has_mixed_pieces(self):
        """Whether a piece has letters or digits beside other characters, except for the escaped underscore."""
        return any(len([*filter(None, re.split(r"(\W+)", piece.replace(ESCAPED, "")))]) > 1 for piece in self.subwords)

    def _piece(self, token_id):
        subwords = self.subwords
        return subwords[token_id - 1] if token_id <= len(subwords) else f"<0x{token_id - 1 - len(subwords):02X}>"


def read(data):
    """Loads the `SubwordTextEncoder` from the bytes of a file."""
    tfds = import_extra("tensorflow_datasets", "datasets", "a .subwords vocabulary")
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder) / "vocabulary"
        with temporary_space(_("the vocabulary")):
            prefix.with_suffix(Subwords.ending).write_bytes(data)
        try:
            return tfds.deprecated.text.SubwordTextEncoder.load_from_file(str(prefix))
        except (ValueError, LookupError, TypeError, AttributeError) as error:  # Of a file of one line, among others.
            raise RuntimeError(str(error)) from error


def preprocessing_of(data):
    """Returns the `Preprocessing` that the bytes of a file name; None if they name none.

    Raises:
        ValueError: If this version does not know it.
    """
    name = metadata_of(data).get(PREPROCESSING)
    if name is None:
        return None
    if str(name) not in PREPROCESSINGS:
        raise ValueError(f"unknown preprocessing: {name}")
    return PREPROCESSINGS[name]


def with_preprocessing(data, name):
    """Returns the bytes of a file whose metadata names a preprocessing, or none if it is None."""
    header, _metadata, subwords = data.split(b"\n", 2)
    about = {key: value for key, value in metadata_of(data).items() if key != PREPROCESSING}
    about |= {} if name is None else {PREPROCESSING: name}
    return b"\n".join([header, METADATA + json.dumps(about, sort_keys=True).encode(), subwords])


def metadata_of(data):
    """Returns the metadata in the second line of a file, a dictionary."""
    about = json.loads(data.split(b"\n", 2)[1][len(METADATA) :])
    return about if isinstance(about, dict) else {}
