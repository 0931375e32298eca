"""What was taught in a run, in the training of the next run that starts from it."""

import pandas

from keras_transformer.chat.datastore import CORRECTIONS, read_corrections
from keras_transformer.errors import InputError
from keras_transformer.text.normalize import normalize


class CorrectedCorpus:
    """A corpus whose training pairs are corrected: what was taught is among them, what was forgotten is not.

    Args:
        corpus: The `Corpus`.
        corrections: Dictionaries as in `corrections.jsonl`; of several about a question the last one counts.
    """

    def __init__(self, corpus, corrections):
        self._corpus = corpus
        self._latest = {normalize(one["question"]): one for one in corrections}

    def parts(self, turns=1, hold_out=True):
        """Yields what `Corpus.parts` yields, the training pairs corrected, and a validation that repeats them, too."""
        names = ("train",) if hold_out else ("train", "validation")
        added = set()
        for parts in self._corpus.parts(turns, hold_out):
            for name in parts.keys() & set(names):
                pairs = [self._kept(parts[name])]
                if name not in added:
                    pairs += self._taught(parts[name].columns)
                added.add(name)
                parts = {**parts, name: pandas.concat(pairs, ignore_index=True)}
            yield parts

    def _kept(self, pairs):
        return pairs[[normalize(question) not in self._latest for question in pairs["question"]]]

    def _taught(self, columns):
        """The pairs taught, a list of a DataFrame, or of none."""
        taught = [
            (one["question"], one["answer"], one["question"], row, CORRECTIONS)
            for row, one in enumerate(self._latest.values(), 1)
            if "answer" in one
        ]
        if not taught:
            return []
        taught = pandas.DataFrame(taught, columns=["question", "answer", "opening", "row", "file"])
        return [taught if "opening" in columns else taught.drop(columns="opening")]


def corrected(corpus, corrections):
    """The corpus with corrections, a list; itself, if there are none."""
    return CorrectedCorpus(corpus, corrections) if corrections else corpus


def corrections_for(run, parent):
    """The corrections that a training takes over: those noted in its run, or, of a new run, those of its parent.

    Args:
        run: The `Run`, if it exists.
        parent: The `Run` that it starts from, if it does.
    """
    if run:
        return run.corpus.get("corrections", [])
    return [*parent.corpus.get("corrections", []), *read_corrections(parent.path / CORRECTIONS)] if parent else []


def check_corrections(run, corrections):
    """Raises `InputError` if another process that trains with this one has read other corrections."""
    if run.corpus.get("corrections", []) != corrections:
        raise InputError(f"{run.path}: the run that it starts from was corrected just now. Start all processes again.")
