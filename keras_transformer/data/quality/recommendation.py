"""Recommends settings for a corpus: vocabulary, model size, maximum length, epochs and training recipe."""

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
from keras_transformer.data.quality.tokenizer_choice import OFTEN, OFTEN_MEMORIZED, choose_tokenizer
from keras_transformer.data.readers import corpus_paths
from keras_transformer.errors import CorpusTooSmall
from keras_transformer.language import translate as _
from keras_transformer.language import translate_count
from keras_transformer.presets import preset
from keras_transformer.text.normalize import normalize
from keras_transformer.text.tokenizer import Tokenizer
from keras_transformer.text.turns import turns_of

MEASURED = 20_000  # Maximum number of pairs in the measured sample.

# All kinds.
LEAST_TOKENS = {"small": 0, "base": 10_000_000, "big": 200_000_000}
"""Minimum number of training tokens (questions and answers) for the model sizes of a preset. The paper trained `base`
and `big` on 4.5 million pairs of about 25 + 25 tokens (section 5.1)."""
SIZES = ("num_layers", "d_model", "num_heads", "dff", "max_length")
FITTING = 0.995  # Share of the pairs that should fit within max_length.
LONGEST = 512  # Maximum of max_length, because attention needs quadratic time and memory.
CLIP_NORM = 1.0
SMALL_CORPUS, SMALL_BATCH, BATCH = 1500, 16, 64  # A corpus below `SMALL_CORPUS` pairs has the small batch size.
MOST_WARM_UP = 4000

# Chat.
FEW_QUESTIONS = 2000  # With fewer distinct questions, nothing is held out: a bot should know every row of a FAQ.
COPIES = 1  # Noisy copies of each pair, if none are recombined.
RECOMBINED, MOST_RECOMBINED = 2, 20_000  # New questions per question; maximum number of pairs for recombination.
CHAT_PRESENTATIONS = 26  # Presentations of each pair, its copies and its new questions, in all epochs together.
CHAT_DROPOUT = 0.0  # Without dropout, memorizing takes half the epochs, and new questions are answered equally well.
LEAST_STEPS, MOST_STEPS = 750, 100_000  # Limits of the updates; they override `CHAT_PRESENTATIONS`.
CHAT_MOST_PASSES = 45  # Maximum epochs required by `LEAST_STEPS`: 40 pairs are memorized after 18 epochs.
CHAT_LEAST_PASSES = 3  # Minimum epochs that `MOST_STEPS` must allow.
CHAT_WARM_UP = 0.08  # Share of the updates.
CHAT_LEARNING_RATE = 0.001

# Translation.
TRANSLATION_PRESENTATIONS = 450_000  # Presentations of pairs in all epochs together.
TRANSLATION_EPOCHS = (10, 60)  # Minimum and maximum.
LARGE_CORPUS = 1_000_000  # Minimum number of pairs for these limits, with fewer epochs:
LARGE_PRESENTATIONS, LARGE_EPOCHS = 10_000_000, (3, 10)
TRANSLATION_WARM_UP, LEAST_WARM_UP = 0.1, 50
CLOSED_LEARNING_RATE, NATURAL_LEARNING_RATE = 0.0007, 0.002  # At .0007, Multi30k is still underfitted after 16 epochs.
WIDE, WIDE_LEARNING_RATE = 512, 0.0005  # The learning rate from d_model `WIDE` on.
DROPOUT, NATURAL_DROPOUT, NATURAL_PAIRS = 0.1, 0.3, 50_000  # The second applies below this number of natural pairs.
CLOSED_DROPOUT = 0.0  # A rule is either learned or not: with dropout .1, three times as many answers stay wrong.
LABEL_SMOOTHING = 0.1

# Words.
WORD_UPDATES, WORD_EPOCHS = 7000, (10, 180)
WORD_WARM_UP = 0.1


