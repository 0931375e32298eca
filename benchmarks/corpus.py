"""The corpus that all programs train on, in a format that each of them can read."""

import csv
import pathlib

from keras_transformer import Tokenizer, load_pairs, preset, split_pairs
from keras_transformer.data.catalog import find_corpus

SMALL_TALK = find_corpus("small_talk").prepared
VOCABULARY = preset("tutorial").vocab_size


class Corpus:
    """A corpus file.

    Args:
        path: The corpus, as for `load_pairs`.

    Attributes:
        path: The absolute path of the file.
        pairs: Its pairs, a DataFrame.
        train_pairs: Number of pairs in the training split.
        pieces: Vocabulary size of the tokenizer.
    """

    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        self.pairs = load_pairs(self.path)
        train = split_pairs(self.pairs)["train"]
        self.train_pairs = len(train)
        self.pieces = Tokenizer.train([*train["question"], *train["answer"]], VOCABULARY).vocab_size

    def for_peers(self, folder):
        """Returns the path of a CSV file with the columns Q and A: the corpus itself, or a copy in the folder."""
        if has_peer_columns(self.path):
            return self.path
        path = pathlib.Path(folder) / "corpus.csv"
        self.pairs.rename(columns={"question": "Q", "answer": "A"}).to_csv(path, columns=["Q", "A"], index=False)
        return path

    def describe(self, beside_peers):
        """Describes the corpus in one sentence, or in two if peers with other vocabularies are compared."""
        text = f"Corpus: {self.path.name}, {len(self.pairs):,} pairs, {self.train_pairs:,} of them to train on."
        if not beside_peers or self.pieces == VOCABULARY:
            return text
        return (
            f"{text} It yields {self.pieces:,} pieces: ours computes as many logits per token, the peers always "
            f"{VOCABULARY:,}, so that ratios on this corpus flatter ours."
        )


def has_peer_columns(path):
    """Returns whether a file is a CSV file with the columns Q and A."""
    if path.suffix.lower() != ".csv":
        return False
    with open(path, encoding="utf-8", newline="") as file:
        return {"Q", "A"} <= set(next(csv.reader(file), []))
