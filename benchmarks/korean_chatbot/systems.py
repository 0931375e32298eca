"""The systems that are asked, each once for a seed: how it is trained, and what its answers depend on."""

import contextlib
import dataclasses
import functools
import json
import pathlib
import tempfile
from collections.abc import Callable

from benchmarks import ours
from benchmarks.command import say
from benchmarks.korean_chatbot import baselines
from benchmarks.korean_chatbot.exam import kept_or_asked, read_answers
from benchmarks.korean_chatbot.ways import WAYS, Asker
from benchmarks.programs import Failed, run_program
from benchmarks.results import without_folders
from keras_transformer import InputError, split_pairs

DRIVER = pathlib.Path(__file__).with_name("peer_answers.py")
PEERS = {"tutorial": "tutorial (peer)", "torch": "PyTorch (peer)"}
REVERSE = ("train", "validation")  # Parts that a reverse model is trained with: of the test it never learns.


@dataclasses.dataclass(frozen=True)
class System:
    """What is asked.

    Attributes:
        name: What tables call it.
        made_by: All that its answers depend on, JSON.
        ask: A function of a seed that returns its `Answers`.
        seeds: Those it is asked with.
    """

    name: str
    made_by: object
    ask: Callable
    seeds: tuple = (0,)


def ask(system, exam, work):
    """The `Answers` of a system for each of its seeds, from the work folder where they are there.

    Raises:
        Failed: With the system's name, if it cannot be trained or asked.
    """
    found = []
    for seed in system.seeds:
        path = work.answers(exam.split, system.name, seed)
        say(f"{system.name}, seed {seed} …" if len(system.seeds) > 1 else f"{system.name} …")
        try:
            found.append(kept_or_asked(path, system.made_by, exam.questions, functools.partial(system.ask, seed)))
        except (Failed, InputError) as error:
            raise Failed(f"{system.name}: {without_folders(str(error))}") from error
    return found


def without_models(exam, variant):
    """The baselines that only memorize the training pairs; `variant` is that of the nearest questions."""
    frequent, nearest = baselines.always_the_same, baselines.nearest
    return [
        System("most frequent answer", {}, lambda seed: frequent(exam)),
        System(f"nearest question (TF-IDF of {variant})", variant, lambda seed: nearest(exam, variant)),
    ]


def peers(exam, corpus, work, options):
    """The peers, each trained with every seed of its own.

    Args:
        exam: The `Exam`.
        corpus: The `Corpus`.
        work: The `WorkFolder`.
        options: Of the command line: peers, peers_python, peer_epochs, seeds, tutorial_seeds.
    """
    made_by = {"epochs": options.peer_epochs}
    seeds = {"tutorial": options.tutorial_seeds, "torch": options.seeds}
    return [
        System(name, made_by, functools.partial(ask_peer, peer, exam, corpus, work, options), tuple(seeds[peer]))
        for peer, name in PEERS.items()
    ]


def ask_peer(peer, exam, corpus, work, options, seed):
    """Trains a peer unless it was before, in a process of its own; returns its `Answers`."""
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "answers.jsonl"
        words = {
            "peers": options.peers, "corpus": corpus.for_peers(folder), "asked": work.asked(exam), "output": output,
            "kept": work.run(f"{peer} of {options.peer_epochs} epochs", seed), "seed": seed,
            "epochs": options.peer_epochs,
        }  # fmt: skip
        given = [word for name, value in words.items() for word in (f"--{name}", value)]
        run_program([options.peers_python, DRIVER, peer, *given], progress_of(peer_epochs)).check()
        return read_answers(output.read_text("utf-8").splitlines())


def peer_epochs(output):
    """Validation bits per character of the epochs that a peer has printed, the last line perhaps half."""
    for line in output.splitlines():
        with contextlib.suppress(ValueError, TypeError, KeyError):
            yield json.loads(line)["bits_per_char"]


def progress_of(scores):
    """A watcher for `run_program` that tells of epochs as they come; `scores` reads them from the output."""
    told = []

    def watch(seconds, output):
        for bits in list(scores(output))[len(told) :]:
            told.append(bits)
            say(f"  epoch {len(told)}: {bits:.3f} validation bits per character after {seconds:,.0f} s")

    return watch


class Trainer:
    """Trains ours by the command line, each run once.

    Args:
        corpus: The `Corpus`.
        work: The `WorkFolder`, which keeps the runs.
        epochs: The bound of epochs; None for that of the settings.
    """

    def __init__(self, corpus, work, epochs=None):
        self._corpus, self._work = corpus, work
        self._more = ["--epochs", str(epochs)] if epochs else []

    def describe(self, words):
        """What a run depends on, JSON: the words of its settings, and what the files among them say."""
        said = (word.read_text("utf-8") if isinstance(word, pathlib.Path) else word for word in words)
        return [*said, *self._more]

    def run(self, name, words, seed):
        """The folder of a run, trained to its end.

        Args:
            name: Of its settings.
            words: That tell the command line of its settings.
            seed: Its seed.
        """
        return self._train(self._work.run(name, seed), self._corpus.path, words, seed)

    def reverse(self, name, words, seed):
        """The folder of a run that answers with questions, else as `run`."""
        run = self._work.run(f"{name} reverse", seed)
        return self._train(run, self._reversed_corpus(), words, seed)

    def _train(self, run, corpus, words, seed):
        command = [*ours.PROGRAM, "train", corpus, "--run", run, *words, "--seed", seed, *self._more]
        rows = progress_of(lambda _: [row[ours.SCORE] for row in ours.read_metrics(run)])
        run_program(command, None if (run / "summary.json").exists() else rows).check()
        return run

    def _reversed_corpus(self):
        """A folder with a file for each split, its questions and answers exchanged, still split by the questions."""
        folder = self._work.path / "reverse"
        folder.mkdir(exist_ok=True)
        splits = split_pairs(self._corpus.pairs)
        for split in REVERSE:
            pairs = splits[split].rename(columns={"question": "answer", "answer": "question"})
            pairs.to_csv(folder / f"{split}.csv", columns=["question", "answer"], index=False)
        return folder


class Ours:
    """Our runs of the same settings, trained and loaded when they are first asked.

    Args:
        name: Of the settings.
        words: That tell the command line of them.
        exam: The `Exam`.
        nearest: The `NearestQuestions` of its training split.
        trainer: The `Trainer`.
    """

    def __init__(self, name, words, exam, nearest, trainer):
        self.name, self._words, self._exam, self._nearest, self._trainer = name, words, exam, nearest, trainer
        self._askers = {}

    def system(self, way, seeds):
        """The `System` of these settings that chooses answers in one of the `WAYS`, by its name."""
        made_by = {"settings": self._trainer.describe(self._words), "way": WAYS[way].describe()}
        return System(
            f"ours: {self.name}, {way}", made_by, lambda seed: self._asker(seed).answers(WAYS[way]), tuple(seeds)
        )

    def _asker(self, seed):
        if seed not in self._askers:
            run = self._trainer.run(self.name, self._words, seed)
            reverse = functools.partial(self._trainer.reverse, self.name, self._words, seed)
            self._askers[seed] = Asker(run, self._exam, self._nearest, reverse)
        return self._askers[seed]
