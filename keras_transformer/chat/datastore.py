"""The datastore of a run: its training exchanges and corrections, retrieved by question.

    datastore.jsonl         one exchange per line: question, answer, file and row
    datastore.safetensors   the n-gram embeddings for comparing questions (`question_embeddings`)
    corrections.jsonl       what was taught and forgotten; the only file that changes after training

The term *datastore* is from kNN-LM (Khandelwal et al. 2020); *memory* denotes the encoder's output.
"""

import contextlib
import copy
import dataclasses
import json
import pathlib

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.runs.atomic_io import remove_leftovers
from keras_transformer.runs.checksums import check, remove_recorded, write_recorded
from keras_transformer.runs.lock import locked
from keras_transformer.runs.tensor_file import load_tensors, save_tensors
from keras_transformer.text.normalize import check_unicode, compose, normalize

EXCHANGES, EMBEDDINGS, CORRECTIONS = "datastore.jsonl", "datastore.safetensors", "corrections.jsonl"
FILES = (EXCHANGES, EMBEDDINGS, CORRECTIONS)
WAIT = 3.0  # Seconds to wait for the lock. A correction in another process takes less, a training takes longer.


@dataclasses.dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer.

    Attributes:
        question: The question.
        answer: The answer.
        file: Name of the source file, or `corrections.jsonl`; None for pairs passed in memory.
        row: Number of the row in that file, from 1.
    """

    question: str
    answer: str
    file: str | None = None
    row: int | None = None

    @property
    def taught(self):
        """Whether the exchange was taught after training."""
        return self.file == CORRECTIONS

    @property
    def place(self):
        """The source of the exchange, as text."""
        if self.file:
            return _("{file}, row {row}", file=self.file, row=self.row)
        return _("pair {row}", row=self.row)


@dataclasses.dataclass(frozen=True)
class Match:
    """An exchange retrieved for a question.

    Attributes:
        exchange: The `Exchange`.
        similarity: The similarity of the two questions, from 0 to 1.
    """

    exchange: Exchange
    similarity: float

    def to_dict(self):
        """Returns the match as a JSON-serializable dictionary."""
        return {**dataclasses.asdict(self.exchange), "similarity": round(self.similarity, 4)}


class Datastore:
    """Exchanges that are retrieved by question and can be corrected.

    Args:
        path: The run folder.
        run_id: The id of the run, which its files must carry.

    Raises:
        InputError: If a file is damaged or belongs to another run.
    """

    def __init__(self, path, run_id):
        self._path = pathlib.Path(path)
        self._exchanges = read_exchanges(self._path / EXCHANGES)
        check(self._path / EMBEDDINGS, run_id)
        tensors, about = load_tensors(self._path / EMBEDDINGS, run_id)
        if about["exchanges"] != len(self._exchanges):
            raise InputError(
                _(
                    "{path}: damaged: it has {count} exchanges, not {expected}",
                    path=self._path / EXCHANGES,
                    count=len(self._exchanges),
                    expected=about["exchanges"],
                )
            )
        self._tensors = tensors
        self._corpus = self._exchanges
        self._by_question, self._index, self._of_corpus = {}, None, None
        for number, exchange in enumerate(self._corpus):
            question = normalize(exchange.question)
            question = (
                exchange.question if question == exchange.question else question
            )  # Share one string to save memory.
            self._by_question.setdefault(question, []).append(number)
        self._stamp = None
        self._refresh()

    @staticmethod
    def exists(path):
        """Returns whether a folder has a datastore."""
        return (pathlib.Path(path) / EXCHANGES).is_file()

    def __len__(self):
        self._refresh()
        return len(self._exchanges) - len(self._hidden)

    @property
    def corrections(self):
        """The corrections, a list of dictionaries as in `corrections.jsonl`, in their order."""
        self._refresh()
        return self._corrections

    def exchanges(self):
        """Yields the exchanges that can currently be retrieved, those of the corpus first."""
        self._refresh()
        yield from (one for number, one in enumerate(self._exchanges) if number not in self._hidden)

    def visible(self):
        """Returns the exchanges that can currently be retrieved.

        Returns:
            The `Exchange`s, those of the corpus first; their numbers in the index; and the `QuestionIndex`.
        """
        self._refresh()
        self._make_index()
        numbers = [number for number in range(len(self._exchanges)) if number not in self._hidden]
        return [self._exchanges[number] for number in numbers], numbers, self._index

    def nearest(self, questions, count=1):
        """Finds the exchanges with the nearest questions.

        Args:
            questions: The questions, a list of texts.
            count: Maximum number of matches for each question.

        Returns:
            For each question, a list of `Match`es, nearest first; empty if no exchange has a character in common.

        Raises:
            InputError: If a question is not valid Unicode.
        """
        for question in questions:
            check_unicode(question)
        self._refresh()
        self._make_index()
        matches = []
        for question, nearest in zip(questions, self._index.nearest(questions, self._hidden)):
            similarities = {int(number): float(similarity) for number, similarity in zip(*nearest)}
            # Exact matches come first: other questions may have the same characters.
            exact = dict.fromkeys(self._asking(question), 1.0)
            similarities = exact | similarities | exact
            visible = [number for number in similarities if number not in self._hidden][:count]
            matches.append([Match(self._exchanges[number], similarities[number]) for number in visible])
        return matches

    def _asking(self, question):
        """Returns the numbers of the exchanges with exactly this question, the taught ones first."""
        normalized = normalize(question)
        taught = range(len(self._corpus), len(self._exchanges))
        return [
            *(number for number in taught if normalize(self._exchanges[number].question) == normalized),
            *self._by_question.get(normalized, ()),
        ]

    def teach(self, question, answer):
        """Teaches the answer to a question. It replaces the previous answers and applies to similar questions, too.

        Returns:
            The previous answers, a list of texts.

        Raises:
            InputError: If the question or the answer is blank or not valid Unicode.
            RunLocked: If the run is being trained.
        """
        question, answer = stored_form(question), stored_form(answer)
        if not question or not answer:
            raise InputError(_("teach: the question or the answer is blank. Give both."))
        with self._changing() as corrections:
            former = self._answers_to(question, corrections)
            corrections[:] = [*without_correction(corrections, question), {"question": question, "answer": answer}]
        return former

    def forget(self, question):
        """Undoes what was taught for a question; if nothing was taught, hides its exchanges of the corpus.

        Returns:
            The previous answers, a list of texts.

        Raises:
            InputError: If no exchange has this question.
            RunLocked: If the run is being trained.
        """
        question = stored_form(question)
        with self._changing() as corrections:
            if former := self._answers_to(question, corrections):
                others = without_correction(corrections, question)
                if len(others) == len(corrections):
                    others.append({"question": question, "forgotten": True})
                corrections[:] = others
        if not former:
            raise InputError(self._unknown_question(question))
        return former

    def answers_to(self, question):
        """Returns the answers to exactly this question, a list of texts."""
        self._refresh()
        return self._answers_to(stored_form(question), self._corrections)

    def _answers_to(self, question, corrections):
        normalized, numbers = normalize(question), self._by_question.get(normalize(question), ())
        about = [one for one in corrections if normalize(one["question"]) == normalized]
        if about:
            return [about[-1]["answer"]] if "answer" in about[-1] else []
        return list(dict.fromkeys(self._corpus[number].answer for number in numbers))

    def _unknown_question(self, question):
        [matches] = self.nearest([question]) if question else [[]]
        unknown = _("forget: no exchange has the question {question!r}", question=question)
        if not matches:
            return unknown
        nearest = matches[0].exchange.question
        return _("{unknown}; the nearest question is {nearest!r}", unknown=unknown, nearest=nearest)

    @contextlib.contextmanager
    def _changing(self):
        """Locks the corrections and yields them as a mutable list, which is written when the block ends."""
        path = self._path / CORRECTIONS
        with locked(self._path, WAIT):
            remove_leftovers(self._path)
            before = read_corrections(path)
            corrections = list(before)
            yield corrections
            if corrections == before:
                return
            if corrections:
                text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in corrections)
                write_recorded(path, text.encode("utf-8"))
            else:
                remove_recorded(path)

    def _refresh(self):
        """Reloads the corrections if the file has changed, for example by another process."""
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
        """Builds the index of the current exchanges, unless it is up to date."""
        if self._index is not None:
            return
        if self._of_corpus is None:
            self._of_corpus = index_of_corpus(self._corpus, self._tensors)
        index = copy.copy(self._of_corpus)  # Adding to the copy does not change the original.
        if added := self._exchanges[len(self._corpus) :]:
            index.add(*questions_and_answers(added))
        self._index = index


def index_of_corpus(exchanges, tensors):
    """Returns the `QuestionIndex` of exchanges with the tensors of their embeddings."""
    # These import SciPy, which correcting a run does not need.
    from keras_transformer.chat.question_embeddings import QuestionEmbeddings
    from keras_transformer.chat.question_index import QuestionIndex

    # Runs of the first versions have no embeddings.
    embeddings = QuestionEmbeddings(**tensors) if "vectors" in tensors else None
    return QuestionIndex(*questions_and_answers(exchanges), embeddings)


def questions_and_answers(exchanges):
    """Returns the questions and the answers of exchanges, two lists of texts."""
    return [one.question for one in exchanges], [one.answer for one in exchanges]


def save_datastore(path, run_id, exchanges, embeddings):
    """Saves the datastore of a run.

    Args:
        path: The run folder.
        run_id: The id of the run.
        exchanges: A list of at least one `Exchange`.
        embeddings: The `QuestionEmbeddings` learned from the exchanges.
    """
    path = pathlib.Path(path)
    lines = (json.dumps(dataclasses.asdict(one), ensure_ascii=False) + "\n" for one in exchanges)
    tensors = {"columns": embeddings.columns, "vectors": embeddings.vectors}
    save_tensors(path / EMBEDDINGS, tensors, run_id, {"exchanges": len(exchanges)})
    write_recorded(path / EXCHANGES, "".join(lines).encode("utf-8"))


def stored_form(text):
    """Returns a text as corrections store it: normalized to NFC and stripped of white space.

    Raises:
        InputError: If the text is not valid Unicode.
    """
    check_unicode(text)
    return compose(text).strip()


def without_correction(corrections, question):
    """Returns the corrections without the answers taught for a question."""
    normalized = normalize(question)
    return [one for one in corrections if normalize(one["question"]) != normalized or "answer" not in one]


def stamp_of(path):
    """Returns a stamp that changes with the file; () if there is no file."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino


