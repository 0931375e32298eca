"""Corrections of a run as training data of the next run that is fine-tuned from it."""

import pandas

from keras_transformer.chat.datastore import CORRECTIONS, read_corrections
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.text.normalize import normalize


class CorrectedCorpus:
    """A corpus with corrected training pairs: taught answers are added, forgotten ones removed.

    Args:
        corpus: The `Corpus`.
        corrections: Dictionaries as in `corrections.jsonl`; the last correction of a question applies.
    """

    def __init__(self, corpus, corrections):
        self._corpus = corpus
        self._latest = {normalize(correction["question"]): correction for correction in corrections}

    def splits(self, turns=1, hold_out=True):
        """Yields the splits of `Corpus.splits` with corrected training pairs.

        Without `hold_out`, the validation split repeats the training pairs and is corrected, too.
        """
        names = ("train",) if hold_out else ("train", "validation")
        added = set()
        for splits in self._corpus.splits(turns, hold_out):
            for name in splits.keys() & set(names):
                pairs = [self._uncorrected(splits[name])]
                if name not in added:
                    pairs += self._added_pairs(splits[name].columns)
                added.add(name)
                splits = {**splits, name: pandas.concat(pairs, ignore_index=True)}
            yield splits

    def _uncorrected(self, pairs):
        """Returns the pairs whose questions have no correction."""
        return pairs[[normalize(question) not in self._latest for question in pairs["question"]]]

    def _added_pairs(self, columns):
        """Returns the taught pairs as a list with one DataFrame, or an empty list."""
        taught = [
            (correction["question"], correction["answer"], correction["question"], row, CORRECTIONS)
            for row, correction in enumerate(self._latest.values(), 1)
            if "answer" in correction
        ]
        if not taught:
            return []
        taught = pandas.DataFrame(taught, columns=["question", "answer", "opening", "row", "file"])
        return [taught if "opening" in columns else taught.drop(columns="opening")]


def corrected(corpus, corrections):
    """Returns the corpus with a list of corrections applied, or the corpus itself if there are none."""
    return CorrectedCorpus(corpus, corrections) if corrections else corpus


def with_taught(pairs, corrections):
    """Returns the questions and answers of a DataFrame and those of a list of corrections, as a dictionary of lists."""
    taught = [correction for correction in corrections if "answer" in correction]
    return {side: [*pairs[side], *(correction[side] for correction in taught)] for side in ("question", "answer")}


def corrections_for(run, parent):
    """Returns the corrections to train with: those stored in the run, or for a new run those of its parent.

    Args:
        run: The `Run`, if it exists.
        parent: The `Run` that it starts from, if it does.
    """
    if run:
        return run.corpus.get("corrections", [])
    return [*parent.corpus.get("corrections", []), *read_corrections(parent.path / CORRECTIONS)] if parent else []


def check_corrections(run, corrections):
    """Raises `InputError` if the first process of a distributed training has read other corrections."""
    if run.corpus.get("corrections", []) != corrections:
        raise InputError(
            _("{path}: the corrections of its parent run have just changed. Restart all processes.", path=run.path)
        )
