"""The run folder, which contains all files of a training.

    config.json              settings, corpus, and checksums of the tokenizers; written when the run is created
    config.toml              the same settings for `train --config`, to repeat the training
    tokenizer.model          SentencePiece model; or tokenizer.subwords, a vocabulary of tensorflow-datasets
    target_tokenizer.…       tokenizer of the answers, if it is a separate one
    weights.safetensors      best weights so far
    weights-epoch-0007.…     weights of the last epochs, with the setting `keep_epochs`
    checkpoint.safetensors   state for resuming the training
    datastore.…              exchanges of the training split (`chat.datastore`)
    answering.json           answering mode (`chat.answering`)
    corrections.jsonl        answers taught and questions forgotten after training
    confidence.json          confidence threshold from `calibrate`
    metrics.csv              metrics, a row per epoch
    summary.json             summary of a finished training
    logs/                    TensorBoard logs
    checksums.json           SHA-256 of the files above, except `confidence.json` and `logs/` (`runs.checksums`)
    lock                     locked while a training is running

All files are written atomically, so a run folder stays readable if the process is killed at any moment. Weights and
checkpoints contain the id of their run. A file is compared with its checksum before it is used.
"""

from __future__ import annotations

import json
import os
import pathlib
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from keras_transformer.backend.tensorflow_import import silent_tensorflow
from keras_transformer.config import Config
from keras_transformer.config_file import config_file_text
from keras_transformer.errors import DiskFull, InputError, no_such_run
from keras_transformer.language import translatable
from keras_transformer.language import translate as _
from keras_transformer.runs.atomic_io import json_bytes, sha256, write_atomically
from keras_transformer.runs.checksums import (
    CHECKSUMS,
    begin_checksums,
    check,
    check_all,
    read_sealed,
    remove_recorded,
    sha256_of_file,
    write_recorded,
)
from keras_transformer.runs.history import METRICS, read_rows
from keras_transformer.runs.lock import LOCK
from keras_transformer.runs.quantization import dequantized
from keras_transformer.runs.tensor_file import load_tensors, save_tensors
from keras_transformer.text.tokenizer import ENDINGS, Tokenizer

if TYPE_CHECKING:
    import keras

FORMAT = 2  # Format version of the run folder; increased when older versions can no longer read it.
CONFIG, RECIPE, WEIGHTS = "config.json", "config.toml", "weights.safetensors"
TOKENIZER, TARGET_TOKENIZER = "tokenizer", "target_tokenizer"
TOKENIZER_FILES = {name + ending for name in (TOKENIZER, TARGET_TOKENIZER) for ending in ENDINGS}
EPOCH_WEIGHTS = "weights-epoch-{:04d}.safetensors"
CHECKPOINT, SUMMARY, LOGS = "checkpoint.safetensors", "summary.json", "logs"
CONFIDENCE, CONFIDENCE_KEYS = "confidence.json", ("format", "own", "foreign", "settings", "weights")
RECORDED = {
    CONFIG, RECIPE, WEIGHTS, CHECKPOINT, METRICS, SUMMARY,
    "answering.json", "corrections.jsonl", "datastore.jsonl", "datastore.safetensors",
}  # fmt: skip
"""Files whose checksums are recorded, beside the tokenizers and the kept epochs."""
INCOMPLETE = translatable("the run is incomplete")
NO_WEIGHTS = translatable("no epoch has ended yet; train the run first")


