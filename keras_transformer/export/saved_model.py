"""A run as a SavedModel: strings in, strings out, all between them in the graph."""

import tensorflow as tf

from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.decoding.beam_search import Beam
from keras_transformer.decoding.config import GenerationConfig
from keras_transformer.decoding.samplers import Greedy, Sampling
from keras_transformer.errors import InputError
from keras_transformer.export import TOKENIZER_OPS
from keras_transformer.export.graph_retrieval import GraphRetrieval
from keras_transformer.export.graph_search import GraphSearch
from keras_transformer.export.graph_text import GraphText
from keras_transformer.export.graph_weights import GraphWeights
from keras_transformer.export.retrieval_index import may_retrieve
from keras_transformer.text.core_ops import CPU, CoreTokenizer
from keras_transformer.text.in_graph import InGraphTokenizer

TOKENIZERS = dict(zip(TOKENIZER_OPS, (CoreTokenizer, InGraphTokenizer), strict=True))
QUANTIZATIONS = ("float32", "int8")


def write(
    run, model, folder, strategy=None, n_best=4, max_length=None, tokenizer_ops="core", quantization="float32",
    xla=True, fallback=None, **rules,
):  # fmt: skip
    """Writes a SavedModel.

    Its signatures are "serving_default", from "questions", strings (batch,), to "answers", strings (batch,), and their
    log-probabilities "scores", float32 (batch,); "n_best", the same with `n_best` answers to each question, the best
    first, (batch, n_best); and "ids", from the ids of questions, "inputs", int32 (batch, length), to those of answers,
    "outputs", int32 (batch, max_length), and their "scores".

    "serving_default" answers in the run's own way, unless a strategy, `max_length`, rules or a fallback is given. If
    the run retrieves, or was taught something, it has two more outputs: "retrieved", bool (batch,), True where the
    answer is that of an exchange, with 0 in "scores"; and "similarities", float32 (batch,), to the nearest known
    questions. The datastore is part of the folder, with the corrections made so far. The other signatures generate.

    With a fallback, the "answers" of "serving_default" hold it in the place of those that are too unlikely. Its
    "candidates", strings (batch,), are what would have been answered, which the scores are of, and its "confidences",
    float32 (batch,), say how sure the run is of them. The other signatures judge nothing.

    Args:
        run: The `Run`.
        model: Its model.
        folder: An empty folder.
        strategy: How tokens are chosen, as in `generate`; samples need a seed.
        n_best: Answers of the signature of that name: samples, or the best of a beam search.
        max_length: Tokens of an answer at most, its end included; None for as many as in training.
        tokenizer_ops: "core" for operations that TensorFlow has itself, or "tensorflow_text" for those of that package.
        quantization: "float32", or "int8" for a folder of a quarter of the size, whose matrices are float32 in memory.
        xla: Whether the search is compiled, at the first question of each length; without, it is slower, and runs
            where TensorFlow was built without a compiler.
        fallback: The `Fallback`; None to give every answer.
        **rules: `min_length`, `repetition_penalty`, `no_repeat_ngram`, `forbidden_ids`, as in `generate`.

    Raises:
        InputError: If an option cannot be, or the tokenizer has no operations in TensorFlow.
    """
    if tokenizer_ops not in TOKENIZERS:
        raise InputError(f"no tokenizer_ops {tokenizer_ops!r}; there are {', '.join(TOKENIZERS)}")
    if quantization not in QUANTIZATIONS:
        raise InputError(f"a SavedModel has no weights in {quantization}, but in {' or '.join(QUANTIZATIONS)}")
    if isinstance(strategy, Sampling) and strategy.seed is None:
        raise InputError("an export that samples needs a seed, or its answers could not be compared with the run's")
    by_default = strategy is None and max_length is None and fallback is None and not rules
    tokens = run.target_tokenizer
    longest = run.config.max_length - 1 if max_length is None else max_length
    rules |= {"start_id": tokens.start_id, "end_id": tokens.end_id, "max_length": longest}
    one = GenerationConfig(**rules, strategy=strategy)
    several = GenerationConfig(**rules, strategy=strategy_of_several(one.strategy, n_best), num_return=n_best)
    weights = GraphWeights(model, quantization)
    one, several = (GraphSearch(model, weights, config, xla) for config in (one, several))
    text = GraphText(run, TOKENIZERS[tokenizer_ops])
    bot = Chatbot.of_run(run, model) if by_default else None
    retrieval = GraphRetrieval(bot, text) if bot and may_retrieve(bot) else None
    served = Served(text, one, several, fallback, retrieval)
    tf.saved_model.save(served, str(folder), signatures=served.signatures())


