"""Checks of a run folder: its files, its model, its tokenizers, its datastore, and an export of it."""

import os
import pathlib
import tempfile

import keras

from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.data.catalog import packaged_file
from keras_transformer.data.corpus import Corpus
from keras_transformer.doctor.finding import FAILED, OK, SKIPPED, WARNING, Finding, guarded, passed_if
from keras_transformer.doctor.model import model_findings
from keras_transformer.errors import InputError
from keras_transformer.export.manifest import questions_of
from keras_transformer.export.registry import export
from keras_transformer.language import translate as _
from keras_transformer.runs.run import Run
from keras_transformer.text.normalize import normalize

MOST_TEXTS = 5000  # Texts of the datastore that are tokenized.
MOST_QUESTIONS = 500  # Questions of the datastore that are asked.


def run_findings(path):
    """Yields a `Finding` for each check of a run folder. If it cannot be opened, that is the only one.

    Args:
        path: The folder, a `pathlib.Path`.
    """
    check = _("The files of the run are complete and undamaged")
    try:
        run = Run(path)
        run.check_files()
        run.metrics(), run.summary()
        bot = Chatbot.of_run(run, run.load_model())
        exchanges = bot.datastore.visible()[0] if bot.datastore else []
    except (InputError, OSError) as error:
        yield Finding(check, FAILED, str(error), _("Restore the file from a copy, or train the run again."))
        return
    sizes = [file.stat().st_size for file in path.iterdir() if file.is_file()]
    yield Finding(check, OK, _("{count} files, {size:.1f} MB", count=len(sizes), size=sum(sizes) / 1e6))
    vocabularies = run.tokenizer.vocab_size, run.target_tokenizer.vocab_size
    yield from model_findings(bot.model, *vocabularies, bot.answer_tokens, bot.max_length)
    yield guarded(_("Tokenizing and detokenizing keep every text"), round_trip, run, exchanges)
    yield guarded(_("Known questions retrieve their own exchange"), own_exchanges, bot, exchanges)
    yield guarded(_("The datastore has the rows of the corpus"), rows_of_corpus, run, exchanges)
    yield guarded(_("A SavedModel of the run gives its answers"), exported, path)


def round_trip(run, exchanges):
    """Returns the `Finding` that decoding the encoded texts of the datastore gives the texts."""
    check = _("Tokenizing and detokenizing keep every text")
    questions = [*questions_of(run.tokenizer), *(one.question for one in exchanges[:MOST_TEXTS])]
    answers = [one.answer for one in exchanges[:MOST_TEXTS]]
    lost = [*lost_texts(run.tokenizer, questions), *lost_texts(run.target_tokenizer, answers)]
    measured = _("{lost:,} of {count:,} texts differ", lost=len(lost), count=len(questions) + len(answers))
    advice = _("The first is {text!r}. Train a new tokenizer.", text=(lost or [""])[0])
    return passed_if(not lost, check, measured, advice)


def lost_texts(tokenizer, texts):
    """Returns the normal forms of texts that decoding does not give back, although nothing in them is unknown."""
    decoded = tokenizer.decode(tokenizer.encode(texts)) if texts else []
    pairs = zip(map(tokenizer.normal_form, texts), decoded)  # Of the texts: a normal form may have another one.
    return [text for text, back in pairs if back != text and not tokenizer.unknown(text)]


def own_exchanges(bot, exchanges):
    """Returns the `Finding` that each known question retrieves an exchange with this question."""
    check = _("Known questions retrieve their own exchange")
    if not exchanges:
        return Finding(check, SKIPPED, _("the run has no datastore"))
    step = -(-len(exchanges) // MOST_QUESTIONS)
    questions = [one.question for one in exchanges[::step]]
    nearest = bot.datastore.nearest(questions)
    wrong = [
        question
        for question, matches in zip(questions, nearest)
        if not matches or normalize(matches[0].exchange.question) != normalize(question)
    ]
    measured = _("{wrong:,} of {count:,} questions do not", wrong=len(wrong), count=len(questions))
    advice = _("The first is {text!r}. Train the run again.", text=(wrong or [""])[0])
    return passed_if(not wrong, check, measured, advice)


def rows_of_corpus(run, exchanges):
    """Returns the `Finding` that the exchanges of the datastore are those of the corpus, with their rows."""
    from keras_transformer.training.answering import exchanges_of

    check = _("The datastore has the rows of the corpus")
    source = run.corpus.get("source") or {}
    paths = source.get("corpus")
    if not exchanges or not paths:
        return Finding(check, SKIPPED, _("the run has no datastore, or its corpus was not a file"))
    if not all(os.path.exists(path) or packaged_file(path) for path in paths):
        return Finding(check, SKIPPED, _("the corpus is not where it was: {paths}", paths=" ".join(paths)))
    corpus = Corpus.from_source(source)
    if corpus.fingerprint(run.config.turns) != run.corpus["fingerprint"]:
        advice = _("Citations name rows of the old file. Train the run again to learn the new one.")
        return Finding(check, WARNING, _("the corpus has changed since the training"), advice)
    expected, stored = exchanges_of(run, corpus)[0], [one for one in exchanges if not one.taught]
    stray = len(set(stored) - set(expected))
    measured = _("{wrong:,} of {count:,} exchanges differ", wrong=stray, count=len(stored))
    return passed_if(not stray, check, measured, _("Train the run again."))


def exported(path):
    """Returns the `Finding` that a SavedModel of the run, opened again, answers as the run does."""
    check = _("A SavedModel of the run gives its answers")
    if keras.backend.backend() != "tensorflow":
        return Finding(check, SKIPPED, _("it needs the TensorFlow backend"))
    try:
        with tempfile.TemporaryDirectory() as folder:
            verified = export(path, pathlib.Path(folder) / "saved_model")["verified"]
    except InputError as error:
        return Finding(check, FAILED, str(error), _("Do not export with this installation; report this."))
    return Finding(check, OK, _("{equal} of {questions} answers equal", **verified))
