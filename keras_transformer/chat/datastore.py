"""The datastore of a run: the exchanges that it was trained on and those that it was taught, found by their questions.

    datastore.jsonl         an exchange a line: question, answer, file and row
    datastore.safetensors   the embeddings of n-grams that questions are compared by (`question_embeddings`)
    corrections.jsonl       what was taught and forgotten since: the one file that changes after training

The term is that of kNN-LM (Khandelwal et al. 2020); *memory* stays the encoder's output.
"""

import contextlib
import copy
import dataclasses
import json
import pathlib
import unicodedata

from keras_transformer.chat.question_embeddings import QuestionEmbeddings
from keras_transformer.chat.question_index import QuestionIndex
from keras_transformer.errors import InputError
from keras_transformer.runs.atomic_io import write_atomically
from keras_transformer.runs.lock import locked
from keras_transformer.runs.tensor_file import load_tensors, save_tensors
from keras_transformer.text.normalize import normalize

EXCHANGES, EMBEDDINGS, CORRECTIONS = "datastore.jsonl", "datastore.safetensors", "corrections.jsonl"
FILES = (EXCHANGES, EMBEDDINGS, CORRECTIONS)
WAIT = 3.0  # Seconds until another process has finished its correction; a training takes longer.


@dataclasses.dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer.

    Attributes:
        question: Text.
        answer: Text.
        file: Name of the file that it was read from, or `corrections.jsonl`; None if it was made in memory.
        row: Number of the row in that file, from 1.
    """

    question: str
    answer: str
    file: str | None = None
    row: int | None = None

    @property
    def taught(self):
        """Whether it was taught after training."""
        return self.file == CORRECTIONS

    @property
    def place(self):
        """Where it comes from, in words."""
        return f"{self.file}, row {self.row}" if self.file else f"pair {self.row}"


@dataclasses.dataclass(frozen=True)
class Match:
    """An exchange found for a question.

    Attributes:
        exchange: The `Exchange`.
        similarity: Of the two questions, from 0 to 1.
    """

    exchange: Exchange
    similarity: float

    def to_dict(self):
        """The match as a dictionary that JSON can hold."""
        return {**dataclasses.asdict(self.exchange), "similarity": round(self.similarity, 4)}


class Datastore:
    """Exchanges that are found by their questions, and corrected.

    Args:
        path: The run folder.
        run_id: That of the run, which its files carry.

    Raises:
        InputError: If a file is damaged or of another run.
    """

    def __init__(self, path, run_id):
        self._path = pathlib.Path(path)
        self._exchanges = read_exchanges(self._path / EXCHANGES)
        tensors, about = load_tensors(self._path / EMBEDDINGS, run_id)
        if about["exchanges"] != len(self._exchanges):
            raise InputError(
                f"{self._path / EXCHANGES}: damaged: it has {len(self._exchanges)} exchanges, not {about['exchanges']}"
            )
        # Runs of the first versions have none.
        self._embeddings = QuestionEmbeddings(**tensors) if "vectors" in tensors else None
        self._corpus = self._exchanges
        self._by_question, self._index, self._of_corpus = {}, None, None
        for number, exchange in enumerate(self._corpus):
            question = normalize(exchange.question)
            question = exchange.question if question == exchange.question else question  # One text, not two.
            self._by_question.setdefault(question, []).append(number)
        self._stamp = None
        self._refresh()

    @staticmethod
    def exists(path):
        """Whether a folder has one."""
        return (pathlib.Path(path) / EXCHANGES).is_file()

    def __len__(self):
        self._refresh()
        return len(self._exchanges) - len(self._hidden)

    @property
    def corrections(self):
        """What was taught and forgotten: dictionaries as in `corrections.jsonl`, in the order in which it was."""
        self._refresh()
        return self._corrections

    def visible(self):
        """What can be found as it stands now.

        Returns:
            The `Exchange`s, those of the corpus first; their numbers in the index; and this, a `QuestionIndex`.
        """
        self._refresh()
        self._make_index()
        numbers = [number for number in range(len(self._exchanges)) if number not in self._hidden]
        return [self._exchanges[number] for number in numbers], numbers, self._index

    def nearest(self, questions, count=1):
        """The exchanges whose questions are nearest.

        Args:
            questions: Texts.
            count: Matches for each, at most.

        Returns:
            For each question a list of `Match`es, nearest first; empty if nothing has a character in common.
        """
        self._refresh()
        self._make_index()
        found = []
        for question, nearest in zip(questions, self._index.nearest(questions, self._hidden)):
            similarities = {int(number): float(similarity) for number, similarity in zip(*nearest)}
            # What asks just this comes first: other questions may have the same characters.
            exact = dict.fromkeys(self._asking(question), 1.0)
            similarities = exact | similarities | exact
            visible = [number for number in similarities if number not in self._hidden][:count]
            found.append([Match(self._exchanges[number], similarities[number]) for number in visible])
        return found

    def _asking(self, question):
        """The numbers of the exchanges that ask just this."""
        asked = normalize(question)
        taught = range(len(self._corpus), len(self._exchanges))
        return [
            *(number for number in taught if normalize(self._exchanges[number].question) == asked),
            *self._by_question.get(asked, ()),
        ]

    def teach(self, question, answer):
        """Gives a question an answer that takes the place of those it had; it holds for similar questions too.

        Returns:
            The answers that the question had, a list of texts.

        Raises:
            InputError: If one of them is blank or no Unicode.
            RunLocked: If the run is being trained.
        """
        question, answer = as_kept(question), as_kept(answer)
        if not question or not answer:
            raise InputError("teach: give a question and its answer; one of them is blank")
        with self._changing() as corrections:
            former = self._answers_to(question, corrections)
            corrections[:] = [*others_than_taught(corrections, question), {"question": question, "answer": answer}]
        return former

    def forget(self, question):
        """Takes back what was taught for a question; or else leaves the exchanges of the corpus that ask it aside.

        Returns:
            The answers that the question had, a list of texts.

        Raises:
            InputError: If nothing asks this.
            RunLocked: If the run is being trained.
        """
        question = as_kept(question)
        with self._changing() as corrections:
            if former := self._answers_to(question, corrections):
                others = others_than_taught(corrections, question)
                if len(others) == len(corrections):
                    others.append({"question": question, "forgotten": True})
                corrections[:] = others
        if not former:
            raise InputError(f"forget: no exchange asks {question!r}{self._nearest_instead(question)}")
        return former

    def answers_to(self, question):
        """The answers that exactly this question has, a list of texts."""
        self._refresh()
        return self._answers_to(as_kept(question), self._corrections)

    def _answers_to(self, question, corrections):
        asked, numbers = normalize(question), self._by_question.get(normalize(question), ())
        about = [one for one in corrections if normalize(one["question"]) == asked]
        if about:
            return [about[-1]["answer"]] if "answer" in about[-1] else []
        return list(dict.fromkeys(self._corpus[number].answer for number in numbers))

    def _nearest_instead(self, question):
        [matches] = self.nearest([question]) if question else [[]]
        return f"; the nearest asks {matches[0].exchange.question!r}" if matches else ""

    @contextlib.contextmanager
    def _changing(self):
        """The corrections, a list to be changed, while nobody else changes them; written when the block ends."""
        path = self._path / CORRECTIONS
        with locked(self._path, WAIT):
            before = read_corrections(path)
            corrections = list(before)
            yield corrections
            if corrections == before:
                return
            if corrections:
                text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in corrections)
                write_atomically(path, text.encode("utf-8"))
            else:
                path.unlink(missing_ok=True)

    def _refresh(self):
        """Reads the corrections again if the file has changed, as by another process."""
        stamp = stamp_of(self._path / CORRECTIONS)
        if stamp == self._stamp:
            return
        self._corrections, self._stamp = read_corrections(self._path / CORRECTIONS), stamp
        latest = {normalize(one["question"]): (one, row) for row, one in enumerate(self._corrections, 1)}
        self._hidden = {number for question in latest for number in self._by_question.get(question, ())}
        taught = ((one, row) for one, row in latest.values() if "answer" in one)
        added = [Exchange(one["question"], one["answer"], CORRECTIONS, row) for one, row in taught]
        if self._exchanges != [*self._corpus, *added]:
            self._exchanges, self._index = [*self._corpus, *added], None

    def _make_index(self):
        """Makes the index of the exchanges as they are now, unless it is there."""
        if self._index is not None:
            return
        if self._of_corpus is None:
            self._of_corpus = QuestionIndex(*questions_and_answers(self._corpus), self._embeddings)
        index = copy.copy(self._of_corpus)  # What is added to it leaves the other as it is.
        if added := self._exchanges[len(self._corpus) :]:
            index.add(*questions_and_answers(added))
        self._index = index


def questions_and_answers(exchanges):
    """Two lists of texts."""
    return [one.question for one in exchanges], [one.answer for one in exchanges]


def save_datastore(path, run_id, exchanges, embeddings):
    """Writes a run's datastore.

    Args:
        path: The run folder.
        run_id: That of the run.
        exchanges: `Exchange`s, at least one.
        embeddings: The `QuestionEmbeddings` learned from them.
    """
    path = pathlib.Path(path)
    lines = (json.dumps(dataclasses.asdict(one), ensure_ascii=False) + "\n" for one in exchanges)
    tensors = {"columns": embeddings.columns, "vectors": embeddings.vectors}
    save_tensors(path / EMBEDDINGS, tensors, run_id, {"exchanges": len(exchanges)})
    write_atomically(path / EXCHANGES, "".join(lines).encode("utf-8"))


def as_kept(text):
    """A text as a correction keeps it: composed (NFC), without white space around it.

    Raises:
        InputError: If it is no Unicode.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(f"{text!r} is not UTF-8") from error
    return unicodedata.normalize("NFC", text).strip()