def load(folder, apply_fallback=True):
    """The function that a SavedModel is: from questions to pairs of an answer and its score, None if it was retrieved.

    With `apply_fallback` unset, the answers are those that it would give without its fallback.
    """
    served = tf.saved_model.load(str(folder)).signatures["serving_default"]

    def answers(questions):
        found = served(questions=tf.constant(questions, tf.string))
        texts = (answer.decode("utf-8") for answer in found["answers" if apply_fallback else "candidates"].numpy())
        retrieved = found["retrieved"].numpy() if "retrieved" in found else [False] * len(questions)
        scores = (None if was else score for was, score in zip(retrieved, found["scores"].numpy().tolist()))
        return list(zip(texts, scores))

    answers.served = served  # Whose variables live no longer than it.
    return answers


def strategy_of_several(strategy, count):
    """What finds several answers: a search with as many beams, where the strategy itself finds but one."""
    if isinstance(strategy, Greedy):
        return Beam(max(count, Beam().num_beams))
    if isinstance(strategy, Beam):
        return Beam(max(count, strategy.num_beams), strategy.length_penalty)
    return strategy


class Served(tf.Module):
    """The functions of the SavedModel.

    Args:
        text: The `GraphText`.
        one: The `GraphSearch` for an answer to each question.
        several: The one for several.
        fallback: The `Fallback`; None to give every answer.
        retrieval: The `GraphRetrieval`; None to generate every answer.
    """

    def __init__(self, text, one, several, fallback=None, retrieval=None):
        super().__init__()
        self.text, self.one, self.several, self.fallback, self.retrieval = text, one, several, fallback, retrieval

    def signatures(self):
        """The functions by the names that they are called by."""
        questions = tf.TensorSpec((None,), tf.string, "questions")
        inputs = tf.TensorSpec((None, None), tf.int32, "inputs")
        return {
            "serving_default": tf.function(self.answer, [questions], autograph=False),
            "n_best": tf.function(self.answer_several, [questions], autograph=False),
            "ids": tf.function(self.answer_ids, [inputs], autograph=False),
        }

    def answer(self, questions):
        inputs = self.text.encode(questions)
        if self.retrieval:
            return self.completed(inputs, **self.retrieval(questions, inputs))
        found = self.generated(inputs)
        return {**found, **self.judged(questions, inputs, **found)} if self.fallback else found

    def generated(self, inputs):
        ids, scores = self.one(inputs)
        return {"answers": self.text.decode(ids[:, 0]), "scores": scores[:, 0]}

    def completed(self, inputs, answers, retrieved, similarities):
        """What was retrieved, and generated answers to the rest; without a rest, nothing is searched for."""
        rest = tf.where(~retrieved & tf.reduce_any(inputs != 0, axis=1))
        scores = tf.zeros_like(similarities)

        def generate_rest():
            found = self.generated(tf.gather_nd(inputs, rest))
            with tf.device(CPU):
                return tuple(
                    tf.tensor_scatter_nd_update(all_of_it, rest, found[name])
                    for name, all_of_it in (("answers", answers), ("scores", scores))
                )

        answers, scores = tf.cond(tf.size(rest) > 0, generate_rest, lambda: (answers, scores))
        return {"answers": answers, "scores": scores, "retrieved": retrieved, "similarities": similarities}

    def judged(self, questions, inputs, answers, scores):
        """What the fallback makes of answers."""
        pieces = tf.cast(tf.math.count_nonzero(inputs, axis=1) - 2, tf.float64)  # Between start and end.
        pieces /= tf.cast(tf.maximum(1, tf.strings.length(questions, "UTF8_CHAR")), tf.float64)
        refused = (scores < self.fallback.least_score) | (pieces > self.fallback.most_pieces)
        confidence = self.fallback.confidence
        no_likelier = tf.searchsorted(tf.constant(confidence.scores, tf.float32), scores, side="right")
        as_fine = len(confidence.pieces) - tf.searchsorted(tf.constant(confidence.pieces), pieces, side="left")
        share = (1 + tf.cast(tf.minimum(no_likelier, as_fine), tf.float32)) / (len(confidence.own) + 1)
        return {
            "answers": tf.where(refused, self.fallback.text, answers),
            "candidates": answers,
            "confidences": tf.minimum(1.0, 2 * share),
        }

    def answer_several(self, questions):
        ids, scores = self.several(self.text.encode(questions))
        answers = self.text.decode(tf.reshape(ids, (-1, ids.shape[-1])))
        return {"answers": tf.reshape(answers, tf.shape(scores)), "scores": scores}

    def answer_ids(self, inputs):
        ids, scores = self.one(inputs)
        return {"outputs": ids[:, 0], "scores": scores[:, 0]}
