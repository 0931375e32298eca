"""Answering setup of a trained run: its datastore, and the answering mode with the best validation score."""

import itertools

import numpy as np
import pandas
from sacrebleu.metrics import CHRF

from keras_transformer.chat.answering import GENERATE, HYBRID, RETRIEVE, Answering
from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.chat.datastore import Datastore, Exchange, questions_and_answers, save_datastore
from keras_transformer.chat.question_embeddings import learn_embeddings
from keras_transformer.data.augmentation import augment
from keras_transformer.data.split import canonical
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.text.intents import languages_of, load_intents
from keras_transformer.training.corrections import corrected
from keras_transformer.training.progress import say

MOST_EXCHANGES = 200_000  # A larger corpus gets no datastore; its answers are always generated.
NUM_QUESTIONS = 500  # Validation questions that the answering mode is chosen with.
NUM_VALIDATION_PAIRS = 50_000  # Validation pairs that these questions are drawn from.
SIMILARITIES = np.linspace(0.1, 0.95, 18)  # Candidate similarity thresholds for `hybrid`.
MIN_GAIN = 0.5  # Minimum gain in chrF over a simpler answering mode.
# The same for a memorized corpus. It is judged by noisy copies of its questions, and the generator was trained on such
# copies: its score says little about questions in other words, which it answers with nonsense.
MIN_GAIN_MEMORIZED = 10.0
SMALL_CORPUS = 20_000  # With fewer exchanges, embeddings are learned beside everyday intents.


def index_memorized(run, corpus):
    """Creates the datastore of a run that memorizes its corpus, so that it answers before its training has ended.

    Args:
        run: The `Run`.
        corpus: Its `Corpus`.

    Returns:
        Whether the run has its datastore, of this training or of its part before an interruption.
    """
    if run.config.hold_out or run.summary():
        return False
    if is_indexed(run):
        return True
    exchanges, _validation = exchanges_of(run, corpus)
    if len(exchanges) > MOST_EXCHANGES:
        return False
    say(_("Indexing the questions …"))
    index(run, exchanges)
    return True


def is_indexed(run):
    """Returns whether a run has a datastore that is not damaged."""
    if not Datastore.exists(run.path):
        return False
    try:
        Datastore(run.path, run.id)
    except InputError:
        return False
    return True


def index(run, exchanges):
    """Creates the datastore of a run from its `Exchange`s. Corrections are kept."""
    questions, answers = questions_and_answers(exchanges)
    beside = background(questions) if len(exchanges) < SMALL_CORPUS else ()
    embeddings = learn_embeddings(questions, answers, run.config.seed, beside)
    save_datastore(run.path, run.id, exchanges, embeddings)


def prepare_answers(run, corpus, indexed=False):
    """Creates the datastore of a trained run and chooses its answering mode.

    Args:
        run: The `Run`, with its best weights.
        corpus: Its `Corpus`.
        indexed: Whether the run has its datastore, by `index_memorized`.

    Returns:
        A one-line message with the choice and its reason.
    """
    exchanges, validation = exchanges_of(run, corpus)
    if len(exchanges) > MOST_EXCHANGES:
        Answering().save(run.path)
        return _("More than {most:,} exchanges: answers are generated, without a datastore.", most=MOST_EXCHANGES)
    if not indexed:
        index(run, exchanges)
    bot = Chatbot.load(run.path)
    answering = choose_answering(bot, draw_questions(validation, run.config))
    answering.save(run.path)
    return in_words(answering, bot.memorized)


def background(questions):
    """Returns the exchanges beside which the questions of a corpus are learned: everyday intents in its languages.

    Returns:
        Questions and answers, two lists of texts. The answer is the first question of its intent. () if the corpus is
        in other languages.
    """
    intents = [intent for language in languages_of(questions) for intent in load_intents(language)]
    pairs = [(question, intent[0]) for intent in intents for question in intent]
    return tuple(map(list, zip(*pairs)))


