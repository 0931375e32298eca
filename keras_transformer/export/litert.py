"""A run for LiteRT (once TensorFlow Lite), which runs on phones and small computers: ids in, an answer's ids out.

The whole search is in the model, the loop over the tokens too. What is left to the program around it is text: the files
beside the model hold the tokenizers, and the datastore where the run retrieves, and `answer.py` shows what to do with
them.
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
from keras_transformer.decoding.config import GenerationConfig
from keras_transformer.decoding.generate import make_program
from keras_transformer.errors import InputError
from keras_transformer.export.sidecar import PROGRAM, RETRIEVER, write_beside, write_retrieval
from keras_transformer.models.incremental import IncrementalTransformer

BESIDE = Path(__file__).with_name("litert_files")  # What is the same in every folder.
MODEL = "model.tflite"
QUANTIZATIONS = ("float32", "int8")


def write(run, model, folder, quantization="float32", fallback=None):
    """Writes the model, its tokenizers, and a program that needs nothing but these and LiteRT.

    The model answers one question greedily. In: "ids", int32 (1, max_length), as `Chatbot.ids_of` gives them, then 0.
    Out: "ids", int32 (1, max_length - 1), the answer's tokens with its end, then 0, and "scores", float32 (1,), their
    summed log-probability.

    The program answers in the run's own way, unless there is a fallback: then it generates. Where the run retrieves, or
    was taught something, the datastore is part of the folder, with the corrections made so far.

    Args:
        run: The `Run`.
        model: Its model.
        folder: An empty folder, a `pathlib.Path`.
        quantization: "float32" for weights as they were trained, or "int8" for rounded ones: a smaller file, and some
            other answers.
        fallback: The `Fallback`, which the program says instead of answers that are too unlikely; None to give all.

    Raises:
        InputError: If there is no such quantization, a tokenizer is no SentencePiece model, or Keras does not run on
            TensorFlow.
    """
    if quantization not in QUANTIZATIONS:
        raise InputError(f"quantization must be one of {', '.join(QUANTIZATIONS)}, not {quantization!r}")
    if keras.backend.backend() != "tensorflow":
        raise InputError("the export to LiteRT is made by TensorFlow: set KERAS_BACKEND=tensorflow")
    write_beside(run, folder, BESIDE, "LiteRT", fallback)
    if fallback is None:
        write_retrieval(Chatbot.of_run(run, model), folder)
    (folder / MODEL).write_bytes(converted(run, model, quantization))


def load(folder, apply_fallback=True):
    """A function from questions to pairs of an answer and its score, as the folder's own program gives them.

    That program is not run, but the package's copy of it: a folder may come from anywhere. The score of a retrieved
    answer is None. With `apply_fallback` unset, the answers are those that it would give without a fallback.
    """
    answerer = runpy.run_path(str(BESIDE / PROGRAM))["Answerer"]
    with warnings.catch_warnings():
        # TensorFlow's interpreter says so, which takes the place of LiteRT's own where that is not installed.
        warnings.filterwarnings("ignore", r"\s*Warning: tf.lite.Interpreter is deprecated")
        made = answerer(Path(folder), RETRIEVER)
    return made.answers if apply_fallback else made.candidates


def converted(run, model, quantization):
    """The model as the bytes of a LiteRT file."""
    holder = tf.Module()
    holder.weights = [variable.value for variable in model.weights]  # Found here, they become constants.
    ids = tf.TensorSpec((1, run.config.max_length), tf.int32, "ids")
    search = tf.function(greedy_search(run, model), [ids], autograph=False)
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(holder, folder, search)
        converter = tf.lite.TFLiteConverter.from_saved_model(folder)
        if quantization == "int8":
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        return converter.convert()


def greedy_search(run, model):
    """The function from a question's ids (1, length) to the "ids" and "scores" of its answer."""
    tokens = run.target_tokenizer
    config = GenerationConfig(tokens.start_id, tokens.end_id, run.config.max_length - 1)
    (program,) = make_program(incremental(model, run.config.tie_embeddings), config)

    def search(ids):
        found, scores = program(ids, tf.constant(config.strategy.draw(1, 1, config.max_length)))
        return {"ids": found, "scores": scores}

    return search


def incremental(model, tied):
    """The model a token at a time; where embedding and projection share a table, so that the file holds it once.

    The product by which `times_transposed` serves XLA would be stored as a second, transposed table. LiteRT's own
    reads the rows of the first.
    """
    made = IncrementalTransformer(model)
    if tied:
        table = made.parts.embed_target.table
        made.parts = dataclasses.replace(made.parts, project=lambda x: ops.matmul(x, ops.transpose(table)))
    return made
