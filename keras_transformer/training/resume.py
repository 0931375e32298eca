"""Checks that a run can be resumed: with the same corpus, and without changes to settings that define the training."""

from keras_transformer.chat.datastore import CORRECTIONS, read_corrections
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.runs.history import best_row
from keras_transformer.training.checkpoint import load_checkpoint
from keras_transformer.training.fine_tuning import check_origin

CHANGEABLE = ("epochs", "patience", "monitor", "checkpoint_minutes")


def check_settings(run, config, parent=None):
    """Raises `InputError` if the run was started with other settings, or from another run."""
    old, new = run.config.to_dict(), config.to_dict()
    for name in old:
        if old[name] != new[name] and name not in CHANGEABLE:
            raise InputError(
                _(
                    "{path}: was started with {name} {old}, not {new}; name another run folder",
                    path=run.path,
                    name=name,
                    old=old[name],
                    new=new[name],
                )
            )
    check_monitor(run, new["monitor"])
    if parent:
        check_origin(run, parent)


def check_corpus(run, survey):
    """Raises `InputError` if the run was started with another corpus than the surveyed one."""
    if run.corpus.get("fingerprint") == survey.fingerprint:
        return
    values = {"path": run.path, "pairs": run.corpus.get("pairs"), "others": survey.pairs}
    if run.corpus.get("corrections") or read_corrections(run.path / CORRECTIONS):
        raise InputError(
            _(
                "{path}: was trained on another corpus, or this one has changed ({pairs} pairs then, {others} now): "
                "name another run folder, and take its corrections along: --run {path}-2 --from {path}",
                **values,
            )
        )
    raise InputError(
        _(
            "{path}: was trained on another corpus, or this one has changed ({pairs} pairs then, {others} now): "
            "name another run folder, such as --run {path}-2",
            **values,
        )
    )


def check_monitor(run, monitor):
    """Raises `InputError` if a new monitor selects another best epoch, because only the old one's weights are saved."""
    if monitor == run.config.monitor:
        return
    rows = load_checkpoint(run)[2]
    kept, best = (best_row(rows, name) for name in (run.config.monitor, monitor))
    if best is not kept:
        raise InputError(
            _(
                "{path}: by {monitor} epoch {best} is best, but the weights kept are those of epoch "
                "{kept}, best by {previous}; name another run folder",
                path=run.path,
                monitor=monitor,
                best=best["epoch"],
                kept=kept["epoch"],
                previous=run.config.monitor,
            )
        )