def others_than_taught(corrections, question):
    """The corrections without what was taught for a question."""
    asked = normalize(question)
    return [one for one in corrections if normalize(one["question"]) != asked or "answer" not in one]


def stamp_of(path):
    """What differs for a file that has changed; () if there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino


def read_exchanges(path):
    """The `Exchange`s of a file; raises `InputError` if it is damaged."""
    names, exchanges = {}, []
    for one in read_lines(path, {"question", "answer", "file", "row"}, {"question", "answer"}):
        if "file" in one:
            one["file"] = names.setdefault(one["file"], one["file"])  # One text for all of a file.
        exchanges.append(Exchange(**one))
    if not exchanges:
        raise InputError(f"{path}: damaged: it holds no exchange")
    return exchanges


def read_corrections(path):
    """The corrections of a run, dictionaries, in the order in which they were made; none if there is no file.

    Raises:
        InputError: If the file is damaged.
    """
    if not path.is_file():
        return []
    try:
        return list(read_lines(path, {"question", "answer", "forgotten"}, {"question"}))
    except FileNotFoundError:  # The last correction was taken back in between.
        return []


def read_lines(path, known, needed):
    """Yields the objects of a JSONL file.

    Raises:
        InputError: If one has other keys than are known, or lacks one, or holds something else than text in one.
        FileNotFoundError: If there is no file.
    """
    try:
        with open(path, encoding="utf-8", newline="\n") as file:
            for row, line in enumerate(file, 1):
                if line.strip():
                    yield checked_line(row, json.loads(line), known, needed)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: damaged: {error}") from error


def checked_line(row, one, known, needed):
    """An object of a JSONL file; raises `ValueError` if it is none, or not of the right keys."""
    if not isinstance(one, dict) or not needed <= set(one) <= known:
        raise ValueError(f"row {row}: not an object of {', '.join(sorted(known))}")
    if any(not isinstance(one.get(name, ""), str) for name in ("question", "answer")):
        raise ValueError(f"row {row}: its question or answer is not a text")
    return one
