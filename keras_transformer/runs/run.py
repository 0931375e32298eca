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
    lock                     locked while a training is running

All files are written atomically, so a run folder stays readable if the process is killed at any moment. Weights and
checkpoints contain the id of their run.
"""

from __future__ import annotations

import json
import os
import pathlib
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from keras_transformer.config import Config
from keras_transformer.config_file import config_file_text
from keras_transformer.errors import DiskFull, InputError
from keras_transformer.language import translatable
from keras_transformer.language import translate as _
from keras_transformer.runs.atomic_io import sha256, write_atomically, write_json
from keras_transformer.runs.history import read_rows
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
CONFIDENCE = "confidence.json"
INCOMPLETE = translatable("the run is incomplete")


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
            for name, file in files.items():
                write_atomically(path / f"{name}{file.ending}", file.model)
            write_about(path, about)
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
        except OSError as error:
            raise InputError(_("{path}: cannot be written: {reason}", path=path, reason=error.strerror)) from error
        if names - {RECIPE, LOCK} - TOKENIZER_FILES:
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
        write_about(self.path, {**self._read_config(), "config": config.to_dict()})

    def build_model(self) -> keras.Model:
        """Builds a model of the run's sizes with initial weights."""
        from keras_transformer.backend.devices import (
            prepare_devices,  # Imports Keras, which reading a run does not need.
        )

        prepare_devices()
        own = self.target_tokenizer is not self.tokenizer
        return build_model(self.config, self.tokenizer.vocab_size, self.target_tokenizer.vocab_size if own else None)

    def load_model(self) -> keras.Model:
        """Loads the model with the best weights; raises `InputError` if they are missing or of another run."""
        model = self.build_model()
        self.load_weights(model)
        return model

    def load_weights(self, model: keras.Model) -> None:
        """Loads the best weights into a model of the run's sizes; raises `InputError` like `load_model`."""
        tensors = self.best_weights()
        for variable in model.weights:
            value, shape = tensors.get(variable.path), tuple(variable.shape)
            if value is None or value.shape != shape:
                raise InputError(
                    _(
                        "{path}: no weights of shape {shape} for {weight}",
                        path=self.path / WEIGHTS,
                        shape=shape,
                        weight=variable.path,
                    )
                )
            variable.assign(value)

    def best_weights(self) -> dict[str, np.ndarray]:
        """Returns the best weights as arrays by variable paths; raises `InputError` like `load_model`."""
        path = self._existing_file(WEIGHTS, translatable("no epoch has ended yet; train the run first"))
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
                path.unlink()

    def kept_epochs(self) -> dict[int, pathlib.Path]:
        """Returns the weight files of the kept epochs by epoch number, in order."""
        numbers = {path.stem.rpartition("-")[2]: path for path in self.path.glob("weights-epoch-*.safetensors")}
        return dict(sorted((int(number), path) for number, path in numbers.items() if number.isdecimal()))

    def metrics(self) -> list[dict[str, float]]:
        """Returns the rows of metrics.csv, a dictionary of numbers for each finished epoch.

        Raises:
            InputError: If the file is damaged.
        """
        return read_rows(self.path, self.config.monitor)

    def summary(self) -> dict[str, Any] | None:
        """Returns the summary of a finished training as a dictionary; None if it has not finished."""
        path = self.path / SUMMARY
        return json.loads(path.read_text("utf-8")) if path.is_file() else None

    def _read_config(self):
        if not self.path.is_dir():
            raise InputError(_("{path}: there is no such run folder", path=self.path))
        path = self._existing_file(CONFIG, translatable("this is not a run folder"))
        try:
            about = json.loads(path.read_text("utf-8"))
            version = about["format"]
            missing = {"id", "config", "corpus", "tokenizer"} - set(about)
            if not (isinstance(about.get("config", {}), dict) and isinstance(about.get("corpus", {}), dict)):
                raise ValueError("config and corpus must be objects")
        except (ValueError, TypeError, KeyError) as error:
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
        tokenizer = Tokenizer.load(path)
        if sha256(tokenizer.model) != about[name]:
            raise InputError(_("{path}: damaged, or the tokenizer of another run", path=path))
        return tokenizer

    def _existing_file(self, name, advice=INCOMPLETE):
        path = self.path / name
        if not path.is_file():
            raise InputError(_("{path}: missing; {advice}", path=path, advice=_(advice)))
        return path


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


def write_about(path, about):
    """Writes config.toml and config.json. The latter is written last, because it marks the folder as a run."""
    rest = {**about["corpus"].get("source", {}), "from": about.get("from", {}).get("path")}
    write_atomically(path / RECIPE, config_file_text(about["config"], rest).encode("utf-8"))
    write_json(path / CONFIG, about)
