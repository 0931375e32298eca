"""The plan of a training: everything that is decided and checked before the run folder is touched."""

import contextlib
import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

import pandas

from keras_transformer.config import FIELDS, Config, check_setting
from keras_transformer.data.augmentation import augment
from keras_transformer.data.catalog import is_corpus
from keras_transformer.data.columns import listing
from keras_transformer.data.corpus import Corpus, Survey
from keras_transformer.data.packing import PackedRows
from keras_transformer.data.quality.recommendation import recommend_for
from keras_transformer.data.recombination import recombine
from keras_transformer.data.text_files import GZIP
from keras_transformer.data.tokenized import PairEncoder
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.presets import PRESETS
from keras_transformer.runs.run import Run
from keras_transformer.text.tokenizer import Tokenizer
from keras_transformer.training.corrections import corrected, corrections_for, with_taught
from keras_transformer.training.distributed.cluster import count_devices, process_count, process_number
from keras_transformer.training.distributed.sharding import check_split
from keras_transformer.training.fine_tuning import check_parent, inherited_tokenizers
from keras_transformer.training.progress import say
from keras_transformer.training.resume import check_corpus, check_settings
from keras_transformer.training.schedule import make_schedule
from keras_transformer.training.tokenizers import check_tokenizers, make_tokenizers

TABLES = (".csv", ".tsv", ".xlsx")  # Endings of files that usually have a header.
PATHS = ("corpus", "validation", "tokenizer_file", "target_tokenizer_file")  # Keys of config.toml.


@dataclasses.dataclass(frozen=True)
class Plan:
    """The plan of a training.

    Attributes:
        corpus: The `Corpus`.
        survey: Its `Survey`, without the sample.
        about: Dictionary about the corpus, which the run folder stores (`Run.corpus`).
        config: The `Config`.
        run: The `Run` to resume, or None.
        parent: The `Run` to fine-tune, or None.
        tokenizers: The `Tokenizer`s of questions and of answers; the same object if they share one.
        training: The `PackedRows` to train on.
        validation: The `PackedRows` to validate on.
        devices: Number of devices, those of all processes.
        model_devices: Number of devices that share the large weights of one model.
    """

    corpus: Corpus
    survey: Survey
    about: dict[str, Any]
    config: Config
    run: Run | None
    parent: Run | None
    tokenizers: tuple[Tokenizer, Tokenizer]
    training: PackedRows
    validation: PackedRows
    devices: int
    model_devices: int

    @property
    def corrections(self) -> list[dict[str, Any]]:
        """The corrections that are applied to the training pairs, dictionaries as in `corrections.jsonl`."""
        return self.about.get("corrections", [])

    def check_unchanged(self, run_dir: str | os.PathLike) -> None:
        """Raises `InputError` if another training has changed the run folder since it was planned for."""
        run = Run(run_dir) if Run.exists(run_dir) else None
        before, now = ((one.id, one.config, one.corpus) if one else None for one in (self.run, run))
        if before != now:
            raise InputError(_("{run}: another training has just changed it. Run the same command again.", run=run_dir))


