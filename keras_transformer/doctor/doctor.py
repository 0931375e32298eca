"""The checks of an installation, of a run, or of an export, in order."""

import pathlib
from collections.abc import Iterator

from keras_transformer.doctor.environment import environment_findings
from keras_transformer.doctor.finding import Finding
from keras_transformer.doctor.model import model_findings, untrained_model
from keras_transformer.doctor.training import training_findings
from keras_transformer.errors import InputError
from keras_transformer.export.manifest import ABOUT
from keras_transformer.language import translate as _


def examine(path: pathlib.Path | None = None) -> Iterator[Finding]:
    """Checks this installation and, if given, a run or an export.

    Without a path, the model checks use a tiny model with random weights, and a tiny training is interrupted and
    resumed.

    Args:
        path: Folder of a run or an export; None to check the installation only.

    Yields:
        A `Finding` for each check.

    Raises:
        InputError: If there is no such folder.
    """
    if path is None:
        yield from environment_findings(pathlib.Path.cwd())
        yield from model_findings(untrained_model())
        yield from training_findings()
        return
    if not path.is_dir():
        raise InputError(_("{path}: there is no such folder; name a run or an export", path=path))
    yield from environment_findings(path.resolve().parent)
    if (path / ABOUT).is_file():
        from keras_transformer.doctor.export import export_findings

        yield from export_findings(path)
        return
    from keras_transformer.doctor.run import run_findings

    yield from run_findings(path)
