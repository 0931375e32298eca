"""The `export` command: writes a run in another format."""

import json

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import add_command, check_utf8, echo
from keras_transformer.cli.generation_options import add_fallback_options, add_strategy_options, fallback_options
from keras_transformer.cli.info import export_answers_by
from keras_transformer.decoding.options import (
    OF_WORDS,
    check_strategy_options,
    generation_config,
    given_options,
    strategy_options_given,
)
from keras_transformer.errors import InputError
from keras_transformer.export import FORMATS, QUANTIZATIONS, TOKENIZER_OPS
from keras_transformer.language import translate as _
from keras_transformer.language import translate_count

FLAGS = {"tokenizer_ops": "--tokenizer-ops", "xla": "--no-xla", "title": "--title"}
"""Options that some formats lack, by their names in `Exporter.OPTIONS`."""


def add_export(commands):
    """Adds the `export` command."""
    export = add_command(
        commands, "export", run_export, _("export a run to another format, such as a SavedModel"),
        "keras-transformer export runs/first exported --format saved_model --beam 4",
    )  # fmt: skip
    export.add_argument("run", metavar="RUN", help=_("folder of the run"))
    export.add_argument("path", metavar="PATH", help=_("folder to create; for --format html, the file"))
    export.add_argument(
        "--format",
        choices=FORMATS,
        default=FORMATS[0],
        help=_(
            "TensorFlow SavedModel (default); LiteRT for phones; ONNX for most other platforms and languages; "
            "CTranslate2 for fast CPU inference; one HTML file that chats in a browser, without a network; a run "
            "folder reduced to what inference needs (run); or this folder with a model card, for the Hugging Face hub "
            "(hf)"
        ),
    )
    export.add_argument(
        "--quantization",
        choices=QUANTIZATIONS,
        help=_("data type of the weights, for a smaller folder (default: float32)"),
    )
    export.add_argument(
        "--tokenizer-ops", choices=TOKENIZER_OPS,
        help=_("SavedModel only: tokenizer operations, built into TensorFlow (default) or from tensorflow-text"),
    )  # fmt: skip
    export.add_argument(
        "--no-xla", dest="xla", action="store_false", default=None,
        help=_("SavedModel only: disable XLA compilation, for a TensorFlow without it"),
    )  # fmt: skip
    export.add_argument("--title", metavar="TEXT", help=_("HTML only: title of the page, such as the name of a shop"))
    export.add_argument("--json", action="store_true", help=_("print export.json"))
    add_strategy_options(export)
    add_fallback_options(export)


def run_export(options):
    """Writes the export and prints a summary."""
    check_strategy_options(options)
    check_utf8("--title", options.title or "")
    chosen = {name: getattr(options, name) for name in ("quantization", *FLAGS)}
    chosen = {name: value for name, value in chosen.items() if value is not None}
    check_paths(options)
    import_tensorflow_quietly()
    from keras_transformer.export.registry import export, exporter_of

    flags = {FLAGS[name]: name for name in chosen if name in FLAGS}
    words = [f"--{name}" for name in given_options(options, OF_WORDS)]
    check_format_has(options.format, flags | dict.fromkeys([*strategy_options_given(options), *words], "generation"))
    if "generation" in exporter_of(options.format).OPTIONS:
        chosen |= decoding_options(options)
    about = export(options.run, options.path, options.format, **fallback_options(options), **chosen)
    echo(json.dumps(about, ensure_ascii=False, indent=2) if options.json else in_words(options.path, about))
    return 0


def check_paths(options):
    """Raises `InputError` if there is no such run, or the export exists: before TensorFlow is imported, for seconds."""
    from keras_transformer.export.manifest import check_new
    from keras_transformer.runs.run import Run

    Run(options.run)
    check_new(options.path)


def check_format_has(kind, flags):
    """Raises `InputError` if a format lacks an option.

    Args:
        kind: The format.
        flags: The names in `Exporter.OPTIONS` of the options, by how they are written on the command line.
    """
    from keras_transformer.export.registry import exporter_of

    for flag, name in flags.items():
        if name not in exporter_of(kind).OPTIONS:
            others = _(" or ").join(other for other in FORMATS if name in exporter_of(other).OPTIONS)
            raise InputError(
                _("{flag} is an option of --format {others}, not of {kind}", flag=flag, others=others, kind=kind)
            )


def decoding_options(options):
    """Returns the decoding options of a SavedModel that the command line gives."""
    chosen = {"generation": generation_config(options), "n_best": options.n_best}
    return {name: value for name, value in chosen.items() if value is not None}


def in_words(path, about):
    """Returns a one-line summary of an export."""
    line = translate_count(
        "{path}: {kind}, {size:.1f} MB in {count} file; {equal} of {questions} answers through it are the run's own",
        "{path}: {kind}, {size:.1f} MB in {count} files; {equal} of {questions} answers through it are the run's own",
        len(about["files"]),
        path=path,
        kind=about["kind"],
        size=sum(file["bytes"] for file in about["files"].values()) / 1e6,
        equal=about["verified"]["equal"],
        questions=about["verified"]["questions"],
    )
    note = export_answers_by(about)
    return _("{line}; answers {by}", line=line, by=note) if note else line
