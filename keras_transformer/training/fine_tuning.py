"""Fine-tuning: training that starts from the weights of another run, with its vocabulary or a grown one."""

import numpy as np

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.printable import printable_line
from keras_transformer.runs.run import Run
from keras_transformer.text.growth import grow, lacking, spellings

INHERITED = (
    "tokenizer", "target_tokenizer", "jamo", "turns",
    "vocab_size", "num_layers", "d_model", "num_heads", "dff", "tie_embeddings",
    "norm_first",
)  # fmt: skip
"""Settings that a fine-tuned run takes from its parent, because its tokenizers and weights depend on them."""
MOST_NAMED = 5  # Maximum number of characters or words that a message names.


def check_parent(parent, config):
    """Raises `InputError` if a run with this `Config` cannot start from the parent `Run`."""
    for name in INHERITED:
        old, new = getattr(parent.config, name), getattr(config, name)
        if old != new:
            raise InputError(
                _(
                    "{parent_path}: has {name} {theirs}, not {ours}; fine-tuning cannot change {name}",
                    parent_path=parent.path,
                    name=name,
                    theirs=old,
                    ours=new,
                )
            )
    parent.best_weights()


def inherited_tokenizers(parent, pairs, config):
    """Returns the tokenizers of a new run that starts from a parent `Run`, and a message about them.

    Args:
        parent: The parent `Run`.
        pairs: The questions and answers to train on, a dictionary or DataFrame of the columns "question" and "answer".
        config: The `Config`, which says whether the vocabularies grow.

    Returns:
        The `Tokenizer` of the questions and that of the answers, the same object if they share one; and the message,
        None if there is nothing to say.

    Raises:
        InputError: If a vocabulary should grow but cannot.
    """
    texts = {"question": list(pairs["question"]), "answer": list(pairs["answer"])}
    if parent.target_tokenizer is parent.tokenizer:
        texts = {"question": texts["question"] + texts["answer"]}
    old = dict(zip(texts, parent.tokenizers.values()))
    if not config.grow_vocabulary:
        return (parent.tokenizer, parent.target_tokenizer), lack_message(parent, old, texts)
    try:
        new = {side: grow(tokenizer, texts[side], config.vocab_size) for side, tokenizer in old.items()}
    except InputError as error:
        raise InputError(f"{parent.path}: {error}") from error
    return (new["question"], new.get("answer", new["question"])), growth_message(parent, old, new)


def lack_message(parent, tokenizers, texts):
    """Returns a hint if the vocabularies of a run lack characters or words of the corpus, else None."""
    growing = {side: tokenizer for side, tokenizer in tokenizers.items() if tokenizer.unk_id is not None}
    units = sorted({unit for side, tokenizer in growing.items() for unit in lacking(tokenizer, texts[side])})
    if not units:
        return None
    return _(
        "{parent}: its vocabulary lacks {count:,} characters or words of the corpus ({units}); --grow-vocabulary adds "
        "them.",
        parent=parent.path,
        count=len(units),
        units=printable_line(", ".join(units[:MOST_NAMED]) + (", …" if len(units) > MOST_NAMED else "")),
    )


def growth_message(parent, old, new):
    """Returns what has been added to the vocabularies of a run; both are dictionaries of tokenizers."""
    before, after = (sum(tokenizer.vocab_size for tokenizer in tokenizers.values()) for tokenizers in (old, new))
    if before == after:
        return _("{parent}: its vocabulary has all that the corpus needs.", parent=parent.path)
    return _("The vocabulary grows from {before:,} to {after:,} pieces.", before=before, after=after)


def check_origin(run, parent):
    """Raises `InputError` if the run did not start from the parent `Run`."""
    if run.origin is None:
        raise InputError(_("{path}: was not started from another run; name another run folder", path=run.path))
    if run.origin["id"] != parent.id:
        raise InputError(
            _(
                "{path}: was started from {old}, not {new}; name another run folder",
                path=run.path,
                old=run.origin["path"],
                new=parent.path,
            )
        )


def load_origin(run, model):
    """Loads the parent's weights into the model of a run; raises `InputError` if they no longer exist."""
    parent = Run(run.origin["path"])
    if parent.id != run.origin["id"]:
        raise InputError(
            _("{parent_path}: is not the run that {path} was started from", parent_path=parent.path, path=run.path)
        )
    weights = parent.best_weights()
    if run.config.grow_vocabulary:
        questions = spellings(parent.tokenizer, run.tokenizer)
        answers = spellings(parent.target_tokenizer, run.target_tokenizer)
        weights = grown_weights(weights, questions, answers)
    parent.assign(model, weights)


def grown_weights(weights, questions, answers):
    """Returns weights with further rows, or columns, for the new pieces of grown vocabularies.

    A new piece starts as the mean of the pieces that it was spelled with, as input and as output. So its logit is the
    mean of theirs, and greedy decoding prefers none of them before the training.

    Args:
        weights: Arrays by the paths of their variables.
        questions: The old ids that spelled each new piece of the questions' vocabulary, lists.
        answers: The same of the answers' vocabulary.
    """
    tables = {
        "embedding/table": questions, "source_embedding/table": questions, "target_embedding/table": answers,
        "outputs/kernel": answers, "outputs/bias": answers,
    }  # fmt: skip
    return {
        path: with_means(value, tables.get(path), 0 if path.endswith("/table") else -1)
        for path, value in weights.items()
    }


def with_means(value, spelled, axis):
    """Returns an array, followed on an axis by the means of those of its slices that each list of ids names."""
    if not spelled:
        return value
    means = [value.take(ids, axis).mean(axis) for ids in spelled]
    return np.concatenate([value, np.stack(means, axis)], axis)
