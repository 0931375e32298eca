"""Starts the `keras-transformer` command, and says when another project has replaced files of its package.

`pip install keras-transformer` installs another project with the same import package. If it comes after this one,
`keras_transformer` cannot be imported any more, so that only a module outside of it can say why.
"""
# PYTHON_ARGCOMPLETE_OK, for shells in which argcomplete is switched on for all commands.

import glob
import os
import sys

FAILED = 1


def main():
    """Runs the command line; returns its exit status."""
    other = other_project()
    try:
        from keras_transformer.cli import main as command
    except Exception:
        if not other:
            raise
        command = None
    if other:  # After the import: that of the other project prints TensorFlow's messages.
        print(
            f"keras-transformer: warning: the package keras-transformer {other} is another project, and replaces files "
            "of this one: pip uninstall keras-transformer, then pip install --force-reinstall --no-deps "
            "keras-transformer-trainer (in a checkout: pip install -e .)",
            file=sys.stderr,
        )
    return command.main() if command else FAILED


def other_project():
    """Returns the version of the other project; None if it is not installed."""
    # This takes 1 ms. Importing importlib.metadata takes 50, which is noticeable in `keras-transformer --help`.
    for folder in sys.path:
        for about in glob.glob("keras_transformer-*.dist-info", root_dir=folder or "."):
            # It installs no command. This project, which does, had the same name before its first release.
            if not os.path.exists(os.path.join(folder, about, "entry_points.txt")):
                return about.removeprefix("keras_transformer-").removesuffix(".dist-info")
    return None
