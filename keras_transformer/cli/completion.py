"""Completion of commands in the shell: which words can follow, given to argcomplete."""

import os
import pathlib

from keras_transformer.compat import actions_of
from keras_transformer.data.catalog import corpora

REQUESTED = "_ARGCOMPLETE"  # The environment variable by which the shell asks for completions.
RUN_FILES = ("config.json", "export.json")  # Of a run and of an export; as in the modules that write them.


def answer_shell(parser):
    """Answers a shell that asks for completions and ends the process; does nothing in any other process."""
    if REQUESTED not in os.environ:
        return
    import argcomplete

    for action in actions_of(parser):
        if not action.choices and (completer := completer_of(action)):
            action.completer = completer
    argcomplete.autocomplete(parser, always_complete_options=False)


def completer_of(action):
    """Returns the function that lists the values of an argument; None for files and for what cannot be listed."""
    metavar = action.metavar or ""
    if "|" in metavar:
        return lambda **_: metavar.split("|")
    if metavar == "NAME" and action.option_strings:
        return None  # A column of the user's file.
    return {"RUN": complete_run, "PATH": complete_run, "CORPUS": complete_corpus, "NAME": complete_name}.get(metavar)


def complete_run(prefix, **_):
    """Returns the runs and exports in the folder that was begun, and its other folders, which may hold runs."""
    begun, start = os.path.split(prefix)
    folders = (path for path in pathlib.Path(begun or ".").glob(f"{start}*/") if path.is_dir())
    hidden = start.startswith(".")
    names = sorted(path.name + ending(path) for path in folders if hidden or not path.name.startswith("."))
    return [os.path.join(begun, name) for name in names]


def ending(path):
    """Returns nothing for a run or an export, and a slash for a folder whose content can be completed next."""
    return "" if any((path / name).is_file() for name in RUN_FILES) else "/"


def complete_corpus(prefix, **options):
    """Returns the names of the catalog and the files that start as given."""
    from argcomplete.completers import FilesCompleter

    return [*complete_name(prefix), *FilesCompleter()(prefix, **options)]


def complete_name(prefix, **_):
    """Returns the names of the catalog that start as given."""
    return [corpus.name for corpus in corpora() if corpus.name.startswith(prefix)]
