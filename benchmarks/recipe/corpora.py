"""The corpora of the benchmark: synthetic tasks, FAQs and small talk, which are fixed, and downloaded corpora."""

import csv
import dataclasses
import functools
import pathlib
import random
import shutil
from collections.abc import Callable

from benchmarks.corpus import SMALL_TALK
from benchmarks.recipe.commands import english_pairs, korean_pairs
from keras_transformer import InputError, load_pairs
from keras_transformer.text.normalize import normalize

FOLDER = pathlib.Path(__file__).parent  # Of the FAQs.
KNOWN, UNSEEN = "known questions", "unseen questions"
"""What a corpus of each kind is measured by: its own questions, also reworded; or the test split."""
IN_ORDINARY_WORDS, IN_OTHER_WORDS = "in ordinary words", "in other words"
"""How people ask the questions of a FAQ that they have not read."""

SEQUENCES, SUMS = 5_000, 10_000  # Number of pairs in a corpus.
WORDS = (
    "bado", "bilu", "dake", "dimo", "fesa", "fonu", "gami", "gelo", "hide", "hupa",
    "jalo", "jeki", "kemo", "kubi", "lafe", "lodu", "mika", "mosu", "nabe", "nilo",
    "pagu", "pemi", "rado", "rifu", "sobe", "suka", "tami", "tegu", "vilo", "zuna",
)  # fmt: skip
LETTERS = "abcdefghijklmnopqrstuvwxyz"
FAQ_SIZES = (40, 100, 300)
FAQ_LANGUAGES = {"ko": "Korean", "en": "English"}
PRONUNCIATIONS = {"fre": "French", "hun": "Hungarian"}
CHAT = "ChatbotData.csv"


