"""Names of released runs in place of run folders: the runs are downloaded when a command first names them."""

import os

from keras_transformer.compat import actions_of
from keras_transformer.data.catalog import packaged_file
from keras_transformer.data.released_runs import download_run, released_runs
from keras_transformer.errors import DownloadFailed, InputError
from keras_transformer.language import translate as _

READ = ("RUN", "PATH")
"""How commands name their first argument if it is an existing run."""


def use_released_runs(options):
    """Replaces the names of released runs by their folders, in the first argument of a command that reads runs.

    Args:
        options: The parsed options, which are changed.

    Raises:
        InputError: If a run cannot be downloaded.
    """
    first = next((action for action in actions_of(options.parser) if not action.option_strings), None)
    if first is None or first.metavar not in READ:
        return
    value = getattr(options, first.dest)
    folders = [folder_of(one) for one in value] if isinstance(value, list) else value and folder_of(value)
    setattr(options, first.dest, folders)


def folder_of(name):
    """Returns the folder of a run that is given by its path, or by its name if there is nothing at that path."""
    if os.path.exists(name):
        return name
    if name in released_runs():
        try:
            return str(download_run(name))
        except DownloadFailed as error:
            message = _("{name}: the trained run cannot be downloaded ({reason}).", name=name, reason=error.reason)
            raise InputError(f"{message} {advice(name)}") from error
    if packaged_file(name):
        raise InputError(
            _(
                "{name}: not a run folder. There is no trained run of that name to download; keras-transformer demo "
                "trains one in 3 minutes.",
                name=name,
            )
        )
    return name


def advice(name):
    """Returns what to do without a download. The corpus that comes with the package is that of the demonstration."""
    if packaged_file(name):
        return _("Try again later; or keras-transformer demo trains the same chatbot in 3 minutes.")
    return _("Try again later.")
