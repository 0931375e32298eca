"""The quality report of a corpus, with a verdict whether it is fit for training."""

import codecs
import dataclasses
import os
import warnings

import numpy as np

from keras_transformer.data.corpus import Corpus
from keras_transformer.data.loading import CorpusWarning, encoding_messages
from keras_transformer.data.quality.near_duplicates import Repeats, find_repeats
from keras_transformer.data.quality.recommendation import Recommendation, recommend_for, train_command, turn_lengths
from keras_transformer.data.quality.scan import CorpusScan, examine_file, stray_lines
from keras_transformer.data.quality.statistics import (
    Lengths,
    Rows,
    Split,
    Tokens,
    describe_lengths,
    describe_split,
    describe_tokens,
)
from keras_transformer.data.quality.text_issues import Characters
from keras_transformer.data.quality.warnings import NO_PAIR, find_warnings, nothing_held_out
from keras_transformer.data.readers import check_file, corpus_label, corpus_paths, is_text, read_rows
from keras_transformer.errors import InputError
from keras_transformer.language import translatable
from keras_transformer.language import translate as _
from keras_transformer.text.turns import turns_of


@dataclasses.dataclass(frozen=True)
class Report:
    """The quality report of a corpus. For an unfit corpus, fields that could not be determined are empty.

    Attributes:
        corpus: Name of the file or files.
        unfit: Why the corpus cannot be used for training; None if it can.
        warnings: What to fix or to know before training, one line each.
        files: The `File` format of each file.
        pairs: Number of usable pairs.
        sizes: Number of pairs in each split, as used for training.
        first: Row of the first pair.
        left_out: Dictionary from the problems of unusable rows to their `Rows`.
        faults: Dictionary from the problems with characters to their `Rows`.
        repeats: The `Repeats`.
        split: The `Split`.
        question_characters: `Lengths` of the questions in characters.
        answer_characters: `Lengths` of the answers in characters.
        characters: The `Characters`.
        tokens: The `Tokens` of a sample of the pairs.
        too_long: The `Rows` of the sample that training leaves out because of `max_length`.
        recommendation: The `Recommendation`.
        command: The command to train as recommended.
        texts: (question, answer) of every example row above.
    """

    corpus: str
    unfit: str | None = None
    warnings: tuple = ()
    files: tuple = ()
    pairs: int = 0
    sizes: dict = dataclasses.field(default_factory=dict)
    first: int | None = None
    left_out: dict = dataclasses.field(default_factory=dict)
    faults: dict = dataclasses.field(default_factory=dict)
    repeats: Repeats | None = None
    split: Split | None = None
    question_characters: Lengths | None = None
    answer_characters: Lengths | None = None
    characters: Characters | None = None
    tokens: Tokens | None = None
    too_long: Rows | None = None
    recommendation: Recommendation | None = None
    command: str | None = None
    texts: dict = dataclasses.field(default_factory=dict)

    @property
    def verdict(self):
        """The verdict: "fit", "fit with warnings" or "unfit", to be translated where it is printed."""
        if self.unfit:
            return translatable("unfit")
        return translatable("fit with warnings") if self.warnings else translatable("fit")

    def to_dict(self):
        """Returns the report as a JSON-serializable dictionary."""
        return {"verdict": self.verdict, **dataclasses.asdict(self)}


def check_corpus(path, question=None, answer=None, encoding=None, turns=1, tell=lambda doing: None):
    """Checks the quality of a corpus before training.

    A file is read four times, row by row. Only 37 bytes per pair and the texts of a sample are kept in memory. For a
    folder or a corpus of the catalog, the report only contains the sizes of the splits and the recommendation.

    Args:
        path: A corpus as for `load_pairs`, a folder of such files, or a name of the catalog.
        question: Name of the question column, as for `load_pairs`.
        answer: Name of the answer column, as for `load_pairs`.
        encoding: Encoding of the file, as for `load_pairs`.
        turns: Maximum number of conversation turns in a question.
        tell: Function that is called with progress messages.

    Returns:
        A `Report`.

    Raises:
        InputError: If a file does not exist, or the arguments are invalid.
    """
    label, paths = corpus_label(path), corpus_paths(path)
    if len(paths) == 1 and not is_file(paths[0]):
        return _short_report(label, Corpus(paths[0], question, answer, encoding), turns, tell)
    for one in paths:
        check_file(one, encoding)
    source = paths, question, answer, encoding, turns
    rows = read_rows(*source)
    tell(_("reading {corpus}", corpus=label))
    for message in encoding_messages(paths, encoding):
        warnings.warn(message, CorpusWarning, stacklevel=2)
    try:
        files = tuple(examine_file(one, encoding) for one in paths)
        survey = CorpusScan(rows)
    except InputError as error:
        return Report(label, unfit=f"{error}{_stray(paths, encoding)}")
    if len(survey):
        return _whole_report(label, files, survey, source, tell)
    return Report(label, _(NO_PAIR), find_warnings(survey), files, left_out=survey.left_out)


