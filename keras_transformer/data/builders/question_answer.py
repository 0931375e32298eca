"""Base class of the builders: features and order of the examples."""

import tensorflow_datasets as tfds

from keras_transformer.data.split import split_pairs


# mypy does not know the base class, which takes the keyword.
class QuestionAnswerBuilder(tfds.core.GeneratorBasedBuilder, skip_registration=True):  # type: ignore[call-arg]
    """A tensorflow-datasets builder whose examples are {"question": text, "answer": text}, in the corpus's order.

    Attributes:
        CORPUS: The `NamedCorpus` of the catalog; None if there is none.
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
        """Returns the generators of a corpus without splits of its own; empty splits are invalid and left out."""
        return {
            name: self._generate_examples(zip(split["question"], split["answer"]))
            for name, split in split_pairs(frame).items()
            if len(split)
        }