@dataclasses.dataclass(frozen=True)
class Recommendation:
    """Recommended settings for a corpus.

    Attributes:
        kind: "chat" (pairs to memorize), "translation" (answers derived from questions by a rule) or "words".
        config: The `Config`.
        reasons: Tuple of short clauses with the reasons; the first one is the reason for the kind.
    """

    kind: str
    config: Config
    reasons: tuple

    def replace(self, **changes):
        """Returns a copy with some settings of its `config` changed."""
        return dataclasses.replace(self, config=self.config.replace(**changes))

    @property
    def line(self):
        """The recommendation and its reason, in one line."""
        config = self.config
        epochs = translate_count("{count:,} epoch", "{count:,} epochs", config.epochs)
        choices = [tokens_in_words(config), layers_in_words(config), epochs]
        choices += [] if config.hold_out else [_("nothing held out")]
        return _(
            "Chosen for {kind}: {reason}; {choices}.",
            kind=_(self.kind),
            reason=self.reasons[0],
            choices=", ".join(choices),
        )


def tokens_in_words(config):
    """Returns a description of the tokenization."""
    names = {"character": _("characters"), "word": _("words")}
    pieces = _("{count:,} pieces", count=config.vocab_size)
    source, target = (names.get(kind, pieces) for kind in (config.tokenizer, config.target_tokenizer))
    if config.target_tokenizer in (SHARED, config.tokenizer):
        return source
    return _("{source} to {target}", source=source, target=target)


def layers_in_words(config):
    """Returns a description of the model size."""
    return translate_count(
        "{count} layer of {width}", "{count} layers of {width}", config.num_layers, width=config.d_model
    )


def recommend_for(corpus, turns=1, hold_out=None, tokenizer=None, target_tokenizer=None):
    """Reads a `Corpus` and recommends settings for it.

    Args:
        corpus: The `Corpus`.
        turns: Maximum number of conversation turns in a question.
        hold_out: Whether to hold out questions for validation; None to decide by their number.
        tokenizer: File of a tokenizer to use; None to choose the vocabulary size.
        target_tokenizer: File of a separate tokenizer for the answers; None to choose it.

    Returns:
        The `Recommendation`, the `Survey` of the corpus, and the two `Tokenizer`s that measured questions and answers.

    Raises:
        InputError: As in `Corpus.survey`; `CorpusTooSmall` only if `hold_out` is true.
    """
    files = tuple(file and Tokenizer.load(file) for file in (tokenizer, target_tokenizer))
    options = {"turns": turns, "has_validation": corpus.has_validation, "files": files}
    if hold_out is not False:
        try:
            survey = corpus.survey(turns)
            recommendation, tokenizers = measure(survey.sample, survey.sizes["train"], hold_out=hold_out, **options)
            if recommendation.config.hold_out:
                return recommendation, survey, tokenizers
        except CorpusTooSmall:
            if hold_out:
                raise
    with warnings.catch_warnings():
        if hold_out is not False:
            warnings.simplefilter("ignore", CorpusWarning)  # The first reading has issued it.
        survey = corpus.survey(turns, hold_out=False)
    recommendation, tokenizers = measure(survey.sample, survey.sizes["train"], hold_out=False, **options)
    return recommendation, survey, tokenizers


def recommend(sample, pairs, turns=1, has_validation=False):
    """Returns the `Recommendation` for a corpus.

    Args:
        sample: DataFrame of all training pairs or a uniform sample.
        pairs: Number of all training pairs.
        turns: Maximum number of conversation turns in a question.
        has_validation: Whether the corpus has a validation split of its own.
    """
    return measure(sample, pairs, turns, has_validation)[0]


