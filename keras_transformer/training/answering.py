"""What a run answers with once its training has ended: its datastore, and the way of answering that serves it best."""

import itertools

import numpy as np
import pandas
from sacrebleu.metrics import CHRF

from keras_transformer.chat.answering import GENERATE, HYBRID, RETRIEVE, Answering
from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.chat.datastore import Exchange, questions_and_answers, save_datastore
from keras_transformer.chat.question_embeddings import learn_embeddings
from keras_transformer.data.augmentation import augment
from keras_transformer.data.split import canonical
from keras_transformer.training.corrections import corrected

MOST_EXCHANGES = 200_000  # Beyond that, a corpus teaches by its weights alone.
ASKED = 500  # Validation questions that decide.
READ = 50_000  # Validation pairs that they are drawn from.
SIMILARITIES = np.linspace(0.1, 0.95, 18)  # That `hybrid` may begin to retrieve from.
WORTH_IT = 0.5  # chrF that a way of answering must gain over a simpler one.


def prepare_answers(run, corpus):
    """Gives a trained run its datastore, and chooses its way of answering; what it was taught stays.

    Args:
        run: The `Run`, with its best weights.
        corpus: Its `Corpus`.

    Returns:
        A line that says what was chosen and why.
    """
    exchanges, validation = exchanges_of(run, corpus)
    if len(exchanges) > MOST_EXCHANGES:
        Answering().save(run.path)
        return f"More than {MOST_EXCHANGES:,} exchanges: answers are generated, without a datastore."
    save_datastore(run.path, run.id, exchanges, learn_embeddings(*questions_and_answers(exchanges), run.config.seed))
    bot = Chatbot.load(run.path)
    answering = choose_answering(bot, asked_of(validation, run.config))
    answering.save(run.path)
    return in_words(answering)


def exchanges_of(run, corpus):
    """The training pairs as `Exchange`s, one more than there may be at most, and the first validation pairs."""
    exchanges, validation = [], []
    config = run.config
    for parts in corrected(corpus, run.corpus.get("corrections")).parts(config.turns, config.hold_out):
        if "train" in parts and len(exchanges) <= MOST_EXCHANGES:
            exchanges += itertools.islice(as_exchanges(parts["train"]), MOST_EXCHANGES + 1 - len(exchanges))
        if "validation" in parts and sum(map(len, validation)) < READ:
            validation.append(parts["validation"])
    return exchanges, pandas.concat(validation)[["question", "answer"]].head(READ)


def as_exchanges(pairs):
    """Yields the `Exchange` of each of the pairs; those made in memory are numbered."""
    numbers = range(1, len(pairs) + 1)
    files = pairs["file"] if "file" in pairs else [None] * len(pairs)
    rows = pairs.get("row", numbers)
    for question, answer, file, row, number in zip(pairs["question"], pairs["answer"], files, rows, numbers):
        named = isinstance(file, str)  # NaN of pairs made in memory that stand among others.
        yield Exchange(question, answer, file if named else None, int(row if named else number))


def asked_of(validation, config):
    """Questions to decide by, with their answers: a dictionary.

    Where nothing was held out, they are the training questions as others might type them.
    """
    random = np.random.default_rng(config.seed)
    if not config.hold_out:
        validation = augment(validation, 1, config.seed)
    asked = {}
    for question, answer in zip(validation["question"], validation["answer"]):
        asked.setdefault(canonical(question), []).append(answer)
    drawn = random.permutation(len(asked))[:ASKED]
    questions = list(asked)
    return {questions[number]: asked[questions[number]] for number in sorted(drawn)}


def choose_answering(bot, asked):
    """The `Answering` with the highest mean chrF (Popović 2015) over questions.

    Where nothing else is clearly better, it is to retrieve: what is retrieved stands in the corpus, and can be cited.

    Args:
        bot: A `Chatbot` with its datastore.
        asked: Dictionary from questions to lists of right answers.
    """
    if not asked:
        return Answering()
    questions, references = list(asked), list(asked.values())
    generated = scores([found[0][0] for found in bot.n_best(questions, 1)], references)
    matches = [near[:1] for near in bot.matches(questions)]
    similarities = np.array([near[0].similarity if near else -1.0 for near in matches])
    retrieved = scores([near[0].exchange.answer if near else "" for near in matches], references)
    retrieved = np.where(similarities >= 0, retrieved, generated)
    mixed = [np.where(similarities >= least, retrieved, generated).mean() for least in SIMILARITIES]
    best = int(np.argmax(mixed))
    chrf = {GENERATE: generated.mean(), RETRIEVE: retrieved.mean(), HYBRID: mixed[best]}
    simpler = GENERATE if chrf[GENERATE] >= chrf[RETRIEVE] + WORTH_IT else RETRIEVE
    way = HYBRID if chrf[HYBRID] >= chrf[simpler] + WORTH_IT else simpler
    chrf = {name: round(float(value), 2) for name, value in chrf.items()}
    return Answering(way, round(float(SIMILARITIES[best]), 2), chrf, len(questions))


def scores(answers, references):
    """ChrF of each answer beside its best reference, an array."""
    chrf = CHRF()
    return np.array([chrf.sentence_score(answer, list(right)).score for answer, right in zip(answers, references)])


def in_words(answering):
    """What was chosen, in a line."""
    if not answering.questions:
        return f"Answers by {answering.way}: there is no validation question to choose by."
    found = ", ".join(f"{way} {score:.1f}" for way, score in answering.chrf.items())
    return f"Answers by {answering.way}: chrF over {answering.questions} validation questions is {found}."
