"""The questions for all systems, and their answers, which are stored as JSON lines to avoid repeated computation."""

import dataclasses
import hashlib
import json
import pathlib
import re

from benchmarks.results import write_atomically
from keras_transformer import InputError, split_pairs
from keras_transformer.evaluation.evaluate import answers_by_question
from keras_transformer.text.normalize import normalize

OWNER = "corpus.sha256"  # Holds the checksum of the corpus of a work folder.


class Exam:
    """The questions of a dataset split.

    Args:
        pairs: The corpus, as `load_pairs` returns it.
        split: "validation" or "test", by the frozen split.

    Attributes:
        split: The name of the split.
        questions: The distinct questions.
        references: For each question, the list of its answers in the corpus.
        train: The pairs of the training split, a DataFrame.

    Raises:
        InputError: If the split or the training split is empty.
    """

    def __init__(self, pairs, split):
        splits = split_pairs(pairs)
        for name in ("train", split):
            if splits[name].empty:
                raise InputError(f"the corpus is too small: none of its {len(pairs)} pairs falls into the {name} split")
        asked = answers_by_question(splits[split])
        self.split, self.train = split, splits["train"]
        self.questions, self.references = list(asked), list(asked.values())


@dataclasses.dataclass(frozen=True)
class Answers:
    """The answers of a system to the questions of an exam, in their order.

    Attributes:
        texts: The answers.
        bits: For each question, the negative log2-likelihood of its references, summed over their tokens and end
            tokens; None for a system without likelihoods.
        characters: For each question, the number of characters of the references that `bits` includes; None for a
            system without likelihoods.
    """

    texts: list
    bits: list | None = None
    characters: list | None = None


def load_or_ask(path, made_by, questions, ask):
    """Returns the answers stored in a file. If they are missing or outdated, calls `ask()` and stores its result.

    Args:
        path: A file of JSON lines: first `made_by`, then an object for each question.
        made_by: Everything that the answers depend on besides the questions, JSON. If it differs, the file is outdated.
        questions: The questions.
        ask: Function without arguments that returns `Answers`.
    """
    first = json.dumps({"made_by": made_by}, ensure_ascii=False)
    if path.exists():
        head, *rows = path.read_text("utf-8").splitlines()
        if head == first and [json.loads(row)["question"] for row in rows] == questions:
            return read_answers(rows)
    answers = ask()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, "\n".join([first, *rows_of(questions, answers)]) + "\n")
    return answers


def read_answers(rows):
    """Returns the `Answers` of parsed JSON lines."""
    texts, bits, characters = zip(
        *((row["answer"], row.get("bits"), row.get("characters")) for row in map(json.loads, rows)), strict=True
    )
    return Answers(list(texts)) if None in bits else Answers(list(texts), list(bits), list(characters))


def rows_of(questions, answers):
    """Yields the rows that `read_answers` reads."""
    columns = {"question": questions, "answer": answers.texts, "bits": answers.bits, "characters": answers.characters}
    columns = {name: column for name, column in columns.items() if column is not None}
    for values in zip(*columns.values(), strict=True):
        yield json.dumps(dict(zip(columns, values, strict=True)), ensure_ascii=False)


class WorkFolder:
    """The folder that keeps trained runs and answers between starts of the benchmark.

    Args:
        path: The folder, which is created if missing.
        corpus: The corpus file of the runs and answers.

    Attributes:
        path: The absolute path of the folder.

    Raises:
        InputError: If the folder belongs to another corpus, or contains other files.
    """

    def __init__(self, path, corpus):
        self.path = pathlib.Path(path).resolve()
        self._corpus = corpus
        owner, digest = self.path / OWNER, hashlib.sha256(pathlib.Path(corpus).read_bytes()).hexdigest()
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{path}: a file; --work wants a folder")
        if owner.exists():
            if owner.read_text("utf-8").strip() != digest:
                raise InputError(f"{path}: made of another corpus; name another folder with --work")
            return
        if self.path.exists() and any(self.path.iterdir()):
            raise InputError(f"{path}: holds something else; name another folder with --work")
        self.path.mkdir(parents=True, exist_ok=True)
        write_atomically(owner, f"{digest}\n")

    def answers(self, split, system, seed):
        """Returns the path of the answers of a system."""
        return self.path / split / f"{file_name(system)}-{seed}.jsonl"

    def run(self, settings, seed):
        """Returns the path of a run folder."""
        return self.path / "runs" / f"{file_name(settings)}-{seed}"

    def asked(self, exam):
        """Returns the path of a JSONL file with the questions of an exam and their references."""
        path = self.path / f"{exam.split}.jsonl"
        rows = [
            json.dumps({"question": question, "references": [*map(normalize, references)]}, ensure_ascii=False)
            for question, references in zip(exam.questions, exam.references, strict=True)
        ]
        write_atomically(path, "\n".join(rows) + "\n")
        return path


def file_name(name):
    """Returns a name as a path component: "beam 4, length penalty 0.6" becomes "beam_4_length_penalty_0.6"."""
    return re.sub(r"[^\w.]+", "_", name).strip("_")
