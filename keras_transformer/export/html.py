"""Export as one HTML file: a chatbot that a browser opens from disk, without a server and without a network.

The file holds the page (`html_files`), and the data as base64 of a compressed safetensors file:

    tokenizer.model, target_tokenizer.model    the SentencePiece models
    embedding/table, encoder/layer_0/…         the weights, by the paths of the model's variables
    exchanges                                  the datastore with its corrections, JSON: a list per column
    idf/columns, idf/values                    inverse document frequencies of the n-grams, then that of any other
    ngrams/columns, ngrams/table               the vectors of the n-grams, whose sums are the embeddings of questions

The settings are its metadata. The page computes everything else when it is opened.

The page is plain JavaScript, because the models are small: ONNX Runtime Web would add a WebAssembly file of 12 MB,
several times the size of the model, and would need a policy that allows WebAssembly and scripts from blobs.
"""

import base64
import dataclasses
import json
import pathlib
import re
import string
import zlib

import numpy as np
import safetensors.numpy
from keras import ops
from sentencepiece import sentencepiece_model_pb2

from keras_transformer.chat.answering import TAUGHT_SIMILARITY, UNSURE, Answering
from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.chat.conversation import CLEAR_SIMILARITY, LEAST_LEAD
from keras_transformer.chat.courtesies import COURTESIES
from keras_transformer.chat.datastore import Exchange, Match, questions_and_answers
from keras_transformer.chat.question_embeddings import QuestionEmbeddings
from keras_transformer.chat.question_index import FEATURES, NgramVectorizer, QuestionIndex
from keras_transformer.config import Config
from keras_transformer.errors import InputError
from keras_transformer.export import EXACT
from keras_transformer.export.manifest import questions_of
from keras_transformer.export.run_folder import answers_of
from keras_transformer.export.sidecar import check_tokenizers
from keras_transformer.language import translate as _
from keras_transformer.page import STYLE, policy
from keras_transformer.runs.quantization import dequantized, quantized
from keras_transformer.runs.run import TARGET_TOKENIZER, TOKENIZER, build_model
from keras_transformer.text.core_ops import check
from keras_transformer.text.normalize import normalize
from keras_transformer.text.sentence_pieces import SentencePieces
from keras_transformer.text.tokenizer import Tokenizer

QUANTIZATIONS = ("float32", "int8")
OPTIONS = ("title",)
IS_RUN_FOLDER = False
EDITABLE = ()
FILE = "chatbot.html"
FOLDER = pathlib.Path(__file__).with_name("html_files")
SCRIPTS = (
    "tensors", "normalization", "tokenizer", "transformer", "decoding", "retrieval", "chatbot", "words", "attention",
    "page",
)  # fmt: skip
"""The scripts of the page, in their order."""

DATA = re.compile(r'<script type="text/plain" id="data">(.*?)</script>', re.DOTALL)


def write(run, model, folder, quantization=EXACT, fallback=None, title=None):
    """Writes the HTML file.

    The page answers as the run does; with a fallback, it always generates. Without a fallback, the file includes the
    datastore of the run, if it has one, with the corrections made so far.

    Args:
        run: The `Run`.
        model: Its model.
        folder: An empty folder, a `pathlib.Path`.
        quantization: "float32" for the weights as trained, or "int8" for rounded weights and n-gram vectors: the file
            is smaller, and some answers may differ.
        fallback: The `Fallback`, which replaces low-confidence answers, or None.
        title: The title of the page; None for "Chatbot" in the language of its reader. It is kept in `export.json`.

    Raises:
        InputError: If the title is blank, or the quantization or a tokenizer is not supported.
    """
    if quantization not in QUANTIZATIONS:
        raise InputError(
            _(
                "quantization must be one of {names}, not {quantization!r}",
                names=", ".join(QUANTIZATIONS),
                quantization=quantization,
            )
        )
    if title is not None and not title.strip():
        raise InputError(_("the title is blank. Write one, or leave it out."))
    check_tokenizers(run, "HTML")
    for tokenizer in run.tokenizers.values():
        check(sentencepiece_model_pb2.ModelProto.FromString(tokenizer.model))
    bot = Chatbot.of_run(run, model)
    if fallback:
        bot.datastore, bot.answering = None, Answering()
    data = packed(settings_of(run, bot, fallback), tensors_of(run, bot, quantization))
    (folder / FILE).write_bytes(page(data).encode())  # Line endings as they are, for the hashes in the policy.


def settings_of(run, bot, fallback):
    """Returns the settings of the page, a dictionary for JSON."""
    questions = questions_of(run.tokenizer)
    answers = bot.replies(questions, fallback=fallback)
    return {
        "config": run.config.to_dict(),
        "answering": {
            "way": bot.answering.way,
            "similarity": bot.answering.similarity,
            "taught_similarity": TAUGHT_SIMILARITY,
            "unsure": UNSURE,
            "clear_similarity": CLEAR_SIMILARITY,
            "least_lead": LEAST_LEAD,
        },
        "memorized": bot.memorized,
        "courtesies": [dataclasses.asdict(courtesy) for courtesy in COURTESIES] if bot.memorized else [],
        "fallback": fallback.to_dict() if fallback else None,
        "check": {"questions": questions, "answers": answers},
    }


