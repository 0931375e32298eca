"""Training of a run: from a plan to weights, with resuming."""

import contextlib
import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
import pandas

from keras_transformer.backend.devices import find_devices, prepare_devices
from keras_transformer.backend.gpu_diagnostics import explain_unseen_gpu
from keras_transformer.backend.precision import choose_precision, precision
from keras_transformer.backend.xla import fuse_elementwise
from keras_transformer.chat.answering import ANSWERING
from keras_transformer.config import Config
from keras_transformer.data.corpus import Corpus
from keras_transformer.language import translate as _
from keras_transformer.models.packed import packed
from keras_transformer.runs.atomic_io import remove_leftovers
from keras_transformer.runs.checksums import remove_recorded, write_json_recorded
from keras_transformer.runs.history import best_scores, stops_early
from keras_transformer.runs.lock import locked
from keras_transformer.runs.run import LOGS, SUMMARY, Run
from keras_transformer.training import callbacks as training_callbacks
from keras_transformer.training.answering import index_memorized, prepare_answers
from keras_transformer.training.checkpoint import NullWriter, Writer, load_checkpoint, restore
from keras_transformer.training.corrections import check_corrections
from keras_transformer.training.distributed.cluster import (
    detect_lost_processes,
    devices_in_use,
    distribution_scope,
    process_count,
    process_number,
    wait_for_all,
)
from keras_transformer.training.divergence import Divergence, DivergenceCheck, learning_rate_factor, restart
from keras_transformer.training.ema import AveragedWeights
from keras_transformer.training.fine_tuning import load_origin
from keras_transformer.training.initialization import initialize_as_tensorflow
from keras_transformer.training.losses import TokenLoss
from keras_transformer.training.messages import (
    end_message,
    epochs_hint,
    finished_message,
    sample_answers,
    start_message,
    warm_up_warning,
)
from keras_transformer.training.metrics import Perplexity, TokenAccuracy
from keras_transformer.training.optimizer import make_optimizer
from keras_transformer.training.plan import make_plan
from keras_transformer.training.progress import (
    EpochTable,
    encodable,
    interrupt,
    say,
    show_samples,
    verbosity,
)
from keras_transformer.training.rescue import rescuing
from keras_transformer.training.resume import check_corpus