def exchanges_of(run, corpus):
    """Returns the training pairs as `Exchange`s, at most one more than the limit, and the first validation pairs."""
    exchanges, validation = [], []
    config = run.config
    for splits in corrected(corpus, run.corpus.get("corrections")).splits(config.turns, config.hold_out):
        if "train" in splits and len(exchanges) <= MOST_EXCHANGES:
            exchanges += itertools.islice(as_exchanges(splits["train"]), MOST_EXCHANGES + 1 - len(exchanges))
        if "validation" in splits and sum(map(len, validation)) < NUM_VALIDATION_PAIRS:
            validation.append(splits["validation"])
    return exchanges, pandas.concat(validation)[["question", "answer"]].head(NUM_VALIDATION_PAIRS)


def as_exchanges(pairs):
    """Yields the pairs as `Exchange`s; pairs without a file are numbered by position."""
    numbers = range(1, len(pairs) + 1)
    files = pairs["file"] if "file" in pairs else [None] * len(pairs)
    rows = pairs.get("row", numbers)
    for question, answer, file, row, number in zip(pairs["question"], pairs["answer"], files, rows, numbers):
        has_file = isinstance(file, str)  # NaN for pairs from memory among pairs from files.
        yield Exchange(question, answer, file if has_file else None, int(row if has_file else number))


def draw_questions(validation, config):
    """Draws validation questions; returns a dictionary from each to its answers.

    Without held-out questions, these are noisy copies of the training questions.
    """
    random = np.random.default_rng(config.seed)
    if not config.hold_out:
        validation = augment(validation, 1, config.seed)
    answers = {}
    for question, answer in zip(validation["question"], validation["answer"]):
        answers.setdefault(canonical(question), []).append(answer)
    drawn = random.permutation(len(answers))[:NUM_QUESTIONS]
    questions = list(answers)
    return {questions[number]: answers[questions[number]] for number in sorted(drawn)}


def choose_answering(bot, answers_by_question):
    """Returns the `Answering` with the highest mean chrF (Popović 2015) over the questions.

    Retrieval is chosen unless another mode is clearly better, because a retrieved answer can be cited from the corpus.

    Args:
        bot: A `Chatbot` with its datastore.
        answers_by_question: Dictionary from questions to lists of reference answers.
    """
    if not answers_by_question:
        return Answering()
    questions, references = list(answers_by_question), list(answers_by_question.values())
    generated = scores([candidates[0][0] for candidates in bot.n_best(questions)], references)
    matches = [nearest[:1] for nearest in bot.matches(questions)]
    similarities = np.array([nearest[0].similarity if nearest else -1.0 for nearest in matches])
    retrieved = scores([nearest[0].exchange.answer if nearest else "" for nearest in matches], references)
    retrieved = np.where(similarities >= 0, retrieved, generated)
    mixed = [np.where(similarities >= least, retrieved, generated).mean() for least in SIMILARITIES]
    best = int(np.argmax(mixed))
    chrf = {GENERATE: generated.mean(), RETRIEVE: retrieved.mean(), HYBRID: mixed[best]}
    gain = MIN_GAIN_MEMORIZED if bot.memorized else MIN_GAIN
    simpler = GENERATE if chrf[GENERATE] >= chrf[RETRIEVE] + gain else RETRIEVE
    way = HYBRID if chrf[HYBRID] >= chrf[simpler] + gain else simpler
    chrf = {name: round(float(value), 2) for name, value in chrf.items()}
    return Answering(way, round(float(SIMILARITIES[best]), 2), chrf, len(questions))


def scores(answers, references):
    """Returns an array with the chrF of each answer, against the best of its references."""
    chrf = CHRF()
    return np.array([chrf.sentence_score(answer, list(texts)).score for answer, texts in zip(answers, references)])


def in_words(answering, memorized=False):
    """Returns a one-line description of the choice."""
    if not answering.questions:
        return _("Answers by {way}: there is no validation question to choose by.", way=answering.way)
    if memorized and answering.way == RETRIEVE:
        return _("Answers by {way}: those of the corpus, word for word.", way=answering.way)
    chrf = ", ".join(f"{way} {score:.1f}" for way, score in answering.chrf.items())
    values = {"way": answering.way, "count": answering.questions, "chrf": chrf}
    if memorized:
        return _("Answers by {way}: chrF over {count} noisy training questions is {chrf}.", **values)
    return _("Answers by {way}: chrF over {count} validation questions is {chrf}.", **values)
