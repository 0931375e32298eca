"""How to train on a corpus: kind, vocabulary, sizes, lengths, epochs and recipe, each from what was measured."""

import dataclasses
import itertools
import os
import shlex
import warnings

import numpy as np
import pandas

from keras_transformer.config import SHARED, Config
from keras_transformer.data.augmentation import augment
from keras_transformer.data.loading import CorpusWarning
from keras_transformer.data.packing import choose_widths, pack
from keras_transformer.data.quality.kind import CHAT, TRANSLATION, WORDS, count_words, find_kind
from keras_transformer.data.quality.statistics import quantile
from keras_transformer.data.quality.tokenizer_choice import OFTEN, OFTEN_BY_HEART, choose_tokenizer
from keras_transformer.data.readers import corpus_paths
from keras_transformer.errors import CorpusTooSmall
from keras_transformer.presets import preset
from keras_transformer.text.normalize import normalize
from keras_transformer.text.tokenizer import Tokenizer
from keras_transformer.text.turns import turns_of

MEASURED = 20_000  # Pairs that are measured, at most.

# Every kind.
LEAST_TOKENS = {"small": 0, "base": 10_000_000, "big": 200_000_000}
"""Tokens to train on, questions and answers, from which on a model has the sizes of a preset. The paper trained `base`
and `big` on 4.5 million pairs of about 25 + 25 tokens (section 5.1)."""
SIZES = ("num_layers", "d_model", "num_heads", "dff", "max_length")
FITTING = 0.995  # Share of the pairs that are to be within max_length.
LONGEST = 512  # Attention takes time and memory with the square of the length.
CLIP_NORM = 1.0
SMALL_CORPUS, SMALL_BATCH, BATCH = 1500, 16, 64  # Below so many pairs a batch is small.
MOST_WARM_UP = 4000

# Chat.
FEW_QUESTIONS = 500  # Different questions below which all of them are for training.
COPIES = 1  # Noisy copies of each pair, where none are recombined.
RECOMBINED, MOST_RECOMBINED = 2, 20_000  # New questions for each known one; of so many pairs at most.
CHAT_PRESENTATIONS = 26  # Of each pair, of its copies and of the new questions, all epochs together.
CHAT_DROPOUT = 0.0  # What is to be known by heart is learned in half the epochs; new questions are answered no worse.
LEAST_STEPS, MOST_STEPS = 1000, 100_000  # Updates, which go before `CHAT_PRESENTATIONS`.
CHAT_MOST_PASSES = 80  # Goes before `LEAST_STEPS`: 40 pairs are known by heart after 40.
CHAT_LEAST_PASSES = 3  # Goes before `MOST_STEPS`.
CHAT_WARM_UP = 0.08  # Share of the updates.
CHAT_LEARNING_RATE = 0.001

# Translation.
TRANSLATION_PRESENTATIONS = 450_000  # Pairs seen, all epochs together.
TRANSLATION_EPOCHS = (10, 60)  # At least and at most.
LARGE_CORPUS = 1_000_000  # Pairs from which on it is fewer epochs:
LARGE_PRESENTATIONS, LARGE_EPOCHS = 10_000_000, (3, 10)
TRANSLATION_WARM_UP, LEAST_WARM_UP = 0.1, 50
LEARNING_RATE, WIDE, WIDE_LEARNING_RATE = 0.0007, 512, 0.0005  # The latter from a d_model of `WIDE` on.
DROPOUT, NATURAL_DROPOUT, NATURAL_PAIRS = 0.1, 0.3, 50_000  # The second below so many pairs of natural language.
LABEL_SMOOTHING = 0.1

# Words.
WORD_UPDATES, WORD_EPOCHS = 7000, (10, 180)
WORD_WARM_UP = 0.1