class Run:
    """An existing run folder. Its settings and tokenizers are loaded and validated.

    Args:
        path: The folder.

    Attributes:
        path: The folder, a `pathlib.Path`.
        id: Unique id of the run, which its weights and checkpoints contain.
        config: The run's `Config`.
        corpus: Dictionary about the corpus: "name", "fingerprint", "pairs", the number of pairs of each split, and
            "source", the keys of `config.toml` with its location.
        origin: The run that this one was fine-tuned from, a dictionary with "id" and "path"; None for a new model.
        tokenizer: The `Tokenizer` of the questions.
        target_tokenizer: The `Tokenizer` of the answers; the same object unless it is a separate one.

    Raises:
        InputError: If the folder is not a run, or one of its files is missing, damaged or of another version.
    """

    id: str
    corpus: dict[str, Any]
    origin: dict[str, str] | None
    tokenizer: Tokenizer
    target_tokenizer: Tokenizer

    def __init__(self, path: str | os.PathLike):
        self.path = pathlib.Path(path)
        about = self._read_config()
        check(self.path / CONFIG, about["id"])
        self.id, self.corpus, self.origin = about["id"], about["corpus"], about.get("from")
        try:
            self.config = Config.from_dict(about["config"])
        except InputError as error:
            raise InputError(f"{self.path / CONFIG}: {error}") from error
        self.tokenizer = self._load_tokenizer(TOKENIZER, about)
        own = TARGET_TOKENIZER in about
        self.target_tokenizer = self._load_tokenizer(TARGET_TOKENIZER, about) if own else self.tokenizer

    @property
    def tokenizers(self) -> dict[str, Tokenizer]:
        """Dictionary of the tokenizers by their file names without suffix."""
        own = self.target_tokenizer is not self.tokenizer
        return {TOKENIZER: self.tokenizer, **({TARGET_TOKENIZER: self.target_tokenizer} if own else {})}

    @classmethod
    def create(
        cls, path: str | os.PathLike, config: Config, tokenizer: Tokenizer, corpus: dict[str, Any],
        parent: Run | None = None, target_tokenizer: Tokenizer | None = None,
    ) -> Run:  # fmt: skip
        """Creates a new run folder.

        Args:
            path: The folder.
            config: The `Config`.
            tokenizer: The `Tokenizer` of the questions.
            corpus: Dictionary about the corpus, as in the attribute `corpus`.
            parent: The `Run` to fine-tune; None for a new model.
            target_tokenizer: The `Tokenizer` of the answers; None to use that of the questions.

        Raises:
            InputError: If the folder already contains a run or is not writable.
        """
        path = pathlib.Path(path)
        if cls.exists(path):
            raise InputError(_("{path}: already contains a run", path=path))
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
                (path / name).unlink(missing_ok=True)  # Left by a killed process.
            (path / CHECKSUMS).unlink(missing_ok=True)
            contents = {f"{name}{file.ending}": file.model for name, file in files.items()} | about_files(about)
            for name, data in contents.items():
                if name == CONFIG:  # It marks the folder as a run, so all other files are there before.
                    begin_checksums(path, about["id"], {name: sha256(data) for name, data in contents.items()})
                write_atomically(path / name, data)
        except DiskFull:
            raise
        except OSError as error:
            raise InputError(_("{path}: cannot be written: {reason}", path=path, reason=error.strerror)) from error
        return cls(path)

    @classmethod
    def make_folder(cls, path: str | os.PathLike) -> None:
        """Creates the folder for a new run if it does not exist.

        Raises:
            InputError: If the folder cannot be created or contains other files.
        """
        path = pathlib.Path(path)
        if cls.exists(path):
            return
        try:
            path.mkdir(parents=True, exist_ok=True)
            names = {name for name in os.listdir(path) if not name.endswith(".part")}
        except (OSError, ValueError) as error:  # ValueError: a path with a NUL character.
            reason = getattr(error, "strerror", None) or error
            raise InputError(_("{path}: cannot be written: {reason}", path=path, reason=reason)) from error
        if names - {RECIPE, LOCK, CHECKSUMS} - TOKENIZER_FILES:
            raise InputError(_("{path}: contains other files; name a new or empty folder for the run", path=path))

    @staticmethod
    def exists(path: str | os.PathLike) -> bool:
        """Returns whether there is a run at a path."""
        return (pathlib.Path(path) / CONFIG).is_file()

    def change_config(self, config: Config) -> None:
        """Saves changed settings, such as more epochs."""
        if config == self.config:
            return
        self.config = config
        for name, data in about_files({**self._read_config(), "config": config.to_dict()}).items():
            write_recorded(self.path / name, data)

    def check_files(self) -> None:
        """Compares all files with their checksums; raises `InputError` if one is damaged, missing or of another run."""
        check_all(self.path, self.id, self._existing_files())
        if (self.path / CONFIDENCE).is_file():
            read_sealed(self.path / CONFIDENCE, CONFIDENCE_KEYS)

    def record_files(self) -> None:
        """Records the checksums of all files, if an earlier version wrote the run."""
        if not (self.path / CHECKSUMS).exists():
            checksums = {name: sha256_of_file(self.path / name) for name in self._existing_files()}
            begin_checksums(self.path, self.id, checksums)

    def _existing_files(self):
        """Returns the names of the existing files whose checksums are recorded."""
        names = {*RECORDED, *TOKENIZER_FILES, *(path.name for path in self.kept_epochs().values())}
        return [name for name in sorted(names) if (self.path / name).is_file()]

    def build_model(self) -> keras.Model:
        """Builds a model of the run's sizes with initial weights."""
        with silent_tensorflow():  # Imports Keras, which reading a run does not need.
            from keras_transformer.backend.devices import prepare_devices

        prepare_devices()
        own = self.target_tokenizer is not self.tokenizer
        return build_model(self.config, self.tokenizer.vocab_size, self.target_tokenizer.vocab_size if own else None)

    def load_model(self) -> keras.Model:
        """Loads the model with the best weights; raises `InputError` if they are missing or of another run."""
        tensors = self.best_weights()
        self._check_sizes(tensors)
        model = self.build_model()
        self.assign(model, tensors)
        return model

    def _check_sizes(self, tensors):
        """Raises `InputError` if weights are not of the run's sizes, before memory is taken for a model of them."""
        shape = self.config.d_model, self.config.dff
        for layer in range(self.config.num_layers):
            self._weight(tensors, f"encoder/layer_{layer}/feed_forward/inner/kernel", shape)

    def load_weights(self, model: keras.Model) -> None:
        """Loads the best weights into a model of the run's sizes; raises `InputError` like `load_model`."""
        self.assign(model, self.best_weights())

    def assign(self, model: keras.Model, tensors: Mapping[str, np.ndarray]) -> None:
        """Sets the weights of a model to arrays by variable paths; raises `InputError` if one does not fit."""
        for variable in model.weights:
            variable.assign(self._weight(tensors, variable.path, tuple(variable.shape)))

    def _weight(self, tensors, name, shape):
        """Returns a tensor; raises `InputError` if it is missing or has another shape."""
        value = tensors.get(name)
        if value is None or value.shape != shape:
            raise InputError(
                _(
                    "{path}: no weights of shape {shape} for {weight}",
                    path=self.path / WEIGHTS,
                    shape=shape,
                    weight=name,
                )
            )
        return value

    def check_weights(self) -> None:
        """Raises `InputError` if there are no best weights; does not read them."""
        self._existing_file(WEIGHTS, NO_WEIGHTS)

    def best_weights(self) -> dict[str, np.ndarray]:
        """Returns the best weights as arrays by variable paths; raises `InputError` like `load_model`."""
        path = self._existing_file(WEIGHTS, NO_WEIGHTS)
        check(path, self.id)
        return dequantized(load_tensors(path, self.id)[0])

    def save_weights(self, weights: Mapping[str, np.ndarray], about: dict[str, Any], name: str = WEIGHTS) -> None:
        """Writes weights by the paths of the model's variables, with a dictionary of metadata."""
        save_tensors(self.path / name, weights, self.id, about)

    def save_epoch(self, weights: Mapping[str, np.ndarray], about: dict[str, Any]) -> None:
        """Writes the weights of epoch `about["epoch"]`, and removes epochs that are too old for `keep_epochs`."""
        epoch = about["epoch"]
        self.save_weights(weights, about, EPOCH_WEIGHTS.format(epoch))
        for old, path in self.kept_epochs().items():
            if old <= epoch - self.config.keep_epochs:
                remove_recorded(path)

    def kept_epochs(self) -> dict[int, pathlib.Path]:
        """Returns the weight files of the kept epochs by epoch number, in order."""
        numbers = {path.stem.rpartition("-")[2]: path for path in self.path.glob("weights-epoch-*.safetensors")}
        return dict(sorted((int(number), path) for number, path in numbers.items() if number.isdecimal()))

    def metrics(self) -> list[dict[str, float]]:
        """Returns the rows of metrics.csv, a dictionary of numbers for each finished epoch.

        Raises:
            InputError: If the file is damaged.
        """
        check(self.path / METRICS, self.id)
        return read_rows(self.path, self.config.monitor)

    def summary(self) -> dict[str, Any] | None:
        """Returns the summary of a finished training as a dictionary; None if it has not finished."""
        path = self.path / SUMMARY
        check(path, self.id)
        if not path.is_file():
            return None
        try:
            summary = json.loads(path.read_text("utf-8"))
            if missing := {"finished", "epochs", "best_epoch", "seconds"} - {*summary}:
                raise ValueError(f"no {', '.join(sorted(missing))}")
            if not all(value is None or isinstance(value, (int, float)) for value in summary.values()):
                raise ValueError("its values must be numbers")
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(_("{path}: damaged: {error}", path=path, error=error)) from error
        return summary

    def _read_config(self):
        if self.path.is_file():
            raise InputError(_("{path}: a file, not the folder of a run", path=self.path))
        if not self.path.is_dir():
            raise no_such_run(self.path)
        path = self._existing_file(CONFIG, translatable("this is not a run folder"))
        try:
            about = json.loads(path.read_text("utf-8"))
            version = about["format"]
            missing = {"id", "config", "corpus", "tokenizer"} - set(about)
            check_types(about)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise InputError(_("{path}: damaged: {error}", path=path, error=error)) from error
        if version != FORMAT:
            raise InputError(
                _(
                    "{path}: a run of format {version}; this version reads format {format}",
                    path=path,
                    version=version,
                    format=FORMAT,
                )
            )
        if missing:
            raise InputError(_("{path}: damaged: no {names}", path=path, names=", ".join(sorted(missing))))
        return about

    def _load_tokenizer(self, name, about):
        paths = [self.path / f"{name}{ending}" for ending in ENDINGS]
        path = next(filter(pathlib.Path.is_file, paths), None) or self._existing_file(paths[0].name)
        data = path.read_bytes()
        if sha256(data) != about[name]:  # Checked first: no parser sees what is damaged.
            raise InputError(_("{path}: damaged, or the tokenizer of another run", path=path))
        with silent_tensorflow():  # tensorflow-datasets, which reads .subwords, imports it.
            return Tokenizer.of_file(path, data)

    def _existing_file(self, name, advice=INCOMPLETE):
        path = self.path / name
        if not path.is_file():
            raise InputError(_("{path}: missing; {advice}", path=path, advice=_(advice)))
        return path


