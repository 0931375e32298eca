"""How a run answers, in the words of the command line: it generates, or retrieves; and the exchanges behind answers."""

from keras_transformer.cli.generation_options import strategy_options_given
from keras_transformer.errors import InputError

WAYS = GENERATE, *_ = ("generate", "retrieve", "hybrid")  # As in `chat.answering`, whose import takes seconds.


def add_answer_by_option(parser):
    """Adds the way of answering to a grammar."""
    parser.add_argument(
        "--answer-by", choices=WAYS,
        help="compose answers, or give that of the nearest known question, or that where one is near enough (default: "
        "what was best when training ended; generate, if an option says how answers are generated)",
    )  # fmt: skip


def add_cite_option(parser):
    """Adds whether the exchanges behind an answer are shown to a grammar."""
    parser.add_argument(
        "--cite", action="store_true", help="show below each answer the known exchanges behind it, or near to it"
    )


def check_answer_by(options, *run_dirs):
    """Raises `InputError` if the runs cannot answer in the way that options ask for; before anything is loaded."""
    if options.answer_by in (None, GENERATE):
        return
    if others := strategy_options_given(options):
        raise InputError(f"{others[0]} is for generated answers: leave it out, or --answer-by {options.answer_by}")
    from keras_transformer.chat.datastore import Datastore
    from keras_transformer.runs.run import Run

    for run_dir in run_dirs:
        if Run.exists(run_dir) and not Datastore.exists(run_dir):
            raise InputError(
                f"{run_dir}: has no datastore to {options.answer_by} from. Train it again, or answer by generate."
            )


def source_lines(answer, has_datastore):
    """The lines below an answer that show the exchanges behind it.

    Args:
        answer: An `Answer`.
        has_datastore: Whether the run has a datastore.
    """
    if not answer.composed:
        return [match_line(match) for match in answer.sources if match.exchange.answer == answer.text]
    if answer.sources:
        return ["  composed; nearest:", *map(match_line, answer.sources)]
    return ["  composed; nothing known is near" if has_datastore else "  composed; the run has no datastore"]


def match_line(match):
    """A `Match` as a line."""
    question = " / ".join(match.exchange.question.splitlines())
    return f"  [{match.similarity:.2f}] {match.exchange.place}: {question}"
