"""Training that starts from another run's weights instead of random ones."""

from keras_transformer.errors import InputError
from keras_transformer.runs.run import Run

KEPT = (
    "tokenizer", "target_tokenizer", "jamo", "turns",
    "vocab_size", "num_layers", "d_model", "num_heads", "dff", "tie_embeddings",
    "norm_first",
)  # fmt: skip
"""What tokenizers and weights fix."""


def check_parent(parent, config):
    """Raises `InputError` if a run of that `Config` cannot start from the `Run` parent."""
    for name in KEPT:
        theirs, ours = getattr(parent.config, name), getattr(config, name)
        if theirs != ours:
            raise InputError(f"{parent.path}: has {name} {theirs}, not {ours}; a run from it keeps that")
    parent.best_weights()


def check_origin(run, parent):
    """Raises `InputError` if the run was begun otherwise than from the `Run` parent."""
    if run.origin is None:
        raise InputError(f"{run.path}: was not begun from another run; name another run folder")
    if run.origin["id"] != parent.id:
        raise InputError(f"{run.path}: was begun from {run.origin['path']}, not {parent.path}; name another run folder")


def load_origin(run, model):
    """Puts the weights that the run starts from into its model; raises `InputError` if they are no longer there."""
    parent = Run(run.origin["path"])
    if parent.id != run.origin["id"]:
        raise InputError(f"{parent.path}: is another run than the one that {run.path} was begun from")
    parent.load_weights(model)
