"""The run folder: all that a training has made, in files that know whether they belong together.

    config.json              what the run is: settings, corpus, the tokenizers' checksums; written first and once
    config.toml              the same for `train --config`, to do the training once more
    tokenizer.model          SentencePiece model; or tokenizer.subwords, a vocabulary of tensorflow-datasets
    target_tokenizer.…       that of the answers, where they have their own
    weights.safetensors      the best weights so far
    weights-epoch-0007.…     those of the last epochs, where `keep_epochs` asks for them
    checkpoint.safetensors   the state at which training goes on
    datastore.…              the exchanges that it was trained on (`chat.datastore`)
    answering.json           how it answers (`chat.answering`)
    corrections.jsonl        what it was taught and made to forget since
    confidence.json          what `calibrate` found, to know when not to answer
    metrics.csv              a row per epoch
    summary.json             how training ended; there only when it has
    logs/                    for TensorBoard
    lock                     held by a running training, so that no second one starts

Every file is written beside its place and moved there whole, so that a run killed at any moment stays readable.
"""

import csv
import json
import os
import pathlib
import uuid

from keras_transformer.backend.devices import prepare_devices
from keras_transformer.config import Config
from keras_transformer.config_file import config_file_text
from keras_transformer.errors import DiskFull, InputError
from keras_transformer.models.transformer import transformer
from keras_transformer.runs.atomic_io import sha256, write_atomically, write_json
from keras_transformer.runs.lock import LOCK
from keras_transformer.runs.quantization import dequantized
from keras_transformer.runs.tensor_file import load_tensors, save_tensors
from keras_transformer.text.tokenizer import ENDINGS, Tokenizer

FORMAT = 2  # Of the run folder; raised when an older reader could no longer make sense of it.
CONFIG, RECIPE, WEIGHTS = "config.json", "config.toml", "weights.safetensors"
TOKENIZER, TARGET_TOKENIZER = "tokenizer", "target_tokenizer"
TOKENIZER_FILES = {name + ending for name in (TOKENIZER, TARGET_TOKENIZER) for ending in ENDINGS}
EPOCH_WEIGHTS = "weights-epoch-{:04d}.safetensors"
CHECKPOINT, METRICS, SUMMARY, LOGS = "checkpoint.safetensors", "metrics.csv", "summary.json", "logs"
CONFIDENCE = "confidence.json"


