"""How to train on a corpus: a preset, a vocabulary and a limit on lengths, each from what was measured."""

import dataclasses
import itertools
import os
import shlex

import numpy as np

from keras_transformer.data.check.cut import choose_cut
from keras_transformer.data.check.lengths import Tokens, describe_tokens, quantile
from keras_transformer.data.check.rows import Rows
from keras_transformer.data.rows import corpus_paths
from keras_transformer.data.split import PARTS
from keras_transformer.presets import preset
from keras_transformer.text.turns import turns_of

# Tokens of training, questions and answers, from which on a preset is suggested. The paper trained `base` and `big` on
# 4.5 million pairs of about 25 + 25 tokens (section 5.1); `demo` is made for the 64,000 tokens of data/small_talk.csv,
# and `small` for the 240,000 of the Korean chatbot corpus.
LEAST_TOKENS = {"demo": 0, "small": 100_000, "base": 10_000_000, "big": 200_000_000}
FOR_WORDS = "the questions are single words"
FITTING = 0.995  # Share of the pairs that are to be within max_length.
LONGEST = 512  # Attention takes time and memory with the square of the length: longer texts want to be cut.


@dataclasses.dataclass(frozen=True)
class Suggestion:
    """How to train on a corpus.

    Attributes:
        preset: Name of the preset, by the number of tokens to train on (`LEAST_TOKENS`), but for a corpus of words.
        vocab_size: Size of the vocabulary.
        cut: Why the texts are cut as the command says, in a line (`cut.choose_cut`).
        max_length: The preset's, unless more than 5 of 1,000 pairs are longer: then what these 995 need.
        command: What to type.
        training_tokens: Tokens to train on, questions and answers; an estimate if there are more pairs than the sample.
        tokens: The `Tokens` of a sample of the pairs.
        too_long: The `Rows` of the sample that training leaves out because of `max_length`.
    """

    preset: str
    vocab_size: int
    cut: str
    max_length: int
    command: str
    training_tokens: int
    tokens: Tokens
    too_long: Rows

    @property
    def reasons(self):
        """Why, a line each for preset, cut and max_length."""
        by_tokens = self.preset in LEAST_TOKENS
        why = f"{self.training_tokens:,} tokens to train on ({tokens_range(self.preset)})" if by_tokens else FOR_WORDS
        return (
            f"preset {self.preset}: {why}",
            self.cut,
            f"max_length {self.max_length}: leaves out {self.too_long if self.too_long.count else 'none'} "
            f"of {self.tokens.pairs:,} pairs",
        )


def suggest(survey, characters, path, question, answer, encoding, turns):
    """The `Suggestion` for a corpus.

    Args:
        survey: Its `Survey`, with pairs to train on.
        characters: Its `Characters`.
        path: What `load_pairs` takes, like the others.
        question: Name of the column of questions.
        answer: Name of the column of answers.
        encoding: Encoding of the file.
        turns: Turns of a conversation that a question holds at most.
    """
    rows, parts, questions, answers = zip(*sorted(survey.sample))
    sides = [turns_of(question, turns) for question in questions], [[answer] for answer in answers]
    train = np.array(parts) == PARTS.index("train")
    share = train.sum() / (survey.pairs["part"] == PARTS.index("train")).sum()
    texts = [list(itertools.chain(*itertools.compress(side, train))) for side in sides]
    cut = choose_cut(*texts, characters.different, share)
    lengths, last = zip(*map(turn_lengths, (cut.questions, cut.answers), sides))
    lengths = np.array(lengths)
    tokens, longer = round(lengths[:, train].sum() / share), lengths.max(axis=0)
    name = cut.preset or choose_preset(tokens)
    max_length = choose_max_length(longer, preset(name).max_length)
    changes = {**cut.settings, "max_length": max_length}
    return Suggestion(
        name,
        cut.settings["vocab_size"],
        cut.reason,
        max_length,
        command=train_command(path, question, answer, encoding, turns, name, changes),
        training_tokens=tokens,
        tokens=describe_tokens(*lengths, rows),
        # Turns before the last are left out where they do not fit.
        too_long=Rows.of(np.array(rows)[np.max(last, axis=0) > max_length]),
    )


def turn_lengths(tokenizer, texts):
    """The tokens of texts, start, end and separators included, and of each one's last turn alone.

    Args:
        tokenizer: The `Tokenizer`.
        texts: The turns of each, a list.
    """
    encoded = iter(map(len, tokenizer.encode(list(itertools.chain(*texts)))))
    turns = [list(itertools.islice(encoded, len(text))) for text in texts]
    return [sum(of_one) + len(of_one) + 1 for of_one in turns], [of_one[-1] + 2 for of_one in turns]


def choose_preset(tokens):
    """The preset for so many tokens of training."""
    return [name for name, least in LEAST_TOKENS.items() if tokens >= least][-1]


def tokens_range(name):
    """The preset with the least tokens it is suggested for, and the next one likewise."""
    names = list(LEAST_TOKENS)
    place = names.index(name)
    return ", ".join(f"{one} from {LEAST_TOKENS[one]:,}" for one in names[place : place + 2])


def choose_max_length(lengths, usual):
    """The usual limit if it leaves enough pairs, else the multiple of 8 that does, `LONGEST` at most."""
    needed = quantile(lengths, FITTING)
    return usual if needed <= usual else min(LONGEST, -(-needed // 8) * 8)


def train_command(path, question, answer, encoding, turns, name, changes):
    """The `keras-transformer train` to type, with the options that differ from their defaults."""
    paths = [str(path) for path in corpus_paths(path)]
    run = os.path.join("runs", os.path.splitext(os.path.basename(paths[0]))[0])
    words = ["keras-transformer", "train", *paths, "--run", run, "--preset", name]
    if question is not None:
        words += ["--question", question, "--answer", answer]
    if encoding.lower() not in ("utf-8", "utf8"):
        words += ["--encoding", encoding]
    for setting, value in {"turns": turns, **changes}.items():
        if value != getattr(preset(name), setting):
            words += [f"--{setting.replace('_', '-')}", str(value)]
    return shlex.join(words)
