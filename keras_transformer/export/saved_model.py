"""Export to a SavedModel that maps strings to strings, with tokenization and decoding in the graph."""

import dataclasses

import tensorflow as tf

from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.decoding.beam_search import Beam
from keras_transformer.decoding.config import AnswerTokens, GenerationConfig
from keras_transformer.decoding.samplers import Greedy, Sampling
from keras_transformer.errors import InputError
from keras_transformer.export import EXACT, TOKENIZER_OPS
from keras_transformer.export.graph_check import check_graph
from keras_transformer.export.graph_retrieval import GraphRetrieval
from keras_transformer.export.graph_search import GraphSearch
from keras_transformer.export.graph_text import GraphText
from keras_transformer.export.graph_weights import GraphWeights
from keras_transformer.export.retrieval_index import may_retrieve
from keras_transformer.language import translate as _
from keras_transformer.text.core_ops import CPU, core_tokenizer
from keras_transformer.text.in_graph import InGraphTokenizer

TOKENIZERS = dict(zip(TOKENIZER_OPS, (core_tokenizer, InGraphTokenizer), strict=True))
QUANTIZATIONS = ("float32", "int8")
OPTIONS = ("generation", "n_best", "tokenizer_ops", "xla")
QUESTIONS = tf.TensorSpec((None,), tf.string, "questions")
IS_RUN_FOLDER = False
EDITABLE = ()
FILE = None


def write(
    run, model, folder, quantization=EXACT, fallback=None, generation=None, n_best=4, tokenizer_ops="core", xla=True
):
    """Writes a SavedModel with three signatures.

    - "serving_default" maps "questions", strings (batch,), to "answers", strings (batch,), and their log-probabilities
      "scores", float32 (batch,).
    - "n_best" does the same with `n_best` answers per question, best first, (batch, n_best).
    - "ids" maps the token ids of questions, "inputs", int32 (batch, length), to those of answers, "outputs", int32
      (batch, max_length), and their "scores".

    "serving_default" uses the run's answering mode, unless `generation` or a fallback is given. If the run retrieves
    answers or has corrections, it has two more outputs: "retrieved", bool (batch,), True for retrieved answers, whose
    "scores" are 0, and "similarities", float32 (batch,), to the nearest known questions. The folder includes the
    datastore with the corrections made so far. The other signatures always generate.

    With a fallback, it replaces low-confidence "answers" of "serving_default". Two more outputs are "candidates",
    strings (batch,), the answers without the fallback, to which the scores belong, and "confidences", float32 (batch,).
    The other signatures do not apply the fallback.

    Args:
        run: The `Run`.
        model: Its model.
        folder: An empty folder.
        quantization: "float32", or "int8" for a folder of a quarter of the size. The matrices are float32 in memory.
        fallback: The `Fallback`, or None.
        generation: The `GenerationConfig` of one answer, or None. `Sampling` needs a seed.
        n_best: Number of answers of the "n_best" signature: samples, or the best hypotheses of a beam search.
        tokenizer_ops: "core" for core TensorFlow operations, or "tensorflow_text" for those of that package.
        xla: Whether to compile the search, at the first question of each length. Without XLA, the search is slower, but
            also runs in a TensorFlow built without the compiler.

    Raises:
        InputError: If an option is invalid, or TensorFlow has no operations for the tokenizer.
    """
    if tokenizer_ops not in TOKENIZERS:
        raise InputError(
            _(
                "tokenizer_ops must be one of {names}, not {tokenizer_ops!r}",
                names=", ".join(TOKENIZERS),
                tokenizer_ops=tokenizer_ops,
            )
        )
    if quantization not in QUANTIZATIONS:
        raise InputError(
            _(
                "a SavedModel does not support {quantization} weights: use {names}",
                quantization=quantization,
                names=" or ".join(QUANTIZATIONS),
            )
        )
    by_default = generation is None and fallback is None
    one = (generation or GenerationConfig()).of_one_answer().limited_to(run.config.max_length - 1)
    if isinstance(one.strategy, Sampling) and one.strategy.seed is None:
        raise InputError(_("an export that samples needs a seed, so that its answers can be compared with the run's"))
    several = dataclasses.replace(one, strategy=strategy_of_several(one.strategy, n_best), num_return=n_best)
    tokens = AnswerTokens.of(run.target_tokenizer)
    weights = GraphWeights(model, quantization)
    one, several = (GraphSearch(model, weights, config, tokens, xla) for config in (one, several))
    text = GraphText(run, TOKENIZERS[tokenizer_ops])
    bot = Chatbot.of_run(run, model) if by_default else None
    retrieval = GraphRetrieval(bot, text) if bot and may_retrieve(bot) else None
    module = ServingModule(text, one, several, fallback, retrieval)
    tf.saved_model.save(module, str(folder), signatures=module.signatures())


