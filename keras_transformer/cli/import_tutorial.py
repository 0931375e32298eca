"""The `import-tutorial` command: makes a run of the weights of a tutorial's chatbot."""

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import add_command, echo
from keras_transformer.language import translate as _
from keras_transformer.migration.tutorials import MAX_LENGTH, NUM_HEADS, TUTORIALS
from keras_transformer.text.preprocessing import PREPROCESSINGS


def add_import_tutorial(commands):
    """Adds the `import-tutorial` command."""
    command = add_command(
        commands, "import-tutorial", run_import_tutorial,
        _("make a run of the weights of the TensorFlow chatbot tutorial"),
        "keras-transformer import-tutorial chatbot.h5 --tokenizer chatbot.subwords --run runs/imported",
    )  # fmt: skip
    command.add_argument(
        "weights", metavar="WEIGHTS",
        help=_("weights or model: HDF5 (.h5), .keras, a TensorFlow checkpoint, or the folder of a SavedModel"),
    )  # fmt: skip
    command.add_argument(
        "--tokenizer", metavar="FILE", required=True, help=_("the .subwords vocabulary that belongs to the weights")
    )
    command.add_argument("--run", metavar="RUN", required=True, help=_("folder of the new run"))
    command.add_argument(
        "--tutorial", choices=TUTORIALS, default="wikidocs",
        help=_(
            "version of the tutorial: wikidocs (default), the blog of TensorFlow, or the notebook (colab) or model.py "
            "(github) of tf2-transformer-chatbot"
        ),
    )  # fmt: skip
    command.add_argument(
        "--preprocessing", choices=(*PREPROCESSINGS, "none"),
        help=_("what preprocess_sentence does, if it is not that of the tutorial"),
    )  # fmt: skip
    command.add_argument(
        "--num-heads", type=int, metavar="N",
        help=_("number of attention heads, which most weights do not show (default: {num_heads})", num_heads=NUM_HEADS),
    )  # fmt: skip
    command.add_argument(
        "--max-length", type=int, default=MAX_LENGTH, metavar="N",
        help=_("the tutorial's MAX_LENGTH (default: {max_length})", max_length=MAX_LENGTH),
    )  # fmt: skip


def run_import_tutorial(options):
    """Imports the weights, and prints what was found and what to do next."""
    import_tensorflow_quietly()
    from keras_transformer.migration.run_folder import import_tutorial

    found = import_tutorial(
        options.weights, options.tokenizer, options.run, options.tutorial, options.preprocessing, options.num_heads,
        options.max_length,
    )  # fmt: skip
    echo("\n".join(report(options, found)))
    return 0


def report(options, found):
    """Yields the lines that tell what was found, and what to do next."""
    sizes = found.sizes
    yield _(
        "{weights}: {num_layers} layers, d_model {d_model}, {num_heads} heads, dff {dff}, {vocab_size:,} token ids",
        weights=options.weights,
        num_layers=sizes.num_layers,
        d_model=sizes.d_model,
        num_heads=sizes.num_heads,
        dff=sizes.dff,
        vocab_size=sizes.vocab_size,
    )
    yield _(
        "Read as the tutorial {tutorial}, with the preprocessing {preprocessing}.",
        tutorial=options.tutorial,
        preprocessing=found.preprocessing,
    )
    if found.heads_assumed:
        yield _(
            "The weights do not show the number of heads: {num_heads} is the tutorial's; --num-heads sets another.",
            num_heads=sizes.num_heads,
        )
    yield _("If the answers are not those of your model, try another --tutorial, --num-heads or --preprocessing.")
    yield _("Next:")
    yield f"  keras-transformer chat {options.run}"
    yield f"  keras-transformer train CORPUS --run NEW_RUN --from {options.run}"
