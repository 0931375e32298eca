"""The `info` command: shows the details of a run or an export."""

import json
import pathlib

from keras_transformer.cli.console import add_command, echo, table
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.language import translate_count
from keras_transformer.printable import printable_line


def add_info(commands):
    """Adds the `info` command."""
    info = add_command(
        commands, "info", run_info, _("show the details of a run or an export, and check its files"),
        "keras-transformer info runs/first",
    )  # fmt: skip
    info.add_argument("path", metavar="PATH", help=_("folder of a run or an export, or an exported HTML file"))
    info.add_argument("--json", action="store_true", help=_("print JSON"))


def run_info(options):
    """Prints the details of a run or an export."""
    try:
        about = about_folder(pathlib.Path(options.path))
        echo(json.dumps(about, ensure_ascii=False, indent=2) if options.json else in_lines(about))
    except InputError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:  # A value of another type.
        raise InputError(_("{path}: damaged: {error}", path=options.path, error=error)) from error
    return 0


def about_folder(path):
    """Returns the details of a run or an export; raises `InputError` if the path is neither, or damaged."""
    from keras_transformer.export.manifest import ABOUT, read_about, read_embedded

    if path.suffix == ".html" and path.is_file():
        return read_embedded(path)
    if not (path / ABOUT).is_file():
        return about_run(path)
    about = read_about(path)
    return {**about, **({"answering": about_run(path)["answering"]} if is_run_with_datastore(path, about) else {})}


def is_run_with_datastore(path, about):
    """Returns whether an export is a run folder with a datastore."""
    from keras_transformer.chat.datastore import Datastore
    from keras_transformer.export.registry import exporter_of

    return Datastore.exists(path) and exporter_of(about.get("kind")).IS_RUN_FOLDER


def about_run(path):
    """Returns the details of a run folder as a dictionary."""
    from keras_transformer.chat.datastore import Datastore
    from keras_transformer.runs.run import Run

    run = Run(path)
    run.check_files()
    config = run.config
    answering = {"answering": about_answering(run)} if Datastore.exists(path) else {}
    corpus = {name: value for name, value in run.corpus.items() if name != "source"}
    vocabularies = {"questions": run.tokenizer.vocab_size, "answers": run.target_tokenizer.vocab_size}
    return {
        "kind": "run",
        "run": {"id": run.id, "config": config.to_dict(), "training": run.summary()},
        "vocabulary": vocabularies,
        "corpus": corpus,
        **answering,
        "files": {file.name: {"bytes": file.stat().st_size} for file in sorted(path.iterdir()) if file.is_file()},
    }


def about_answering(run):
    """Returns how a run with a datastore answers, as a dictionary."""
    from keras_transformer.chat.answering import Answering
    from keras_transformer.chat.datastore import CORRECTIONS, EXCHANGES, read_corrections, read_exchanges

    answering, corrections = Answering.of_run(run), read_corrections(run.path / CORRECTIONS)
    taught = sum("answer" in one for one in corrections)
    return {
        "by": answering.way,
        "similarity": answering.similarity,
        "chrf": answering.chrf,
        "questions": answering.questions,
        "exchanges": len(read_exchanges(run.path / EXCHANGES)),
        "taught": taught,
        "forgotten": len(corrections) - taught,
    }


def answering_line(answering):
    """Returns the result of `about_answering` as a line."""
    chrf = f" (chrF: {', '.join(f'{way} {value:.1f}' for way, value in answering['chrf'].items())})"
    return _(
        "by {way}; {exchanges:,} exchanges, {taught:,} taught, {forgotten:,} forgotten",
        way=answering["by"] + (chrf if answering["chrf"] else ""),
        exchanges=answering["exchanges"],
        taught=answering["taught"],
        forgotten=answering["forgotten"],
    )


def export_answers_by(about):
    """Returns how an export answers, to follow "answers"; "" if its run only generates."""
    answers = about.get("answers")
    if not answers or answers["run"] == "generate":
        return ""
    if answers["by"] == answers["run"]:
        return _("by {way}, as the run does", way=answers["by"])
    return _("by generate only; the run answers by {way}", way=answers["run"])


def in_lines(about):
    """Returns the details as lines of text."""
    config, training, corpus = about["run"]["config"], about["run"]["training"], about["corpus"]
    sizes = ("num_layers", "d_model", "num_heads", "dff", "max_length")
    size = sum(file["bytes"] for file in about["files"].values()) / 1e6
    options = dict(about.get("options", {}))
    fallback = options.pop("fallback", None)
    lines = {
        _("kind"): translate_count(
            "{kind}, {size:.1f} MB in {count} file",
            "{kind}, {size:.1f} MB in {count} files",
            len(about["files"]),
            kind=about["kind"],
            size=size,
        ),
        _("sizes"): ", ".join(f"{name} {config[name]}" for name in sizes),
        _("corpus"): _(
            "{name}, {pairs:,} pairs, licence {licence}",
            name=corpus["name"],
            pairs=corpus["pairs"],
            licence=corpus.get("licence") or _("not known"),
        ),
        _("training"): scores(training and {name: training[name] for name in training if name != "finished"}),
        **({_("answers"): answering_line(about["answering"])} if "answering" in about else {}),
        **({_("answers"): note} if (note := export_answers_by(about)) else {}),
        **({_("options"): scores(options)} if "options" in about else {}),
        **({_("fallback"): scores(fallback)} if fallback else {}),
        **(
            {_("verified"): _("{equal} of {questions} answers equal", **about["verified"])}
            if "verified" in about
            else {}
        ),
        **({_("versions"): scores(about["versions"])} if "versions" in about else {}),
    }
    return table((name, printable_line(text)) for name, text in lines.items())


def scores(values):
    """Returns a dictionary as text."""
    if not values:
        return _("not finished yet") if values is None else _("none")
    return ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in values.items()
    )
