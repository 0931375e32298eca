"""The `teach` and `forget` commands: correct a run's answers without training."""

import os

from keras_transformer.cli.console import add_command, check_utf8, echo
from keras_transformer.errors import InputError
from keras_transformer.language import translatable
from keras_transformer.language import translate as _
from keras_transformer.text.turns import one_line

TEXTS = {"question": translatable("the question"), "answer": translatable("the answer")}


def add_teach(commands):
    """Adds the `teach` command."""
    teach = add_command(
        commands, "teach", run_teach, _("teach a run the answer to a question, without training"),
        "keras-transformer teach runs/first \"배고파\" \"따뜻한 국밥 어때요?\"",
    )  # fmt: skip
    teach.add_argument("run", metavar="RUN", help=_("folder of the run"))
    teach.add_argument("question", metavar="QUESTION", help=_("the question; similar questions get the same answer"))
    teach.add_argument("answer", metavar="ANSWER", help=_("its answer; replaces its previous answers"))
    teach.add_argument(
        "--golden", metavar="FILE", help=_("also add the answer to this file of golden answers for `test`")
    )


def add_forget(commands):
    """Adds the `forget` command."""
    forget = add_command(
        commands, "forget", run_forget, _("undo a taught answer, or hide a question of the corpus"),
        "keras-transformer forget runs/first \"배고파\"",
    )  # fmt: skip
    forget.add_argument("run", metavar="RUN", help=_("folder of the run"))
    forget.add_argument("question", metavar="QUESTION", help=_("the question"))


def run_teach(options):
    """Teaches an answer and prints what it replaces."""
    check_texts(options, "question", "answer")
    from keras_transformer.evaluation.golden import add_to_golden, read_golden

    if options.golden is not None and os.path.lexists(options.golden):
        read_golden(options.golden)  # Report an invalid file before teaching anything.
    before = open_datastore(options.run).teach(options.question, options.answer)
    echo(taught(options.question, options.answer, before))
    if options.golden is not None:
        add_to_golden(options.golden, options.question, options.answer)
    return 0


def run_forget(options):
    """Forgets a question and prints its remaining answers."""
    check_texts(options, "question")
    datastore = open_datastore(options.run)
    before = datastore.forget(options.question)
    left = now(datastore.answers_to(options.question))
    echo(_("Forgotten: {pair}  (now: {answers})", pair=pair(options.question, before), answers=left))
    return 0


def check_texts(options, *names):
    """Raises `InputError` if a text is blank or not UTF-8."""
    for name in names:
        check_utf8(_(TEXTS[name]), getattr(options, name))
        if not getattr(options, name).strip():
            raise InputError(_("{name} is blank. Write one.", name=_(TEXTS[name])))


def open_datastore(run_dir):
    """Opens the `Datastore` of a run without loading its model.

    Raises:
        InputError: If the run does not exist or has no datastore.
    """
    from keras_transformer.chat.datastore import Datastore
    from keras_transformer.runs.run import Run

    run = Run(run_dir)
    if not Datastore.exists(run.path):
        if not run.summary():
            raise InputError(
                _("{run_dir}: training has not finished. Run the same train command to finish it.", run_dir=run_dir)
            )
        raise InputError(
            _("{run_dir}: this run has no datastore to correct. Train it again to get one.", run_dir=run_dir)
        )
    return Datastore(run.path, run.id)


def taught(question, answer, before):
    """Returns a line with the taught answer and the answers to the same question that it replaces, if there are any."""
    taught_pair = pair(question, [answer])
    if not before:
        return _("Taught: {pair}  (a new question)", pair=taught_pair)
    return _("Taught: {pair}  (before: {answers})", pair=taught_pair, answers=listed(before))


def pair(question, answers):
    """Returns a question with its answers as a line."""
    return f"{one_line(question)} → {listed(answers)}"


def now(answers):
    """Returns the answers to a question as text, or a note that it has none."""
    return listed(answers) if answers else _("no known answer")


def listed(answers):
    """Returns the first three answers in a line, with the number of others."""
    shown = " | ".join(map(one_line, answers[:3]))
    return _("{answers} (and {count} more)", answers=shown, count=len(answers) - 3) if len(answers) > 3 else shown
