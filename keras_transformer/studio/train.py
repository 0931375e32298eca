"""The tab "Train": pairs to learn, a report on them, the recipe, and the training as it goes."""

import html
import json
import math
import pathlib
from collections.abc import Iterator
from typing import Any

import gradio

from keras_transformer.config_file import HEADER, config_file_text
from keras_transformer.errors import InputError
from keras_transformer.language import translatable, translate_count
from keras_transformer.language import translate as _
from keras_transformer.presets import PRESETS, preset
from keras_transformer.runs.history import SCORE
from keras_transformer.studio.command import Command
from keras_transformer.studio.curves import curves_svg
from keras_transformer.studio.page import heading, listed, paragraph, status, table
from keras_transformer.studio.training import FINISHED, STARTING, STOPPING, TRAINING
from keras_transformer.studio.workspace import ENDINGS, LONGEST

PAIRS = pathlib.Path(__file__).with_name("pairs.js")
TYPED, FILE, NAMED = "typed", "file", "named"
UNFIT = 2  # Exit status of `data check` for a corpus that cannot be trained on.
VERDICTS = translatable("fit"), translatable("fit with warnings"), translatable("unfit")
CURVES = {"loss": translatable("training"), "val_loss": translatable("validation")}


def add_train(page, bots):
    """Adds the tab.

    Args:
        page: The `Page`.
        bots: The choices of a bot in other tabs, where a bot is chosen when its training ends.

    Returns:
        A function that returns the update of the choice of a training to watch, and that choice.
    """
    with gradio.Tab(_("Train"), id="train", render_children=True) as tab:
        heading(_("1. Questions and answers"))
        kind = gradio.Radio(
            [(_("type them"), TYPED), (_("upload a file"), FILE), (_("choose a corpus"), NAMED)], value=TYPED,
            label=_("Where from"), elem_id="kind",
        )  # fmt: skip
        pairs = gradio.HTML(
            [], html_template=pairs_table(), js_on_load=PAIRS.read_text("utf-8"), elem_id="pairs",
        )  # fmt: skip
        upload = gradio.File(
            file_types=list(ENDINGS), visible=False, height=140, elem_id="upload",
            label=_("Questions and answers: CSV, TSV, JSON, XLSX, Parquet, YAML, or a KakaoTalk chat"),
        )  # fmt: skip
        with gradio.Row(visible=False) as columns:
            reading = [
                gradio.Textbox(label=label, info=info, min_width=140)
                for label, info in (
                    ("--question", _("column of the questions, if not found")),
                    ("--answer", _("column of the answers, if not found")),
                    ("--encoding", _("such as cp949, if not found")),
                )
            ]
        named = gradio.Dropdown(page.workspace.corpora(), label=_("Corpus"), visible=False, elem_id="corpus")
        with gradio.Row():
            check = gradio.Button(_("Check them"))
            cancel = gradio.Button(_("Cancel"), min_width=80)
        report = gradio.HTML(elem_id="report")
        heading(_("2. Recipe"))
        chosen = gradio.Dropdown(
            [(_("chosen for the corpus"), ""), *((name, name) for name in PRESETS)], value="", label="--preset"
        )
        with gradio.Accordion(_("Change the recipe"), open=False):
            recipe = gradio.Textbox(
                label=_("Settings; empty for those chosen for the corpus"), lines=8, max_lines=16, elem_id="recipe"
            )
        heading(_("3. Training"))
        with gradio.Row(elem_classes="field"):
            name = gradio.Textbox(page.workspace.free_name, label=_("Name of the bot"), scale=3, elem_id="name")
            start = gradio.Button(_("Start training"), variant="primary", scale=1, min_width=120)
        with gradio.Row(elem_classes="field"):
            run = gradio.Dropdown(page.studio.trainings.names(), label=_("Watch"), scale=3, elem_id="watch")
            stop = gradio.Button(_("Stop"), scale=1, min_width=80)
            resume = gradio.Button(_("Resume"), scale=1, min_width=80)
        progress = gradio.HTML(elem_id="progress")
        curves = gradio.HTML(elem_id="curves")
        answers = gradio.HTML(elem_id="samples")
        timer, shown = gradio.Timer(1.0), gradio.State("")  # What the page shows already.

    def check_corpus(request: gradio.Request, kind: str, *source: Any) -> Iterator[tuple]:
        corpus, options = corpus_of(page.workspace, kind, *source)
        try:
            command = Command("data", "check", page.workspace.corpus(corpus), "--json", *options)
            for line in page.studio.commands.steps((request.session_hash, "train"), command):
                yield status(line or _("Reading …")), gradio.skip()
            found = json.loads(command.result((0, UNFIT)))
        finally:
            if kind != NAMED:  # It is kept when the training starts.
                page.workspace.discard(corpus)
        yield report_of(found), recipe_text(found)

    def cancel_check(request: gradio.Request) -> None:
        page.studio.commands.cancel((request.session_hash, "train"))

    def begin(chosen, recipe, *source):
        *_others, name = source
        path = page.workspace.new_run(name)
        settings = ["--preset", preset_name(chosen)] if chosen else []
        if recipe.strip():
            settings += ["--config", page.workspace.save_settings(path.name, recipe)]
        corpus, options = corpus_of(page.workspace, *source)
        page.studio.trainings.start(path.name, corpus, [*settings, *options])
        return watched(path.name), page.workspace.free_name()

    def watched(name=None):
        names = page.studio.trainings.names()
        name = name if name in names else page.studio.trainings.running() or next(iter(names), None)
        return gradio.update(choices=names, value=name)

    def watch(run, before):
        if not run:
            return paragraph(_("Nothing has been trained yet.")), "", "", before, *[gradio.skip()] * len(bots)
        progress = page.studio.trainings.progress(run)
        now = f"{run} {progress.state} {len(progress.rows)} {progress.seconds_left} {progress.samples}"
        if now == before:
            return [*[gradio.skip()] * 3, before, *[gradio.skip()] * len(bots)]
        under_way = STARTING, TRAINING, STOPPING
        ended = progress.state not in under_way and before.startswith(tuple(f"{run} {one}" for one in under_way))
        return (
            progress_of(run, progress),
            curves_of(progress),
            samples_of(progress),
            now,
            *(page.runs(run) if ended else gradio.skip() for _bot in bots),  # Gradio changes each of them.
        )

    source = [kind, pairs, upload, named, *reading, name]
    page.on(
        kind.change, lambda kind: [gradio.update(visible=kind == one) for one in (TYPED, FILE, FILE, NAMED)], kind,
        [pairs, upload, columns, named],
    )  # fmt: skip
    page.on(tab.select, lambda: gradio.update(choices=page.workspace.corpora()), None, named)
    page.on([kind.change, pairs.input, upload.change, named.input], lambda: ("", ""), None, [report, recipe])
    page.on(check.click, check_corpus, source, [report, recipe])
    page.on(cancel.click, cancel_check)
    page.on(chosen.input, lambda name: settings_text(preset(name).to_dict()) if name else "", chosen, recipe)
    page.on(start.click, begin, [chosen, recipe, *source], [run, name])
    page.on(stop.click, page.studio.trainings.stop, run)
    page.on(resume.click, page.studio.trainings.resume, run)
    page.on(
        timer.tick, watch, [run, shown], [progress, curves, answers, shown, *bots], show_progress="hidden",
        trigger_mode="once", concurrency_limit=None,
    )  # fmt: skip
    return watched, run


