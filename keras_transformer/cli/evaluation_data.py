"""The part of a corpus that runs are asked, as `evaluate`, `compare` and `report` find it."""

import typing

from keras_transformer.cli.generation_options import (
    OF_BEAMS,
    OF_SAMPLES,
    SETTINGS,
    add_answer_by_option,
    check_strategy_options,
    given,
)
from keras_transformer.cli.train_options import DEFAULT_ENCODING, add_source_options
from keras_transformer.data.split import PARTS
from keras_transformer.errors import InputError

REPEATED = ("question", "answer", "encoding", "split", "answer_by", "beam", "sample", *OF_BEAMS, *OF_SAMPLES, *SETTINGS)


class Part(typing.NamedTuple):
    """What is asked.

    Attributes:
        pairs: DataFrame with the columns "question" and "answer".
        training_answers: Those of the training part, a set, if the corpus is the run's own; else None.
        fingerprint: That of the corpus.
        source: Where the corpus is, a list of paths.
    """

    pairs: object
    training_answers: set | None
    fingerprint: str
    source: list


def add_corpus(command):
    """Adds the corpus to ask to a grammar."""
    command.add_argument(
        "corpus", metavar="CORPUS", nargs="*", help="a corpus, named as for `train` (default: the run's own)"
    )


def add_part_options(command):
    """Adds which part of a corpus is asked, and how the corpus is to be read."""
    command.add_argument(
        "--split", default="test", metavar="|".join(PARTS), help="part of the corpus to ask (default: %(default)s)"
    )
    add_source_options(command)
    add_answer_by_option(command)


def check_part_options(options):
    """Raises `InputError` for what the grammar lets through."""
    if options.split not in PARTS:
        raise InputError(f"--split: there is no part {options.split!r}, but {', '.join(PARTS)}")
    if options.n_best is not None:
        raise InputError("--n-best: one answer to each question is evaluated, the best")
    check_strategy_options(options)


def read_part(options, run):
    """The `Part` that options ask for: of the corpus that they name, or else of the run's own."""
    import pandas

    from keras_transformer.training.corrections import corrected

    corpus, turns = corpus_of(options, run), run.config.turns
    fingerprint, source = corpus.fingerprint(turns), corpus.source["corpus"]
    own = fingerprint == run.corpus["fingerprint"]
    asked, training_answers = [], set()
    for parts in corrected(corpus, own and run.corpus.get("corrections")).parts(turns, run.config.hold_out or not own):
        if options.split in parts:
            asked.append(parts[options.split])
        if own and "train" in parts:
            training_answers.update(parts["train"]["answer"])
    pairs = pandas.concat(asked, ignore_index=True) if asked else ()
    if not len(pairs):
        named = " ".join(source)
        raise InputError(f"{named}: its {options.split} part holds no pair: name another by --split")
    return Part(pairs, training_answers if own else None, fingerprint, source)


def words_of(options):
    """The words of a command line by which the same part is asked in the same way, less the run and the corpus."""
    words = []
    for name, value in given(options, REPEATED).items():
        if value is not False:
            values = value if isinstance(value, list) else [value]
            words += [f"--{name.replace('_', '-')}", *([] if value is True else map(str, values))]
    return words


def corpus_of(options, run):
    """The corpus that is named; the run's own, if none is.

    If the one named is the run's own and was trained with a validation of its own, it is parted as it was in training:
    what would be a test otherwise was trained on.
    """
    from keras_transformer.data.corpus import Corpus
    from keras_transformer.training.trainer import absolute

    source = run.corpus.get("source") or {}
    if not options.corpus:
        if not source.get("corpus"):
            raise InputError(f"{run.path}: does not say where its corpus is: name it")
        return Corpus.found_at(source)
    own = absolute(options.corpus) == source.get("corpus")
    validation = source.get("validation") if own else None
    return Corpus(options.corpus, options.question, options.answer, options.encoding or DEFAULT_ENCODING, validation)
