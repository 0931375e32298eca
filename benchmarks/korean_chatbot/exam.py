"""What all systems are asked, and what they answered: kept as JSON lines, so that nothing is asked twice."""

import dataclasses
import hashlib
import json
import pathlib
import re

from benchmarks.results import write_atomically
from keras_transformer import InputError, split_pairs
from keras_transformer.evaluation.evaluate import answers_by_question
from keras_transformer.text.normalize import normalize

OWNER = "corpus.sha256"  # Says which corpus a folder of answers and runs was made of.


class Exam:
    """The questions of a split of a corpus.

    Args:
        pairs: The corpus, as `load_pairs` returns it.
        split: "validation" or "test", by the frozen split.

    Attributes:
        split: The same.
        questions: The different ones.
        references: For each of them the answers that it has in the corpus, lists.
        train: The pairs of the training split, a DataFrame.

    Raises:
        InputError: If the split, or that of training, is empty.
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
    """What a system answered to the questions of an exam, in their order.

    Attributes:
        texts: The answers.
        bits: How unlikely the system finds the references of each question: the sum of the negative log2-likelihoods
            of their tokens and end tokens; None of a system that knows no likelihoods.
        characters: Those of the references that `bits` counts, for each question; None likewise.
    """

    texts: list
    bits: list | None = None
    characters: list | None = None


def kept_or_asked(path, made_by, questions, ask):
    """The answers that a file holds, or else those that `ask()` gives, which the file then holds.

    Args:
        path: A file of JSON lines: first what made the answers, then an object for each question.
        made_by: All that the answers depend on besides the questions, JSON; others are asked for anew.
        questions: Those that are answered.
        ask: A function without arguments that returns `Answers`.
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
    """The `Answers` of lines of JSON."""
    texts, bits, characters = zip(
        *((row["answer"], row.get("bits"), row.get("characters")) for row in map(json.loads, rows)), strict=True
    )
    return Answers(list(texts)) if None in bits else Answers(list(texts), list(bits), list(characters))


def rows_of(questions, answers):
    """The lines that `read_answers` reads."""
    columns = {"question": questions, "answer": answers.texts, "bits": answers.bits, "characters": answers.characters}
    columns = {name: column for name, column in columns.items() if column is not None}
    for values in zip(*columns.values(), strict=True):
        yield json.dumps(dict(zip(columns, values, strict=True)), ensure_ascii=False)


class WorkFolder:
    """The folder that keeps trained runs and answers from one start to the next.

    Args:
        path: The folder, which is made if there is none.
        corpus: The corpus file that all of it is made of.

    Attributes:
        path: The folder, absolute.

    Raises:
        InputError: If the folder was made of another corpus, or holds something else.
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
        """The file for the answers of a system."""
        return self.path / split / f"{file_name(system)}-{seed}.jsonl"

    def run(self, settings, seed):
        """The folder for a run."""
        return self.path / "runs" / f"{file_name(settings)}-{seed}"

    def asked(self, exam):
        """A file of JSON lines with the questions of an exam and their references."""
        path = self.path / f"{exam.split}.jsonl"
        rows = [
            json.dumps({"question": question, "references": [*map(normalize, references)]}, ensure_ascii=False)
            for question, references in zip(exam.questions, exam.references, strict=True)
        ]
        write_atomically(path, "\n".join(rows) + "\n")
        return path


def file_name(name):
    """A name as a component of a path: "beam 4, length penalty 0.6" becomes "beam_4_length_penalty_0.6"."""
    return re.sub(r"[^\w.]+", "_", name).strip("_")
