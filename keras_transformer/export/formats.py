"""Exports by the name of their format."""

import dataclasses
import importlib

from keras_transformer.chatbot import Chatbot
from keras_transformer.errors import InputError
from keras_transformer.export import EXACT, FORMATS
from keras_transformer.export.folder import about_export, new_folder, questions_of, verified, write_about
from keras_transformer.run import Run


def export(run_dir, path, kind="saved_model", **options):
    """Writes a trained run as a folder of another format, and asks that folder some questions before it is kept.

    Args:
        run_dir: Folder of the run.
        path: The folder to make.
        kind: One of `FORMATS`.
        **options: Of the format, as `write` in its module has them.

    Returns:
        What the folder's `export.json` says, a dictionary.

    Raises:
        InputError: If the run cannot be read, the place is taken, an option cannot be, a package is missing, or the
            folder's answers are not the run's.
    """
    module = module_of(kind)
    run = Run(run_dir)
    model = run.load_model()
    with new_folder(path) as folder:
        module.write(run, model, folder, **options)
        checked = check(run, model, module.reopen(folder), options)
        about = about_export(run, folder, kind, in_json(options), checked)
        write_about(folder, about)
    return about


def module_of(kind):
    """The module that writes and reopens a format; raises `InputError` if there is no such format."""
    if kind not in FORMATS:
        raise InputError(f"no format named {kind!r}; there are {', '.join(FORMATS)}")
    return importlib.import_module(f"keras_transformer.export.{kind}")


def export_saved_model(run_dir, path, **options):
    """Writes a run as a SavedModel that takes and returns text: `export` and `saved_model.write` say the rest."""
    return export(run_dir, path, "saved_model", **options)


def export_litert(run_dir, path, **options):
    """Writes a run for LiteRT, which phones have: `export` and `litert.write` say the rest."""
    return export(run_dir, path, "litert", **options)


def export_onnx(run_dir, path, **options):
    """Writes a run for ONNX Runtime: `export` and `onnx.write` say the rest."""
    return export(run_dir, path, "onnx", **options)


def export_ctranslate2(run_dir, path, **options):
    """Writes a run for CTranslate2: `export` and `ctranslate2.write` say the rest."""
    return export(run_dir, path, "ctranslate2", **options)


def export_run(run_dir, path, **options):
    """Writes a run as a run folder with no more than answering needs: `export` and `run.write` say the rest."""
    return export(run_dir, path, "run", **options)


def check(run, model, answers, options):
    """Compares the answers and scores of a written folder, which `answers` gives, with the run's own."""
    config = run.config
    bot = Chatbot(model, run.tokenizer, config.max_length, run.target_tokenizer, config.turns)
    questions = questions_of(run.tokenizer)
    decoding = {name: options[name] for name in ("strategy", "max_length", *RULES) if name in options}
    exact = options.get("quantization", EXACT) == EXACT
    return verified(answers(questions), [found for [found] in bot.n_best(questions, 1, **decoding)], exact)


RULES = ("min_length", "repetition_penalty", "no_repeat_ngram", "forbidden_ids")
"""Settings of `generate` that a format may take among its options."""


def in_json(options):
    """Options as JSON can hold them: a strategy by its name and settings."""
    return {name: described(value) for name, value in options.items()}


def described(value):
    """A strategy as a dictionary; all else as it is."""
    if not dataclasses.is_dataclass(value):
        return value
    return {"kind": type(value).__name__.lower(), **dataclasses.asdict(value)}
