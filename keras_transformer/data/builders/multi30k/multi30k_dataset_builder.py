"""The builder of `multi30k`."""

import gzip

import tensorflow_datasets as tfds

from keras_transformer.data.builders.question_answer import QuestionAnswerBuilder
from keras_transformer.data.catalog import find_corpus

SPLITS = {"train": "train", "validation": "val", "test": "test_2016_flickr"}


class Builder(QuestionAnswerBuilder):
    """English captions and their German translations, in their published splits."""

    CORPUS = find_corpus("multi30k")
    VERSION = tfds.core.Version(CORPUS.version)

    def _split_generators(self, dl_manager):
        paths = dl_manager.download({file.name: file.url for file in self.CORPUS.files})
        return {split: self._generate_examples(captions(paths, name)) for split, name in SPLITS.items()}


def captions(paths, name):
    """Returns pairs of English and German captions of a split."""
    return zip(lines(paths[f"{name}.en.gz"]), lines(paths[f"{name}.de.gz"]), strict=True)


def lines(path):
    """Yields the lines of a compressed text file, stripped of white space."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        for line in file:
            yield line.strip()