@dataclasses.dataclass(frozen=True)
class Source:
    """A corpus of the benchmark.

    Attributes:
        kind: `KNOWN` or `UNSEEN`.
        about: Its description in one line.
        pairs: Function that returns its pairs, a list of (question, answer).
        files: The files of a corpus with one file per dataset split; empty for a corpus that is split for training.
        asked: Function that returns how people ask the questions of the corpus: a dictionary from `IN_ORDINARY_WORDS`
            and `IN_OTHER_WORDS` to dictionaries from questions of the corpus to what they type.
    """

    kind: str
    about: str
    pairs: Callable
    files: tuple = ()
    asked: Callable = dict

    def write(self, folder, name):
        """Writes the corpus to a CSV file or to a folder of files, and returns its path."""
        path = folder / (name if self.files else f"{name}.csv")
        if self.files:
            path.mkdir(exist_ok=True)
            for file in self.files:
                shutil.copyfile(file, path / file.name)
            return path
        with open(path, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([("question", "answer"), *self.pairs()])
        return path


def different(draw_question, count):
    """Returns `count` distinct questions, in the order in which they were drawn."""
    draw, drawn = random.Random(0), {}
    while len(drawn) < count:
        drawn[draw_question(draw)] = None
    return list(drawn)


def draw_words(draw):
    """Returns a text of three to ten random words."""
    return tuple(draw.choices(WORDS, k=draw.randint(3, 10)))


def draw_letters(draw):
    """Returns a text of three to eight distinct random letters."""
    return tuple(draw.sample(LETTERS, draw.randint(3, 8)))


def draw_sum(draw):
    """Returns a sum of two random numbers of one to three digits. All lengths are equally frequent."""
    return tuple(draw.randrange(10 ** draw.randint(1, 3)) for _ in range(2))


def copy():
    """Returns pairs of a sequence of made-up words and the same sequence."""
    return [(" ".join(words), " ".join(words)) for words in different(draw_words, SEQUENCES)]


def reverse():
    """Returns pairs of a question of `copy` and its words in reversed order."""
    return [(" ".join(words), " ".join(reversed(words))) for words in different(draw_words, SEQUENCES)]


def sort():
    """Returns pairs of distinct letters in random order and in alphabetical order."""
    return [(" ".join(letters), " ".join(sorted(letters))) for letters in different(draw_letters, SEQUENCES)]


def sums():
    """Returns pairs of an addition such as "347 + 25" and its result."""
    return [(f"{first} + {second}", str(first + second)) for first, second in different(draw_sum, SUMS)]


def read_pairs(path):
    """Returns the columns "question" and "answer" of a CSV file."""
    with open(path, encoding="utf-8", newline="") as file:
        return [(row["question"], row["answer"]) for row in csv.DictReader(file)]


def read_words(files):
    """Returns the words and phones in files of the SIGMORPHON 2020 shared task 1."""
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    return [tuple(line.split("\t")) for line in lines]


def read_chat(path):
    """Returns the pairs of a corpus file."""
    pairs = load_pairs(path)
    return [tuple(map(normalize, pair)) for pair in zip(pairs["question"], pairs["answer"], strict=True)]


def downloaded(folder):
    """Returns further corpora, whose files are in a folder or its subfolders, as a dictionary from their names.

    Raises:
        InputError: If a file is missing.
    """
    found = {}
    for language, name in PRONUNCIATIONS.items():
        files = tuple(find_file(folder, f"{language}_{split}.tsv") for split in ("train", "dev", "test"))
        about = f"{name} words and their phones"
        found[f"pronunciation_{language}"] = Source(UNSEEN, about, functools.partial(read_words, files), files)
    chat = find_file(folder, CHAT)
    return {**found, "chatbot_ko": Source(KNOWN, "Korean chat, ChatbotData.csv", functools.partial(read_chat, chat))}


def find_file(folder, name):
    """Returns the first file with this name in a folder or its subfolders."""
    path = min(pathlib.Path(folder).rglob(name), default=None)
    if path is None:
        raise InputError(f"{folder}: there is no {name} in it")
    return path


def faq(language, size):
    """Returns the first pairs of a FAQ: 40 of a shop; 100 with a library; 300 with a city, a clinic and a school.

    The FAQ was written for this benchmark, and all five institutions are invented.

    Args:
        language: "ko" or "en".
        size: One of `FAQ_SIZES`.
    """
    if size not in FAQ_SIZES:
        raise ValueError(f"the FAQ has sizes {FAQ_SIZES}, not {size}")
    return read_pairs(FOLDER / f"faq_{language}.csv")[:size]


def services(language):
    """Returns 160 pairs: 40 of each of a guest house, a hair salon, a gym, and a school or a help desk."""
    return read_pairs(FOLDER / f"faq_services_{language}.csv")


def faq_asked(name):
    """Returns how users who have not read a FAQ ask its questions, as `Source.asked` does.

    In ordinary words, they are asked briefly and often with the same noun.

    Args:
        name: "ko" or "en", or "services_ko" or "services_en".
    """
    with open(FOLDER / f"faq_{name}_asked.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = {name: name.removeprefix("in ") for name in (IN_ORDINARY_WORDS, IN_OTHER_WORDS)}
    return {name: {row["question"]: row[column] for row in rows} for name, column in columns.items()}


CORPORA = {
    **{
        f"faq_{language}_{size}": Source(
            KNOWN,
            f"FAQ in {name}, {size} pairs",
            functools.partial(faq, language, size),
            asked=functools.partial(faq_asked, language),
        )
        for language, name in FAQ_LANGUAGES.items()
        for size in FAQ_SIZES
    },
    **{
        f"faq_services_{language}": Source(
            KNOWN,
            f"FAQ of four services in {name}, 160 pairs",
            functools.partial(services, language),
            asked=functools.partial(faq_asked, f"services_{language}"),
        )
        for language, name in FAQ_LANGUAGES.items()
    },
    "small_talk": Source(KNOWN, "small talk in Korean and English", functools.partial(read_pairs, SMALL_TALK)),
    "copy": Source(UNSEEN, "3 to 10 of 30 made-up words, repeated as they are", copy),
    "reverse": Source(UNSEEN, "3 to 10 of 30 made-up words, in reversed order", reverse),
    "sort": Source(UNSEEN, "3 to 8 letters, sorted", sort),
    "sums": Source(UNSEEN, "sums of two numbers of up to three digits", sums),
    "commands": Source(UNSEEN, "commands in English and their sequences of actions", english_pairs),
    "commands_ko": Source(UNSEEN, "the same commands in Korean", korean_pairs),
}
"""By their names."""
