"""The builder of `pairs`: a corpus of the user's own."""

import dataclasses
import hashlib
import pathlib

import tensorflow_datasets as tfds

from keras_transformer.data.builders.question_answer import QuestionAnswerBuilder
from keras_transformer.data.loading import load_pairs
from keras_transformer.errors import InputError


@dataclasses.dataclass(eq=False)
class PairsConfig(tfds.core.BuilderConfig):
    """Which corpus `pairs` is to be made of; the arguments are those of `load_pairs`.

    Raises:
        InputError: If a file is not there.

    Attributes:
        name: Found by itself: it changes with the files and with how they are read, so that a changed corpus is
            prepared anew.
        paths: The file, or two parallel ones, in a list.
        question: Column of the questions.
        answer: Column of the answers.
        encoding: Encoding of the files.
    """

    name: str = ""
    paths: list = dataclasses.field(default_factory=list)
    question: str | None = None
    answer: str | None = None
    encoding: str = "utf-8"

    def __post_init__(self):
        digest = hashlib.sha256(repr((self.question, self.answer, self.encoding)).encode())
        for path in map(pathlib.Path, self.paths):
            if not path.is_file():
                raise InputError(f"{path}: no such file")
            digest.update(path.read_bytes())
        self.name = digest.hexdigest()[:16]

    def load(self):
        """The pairs, as `load_pairs` returns them."""
        if not self.paths:
            raise InputError('pairs: say which files: PairsConfig(paths=["FILE"])')
        return load_pairs(self.paths, self.question, self.answer, self.encoding)


class Builder(QuestionAnswerBuilder):
    """Question-answer pairs of one's own, in the frozen split.

    With `tfds.load("pairs", builder_kwargs={"config": PairsConfig(paths=["mine.csv"])})`, or
    `tfds build keras_transformer/data/builders/pairs --config '{"paths": ["/path/of/mine.csv"]}'`.
    """

    VERSION = tfds.core.Version("1.0.0")
    BUILDER_CONFIGS = [PairsConfig()]  # noqa: RUF012 (as tensorflow-datasets has it)

    def _split_generators(self, dl_manager):
        return self._frozen_split(self.builder_config.load())
