"""Loads the pairs of a corpus to evaluate on, for `evaluate`, `compare`, `report` and `calibrate`."""

import typing

from keras_transformer.cli.generation_options import add_answer_by_option
from keras_transformer.cli.train_options import add_source_options
from keras_transformer.data.split import SPLITS
from keras_transformer.decoding.options import (
    OF_BEAMS,
    OF_SAMPLES,
    OF_WORDS,
    SETTINGS,
    check_strategy_options,
    given_options,
)
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.language import translate_count

REPEATED = (
    "question", "answer", "encoding", "split", "answer_by", "beam", "sample", *OF_BEAMS, *OF_SAMPLES, *SETTINGS,
    *OF_WORDS,
)  # fmt: skip


class EvaluationData(typing.NamedTuple):
    """A split of a corpus, or a whole corpus, to evaluate on.

    Attributes:
        pairs: DataFrame with the columns "question" and "answer".
        split: Name of the split; None for the whole corpus.
        corpus_pairs: Number of pairs of the corpus.
        training_answers: The set of answers of the training split, if the corpus is the run's own; else None.
        fingerprint: The fingerprint of the corpus.
        source: The paths of the corpus, a list.
    """

    pairs: object
    split: str | None
    corpus_pairs: int
    training_answers: set | None
    fingerprint: str
    source: list

    def in_words(self):
        """Returns which pairs these are, and how many."""
        paths, count = " ".join(self.source), len(self.pairs)
        if self.split:
            return _(
                "the {split} split of {corpus}: {count:,} of {all:,} pairs",
                split=self.split,
                corpus=paths,
                count=count,
                all=self.corpus_pairs,
            )
        return translate_count(
            "all {count:,} pair of {corpus}, as it is not the training corpus",
            "all {count:,} pairs of {corpus}, as it is not the training corpus",
            count,
            corpus=paths,
        )

    @property
    def heading(self):
        """The split, or that there is none, for the heading of a table."""
        return _("{split} split", split=self.split) if self.split else _("all pairs")


def add_corpus(command):
    """Adds the argument for the corpus to evaluate on."""
    command.add_argument(
        "corpus", metavar="CORPUS", nargs="*", help=_("corpus, named as for `train` (default: the run's own)")
    )


def add_split_options(command, split="test"):
    """Adds the options for the split, for reading the corpus, and for the way of answering.

    Args:
        command: The parser.
        split: The split of the run's own corpus that is used by default.
    """
    command.add_argument(
        "--split",
        metavar="|".join(SPLITS),
        help=_(
            "split of the corpus to use (default: {split} if it is the run's own corpus or divided into splits, else "
            "the whole corpus)",
            split=split,
        ),
    )
    command.set_defaults(default_split=split)
    add_source_options(command)
    add_answer_by_option(command)


def check_split_options(options):
    """Raises `InputError` if the options are invalid or conflict."""
    if options.split not in (None, *SPLITS):
        raise InputError(
            _("--split: must be one of {splits}, not {split!r}", splits=", ".join(SPLITS), split=options.split)
        )
    check_strategy_options(options)


def read_split(options, run, *others):
    """Returns the selected `EvaluationData` of the named corpus, or of the run's own.

    Args:
        options: The parsed options.
        run: The `Run` to evaluate.
        *others: Other `Run`s to evaluate on the same pairs.
    """
    import pandas

    corpus, turns = corpus_of(options, run), run.config.turns
    fingerprint, source = corpus.fingerprint(turns), corpus.source["corpus"]
    owner = owner_of(source, fingerprint, run, *others)
    split = options.split or (options.default_split if owner or corpus.has_splits else None)
    if split:
        frames, training_answers = split_frames(corpus, split, owner or run, bool(owner))
    else:
        frames, training_answers = list(corpus.chunks(turns)), None
    pairs = pandas.concat(frames, ignore_index=True) if frames else ()
    if not len(pairs):
        if owner and not owner.config.hold_out:
            words = [*options.runs, "--corpus"] if hasattr(options, "runs") else [options.run]
            raise InputError(nothing_held_out(owner, " ".join([options.parser.prog, *words, "FILE"])))
        raise InputError(
            _(
                "{corpus}: its {split} split holds no pairs: choose another with --split, or name a file of unseen "
                "questions",
                corpus=" ".join(source),
                split=split,
            )
        )
    if run.corpus["fingerprint"] != fingerprint:
        training_answers = None
    return EvaluationData(pairs, split, sum(map(len, corpus.chunks(turns))), training_answers, fingerprint, source)


def nothing_held_out(run, command):
    """Returns the message about a run that was trained on its whole corpus, with the command to enter instead."""
    return _(
        "{path}: trained on all questions of its corpus, with none held out: name a file of unseen questions and "
        "answers: {command}",
        path=run.path,
        command=command,
    )


def owner_of(source, fingerprint, *runs):
    """Returns the first of the runs that was trained on a corpus: on the same pairs, or on the same files; else None.

    Files that have changed since then still count, because the frozen split shows which questions were used to train.
    """
    from keras_transformer.training.plan import absolute

    paths = absolute(source)
    own = (run for run in runs if fingerprint == run.corpus["fingerprint"] or paths == trained_on(run)["corpus"])
    return next(own, None)


def trained_on(run):
    """Returns the recorded source of a run's corpus; its "corpus" is None if it was trained on pairs in memory."""
    return {"corpus": None, **(run.corpus.get("source") or {})}


def split_frames(corpus, split, run, own):
    """Returns the chunks of a split as a list, and the set of answers of the training split.

    Args:
        corpus: The `Corpus`.
        split: Name of the split.
        run: The `Run`.
        own: Whether the run was trained on this corpus, so that its splits are those of the training.
    """
    from keras_transformer.training.corrections import corrected

    frames, training_answers = [], set()
    corpus = corrected(corpus, own and run.corpus.get("corrections"))
    for splits in corpus.splits(run.config.turns, run.config.hold_out or not own):
        if split in splits:
            frames.append(splits[split])
        if "train" in splits:
            training_answers.update(splits["train"]["answer"])
    return frames, training_answers


def words_of(options):
    """Returns the command-line options that reproduce the evaluation, without the run and the corpus."""
    words = []
    for name, value in given_options(options, REPEATED).items():
        if value is not False:
            flag = f"--{name.replace('_', '-')}"
            values = value if isinstance(value, list) else [value]
            if name in OF_WORDS:
                words += [word for one in values for word in (flag, one)]
            else:
                words += [flag, *([] if value is True else map(str, values))]
    return words


def corpus_of(options, run):
    """Returns the named corpus, or the run's own if none is named.

    If the named corpus is the run's own and was trained with a separate validation corpus, it is split as in training:
    otherwise the test split would contain training data.
    """
    from keras_transformer.data.corpus import Corpus
    from keras_transformer.training.plan import absolute

    source = trained_on(run)
    if not options.corpus:
        if not source["corpus"]:
            raise InputError(_("{path}: the path of its corpus is not recorded: name the corpus", path=run.path))
        return Corpus.from_source(source)
    own = absolute(options.corpus) == source["corpus"]
    validation = source.get("validation") if own else None
    return Corpus(options.corpus, options.question, options.answer, options.encoding, validation)
