"""What stands beside a model that knows token ids alone: tokenizers, a datastore, a program that shows all steps."""

import json
import math
import shutil
from pathlib import Path

import numpy as np

from keras_transformer.errors import InputError
from keras_transformer.export.retrieval_index import least_similarity, may_retrieve, retrieval_arrays
from keras_transformer.runs.atomic_io import write_json
from keras_transformer.text.sentence_pieces import SentencePieces

SETTINGS, PROGRAM = "settings.json", "answer.py"
RETRIEVER = Path(__file__).with_name("retrieval_files") / "retrieval.py"  # What finds exchanges, for every format.
RETRIEVAL, EXCHANGES = "retrieval.npz", "exchanges.jsonl"


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


def write_retrieval(bot, folder):
    """Writes what the program finds known questions and their answers by, if the run retrieves any.

    Args:
        bot: The run's `Chatbot`.
        folder: A folder, a `pathlib.Path`.

    Returns:
        Whether it does.
    """
    if not may_retrieve(bot):
        return False
    exchanges, numbers, index = bot.datastore.visible()
    lines = (json.dumps(exported(one, bot.answering), ensure_ascii=False) + "\n" for one in exchanges)
    (folder / EXCHANGES).write_bytes("".join(lines).encode("utf-8"))
    np.savez_compressed(folder / RETRIEVAL, **retrieval_arrays(index, numbers))
    shutil.copyfile(RETRIEVER, folder / RETRIEVER.name)
    return True


def exported(exchange, answering):
    """An `Exchange` as a dictionary that JSON can hold, which has no infinity: None where it never answers."""
    least = least_similarity(exchange, answering)
    least = least if math.isfinite(least) else None
    return {"question": exchange.question, "answer": exchange.answer, "least_similarity": least}
