"""Files next to an exported model that only handles token ids: tokenizers, datastore and an example program."""

import json
import math
import shutil
from pathlib import Path

import numpy as np

from keras_transformer.chat.answering import GENERATE
from keras_transformer.errors import InputError
from keras_transformer.export.retrieval_index import least_similarity, may_retrieve, retrieval_arrays
from keras_transformer.language import translate as _
from keras_transformer.runs.atomic_io import write_json
from keras_transformer.text.sentence_pieces import SentencePieces

SETTINGS, PROGRAM = "settings.json", "answer.py"
RETRIEVER = Path(__file__).with_name("retrieval_files") / "retrieval.py"  # Retrieval code, shared by the formats.
RETRIEVAL, EXCHANGES = "retrieval.npz", "exchanges.jsonl"


def write_sidecar(run, folder, files, kind, fallback=None):
    """Writes the tokenizers, the settings of the program, and the static files of the format.

    Args:
        run: The `Run`.
        folder: An empty folder, a `pathlib.Path`.
        files: Folder of the static files.
        kind: Display name of the format.
        fallback: The `Fallback`, or None.

    Raises:
        InputError: If a tokenizer is not a SentencePiece model.
    """
    check_tokenizers(run, kind)
    for name, tokenizer in run.tokenizers.items():
        tokenizer.save(folder / f"{name}{tokenizer.ending}")
    shutil.copytree(files, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))  # pip writes it.
    optional = {"fallback": fallback.to_dict()} if fallback else {}
    write_json(folder / SETTINGS, {"max_length": run.config.max_length, "turns": run.config.turns, **optional})


def check_tokenizers(run, kind):
    """Raises `InputError` if a tokenizer of a run is not a SentencePiece model. `kind` is the format's display name."""
    for name, tokenizer in run.tokenizers.items():
        if tokenizer.ending != SentencePieces.ending:
            raise InputError(
                _(
                    "{path}{ending}: only tensorflow-datasets can read this vocabulary; "
                    "to export to {kind}, train with a SentencePiece tokenizer",
                    path=run.path / name,
                    ending=tokenizer.ending,
                    kind=kind,
                )
            )


def write_retrieval(bot, folder):
    """Writes the datastore and its index for the program, if the run retrieves answers.

    Args:
        bot: The run's `Chatbot`.
        folder: A folder, a `pathlib.Path`.

    Returns:
        Whether the run retrieves answers.
    """
    if not may_retrieve(bot):
        return False
    exchanges, numbers, index = bot.datastore.visible()
    lines = (json.dumps(exported(one, bot.answering), ensure_ascii=False) + "\n" for one in exchanges)
    (folder / EXCHANGES).write_bytes("".join(lines).encode("utf-8"))
    closed = np.array(bot.memorized and bot.answering.way != GENERATE)
    np.savez_compressed(folder / RETRIEVAL, **retrieval_arrays(index, numbers), closed=closed)
    shutil.copyfile(RETRIEVER, folder / RETRIEVER.name)
    return True


def exported(exchange, answering):
    """Converts an `Exchange` to a dictionary. JSON has no infinity, so None means that it is never retrieved."""
    least = least_similarity(exchange, answering)
    least = least if math.isfinite(least) else None
    return {"question": exchange.question, "answer": exchange.answer, "least_similarity": least}
