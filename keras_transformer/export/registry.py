"""Exports a run to a format by name and verifies the result."""

from __future__ import annotations

import dataclasses
import importlib
import os
import pathlib
from collections.abc import Sequence
from typing import Any

from keras_transformer.backend.tensorflow_import import silent_tensorflow
from keras_transformer.chat.answering import GENERATE, Answering
from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.chat.confidence import REFUSALS, Confidence
from keras_transformer.chat.datastore import Datastore
from keras_transformer.decoding.config import GenerationConfig, Strategy
from keras_transformer.decoding.samplers import described
from keras_transformer.errors import InputError
from keras_transformer.export import EXACT, FORMATS, MODULES
from keras_transformer.export.exporter import Exporter
from keras_transformer.export.manifest import (
    about_export,
    about_file,
    embed_about,
    new_folder,
    questions_of,
    verified,
    write_about,
)
from keras_transformer.export.run_folder import answers_of
from keras_transformer.language import translate as _
from keras_transformer.runs.run import Run


def export(run_dir, path, kind="saved_model", fallback=None, refusals=REFUSALS, **options):
    """Exports a trained run to a folder or file, and keeps it only if its answers match those of the run.

    Args:
        run_dir: Folder of the run.
        path: The folder to create; for the kind "html", the file.
        kind: One of `FORMATS`.
        fallback: Text that replaces low-confidence answers. Requires a calibrated run. Not available for the kind
            "run", whose folder includes the calibration: pass the fallback when you use that folder.
        refusals: Share of answerable questions that the fallback may refuse.
        **options: Options of the format, as in `Exporter.write` of its module: `quantization`, and `OPTIONS`.

    Returns:
        The content of the export's `export.json`, a dictionary.

    Raises:
        InputError: If the run cannot be read or is not calibrated for a fallback, the path already exists, an option is
            invalid, a package is missing, or the folder's answers differ from the run's.
    """
    exporter = exporter_of(kind)
    run = Run(run_dir)
    if fallback is not None:
        fallback = options["fallback"] = fallback_of(run, exporter, fallback, refusals, options)
    model = run.load_model()
    with new_folder(path, exporter.FILE) as folder:
        exporter.write(run, model, folder, **options)
        candidates = exporter.load(folder, apply_fallback=False)
        checked = check(run, model, candidates, options)
        if fallback:
            check_fallback(fallback, chatbot_of(run, model), candidates, exporter.load(folder))
        about = about_export(run, folder, kind, in_json(options), checked, exporter.EDITABLE)
        if not exporter.IS_RUN_FOLDER:
            about["answers"] = {"by": way_of(run) if as_run(options) else GENERATE, "run": way_of(run)}
        if exporter.FILE:
            embed_about(folder / exporter.FILE, about)
            about["files"] = {pathlib.Path(path).name: about_file(folder / exporter.FILE)}
        else:
            write_about(folder, about)
    return about


def fallback_of(run, exporter, text, refusals, options):
    """Returns the `Fallback` for the answers of an export. Raises `InputError` if there can be none."""
    if exporter.IS_RUN_FOLDER:
        raise InputError(
            _("an exported run folder cannot store a fallback: export it without, and pass --fallback when you use it")
        )
    return Confidence.load(run.path, answer_by=GENERATE, generation=options.get("generation")).fallback(text, refusals)


def exporter_of(kind: str) -> Exporter:
    """Returns the module that writes and loads a format. Raises `InputError` if there is no such format."""
    if kind not in FORMATS:
        raise InputError(
            _("unknown export format {kind!r}: use one of {formats}", kind=kind, formats=", ".join(FORMATS))
        )
    with silent_tensorflow():
        return importlib.import_module(f"keras_transformer.export.{MODULES[kind]}")


def export_saved_model(
    run_dir: str | os.PathLike,
    path: str | os.PathLike,
    *,
    strategy: Strategy | None = None,
    max_length: int | None = None,
    min_length: int = 0,
    repetition_penalty: float = 1.0,
    no_repeat_ngram: int = 0,
    forbidden_ids: Sequence[int] = (),
    forbidden: Sequence[str] = (),
    required: Sequence[str] = (),
    **options: Any,
) -> dict[str, Any]:
    """Exports a run as a SavedModel that takes and returns text.

    With a decoding setting, which are those of `GenerationConfig`, the SavedModel generates every answer. Otherwise it
    answers as the run does. For the other options, see `export` and `saved_model.write`.
    """
    generation = GenerationConfig(
        strategy,
        max_length=max_length,
        min_length=min_length,
        repetition_penalty=repetition_penalty,
        no_repeat_ngram=no_repeat_ngram,
        forbidden_ids=forbidden_ids,
        forbidden=forbidden,
        required=required,
    )
    if strategy is not None or generation != GenerationConfig():
        if options.get("generation") is not None:
            raise InputError(
                _("generation and other decoding settings are both given: put all into the GenerationConfig")
            )
        options["generation"] = generation
    return export(run_dir, path, "saved_model", **options)


