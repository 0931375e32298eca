"""The `export` command: writes a run as a folder in another format."""

import json

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import add_command
from keras_transformer.cli.generation_options import (
    add_fallback_options,
    add_strategy_options,
    check_strategy_options,
    fallback_given,
    generation_config,
    strategy_options_given,
)
from keras_transformer.cli.info import export_answers_by
from keras_transformer.errors import InputError
from keras_transformer.export import FORMATS, QUANTIZATIONS, TOKENIZER_OPS

OF_SAVED_MODEL = {"tokenizer_ops": "--tokenizer-ops", "xla": "--no-xla"}


def add_export(commands):
    """Adds the `export` command."""
    export = add_command(
        commands, "export", run_export, "export a run to another format, such as a SavedModel",
        "keras-transformer export runs/first exported --format saved_model --beam 4",
    )  # fmt: skip
    export.add_argument("run", metavar="RUN", help="folder of the run")
    export.add_argument("path", metavar="PATH", help="folder to create")
    export.add_argument(
        "--format", choices=FORMATS, default=FORMATS[0],
        help="TensorFlow SavedModel (default); LiteRT for phones; ONNX for most other platforms and languages; "
        "CTranslate2 for fast CPU inference; or a run folder reduced to what inference needs",
    )  # fmt: skip
    export.add_argument(
        "--quantization",
        choices=QUANTIZATIONS,
        help="data type of the weights, for a smaller folder (default: float32)",
    )
    export.add_argument(
        "--tokenizer-ops", choices=TOKENIZER_OPS,
        help="SavedModel only: tokenizer operations, built into TensorFlow (default) or from tensorflow-text",
    )  # fmt: skip
    export.add_argument(
        "--no-xla", dest="xla", action="store_false", default=None,
        help="SavedModel only: disable XLA compilation, for a TensorFlow without it",
    )  # fmt: skip
    export.add_argument("--json", action="store_true", help="print export.json")
    add_strategy_options(export)
    add_fallback_options(export)


def run_export(options):
    """Writes the export and prints a summary."""
    check_strategy_options(options)
    chosen = {name: getattr(options, name) for name in ("quantization", *OF_SAVED_MODEL)}
    chosen = {name: value for name, value in chosen.items() if value is not None}
    if options.format == "saved_model":
        import_tensorflow_quietly()
        chosen |= decoding_options(options)
    elif others := [
        *(OF_SAVED_MODEL[name] for name in chosen if name in OF_SAVED_MODEL),
        *strategy_options_given(options),
    ]:
        raise InputError(f"{others[0]} is an option of --format saved_model, not of {options.format}")
    import_tensorflow_quietly()
    from keras_transformer.export.registry import export

    about = export(options.run, options.path, options.format, **fallback_given(options), **chosen)
    print(json.dumps(about, ensure_ascii=False, indent=2) if options.json else in_words(options.path, about))
    return 0


def decoding_options(options):
    """Returns the decoding options of a SavedModel that the command line gives."""
    chosen = {"generation": generation_config(options), "n_best": options.n_best}
    return {name: value for name, value in chosen.items() if value is not None}


def in_words(path, about):
    """Returns a one-line summary of an export."""
    size = sum(file["bytes"] for file in about["files"].values())
    checked = about["verified"]
    return (
        f"{path}: {about['kind']}, {size / 1e6:.1f} MB in {len(about['files'])} files; "
        f"{checked['equal']} of {checked['questions']} answers through it are the run's own"
        + (f"; {note}" if (note := export_answers_by(about)) else "")
    )
