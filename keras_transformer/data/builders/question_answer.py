"""What the builders of all corpora share: the two texts of an example, and their order."""

import tensorflow_datasets as tfds

from keras_transformer.data.split import split_pairs


class QuestionAnswerBuilder(tfds.core.GeneratorBasedBuilder, skip_registration=True):
    """A tensorflow-datasets builder whose examples are {"question": text, "answer": text}, in the corpus's order.

    Attributes:
        CORPUS: What the catalog says of the corpus; None for one that is not in it.
    """

    CORPUS = None

    def _info(self):
        about = {"homepage": self.CORPUS.homepage, "license": self.CORPUS.licence} if self.CORPUS else {}
        return self.dataset_info_from_configs(
            features=tfds.features.FeaturesDict({"question": tfds.features.Text(), "answer": tfds.features.Text()}),
            supervised_keys=("question", "answer"),
            disable_shuffling=True,
            **about,
        )

    def _generate_examples(self, pairs):
        for row, (question, answer) in enumerate(pairs):
            yield row, {"question": question, "answer": answer}

    def _frozen_split(self, frame):
        """The generators of a corpus that has no parts of its own; tensorflow-datasets refuses empty ones."""
        return {
            name: self._generate_examples(zip(part["question"], part["answer"]))
            for name, part in split_pairs(frame).items()
            if len(part)
        }
