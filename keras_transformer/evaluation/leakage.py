"""Whether a run has met in training what it is asked: then its scores say what it knows by heart."""

import warnings

from keras_transformer.data.catalog import find_corpus, is_corpus
from keras_transformer.data.corpus import Corpus
from keras_transformer.data.loading import CorpusWarning
from keras_transformer.data.split import canonical
from keras_transformer.errors import InputError


def met_in_training(run, pairs):
    """How many different questions stand in the training part of a run's corpus, as it is found now.

    It is looked up by the texts, and not by the names of files: a file of training data may be asked for by itself, or
    lie elsewhere under another name.

    Args:
        run: The `Run`.
        pairs: DataFrame with the column "question"; where it has a column "opening", a question of a conversation was
            met only in one with the same opening.

    Returns:
        The number; None if the corpus is not where it was, so that nobody knows. Nothing is downloaded for this.
    """
    asked, met = set(keys_of(pairs)), set()
    corpus = corpus_of(run)
    if corpus is None:
        return None
    try:
        for parts in corpus.parts(run.config.turns, run.config.hold_out):
            if "train" in parts:
                met.update(asked.intersection(keys_of(parts["train"])))
    except (InputError, OSError):
        return None
    taught = {canonical(one["question"]) for one in run.corpus.get("corrections", ()) if "answer" in one}
    return len({question for _, question in met} | {question for _, question in asked if question in taught})


def warn_of_met(run, pairs):
    """The number of `met_in_training`, and a `CorpusWarning` unless it is none."""
    met = met_in_training(run, pairs)
    if met:
        of = len({question for _, question in keys_of(pairs)})
        what = f"{met:,} of {of:,} questions stand in the training part of its corpus: no test of what it never met"
        warnings.warn(f"{run.path}: {what}", CorpusWarning, stacklevel=3)
    return met


def corpus_of(run):
    """The run's `Corpus` if it may still be where it was, else None."""
    source = run.corpus.get("source") or {}
    if not source.get("corpus") or any(map(is_elsewhere, [*source["corpus"], *(source.get("validation") or [])])):
        return None
    try:
        return Corpus.found_at(source)
    except (InputError, OSError):
        return None


def is_elsewhere(path):
    """Whether a corpus of the catalog would have to be downloaded."""
    return is_corpus(path) and not find_corpus(path).is_here


def keys_of(pairs):
    """Yields what tells each question from others, as the frozen split tells them: its opening, and itself."""
    for opening, question in zip(pairs["opening" if "opening" in pairs else "question"], pairs["question"]):
        yield canonical(opening), canonical(question)
