"""The `demo` command: a small chatbot, trained once, to talk to."""

import pathlib
import sys

from keras_transformer.cli.console import add_command, echo
from keras_transformer.data.catalog import packaged_file
from keras_transformer.language import current_language
from keras_transformer.language import translate as _

CORPUS = "small_talk"


def add_demo(commands):
    """Adds the `demo` command."""
    demo = add_command(
        commands, "demo", run_demo, _("train a small chatbot for some minutes, once, and chat with it"),
        "keras-transformer demo",
    )  # fmt: skip
    demo.add_argument("--run", metavar="RUN", default="runs/demo", help=_("folder of the run (default: %(default)s)"))


def run_demo(options):
    """Trains the chatbot, or resumes its training, and shows some answers, unless it was trained before; then chats."""
    from keras_transformer.cli.main import main  # It imports this module.
    from keras_transformer.runs.run import SUMMARY

    language = ["--lang", current_language()]
    if not pathlib.Path(options.run, SUMMARY).exists():
        if status := main(["train", *language, CORPUS, "--run", options.run, "--preset", "demo"]):
            return status
        show_answers(options.run)
    return main(["chat", *language, options.run])


def show_answers(run):
    """Prints the demonstration's questions and the answers to them, to standard error."""
    from keras_transformer.chat.chatbot import Chatbot

    questions = packaged_file(CORPUS).with_name("demo_questions.txt").read_text(encoding="utf-8").splitlines()
    for question, answer in zip(questions, Chatbot.load(run).replies(questions)):
        echo(f"  {question}\n    -> {answer}", file=sys.stderr)