def read_exchanges(path):
    """Reads the `Exchange`s of a file; raises `InputError` if it is damaged."""
    check(path)
    names, exchanges = {}, []
    for one in read_lines(path, {"question", "answer", "file", "row"}, {"question", "answer"}):
        if "file" in one:
            one["file"] = names.setdefault(one["file"], one["file"])  # Share one string per file name.
        exchanges.append(Exchange(**one))
    if not exchanges:
        raise InputError(_("{path}: damaged: it holds no exchange", path=path))
    return exchanges


def read_corrections(path):
    """Reads the corrections of a run, a list of dictionaries in their order; empty if there is no file.

    Raises:
        InputError: If the file is damaged.
    """
    check(path)
    if not path.is_file():
        return []
    try:
        return list(read_lines(path, {"question", "answer", "forgotten"}, {"question"}))
    except FileNotFoundError:  # The last correction was undone in the meantime.
        return []


def read_lines(path, allowed, required):
    """Yields the objects of a JSONL file.

    Args:
        path: The file.
        allowed: The set of keys that an object may have.
        required: The set of keys that an object must have.

    Raises:
        InputError: If an object has other keys, lacks a required one, or holds a question or answer that is no text.
        FileNotFoundError: If there is no file.
    """
    try:
        with open(path, encoding="utf-8", newline="\n") as file:
            for row, line in enumerate(file, 1):
                if line.strip():
                    yield checked_line(row, json.loads(line), allowed, required)
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(_("{path}: damaged: {error}", path=path, error=error)) from error


def checked_line(row, one, allowed, required):
    """Returns an object of a JSONL file; raises `ValueError` if it is not an object with the right keys."""
    if not isinstance(one, dict) or not required <= set(one) <= allowed:
        raise ValueError(f"row {row}: not an object of {', '.join(sorted(allowed))}")
    for text in (one[name] for name in ("question", "answer") if name in one):
        if not isinstance(text, str):
            raise ValueError(f"row {row}: its question or answer is not a text")
        check_unicode(text)
    if not isinstance(one.get("forgotten", True), bool):
        raise ValueError(f"row {row}: forgotten is not true or false")
    return one