def pairs_table():
    """Returns the table to type pairs into, which its script fills with rows."""
    heads = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in (_("question"), _("answer")))
    hint = paragraph(_("Enter goes to the next field. A table can be pasted from a spreadsheet."))
    return f'{hint}<table><thead><tr>{heads}</tr></thead><tbody data-longest="{LONGEST}"></tbody></table>'


def corpus_of(workspace, kind, pairs, upload, named, question, answer, encoding, name):
    """Saves what was typed or uploaded; returns the name of the corpus, and the options to read it with."""
    if kind == TYPED:
        return workspace.save_pairs(name, pairs), []
    if kind == NAMED:
        return named, []
    if not upload:
        raise InputError(_("Choose a file first."))
    given = {"--question": question, "--answer": answer, "--encoding": encoding}
    return workspace.keep_upload(upload), [f"{option}={value}" for option, value in given.items() if value.strip()]


def preset_name(name):
    """Returns the name of a preset; raises `InputError` if there is none."""
    preset(name)
    return name


def report_of(report):
    """Returns the report of `data check` as markup: the verdict, the warnings, and what was chosen and why."""
    verdict = report["verdict"]
    verdict = _("Verdict: {verdict}", verdict=_(verdict))
    if report["unfit"]:
        return paragraph(f"{verdict}: {report['unfit']}", "bad")
    parts = [
        paragraph(verdict, "verdict"),
        paragraph(translate_count("{count:,} pair", "{count:,} pairs", report["pairs"])),
    ]
    for encoding in {file["encoding"] for file in report["files"] if file["line_ends"] is not None} - {"utf-8"}:
        parts.append(paragraph(_("The file is read as {encoding}.", encoding=encoding.upper())))
    if texts := list(report["texts"].items())[:3]:
        rows = [(row, *(text[:LONGEST] for text in pair)) for row, pair in texts]
        parts.append(table((_("row"), _("question"), _("answer")), rows))
    if report["warnings"]:
        parts += [paragraph(_("Warnings:")), listed(report["warnings"])]
    if reasons := (report["recommendation"] or {}).get("reasons"):
        parts += [paragraph(_("The recipe for it:")), listed(reasons)]
    return "".join(parts)