def load(folder, apply_fallback=True):
    """Loads a SavedModel as a function from questions to pairs of an answer and its score.

    Its graph may only calculate: one with other operations than exports have, such as `WriteFile`, is not loaded. The
    score of a retrieved answer is None. With `apply_fallback=False`, the answers are those without the fallback.
    """
    check_graph(folder)
    signature = tf.saved_model.load(str(folder)).signatures["serving_default"]

    def answers(questions):
        outputs = signature(questions=tf.constant(questions, tf.string))
        values = outputs["answers"] if apply_fallback else outputs.get("candidates", outputs["answers"])
        texts = (answer.decode("utf-8") for answer in values.numpy())
        retrieved = outputs["retrieved"].numpy() if "retrieved" in outputs else [False] * len(questions)
        scores = (None if was else score for was, score in zip(retrieved, outputs["scores"].numpy().tolist()))
        return list(zip(texts, scores))

    answers.signature = signature  # Keeps its variables alive.
    return answers


def strategy_of_several(strategy, count):
    """Returns a strategy that finds `count` answers: beam search if the strategy is greedy or has too few beams."""
    if isinstance(strategy, Greedy):
        return Beam(max(count, Beam().num_beams))
    if isinstance(strategy, Beam):
        return Beam(max(count, strategy.num_beams), strategy.length_penalty)
    return strategy


class ServingModule(tf.Module):
    """The module that is saved as a SavedModel.

    Args:
        text: The `GraphText`.
        one: The `GraphSearch` for one answer per question.
        several: The `GraphSearch` for several answers per question.
        fallback: The `Fallback`, or None.
        retrieval: The `GraphRetrieval`, or None to generate every answer.
    """

    def __init__(self, text, one, several, fallback=None, retrieval=None):
        super().__init__()
        self.text, self.one, self.several, self.fallback, self.retrieval = text, one, several, fallback, retrieval

    def signatures(self):
        """Returns the functions by signature name."""
        inputs = tf.TensorSpec((None, None), tf.int32, "inputs")
        return {
            "serving_default": tf.function(self.answer, [QUESTIONS], autograph=False),
            "n_best": tf.function(self.answer_several, [QUESTIONS], autograph=False),
            "ids": tf.function(self.answer_ids, [inputs], autograph=False),
        }

    @tf.function(input_signature=[QUESTIONS], autograph=False)
    def encode(self, questions):  # A function of its own, which is traced once for both signatures.
        return self.text.encode(questions)

    def answer(self, questions):
        inputs = self.encode(questions)
        if self.retrieval:
            return self.completed(inputs, **self.retrieval(questions, inputs))
        outputs = self.generated(inputs)
        return {**outputs, **self.apply_fallback(questions, inputs, **outputs)} if self.fallback else outputs

    def generated(self, inputs):
        ids, scores = self.one(inputs)
        return {"answers": self.text.decode(ids[:, 0]), "scores": scores[:, 0]}

    def completed(self, inputs, answers, retrieved, similarities):
        """Generates answers to the questions without a retrieved answer. Skips the search if there are none."""
        rest = tf.where(~retrieved & tf.reduce_any(inputs != 0, axis=1))
        scores = tf.zeros_like(similarities)

        def generate_rest():
            outputs = self.generated(tf.gather_nd(inputs, rest))
            with tf.device(CPU):
                return tuple(
                    tf.tensor_scatter_nd_update(values, rest, outputs[name])
                    for name, values in (("answers", answers), ("scores", scores))
                )

        answers, scores = tf.cond(tf.size(rest) > 0, generate_rest, lambda: (answers, scores))
        return {"answers": answers, "scores": scores, "retrieved": retrieved, "similarities": similarities}

    def apply_fallback(self, questions, inputs, answers, scores):
        """Applies the fallback to answers and computes the confidences."""
        pieces = tf.cast(tf.math.count_nonzero(inputs, axis=1) - 2, tf.float64)  # Without start and end.
        pieces /= tf.cast(tf.maximum(1, tf.strings.length(questions, "UTF8_CHAR")), tf.float64)
        refused = (scores < self.fallback.least_score) | (pieces > self.fallback.most_pieces)
        confidence = self.fallback.confidence
        no_likelier = tf.searchsorted(tf.constant(confidence.scores, tf.float32), scores, side="right")
        as_fine = len(confidence.pieces) - tf.searchsorted(tf.constant(confidence.pieces), pieces, side="left")
        share = (1 + tf.cast(tf.minimum(no_likelier, as_fine), tf.float32)) / (len(confidence.in_domain) + 1)
        return {
            "answers": tf.where(refused, self.fallback.text, answers),
            "candidates": answers,
            "confidences": tf.minimum(1.0, 2 * share),
        }

    def answer_several(self, questions):
        ids, scores = self.several(self.encode(questions))
        answers = self.text.decode(tf.reshape(ids, (-1, ids.shape[-1])))
        return {"answers": tf.reshape(answers, tf.shape(scores)), "scores": scores}

    def answer_ids(self, inputs):
        ids, scores = self.one(inputs)
        return {"outputs": ids[:, 0], "scores": scores[:, 0]}
