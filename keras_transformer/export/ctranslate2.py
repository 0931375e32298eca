"""Export to CTranslate2, a C++ inference engine that does not need TensorFlow or Keras.

    model.bin, config.json, …vocabulary.json   the CTranslate2 model
    tokenizer.…, target_tokenizer.…            the tokenizers of the run
    answer.py, README.md                       a program that runs the model on text, and its documentation

The weights are copied into the Transformer specification of CTranslate2 (`ctranslate2.specs`).
"""

import dataclasses
import pathlib
import shutil

import numpy as np
from keras import ops

from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.decoding.constraints import IMPOSSIBLE
from keras_transformer.errors import InputError, import_extra
from keras_transformer.export import EXACT
from keras_transformer.export.sidecar import RETRIEVER, write_retrieval
from keras_transformer.language import translate as _
from keras_transformer.layers.positional_encoding import positional_encoding
from keras_transformer.layers.residual import EPSILON
from keras_transformer.models.transformer import components_of
from keras_transformer.padding import PAD_ID
from keras_transformer.runs.run import TARGET_TOKENIZER, TOKENIZER

QUANTIZATIONS = ("float32", "bfloat16", "int8")
OPTIONS = ()
IS_RUN_FOLDER = False
EDITABLE = ()
FILE = None
BESIDE = [pathlib.Path(__file__).with_name("ctranslate2_files") / name for name in ("answer.py", "README.md")]
LENGTH_MULTIPLE = 16  # On some GPUs, CTranslate2 pads questions to a multiple of at most this length.


def write(run, model, folder, quantization=EXACT, fallback=None):
    """Writes a CTranslate2 model, the tokenizers, and a program that uses them.

    The program uses the run's answering mode. With a fallback, it always generates. If the run retrieves answers or has
    corrections, the folder includes the datastore with the corrections made so far.

    Args:
        run: The `Run`.
        model: Its model.
        folder: An empty folder, a `pathlib.Path`.
        quantization: Type of the stored weights: "float32"; "bfloat16", half the size, computed in float32 on a CPU; or
            "int8", a quarter of the size, computed in 8 bits (biases and norms stay float32).
        fallback: The `Fallback`, which replaces low-confidence answers in answer.py, or None.

    Raises:
        InputError: If the quantization is not supported, or CTranslate2 is not installed.
    """
    if quantization not in QUANTIZATIONS:
        raise InputError(
            _(
                "a CTranslate2 model does not support {quantization} weights: use {names}",
                quantization=quantization,
                names=", ".join(QUANTIZATIONS),
            )
        )
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
    """Loads the folder as a function from questions to pairs of an answer and its score, as answer.py returns them.

    With `apply_fallback=False`, the answers are those without the fallback.
    """
    bot = import_answer().Bot(folder, RETRIEVER)
    return bot.answers if apply_fallback else bot.candidates


def import_answer():
    """Imports the module that is exported as answer.py. Raises `InputError` if CTranslate2 is not installed."""
    import_extra("ctranslate2", "ctranslate2", "this format")
    from keras_transformer.export.ctranslate2_files import answer

    return answer


def configure(config, run, target, fallback=None):
    """Sets the configuration of CTranslate2 and of answer.py.

    Args:
        config: The configuration of the specification.
        run: The `Run`.
        target: The target tokenizer, as loaded by answer.py.
        fallback: The `Fallback`, or None.
    """
    config.layer_norm_epsilon = EPSILON
    config.decoder_start_token, config.eos_token = target.tokens([target.start_id, target.end_id])
    # CTranslate2 requires an unknown token. A vocabulary without one never uses it.
    unk_id = run.target_tokenizer.unk_id
    config.unk_token = target.tokens([PAD_ID if unk_id is None else unk_id])[0]
    # CTranslate2 skips questions that consist of the start and the end token only, such as "▁". This sets another start
    # token, because answer.py adds both tokens itself.
    config.bos_token = config.unk_token
    config.add_attribute("max_length", run.config.max_length)
    config.add_attribute("turns", run.config.turns)
    if fallback:
        config.add_attribute("fallback", fallback.to_dict())
    if preprocessing := run.tokenizer.vocabulary.preprocessing:
        config.add_attribute("preprocessing", dataclasses.asdict(preprocessing))


