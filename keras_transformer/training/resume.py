"""Checks that a run can be resumed: with the same corpus, and without changes to settings that define the training."""

from keras_transformer.errors import InputError
from keras_transformer.runs.history import best_row
from keras_transformer.training.checkpoint import load_checkpoint
from keras_transformer.training.fine_tuning import check_origin

FREE_TO_CHANGE = ("epochs", "patience", "monitor", "checkpoint_minutes")


def check_settings(run, config, parent=None):
    """Raises `InputError` if the run was started with other settings, or from another run."""
    old, new = run.config.to_dict(), config.to_dict()
    for name in old:
        if old[name] != new[name] and name not in FREE_TO_CHANGE:
            started = f"was started with {name} {old[name]}, not {new[name]}"
            raise InputError(f"{run.path}: {started}; name another run folder")
    check_monitor(run, new["monitor"])
    if parent:
        check_origin(run, parent)


def check_corpus(run, survey):
    """Raises `InputError` if the run was started with another corpus than the surveyed one."""
    if run.corpus["fingerprint"] != survey.fingerprint:
        raise InputError(
            f"{run.path}: was trained on another corpus ({run.corpus['pairs']} pairs, these are "
            f"{sum(survey.sizes.values())}); name another run folder"
        )


def check_monitor(run, monitor):
    """Raises `InputError` if a new monitor selects another best epoch, because only the old one's weights are saved."""
    if monitor == run.config.monitor:
        return
    rows = load_checkpoint(run)[2]
    kept, best = (best_row(rows, name) for name in (run.config.monitor, monitor))
    if best is not kept:
        raise InputError(
            f"{run.path}: by {monitor} epoch {best['epoch']} is best, but the weights kept are those of epoch "
            f"{kept['epoch']}, best by {run.config.monitor}; name another run folder"
        )
