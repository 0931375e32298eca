"""CTranslate2: a model that its engine in C++ runs, without TensorFlow or Keras.

    model.bin, config.json, …vocabulary.json   what CTranslate2 reads
    tokenizer.…, target_tokenizer.…            the files of the run's tokenizers
    answer.py, README.md                       all that it takes to ask the model in text

The weights fill CTranslate2's own description of a Transformer (`ctranslate2.specs`).
"""

import pathlib
import shutil

import numpy as np
from keras import ops

from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.decoding.constraints import IMPOSSIBLE, PAD_ID
from keras_transformer.errors import InputError
from keras_transformer.export.sidecar import RETRIEVER, write_retrieval
from keras_transformer.layers.positional_encoding import positional_encoding
from keras_transformer.layers.residual import EPSILON
from keras_transformer.models.transformer import components_of
from keras_transformer.runs.run import TARGET_TOKENIZER, TOKENIZER

QUANTIZATIONS = ("float32", "bfloat16", "int8")
BESIDE = [pathlib.Path(__file__).with_name("ctranslate2_files") / name for name in ("answer.py", "README.md")]
LENGTH_MULTIPLE = 16  # On some GPUs questions are filled up to a multiple of it, at most.


def write(run, model, folder, quantization="float32", fallback=None):
    """Writes a run for CTranslate2.

    It answers in the run's own way, unless there is a fallback: then it generates. Where the run retrieves, or was
    taught something, the datastore is part of the folder, with the corrections made so far.

    Args:
        run: The `Run`.
        model: Its model.
        folder: An empty folder, a `pathlib.Path`.
        quantization: How the weights are stored: "float32"; "bfloat16", which halves them, and which a CPU computes
            with in float32; "int8", a quarter, computed with in 8 bits (biases and norms stay float32).
        fallback: The `Fallback`, which answer.py says instead of answers that are too unlikely; None to give all.

    Raises:
        InputError: If there is no such quantization, or CTranslate2 is not installed.
    """
    if quantization not in QUANTIZATIONS:
        raise InputError(f"a CTranslate2 model has no weights in {quantization}, but in {', '.join(QUANTIZATIONS)}")
    answer = import_answer()
    for path in BESIDE:
        shutil.copyfile(path, folder / path.name)
    for name, tokenizer in run.tokenizers.items():
        tokenizer.save(folder / f"{name}{tokenizer.ending}")
    source = answer.load_tokenizer(folder, TOKENIZER)
    target = answer.load_tokenizer(folder, TARGET_TOKENIZER) or source
    spec = specification(run.config, components_of(model))
    spec.register_source_vocabulary(source.tokens(list(range(run.tokenizer.vocab_size))))
    spec.register_target_vocabulary(target.tokens(list(range(run.target_tokenizer.vocab_size))))
    configure(spec.config, run, target, fallback)
    spec.validate()
    if quantization == "bfloat16":
        round_to_bfloat16(spec)
    spec.optimize(quantization)
    spec.save(str(folder))
    if fallback is None:
        write_retrieval(Chatbot.of_run(run, model), folder)


def load(folder, apply_fallback=True):
    """The function that the folder's answer.py has: from questions to pairs of an answer and its score.

    With `apply_fallback` unset, the answers are those that it would give without a fallback.
    """
    bot = import_answer().Bot(folder, RETRIEVER)
    return bot.answers if apply_fallback else bot.candidates


def import_answer():
    """The module that is copied as answer.py; raises `InputError` if CTranslate2 is not installed."""
    try:
        from keras_transformer.export.ctranslate2_files import answer
    except ImportError as error:
        raise InputError(
            "this format needs the package ctranslate2: pip install 'keras-transformer[ctranslate2]'"
        ) from error
    return answer


def configure(config, run, target, fallback=None):
    """Sets what CTranslate2 has to know besides the weights, and what answer.py has.

    Args:
        config: The specification's.
        run: The `Run`.
        target: The tokenizer of the answers, as answer.py has it.
        fallback: The `Fallback`, if there is one.
    """
    config.layer_norm_epsilon = EPSILON
    config.decoder_start_token, config.eos_token = target.tokens([target.start_id, target.end_id])
    # CTranslate2 wants an unknown; a vocabulary that has none never needs it.
    unk_id = run.target_tokenizer.unk_id
    config.unk_token = target.tokens([PAD_ID if unk_id is None else unk_id])[0]
    # It would not ask the model what is nothing but a start and an end, such as "▁". As answer.py writes both itself,
    # CTranslate2 need not know the start of a question.
    config.bos_token = config.unk_token
    config.add_attribute("max_length", run.config.max_length)
    config.add_attribute("turns", run.config.turns)
    if fallback:
        config.add_attribute("fallback", fallback.to_dict())


