"""Export to ONNX: an encoder and an incremental decoder for ONNX Runtime, which supports most platforms and languages.

    encoder.onnx       maps questions to the inputs of the decoder, including its empty cache
    decoder.onnx       maps one token of each answer and the cache to the next logits and the new cache
    tokenizer.model, target_tokenizer.model, settings.json, answer.py, README.md
    retrieval.py, retrieval.npz, exchanges.jsonl   if the run retrieves answers

The decoding loop runs outside the models, so any strategy can be used. `answer.py` implements greedy decoding.
"""

import runpy
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.errors import InputError, import_extra
from keras_transformer.export import EXACT
from keras_transformer.export.sidecar import PROGRAM, RETRIEVER, write_retrieval, write_sidecar
from keras_transformer.language import translate as _
from keras_transformer.models.incremental import IncrementalTransformer

ENCODER, DECODER = "encoder.onnx", "decoder.onnx"
QUANTIZATIONS = ("float32", "int8")
OPTIONS = ()
IS_RUN_FOLDER = False
EDITABLE = ()
FILE = None
BESIDE = Path(__file__).with_name("onnx_files")  # Files that every folder contains.
NEXT = "next."  # Name prefix of an output that replaces the input of the same name at the next step.
ROWS = 2  # Axis of the cache (batch, heads, rows, depth) along which new rows are written.


def write(run, model, folder, quantization=EXACT, fallback=None):
    """Writes the two models, the tokenizers, and a program that only needs these files and ONNX Runtime.

    The program uses the run's answering mode. With a fallback, it always generates. If the run retrieves answers or has
    corrections, the folder includes the datastore with the corrections made so far.

    Args:
        run: The `Run`.
        model: Its model.
        folder: An empty folder, a `pathlib.Path`.
        quantization: "float32" for the weights as trained, or "int8" for rounded weights: the files are smaller, and
            some answers may differ.
        fallback: The `Fallback`, which replaces low-confidence answers, or None.

    Raises:
        InputError: If the quantization is not supported, a tokenizer is not a SentencePiece model, a package is
            missing, or the Keras backend is not TensorFlow.
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
        raise InputError(_("the export to ONNX needs the TensorFlow backend: set KERAS_BACKEND=tensorflow"))
    for package in ("tf2onnx", "onnxruntime"):
        imported(package)  # Fails early if it is missing.
    write_sidecar(run, folder, BESIDE, "ONNX", fallback)
    if fallback is None:
        write_retrieval(Chatbot.of_run(run, model), folder)
    for name, function in zip((ENCODER, DECODER), functions(IncrementalTransformer(model), run.config)):
        (folder / name).write_bytes(converted(function))
        if quantization == "int8":
            round_matrices(folder / name)


def load(folder, apply_fallback=True):
    """Loads the folder as a function from questions to pairs of an answer and its score.

    It runs the package's copy of answer.py, not the one in the folder, which could be from an untrusted source. The
    score of a retrieved answer is None. With `apply_fallback=False`, the answers are those without the fallback.
    """
    imported("onnxruntime")
    answerer = runpy.run_path(str(BESIDE / PROGRAM))["Answerer"](folder, RETRIEVER)
    return answerer.answers if apply_fallback else answerer.candidates


def imported(name):
    """Imports a package of the `onnx` extra. Raises `InputError` if it is missing."""
    return import_extra(name, "onnx", "this format")


def functions(incremental, config):
    """Creates the TensorFlow functions of the two models, for any batch size and question length.

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
    """Returns the tensors of a cache by their paths, such as "layers.0.self_attention.key"."""
    return {".".join(map(str, path)): x for path, x in keras.tree.flatten_with_path(cache)}


def nested(tensors, num_layers):
    """Returns the cache from tensors by their paths, the inverse of `named`."""

    def attention_cache(name):
        return {kind: tensors[f"{name}.{kind}"] for kind in ("key", "value")}

    layers = [
        {name: attention_cache(f"layers.{i}.{name}") for name in ("self_attention", "cross_attention")}
        for i in range(num_layers)
    ]
    return {"padding_mask": tensors["padding_mask"], "layers": layers}


def converted(function):
    """Converts a TensorFlow function to the bytes of an ONNX file."""
    handlers = {"XlaDynamicUpdateSlice": (write_row, [])}
    convert = imported("tf2onnx").convert.from_function
    model, _ = convert(function, function.input_signature, custom_op_handlers=handlers)
    return model.SerializeToString()


def write_row(graph, node, name, arguments):
    """Replaces the TensorFlow operation that writes a row into a cache with ONNX operations.

    The result is the concatenation of the cache before the row, the row, and the cache after it.

    Args:
        graph: The tf2onnx graph.
        node: The operation. Its inputs are a cache, a row, and the four start indices of the row.
        name: Name of the operation.
        arguments: Unused. tf2onnx passes it.
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
    after = cut(cache, following, constant(graph.get_shape(cache)[ROWS]), ROWS)
    graph.remove_node(name)
    graph.make_node(
        "Concat", [before, row, after], {"axis": ROWS}, name=name, outputs=node.output, shapes=shapes, dtypes=dtypes
    )


def round_matrices(path):
    """Quantizes the matrices of an ONNX file to 8 bits, with one scale per column."""
    rounding = imported("onnxruntime.quantization")
    rounding.quant_pre_process(path, path, skip_symbolic_shape=True)  # Needs another package.
    # Reduced to a range of 7 bits, because sums of 8-bit products overflow in the instructions of some processors.
    rounding.quantize_dynamic(path, path, per_channel=True, reduce_range=True)
