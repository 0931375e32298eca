"""A run folder from the weights and the vocabulary of a tutorial's chatbot."""

import dataclasses
import os
import pathlib

from keras_transformer.backend.tensorflow_import import silent_tensorflow
from keras_transformer.config import Config
from keras_transformer.errors import InputError
from keras_transformer.export.manifest import new_folder
from keras_transformer.language import translate as _
from keras_transformer.migration.tutorial_weights import Sizes, as_paper, check_shapes, layers_of, named, sizes_of
from keras_transformer.migration.tutorials import MAX_LENGTH, NUM_HEADS, TUTORIALS
from keras_transformer.migration.weight_files import read_arrays
from keras_transformer.printable import printable_line
from keras_transformer.runs.checksums import write_json_recorded
from keras_transformer.runs.run import SUMMARY, Run
from keras_transformer.text.subwords import Subwords, with_preprocessing
from keras_transformer.text.tokenizer import Tokenizer

NONE = "none"  # In place of the name of a preprocessing.


@dataclasses.dataclass(frozen=True)
class Imported:
    """What `import_tutorial` found.

    Attributes:
        sizes: The `Sizes`, with the number of heads.
        heads_assumed: Whether the number of heads is that of the tutorials, because the weights do not show it.
        preprocessing: The name of the preprocessing of the run's texts, or "none".
    """

    sizes: Sizes
    heads_assumed: bool
    preprocessing: str


def import_tutorial(
    weights_path, tokenizer_path, run_dir, tutorial, preprocessing=None, num_heads=None, max_length=MAX_LENGTH
):
    """Makes a run of the weights of a tutorial's chatbot. The run has the same logits and the same greedy answers.

    Args:
        weights_path: File or folder of the weights, as for `weight_files.read_arrays`.
        tokenizer_path: The `.subwords` file that was saved with them.
        run_dir: The run folder, which must not exist or be empty.
        tutorial: Name of the version, one of `TUTORIALS`.
        preprocessing: Name of the preprocessing, one of `PREPROCESSINGS`, or "none"; None for that of the tutorial.
        num_heads: Number of attention heads; None for what the weights show, or else that of the tutorials.
        max_length: The tutorial's MAX_LENGTH.

    Returns:
        An `Imported`.

    Raises:
        InputError: If a file is missing, damaged, or not of a tutorial; if files do not belong together; or if the
            folder exists. Nothing is written.
        DiskFull: If the disk is full. Nothing is left behind.
    """
    check_new(run_dir)
    version = TUTORIALS[tutorial]
    preprocessing = preprocessing or version.preprocessing
    tokenizer = tutorial_tokenizer(tokenizer_path, preprocessing)
    layers = layers_of(read_arrays(weights_path))
    try:
        shown = sizes_of(layers)
        check_vocabulary(shown, tokenizer_path, tokenizer)
        weights = named(layers, shown.num_layers)
        check_shapes(weights, shown)
        sizes = with_heads(shown, num_heads)
    except InputError as error:
        raise InputError(f"{weights_path}: {error}") from error
    weights = as_paper(weights, version, sizes.num_layers)
    origin = printable_line(f"imported from {pathlib.Path(weights_path).name} (tutorial {tutorial})")
    write_run(run_dir, sizes, max_length, tokenizer, weights, origin)
    return Imported(sizes, num_heads is None and shown.num_heads is None, preprocessing)


def check_new(run_dir):
    """Raises `InputError` unless a path is free for a run: it does not exist, or is an empty folder."""
    path = pathlib.Path(run_dir)
    if Run.exists(path):
        raise InputError(_("{path}: already contains a run", path=path))
    if os.path.lexists(path) and not (path.is_dir() and not any(path.iterdir())):
        raise InputError(_("{path}: contains other files; name a new or empty folder for the run", path=path))


def tutorial_tokenizer(path, preprocessing):
    """Returns the `Tokenizer` of a `.subwords` file, with a preprocessing; raises `InputError` for another file."""
    tokenizer = Tokenizer.load(path)
    if tokenizer.ending != Subwords.ending:
        raise InputError(
            _("{path}: a SentencePiece model; name the .subwords file that was saved with the weights", path=path)
        )
    return Tokenizer(Subwords(with_preprocessing(tokenizer.model, None if preprocessing == NONE else preprocessing)))


def check_vocabulary(sizes, path, tokenizer):
    """Raises `InputError` if the weights are of a vocabulary of another size than that of the `Tokenizer`."""
    if sizes.vocab_size != tokenizer.vocab_size:
        raise InputError(
            _(
                "is of {weights:,} token ids, but {tokenizer} has {ids:,}, with start and end: name the .subwords file "
                "that was saved with the weights",
                weights=sizes.vocab_size,
                tokenizer=path,
                ids=tokenizer.vocab_size,
            )
        )


def with_heads(sizes, num_heads):
    """Returns the `Sizes` with the number of heads that was given, that the weights show, or that of the tutorials."""
    if num_heads is None:
        return dataclasses.replace(sizes, num_heads=sizes.num_heads or NUM_HEADS)
    if sizes.num_heads not in (None, num_heads):
        raise InputError(_("has {seen} attention heads, not {num_heads}", seen=sizes.num_heads, num_heads=num_heads))
    return dataclasses.replace(sizes, num_heads=num_heads)


def write_run(run_dir, sizes, max_length, tokenizer, weights, origin):
    """Writes the run folder, or nothing."""
    config = Config(
        vocab_size=sizes.vocab_size, num_layers=sizes.num_layers, d_model=sizes.d_model, num_heads=sizes.num_heads,
        dff=sizes.dff, max_length=max_length + 1,
    )  # fmt: skip
    with new_folder(run_dir) as folder:
        run = Run.create(folder, config, tokenizer, {"name": origin, "fingerprint": None, "pairs": 0})
        run.save_weights(weights, {"imported": origin})
        write_json_recorded(folder / SUMMARY, {"finished": True, "epochs": 0, "best_epoch": None, "seconds": 0})
        with silent_tensorflow():
            run.load_model()  # As everybody will.
