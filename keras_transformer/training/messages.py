"""Messages of a training: what it starts with, warnings and hints, how it ended, and sample answers."""

import numpy as np

from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.data.split import SPLITS
from keras_transformer.language import translate as _
from keras_transformer.language import translate_count
from keras_transformer.runs.history import SCORE, best_row, has_diverged, is_perfect
from keras_transformer.text.turns import BETWEEN, one_line

SAMPLES = 5  # Number of sample questions answered at the end of training.
CLEARLY = 0.01  # Minimum relative improvement of the last epoch for a hint to train longer.


def start_message(run, model, training, step, where):
    """Returns the message at the start of a training."""
    run_dir = _("{run} from {parent}", run=run.path, parent=run.origin["path"]) if run.origin else run.path
    if step:
        start = _("Resuming at step {step} of {run} on {devices}", step=step, run=run_dir, devices=where)
    else:
        start = _("Training {run} on {devices}", run=run_dir, devices=where)
    facts = [
        _("{count:,} parameters", count=model.count_params()),
        training_pairs(len(training.encoded), run.corpus["train"]),
        *split_sizes(run.corpus),
        translate_count("{count:,} step an epoch", "{count:,} steps an epoch", len(training)),
        translate_count("at most {count} epoch", "at most {count} epochs", run.config.epochs),
    ]
    return f"{start}: {', '.join(facts)}"


def training_pairs(count, of_corpus):
    """Returns the number of pairs to train on as text; those beyond the corpus are copies that vary."""
    if count <= of_corpus:
        return translate_count("{count:,} pair", "{count:,} pairs", count)
    return _("{count:,} pairs ({varied:,} of them varied copies)", count=count, varied=count - of_corpus)


def split_sizes(corpus):
    """Returns the numbers of pairs for validation and test, with their shares of the corpus, as a list of texts."""
    if corpus["validation"] == corpus["pairs"]:  # Nothing is held out.
        return [_("validated on the whole corpus")]
    purposes = {
        "validation": _("{count:,} for validation ({share:.0%})"),
        "test": _("{count:,} for test ({share:.0%})"),
    }
    sizes = {name: corpus[name] for name in SPLITS[1:] if corpus[name]}
    return [purposes[name].format(count=size, share=size / corpus["pairs"]) for name, size in sizes.items()]


def warm_up_warning(config, batches):
    """Returns a warning if the training is shorter than its warm-up, else None.

    Args:
        config: The `Config`.
        batches: Number of batches in the whole training.
    """
    updates = batches // config.accumulate
    if config.warmup_steps <= updates:
        return None
    return _(
        "The warm-up of {warm_up:,} steps is longer than the training of {updates:,} steps: the learning rate never "
        "reaches its peak. Lower --warmup-steps or raise --epochs.",
        warm_up=config.warmup_steps,
        updates=updates,
    )


def epochs_hint(config, rows):
    """Returns a hint to train longer if the last epoch clearly improved the validation score, else None.

    Args:
        config: The `Config`.
        rows: The metrics of all epochs.
    """
    monitor = config.monitor
    best = best_row(rows, monitor)
    if not monitor.startswith("val_") or not best or best["epoch"] != config.epochs:
        return None
    before = best_row([row for row in rows if row is not best and not has_diverged(row)], monitor)
    if before and abs(best[monitor] - before[monitor]) < CLEARLY * abs(before[monitor]):
        return None
    return _("The best epoch was the last one: more --epochs may give better answers.")


def end_message(run, summary):
    """Returns the message at the end of a training."""
    if not summary["finished"]:
        return _("Stopped and saved in {run}. Run the same command to resume.", run=run.path)
    done = _(
        "Done in {seconds:.0f} s: best epoch {best} of {epochs}, {score:.3f} validation bits per character, kept in "
        "{run}.",
        seconds=summary["seconds"],
        best=summary["best_epoch"],
        epochs=summary["epochs"],
        score=summary[SCORE],
        run=run.path,
    )
    if summary["epochs"] < run.config.epochs and is_perfect(summary, run.config.monitor):
        whole = _("It ended early, because every token of the validation answers was predicted.")
        memorized = _("It ended early, because every token of the training answers was predicted.")
        return f"{done} {memorized if run.config.monitor == 'accuracy' else whole}"
    return done


def finished_message(run, summary):
    """Returns the message for a run whose training had already ended."""
    epochs, limit = summary["epochs"], run.config.epochs
    finished = _(
        "Nothing left to train: {run} is finished, with best epoch {best} of {epochs} and {score:.3f} validation bits "
        "per character.",
        run=run.path,
        best=summary["best_epoch"],
        epochs=epochs,
        score=summary[SCORE],
    )
    if is_perfect(summary, run.config.monitor):
        return finished
    if epochs >= limit:
        advice = _("To train longer, raise --epochs.")
        return f"{finished} {advice}"
    advice = _(
        "To train longer, raise --patience (it stopped early, at epoch {epochs} of {limit}).",
        epochs=epochs,
        limit=limit,
    )
    return f"{finished} {advice}"


def sample_answers(run, validation, training):
    """Answers evenly spaced validation questions with the best weights of a run.

    Args:
        run: The `Run`.
        validation: The `EncodedPairs` of the validation split.
        training: The `EncodedPairs` of the training split, used if the validation split is too small.

    Returns:
        A list of pairs of lines (question, answer).
    """
    few = run.config.hold_out and len(validation) < SAMPLES
    encoded = training if few else validation
    places = np.linspace(0, len(encoded) - 1, SAMPLES).astype(int)
    questions = list(dict.fromkeys(question_text(run.tokenizer, encoded.question(place)) for place in places))
    answers = Chatbot.load(run.path).replies(questions)
    return [(one_line(question), one_line(answer)) for question, answer in zip(questions, answers)]


def question_text(tokenizer, ids):
    """Decodes the token ids of a question; each turn becomes a line."""
    turns = np.split(ids, np.flatnonzero(ids == tokenizer.separator_id)) if tokenizer.separator_id else [ids]
    return BETWEEN.join(tokenizer.decode(turns))
