"""Checks of an exported folder: its files, its versions, and its answers."""

import importlib.metadata

from keras_transformer.doctor.finding import FAILED, OK, SKIPPED, WARNING, Finding, guarded, passed_if
from keras_transformer.doctor.run import run_findings
from keras_transformer.errors import InputError
from keras_transformer.export.loader import open_bot
from keras_transformer.export.manifest import QUESTIONS, read_about
from keras_transformer.export.registry import exporter_of
from keras_transformer.language import translate as _


def export_findings(path):
    """Yields a `Finding` for each check of an export. If it cannot be opened, that is the only one.

    Args:
        path: The folder, a `pathlib.Path`.
    """
    check = _("The files of the export are complete and undamaged")
    try:
        about = read_about(path)
        is_run_folder = exporter_of(about["kind"]).IS_RUN_FOLDER
        bot = None if is_run_folder else open_bot(path)
    except (InputError, OSError) as error:
        yield Finding(check, FAILED, str(error), _("Export the run again."))
        return
    yield Finding(check, OK, _("{kind}, {count} files", kind=about["kind"], count=len(about["files"])))
    yield guarded(_("It was written with the installed versions"), versions_alike, about)
    if is_run_folder:
        yield from run_findings(path)
        return
    yield guarded(_("A batch of questions gets the answers of each question alone"), answers_alike, bot)


def versions_alike(about):
    """Returns the `Finding` that TensorFlow and Keras have the minor version that wrote the export."""
    check, written = _("It was written with the installed versions"), about.get("versions", {})
    names = [name for name in ("tensorflow", "keras") if name in written]
    if not names:
        return Finding(check, SKIPPED, _("they are not recorded"))
    others = [name for name in names if minor(written[name]) != minor(importlib.metadata.version(name))]
    if not others:
        return Finding(check, OK, ", ".join(f"{name} {written[name]}" for name in names))
    measured = ", ".join(f"{name} {written[name]} → {importlib.metadata.version(name)}" for name in others)
    return Finding(check, WARNING, measured, _("Compare its answers with those of the run, or export it again."))


def minor(version):
    """Returns the first two numbers of a version."""
    return version.split(".")[:2]


def answers_alike(bot):
    """Returns the `Finding` that the export answers a batch as it answers its questions one by one."""
    check = _("A batch of questions gets the answers of each question alone")
    together = bot.replies(list(QUESTIONS))
    alone = [answer for question in QUESTIONS for answer in bot.replies([question])]
    wrong = sum(one != other for one, other in zip(together, alone, strict=True))
    measured = _("{wrong} of {count} answers differ", wrong=wrong, count=len(QUESTIONS))
    return passed_if(not wrong, check, measured, _("Export the run again."))
