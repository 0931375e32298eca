"""Detection of data leakage: evaluation questions that are in a run's training data."""

import warnings

from keras_transformer.data.catalog import find_corpus, is_corpus
from keras_transformer.data.corpus import Corpus
from keras_transformer.data.loading import CorpusWarning
from keras_transformer.data.split import canonical
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _


def leaked_questions(run, pairs):
    """Counts the distinct questions that are in the training split of a run's corpus.

    Questions are compared by text. The file name does not matter, because a training file may be evaluated on its own
    or under another name.

    Args:
        run: The `Run`.
        pairs: DataFrame with the column "question". If it also has the column "opening", a question of a conversation
            counts only if its opening is the same, too.

    Returns:
        The number of questions; None if the corpus is no longer at its path. Nothing is downloaded.
    """
    evaluated, leaked = set(keys_of(pairs)), set()
    corpus = corpus_of(run)
    if corpus is None:
        return None
    try:
        for splits in corpus.splits(run.config.turns, run.config.hold_out):
            if "train" in splits:
                leaked.update(evaluated.intersection(keys_of(splits["train"])))
    except (InputError, OSError):
        return None
    taught = {canonical(one["question"]) for one in run.corpus.get("corrections", ()) if "answer" in one}
    return len({question for _, question in leaked} | {question for _, question in evaluated if question in taught})


def warn_of_leakage(run, pairs):
    """Returns the result of `leaked_questions`, and issues a `CorpusWarning` if it is above 0."""
    leaked = leaked_questions(run, pairs)
    if leaked:
        total = len({key[1] for key in keys_of(pairs)})
        message = _(
            "{run}: {leaked:,} of {total:,} questions are in its training data: the scores do not measure unseen "
            "questions",
            run=run.path,
            leaked=leaked,
            total=total,
        )
        warnings.warn(message, CorpusWarning, stacklevel=3)
    return leaked


def corpus_of(run):
    """Returns the run's `Corpus`; None if its path is unknown or it would have to be downloaded."""
    source = run.corpus.get("source") or {}
    if not source.get("corpus") or any(map(is_elsewhere, [*source["corpus"], *(source.get("validation") or [])])):
        return None
    try:
        return Corpus.from_source(source)
    except (InputError, OSError):
        return None


def is_elsewhere(path):
    """Returns whether a path names a corpus of the catalog that has not been downloaded."""
    return is_corpus(path) and not find_corpus(path).is_prepared


def keys_of(pairs):
    """Yields the key of each question: its opening and itself, normalized as in the frozen split."""
    for opening, question in zip(pairs["opening" if "opening" in pairs else "question"], pairs["question"]):
        yield canonical(opening), canonical(question)