def tensors_of(run, bot, quantization):
    """Returns the tensors of the file, arrays by name."""
    arrays = {weight.path: ops.convert_to_numpy(weight.value) for weight in bot.model.weights}
    if bot.datastore:
        exchanges, _, index = bot.datastore.visible()
        if index.embeddings:
            arrays |= {"ngrams/columns": index.embeddings.columns, "ngrams/table": index.embeddings.vectors}
    tensors = quantized(arrays) if quantization == "int8" else arrays
    if bot.datastore:
        tensors |= idf_tensors(index.vectorizer.idf)
        tensors["exchanges"] = as_bytes(json.dumps(columns_of(exchanges), ensure_ascii=False).encode())
    for name, tokenizer in run.tokenizers.items():
        tensors[f"{name}{tokenizer.ending}"] = as_bytes(tokenizer.model)
    return tensors


def idf_tensors(idf):
    """Returns the inverse document frequencies as tensors. The highest is that of all n-grams that do not occur."""
    unseen = idf.max()
    columns = np.flatnonzero(idf < unseen)
    return {"idf/columns": columns.astype("int32"), "idf/values": np.asarray([*idf[columns], unseen], "float32")}


def columns_of(exchanges):
    """Returns exchanges as columns, each a list."""
    files = list(dict.fromkeys(one.file for one in exchanges))
    columns = {name: [getattr(one, name) for one in exchanges] for name in ("question", "answer", "row", "taught")}
    return {**columns, "file": [files.index(one.file) for one in exchanges], "files": files}


def as_bytes(data):
    """Returns bytes as an array."""
    return np.frombuffer(data, "uint8")


def packed(settings, tensors):
    """Returns settings and tensors as base64."""
    metadata = {"settings": json.dumps(settings, ensure_ascii=False)}
    tensors = {name: np.ascontiguousarray(value) for name, value in tensors.items()}
    return base64.b64encode(zlib.compress(safetensors.numpy.save(tensors, metadata), 9)).decode()


def unpacked(data):
    """Returns the settings and the tensors that `packed` stored."""
    data = zlib.decompress(base64.b64decode(data))
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return json.loads(header["__metadata__"]["settings"]), safetensors.numpy.load(data)


def page(data):
    """Returns the text of the HTML file with its data, base64."""
    style = STYLE.read_text("utf-8") + read("page.css")
    script = "\n".join(read(f"{name}.js") for name in SCRIPTS)
    parts = {"policy": policy(style, script), "style": style, "script": script, "data": data}
    return string.Template(read("page.html")).substitute(parts)


def read(name):
    """Reads a file of the page."""
    return (FOLDER / name).read_text("utf-8")


def load(folder, apply_fallback=True):
    """Loads the data of the file as a function from questions to pairs of an answer and its score.

    Python computes the answers from the file's data, not a browser. The page itself compares its answers with the run's
    when its reader asks it to. With `apply_fallback=False`, the answers are those without the fallback.
    """
    settings, tensors = unpacked(DATA.search((folder / FILE).read_text("utf-8"))[1])
    bot = chatbot_of(settings, dequantized(tensors))
    fallback = settings["fallback"] if apply_fallback else None
    return lambda questions: with_fallback(answers_of(bot, questions), bot.pieces(questions), fallback)


def with_fallback(answers, pieces, fallback):
    """Returns pairs of answer and score, with the fallback (its settings or None) in place of refused answers."""
    if not fallback:
        return answers
    return [
        (fallback["text"] if score < fallback["least_score"] or count > fallback["most_pieces"] else answer, score)
        for (answer, score), count in zip(answers, pieces, strict=True)
    ]


def chatbot_of(settings, tensors):
    """Returns the `Chatbot` of a file."""
    config = Config.from_dict(settings["config"])
    own, *others = (
        Tokenizer(SentencePieces(tensors[f"{name}{SentencePieces.ending}"].tobytes()))
        for name in (TOKENIZER, TARGET_TOKENIZER)
        if f"{name}{SentencePieces.ending}" in tensors
    )
    model = build_model(config, own.vocab_size, *(other.vocab_size for other in others))
    for weight in model.weights:
        weight.assign(tensors[weight.path])
    bot = Chatbot(model, own, config.max_length, *others, turns=config.turns)
    if "exchanges" in tensors:
        bot.datastore = Snapshot(tensors)
        bot.answering = Answering(settings["answering"]["way"], settings["answering"]["similarity"])
        bot.memorized = settings["memorized"]
    return bot


class Snapshot:
    """The exchanges of a file, retrieved as from the `Datastore` that they were written from.

    Args:
        tensors: The tensors of the file.
    """

    def __init__(self, tensors):
        columns = json.loads(tensors["exchanges"].tobytes())
        files = [columns["files"][number] for number in columns["file"]]
        rows = zip(columns["question"], columns["answer"], files, columns["row"])
        self.exchanges = [Exchange(*row) for row in rows]
        *values, unseen = tensors["idf/values"]
        idf = np.full(FEATURES, unseen, "float32")
        idf[tensors["idf/columns"]] = values
        vectors = [tensors[name] for name in ("ngrams/columns", "ngrams/table") if name in tensors]
        embeddings = QuestionEmbeddings(*vectors) if vectors else None  # Runs of the first versions have none.
        vectorizer = NgramVectorizer(idf)
        self.index = QuestionIndex(*questions_and_answers(self.exchanges), embeddings, vectorizer)
        self.numbers = {}
        for number, one in enumerate(self.exchanges):
            self.numbers.setdefault(normalize(one.question), []).append(number)

    def nearest(self, questions, count=1):
        """Finds the exchanges with the nearest questions, like `Datastore.nearest`."""
        matches = []
        for question, (numbers, similarities) in zip(questions, self.index.nearest(questions), strict=True):
            exact = dict.fromkeys(self.numbers.get(normalize(question), ()), 1.0)
            found = exact | dict(zip(numbers.tolist(), similarities.tolist())) | exact
            matches.append([Match(self.exchanges[number], similarity) for number, similarity in found.items()][:count])
        return matches
