"""A run for ONNX Runtime, which is there for most machines and languages: an encoder, and a decoder a token at a time.

    encoder.onnx       from questions to all that the decoder needs of them, its empty cache too
    decoder.onnx       from a token of each answer to the logits of the next, with the cache going in and out
    tokenizer.model, target_tokenizer.model, settings.json, answer.py, README.md
    retrieval.py, retrieval.npz, exchanges.jsonl   where the run retrieves

The loop over the tokens is the program's, so that it may choose them as it likes; `answer.py` takes the likeliest.
"""

import importlib
import runpy
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.errors import InputError
from keras_transformer.export.sidecar import PROGRAM, RETRIEVER, write_beside, write_retrieval
from keras_transformer.models.incremental import IncrementalTransformer

ENCODER, DECODER = "encoder.onnx", "decoder.onnx"
QUANTIZATIONS = ("float32", "int8")
BESIDE = Path(__file__).with_name("onnx_files")  # What is the same in every folder.
NEXT = "next."  # Starts the name of a tensor that takes the place of another in the next step.
ROWS = 2  # The axis of a cache (batch, heads, rows, depth) along which it is written.


def write(run, model, folder, quantization="float32", fallback=None):
    """Writes the two models, the tokenizers, and a program that needs nothing but these and ONNX Runtime.

    It answers in the run's own way, unless there is a fallback: then it generates. Where the run retrieves, or was
    taught something, the datastore is part of the folder, with the corrections made so far.

    Args:
        run: The `Run`.
        model: Its model.
        folder: An empty folder, a `pathlib.Path`.
        quantization: "float32" for weights as they were trained, or "int8" for rounded ones: smaller files, and some
            other answers.
        fallback: The `Fallback`, which the program says instead of answers that are too unlikely; None to give all.

    Raises:
        InputError: If there is no such quantization, a tokenizer is no SentencePiece model, a package is missing, or
            Keras does not run on TensorFlow.
    """
    if quantization not in QUANTIZATIONS:
        raise InputError(f"quantization must be one of {', '.join(QUANTIZATIONS)}, not {quantization!r}")
    if keras.backend.backend() != "tensorflow":
        raise InputError("the export to ONNX is made by TensorFlow: set KERAS_BACKEND=tensorflow")
    for package in ("tf2onnx", "onnxruntime"):
        imported(package)  # Before the work is done.
    write_beside(run, folder, BESIDE, "ONNX", fallback)
    if fallback is None:
        write_retrieval(Chatbot.of_run(run, model), folder)
    for name, function in zip((ENCODER, DECODER), functions(IncrementalTransformer(model), run.config)):
        (folder / name).write_bytes(converted(function))
        if quantization == "int8":
            round_matrices(folder / name)


def load(folder, apply_fallback=True):
    """A function from questions to pairs of an answer and its score, as the folder's own program gives them.

    That program is not run, but the package's copy of it: a folder may come from anywhere. The score of a retrieved
    answer is None. With `apply_fallback` unset, the answers are those that it would give without a fallback.
    """
    imported("onnxruntime")
    made = runpy.run_path(str(BESIDE / PROGRAM))["Answerer"](folder, RETRIEVER)
    return made.answers if apply_fallback else made.candidates


def imported(name):
    """A package of the extra; raises `InputError` if it is missing."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        what = f"this format needs the package {error.name}"
        raise InputError(f"{what}: pip install 'keras-transformer[onnx]'") from error


def functions(incremental, config):
    """What becomes the two models: TensorFlow functions for any number of questions, of any length.

    Args:
        incremental: The `IncrementalTransformer`.
        config: The run's `Config`.
    """

    def encode(ids):
        return named(incremental.prefill(ids, config.max_length - 1))

    def decode(ids, index, tensors):
        logits, cache = incremental.decode_step(ids, index, nested(tensors, config.num_layers))
        written = {NEXT + name: x for name, x in named(cache).items() if "self_attention" in name}
        return {"logits": logits, **written}

    encode = tf.function(encode, [tf.TensorSpec((None, None), tf.int32, "ids")], autograph=False)
    tensors = encode.get_concrete_function().structured_outputs
    tensors = {name: tf.TensorSpec(x.shape, x.dtype, name) for name, x in tensors.items()}
    ids, index = tf.TensorSpec((None,), tf.int32, "ids"), tf.TensorSpec((), tf.int32, "index")
    return encode, tf.function(decode, [ids, index, tensors], autograph=False)


def named(cache):
    """The tensors of a cache by their paths, such as "layers.0.self_attention.key"."""
    return {".".join(map(str, path)): x for path, x in keras.tree.flatten_with_path(cache)}


def nested(tensors, num_layers):
    """The cache whose tensors have these names."""

    def part(name):
        return {kind: tensors[f"{name}.{kind}"] for kind in ("key", "value")}

    layers = [
        {name: part(f"layers.{i}.{name}") for name in ("self_attention", "cross_attention")} for i in range(num_layers)
    ]
    return {"padding_mask": tensors["padding_mask"], "layers": layers}


def converted(function):
    """A TensorFlow function as the bytes of an ONNX file."""
    handlers = {"XlaDynamicUpdateSlice": (write_row, [])}
    convert = imported("tf2onnx").convert.from_function
    model, _ = convert(function, function.input_signature, custom_op_handlers=handlers)
    return model.SerializeToString()


def write_row(graph, node, name, arguments):
    """Puts operations of ONNX in the place of the one by which TensorFlow writes a row into a cache.

    What comes out is the cache before that row, the row, and the cache behind it.

    Args:
        graph: tf2onnx's.
        node: The operation: of a cache, a row, and the four indices of its place.
        name: Its name.
        arguments: None; tf2onnx hands them over.
    """
    from tf2onnx.utils import make_name

    def constant(*values):
        return graph.make_const(make_name("places"), np.array(values, "int32")).output[0]

    def cut(x, start, end, axis):
        return graph.make_node("Slice", [x, start, end, constant(axis)]).output[0]

    cache, row, indices = node.input
    shapes, dtypes = node.output_shapes, node.output_dtypes
    place = cut(indices, constant(ROWS), constant(ROWS + 1), 0)
    following = graph.make_node("Add", [place, constant(1)]).output[0]
    before = cut(cache, constant(0), place, ROWS)
    behind = cut(cache, following, constant(graph.get_shape(cache)[ROWS]), ROWS)
    graph.remove_node(name)
    graph.make_node(
        "Concat", [before, row, behind], {"axis": ROWS}, name=name, outputs=node.output, shapes=shapes, dtypes=dtypes
    )


def round_matrices(path):
    """Rounds the matrices of an ONNX file, each column by a scale of its own."""
    rounding = imported("onnxruntime.quantization")
    rounding.quant_pre_process(path, path, skip_symbolic_shape=True)  # For that it would need one more package.
    # To 7 bits, as sums of products of 8 are more than some processors' instructions can hold.
    rounding.quantize_dynamic(path, path, per_channel=True, reduce_range=True)
