"""The options of `train`, and what becomes of them and of a `--config` file."""

import argparse

from keras_transformer.config import FIELDS
from keras_transformer.config_file import read_config_file
from keras_transformer.errors import InputError
from keras_transformer.presets import PRESETS

DEFAULT_ENCODING = "utf-8"
DEFAULT_RETRIES = 3


def add_train_options(train):
    """Adds what `train` can be told to its grammar.

    Nothing is required and nothing has a default here, so that what is left open can come from a `--config` file.
    """
    train.add_argument(
        "corpus", metavar="CORPUS", nargs="*",
        help="a .csv, .tsv or .jsonl file of questions and answers; or two text files with a line for each; or a "
        "folder of such files, which are parts of their own where their names say so (train, validation or dev, "
        "test); or a name of `keras-transformer data list`",
    )  # fmt: skip
    train.add_argument(
        "--validation", metavar="FILE", nargs="+",
        help="the like of CORPUS to validate with; all of CORPUS is for training then",
    )  # fmt: skip
    train.add_argument("--run", metavar="RUN", help="folder that keeps the run; made if there is none")
    train.add_argument(
        "--config", metavar="FILE",
        help="TOML file with any of these options by name, such as the config.toml of a run folder: "
        "epochs = 20; the command line goes before it",
    )  # fmt: skip
    train.add_argument(
        "--from", dest="from_run", metavar="RUN",
        help="run to start from (fine-tuning): its tokenizer and sizes are kept, its best weights are the first ones",
    )  # fmt: skip
    add_source_options(train)
    train.add_argument(
        "--tokenizer-file", metavar="FILE",
        help="tokenizer to take instead of learning one: a SentencePiece .model, or a .subwords vocabulary",
    )  # fmt: skip
    train.add_argument("--target-tokenizer-file", metavar="FILE", help="the same for the answers alone")
    train.add_argument(
        "--devices", type=int, metavar="N",
        help="devices of this machine that share each batch out, under KERAS_BACKEND=jax (default: all GPUs, or one)",
    )  # fmt: skip
    train.add_argument(
        "--model-devices", type=int, default=1, metavar="N",
        help="so many of the devices split the large weights of one model; the others have others of it (default: 1)",
    )  # fmt: skip
    add_cluster_options(train)
    add_ray_options(train)
    settings = train.add_argument_group("settings", "The paper is “Attention Is All You Need”.")
    settings.add_argument(
        "--preset", choices=PRESETS,
        help="settings to start from (default: chosen for the corpus, as `keras-transformer data check` says)",
    )  # fmt: skip
    for name, field in FIELDS.items():
        add_setting(settings, name, field)


def add_cluster_options(train):
    """Adds which processes train together."""
    cluster = train.add_argument_group(
        "several machines", "The same command on each, under KERAS_BACKEND=jax; all see the run folder, one writes it."
    )
    cluster.add_argument(
        "--coordinator", metavar="HOST:PORT",
        help="address of the first of them; or auto under SLURM and Open MPI, which know the rest too",
    )  # fmt: skip
    cluster.add_argument("--processes", type=int, metavar="N", help="how many there are")
    cluster.add_argument("--process", type=int, metavar="I", help="which of them this one is, from 0 on")


def add_ray_options(train):
    """Adds how many workers a Ray cluster is to train with."""
    ray = train.add_argument_group(
        "a Ray cluster",
        "That of RAY_ADDRESS, or this machine, under KERAS_BACKEND=jax (extra [ray]); all see corpus and run folder.",
    )
    ray.add_argument("--ray-workers", type=int, metavar="N", help="processes that Ray places, and starts anew if lost")
    ray.add_argument(
        "--ray-retries", type=int, metavar="N", help=f"how often they may be lost (default: {DEFAULT_RETRIES})"
    )
    ray.add_argument(
        "--ray-gpus", type=int, metavar="N", help="GPUs of each (default: 1 where the cluster has any, else 0)"
    )


def ray_settings(options):
    """What the options of a Ray cluster come to; nothing if there is to be none.

    Raises:
        InputError: If they do not fit together, or with those of processes started otherwise.
    """
    if options.ray_workers is None:
        if options.ray_retries is not None or options.ray_gpus is not None:
            raise InputError("--ray-retries and --ray-gpus need --ray-workers")
        return {}
    others = options.devices, options.coordinator, options.processes, options.process, options.model_devices
    if others != (None, None, None, None, 1):
        raise InputError(
            "Ray places all: leave out --devices, --model-devices, --coordinator, --processes and --process"
        )
    retries = DEFAULT_RETRIES if options.ray_retries is None else options.ray_retries
    return {"workers": options.ray_workers, "retries": retries, "gpus": options.ray_gpus}


def add_source_options(parser):
    """Adds how a corpus is to be read."""
    parser.add_argument(
        "--question", metavar="NAME", help="column of the questions, where it cannot be found by itself"
    )
    parser.add_argument("--answer", metavar="NAME", help="column of the answers, likewise")
    parser.add_argument("--encoding", help=f"encoding of the corpus (default: {DEFAULT_ENCODING})")


def add_setting(settings, name, field):
    """Adds the option of a field of `Config`, documented by the field."""
    option, about = f"--{name.replace('_', '-')}", field.metadata["about"].replace("%", "%%")
    if field.type is bool:
        settings.add_argument(option, action=argparse.BooleanOptionalAction, help=about)
        return
    # Which words there are is left to `Config`, which says it of the command line as of a file.
    words = field.metadata["choices"]
    settings.add_argument(option, type=field.type, metavar="|".join(words) if words else "N", help=about)


def complete(options):
    """Fills in from the `--config` file what the command line leaves open.

    Raises:
        InputError: If the file cannot be used, or corpus or run folder are named nowhere.
    """
    if options.config is not None:
        settings, rest = read_config_file(options.config)
        for key, value in {**settings, **rest}.items():
            name = "from_run" if key == "from" else key
            if getattr(options, name) in (None, []):
                setattr(options, name, value)
    options.encoding = options.encoding or DEFAULT_ENCODING
    missing = [name for name, value in (("CORPUS", options.corpus), ("--run", options.run)) if not value]
    if missing:
        raise InputError(f"the following arguments are required: {', '.join(missing)}")


def given_settings(options):
    """The settings of `Config` that completed options name."""
    return {name: getattr(options, name) for name in FIELDS if getattr(options, name) is not None}
