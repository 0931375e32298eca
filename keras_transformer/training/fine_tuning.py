"""Fine-tuning: training that starts from the weights of another run."""

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.runs.run import Run

KEPT = (
    "tokenizer", "target_tokenizer", "jamo", "turns",
    "vocab_size", "num_layers", "d_model", "num_heads", "dff", "tie_embeddings",
    "norm_first",
)  # fmt: skip
"""Settings that a fine-tuned run takes from its parent, because its tokenizers and weights depend on them."""


def check_parent(parent, config):
    """Raises `InputError` if a run with this `Config` cannot start from the parent `Run`."""
    for name in KEPT:
        theirs, ours = getattr(parent.config, name), getattr(config, name)
        if theirs != ours:
            raise InputError(
                _(
                    "{parent_path}: has {name} {theirs}, not {ours}; fine-tuning cannot change {name}",
                    parent_path=parent.path,
                    name=name,
                    theirs=theirs,
                    ours=ours,
                )
            )
    parent.best_weights()


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
    parent.load_weights(model)