class Run:
    """An existing run folder, its settings and tokenizer read and checked.

    Args:
        path: The folder.

    Attributes:
        path: The folder, a `pathlib.Path`.
        id: Made anew for every run; its weights and checkpoints carry it.
        config: The run's `Config`.
        corpus: What is known of the corpus: "name", "fingerprint", "pairs", the number of pairs of each part, and its
            "source", the keys of `config.toml` that say where it is.
        origin: The run whose weights this one started from, a dictionary "id" and "path"; None if they were random.
        tokenizer: The `Tokenizer` of the questions.
        target_tokenizer: That of the answers, the same object unless they have their own.

    Raises:
        InputError: If the folder is no run, or one of its files is missing, damaged or of another version.
    """

    def __init__(self, path):
        self.path = pathlib.Path(path)
        about = self._read_config()
        self.id, self.corpus, self.origin = about["id"], about["corpus"], about.get("from")
        try:
            self.config = Config.from_dict(about["config"])
        except InputError as error:
            raise InputError(f"{self.path / CONFIG}: {error}") from error
        self.tokenizer = self._load_tokenizer(TOKENIZER, about)
        own = TARGET_TOKENIZER in about
        self.target_tokenizer = self._load_tokenizer(TARGET_TOKENIZER, about) if own else self.tokenizer

    @property
    def tokenizers(self):
        """Its tokenizers by the names of their files, without the ending."""
        own = self.target_tokenizer is not self.tokenizer
        return {TOKENIZER: self.tokenizer, **({TARGET_TOKENIZER: self.target_tokenizer} if own else {})}

    @classmethod
    def create(cls, path, config, tokenizer, corpus, parent=None, target_tokenizer=None):
        """Makes a new run folder.

        Args:
            path: The folder.
            config: The `Config`.
            tokenizer: The `Tokenizer` of the questions.
            corpus: What is to be known of the corpus.
            parent: The `Run` that this one starts from, if it does.
            target_tokenizer: The `Tokenizer` of the answers; None for the same.

        Raises:
            InputError: If the place is taken, or cannot be written.
        """
        path = pathlib.Path(path)
        if cls.exists(path):
            raise InputError(f"{path}: holds a run already")
        cls.make_folder(path)
        about = {
            "format": FORMAT,
            "id": uuid.uuid4().hex,
            "config": config.to_dict(),
            "corpus": corpus,
        }
        files = {TOKENIZER: tokenizer}
        if target_tokenizer not in (None, tokenizer):
            files[TARGET_TOKENIZER] = target_tokenizer
        about |= {name: sha256(file.model) for name, file in files.items()}
        if parent:
            about["from"] = {"id": parent.id, "path": str(parent.path.resolve())}
        try:
            for name in TOKENIZER_FILES:
                (path / name).unlink(missing_ok=True)  # Of a first try that was killed.
            for name, file in files.items():
                write_atomically(path / f"{name}{file.ending}", file.model)
            write_about(path, about)
        except DiskFull:
            raise
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from error
        return cls(path)

    @classmethod
    def make_folder(cls, path):
        """Makes the folder that a run will be created in, unless it is there.

        Raises:
            InputError: If it cannot be made, or holds what is not of a run.
        """
        path = pathlib.Path(path)
        if cls.exists(path):
            return
        try:
            path.mkdir(parents=True, exist_ok=True)
            names = {name for name in os.listdir(path) if not name.endswith(".part")}
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from error
        if names - {RECIPE, LOCK} - TOKENIZER_FILES:
            raise InputError(f"{path}: holds other files; name a new or empty folder for the run")

    @staticmethod
    def exists(path):
        """Whether a run was created at that path."""
        return (pathlib.Path(path) / CONFIG).is_file()

    def change_config(self, config):
        """Notes other settings, such as more epochs."""
        if config == self.config:
            return
        self.config = config
        write_about(self.path, {**self._read_config(), "config": config.to_dict()})

    def build_model(self):
        """A model of the run's sizes with new weights."""
        prepare_devices()
        own = self.target_tokenizer is not self.tokenizer
        return build_model(self.config, self.tokenizer.vocab_size, self.target_tokenizer.vocab_size if own else None)

    def load_model(self):
        """The model with the best weights so far; raises `InputError` if there are none, or not this run's."""
        model = self.build_model()
        self.load_weights(model)
        return model

    def load_weights(self, model):
        """Puts the best weights so far into a model of the run's sizes; raises `InputError` like `load_model`."""
        tensors = self.best_weights()
        for variable in model.weights:
            value, shape = tensors.get(variable.path), tuple(variable.shape)
            if value is None or value.shape != shape:
                raise InputError(f"{self.path / WEIGHTS}: no weights of shape {shape} for {variable.path}")
            variable.assign(value)

    def best_weights(self):
        """The best weights so far, arrays by the paths of their variables; raises `InputError` like `load_model`."""
        path = self._part(WEIGHTS, "no epoch has ended yet; run its training (again)")
        return dequantized(load_tensors(path, self.id)[0])

    def save_weights(self, weights, about, name=WEIGHTS):
        """Writes weights by the paths of the model's variables, with a dictionary of facts about them."""
        save_tensors(self.path / name, weights, self.id, about)

    def save_epoch(self, weights, about):
        """Writes the weights of `about["epoch"]` besides the best, and removes those too old for `keep_epochs`."""
        epoch = about["epoch"]
        self.save_weights(weights, about, EPOCH_WEIGHTS.format(epoch))
        for old, path in self.kept_epochs().items():
            if old <= epoch - self.config.keep_epochs:
                path.unlink()

    def kept_epochs(self):
        """The files of the epochs whose weights are kept, by the epoch's number, in their order."""
        numbers = {path.stem.rpartition("-")[2]: path for path in self.path.glob("weights-epoch-*.safetensors")}
        return dict(sorted((int(number), path) for number, path in numbers.items() if number.isdecimal()))

    def metrics(self):
        """The rows of metrics.csv, dictionaries of numbers, one for each epoch that has ended.

        Raises:
            InputError: If the file is damaged.
        """
        path = self.path / METRICS
        if not path.is_file():
            return []
        try:
            with open(path, encoding="utf-8", newline="") as file:
                rows = [{name: float(value) for name, value in row.items() if value} for row in csv.DictReader(file)]
        except (ValueError, TypeError, csv.Error) as error:
            raise InputError(f"{path}: damaged: {error}") from error
        if any({"epoch", self.config.monitor} - row.keys() for row in rows):
            raise InputError(f"{path}: damaged: every row must have epoch and {self.config.monitor}")
        return rows

    def summary(self):
        """How training ended, as a dictionary; None while it has not."""
        path = self.path / SUMMARY
        return json.loads(path.read_text("utf-8")) if path.is_file() else None

    def _read_config(self):
        if not self.path.is_dir():
            raise InputError(f"{self.path}: there is no such run folder")
        path = self._part(CONFIG, "this is no run folder")
        try:
            about = json.loads(path.read_text("utf-8"))
            version = about["format"]
            missing = {"id", "config", "corpus", "tokenizer"} - set(about)
            if not (isinstance(about.get("config", {}), dict) and isinstance(about.get("corpus", {}), dict)):
                raise ValueError("its parts are no objects")
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(f"{path}: damaged: {error}") from error
        if version != FORMAT:
            raise InputError(f"{path}: a run of format {version}; this version reads format {FORMAT}")
        if missing:
            raise InputError(f"{path}: damaged: no {', '.join(sorted(missing))}")
        return about

    def _load_tokenizer(self, name, about):
        paths = [self.path / f"{name}{ending}" for ending in ENDINGS]
        path = next(filter(pathlib.Path.is_file, paths), None) or self._part(paths[0].name)
        tokenizer = Tokenizer.load(path)
        if sha256(tokenizer.model) != about[name]:
            raise InputError(f"{path}: damaged, or the tokenizer of another run")
        return tokenizer

    def _part(self, name, otherwise="the run is incomplete"):
        path = self.path / name
        if not path.is_file():
            raise InputError(f"{path}: missing; {otherwise}")
        return path


def build_model(config, vocab_size, target_vocab_size=None):
    """A model of a `Config`'s sizes with new weights, for as many token ids; the answers' own, if they have them."""
    sizes = (config.num_layers, config.dff, config.d_model, config.num_heads, config.dropout)
    return transformer(
        vocab_size,
        *sizes,
        target_vocab_size=target_vocab_size,
        tie_embeddings=config.tie_embeddings,
        norm_first=config.norm_first,
    )


def write_about(path, about):
    """Writes what a run is, last into the file by which a folder is known as a run."""
    rest = {**about["corpus"].get("source", {}), "from": about.get("from", {}).get("path")}
    write_atomically(path / RECIPE, config_file_text(about["config"], rest).encode("utf-8"))
    write_json(path / CONFIG, about)