def check_types(about):
    """Raises `ValueError` if a value in config.json is of another type than this module writes."""
    for name, kind in {"id": str, "config": dict, "corpus": dict, TOKENIZER: str, TARGET_TOKENIZER: str}.items():
        if not isinstance(about.get(name, kind()), kind):
            raise ValueError(f"{name} must be {'an object' if kind is dict else 'text'}")
    origin = about.get("from")
    if origin is not None and not all(isinstance(origin[key], str) for key in ("id", "path")):
        raise ValueError("from must hold the texts id and path")


def build_model(config, vocab_size, target_vocab_size=None):
    """Builds a model with initial weights.

    Args:
        config: The `Config` with its sizes.
        vocab_size: Vocabulary size of the questions.
        target_vocab_size: Vocabulary size of the answers; None if both share a tokenizer.
    """
    from keras_transformer.models.transformer import transformer

    sizes = (config.num_layers, config.dff, config.d_model, config.num_heads, config.dropout)
    return transformer(
        vocab_size,
        *sizes,
        target_vocab_size=target_vocab_size,
        tie_embeddings=config.tie_embeddings,
        norm_first=config.norm_first,
    )


def about_files(about):
    """Returns the content of config.toml and config.json, a dictionary of bytes by file name."""
    rest = {**about["corpus"].get("source", {}), "from": about.get("from", {}).get("path")}
    return {RECIPE: config_file_text(about["config"], rest).encode("utf-8"), CONFIG: json_bytes(about)}
