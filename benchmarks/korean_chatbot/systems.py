"""The systems under test: how they are trained for each seed, and what their answers depend on."""

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
from benchmarks.korean_chatbot.exam import load_or_ask, read_answers
from benchmarks.korean_chatbot.ways import WAYS, Asker
from benchmarks.programs import Failed, run_program
from benchmarks.results import without_folders
from keras_transformer import InputError, split_pairs

DRIVER = pathlib.Path(__file__).with_name("peer_answers.py")
PEERS = {"tutorial": "tutorial (peer)", "torch": "PyTorch (peer)"}
REVERSE = ("train", "validation")  # Splits to train a reverse model on; never the test split.


@dataclasses.dataclass(frozen=True)
class System:
    """A system under test.

    Attributes:
        name: The name in tables.
        made_by: Everything that its answers depend on, JSON.
        ask: Function from a seed to its `Answers`.
        seeds: The seeds.
    """

    name: str
    made_by: object
    ask: Callable
    seeds: tuple = (0,)


def ask(system, exam, work):
    """Returns the `Answers` of a system for each of its seeds, from the work folder if they exist.

    Raises:
        Failed: With the name of the system, if it cannot be trained or asked.
    """
    found = []
    for seed in system.seeds:
        path = work.answers(exam.split, system.name, seed)
        say(f"{system.name}, seed {seed} …" if len(system.seeds) > 1 else f"{system.name} …")
        try:
            found.append(load_or_ask(path, system.made_by, exam.questions, functools.partial(system.ask, seed)))
        except (Failed, InputError) as error:
            raise Failed(f"{system.name}: {without_folders(str(error))}") from error
    return found


def without_models(exam, variant):
    """Returns the baselines that only memorize the training pairs; `variant` is that of the nearest questions."""
    frequent, nearest = baselines.most_frequent_baseline, baselines.nearest
    return [
        System("most frequent answer", {}, lambda seed: frequent(exam)),
        System(f"nearest question (TF-IDF of {variant})", variant, lambda seed: nearest(exam, variant)),
    ]


def peers(exam, corpus, work, options):
    """Returns the peers, each trained with every one of its seeds.

    Args:
        exam: The `Exam`.
        corpus: The `Corpus`.
        work: The `WorkFolder`.
        options: The command-line options peers, peers_python, peer_epochs, seeds and tutorial_seeds.
    """
    made_by = {"epochs": options.peer_epochs}
    seeds = {"tutorial": options.tutorial_seeds, "torch": options.seeds}
    return [
        System(name, made_by, functools.partial(ask_peer, peer, exam, corpus, work, options), tuple(seeds[peer]))
        for peer, name in PEERS.items()
    ]


def ask_peer(peer, exam, corpus, work, options, seed):
    """Trains a peer in a separate process, unless it has been trained before. Returns its `Answers`."""
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
    """Yields the validation bits per character of each epoch in a peer's output. Its last line may be incomplete."""
    for line in output.splitlines():
        with contextlib.suppress(ValueError, TypeError, KeyError):
            yield json.loads(line)["bits_per_char"]


def progress_of(scores):
    """Returns a `watch` function for `run_program` that prints new epochs; `scores` reads them from the output."""
    told = []

    def watch(seconds, output):
        for bits in list(scores(output))[len(told) :]:
            told.append(bits)
            say(f"  epoch {len(told)}: {bits:.3f} validation bits per character after {seconds:,.0f} s")

    return watch


class Trainer:
    """Trains our runs by the command line, each one once.

    Args:
        corpus: The `Corpus`.
        work: The `WorkFolder`, which keeps the runs.
        epochs: Maximum number of epochs; None for that of the settings.
    """

    def __init__(self, corpus, work, epochs=None):
        self._corpus, self._work = corpus, work
        self._more = ["--epochs", str(epochs)] if epochs else []

    def describe(self, words):
        """Returns everything that a run depends on, JSON: its command-line settings and the contents of their files."""
        said = (word.read_text("utf-8") if isinstance(word, pathlib.Path) else word for word in words)
        return [*said, *self._more]

    def run(self, name, words, seed):
        """Trains a run, unless it exists, and returns its folder.

        Args:
            name: The name of the settings.
            words: The command-line arguments of the settings.
            seed: The seed.
        """
        return self._train(self._work.run(name, seed), self._corpus.path, words, seed)

    def reverse(self, name, words, seed):
        """Trains a reverse run, from answers to questions, and returns its folder. Arguments are those of `run`."""
        run = self._work.run(f"{name} reverse", seed)
        return self._train(run, self._reversed_corpus(), words, seed)

    def _train(self, run, corpus, words, seed):
        command = [*ours.PROGRAM, "train", corpus, "--run", run, *words, "--seed", seed, *self._more]
        rows = progress_of(lambda _: [row[ours.SCORE] for row in ours.read_metrics(run)])
        run_program(command, None if (run / "summary.json").exists() else rows).check()
        return run

    def _reversed_corpus(self):
        """Returns a folder with a file per split. Questions and answers are swapped; the splits are unchanged."""
        folder = self._work.path / "reverse"
        folder.mkdir(exist_ok=True)
        splits = split_pairs(self._corpus.pairs)
        for split in REVERSE:
            pairs = splits[split].rename(columns={"question": "answer", "answer": "question"})
            pairs.to_csv(folder / f"{split}.csv", columns=["question", "answer"], index=False)
        return folder


class Ours:
    """Our runs with the same settings, trained and loaded when they are first used.

    Args:
        name: The name of the settings.
        words: The command-line arguments of the settings.
        exam: The `Exam`.
        nearest: The `NearestQuestions` of its training split.
        trainer: The `Trainer`.
    """

    def __init__(self, name, words, exam, nearest, trainer):
        self.name, self._words, self._exam, self._nearest, self._trainer = name, words, exam, nearest, trainer
        self._askers = {}

    def system(self, way, seeds):
        """Returns the `System` with these settings that selects answers in one of the `WAYS`, given by name."""
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
