"""The commands `teach` and `forget`: a run's answers corrected without training."""

import os

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import add_command, check_utf8
from keras_transformer.errors import InputError


def add_teach(commands):
    """The grammar of `teach`."""
    teach = add_command(
        commands, "teach", run_teach, "teach a run the answer to a question, from the next question on",
        "keras-transformer teach runs/first \"배고파\" \"따뜻한 국밥 어때요?\"",
    )  # fmt: skip
    teach.add_argument("run", metavar="RUN", help="folder of the run")
    teach.add_argument("question", metavar="QUESTION", help="the question; similar ones get the answer, too")
    teach.add_argument("answer", metavar="ANSWER", help="its answer, in the place of those it had")
    teach.add_argument(
        "--golden", metavar="FILE", help="add the answer to these golden answers, too, which `test` tests against"
    )


def add_forget(commands):
    """The grammar of `forget`."""
    forget = add_command(
        commands, "forget", run_forget, "take back what a run was taught, or leave a question of its corpus aside",
        "keras-transformer forget runs/first \"배고파\"",
    )  # fmt: skip
    forget.add_argument("run", metavar="RUN", help="folder of the run")
    forget.add_argument("question", metavar="QUESTION", help="the question")


def run_teach(options):
    """Teaches, and says what it replaces."""
    check_texts(options, "question", "answer")
    from keras_transformer.evaluation.golden import add_to_golden, read_golden

    if options.golden is not None and os.path.lexists(options.golden):
        read_golden(options.golden)  # What is wrong with it is said before anything is taught.
    before = open_datastore(options.run).teach(options.question, options.answer)
    print(taught(options.question, options.answer, before))
    if options.golden is not None:
        add_to_golden(options.golden, options.question, options.answer)
    return 0


def run_forget(options):
    """Forgets, and says which answers the question has now."""
    check_texts(options, "question")
    datastore = open_datastore(options.run)
    before = datastore.forget(options.question)
    print(f"Forgotten: {pair(options.question, before)}  (now: {now(datastore.answers_to(options.question))})")
    return 0


def check_texts(options, *names):
    """Raises `InputError` for what the grammar lets through."""
    for name in names:
        check_utf8(f"the {name}", getattr(options, name))
        if not getattr(options, name).strip():
            raise InputError(f"the {name} is blank. Write one.")


def open_datastore(run_dir):
    """The `Datastore` of a run, without its model.

    Raises:
        InputError: If there is no such run, or it has no datastore.
    """
    import_tensorflow_quietly()
    from keras_transformer.chat.datastore import Datastore
    from keras_transformer.runs.run import Run

    run = Run(run_dir)
    if not Datastore.exists(run.path):
        raise InputError(f"{run_dir}: has no datastore to correct. Train it again to get one.")
    return Datastore(run.path, run.id)


def taught(question, answer, before):
    """What was taught and what it replaces, in a line."""
    return f"Taught: {pair(question, [answer])}  (before: {now(before)})"


def pair(question, answers):
    """A question and its answers."""
    return f"{one_line(question)} → {listed(answers)}"


def now(answers):
    """The answers that a question has, or that it has none."""
    return listed(answers) if answers else "no known answer"


def listed(answers):
    """Answers in a line, of many the first ones."""
    more = f" (and {len(answers) - 3} more)" if len(answers) > 3 else ""
    return " | ".join(map(one_line, answers[:3])) + more


def one_line(text):
    """A text that may have several turns, in a line."""
    return " / ".join(text.strip().splitlines())
