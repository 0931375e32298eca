"""Loads exported folders with the interface of a chatbot."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator, Sequence

from keras_transformer.chat.answering import GENERATE
from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.decoding.config import GenerationConfig
from keras_transformer.errors import InputError
from keras_transformer.export.manifest import ABOUT, read_about
from keras_transformer.export.registry import exporter_of
from keras_transformer.language import translate as _
from keras_transformer.text.normalize import compose


class Exported:
    """An exported folder with the part of the `Chatbot` interface that a server needs.

    The decoding settings are those of the export and cannot be changed: `generation` is ignored.

    Args:
        folder: A folder that `export` wrote.

    Attributes:
        max_length: Maximum number of tokens of an answer.
        way: Answering mode: "generate", "retrieve" or "hybrid".

    Raises:
        InputError: If the folder is damaged, or a required package is missing.
    """

    def __init__(self, folder):
        about = read_about(folder)
        self.max_length = about["options"].get("max_length") or about["run"]["config"]["max_length"] - 1
        self.way = about.get("answers", {}).get("by", GENERATE)
        self.answers_of = opened(exporter_of(about["kind"]), pathlib.Path(folder))

    def answers(self, questions: Sequence[str]) -> list[tuple[str, float | None]]:
        """Returns a pair of the answer and its score to each question."""
        return self.answers_of([compose(question) for question in questions])

    def n_best(
        self, questions: Sequence[str], generation: GenerationConfig | None = None
    ) -> list[list[tuple[str, float | None]]]:
        """Returns a list per question with one pair: the answer and its log-probability in nats, None if retrieved."""
        return [[answer] for answer in self.answers(questions)]

    def replies(self, questions):
        """Returns the answers to a list of questions, in the same order."""
        return [answer for answer, _ in self.answers(questions)]

    def stream(self, question: str, generation: GenerationConfig | None = None) -> Iterator[str]:
        """Yields the whole answer to a question at once, or nothing for a blank question."""
        yield from (answer for answer, _ in self.answers([question]) if answer)


def opened(exporter, folder):
    """Loads an exported folder by its `Exporter`. Raises `InputError` if the files are not what their names say."""
    try:
        return exporter.load(folder)
    except InputError:
        raise
    except Exception as error:  # Each format's library has its own for files that it cannot read.
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(_("{path}: cannot be opened: {reason}", path=folder, reason=reason[:500])) from error


def open_bot(path):
    """Opens a run folder or an exported folder.

    Args:
        path: The folder.

    Returns:
        A `Chatbot` for a run folder, exported or not. An `Exported` for any other export format.

    Raises:
        InputError: If the folder cannot be read, is an HTML file, or a required package is missing.
    """
    path = pathlib.Path(path)
    if path.is_file() and path.suffix == ".html":
        raise InputError(
            _("{path}: an HTML export runs in a browser only: name the run that it was exported from", path=path)
        )
    if (path / ABOUT).is_file() and not exporter_of(read_about(path)["kind"]).IS_RUN_FOLDER:
        return Exported(path)
    return Chatbot.load(path)
