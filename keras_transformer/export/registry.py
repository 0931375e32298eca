"""Exports by the name of their format."""

import importlib

from keras_transformer.chat.answering import GENERATE, Answering
from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.chat.confidence import REFUSALS, Confidence
from keras_transformer.chat.datastore import Datastore
from keras_transformer.decoding.samplers import described
from keras_transformer.errors import InputError
from keras_transformer.export import EXACT, FORMATS
from keras_transformer.export.manifest import about_export, new_folder, questions_of, verified, write_about
from keras_transformer.export.run_folder import answers_of
from keras_transformer.runs.run import Run

RUN = "run"  # The format that is a run folder itself.


def export(run_dir, path, kind="saved_model", fallback=None, refusals=REFUSALS, **options):
    """Writes a trained run as a folder of another format, and asks that folder some questions before it is kept.

    Args:
        run_dir: Folder of the run.
        path: The folder to make.
        kind: One of `FORMATS`.
        fallback: What the folder says instead of answers that it is not sure of, a text; the run must be calibrated.
            A folder of kind "run" takes the calibration with it, and is told by those who ask it.
        refusals: The share of answerable questions that may be refused for it.
        **options: Of the format, as `write` in its module has them.

    Returns:
        What the folder's `export.json` says, a dictionary.

    Raises:
        InputError: If the run cannot be read, or is not calibrated for a fallback, the place is taken, an option cannot
            be, a package is missing, or the folder's answers are not the run's.
    """
    module = module_of(kind)
    run = Run(run_dir)
    if fallback is not None:
        fallback = options["fallback"] = fallback_of(run, kind, fallback, refusals, options)
    model = run.load_model()
    with new_folder(path) as folder:
        module.write(run, model, folder, **options)
        candidates = module.load(folder, apply_fallback=False) if fallback else module.load(folder)
        checked = check(run, model, candidates, options)
        if fallback:
            check_fallback(fallback, chatbot_of(run, model), candidates, module.load(folder))
        about = about_export(run, folder, kind, in_json(options), checked)
        if kind != RUN:
            about["answers"] = {"by": way_of(run) if as_run(options) else GENERATE, "run": way_of(run)}
        write_about(folder, about)
    return about


def fallback_of(run, kind, text, refusals, options):
    """The `Fallback` to a text for answers as an export chooses them; raises `InputError` if there can be none."""
    if kind == RUN:
        raise InputError("a run folder is told its fallback when it is asked: export it without, then --fallback")
    return Confidence.load(run.path, answer_by=GENERATE, **decoding_of(options)).fallback(text, refusals)


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
    questions = questions_of(run.tokenizer)
    exact = options.get("quantization", EXACT) == EXACT
    if as_run(options):
        expected = answers_of(Chatbot.of_run(run, model), questions)
    else:
        expected = [found for [found] in chatbot_of(run, model).n_best(questions, 1, **decoding_of(options))]
    return verified(answers(questions), expected, exact)


def as_run(options):
    """Whether a folder answers in its run's own way; to a `Chatbot`, decoding settings and a fallback say otherwise."""
    return not decoding_of(options) and options.get("fallback") is None


def chatbot_of(run, model):
    """The `Chatbot` of a `Run` whose model is loaded, without its datastore."""
    config = run.config
    return Chatbot(model, run.tokenizer, config.max_length, run.target_tokenizer, config.turns)


def way_of(run):
    """How a run answers by default."""
    return Answering.load(run.path).way if Datastore.exists(run.path) else GENERATE


def check_fallback(fallback, bot, candidates, judged):
    """Raises `InputError` unless a written folder gives what it would answer, or the fallback where that is due.

    Args:
        fallback: The `Fallback`.
        bot: The run's `Chatbot`.
        candidates: The folder's function from questions to what it would answer, with the scores.
        judged: The one to what it says.
    """
    questions = questions_of(bot.tokenizer)
    found = zip(candidates(questions), judged(questions), bot.pieces(questions), strict=True)
    for (answer, _), (said, score), pieces in found:
        if said != fallback.instead_of(answer, score, pieces):
            raise InputError(f"the export is not kept: it says {said!r} where its answer is {answer!r}, scored {score}")


def decoding_of(options):
    """Those options that say how answers are chosen, but for None, which says nothing."""
    names = ("strategy", "max_length", *RULES)
    return {name: options[name] for name in names if options.get(name) is not None}


RULES = ("min_length", "repetition_penalty", "no_repeat_ngram", "forbidden_ids")
"""Settings of `generate` that a format may take among its options."""


def in_json(options):
    """Options as JSON can hold them: a strategy by its name and settings."""
    return {name: value.to_dict() if name == "fallback" else described(value) for name, value in options.items()}
