"""The builder of `chatbot_ko`."""

import tensorflow_datasets as tfds

from keras_transformer.data.builders.question_answer import QuestionAnswerBuilder
from keras_transformer.data.catalog import find_corpus
from keras_transformer.data.corpus import load_pairs


class Builder(QuestionAnswerBuilder):
    """Korean small talk, in the frozen split."""

    CORPUS = find_corpus("chatbot_ko")
    VERSION = tfds.core.Version(CORPUS.version)

    def _split_generators(self, dl_manager):
        (file,) = self.CORPUS.files
        return self._frozen_split(load_pairs(dl_manager.download(file.url)))
