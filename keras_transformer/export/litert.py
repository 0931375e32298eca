"""Export to LiteRT (formerly TensorFlow Lite) for mobile and edge devices: maps question ids to answer ids.

The model contains the whole search, including the decoding loop. The program around it only handles text: the folder
also holds the tokenizers, the datastore if the run retrieves answers, and `answer.py`, which shows how to use them.
"""

import dataclasses
import runpy
import tempfile
import warnings
from pathlib import Path

import keras
import tensorflow as tf
from keras import ops

from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.decoding.config import AnswerTokens, GenerationConfig
from keras_transformer.decoding.generate import make_program
from keras_transformer.errors import InputError
from keras_transformer.export import EXACT
from keras_transformer.export.sidecar import PROGRAM, RETRIEVER, write_retrieval, write_sidecar
from keras_transformer.language import translate as _
from keras_transformer.models.incremental import IncrementalTransformer

BESIDE = Path(__file__).with_name("litert_files")  # Files that every folder contains.
MODEL = "model.tflite"
QUANTIZATIONS = ("float32", "int8")
OPTIONS = ()
IS_RUN_FOLDER = False
EDITABLE = ()
FILE = None


def write(run, model, folder, quantization=EXACT, fallback=None):
    """Writes the model, its tokenizers, and a program that only needs these files and LiteRT.

    The model answers one question with greedy decoding. Input: "ids", int32 (1, max_length), as `Chatbot.ids_of`
    returns them, padded with 0. Outputs: "ids", int32 (1, max_length - 1), the answer's tokens including the end token,
    padded with 0, and "scores", float32 (1,), their summed log-probability.

    The program uses the run's answering mode. With a fallback, it always generates. If the run retrieves answers or has
    corrections, the folder includes the datastore with the corrections made so far.

    Args:
        run: The `Run`.
        model: Its model.
        folder: An empty folder, a `pathlib.Path`.
        quantization: "float32" for the weights as trained, or "int8" for rounded weights: the file is smaller, and some
            answers may differ.
        fallback: The `Fallback`, which replaces low-confidence answers, or None.

    Raises:
        InputError: If the quantization is not supported, a tokenizer is not a SentencePiece model, or the Keras backend
            is not TensorFlow.
    """
    if quantization not in QUANTIZATIONS:
        raise InputError(
            _(
                "quantization must be one of {names}, not {quantization!r}",
                names=", ".join(QUANTIZATIONS),
                quantization=quantization,
            )
        )
    if keras.backend.backend() != "tensorflow":
        raise InputError(_("the export to LiteRT needs the TensorFlow backend: set KERAS_BACKEND=tensorflow"))
    write_sidecar(run, folder, BESIDE, "LiteRT", fallback)
    if fallback is None:
        write_retrieval(Chatbot.of_run(run, model), folder)
    (folder / MODEL).write_bytes(converted(run, model, quantization))


def load(folder, apply_fallback=True):
    """Loads the folder as a function from questions to pairs of an answer and its score.

    It runs the package's copy of answer.py, not the one in the folder, which could be from an untrusted source. The
    score of a retrieved answer is None. With `apply_fallback=False`, the answers are those without the fallback.
    """
    answerer_class = runpy.run_path(str(BESIDE / PROGRAM))["Answerer"]
    with warnings.catch_warnings():
        # Raised by TensorFlow's interpreter, which is used if LiteRT is not installed.
        warnings.filterwarnings("ignore", r"\s*Warning: tf.lite.Interpreter is deprecated")
        answerer = answerer_class(Path(folder), RETRIEVER)
    return answerer.answers if apply_fallback else answerer.candidates


def converted(run, model, quantization):
    """Converts the model to the bytes of a LiteRT file."""
    holder = tf.Module()
    holder.weights = [variable.value for variable in model.weights]  # Tracked here, they become constants.
    ids = tf.TensorSpec((1, run.config.max_length), tf.int32, "ids")
    search = tf.function(greedy_search(run, model), [ids], autograph=False)
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(holder, folder, search)
        converter = tf.lite.TFLiteConverter.from_saved_model(folder)
        if quantization == "int8":
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        return converter.convert()


def greedy_search(run, model):
    """Creates the function that maps a question's ids (1, length) to the "ids" and "scores" of its answer."""
    tokens = AnswerTokens.of(run.target_tokenizer)
    config = GenerationConfig(max_length=run.config.max_length - 1)
    (program,) = make_program(incremental(model, run.config.tie_embeddings), config, tokens)

    def search(ids):
        answer_ids, scores = program(ids, tf.constant(config.strategy.draw(1, 1, config.max_length)))
        return {"ids": answer_ids, "scores": scores}

    return search


def incremental(model, tied):
    """Creates the `IncrementalTransformer`. A table shared by embedding and projection is stored only once.

    The product in `times_transposed`, which is optimized for XLA, would be stored as a second, transposed table. The
    matrix product of LiteRT reads the rows of the first one.
    """
    stepwise = IncrementalTransformer(model)
    if tied:
        table = stepwise.components.embed_target.table
        stepwise.components = dataclasses.replace(
            stepwise.components, project=lambda x: ops.matmul(x, ops.transpose(table))
        )
    return stepwise
