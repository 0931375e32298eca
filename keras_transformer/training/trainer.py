"""Training a run folder: from a corpus to weights, resumable."""

import contextlib
import os
import shlex
import sys

import keras
import numpy as np

from keras_transformer.config import Config
from keras_transformer.data.catalog import is_corpus
from keras_transformer.data.encoding import PairEncoder
from keras_transformer.data.packing import PackedRows
from keras_transformer.data.parts import Corpus
from keras_transformer.device import find_devices
from keras_transformer.errors import InputError
from keras_transformer.lock import locked
from keras_transformer.models.packed import packed
from keras_transformer.run import LOGS, SUMMARY, Run
from keras_transformer.storage import remove_leftovers, write_json
from keras_transformer.training import callbacks as around
from keras_transformer.training.averaging import AveragedWeights
from keras_transformer.training.checkpoint import load_checkpoint, restore
from keras_transformer.training.fine_tuning import check_origin, check_parent, load_origin
from keras_transformer.training.losses import TokenLoss
from keras_transformer.training.metrics import Perplexity, TokenAccuracy
from keras_transformer.training.optimizer import make_optimizer
from keras_transformer.training.precision import choose_precision, precision
from keras_transformer.training.schedule import make_schedule
from keras_transformer.training.tokenizers import check_tokenizers, make_tokenizers
from keras_transformer.training.writer import Writer

PATHS = ("corpus", "validation", "tokenizer_file", "target_tokenizer_file")  # Keys of config.toml.
FREE_TO_CHANGE = ("epochs", "patience", "monitor", "checkpoint_minutes")  # Others would make it another training.


def train(corpus, run_dir, config=None, from_run=None, tokenizer=None, target_tokenizer=None):
    """Trains a model on a corpus, or goes on where an earlier call for the same run folder stopped.

    Progress is printed as Keras does. Ctrl-C saves the state and returns; the same call then goes on, as it does after
    a training that was killed.

    Args:
        corpus: DataFrame with the columns "question" and "answer", or what `load_pairs` reads, or a folder of such, or
            the name of a corpus of the catalog; or a `Corpus`, which can say more of it.
        run_dir: The run folder, new or of the same training.
        config: The `Config`; by default that of the run folder, or for a new one that of `from_run`, or `Config()`.
        from_run: Folder of a run to start from: its tokenizers and sizes are kept, its best weights are the first ones;
            optimizer and schedule begin anew.
        tokenizer: File of a tokenizer, as `Tokenizer.load` reads it; None to learn one as `config` says.
        target_tokenizer: File of the answers' own tokenizer, likewise.

    Returns:
        A dictionary: "finished" (False after Ctrl-C), "epochs", "best_epoch", its scores, "seconds" of training.

    Raises:
        InputError: If corpus, run folder and config do not fit together, or another training writes to the run folder.
        DiskFull: If there is no room to save; what was saved before is intact.
        TrainingDiverged: If the loss becomes infinite or NaN; the last good weights are kept.
    """
    corpus = corpus if isinstance(corpus, Corpus) else Corpus(corpus)
    files = {"tokenizer_file": tokenizer, "target_tokenizer_file": target_tokenizer}
    parent = Run(from_run) if from_run else None
    run = Run(run_dir) if Run.exists(run_dir) else None
    known = run or parent
    config = config or (known.config if known else Config())
    if run:
        check_settings(run, config, parent)
    if known:
        check_tokenizers(known, **files)
    survey = corpus.survey(config.turns)
    if run:
        check_corpus(run, survey)
    if parent:
        check_parent(parent, config)
    tokenizers = (known.tokenizer, known.target_tokenizer) if known else make_tokenizers(survey.sample, config, **files)
    about = about_corpus({**corpus.source, **files}, survey, corpus.licence)
    del survey  # Its sample may be large.
    training, validation = packed_rows(corpus, tokenizers, config)
    make_schedule(config, config.epochs * len(training))  # One that cannot be is found before the folder is made.
    Run.make_folder(run_dir)
    with locked(run_dir):
        remove_leftovers(run_dir)
        if run is None:
            run = Run.create(run_dir, config, tokenizers[0], about, parent, tokenizers[1])
        run.change_config(config)
        summary = fit(run, training, validation)
    print(farewell(run, summary))
    return summary