def make_plan(
    corpus: pandas.DataFrame | Corpus | str | os.PathLike | Sequence[str | os.PathLike],
    run_dir: str | os.PathLike,
    config: Config | None,
    from_run: str | os.PathLike | None,
    files: Mapping[str, str | os.PathLike | None],
    devices: int | None,
    model_devices: int,
    settings: Mapping[str, Any],
) -> Plan:
    """Makes the `Plan` of a training. Writes nothing; prints the recommended settings if they are used.

    Args:
        corpus: The corpus. This and all arguments but `files` are those of `keras_transformer.train`.
        run_dir: The run folder.
        config: The `Config`, or None.
        from_run: Folder of a run to fine-tune, or None.
        files: The files of the tokenizers, a dictionary with the keys "tokenizer_file" and "target_tokenizer_file".
        devices: Number of local devices, or None.
        model_devices: Number of these devices that share the large weights of one model.
        settings: Settings that override those of the config.

    Raises:
        InputError: If corpus, run folder and config do not match, or there are fewer devices than requested.
    """
    for name, value in settings.items():
        check_setting(name, value)
    given_warm_up = "warmup_steps" in settings or config not in (None, *PRESETS.values())
    device_count = count_devices(devices)
    corpus = corpus if isinstance(corpus, Corpus) else Corpus(corpus)
    parent = Run(from_run) if from_run else None
    run = Run(run_dir) if Run.exists(run_dir) else None
    existing_run = run or parent
    config, survey = chosen_config(corpus, config or inherited_config(run, parent), settings, files)
    if config.grow_vocabulary and not existing_run:
        raise InputError(_("--grow-vocabulary adds to the vocabulary of a run: name the run with --from RUN"))
    check_split(config, device_count // process_count(), model_devices)
    if run:
        if not given_warm_up:
            config = config.replace(warmup_steps=run.config.warmup_steps)  # Which was fitted to its epochs.
        check_settings(run, config, parent)
    if existing_run:
        check_tokenizers(parent or existing_run, **files)  # A grown one is no longer that of the file.
    survey = survey or corpus.survey(config.turns, config.hold_out)
    if run:
        check_corpus(run, survey)
    elif (note := headerless_note(survey.sample)) and process_number() == 0:
        say(note)
    if parent:
        check_parent(parent, config)
    corrections = corrections_for(run, parent)
    if run:
        tokenizers = run.tokenizer, run.target_tokenizer
    elif parent:
        tokenizers, message = inherited_tokenizers(parent, with_taught(survey.sample, corrections), config)
        if message and process_number() == 0:
            say(message)
    else:
        tokenizers = make_tokenizers(survey.sample, config, **files)
    about = about_corpus({**corpus.source, **files}, survey, corpus.licence, corpus.language)
    survey = dataclasses.replace(survey, sample=None)  # Frees the sample, which may be large.
    if corrections:
        about["corrections"] = corrections
    training, validation = packed_rows(
        corrected(corpus, corrections), tokenizers, config,
        multiple=device_count // model_devices, share=(process_number(), process_count()),
    )  # fmt: skip
    if not run and not given_warm_up:
        config = fitting_warm_up(config, config.epochs * len(training))
    if run and (finished := finished_epochs(run)) >= config.epochs:
        config = config.replace(epochs=finished)  # Nothing is left to train; the recorded settings stay as they are.
    else:
        make_schedule(config, config.epochs * len(training))  # Raises for an invalid one.
    return Plan(
        corpus, survey, about, config, run, parent, tokenizers, training, validation, device_count, model_devices
    )


def finished_epochs(run):
    """Returns the number of epochs of a `Run` if its training is finished, else 0."""
    summary = run.summary()
    return summary["epochs"] if summary else 0


def inherited_config(run, parent):
    """Returns the `Config` of the `Run` to resume, or that of the one to fine-tune, which grew once; else None."""
    if run:
        return run.config
    return parent.config.replace(grow_vocabulary=False) if parent else None


def chosen_config(
    corpus: Corpus,
    config: Config | None,
    settings: Mapping[str, Any],
    files: Mapping[str, str | os.PathLike | None],
) -> tuple[Config, Survey | None]:
    """Chooses the settings of a training: those given, or those recommended for the corpus.

    Prints the recommendation.

    Args:
        corpus: The `Corpus`.
        config: The `Config` that was given, or that of a run, or None.
        settings: Settings that override the others.
        files: The files of the tokenizers.

    Returns:
        The `Config`, and the `Survey` of the corpus if the recommendation needed one.
    """
    if config is None and settings.keys() == FIELDS.keys():
        config = Config()  # All of its settings are overridden.
    if config is not None:
        return config.replace(**settings), None
    turns, hold_out = settings.get("turns", 1), settings.get("hold_out")
    recommendation, survey, _tokenizer = recommend_for(corpus, turns, hold_out, *files.values())
    recommendation = recommendation.replace(**settings)
    if process_number() == 0:
        say(recommendation.line)
    return recommendation.config, survey


def headerless_note(sample):
    """Returns a line about the first row of a table that was read as a pair, which may be a header after all; or None.

    Args:
        sample: DataFrame of pairs, with the columns "file" and "row" if they are from files.
    """
    if "file" not in sample:
        return None
    for pair in sample[sample["row"] == 1].itertuples():
        is_one_table = isinstance(pair.file, str) and " + " not in pair.file  # Parallel files have no header.
        if is_one_table and pair.file.lower().removesuffix(GZIP).endswith(TABLES):
            question, answer = listing([pair.question]), listing([pair.answer])
            return _(
                "{path} has no header; its first pair: {question} → {answer}",
                path=pair.file,
                question=question,
                answer=answer,
            )
    return None


def fitting_warm_up(config, batches):
    """Returns the `Config`, its warm-up shortened to a tenth of the updates if it exceeds half of them.

    That of the paper's schedule stays, because it determines the peak of the learning rate.
    """
    updates = batches // config.accumulate
    if config.schedule == "paper" or config.warmup_steps <= updates / 2:
        return config
    return config.replace(warmup_steps=max(1, updates // 10))


def packed_rows(corpus, tokenizers, config, names=("train", "validation"), multiple=1, share=(0, 1)):
    """Returns the `PackedRows` of several splits, reading the corpus only once.

    Args:
        corpus: The `Corpus`.
        tokenizers: The tokenizers of questions and answers.
        config: The `Config`.
        names: Names of the splits.
        multiple: As for `PackedRows`.
        share: As for `PackedRows`.
    """
    with contextlib.ExitStack() as files:
        encoders = {
            name: files.enter_context(PairEncoder(tokenizers[0], config.max_length, tokenizers[1], config.turns))
            for name in names
        }
        for number, splits in enumerate(corpus.splits(config.turns, config.hold_out)):
            for name in encoders.keys() & splits.keys():
                encoders[name].add(splits[name])
            if "train" in encoders.keys() & splits.keys():
                for pairs in augmented(splits["train"], config, number):
                    encoders["train"].add(pairs)
        encoded = {name: encoder.finish() for name, encoder in encoders.items()}
    return [
        PackedRows(encoded[name], config.batch_size, config.batch_tokens, name == "train", config.seed, multiple, share)
        for name in names
    ]


def augmented(pairs, config, number):
    """Yields the pairs that data augmentation adds to a chunk of the corpus.

    Args:
        pairs: The training pairs of the chunk.
        config: The `Config`.
        number: The number of the chunk, part of the random seed.
    """
    if config.augment:
        yield augment(pairs, config.augment, (config.seed, number))
    if config.recombine:
        yield recombine(pairs, config.recombine, (config.seed, number))


def about_corpus(source, survey, licence=None, language=None):
    """Returns the description of a corpus that the run folder stores."""
    source = {key: absolute(value) if key in PATHS else value for key, value in source.items()}
    name = " ".join(map(os.path.basename, source.get("corpus") or ())) or "pairs"
    pairs = survey.pairs
    about = {"name": name, "licence": licence, "language": language, "source": source}
    return {**about, "fingerprint": survey.fingerprint, "pairs": pairs, **survey.sizes}


def absolute(paths):
    """Returns one or several paths as absolute paths for a text file; bytes that are not UTF-8 become question marks.

    Names of the catalog stay as they are.
    """
    if paths is None:
        return None
    if isinstance(paths, list):
        return list(map(absolute, paths))
    if is_corpus(paths):
        return paths
    return os.path.abspath(paths).encode("utf-8", "replace").decode("utf-8")