def measure(sample, pairs, turns=1, has_validation=False, hold_out=None, files=(None, None)):
    """Returns the `Recommendation`, and the two tokenizers that the texts were measured with.

    Args:
        sample: DataFrame of all training pairs or a uniform sample.
        pairs: Number of all training pairs.
        turns: Maximum number of conversation turns in a question.
        has_validation: Whether the corpus has a validation split of its own.
        hold_out: Whether to hold out questions; None to decide by their number.
        files: The given `Tokenizer`s of questions and answers, or None for each.
    """
    measured = draw(sample)
    kind = find_kind(measured, pairs)
    if hold_out is None:
        hold_out = has_validation or kind.name != CHAT or sample["question"].nunique() >= FEW_QUESTIONS
    recombined = RECOMBINED if kind.name == CHAT and hold_out and pairs <= MOST_RECOMBINED else 0
    copies = COPIES if kind.name == CHAT and not recombined else 0
    if recombined and files == (None, None):  # New words consist of known characters.
        kind = dataclasses.replace(kind, tokenizer="character", target_tokenizer="sentencepiece")
    trained = pandas.concat([measured, augment(measured, copies, (0, 0))]) if copies else measured
    sides = [turns_of(question, turns) for question in trained["question"]], [[answer] for answer in trained["answer"]]
    texts = [list(itertools.chain(*side[: len(measured)])) for side in sides]
    share = len(measured) / pairs / (1 + recombined)  # Recombined questions repeat each answer.
    tokenizers, vocab_size, tokenizer_reason = choose_tokenizers(kind, texts, sample, share, turns, files)
    full, last = (np.array(lengths) for lengths in zip(*map(turn_lengths, tokenizers, sides)))
    tokens = round(full[:, : len(measured)].sum() * pairs / len(measured))
    sizes = choose_sizes(kind, tokens)
    max_length = choose_max_length(full.max(axis=0), sizes["max_length"], FITTING if hold_out else 1)
    fitting = last.max(axis=0) <= max_length
    pairs_per_epoch = round(pairs * (len(trained) / len(measured) + recombined))  # With augmentation.
    batch_size = choose_batch_size(kind, pairs)
    steps = count_batches(np.minimum(full.T[fitting], max_length) - [0, 1], pairs_per_epoch, batch_size)
    config = preset("characters") if kind.name == WORDS else Config()
    config = config.replace(
        **(sizes | {"max_length": max_length}),
        **RECIPES[kind.name](kind, pairs, pairs_per_epoch, steps, sizes["d_model"]),
        tokenizer=kind.tokenizer,
        target_tokenizer=kind.target_tokenizer,
        vocab_size=vocab_size,
        batch_size=batch_size,
        hold_out=hold_out,
        augment=copies,
        recombine=recombined,
        turns=turns,
    )
    left_out = int((last[:, : len(measured)].max(axis=0) > max_length).sum())
    reasons = (
        kind.reason,
        tokenizer_reason,
        size_reason(config, kind, tokens),
        _(
            "{epochs:,} epochs: {updates:,} updates, {warm_up:,} of them warm-up",
            epochs=config.epochs,
            updates=config.epochs * steps,
            warm_up=config.warmup_steps,
        ),
        length_reason(max_length, left_out, len(measured)),
    )
    if recombined:
        reasons += (
            _(
                "{count} new questions for each, recombined from the words of two similar questions",
                count=recombined,
            ),
        )
    if not hold_out:
        reasons += (_("nothing held out: {count:,} different questions", count=sample["question"].nunique()),)
    return Recommendation(kind.name, config, reasons), tokenizers


def size_reason(config, kind, tokens):
    """Returns the reason for the model size, with the number of tokens for the next larger model if there is one."""
    values = {"layers": layers_in_words(config), "tokens": tokens}
    larger = [(name, least) for name, least in LEAST_TOKENS.items() if least > tokens]
    if not larger or kind.name == WORDS:
        return _("{layers}: {tokens:,} tokens to train on", **values)
    values["preset"], values["least"] = larger[0]
    return _("{layers}: {tokens:,} tokens to train on ({preset} from {least:,})", **values)


def length_reason(max_length, left_out, pairs):
    """Returns how many of the pairs the maximum length leaves out."""
    values = {"max_length": max_length, "pairs": pairs}
    if not left_out:
        return _("max_length {max_length}: leaves out none of {pairs:,} pairs", **values)
    return _("max_length {max_length}: leaves out {left_out:,} of {pairs:,} pairs", left_out=left_out, **values)


def draw(sample):
    """Returns a reproducible uniform sample of at most `MEASURED` pairs."""
    if len(sample) <= MEASURED:
        return sample
    return sample.iloc[np.sort(np.random.default_rng(0).permutation(len(sample))[:MEASURED])]


# Vocabulary