@dataclasses.dataclass(frozen=True)
class Recommendation:
    """How to train on a corpus.

    Attributes:
        kind: "chat" (pairs to know by heart), "translation" (answers made from questions by a rule) or "words".
        config: The `Config`.
        reasons: Why, a tuple of short clauses; the first is that of the kind.
    """

    kind: str
    config: Config
    reasons: tuple

    def replace(self, **changes):
        """The same with other settings, which go before the recommended ones."""
        return dataclasses.replace(self, config=self.config.replace(**changes))

    @property
    def line(self):
        """What was chosen and why, in a line."""
        config = self.config
        what = [tokens_in_words(config), layers_in_words(config), f"{config.epochs:,} epoch{'s' * (config.epochs > 1)}"]
        what += [] if config.hold_out else ["nothing held out"]
        return f"Chosen for {self.kind}: {self.reasons[0]}; {', '.join(what)}."


def tokens_in_words(config):
    """What texts are cut into."""
    names = {"character": "characters", "word": "words"}
    pieces = f"{config.vocab_size:,} pieces"
    source, target = (names.get(kind, pieces) for kind in (config.tokenizer, config.target_tokenizer))
    return source if config.target_tokenizer in (SHARED, config.tokenizer) else f"{source} to {target}"


def layers_in_words(config):
    """The sizes of a model."""
    return f"{config.num_layers} layer{'s' * (config.num_layers > 1)} of {config.d_model}"


def recommend_for(corpus, turns=1, hold_out=None, tokenizer=None, target_tokenizer=None):
    """How to train on a `Corpus`, which is read for it.

    Args:
        corpus: The `Corpus`.
        turns: Turns of a conversation that a question holds at most.
        hold_out: Whether questions are held out for validation; None to decide it by their number.
        tokenizer: File of a tokenizer to take; None to measure which vocabulary the corpus can feed.
        target_tokenizer: File of the answers' own tokenizer, likewise.

    Returns:
        The `Recommendation`, the corpus's `Survey` for it, and the `Tokenizer`s of questions and of answers that were
        measured with.

    Raises:
        InputError: As `Corpus.survey`, though for want of questions only if `hold_out` is true.
    """
    files = tuple(file and Tokenizer.load(file) for file in (tokenizer, target_tokenizer))
    options = {"turns": turns, "parts": corpus.has_validation, "files": files}
    if hold_out is not False:
        try:
            survey = corpus.survey(turns)
            found, tokenizers = measure(survey.sample, survey.sizes["train"], hold_out=hold_out, **options)
            if found.config.hold_out:
                return found, survey, tokenizers
        except CorpusTooSmall:
            if hold_out:
                raise
    with warnings.catch_warnings():
        if hold_out is not False:
            warnings.simplefilter("ignore", CorpusWarning)  # Which the first reading has said.
        survey = corpus.survey(turns, hold_out=False)
    found, tokenizers = measure(survey.sample, survey.sizes["train"], hold_out=False, **options)
    return found, survey, tokenizers


def recommend(sample, pairs, turns=1, parts=False):
    """The `Recommendation` for a corpus.

    Args:
        sample: DataFrame of training pairs: all of them, or many drawn evenly.
        pairs: How many training pairs there are.
        turns: Turns of a conversation that a question holds at most.
        parts: Whether the corpus brings its own validation.
    """
    return measure(sample, pairs, turns, parts)[0]


