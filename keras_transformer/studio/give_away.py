"""The tab "Give away": a bot as a download in every export format, its report, and the page of its attention."""

import pathlib
import shutil
from collections.abc import Iterator

import gradio

from keras_transformer.data.split import SPLITS
from keras_transformer.errors import InputError
from keras_transformer.export import FORMATS
from keras_transformer.language import translatable
from keras_transformer.language import translate as _
from keras_transformer.studio.command import Command
from keras_transformer.studio.page import status
from keras_transformer.studio.workspace import LONGEST

REPORT, ATTENTION, HTML = "report", "attention", "html"
ABOUT = {
    HTML: translatable("one page to chat with in any browser, without a network"),
    "run": translatable("the bot for this program, reduced to what answering needs"),
    "hf": translatable("a folder for the Hugging Face hub, with a model card"),
    "saved_model": translatable("a SavedModel for TensorFlow and its servers"),
    "litert": translatable("LiteRT for phones"),
    "onnx": translatable("ONNX for most other platforms and languages"),
    "ctranslate2": translatable("CTranslate2 for fast answers without a GPU"),
    REPORT: translatable("a report: scores, answers, curves, settings"),
    ATTENTION: translatable("the attention of the answer to a question, as a page"),
}


def add_give_away(page, run):
    """Adds the tab.

    Args:
        page: The `Page`.
        run: The choice of a bot, which is put there.
    """
    with gradio.Tab(_("Give away"), id="give-away", render_children=True) as tab:
        run.render()
        kind = gradio.Radio(
            [(f"{one}: {_(about)}", one) for one, about in ABOUT.items()], value=HTML, label=_("What"),
            elem_id="format", elem_classes="stacked",
        )  # fmt: skip
        question = gradio.Textbox(label=_("Question"), visible=False, max_length=LONGEST, elem_id="attended")
        split = gradio.Dropdown(
            [(_("unseen questions, if any"), ""), *SPLITS], value="", label="--split", visible=False, elem_id="split"
        )
        with gradio.Row():
            make = gradio.Button(_("Prepare the download"), variant="primary")
            cancel = gradio.Button(_("Cancel"), min_width=80)
        told = gradio.HTML(elem_id="made")
        download = gradio.DownloadButton(_("Download"), visible=False, elem_id="download")

    def prepare(run: str, kind: str, question: str, split: str, request: gradio.Request) -> Iterator[tuple]:
        path, folder = page.workspace.run(run), page.workspace.scratch_folder()
        yield status(_("Preparing …")), gradio.update(visible=False)
        words, target = words_of(path, folder, kind, question, split)
        command = Command(*words)
        try:
            for line in page.studio.commands.steps((request.session_hash, "give-away"), command):
                yield status(line or _("Preparing …")), gradio.skip()
            command.result()
            made = packed(target)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        size = made.stat().st_size / 1e6
        label = _("Download {name} ({size:.1f} MB)", name=made.name, size=size)
        yield status(_("Ready.")), gradio.update(value=str(made), label=label, visible=True)

    def cancel_command(request: gradio.Request) -> None:
        page.studio.commands.cancel((request.session_hash, "give-away"))

    page.on(make.click, prepare, [run, kind, question, split], [told, download])
    page.on(cancel.click, cancel_command)
    page.on(
        kind.change,
        lambda kind: [gradio.update(visible=kind == one) for one in (ATTENTION, REPORT)],
        kind,
        [question, split],
    )
    page.on([kind.change, run.change], lambda: ("", gradio.update(visible=False)), None, [told, download])
    page.on(tab.select, page.runs, run, run)


def words_of(run, folder, kind, question, split):
    """Returns the command that makes a download, as words, and the file or folder that it makes."""
    if kind == REPORT:
        target = folder / f"{run.name}-report.html"
        return ("report", run, "--output", target, *(["--split", split] if split in SPLITS else [])), target
    if kind == ATTENTION:
        if not question.strip():
            raise InputError(_("Type a question first."))
        target = folder / f"{run.name}-attention.html"
        return ("attention", "--output", target, "--", run, question), target
    if kind not in FORMATS:
        raise InputError(_("Choose what to give away."))
    target = folder / (f"{run.name}.html" if kind == HTML else f"{run.name}-{kind}")
    return ("export", run, target, "--format", kind), target


def packed(path):
    """Returns a file as it is, and a folder as a ZIP file beside it."""
    if path.is_file():
        return path
    archive = shutil.make_archive(str(path), "zip", path.parent, path.name)
    shutil.rmtree(path)
    return pathlib.Path(archive)