def fit(run, training, validation):
    """Runs the epochs that are left, if any, and keeps the run's summary."""
    config = run.config
    tensors, step, rows, seconds = load_checkpoint(run)
    if run.summary() and not steps_are_left(config, training, step, rows):
        return run.summary()
    (run.path / SUMMARY).unlink(missing_ok=True)
    devices = find_devices()
    chosen, reason = choose_precision(config.precision, devices)
    model = compiled_model(run, training.encoded.tokens / len(training), len(training), chosen)
    restore(model, tensors, "variables")
    restore(model, tensors, "optimizer")
    if run.origin and not tensors:
        load_origin(run, model)
    print(greeting(run, model, training, step, f"{devices} in {chosen} ({reason})"))
    with Writer() as writer:
        keeper = around.Keeper(run, len(training), step, rows, seconds, tensors, AveragedWeights(), writer)
        del tensors  # Several times as large as the model.
        keeper.catch_up(model)
        finished = fit_keeping(model, run, training, validation, keeper)
    summary = {
        "finished": finished,
        "epochs": len(rows),
        **best_scores(rows, config.monitor),
        "seconds": round(keeper.seconds(), 1),
    }
    if finished:
        write_json(run.path / SUMMARY, summary)
    return summary


def fit_keeping(model, run, training, validation, keeper):
    """Runs the epochs that are left with all that is to happen around their steps; returns whether they ended."""
    with around.StopOnInterrupt(keeper) as stop:
        callbacks = [
            keeper.average,
            around.FiniteLoss(),
            around.PairsPerSecond(len(training.encoded) / len(training)),
            around.TokenMeans(),
            around.BitsPerCharacter(validation.encoded),
            around.Board(run.path / LOGS, write_graph=False),
            keeper,
            stop,
            around.NarrowBar(),
        ]
        try:
            fit_from(model, run.config, training, validation.epochs(), callbacks, keeper)
        except around.Interrupted:
            return False
    return True


def steps_are_left(config, training, step, rows):
    """Whether the training is not at its end."""
    return step < config.epochs * len(training) and not around.out_of_patience(rows, config.patience, config.monitor)


def fit_from(model, config, training, validation, callbacks, keeper):
    """`model.fit` from the keeper's step on; an epoch broken off in its middle is first brought to its end.

    The keeper ends `model.fit` after such an epoch, whose number of steps is not that of the others.
    """
    while steps_are_left(config, training, keeper.step, keeper.rows):
        epoch, done = divmod(keeper.step, len(training))
        model.fit(
            training.from_step(keeper.step),
            steps_per_epoch=len(training) - done,
            initial_epoch=epoch,
            epochs=config.epochs,
            validation_data=validation,
            callbacks=callbacks,
            shuffle=False,  # The batches are shuffled already.
            verbose=1 if shows_progress(sys.stdout) else 2,
        )


def shows_progress(stream):
    """Whether a bar can be drawn over itself: on a terminal or in a notebook, not in a file."""
    return "ipykernel" in sys.modules or (hasattr(stream, "isatty") and stream.isatty())


def packed_rows(corpus, tokenizers, config, names=("train", "validation")):
    """The batches of parts of the corpus, which is read once for all of them."""
    with contextlib.ExitStack() as files:
        encoders = {
            name: files.enter_context(PairEncoder(tokenizers[0], config.max_length, tokenizers[1], config.turns))
            for name in names
        }
        for parts in corpus.parts(config.turns):
            for name in encoders.keys() & parts.keys():
                encoders[name].add(parts[name])
        encoded = {name: encoder.finish() for name, encoder in encoders.items()}
    return [
        PackedRows(encoded[name], config.batch_size, config.batch_tokens, name == "train", config.seed)
        for name in names
    ]