def choose_tokenizers(kind, texts, sample, share, turns, files):
    """Returns tokenizers to measure lengths with, the vocabulary size, and the reason for it.

    Args:
        kind: The `Kind`.
        texts: Two lists: the turns of the questions, and the answers.
        sample: DataFrame of all training pairs available for training a tokenizer.
        share: Share of the texts in all training pairs.
        turns: Maximum number of conversation turns in a question; more than 1 adds a separator to the vocabulary.
        files: The given `Tokenizer`s of questions and answers, or None for each.
    """
    source, target = files
    separate = target or kind.target_tokenizer != SHARED
    learned = [texts[0], texts[1]] if separate else [[*texts[0], *texts[1]]] * 2
    if source and (target or not separate):
        target = target or source
        return (source, target), max(source.vocab_size, target.vocab_size), _("tokenizer from a file")
    if kind.tokenizer == "sentencepiece":
        chosen, vocab_size, rarest = choose_tokenizer(learned[0], len(characters_of(sample)) + (turns > 1), share)
        reason = _("vocabulary {size:,}: {reason}", size=vocab_size, reason=vocabulary_reason(rarest))
        return (chosen, target or chosen), vocab_size, reason
    if kind.target_tokenizer == "sentencepiece":
        characters = len(characters_of(sample)) + (turns > 1)
        chosen, vocab_size, rarest = choose_tokenizer(learned[1], characters, share, OFTEN_MEMORIZED)
        source = source or Tokenizer.train(learned[0], vocab_size, kind.tokenizer)
        reason = _(
            "questions split into characters, answers into {size:,} pieces: {reason}",
            size=vocab_size,
            reason=vocabulary_reason(rarest, OFTEN_MEMORIZED),
        )
        return (source, target or chosen), vocab_size, reason
    vocab_size = closed_size(kind, sample)
    source = source or Tokenizer.train(learned[0], vocab_size, kind.tokenizer)
    kinds = {"character": _("characters"), "word": _("words at spaces")}
    if not separate:
        reason = _("split into {pieces}: new questions contain no others", pieces=kinds[kind.tokenizer])
        return (source, source), vocab_size, reason
    answers = kind.target_tokenizer if kind.target_tokenizer != SHARED else kind.tokenizer
    target = target or Tokenizer.train(learned[1], vocab_size, answers)
    reason = _(
        "questions split into {source}, answers into {target}", source=kinds[kind.tokenizer], target=kinds[answers]
    )
    return (source, target), vocab_size, reason


def vocabulary_reason(rarest, often=OFTEN):
    """Returns the reason for a vocabulary size, from a result and an argument of `choose_tokenizer`."""
    if rarest < often:
        return _("the least that holds all characters")
    return _("95 of 100 pieces occur at least {times:,} times", times=rarest)