def measure(sample, pairs, turns=1, parts=False, hold_out=None, files=(None, None)):
    """The `Recommendation`, and the two tokenizers that were measured with.

    Args:
        sample: As for `recommend`, like the next three.
        pairs: How many training pairs there are.
        turns: Turns of a conversation that a question holds at most.
        parts: Whether the corpus brings its own validation.
        hold_out: Whether questions are held out; None to decide it.
        files: The `Tokenizer`s of questions and answers, where they are given.
    """
    drawn = draw(sample)
    kind = find_kind(drawn, pairs)
    if hold_out is None:
        hold_out = parts or kind.name != CHAT or sample["question"].nunique() >= FEW_QUESTIONS
    recombined = RECOMBINED if kind.name == CHAT and hold_out and pairs <= MOST_RECOMBINED else 0
    copies = COPIES if kind.name == CHAT and not recombined else 0
    if recombined and files == (None, None):  # New words have known characters.
        kind = dataclasses.replace(kind, tokenizer="character", target_tokenizer="sentencepiece")
    trained = pandas.concat([drawn, augment(drawn, copies, (0, 0))]) if copies else drawn
    sides = [turns_of(question, turns) for question in trained["question"]], [[answer] for answer in trained["answer"]]
    texts = [list(itertools.chain(*side[: len(drawn)])) for side in sides]
    share = len(drawn) / pairs / (1 + recombined)  # Each answer is met so much more often.
    tokenizers, vocab_size, why_cut = choose_tokenizers(kind, texts, sample, share, turns, files)
    whole, last = (np.array(lengths) for lengths in zip(*map(turn_lengths, tokenizers, sides)))
    tokens = round(whole[:, : len(drawn)].sum() * pairs / len(drawn))
    sizes = choose_sizes(kind, tokens)
    max_length = choose_max_length(whole.max(axis=0), sizes["max_length"], FITTING if hold_out else 1)
    fitting = last.max(axis=0) <= max_length
    seen = round(pairs * (len(trained) / len(drawn) + recombined))  # In an epoch, copies and all.
    batch_size = choose_batch_size(kind, pairs)
    steps = count_batches(np.minimum(whole.T[fitting], max_length) - [0, 1], seen, batch_size)
    config = preset("characters") if kind.name == WORDS else Config()
    config = config.replace(
        **(sizes | {"max_length": max_length}),
        **RECIPES[kind.name](kind, pairs, seen, steps, sizes["d_model"]),
        tokenizer=kind.tokenizer,
        target_tokenizer=kind.target_tokenizer,
        vocab_size=vocab_size,
        batch_size=batch_size,
        hold_out=hold_out,
        augment=copies,
        recombine=recombined,
        turns=turns,
    )
    left_out = int((last[:, : len(drawn)].max(axis=0) > max_length).sum())
    reasons = (
        kind.reason,
        why_cut,
        f"{layers_in_words(config)}: {tokens:,} tokens to train on{threshold(kind, tokens)}",
        f"{config.epochs:,} epochs: {config.epochs * steps:,} updates, {config.warmup_steps:,} of them warm-up",
        f"max_length {max_length}: leaves out {f'{left_out:,}' if left_out else 'none'} of {len(drawn):,} pairs",
    )
    if recombined:
        reasons += (f"{recombined} more questions for each, of words of two that are alike: new ones have known words",)
    if not hold_out:
        reasons += (f"nothing held out: {sample['question'].nunique():,} different questions",)
    return Recommendation(kind.name, config, reasons), tokenizers


def draw(sample):
    """`MEASURED` of the pairs at most, drawn evenly, always the same."""
    if len(sample) <= MEASURED:
        return sample
    return sample.iloc[np.sort(np.random.default_rng(0).permutation(len(sample))[:MEASURED])]


# Vocabulary


def choose_tokenizers(kind, texts, sample, share, turns, files):
    """Tokenizers to measure lengths with, the size of the vocabulary, and why.

    Args:
        kind: The `Kind`.
        texts: Lists of the turns of questions, and of answers.
        sample: DataFrame of all training pairs there are to learn a vocabulary from.
        share: Which share of all training pairs the texts are of.
        turns: Turns of a conversation that a question holds at most; several have a separator in the vocabulary.
        files: The `Tokenizer`s of questions and answers, where they are given.
    """
    source, target = files
    own = target or kind.target_tokenizer != SHARED
    learned = [texts[0], texts[1]] if own else [[*texts[0], *texts[1]]] * 2
    if source and (target or not own):
        target = target or source
        return (source, target), max(source.vocab_size, target.vocab_size), "tokenizer from a file"
    if kind.tokenizer == "sentencepiece":
        chosen, vocab_size, rarest = choose_tokenizer(learned[0], len(characters_of(sample)) + (turns > 1), share)
        reason = f"vocabulary {vocab_size:,}: {fed_in_words(rarest)}"
        return (chosen, target or chosen), vocab_size, reason
    if kind.target_tokenizer == "sentencepiece":
        characters = len(characters_of(sample)) + (turns > 1)
        chosen, vocab_size, rarest = choose_tokenizer(learned[1], characters, share, OFTEN_BY_HEART)
        source = source or Tokenizer.train(learned[0], vocab_size, kind.tokenizer)
        reason = (
            f"questions cut into characters, answers into {vocab_size:,} pieces: {fed_in_words(rarest, OFTEN_BY_HEART)}"
        )
        return (source, target or chosen), vocab_size, reason
    vocab_size = closed_size(kind, sample)
    source = source or Tokenizer.train(learned[0], vocab_size, kind.tokenizer)
    kinds = {"character": "characters", "word": "words at spaces"}
    if not own:
        return (source, source), vocab_size, f"cut into {kinds[kind.tokenizer]}: no others are met in new questions"
    answers = kind.target_tokenizer if kind.target_tokenizer != SHARED else kind.tokenizer
    target = target or Tokenizer.train(learned[1], vocab_size, answers)
    return (source, target), vocab_size, f"questions cut into {kinds[kind.tokenizer]}, answers into {kinds[answers]}"


