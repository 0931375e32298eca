"""Checkpoint averaging (section 6.1): the mean of several epochs' weights, compared with the best epoch.

The saved weights of an epoch are the exponential moving average, the weights that were validated.
"""

import contextlib
import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas

from keras_transformer.backend.devices import find_devices
from keras_transformer.backend.precision import choose_precision, precision
from keras_transformer.chat.datastore import Datastore
from keras_transformer.data.corpus import Corpus
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.models.packed import packed
from keras_transformer.runs.checksums import check
from keras_transformer.runs.history import SCORE, best_row, ranked
from keras_transformer.runs.lock import locked
from keras_transformer.runs.run import Run
from keras_transformer.runs.tensor_file import load_tensors
from keras_transformer.training.answering import prepare_answers
from keras_transformer.training.callbacks import bits_per_character
from keras_transformer.training.checkpoint import load_checkpoint
from keras_transformer.training.corrections import corrected
from keras_transformer.training.losses import TokenLoss
from keras_transformer.training.metrics import Perplexity, TokenAccuracy
from keras_transformer.training.plan import packed_rows
from keras_transformer.training.resume import check_corpus


def average_epochs(
    corpus: pandas.DataFrame | Corpus | str | os.PathLike | Sequence[str | os.PathLike],
    run_dir: str | os.PathLike, last: int | None = None, best: int | None = None, keep: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Averages the weights of kept epochs (setting `keep_epochs`) and validates the average.

    Args:
        corpus: The run's corpus, as for `train`.
        run_dir: The run folder.
        last: Number of last epochs to average. Give either `last` or `best`.
        best: Number of best epochs by the run's monitor to average.
        keep: Whether to save the average as the run's weights. A resumed training replaces it at its next best epoch.

    Returns:
        A dictionary: "epochs" (their numbers) and the average's "val_loss", "val_perplexity", "val_accuracy" and
        "val_bits_per_char"; "best" is the row of the best single epoch.

    Raises:
        InputError: If the corpus is not the run's, fewer epochs are kept, or the average is to be saved in a run that
            is being trained.
    """
    if (last is None) == (best is None):
        raise InputError(_("give either the number of last epochs or the number of best epochs to average"))
    with locked(run_dir) if keep and Run.exists(run_dir) else contextlib.nullcontext():
        return averaged(corpus, run_dir, last, best, keep)


def averaged(corpus, run_dir, last, best, keep):
    """Does what `average_epochs` does, without a lock."""
    corpus = corpus if isinstance(corpus, Corpus) else Corpus(corpus)
    run = Run(run_dir)
    check_corpus(run, corpus.survey(run.config.turns, run.config.hold_out))
    paths = choose(run, last, best)
    with precision(choose_precision(run.config.precision, find_devices())[0]):  # As in the validation of the epochs.
        model = run.build_model()
    weights = mean_weights(run, list(paths.values()))
    for variable in model.weights:
        variable.assign(weights[variable.path])
    average = {"epochs": sorted(paths), **validate(run, model, corpus)}
    if keep:
        run.save_weights(weights, average)
        if Datastore.exists(run.path):
            print(prepare_answers(run, corpus))  # Other weights may generate better answers.
    return {**average, "best": best_row(load_checkpoint(run)[2], run.config.monitor)}


def choose(run, last, best):
    """Returns the files of the last or best epochs by epoch number; raises `InputError` if too few are kept."""
    paths, number = run.kept_epochs(), best if last is None else last
    if not 1 <= number <= len(paths):
        raise InputError(
            _(
                "{path}: cannot average {number} epochs: it keeps the weights of {count}; "
                "train with --keep-epochs to keep more",
                path=run.path,
                number=number,
                count=len(paths),
            )
        )
    if best is None:
        return dict(list(paths.items())[-number:])
    rows = [load_epoch(run, path)[1] for path in paths.values()]
    return {row["epoch"]: paths[row["epoch"]] for row in ranked(rows, run.config.monitor)[:number]}


def mean_weights(run, paths):
    """Returns the mean of each weight over several files, summed in float64, as NumPy arrays by name."""
    total = {}
    for path in paths:
        for name, value in load_epoch(run, path)[0].items():
            total[name] = total.get(name, 0) + value.astype("float64")
    return {name: np.asarray(value / len(paths), "float32") for name, value in total.items()}


def load_epoch(run, path):
    """Returns the weights of a kept epoch and its row of metrics; raises `InputError` if the file is damaged."""
    check(path, run.id)
    return load_tensors(path, run.id)


def validate(run, model, corpus):
    """Returns the scores of a model on the validation pairs, named as in `metrics.csv`."""
    corpus = corrected(corpus, run.corpus.get("corrections"))
    [rows] = packed_rows(corpus, (run.tokenizer, run.target_tokenizer), run.config, ["validation"])
    joined = packed(model)
    joined.compile(loss=TokenLoss(1), metrics=[TokenAccuracy(), Perplexity()])
    scores = joined.evaluate(rows.epochs(), verbose=0, return_dict=True)
    loss = math.log(scores["perplexity"])
    return {
        "val_loss": loss,
        "val_perplexity": scores["perplexity"],
        "val_accuracy": scores["accuracy"],
        SCORE: bits_per_character(loss, rows.encoded),
    }