def closed_size(kind, sample):
    """Returns the size of a vocabulary of all characters or words, rounded up to a multiple of 500."""
    needed = 2 * len(characters_of(sample))  # Doubled, because new combinations of characters may need more.
    if "word" in (kind.tokenizer, kind.target_tokenizer):
        sides = ("question", "answer") if kind.target_tokenizer == SHARED else ("answer",)
        needed = max(needed, 5 + len(count_words(itertools.chain(*(sample[side] for side in sides)))))
    return 500 * -(-needed // 500)


def characters_of(sample):
    """Returns the set of characters in pairs."""
    return set().union(*map(normalize, itertools.chain(sample["question"], sample["answer"])))


# Lengths and sizes


def turn_lengths(tokenizer, texts):
    """Returns the token counts of texts (with start, end and separators), and of their last turns alone.

    Args:
        tokenizer: The `Tokenizer`.
        texts: A list of the turns of each text.
    """
    encoded = iter(map(len, tokenizer.encode(list(itertools.chain(*texts)))))
    turns = [list(itertools.islice(encoded, len(text))) for text in texts]
    return [sum(lengths) + len(lengths) + 1 for lengths in turns], [lengths[-1] + 2 for lengths in turns]


def choose_sizes(kind, tokens):
    """Returns the model sizes, a dictionary of settings."""
    name = preset_for(tokens)
    if kind.name == WORDS:
        name = "characters"
    return {setting: getattr(preset(name), setting) for setting in SIZES}


def preset_for(tokens):
    """Returns the name of the preset with model sizes for a number of training tokens."""
    return [name for name, least in LEAST_TOKENS.items() if tokens >= least][-1]


def choose_max_length(lengths, usual, fitting=FITTING):
    """Returns the usual maximum length if it fits the share of texts, else a larger multiple of 8 up to `LONGEST`."""
    needed = quantile(lengths, fitting)
    return usual if needed <= usual else min(LONGEST, -(-needed // 8) * 8)


def choose_batch_size(kind, pairs):
    """Returns the number of pairs in a batch."""
    if pairs < SMALL_CORPUS:
        return SMALL_BATCH
    return preset("characters").batch_size if kind.name == WORDS else BATCH


def count_batches(lengths, pairs, batch_size):
    """Estimates the number of batches of `PackedRows` in an epoch.

    Args:
        lengths: Token counts of a sample of pairs, as read by encoder and decoder, (pairs, 2).
        pairs: Number of pairs in an epoch.
        batch_size: Number of pairs in a batch.
    """
    if not len(lengths):
        return 1
    packed = pack(lengths, choose_widths(lengths), np.random.default_rng(0))
    rows = max(1, round(sum(1 for _ in packed) * pairs / len(lengths)))
    return -(-rows // min(max(1, round(rows * batch_size / pairs)), rows))


# Recipes


def chat_recipe(kind, pairs, pairs_per_epoch, steps, d_model):
    """Returns settings for memorizing pairs, robust to rephrased questions; arguments as in `translation_recipe`."""
    most = max(CHAT_LEAST_PASSES, MOST_STEPS // steps)
    passes = round(CHAT_PRESENTATIONS * pairs / pairs_per_epoch)
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


def translation_recipe(kind, pairs, pairs_per_epoch, steps, d_model):
    """Returns settings for learning a rule.

    Args:
        kind: The `Kind`.
        pairs: Number of training pairs.
        pairs_per_epoch: Number of pairs in an epoch, including augmentation.
        steps: Number of updates in an epoch.
        d_model: Width of the model.
    """
    presentations, limits = TRANSLATION_PRESENTATIONS, TRANSLATION_EPOCHS
    if pairs >= LARGE_CORPUS:
        presentations, limits = LARGE_PRESENTATIONS, LARGE_EPOCHS
    epochs = within(presentations / pairs, *limits)
    natural = not kind.closed
    dropout = NATURAL_DROPOUT if pairs < NATURAL_PAIRS else DROPOUT
    learning_rate = NATURAL_LEARNING_RATE if natural else CLOSED_LEARNING_RATE
    return {
        "tie_embeddings": d_model >= WIDE,
        "norm_first": True,
        "dropout": dropout if natural else CLOSED_DROPOUT,
        "label_smoothing": LABEL_SMOOTHING if natural else 0.0,
        "clip_norm": CLIP_NORM,
        "schedule": "cosine",
        "learning_rate": WIDE_LEARNING_RATE if d_model >= WIDE else learning_rate,
        "monitor": "val_bits_per_char" if natural else "val_accuracy",
        "patience": 0,
        "epochs": epochs,
        "warmup_steps": warm_up(epochs * steps, TRANSLATION_WARM_UP, LEAST_WARM_UP),
    }


def words_recipe(kind, pairs, pairs_per_epoch, steps, d_model):
    """Returns the differences from the preset `characters`; arguments as in `translation_recipe`."""
    epochs = within(WORD_UPDATES / steps, *WORD_EPOCHS)
    warmup_steps = min(preset("characters").warmup_steps, warm_up(epochs * steps, WORD_WARM_UP))
    return {"epochs": epochs, "warmup_steps": warmup_steps}


RECIPES = {CHAT: chat_recipe, TRANSLATION: translation_recipe, WORDS: words_recipe}


def warm_up(updates, share, least=1):
    """Returns the number of warm-up updates: a share of all updates, at most half of them."""
    return max(1, min(max(least, round(share * updates)), MOST_WARM_UP, updates // 2))


def within(value, least, most):
    """Rounds a number and limits it to a range."""
    return min(max(round(value), least), most)


# The command


def train_command(path, question=None, answer=None, encoding=None, turns=1):
    """Returns the `keras-transformer train` command with the options for reading the corpus."""
    paths = [str(path) for path in corpus_paths(path)]
    run = os.path.join("runs", os.path.splitext(os.path.basename(os.path.normpath(paths[0])))[0])
    words = ["keras-transformer", "train", *paths, "--run", run]
    if question is not None:
        words += ["--question", question, "--answer", answer]
    if encoding and encoding.lower() not in ("utf-8", "utf8"):
        words += ["--encoding", encoding]
    if turns > 1:
        words += ["--turns", str(turns)]
    return shlex.join(words)