def recipe_text(report):
    """Returns the settings that a report recommends, to be changed; "" if there are none."""
    return settings_text(report["recommendation"]["config"]) if report["recommendation"] else ""


def settings_text(settings):
    """Returns settings as text, one in a line."""
    return config_file_text(settings, {}).removeprefix(HEADER)


def progress_of(name, progress):
    """Returns the state of a training as markup, with a bar."""
    done = len(progress.rows)
    parts = [status(f"{name}: {_(progress.state)}")]
    if progress.message:
        parts.append(paragraph(progress.message, "bad"))
    if progress.epochs:
        text = _("epoch {done} of at most {epochs}", done=done, epochs=progress.epochs)
        parts.append(f'<progress max="{progress.epochs}" value="{done}" aria-label="{text}"></progress>')
        facts = [text]
        if progress.best:
            score = progress.rows[progress.best - 1].get(SCORE, math.nan)
            facts.append(_("best epoch {best}: {score:.3f} bits per character", best=progress.best, score=score))
        if progress.seconds_left is not None:
            facts.append(time_in_words(progress.seconds_left))
        parts.append(paragraph(", ".join(facts)))
    return "".join(parts)


def time_in_words(seconds):
    """Returns the time left, which is a rough estimate."""
    if seconds < 90:
        return translate_count("about {count} second left", "about {count} seconds left", max(1, round(seconds)))
    return translate_count("about {count} minute left", "about {count} minutes left", round(seconds / 60))


def curves_of(progress):
    """Returns the curves of the losses as markup."""
    return curves_svg({
        _(name): [(int(row["epoch"]), row[column]) for row in progress.rows if column in row]
        for column, name in CURVES.items()
    })  # fmt: skip


def samples_of(progress):
    """Returns the sample answers as markup."""
    if not progress.samples:
        return ""
    title = paragraph(_("Answers of the bot") if progress.state == FINISHED else _("Answers of the best epoch so far"))
    return title + table((_("question"), _("answer")), progress.samples)