def _short_report(label, corpus, turns, tell):
    """Returns the report of a `Corpus` of several files, or of the catalog."""
    tell(_("reading {corpus} and measuring vocabularies", corpus=label))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CorpusWarning)
        try:
            recommendation, survey, _tokenizers = recommend_for(corpus, turns)
        except InputError as error:
            return Report(label, unfit=str(error))
    return Report(
        corpus=label,
        warnings=(
            *(str(warning.message) for warning in caught),
            *nothing_held_out(recommendation, survey.sample["question"].nunique()),
        ),
        pairs=survey.pairs,
        sizes=survey.sizes,
        recommendation=recommendation,
        command=command_of(corpus, turns),
    )


def _whole_report(label, files, survey, source, tell):
    """Returns the full report of a corpus with pairs."""
    *reading, turns = source
    pairs = survey.pairs
    characters, repeats, split = survey.characters.result(), find_repeats(pairs), describe_split(pairs)
    lengths = [describe_lengths(pairs[f"{side}_length"], pairs["row"]) for side in ("question", "answer")]
    tell(_("measuring vocabularies"))
    corpus = Corpus(*reading)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)  # The report already lists all rows that are left out.
        recommendation, surveyed, tokenizers = recommend_for(corpus, turns)
    tokens, too_long = _tokens(survey, recommendation.config, tokenizers)
    first = int(pairs["row"][0])
    named = {first, *_rows_named(repeats, split, *lengths)}
    return Report(
        corpus=label,
        warnings=find_warnings(survey, repeats, split, recommendation, tokens, too_long),
        files=files,
        pairs=len(survey),
        sizes=surveyed.sizes,
        first=first,
        left_out=survey.left_out,
        faults=survey.faults,
        repeats=repeats,
        split=split,
        question_characters=lengths[0],
        answer_characters=lengths[1],
        characters=characters,
        tokens=tokens,
        too_long=too_long,
        recommendation=recommendation,
        command=command_of(corpus, turns),
        texts=_texts(named, source),
    )


def _tokens(survey, config, tokenizers):
    """Returns the `Tokens` of the sample, and the `Rows` of the sample that are too long."""
    rows, _splits, questions, answers = zip(*sorted(survey.sample))
    sides = [turns_of(question, config.turns) for question in questions], [[answer] for answer in answers]
    whole, last = (np.array(lengths) for lengths in zip(*map(turn_lengths, tokenizers, sides)))
    # Only the last turn counts, because earlier turns are dropped if they do not fit.
    too_long = Rows.of(np.array(rows)[last.max(axis=0) > config.max_length])
    return describe_tokens(*whole, rows), too_long


def is_file(path):
    """Returns whether a path denotes a file, and not a folder or a name of the catalog."""
    path = os.fspath(path)
    return not os.path.isdir(path) and (os.path.exists(path) or bool(os.path.splitext(path)[1]))


def command_of(corpus, turns):
    """Returns the `keras-transformer train` command for a `Corpus`."""
    source = corpus.source
    return train_command(source["corpus"], source["question"], source["answer"], source["encoding"], turns)


def _texts(named, source):
    """Returns (question, answer) of the named rows; for a conversation, both are the whole conversation.

    Of a row with several phrasings, it is the first one.
    """
    texts = {}
    for row, question, answer, _problem, opening in read_rows(*source):
        if row in texts and opening != question:
            earlier = texts[row]
            whole = earlier[0] if earlier[0] == earlier[1] else " / ".join(earlier)
            texts[row] = (f"{whole} / {answer}",) * 2
        elif row in named:
            texts.setdefault(row, (question, answer))
    return texts


def _stray(paths, encoding):
    """Returns additional advice if only a few lines of a file are not UTF-8."""
    if encoding and codecs.lookup(encoding).name != "utf-8":
        return ""
    stray = ((path, stray_lines(path)) for path in paths if is_text(path))
    return "".join(_("; or correct {rows} of {path}", rows=rows, path=path) for path, rows in stray if rows.count)


def _rows_named(repeats, split, *lengths):
    """Returns the rows whose texts the report needs."""
    examples = [example.row for example in (*repeats.most_answered, *repeats.commonest)]
    return {*examples, *(row for pair in split.near for row in pair), *(length.row for length in lengths)}
