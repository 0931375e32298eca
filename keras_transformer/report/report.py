"""The report on a run: one HTML file with scores, answers, curves, settings, and commands to reproduce it."""

from __future__ import annotations

import datetime
import importlib.metadata
import itertools
import os
import pathlib
import platform
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from keras_transformer import __version__
from keras_transformer.chat.confidence import Confidence
from keras_transformer.config_file import HEADER, config_file_text
from keras_transformer.errors import InputError, import_extra
from keras_transformer.evaluation.evaluate import evaluation
from keras_transformer.evaluation.metric_info import LEGEND
from keras_transformer.page import STYLE, policy
from keras_transformer.report.samples import samples
from keras_transformer.report.words import ABOUT, PANELS, WORDS
from keras_transformer.runs.history import best_row
from keras_transformer.runs.run import Run
from keras_transformer.text.jamo import HANGUL, mostly_korean
from keras_transformer.training.plan import PATHS
from keras_transformer.visualize.page import Page
from keras_transformer.visualize.training import training_panels

if TYPE_CHECKING:
    import pandas as pd

    from keras_transformer.decoding.config import GenerationConfig

FOLDER = pathlib.Path(__file__).parent
PACKAGES = ("keras", "tensorflow", "numpy", "sentencepiece", "sacrebleu")


def report_html(
    run_dir: str | os.PathLike,
    pairs: pd.DataFrame,
    training_answers: Iterable[str] | None = None,
    corpus: str = "",
    split: str | None = "test",
    commands: Sequence[str] = (),
    answer_by: str | None = None,
    generation: GenerationConfig | None = None,
) -> Page:
    """Creates a self-contained HTML report on a run: scores, answers, training curves, settings, commands.

    The report is in Korean if most answers of the corpus are Korean, else in English. It loads nothing from a server,
    runs no scripts, and escapes all text of the corpus and of the run.

    Args:
        run_dir: The run folder.
        pairs: DataFrame with the columns "question" and "answer", as for `evaluate`.
        training_answers: As for `evaluate`. If given, the pairs must be from the run's own corpus.
        corpus: The name of the corpus of the pairs.
        split: The dataset split of the pairs; None for the whole corpus.
        commands: Command lines that reproduce the report.
        answer_by: As for `evaluate`.
        generation: As for `evaluate`.

    Returns:
        The page, a `Page`: a string that notebooks display.

    Raises:
        InputError: If a package of the extra "report" is missing, or like `evaluate`.
    """
    check_packages()
    run = Run(run_dir)
    results = evaluation(run_dir, pairs, training_answers, answer_by, generation)
    language = "ko" if mostly_korean(list(itertools.chain(*results.references.values()))) else "en"
    words, scores = WORDS[language], results.to_dict()
    part = words["split"].format(split=split, corpus=corpus) if split else words["whole"].format(corpus=corpus)
    counts = {"questions": scores["questions"], "pairs": scores["pairs"], "part": part}
    sampled, worst = samples(results)
    title = words["title"].format(run.path.resolve().name)
    page = template().render(
        language=language,
        words=words,
        title=title,
        summary=summary(scores, words),
        warning=warning(results, words, training_answers is not None),
        asked=words["asked"].format(**counts),
        scores=list(score_rows(scores, language)),
        signatures=results.signatures,
        sampled=sampled,
        worst=worst,
        trained=trained(run, words),
        curves=curves(run, language),
        refusals=refusals(run, words),
        corpus=about_corpus(run.corpus, words),
        commands="\n".join(commands),
        recipe=recipe(run),
        versions=versions(words),
        **style_and_policy(),
    )
    return Page(page, title)


def check_packages():
    """Raises `InputError` if a package of the extra `report` is missing."""
    for name in ("jinja2", "matplotlib", "sacrebleu", "rapidfuzz"):
        import_extra(name, "report", "a report")


def template():
    """Returns the Jinja template of the page. It escapes values and raises an error for undefined ones."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER, encoding="utf-8"), autoescape=True, undefined=StrictUndefined
    )
    environment.filters["language"] = lambda text: "ko" if HANGUL.search(text) else ""
    return environment.get_template("page.html")


def style_and_policy():
    """Returns the page's style sheet, and the Content Security Policy that allows only this style."""
    from markupsafe import Markup

    style = STYLE.read_text(encoding="utf-8") + (FOLDER / "page.css").read_text(encoding="utf-8")
    return {"style": Markup(style), "policy": policy(style)}  # noqa: S704 (our own)


