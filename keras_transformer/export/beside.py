"""What stands beside a model that knows token ids alone: its tokenizers, and a program that shows all steps."""

import shutil

from keras_transformer.errors import InputError
from keras_transformer.storage import write_json
from keras_transformer.text.sentence_pieces import SentencePieces

SETTINGS, PROGRAM = "settings.json", "answer.py"


def write_beside(run, folder, files, kind, fallback=None):
    """Writes the tokenizers, what the program has to know of the run, and the files that are the same in every folder.

    Args:
        run: The `Run`.
        folder: An empty folder, a `pathlib.Path`.
        files: Where the files are that are the same in every folder.
        kind: The format, as people write it.
        fallback: The `Fallback`; None to give every answer.

    Raises:
        InputError: If a tokenizer is no SentencePiece model.
    """
    for name, tokenizer in run.tokenizers.items():
        if tokenizer.ending != SentencePieces.ending:
            raise InputError(
                f"{run.path / name}{tokenizer.ending}: nothing but tensorflow-datasets reads such a vocabulary; "
                f"to export to {kind}, train with a SentencePiece tokenizer"
            )
        tokenizer.save(folder / f"{name}{tokenizer.ending}")
    shutil.copytree(files, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))  # Of pip.
    judging = {"fallback": fallback.to_dict()} if fallback else {}
    write_json(folder / SETTINGS, {"max_length": run.config.max_length, "turns": run.config.turns, **judging})