def compiled_model(run, tokens_per_batch, steps_per_epoch=1, precision_name="float32"):
    """The run's model for packed rows, new, with its optimizer and loss; only a cosine has to know the steps."""
    config = run.config
    keras.utils.set_random_seed(config.seed)
    with precision(precision_name):
        model = packed(run.build_model())
    optimizer = make_optimizer(config, steps_per_epoch)
    optimizer.build(model.trainable_variables)
    loss = TokenLoss(tokens_per_batch, config.label_smoothing)
    model.compile(optimizer, loss, metrics=[TokenAccuracy(), Perplexity()])
    # Keras lists its metrics at the first batch; a checkpoint in the middle of an epoch needs them before it.
    vocab_size = run.target_tokenizer.vocab_size
    model.compute_metrics(None, np.zeros((1, 1), "int32"), np.zeros((1, 1, vocab_size), "float32"))
    return model


def about_corpus(source, survey, licence=None):
    """What a run folder notes of its corpus."""
    source = {key: absolute(value) if key in PATHS else value for key, value in source.items()}
    name = " ".join(map(os.path.basename, source.get("corpus") or ())) or "pairs"
    pairs = sum(survey.sizes.values())
    about = {"name": name, "licence": licence, "source": source, "fingerprint": survey.fingerprint, "pairs": pairs}
    return {**about, **survey.sizes}


def absolute(paths):
    """Paths, or one, as they can be written down: absolute, with question marks where no UTF-8; names as they are."""
    if paths is None:
        return None
    if isinstance(paths, list):
        return list(map(absolute, paths))
    if is_corpus(paths):
        return paths
    return os.path.abspath(paths).encode("utf-8", "replace").decode("utf-8")


def check_settings(run, config, parent=None):
    """Raises `InputError` if the run was begun with other settings, or from another run."""
    old, new = run.config.to_dict(), config.to_dict()
    for name in old:
        if old[name] != new[name] and name not in FREE_TO_CHANGE:
            raise InputError(f"{run.path}: was begun with {name} {old[name]}, not {new[name]}; name another run folder")
    check_monitor(run, new["monitor"])
    if parent:
        check_origin(run, parent)


def check_corpus(run, survey):
    """Raises `InputError` if the run was begun with another corpus than the one surveyed."""
    if run.corpus["fingerprint"] != survey.fingerprint:
        raise InputError(
            f"{run.path}: was trained on another corpus ({run.corpus['pairs']} pairs, these are "
            f"{sum(survey.sizes.values())}); name another run folder"
        )


def check_monitor(run, monitor):
    """Raises `InputError` if by another monitor another epoch is best: its weights are not the ones kept."""
    if monitor == run.config.monitor:
        return
    rows = load_checkpoint(run)[2]
    kept, best = (around.best_row(rows, name) for name in (run.config.monitor, monitor))
    if best is not kept:
        raise InputError(
            f"{run.path}: by {monitor} epoch {best['epoch']} is best, but the weights kept are those of epoch "
            f"{kept['epoch']}, best by {run.config.monitor}; name another run folder"
        )


def best_scores(rows, monitor):
    """The best epoch and its scores."""
    best = around.best_row(rows, monitor)
    if best is None:
        return {"best_epoch": None}
    return {
        "best_epoch": best["epoch"],
        **{name: best[name] for name in best if name.startswith("val_") or name == monitor},
    }


def greeting(run, model, training, step, where):
    """What is about to happen, in one paragraph."""
    what = f"Going on at step {step} of" if step else "Training"
    origin = f" from {run.origin['path']}" if run.origin else ""
    return (
        f"{what} {run.path}{origin} on {where}: {model.count_params():,} parameters, "
        f"{len(training.encoded):,} pairs, {run.corpus['validation']:,} for validation, "
        f"{len(training):,} steps an epoch, at most {run.config.epochs} epochs"
    )


def farewell(run, summary):
    """How it went, and what to type next."""
    if not summary["finished"]:
        return f"Stopped and saved in {run.path}. The same command goes on from here."
    return (
        f"Done in {summary['seconds']:.0f} s: best epoch {summary['best_epoch']} of {summary['epochs']}, "
        f"{summary[around.SCORE]:.3f} validation bits per character, kept in {run.path}.\n"
        f"Talk to it:  keras-transformer chat {shlex.quote(str(run.path))}"
    )
