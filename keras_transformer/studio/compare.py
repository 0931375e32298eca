"""The tab "Compare": two bots answer the same question, on all questions of a test, and on golden questions."""

import html
import json
import shutil
from collections.abc import Iterator

import gradio

from keras_transformer.data.split import SPLITS
from keras_transformer.errors import InputError
from keras_transformer.evaluation.metric_info import LEGEND
from keras_transformer.language import translate as _
from keras_transformer.language import translate_count
from keras_transformer.studio.command import Command
from keras_transformer.studio.page import heading, paragraph, status, table
from keras_transformer.studio.talk import MODEL, sources_of
from keras_transformer.studio.workspace import LONGEST

FAILED = 1  # Exit status of `test` where an answer is not acceptable.


def add_compare(page):
    """Adds the tab."""
    with gradio.Tab(_("Compare"), id="compare", render_children=True) as tab:
        with gradio.Row():
            runs = [
                page.choice(_("Bot A"), 0, min_width=200, elem_id="run-a"),
                page.choice(_("Bot B"), 1, min_width=200, elem_id="run-b"),
            ]
        with gradio.Row(elem_classes="field"):
            question = gradio.Textbox(label=_("A question to both"), max_length=LONGEST, scale=4, elem_id="both")
            ask = gradio.Button(_("Ask both"), variant="primary", scale=1, min_width=100)
        answers = gradio.HTML(elem_id="side-by-side")
        heading(_("Scores"))
        with gradio.Row():
            corpus = gradio.Dropdown(corpora(page.workspace), value="", label="--corpus", min_width=200)
            split = gradio.Dropdown([(_("unseen questions, if any"), ""), *SPLITS], value="", label="--split")
        with gradio.Row():
            measure = gradio.Button(_("Compare the scores"))
            cancel = gradio.Button(_("Cancel"), min_width=80)
        scores = gradio.HTML(elem_id="scores")
        heading(_("Golden answers"))
        gradio.HTML(
            paragraph(_('A JSONL file, a line each: {"question": "…", "answers": ["an acceptable answer", …]}'))
        )
        golden = gradio.File(file_types=[".jsonl"], height=140, elem_id="golden", label=_("Golden answers"))
        test = gradio.Button(_("Test both"))
        changes = gradio.HTML(elem_id="changes")

    def choices(first, second):
        names = page.workspace.trained()
        first, second = two_of(names, first, second)
        runs = (gradio.update(choices=names, value=one) for one in (first, second))
        return *runs, gradio.update(choices=corpora(page.workspace))

    def steps(request, command):
        for line in page.studio.commands.steps((request.session_hash, "compare"), command):
            yield status(line or _("Loading …"))

    def paths(first, second):
        if first == second:
            raise InputError(_("Choose two different bots."))
        return page.workspace.run(first), page.workspace.run(second)

    def ask_both(question, first, second):
        if not question.strip():
            raise InputError(_("Type a question first."))
        paths(first, second)
        cells = []
        for name in (first, second):
            bot = page.studio.bot(name)
            [answer] = bot.answers([question.strip()])
            cells.append(f"<td>{html.escape(answer.text)}{sources_of(answer)}</td>")
        heads = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in (first, second))
        return f'<table class="both"><thead><tr>{heads}</tr></thead><tbody><tr>{"".join(cells)}</tr></tbody></table>'

    def compare(first: str, second: str, corpus: str, split: str, request: gradio.Request) -> Iterator[str]:
        options = ["--corpus", page.workspace.corpus(corpus)] if corpus else []
        options += ["--split", split] if split in SPLITS else []
        command = Command("compare", *paths(first, second), "--json", *options)
        yield from steps(request, command)
        yield comparison_of(json.loads(command.result()))

    def test_both(first: str, second: str, golden: str, request: gradio.Request) -> Iterator[str]:
        if not golden:
            raise InputError(_("Choose a file first."))
        both = paths(first, second)
        copy = page.workspace.scratch_folder() / "golden.jsonl"
        shutil.copyfile(golden, copy)
        results = []
        for path, options in zip(both, (["--update"], [])):  # The answers of A are the last ones of B.
            command = Command("test", path, copy, "--json", *options)
            yield from steps(request, command)
            results.append(json.loads(command.result((0, FAILED))))
        shutil.rmtree(copy.parent)
        yield golden_changes_of(first, second, *results)

    def cancel_commands(request: gradio.Request) -> None:
        page.studio.commands.cancel((request.session_hash, "compare"))

    page.on([ask.click, question.submit], ask_both, [question, *runs], answers, concurrency_limit=1,
            concurrency_id=MODEL)  # fmt: skip
    page.on(measure.click, compare, [*runs, corpus, split], scores)
    page.on(test.click, test_both, [*runs, golden], changes)
    page.on(cancel.click, cancel_commands)
    page.on(tab.select, choices, runs, [*runs, corpus])


def corpora(workspace):
    """Returns the choices of a corpus."""
    return [(_("that of both bots"), ""), *workspace.corpora()]


def two_of(names, first, second):
    """Returns two different ones of some names, those chosen before if they are still there; None where one lacks."""
    first = first if first in names else next(iter(names), None)
    others = [name for name in names if name != first]
    return first, second if second in others else next(iter(others), None)


def comparison_of(comparison):
    """Returns the result of the command `compare` as markup: scores, differences with intervals, sample answers."""
    first, second = comparison["runs"]
    names = [name for name in LEGEND if name in first["scores"]]
    rows = []
    for name in names:
        form = LEGEND[name].form
        row = [name, *(form.format(run["scores"][name]) for run in (first, second)), "", ""]
        if one := second["differences"].get(name):
            signed = form.replace("{:", "{:+")
            low, high = map(signed.format, one["interval"])
            row[3] = _("{low} to {high}", low=low, high=high)
            row[4] = _("significant") if one["significant"] else _("may be chance")
        rows.append(row)
    interval = _("{share} interval", share="95 %")
    headings = _("score"), "A", "B", f"B − A, {interval}", _("difference")
    questions = translate_count("{count:,} question", "{count:,} questions", comparison["questions"])
    samples = [(one["question"], " / ".join(one["references"]), *one["answers"]) for one in comparison["samples"]]
    return (
        paragraph(questions)
        + table(headings, rows)
        + paragraph(_("Some of the questions:"))
        + table((_("question"), _("expected"), "A", "B"), samples)
    )


def golden_changes_of(first, second, before, after):
    """Returns the results of the command `test` on two bots as markup: the totals, and the answers that differ."""
    totals = [
        _("{name}: {passed:,} of {count:,} pass", name=name, passed=one["passed"], count=one["questions"])
        for name, one in ((first, before), (second, after))
    ]
    changed = [(one, one["change"]) for one in after["results"] if one["change"]]
    rows = [
        (one["question"], one["last"], one["answer"], _(change), " / ".join(one["answers"])) for one, change in changed
    ]
    if not rows:
        return paragraph("; ".join(totals)) + paragraph(_("Both give the same answers."))
    return paragraph("; ".join(totals)) + table((_("question"), first, second, _("difference"), _("expected")), rows)