def train(
    corpus: pandas.DataFrame | Corpus | str | os.PathLike | Sequence[str | os.PathLike],
    run_dir: str | os.PathLike,
    config: Config | None = None,
    from_run: str | os.PathLike | None = None,
    tokenizer: str | os.PathLike | None = None,
    target_tokenizer: str | os.PathLike | None = None,
    devices: int | None = None,
    model_devices: int = 1,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Trains a model on a corpus, or resumes the training of an existing run folder.

    The progress is printed: in a notebook by Keras, else as a table. Ctrl-C saves a checkpoint and returns. Call the
    function again to resume after Ctrl-C or after the process was killed.

    Args:
        corpus: DataFrame with the columns "question" and "answer", anything that `load_pairs` reads, a folder of such
            files, the name of a corpus of the catalog, or a `Corpus`, which has further options.
        run_dir: The run folder, either new or of the training to resume.
        config: The `Config`. Defaults to that of the run folder; for a new run, to that of `from_run`, or to the one
            recommended for the corpus, which `keras-transformer data check` prints too.
        from_run: Folder of a run to fine-tune. The new run keeps its tokenizers and sizes and starts from its best
            weights, with a new optimizer and schedule. With the setting `grow_vocabulary`, its vocabularies get
            further pieces for the corpus.
        tokenizer: File of a tokenizer for `Tokenizer.load`; None to train one according to `config`.
        target_tokenizer: File of a separate tokenizer for the answers; None to follow `config`.
        devices: Number of local devices that share each batch, under JAX; None for all GPUs, or one device.
        model_devices: Number of these devices that share the large weights of one model; see `split_over`.
        settings: Dictionary of `Config` settings that override those of `config`.

    Returns:
        A dictionary: "finished" (False after Ctrl-C), "epochs", "best_epoch", its scores, "seconds" of training.

    Raises:
        InputError: If corpus, run folder and config do not match, another process trains in the run folder, or there
            are fewer devices than requested.
        DiskFull: If the disk is full. Files saved before are intact.
        RunFolderLost: If the run folder was moved or deleted during the training, which is saved in another folder.
        TrainingDiverged: If training diverges again after three restarts with decreasing learning rates. The best
            weights are kept.
        ProcessLost: If another process of a distributed training was lost.
    """
    prepare_devices()
    files = {"tokenizer_file": tokenizer, "target_tokenizer_file": target_tokenizer}
    plan = make_plan(corpus, run_dir, config, from_run, files, devices, model_devices, settings or {})
    with opened_run(run_dir, plan) as run:
        with distribution_scope(plan.devices, plan.model_devices, run.target_tokenizer.vocab_size):
            check_corpus(run, plan.survey)  # Each process of a distributed training reads its own corpus.
            check_corrections(run, plan.corrections)
            # Other processes would wait for it in their first step.
            indexed = process_count() == 1 and index_memorized(run, plan.corpus)
            earlier, summary = run.summary(), fit(run, plan.training, plan.validation)
        # Only one process answers, so this runs outside the distribution scope.
        if summary["finished"] and process_number() == 0 and not (run.path / ANSWERING).is_file():
            say(_("Choosing how to answer …") if indexed else _("Indexing the questions and choosing how to answer …"))
            say(prepare_answers(run, plan.corpus, indexed))
    if summary == earlier:
        say(finished_message(run, summary))
        return summary
    say(end_message(run, summary))
    if summary["finished"]:
        print_samples(run, plan.validation.encoded, plan.training.encoded)
    return summary


@contextlib.contextmanager
def opened_run(run_dir, plan):
    """Context manager that opens the run of a `Plan`, or creates and locks it.

    The first process of a distributed training creates the run if it does not exist, and locks the folder. The other
    processes wait until it exists.
    """
    if process_number():
        wait_for_all("the run folder")
        yield Run(run_dir)
        return
    Run.make_folder(run_dir)
    with locked(run_dir):
        remove_leftovers(run_dir)
        plan.check_unchanged(run_dir)
        run = Run(run_dir) if Run.exists(run_dir) else create(run_dir, plan)
        run.record_files()
        run.change_config(plan.config)
        wait_for_all("the run folder")
        yield run


def create(run_dir, plan):
    """Creates the run folder of a `Plan`."""
    tokenizer, target_tokenizer = plan.tokenizers
    return Run.create(run_dir, plan.config, tokenizer, plan.about, plan.parent, target_tokenizer)


def fit(run, training, validation):
    """Trains the remaining epochs, if any; writes and returns the run's summary."""
    config = run.config
    tensors, step, rows, seconds = load_checkpoint(run)
    if run.summary() and not steps_are_left(config, training, step, rows):
        return run.summary()
    writes = process_number() == 0
    if writes:
        for name in (SUMMARY, ANSWERING):
            remove_recorded(run.path / name)
    devices = find_devices()
    chosen, reason = choose_precision(config.precision, devices)
    tokens_per_batch, factor = training.encoded.tokens / len(training), learning_rate_factor(rows)
    model = compiled_model(run, tokens_per_batch, len(training), chosen, factor)
    restore(model, tensors, "variables")
    restore(model, tensors, "optimizer")
    if run.origin and not tensors:
        load_origin(run, model)
    count = devices_in_use()
    where = _("{count} devices: {devices}", count=count, devices=devices) if count > 1 else str(devices)
    where = _("{devices} in {precision} ({reason})", devices=where, precision=chosen, reason=reason)
    say(start_message(run, model, training, step, where))
    if not devices.gpus and (why := explain_unseen_gpu()):
        say(why)
    if warning := warm_up_warning(config, config.epochs * len(training)):
        say(warning)
    writer = Writer() if writes else NullWriter()
    run_checkpoint = training_callbacks.RunCheckpoint(
        run, len(training), step, rows, seconds, tensors, AveragedWeights(), writer
    )
    del tensors  # They are several times as large as the model.
    with rescuing(run, model, run_checkpoint), writer:
        run_checkpoint.catch_up(model)
        finished = fit_with_callbacks(model, run, training, validation, run_checkpoint)
    best, seconds = best_scores(rows, config.monitor), round(run_checkpoint.seconds(), 1)
    summary = {"finished": finished, "epochs": len(rows), **best, "seconds": seconds}
    if finished and writes:
        write_json_recorded(run.path / SUMMARY, summary)
    return summary


def fit_with_callbacks(model, run, training, validation, run_checkpoint):
    """Trains the remaining epochs with all callbacks; returns False if the user interrupted the training."""
    verbose = verbosity()
    shown = contextlib.nullcontext() if verbose or process_number() else EpochTable(run_checkpoint, run.config)
    with training_callbacks.StopOnInterrupt(run_checkpoint) as stop, detect_lost_processes(), shown as table:
        writes = process_number() == 0
        tensorboard = [training_callbacks.TolerantTensorBoard(run.path / LOGS, write_graph=False)] if writes else []
        callbacks = [
            run_checkpoint.average,
            training_callbacks.EpochScores(len(training.encoded) / len(training), validation.encoded),
            *tensorboard,
            DivergenceCheck(run_checkpoint),
            run_checkpoint,
            *([table] if table else []),
            stop,
        ]
        try:
            fit_from(model, run.config, training, validation.epochs(), callbacks, run_checkpoint, verbose)
        except training_callbacks.Interrupted:
            return False
    return True


def steps_are_left(config, training, step, rows):
    """Returns whether training steps remain: neither the last epoch nor early stopping was reached."""
    stopped_early = stops_early(rows, config.patience, config.monitor)
    return step < config.epochs * len(training) and not stopped_early


def fit_from(model, config, training, validation, callbacks, run_checkpoint, verbose):
    """Calls `model.fit` from the current step on; an interrupted epoch is completed first.

    `RunCheckpoint` ends `model.fit` after completing such an epoch, because it has fewer steps than the others. A
    divergence also ends it; the next epoch then starts from the best weights.
    """
    while steps_are_left(config, training, run_checkpoint.step, run_checkpoint.rows):
        epoch, done = divmod(run_checkpoint.step, len(training))
        try:
            model.fit(
                training.from_step(run_checkpoint.step),
                steps_per_epoch=len(training) - done,
                initial_epoch=epoch,
                epochs=config.epochs,
                validation_data=validation,
                callbacks=callbacks,
                shuffle=False,  # The batches are shuffled already.
                verbose=verbose,
            )
        except Divergence as divergence:
            interrupt(restart(model, run_checkpoint, divergence))


def compiled_model(run, tokens_per_batch, steps_per_epoch=1, precision_name="float32", factor=1.0):
    """Builds and compiles the run's model for packed rows, with initial weights.

    Args:
        run: The `Run`.
        tokens_per_batch: Average number of tokens to predict in a batch.
        steps_per_epoch: Batches in an epoch; the cosine schedule and the moving average depend on it.
        precision_name: Precision of the matrix products.
        factor: Factor of the learning rate.

    Returns:
        The compiled model.
    """
    config = run.config
    keras.utils.set_random_seed(config.seed)
    with precision(precision_name):
        model = packed(run.build_model())
    fuse_elementwise(model)
    initialize_as_tensorflow(model)
    optimizer = make_optimizer(config, steps_per_epoch, factor)
    optimizer.build(model.trainable_variables)
    loss = TokenLoss(tokens_per_batch, config.label_smoothing)
    model.compile(optimizer, loss, metrics=[TokenAccuracy(), Perplexity()])
    # Keras creates its metrics at the first batch, but restoring a checkpoint within an epoch needs them earlier.
    vocab_size = run.target_tokenizer.vocab_size
    model.compute_metrics(None, np.zeros((1, 1), "int32"), np.zeros((1, 1, vocab_size), "float32"))
    return model


def print_samples(run, validation, training):
    """Prints a hint, sample answers and the next command after a finished training. Only the first process prints."""
    if process_number():
        return
    if hint := epochs_hint(run.config, run.metrics()):
        say(hint)
    show_samples(sample_answers(run, validation, training))
    command = f"keras-transformer chat {shlex.quote(str(run.path))}"
    print(encodable(_("Talk to it:  {command}", command=command)))
