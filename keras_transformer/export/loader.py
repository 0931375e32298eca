"""An exported folder, asked as a chatbot is."""

import pathlib

from keras_transformer.chat.answering import GENERATE
from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.export.manifest import ABOUT, read_about
from keras_transformer.export.registry import module_of


class Exported:
    """What a server needs of a chatbot, from an exported folder; it answers in the one way that it was exported for.

    Args:
        folder: What `export` wrote.

    Attributes:
        max_length: Tokens of an answer at most.
        way: How it answers: "generate", "retrieve" or "hybrid".

    Raises:
        InputError: If the folder is damaged, or a package that reads it is missing.
    """

    def __init__(self, folder):
        about = read_about(folder)
        self.max_length = about["options"].get("max_length") or about["run"]["config"]["max_length"] - 1
        self.way = about.get("answers", {}).get("by", GENERATE)
        self.answers = module_of(about["kind"]).load(pathlib.Path(folder))

    def n_best(self, questions, num_return=1, strategy=None):
        """A list for each question, of one pair: its answer, and its log-probability in nats, None if retrieved."""
        return [[found] for found in self.answers(questions)]

    def replies(self, questions):
        """The answers to many questions, in their order."""
        return [answer for answer, _ in self.answers(questions)]

    def stream(self, question, strategy=None):
        """The answer to a question, in one piece; none to a blank one."""
        yield from (answer for answer, _ in self.answers([question]) if answer)


def open_bot(path):
    """Opens a run folder or an exported folder.

    Args:
        path: The folder.

    Returns:
        A `Chatbot` for a run folder, exported or not; an `Exported` for an export of another format.

    Raises:
        InputError: If the folder cannot be read, or a package that reads it is missing.
    """
    path = pathlib.Path(path)
    if (path / ABOUT).is_file() and read_about(path)["kind"] != "run":
        return Exported(path)
    return Chatbot.load(path)
