"""The builder of `cornell_movie_dialogs`."""

import io
import itertools
import re
import zipfile

import pandas as pd
import tensorflow_datasets as tfds

from keras_transformer.data.builders.question_answer import QuestionAnswerBuilder
from keras_transformer.data.catalog import find_corpus

FOLDER = "cornell movie-dialogs corpus"
SEPARATOR = " +++$+++ "
ENCODING = "cp1252"


class Builder(QuestionAnswerBuilder):
    """Consecutive utterances of film conversations, in the frozen split."""

    CORPUS = find_corpus("cornell_movie_dialogs")
    VERSION = tfds.core.Version(CORPUS.version)

    def _split_generators(self, dl_manager):
        (file,) = self.CORPUS.files
        with zipfile.ZipFile(dl_manager.download(file.url)) as archive:
            pairs = pd.DataFrame(consecutive_utterances(archive), columns=["question", "answer"])
        return self._frozen_split(pairs)


def consecutive_utterances(archive):
    """Yields the texts of consecutive utterances in a conversation, if neither is empty."""
    texts = {row[0]: row[4].strip() for row in rows(archive, "movie_lines.txt")}
    for *_, utterances in rows(archive, "movie_conversations.txt"):
        for question, answer in itertools.pairwise(re.findall(r"L\d+", utterances)):
            if texts[question] and texts[answer]:
                yield texts[question], texts[answer]


def rows(archive, name):
    """Yields the cells of each line of a file in the archive; only the last cell may contain the separator."""
    with archive.open(f"{FOLDER}/{name}") as file:
        # Only \n ends a line; texts may contain other line separators.
        for line in io.TextIOWrapper(file, ENCODING, newline="\n"):
            yield line.split(SEPARATOR, 4)
