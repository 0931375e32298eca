"""Loads the evaluation split of a corpus for `evaluate`, `compare` and `report`."""

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
from keras_transformer.data.split import SPLITS
from keras_transformer.errors import InputError

REPEATED = ("question", "answer", "encoding", "split", "answer_by", "beam", "sample", *OF_BEAMS, *OF_SAMPLES, *SETTINGS)


class EvaluationData(typing.NamedTuple):
    """A split of a corpus to evaluate on.

    Attributes:
        pairs: DataFrame with the columns "question" and "answer".
        training_answers: The set of answers of the training split, if the corpus is the run's own; else None.
        fingerprint: The fingerprint of the corpus.
        source: The paths of the corpus, a list.
    """

    pairs: object
    training_answers: set | None
    fingerprint: str
    source: list


def add_corpus(command):
    """Adds the argument for the corpus to evaluate on."""
    command.add_argument(
        "corpus", metavar="CORPUS", nargs="*", help="corpus, named as for `train` (default: the run's own)"
    )


def add_part_options(command):
    """Adds the options for the split, for reading the corpus, and for the way of answering."""
    command.add_argument(
        "--split",
        default="test",
        metavar="|".join(SPLITS),
        help="split of the corpus to evaluate on (default: %(default)s)",
    )
    add_source_options(command)
    add_answer_by_option(command)


def check_part_options(options):
    """Raises `InputError` if the options are invalid or conflict."""
    if options.split not in SPLITS:
        raise InputError(f"--split: must be one of {', '.join(SPLITS)}, not {options.split!r}")
    if options.n_best is not None:
        raise InputError("--n-best: evaluation uses only the best answer to each question: leave it out")
    check_strategy_options(options)


def read_split(options, run):
    """Returns the selected `EvaluationData` of the named corpus, or of the run's own."""
    import pandas

    from keras_transformer.training.corrections import corrected

    corpus, turns = corpus_of(options, run), run.config.turns
    fingerprint, source = corpus.fingerprint(turns), corpus.source["corpus"]
    own = fingerprint == run.corpus["fingerprint"]
    frames, training_answers = [], set()
    corpus = corrected(corpus, own and run.corpus.get("corrections"))
    for splits in corpus.splits(turns, run.config.hold_out or not own):
        if options.split in splits:
            frames.append(splits[options.split])
        if own and "train" in splits:
            training_answers.update(splits["train"]["answer"])
    pairs = pandas.concat(frames, ignore_index=True) if frames else ()
    if not len(pairs):
        paths = " ".join(source)
        raise InputError(f"{paths}: its {options.split} split holds no pairs: choose another with --split")
    return EvaluationData(pairs, training_answers if own else None, fingerprint, source)


def words_of(options):
    """Returns the command-line options that reproduce the evaluation, without the run and the corpus."""
    words = []
    for name, value in given(options, REPEATED).items():
        if value is not False:
            values = value if isinstance(value, list) else [value]
            words += [f"--{name.replace('_', '-')}", *([] if value is True else map(str, values))]
    return words


def corpus_of(options, run):
    """Returns the named corpus, or the run's own if none is named.

    If the named corpus is the run's own and was trained with a separate validation corpus, it is split as in training:
    otherwise the test split would contain training data.
    """
    from keras_transformer.data.corpus import Corpus
    from keras_transformer.training.plan import absolute

    source = run.corpus.get("source") or {}
    if not options.corpus:
        if not source.get("corpus"):
            raise InputError(f"{run.path}: the path of its corpus is not recorded: name the corpus")
        return Corpus.found_at(source)
    own = absolute(options.corpus) == source.get("corpus")
    validation = source.get("validation") if own else None
    return Corpus(options.corpus, options.question, options.answer, options.encoding or DEFAULT_ENCODING, validation)