def summary(scores, words):
    """Returns a one-sentence summary of the scores."""
    low, high = (LEGEND["exact_match"].form.format(bound) for bound in scores["intervals"]["exact_match"])
    names = {"right": "exact_match", "chrf": "chrf", "bits": "bits_per_char"}
    values = {word: LEGEND[name].form.format(scores[name]) for word, name in names.items()}
    return words["summary"].format(questions=scores["questions"], low=low, high=high, **values)


def warning(results, words, own):
    """Returns a warning about data leakage; empty if there is none."""
    if results.leaked:
        return words["leaked"].format(leaked=results.leaked, questions=len(results.references))
    return words["unknown"] if results.leaked is None and not own else ""


def score_rows(scores, language):
    """Yields the rows of the score table as dictionaries of texts."""
    for name, (form, _, about) in LEGEND.items():
        if scores[name] is not None:
            bounds = scores["intervals"].get(name, ())
            yield {
                "name": name,
                "about": ABOUT[name] if language == "ko" else about,
                "value": form.format(scores[name]),
                "interval": " – ".join(map(form.format, bounds)),
            }


def trained(run, words):
    """Returns a summary of the training; empty if there are no metrics."""
    rows, ended = run.metrics(), run.summary()
    if not rows:
        return ""
    best = best_row(rows, run.config.monitor)["epoch"]
    how = words["trained"].format(best=f"{best:.0f}", epochs=len(rows), monitor=run.config.monitor)
    return f"{how} " + (words["seconds"].format(f"{ended['seconds']:,.0f}") if ended else words["so_far"])


def curves(run, language):
    """Returns the training curves, a dictionary from titles to SVG; empty if there are no metrics."""
    from markupsafe import Markup

    from keras_transformer.visualize.page import inline_svg

    if not run.metrics():
        return {}
    titles = PANELS if language == "ko" else {title: title for title in PANELS}
    return {
        titles[title]: Markup(inline_svg(figure, f"curve-{number}", titles[title]))  # noqa: S704 (our own)
        for number, (title, figure) in enumerate(training_panels(run).items())
    }


def refusals(run, words):
    """Returns the refusal curves as SVG; empty if the run is not calibrated."""
    from markupsafe import Markup

    from keras_transformer.visualize.confidence import draw_refusals
    from keras_transformer.visualize.page import inline_svg

    try:
        confidence = Confidence.of_run(run)
    except InputError:
        return ""
    figure = draw_refusals(confidence, confidence.out_of_domain, words["refusal_labels"], width=5)
    return Markup(inline_svg(figure, "refusals", words["refusals"]))  # noqa: S704 (our own)


def about_corpus(corpus, words):
    """Returns the details of a run's training corpus, a dictionary from labels to values."""
    about = {words["name"]: corpus["name"], words["licence"]: corpus.get("licence") or words["not_known"]}
    counts = {words[name]: f"{corpus[name]:,}" for name in ("pairs", "train", "validation", "test") if name in corpus}
    return {**about, **counts, words["fingerprint"]: corpus["fingerprint"]}


def recipe(run):
    """Returns a `config.toml` that reproduces the training; paths are shortened to their last component for privacy."""
    rest = {**(run.corpus.get("source") or {}), "from": run.origin and run.origin["path"]}
    rest = {key: last_part(value) if key in (*PATHS, "from") else value for key, value in rest.items()}
    return config_file_text(run.config.to_dict(), rest).removeprefix(HEADER)


def last_part(path):
    """Returns the last component of a path, or of each path of a list."""
    if isinstance(path, list):
        return list(map(last_part, path))
    return path and os.path.basename(path)


def versions(words):
    """Returns the creation time of the page and the versions of the packages."""
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    own = {"keras_transformer": __version__, "python": platform.python_version()}
    return {words["made"]: now, **own, **{name: importlib.metadata.version(name) for name in PACKAGES}}
