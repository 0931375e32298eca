"""The builder of `pairs`, a user-defined corpus."""

import dataclasses
import hashlib
import pathlib

import tensorflow_datasets as tfds

from keras_transformer.data.builders.question_answer import QuestionAnswerBuilder
from keras_transformer.data.corpus import load_pairs
from keras_transformer.errors import InputError, no_such_file
from keras_transformer.language import translate as _


@dataclasses.dataclass(eq=False)
class PairsConfig(tfds.core.BuilderConfig):
    """Configuration of `pairs`, with the arguments of `load_pairs`.

    Raises:
        InputError: If a file does not exist.

    Attributes:
        name: Set automatically from the contents of the files and the other attributes, so that a changed corpus is
            prepared again.
        paths: A list of one file or two parallel files.
        question: Name of the question column.
        answer: Name of the answer column.
        encoding: Encoding of the files; None as for `load_pairs`.
    """

    name: str = ""
    paths: list = dataclasses.field(default_factory=list)
    question: str | None = None
    answer: str | None = None
    encoding: str | None = None

    def __post_init__(self):
        digest = hashlib.sha256(repr((self.question, self.answer, self.encoding)).encode())
        for path in map(pathlib.Path, self.paths):
            if not path.is_file():
                raise no_such_file(path)
            digest.update(path.read_bytes())
        self.name = digest.hexdigest()[:16]

    def load(self):
        """Loads the pairs with `load_pairs`."""
        if not self.paths:
            raise InputError(_('pairs: name the files, as in PairsConfig(paths=["FILE"])'))
        return load_pairs(self.paths, self.question, self.answer, self.encoding)


class Builder(QuestionAnswerBuilder):
    """User-defined question-answer pairs, in the frozen split.

    Use `tfds.load("pairs", builder_kwargs={"config": PairsConfig(paths=["mine.csv"])})`, or
    `tfds build keras_transformer/data/builders/pairs --config '{"paths": ["/path/of/mine.csv"]}'`.
    """

    VERSION = tfds.core.Version("1.0.0")
    BUILDER_CONFIGS = [PairsConfig()]  # noqa: RUF012 (as tensorflow-datasets has it)

    def _split_generators(self, dl_manager):
        return self._frozen_split(self.builder_config.load())