def specification(config, parts):
    """CTranslate2's `TransformerSpec` of a model.

    Args:
        config: The run's `Config`.
        parts: The model's `TransformerComponents`.
    """
    from ctranslate2.specs import TransformerSpec

    spec = TransformerSpec.from_config(config.num_layers, config.num_heads, pre_norm=config.norm_first)
    for side in (spec.encoder, spec.decoder):
        rows = config.max_length + LENGTH_MULTIPLE - 1
        side.position_encodings.encodings = array(positional_encoding(ops.arange(rows), config.d_model))
    spec.encoder.embeddings[0].weight = array(parts.embed_source.table)
    spec.decoder.embeddings.weight = array(parts.embed_target.table)
    for layer_spec, layer in zip(spec.encoder.layer, parts.encoder.layers):
        fill_self_attention(layer_spec.self_attention, layer)
        fill_feed_forward(layer_spec.ffn, layer)
    for layer_spec, layer in zip(spec.decoder.layer, parts.decoder.layers):
        fill_self_attention(layer_spec.self_attention, layer)
        fill_cross_attention(layer_spec.attention, layer)
        fill_feed_forward(layer_spec.ffn, layer)
    if config.norm_first:
        fill_norm(spec.encoder.layer_norm, parts.encoder.norm)
        fill_norm(spec.decoder.layer_norm, parts.decoder.norm)
    fill_projection(spec.decoder.projection, parts, config.tie_embeddings)
    return spec


def fill_self_attention(spec, layer):
    """The sublayer in which query, key and value are one product."""
    attention = layer.self_attention
    fill_linear(spec.linear[0], attention.query_dense, attention.key_dense, attention.value_dense)
    fill_linear(spec.linear[1], attention.dense)
    fill_norm(spec.layer_norm, layer.self_attention_norm.norm)


def fill_cross_attention(spec, layer):
    """The sublayer in which key and value, of the memory, are one product."""
    attention = layer.cross_attention
    fill_linear(spec.linear[0], attention.query_dense)
    fill_linear(spec.linear[1], attention.key_dense, attention.value_dense)
    fill_linear(spec.linear[2], attention.dense)
    fill_norm(spec.layer_norm, layer.cross_attention_norm.norm)


def fill_feed_forward(spec, layer):
    """The sublayer of two products."""
    fill_linear(spec.linear_0, layer.feed_forward.inner)
    fill_linear(spec.linear_1, layer.feed_forward.outer)
    fill_norm(spec.layer_norm, layer.feed_forward_norm.norm)


def fill_projection(spec, parts, tied):
    """The output projection, which can never choose padding, as no strategy of ours can."""
    if tied:
        spec.weight = array(parts.embed_target.table)
        spec.bias = np.zeros(len(spec.weight), "float32")
    else:
        fill_linear(spec, parts.project)
    spec.bias[PAD_ID] = IMPOSSIBLE


def fill_linear(spec, *layers):
    """The products of several `Dense` layers with the same input, one after the other: weight (units, depth)."""
    spec.weight = np.concatenate([array(layer.kernel).T for layer in layers])
    spec.bias = np.concatenate([array(layer.bias) for layer in layers])


def fill_norm(spec, norm):
    """A `LayerNormalization`."""
    spec.gamma, spec.beta = array(norm.gamma), array(norm.beta)


def array(variable):
    """A variable's or tensor's numbers, to be changed at will."""
    return np.array(ops.convert_to_numpy(variable))


def round_to_bfloat16(spec):
    """Rounds the weights of a validated specification, for which CTranslate2 itself would need PyTorch."""
    for variable in spec.variables().values():
        if variable.dtype == "float32":
            variable.array = ops.convert_to_numpy(ops.cast(variable.array, "bfloat16"))
