"""Export as a smaller run folder, with the files for inference and without those for training."""

import json
import pathlib

from keras_transformer.chat.answering import ANSWERING
from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.chat.datastore import FILES
from keras_transformer.errors import InputError
from keras_transformer.export import EXACT
from keras_transformer.language import translate as _
from keras_transformer.runs.atomic_io import write_json
from keras_transformer.runs.quantization import quantized
from keras_transformer.runs.run import CONFIDENCE, CONFIG, SUMMARY, TOKENIZER_FILES, WEIGHTS
from keras_transformer.runs.tensor_file import load_tensors, save_tensors

QUANTIZATIONS = ("float32", "int8")
OPTIONS = ()
IS_RUN_FOLDER = True
EDITABLE = ()
FILE = None


def write(run, model, folder, quantization=EXACT, fallback=None):
    """Writes a run folder.

    Args:
        run: The `Run`.
        model: Its model.
        folder: An empty folder.
        quantization: "float32", or "int8", which stores matrices at a quarter of the size. They are dequantized to
            float32 in memory.
        fallback: None. A run folder keeps the calibration instead, and takes the fallback when it is used.

    Raises:
        InputError: If the quantization is not supported.
    """
    if quantization not in QUANTIZATIONS:
        raise InputError(
            _(
                "a run folder does not support {quantization} weights: use {names}",
                quantization=quantization,
                names=" or ".join(QUANTIZATIONS),
            )
        )
    about = json.loads((run.path / CONFIG).read_text("utf-8"))
    about["corpus"].pop("source", None)  # Paths on the training machine, as that of the parent run.
    if "from" in about:
        about["from"]["path"] = pathlib.PurePath(about["from"]["path"]).name
    # The calibration is not valid for rounded weights.
    calibrated = {CONFIDENCE} if quantization == EXACT else set()
    for name in {SUMMARY, ANSWERING, *FILES, *TOKENIZER_FILES, *calibrated}:
        if (run.path / name).is_file():
            (folder / name).write_bytes((run.path / name).read_bytes())
    facts = load_tensors(run.path / WEIGHTS, run.id)[1]
    weights = run.best_weights()
    save_tensors(folder / WEIGHTS, quantized(weights) if quantization == "int8" else weights, run.id, facts)
    write_json(folder / CONFIG, about)


def load(folder, apply_fallback=True):
    """Loads the folder as a function from questions to pairs of an answer and its score.

    It uses the run's answering mode. The score of a retrieved answer is None. `apply_fallback` changes nothing, because
    a run folder stores no fallback.
    """
    bot = Chatbot.load(folder)
    bot.load_model()  # It must be valid even if all answers are retrieved.
    return lambda questions: answers_of(bot, questions)


def answers_of(bot, questions):
    """Returns the answers of a `Chatbot` in its default mode, as pairs of text and score."""
    return [(answer.text, answer.score) for answer in bot.answers(questions)]
