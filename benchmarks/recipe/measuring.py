"""Trains a corpus with one seed and default options, and evaluates the run."""

import dataclasses
import hashlib
import json
import shutil
import statistics
import subprocess

from benchmarks import ours
from benchmarks.programs import Failed, run_program
from benchmarks.recipe.corpora import KNOWN
from benchmarks.recipe.rewording import REWORDINGS
from benchmarks.results import without_folders, write_atomically
from keras_transformer.text.normalize import normalize

EXACT, GENERATED = "exact", "by generate"
DIVERGED = ("diverged", "the loss became")  # Texts in the log of a diverged training.


@dataclasses.dataclass
class Record:
    """The stored results of a training.

    Attributes:
        corpus: SHA-256 of the corpus in hex.
        seconds: Wall time of the whole process.
        diverged: Whether training diverged according to its log, even if it recovered.
        failure: The last line of output if training or evaluation failed; None otherwise.
        best_epoch: The best epoch in the run's summary; None if training failed.
        epochs: The number of epochs in the run's summary; None if training failed.
        scores: Dictionary from names to shares: `EXACT`, and for a corpus of known questions those of `REWORDINGS` that
            apply, those of `Source.asked`, and `GENERATED`, which is `EXACT` for generated
            answers.
        questions: SHA-256 of the test questions in hex; None before the evaluation.
    """

    corpus: str
    seconds: float
    diverged: bool
    failure: str | None = None
    best_epoch: int | None = None
    epochs: int | None = None
    scores: dict = dataclasses.field(default_factory=dict)
    questions: str | None = None

    def save(self, path):
        """Saves the record to a file."""
        write_atomically(path, json.dumps(dataclasses.asdict(self), indent=1) + "\n")

    @classmethod
    def load(cls, path):
        """Loads a record from a file; None if there is none."""
        return cls(**json.loads(path.read_text("utf-8"))) if path.exists() else None


def measure(source, name, seed, runs):
    """Trains a run on a corpus and evaluates it, unless both results are stored.

    Args:
        source: The `Source`.
        name: Its name.
        seed: The seed of the training.
        runs: The folder that keeps corpora, runs and records.

    Returns:
        The `Record`.
    """
    corpora = runs / "corpora"
    corpora.mkdir(parents=True, exist_ok=True)
    corpus, run = source.write(corpora, name), runs / f"{name}_{seed}"
    record = trained(corpus, run, seed)
    asked = questions_by_score(source)
    questions = digest_of(json.dumps(asked, ensure_ascii=False))
    if record.failure is None and record.questions != questions:
        try:
            record.scores = known_scores(run, asked) if source.kind == KNOWN else {EXACT: exact_match(run)}
        except Failed as error:  # The failure is not stored, so that the evaluation can be repeated.
            return dataclasses.replace(record, failure=without_folders(str(error)), scores={})
        record.questions = questions
        record.save(record_of(run))
    return record


def record_of(run):
    """Returns the path of a run's record."""
    return run.with_name(f"{run.name}.json")


def trained(corpus, run, seed):
    """Returns the `Record` of a training. A training that has not ended well before starts from scratch."""
    digest = digest_of_corpus(corpus)
    record = Record.load(record_of(run))
    if record and record.failure is None and record.corpus == digest and (run / "summary.json").exists():
        return record
    record_of(run).unlink(missing_ok=True)
    shutil.rmtree(run, ignore_errors=True)  # Start over, because `seconds` measures a whole training.
    outcome = run_program([*ours.PROGRAM, "train", corpus, "--run", run, "--seed", seed])
    run.with_name(f"{run.name}.log").write_text(outcome.errors, "utf-8")
    record = Record(digest, round(outcome.seconds, 1), any(word in outcome.errors for word in DIVERGED))
    try:
        outcome.check()
        summary = json.loads((run / "summary.json").read_text("utf-8"))
        record.best_epoch, record.epochs = summary["best_epoch"], summary["epochs"]
    except Failed as error:
        record.failure = without_folders(str(error))
    record.save(record_of(run))
    return record


def digest_of(text):
    """Returns the SHA-256 of a text in hex."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def digest_of_corpus(path):
    """Returns the SHA-256 in hex of a file, or of the names and contents of the files of a folder."""
    if path.is_file():
        return digest_of(path.read_text("utf-8"))
    return digest_of("".join(f"{file.name}\n{file.read_text('utf-8')}" for file in sorted(path.iterdir())))


def questions_by_score(source):
    """Returns the test questions of a corpus, a dictionary from names of scores to lists of (question, right answers).

    A reworded question that equals another question of the corpus is left out. The dictionary is empty for a corpus of
    unseen questions, which `keras-transformer evaluate` tests.
    """
    if source.kind != KNOWN:
        return {}
    answers = {}
    for question, answer in source.pairs():
        answers.setdefault(normalize(question), []).append(normalize(answer))
    asked = {EXACT: list(answers.items())}
    for name, reword in REWORDINGS.items():
        reworded = [(reword(question), right) for question, right in answers.items()]
        asked[name] = [(question, right) for question, right in reworded if question and question not in answers]
    for name, others in source.asked().items():
        found = ((other, answers.get(normalize(question))) for question, other in others.items())
        asked[name] = [(other, right) for other, right in found if right]
    return {name: pairs for name, pairs in asked.items() if pairs}


def known_scores(run, asked):
    """Returns the share of right answers by the names of `questions_by_score` and `GENERATED`."""
    generated = shares(run, {GENERATED: asked[EXACT]}, "--answer-by", "generate")
    return {**shares(run, asked), **generated}


def shares(run, asked, *options):
    """Returns the share of right answers by name, for one set of command-line options."""
    questions = [question for pairs in asked.values() for question, _ in pairs]
    answers = said(["answer", run, *options], questions).removesuffix("\n").split("\n")
    if len(answers) != len(questions):
        raise Failed(f"{len(answers)} answers to {len(questions)} questions")
    answers = iter(answers)
    return {
        name: statistics.fmean(normalize(next(answers)) in right for _, right in pairs) for name, pairs in asked.items()
    }


def exact_match(run):
    """Returns the share of exact answers on the test split of a run's corpus."""
    return json.loads(said(["evaluate", run, "--json"]))["exact_match"]


def said(words, lines=()):
    """Returns the output of a command of ours, given lines on its standard input.

    Raises:
        Failed: With the last line of standard error, if the command fails.
    """
    command = [*map(str, ours.PROGRAM), *map(str, words)]
    text = "".join(f"{line}\n" for line in lines)
    done = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        raise Failed((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1])
    return done.stdout