def export_litert(run_dir: str | os.PathLike, path: str | os.PathLike, **options: Any) -> dict[str, Any]:
    """Exports a run to LiteRT, for mobile devices. See `export` and `litert.write`."""
    return export(run_dir, path, "litert", **options)


def export_onnx(run_dir: str | os.PathLike, path: str | os.PathLike, **options: Any) -> dict[str, Any]:
    """Exports a run to ONNX Runtime. See `export` and `onnx.write`."""
    return export(run_dir, path, "onnx", **options)


def export_ctranslate2(run_dir: str | os.PathLike, path: str | os.PathLike, **options: Any) -> dict[str, Any]:
    """Exports a run to CTranslate2. See `export` and `ctranslate2.write`."""
    return export(run_dir, path, "ctranslate2", **options)


def export_run(run_dir: str | os.PathLike, path: str | os.PathLike, **options: Any) -> dict[str, Any]:
    """Exports a run as a run folder for inference only. See `export` and `run_folder.write`."""
    return export(run_dir, path, "run", **options)


def export_hugging_face(run_dir: str | os.PathLike, path: str | os.PathLike, **options: Any) -> dict[str, Any]:
    """Exports a run as a run folder with a model card, for the Hugging Face hub. See `export`, `hugging_face.write`."""
    return export(run_dir, path, "hf", **options)


def export_html(run_dir: str | os.PathLike, path: str | os.PathLike, **options: Any) -> dict[str, Any]:
    """Exports a run as one HTML file that chats in a browser, without a network. See `export` and `html.write`."""
    return export(run_dir, path, "html", **options)


def check(run, model, answers, options):
    """Compares the answers and scores of an exported folder (the function `answers`) with those of the run."""
    questions = questions_of(run.tokenizer)
    exact = options.get("quantization", EXACT) == EXACT
    if as_run(options):
        expected = answers_of(Chatbot.of_run(run, model), questions)
    else:
        one = (options.get("generation") or GenerationConfig()).of_one_answer()
        expected = [best for [best] in chatbot_of(run, model).n_best(questions, one)]
    return verified(answers(questions), expected, exact)


def as_run(options):
    """Returns whether the folder uses the run's answering mode, that is, no `generation` or fallback is given."""
    return options.get("generation") is None and options.get("fallback") is None


def chatbot_of(run, model):
    """Creates the `Chatbot` of a `Run` with a loaded model, without its datastore."""
    config = run.config
    return Chatbot(model, run.tokenizer, config.max_length, run.target_tokenizer, config.turns)


def way_of(run):
    """Returns the default answering mode of a run."""
    return Answering.of_run(run).way if Datastore.exists(run.path) else GENERATE


def check_fallback(fallback, bot, candidates, with_fallback):
    """Raises `InputError` unless an exported folder applies the fallback exactly where it should.

    Args:
        fallback: The `Fallback`.
        bot: The run's `Chatbot`.
        candidates: The folder's function from questions to pairs of answer and score, without the fallback.
        with_fallback: The same function with the fallback applied.
    """
    questions = questions_of(bot.tokenizer)
    results = zip(candidates(questions), with_fallback(questions), bot.pieces(questions), strict=True)
    for (answer, _score), (output, score), pieces in results:
        if output != fallback.instead_of(answer, score, pieces):
            raise InputError(
                _(
                    "the export was discarded: it applies the fallback wrongly and returns {output!r} "
                    "for the answer {answer!r} with score {score}",
                    output=output,
                    answer=answer,
                    score=score,
                )
            )


def in_json(options):
    """Converts options to JSON-compatible values. A strategy becomes its name and settings.

    A `GenerationConfig` becomes its strategy and those of its other settings that are not the default. `n_best` is an
    option of its own, so the number of answers is left out.
    """
    options = dict(options)
    generation, default = options.pop("generation", None), GenerationConfig()
    if generation is not None:
        names = (field.name for field in dataclasses.fields(generation) if field.init and field.name != "num_return")
        settings = {name: getattr(generation, name) for name in names}
        chosen = {name: value for name, value in settings.items() if value != getattr(default, name)}
        chosen = {name: list(value) if isinstance(value, tuple) else value for name, value in chosen.items()}
        options = {"strategy": generation.strategy, **chosen, **options}
    return {name: value.to_dict() if name == "fallback" else described(value) for name, value in options.items()}
