"""The report on a run: one HTML file with scores, answers, curves, settings, and how to repeat it."""

import datetime
import importlib
import importlib.metadata
import itertools
import os
import pathlib
import platform

from keras_transformer import __version__
from keras_transformer.chat.confidence import Confidence
from keras_transformer.config_file import HEADER, config_file_text
from keras_transformer.errors import InputError
from keras_transformer.evaluation.evaluate import evaluation
from keras_transformer.evaluation.metric_info import LEGEND
from keras_transformer.evaluation.text_metrics import HANGUL, mostly_korean
from keras_transformer.report.samples import samples
from keras_transformer.report.words import ABOUT, PANELS, WORDS
from keras_transformer.runs.run import Run
from keras_transformer.training.callbacks import best_row
from keras_transformer.training.trainer import PATHS
from keras_transformer.visualize.page import STYLE, Page, policy
from keras_transformer.visualize.training import training_panels

FOLDER = pathlib.Path(__file__).parent
PACKAGES = ("keras", "tensorflow", "numpy", "sentencepiece", "sacrebleu")


def report_html(
    run_dir, pairs, strategy=None, training_answers=None, corpus="", part="test", commands=(), answer_by=None,
    **settings,
):  # fmt: skip
    """A page on a run that is whole in itself: what it answers, how good that is, how it learned, how to repeat it.

    It is in Korean if most answers of the corpus are, else in English. It asks no server for anything and runs no
    script, and shows what the corpus and the run say as text, whatever stands in it.

    Args:
        run_dir: The run folder.
        pairs: DataFrame with the columns "question" and "answer", as for `evaluate`.
        strategy: How answers are chosen, as for `generate`.
        training_answers: As for `evaluate`; they say as well that the pairs are of the run's own corpus.
        corpus: What the corpus of the pairs is called.
        part: Which of its parts they are.
        commands: Lines to type to repeat it.
        answer_by: As for `evaluate`.
        **settings: Of `generate`, such as `max_length`.

    Returns:
        The page, a string, which a notebook shows.

    Raises:
        InputError: If a package of the extra "report" is missing, or like `evaluate`.
    """
    check_packages()
    run = Run(run_dir)
    found = evaluation(run_dir, pairs, strategy, training_answers, answer_by, **settings)
    language = "ko" if mostly_korean(list(itertools.chain(*found.asked.values()))) else "en"
    words, scores = WORDS[language], found.to_dict()
    asked = {"questions": scores["questions"], "pairs": scores["pairs"], "corpus": corpus, "part": part}
    drawn, worst = samples(found)
    title = words["title"].format(run.path.resolve().name)
    page = template().render(
        language=language,
        words=words,
        title=title,
        summary=summary(scores, words),
        warning=warning(found, words, training_answers is not None),
        asked=words["asked"].format(**asked),
        scores=list(score_rows(scores, language)),
        signatures=found.signatures,
        drawn=drawn,
        worst=worst,
        trained=trained(run, words),
        curves=curves(run, language),
        refusals=refusals(run, words),
        corpus=about_corpus(run.corpus, words),
        commands="\n".join(commands),
        recipe=recipe(run),
        versions=versions(words),
        **look(),
    )
    return Page(page, title)


def check_packages():
    """Raises `InputError` if a package of the extra is missing."""
    for name in ("jinja2", "matplotlib", "sacrebleu", "rapidfuzz"):
        try:
            importlib.import_module(name)
        except ImportError as error:
            what = f"a report needs the package {error.name}, which is missing"
            raise InputError(f"{what}: pip install 'keras-transformer[report]'") from error


def template():
    """The page to be filled; what is filled in is escaped, and nothing may be left out."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER, encoding="utf-8"), autoescape=True, undefined=StrictUndefined
    )
    environment.filters["language"] = lambda text: "ko" if HANGUL.search(text) else ""
    return environment.get_template("page.html")


def look():
    """The page's style, and the policy that allows it alone."""
    from markupsafe import Markup

    style = STYLE.read_text(encoding="utf-8") + (FOLDER / "page.css").read_text(encoding="utf-8")
    return {"style": Markup(style), "policy": policy(style)}


def summary(scores, words):
    """The run in a sentence."""
    low, high = (LEGEND["exact_match"].form.format(bound) for bound in scores["intervals"]["exact_match"])
    names = {"right": "exact_match", "chrf": "chrf", "bits": "bits_per_char"}
    values = {word: LEGEND[name].form.format(scores[name]) for word, name in names.items()}
    return words["summary"].format(questions=scores["questions"], low=low, high=high, **values)


def warning(found, words, own):
    """What is to be known before any score; empty if there is nothing."""
    if found.met:
        return words["met"].format(met=found.met, questions=len(found.asked))
    return words["unknown"] if found.met is None and not own else ""


def score_rows(scores, language):
    """Yields the rows of the table of scores, dictionaries of texts."""
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
    """How the training went, sentences; empty if there are no metrics."""
    rows, ended = run.metrics(), run.summary()
    if not rows:
        return ""
    best = best_row(rows, run.config.monitor)["epoch"]
    how = words["trained"].format(best=f"{best:.0f}", epochs=len(rows), monitor=run.config.monitor)
    return f"{how} " + (words["seconds"].format(f"{ended['seconds']:,.0f}") if ended else words["so_far"])


def curves(run, language):
    """The curves of the training, SVG by their titles; empty if there are no metrics."""
    from markupsafe import Markup

    from keras_transformer.visualize.page import inline_svg

    if not run.metrics():
        return {}
    titles = PANELS if language == "ko" else {title: title for title in PANELS}
    return {
        titles[title]: Markup(inline_svg(figure, f"curve-{number}", titles[title]))
        for number, (title, figure) in enumerate(training_panels(run).items())
    }


def refusals(run, words):
    """What the run refuses, SVG; empty if it was not calibrated since it was trained."""
    from markupsafe import Markup

    from keras_transformer.visualize.confidence import draw_refusals
    from keras_transformer.visualize.page import inline_svg

    try:
        confidence = Confidence.of_run(run)
    except InputError:
        return ""
    figure = draw_refusals(confidence, confidence.foreign, words["refusal_labels"], width=5)
    return Markup(inline_svg(figure, "refusals", words["refusals"]))


def about_corpus(corpus, words):
    """What is known of the corpus that a run was trained on, values by their names."""
    about = {words["name"]: corpus["name"], words["licence"]: corpus.get("licence") or words["not_known"]}
    counts = {words[name]: f"{corpus[name]:,}" for name in ("pairs", "train", "validation", "test") if name in corpus}
    return {**about, **counts, words["fingerprint"]: corpus["fingerprint"]}


def recipe(run):
    """The `config.toml` of a training like the run's; of paths the last parts, the others being its user's own."""
    rest = {**(run.corpus.get("source") or {}), "from": run.origin and run.origin["path"]}
    rest = {key: last_part(value) if key in (*PATHS, "from") else value for key, value in rest.items()}
    return config_file_text(run.config.to_dict(), rest).removeprefix(HEADER)


def last_part(path):
    """The last part of a path, or of several."""
    if isinstance(path, list):
        return list(map(last_part, path))
    return path and os.path.basename(path)


def versions(words):
    """What made the page, and when."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    found = {"keras_transformer": __version__, "python": platform.python_version()}
    return {words["made"]: now, **found, **{name: importlib.metadata.version(name) for name in PACKAGES}}