def specification(config, components):
    """Creates the `TransformerSpec` of a model.

    Args:
        config: The run's `Config`.
        components: The model's `TransformerComponents`.
    """
    from ctranslate2.specs import TransformerSpec

    spec = TransformerSpec.from_config(config.num_layers, config.num_heads, pre_norm=config.norm_first)
    for side in (spec.encoder, spec.decoder):
        rows = config.max_length + LENGTH_MULTIPLE - 1
        side.position_encodings.encodings = array(positional_encoding(ops.arange(rows), config.d_model))
    spec.encoder.embeddings[0].weight = array(components.embed_source.table)
    spec.decoder.embeddings.weight = array(components.embed_target.table)
    for layer_spec, layer in zip(spec.encoder.layer, components.encoder.layers):
        fill_self_attention(layer_spec.self_attention, layer)
        fill_feed_forward(layer_spec.ffn, layer)
    for layer_spec, layer in zip(spec.decoder.layer, components.decoder.layers):
        fill_self_attention(layer_spec.self_attention, layer)
        fill_cross_attention(layer_spec.attention, layer)
        fill_feed_forward(layer_spec.ffn, layer)
    if config.norm_first:
        fill_norm(spec.encoder.layer_norm, components.encoder.norm)
        fill_norm(spec.decoder.layer_norm, components.decoder.norm)
    fill_projection(spec.decoder.projection, components, config.tie_embeddings)
    return spec


def fill_self_attention(spec, layer):
    """Fills the self-attention sublayer, where query, key and value are one matrix product."""
    attention = layer.self_attention
    fill_linear(spec.linear[0], attention.query_dense, attention.key_dense, attention.value_dense)
    fill_linear(spec.linear[1], attention.dense)
    fill_norm(spec.layer_norm, layer.self_attention_norm.norm)


def fill_cross_attention(spec, layer):
    """Fills the cross-attention sublayer, where key and value are one matrix product."""
    attention = layer.cross_attention
    fill_linear(spec.linear[0], attention.query_dense)
    fill_linear(spec.linear[1], attention.key_dense, attention.value_dense)
    fill_linear(spec.linear[2], attention.dense)
    fill_norm(spec.layer_norm, layer.cross_attention_norm.norm)


def fill_feed_forward(spec, layer):
    """Fills the feed-forward sublayer."""
    fill_linear(spec.linear_0, layer.feed_forward.inner)
    fill_linear(spec.linear_1, layer.feed_forward.outer)
    fill_norm(spec.layer_norm, layer.feed_forward_norm.norm)


def fill_projection(spec, components, tied):
    """Fills the output projection. Padding is never generated, as in `decoding`."""
    if tied:
        spec.weight = array(components.embed_target.table)
        spec.bias = np.zeros(len(spec.weight), "float32")
    else:
        fill_linear(spec, components.project)
    spec.bias[PAD_ID] = IMPOSSIBLE


def fill_linear(spec, *layers):
    """Concatenates `Dense` layers with the same input into one linear layer with a weight of (units, depth)."""
    spec.weight = np.concatenate([array(layer.kernel).T for layer in layers])
    spec.bias = np.concatenate([array(layer.bias) for layer in layers])


def fill_norm(spec, norm):
    """Fills a layer normalization."""
    spec.gamma, spec.beta = array(norm.gamma), array(norm.beta)


def array(variable):
    """Copies a variable or tensor to a writable NumPy array."""
    return np.array(ops.convert_to_numpy(variable))


def round_to_bfloat16(spec):
    """Rounds the weights of a validated specification. CTranslate2 itself would need PyTorch for this."""
    for variable in spec.variables().values():
        if variable.dtype == "float32":
            variable.array = ops.convert_to_numpy(ops.cast(variable.array, "bfloat16"))