def fed_in_words(rarest, often=OFTEN):
    """Why a vocabulary has its size; arguments as `choose_tokenizer` returns and takes them."""
    met = f"95 of 100 pieces are met at least {rarest:,} times"
    return met if rarest >= often else "the least that holds all characters"


def closed_size(kind, sample):
    """Size of a vocabulary of all characters, or words: the next multiple of 500."""
    needed = 2 * len(characters_of(sample))  # Twice: what is put together from characters may be more.
    if "word" in (kind.tokenizer, kind.target_tokenizer):
        sides = ("question", "answer") if kind.target_tokenizer == SHARED else ("answer",)
        needed = max(needed, 5 + len(count_words(itertools.chain(*(sample[side] for side in sides)))))
    return 500 * -(-needed // 500)


def characters_of(sample):
    """The different characters of pairs."""
    return set().union(*map(normalize, itertools.chain(sample["question"], sample["answer"])))


# Lengths and sizes


def turn_lengths(tokenizer, texts):
    """The tokens of texts, start, end and separators included, and of each one's last turn alone.

    Args:
        tokenizer: The `Tokenizer`.
        texts: The turns of each, a list.
    """
    encoded = iter(map(len, tokenizer.encode(list(itertools.chain(*texts)))))
    turns = [list(itertools.islice(encoded, len(text))) for text in texts]
    return [sum(of_one) + len(of_one) + 1 for of_one in turns], [of_one[-1] + 2 for of_one in turns]


def choose_sizes(kind, tokens):
    """The sizes of the model, a dictionary of settings."""
    name = preset_for(tokens)
    if kind.name == WORDS:
        name = "characters"
    return {setting: getattr(preset(name), setting) for setting in SIZES}


def preset_for(tokens):
    """Name of the preset whose sizes suit so many tokens of training."""
    return [name for name, least in LEAST_TOKENS.items() if tokens >= least][-1]


def threshold(kind, tokens):
    """From how many tokens on the next larger model is chosen, in words."""
    larger = [f" ({name} from {least:,})" for name, least in LEAST_TOKENS.items() if least > tokens]
    return larger[0] if larger and kind.name != WORDS else ""


def choose_max_length(lengths, usual, fitting=FITTING):
    """The usual limit if that share of the lengths fits, else the multiple of 8 that does, `LONGEST` at most."""
    needed = quantile(lengths, fitting)
    return usual if needed <= usual else min(LONGEST, -(-needed // 8) * 8)


def choose_batch_size(kind, pairs):
    """Pairs in a batch."""
    if pairs < SMALL_CORPUS:
        return SMALL_BATCH
    return preset("characters").batch_size if kind.name == WORDS else BATCH


def count_batches(lengths, pairs, batch_size):
    """Batches of an epoch, as `PackedRows` makes them.

    Args:
        lengths: Tokens of some pairs as the model reads them, (pairs, 2).
        pairs: How many pairs an epoch has.
        batch_size: Pairs in a batch.
    """
    if not len(lengths):
        return 1
    packed = pack(lengths, choose_widths(lengths), np.random.default_rng(0))
    rows = max(1, round(sum(1 for _ in packed) * pairs / len(lengths)))
    return -(-rows // min(max(1, round(rows * batch_size / pairs)), rows))


# Recipes


def chat_recipe(kind, pairs, seen, steps, d_model):
    """Settings of a training that is to know its pairs by heart, however they are asked; see `translation_recipe`."""
    most = max(CHAT_LEAST_PASSES, MOST_STEPS // steps)
    passes = round(CHAT_PRESENTATIONS * pairs / seen)
    epochs = min(max(passes, min(-(-LEAST_STEPS // steps), CHAT_MOST_PASSES)), most)
    large = d_model >= WIDE
    return {
        "tie_embeddings": True,
        "dropout": CHAT_DROPOUT,
        "norm_first": large,  # Deep post-norm layers diverge at such learning rates.
        "clip_norm": CLIP_NORM,
        "schedule": "cosine",
        "learning_rate": WIDE_LEARNING_RATE if large else CHAT_LEARNING_RATE,
        "monitor": "accuracy",
        "patience": 0,
        "epochs": epochs,
        "warmup_steps": warm_up(epochs * steps, CHAT_WARM_UP),
    }


def translation_recipe(kind, pairs, seen, steps, d_model):
    """Settings of a training that is to find a rule.

    Args:
        kind: The `Kind`.
        pairs: Training pairs.
        seen: What is trained on in an epoch, made-up pairs and all.
        steps: Updates of an epoch.
        d_model: Width of the model.
    """
    wanted, limits = TRANSLATION_PRESENTATIONS, TRANSLATION_EPOCHS
    if pairs >= LARGE_CORPUS:
        wanted, limits = LARGE_PRESENTATIONS, LARGE_EPOCHS
    epochs = within(wanted / pairs, *limits)
    natural = not kind.closed
    return {
        "tie_embeddings": d_model >= WIDE,
        "norm_first": True,
        "dropout": NATURAL_DROPOUT if natural and pairs < NATURAL_PAIRS else DROPOUT,
        "label_smoothing": LABEL_SMOOTHING if natural else 0.0,
        "clip_norm": CLIP_NORM,
        "schedule": "cosine",
        "learning_rate": WIDE_LEARNING_RATE if d_model >= WIDE else LEARNING_RATE,
        "monitor": "val_bits_per_char" if natural else "val_accuracy",
        "patience": 0,
        "epochs": epochs,
        "warmup_steps": warm_up(epochs * steps, TRANSLATION_WARM_UP, LEAST_WARM_UP),
    }


def words_recipe(kind, pairs, seen, steps, d_model):
    """What differs from the preset `characters`; see `translation_recipe`."""
    epochs = within(WORD_UPDATES / steps, *WORD_EPOCHS)
    rise = min(preset("characters").warmup_steps, warm_up(epochs * steps, WORD_WARM_UP))
    return {"epochs": epochs, "warmup_steps": rise}


RECIPES = {CHAT: chat_recipe, TRANSLATION: translation_recipe, WORDS: words_recipe}


def warm_up(updates, share, least=1):
    """Updates of the warm-up: a share of all, half of them at most."""
    return max(1, min(max(least, round(share * updates)), MOST_WARM_UP, updates // 2))


def within(value, least, most):
    """The nearest whole number between two limits."""
    return min(max(round(value), least), most)


# The command


def train_command(path, question=None, answer=None, encoding="utf-8", turns=1):
    """The `keras-transformer train` to type, with the options that tell how the corpus is read."""
    paths = [str(path) for path in corpus_paths(path)]
    run = os.path.join("runs", os.path.splitext(os.path.basename(os.path.normpath(paths[0])))[0])
    words = ["keras-transformer", "train", *paths, "--run", run]
    if question is not None:
        words += ["--question", question, "--answer", answer]
    if encoding.lower() not in ("utf-8", "utf8"):
        words += ["--encoding", encoding]
    if turns > 1:
        words += ["--turns", str(turns)]
    return shlex.join(words)
