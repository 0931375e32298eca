"""Trainings of the studio: each is the command `train` in a process of its own, watched through its run folder."""

import contextlib
import dataclasses
import subprocess
import threading
import time

import numpy as np

from keras_transformer.chat.answering import GENERATE
from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.config import Config
from keras_transformer.data.corpus import Corpus
from keras_transformer.errors import InputError
from keras_transformer.language import translatable
from keras_transformer.language import translate as _
from keras_transformer.runs.history import best_row, read_rows
from keras_transformer.runs.run import RECIPE, WEIGHTS, Run
from keras_transformer.studio.command import Command

AT_ONCE = 2  # Trainings.
SAMPLES = 5  # Questions that are answered after every epoch.
SECONDS_TO_SAVE = 60  # For which the studio waits when it ends.
STARTING, TRAINING, STOPPING, STOPPED, FINISHED, FAILED = STATES = (
    translatable("starting"),
    translatable("training"),
    translatable("stopping"),
    translatable("stopped"),
    translatable("finished"),
    translatable("failed"),
)


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far a training is.

    Attributes:
        state: One of `STATES`.
        rows: The metrics of its epochs.
        epochs: Maximum number of epochs; None before the run is created.
        best: The best epoch; None if there is none.
        seconds_left: Estimated seconds left; None if unknown.
        samples: Pairs of a question and the answer of the best epoch so far.
        message: Why it failed, else "".
    """

    state: str
    rows: list
    epochs: int | None
    best: int | None
    seconds_left: float | None
    samples: list
    message: str


class Training:
    """A training that the studio has started.

    Args:
        path: The run folder.
        words: Further words of the command.
    """

    def __init__(self, path, words):
        self.path, self.words = path, words
        self.command = Command("train", "--run", path, *words)
        self.before, self.first = len(rows_of(path)), None
        self.sampler = Sampler(self)
        self.sampler.start()

    def progress(self):
        """Returns the `Progress`."""
        rows, run = rows_of(self.path), run_of(self.path)
        state = self.state(rows)
        config = run.config if run else None
        best = best_row(rows, config.monitor) if config else None
        return Progress(
            state=state,
            rows=rows,
            epochs=config and config.epochs,
            best=best and int(best["epoch"]),
            seconds_left=self.seconds_left(rows, config) if self.command.running else None,
            samples=self.sampler.samples,
            message=self.command.message() if state == FAILED else "",
        )

    def state(self, rows):
        """Returns one of `STATES`."""
        if self.command.running:
            return STOPPING if self.command.stopped else TRAINING if len(rows) > self.before else STARTING
        if self.command.process.returncode == 0:
            return FINISHED
        return STOPPED if self.command.stopped else FAILED

    def seconds_left(self, rows, config):
        """Returns the estimated seconds to the last epoch, from those since the first seen one; None if unknown."""
        done, now = len(rows), time.monotonic()
        if done == self.before or config is None:
            return None
        self.first = self.first or (done, now)
        before, then = self.first
        return (now - then) / (done - before) * (config.epochs - done) if done > before else None


class Sampler(threading.Thread):
    """Answers the same questions with the best weights so far, after every epoch that it can keep up with.

    Args:
        training: The `Training`.
    """

    def __init__(self, training):
        super().__init__(daemon=True)
        self.training, self.questions, self.samples = training, [], []

    def run(self):
        """Answers until the training has ended, and then once more as the bot does."""
        bot, stamp = None, None
        while self.training.command.running:
            start = time.perf_counter()
            with contextlib.suppress(InputError, OSError):  # A file is being replaced: the next round reads it.
                latest = (self.training.path / WEIGHTS).stat().st_mtime_ns
                if latest != stamp:
                    run = Run(self.training.path)
                    bot = bot or Chatbot.of_run(run, run.build_model())
                    run.load_weights(bot.model)
                    self.answer(run, bot, GENERATE)
                    stamp = latest
            time.sleep(max(0.5, 2 * (time.perf_counter() - start)))  # Most of the time is left to the training.
        with contextlib.suppress(InputError, OSError):
            self.answer(Run(self.training.path), Chatbot.load(self.training.path))

    def answer(self, run, bot, way=None):
        """Answers the questions in a way of answering; None for the bot's own."""
        self.questions = self.questions or sample_questions(run)
        self.samples = list(zip(self.questions, bot.replies(self.questions, answer_by=way)))


class Trainings:
    """All trainings that the studio has started, by the names of their runs.

    Args:
        workspace: The `Workspace`.
    """

    def __init__(self, workspace):
        self.workspace, self._trainings, self._lock = workspace, {}, threading.Lock()

    def start(self, name, corpus, options=()):
        """Starts the training of a new run.

        Raises:
            InputError: If the name or the corpus is wrong, or enough trainings are running.
        """
        with self._lock:
            self._begin(self.workspace.new_run(name), (self.workspace.corpus(corpus), *options))

    def resume(self, name):
        """Resumes a training: by the same command, or for a run that was trained elsewhere by its settings."""
        with self._lock:
            if former := self._trainings.get(name):
                self._begin(former.path, former.words)
            else:
                path = self.workspace.run(name)
                self._begin(path, ("--config", path / RECIPE))

    def _begin(self, path, words):
        running = [name for name, one in self._trainings.items() if one.command.running]
        if path.name in running:
            raise InputError(_("{name} is being trained already.", name=path.name))
        if len(running) >= AT_ONCE:
            raise InputError(
                _("{names} are being trained: stop one of them, or wait for it.", names=", ".join(running))
            )
        self._trainings.pop(path.name, None)
        self._trainings[path.name] = Training(path, words)

    def stop(self, name):
        """Stops a training, if it runs; its state is saved."""
        if name in self._trainings:
            self._trainings[name].command.stop()

    def names(self):
        """Returns the names of all trainings and runs, the running ones first."""
        own = sorted(self._trainings, key=lambda name: not self._trainings[name].command.running)
        return list(dict.fromkeys([*own, *self.workspace.runs()]))

    def running(self):
        """Returns the name of the training that was started last and runs; None if none does."""
        return next((name for name in reversed(self._trainings) if self._trainings[name].command.running), None)

    def progress(self, name):
        """Returns the `Progress` of a training, or of a run that was trained elsewhere."""
        if name in self._trainings:
            return self._trainings[name].progress()
        path = self.workspace.run(name)
        run, rows = Run(path), rows_of(path)
        best = best_row(rows, run.config.monitor)
        state = FINISHED if run.summary() else STOPPED
        return Progress(state, rows, run.config.epochs, best and int(best["epoch"]), None, [], "")

    def end(self):
        """Stops all trainings and waits until they have saved their state."""
        for training in self._trainings.values():
            training.command.stop()
        for training in self._trainings.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                training.command.process.wait(SECONDS_TO_SAVE)


def rows_of(path):
    """Returns the metrics of the epochs in a run folder; none while the file is being replaced."""
    with contextlib.suppress(InputError):
        return read_rows(path, Config().monitor)
    return []


def run_of(path):
    """Returns the `Run` in a folder; None if it is not there yet."""
    with contextlib.suppress(InputError):
        return Run(path)
    return None


def sample_questions(run):
    """Returns questions of a run's corpus, evenly spaced over its first pairs."""
    corpus = Corpus.from_source(run.corpus["source"])
    questions = list(dict.fromkeys(next(iter(corpus.chunks(run.config.turns)))["question"]))
    return [questions[number] for number in dict.fromkeys(np.linspace(0, len(questions) - 1, SAMPLES).astype(int))]
