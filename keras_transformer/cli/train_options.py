"""The options of `train`, on the command line and in a `--config` file."""

import argparse
import pathlib

from keras_transformer.cli.language_option import add_language_option
from keras_transformer.config import FIELDS, Config
from keras_transformer.config_file import read_config_file
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.presets import PRESETS

DEFAULT_RETRIES = 3
BY_CORPUS = (
    "vocab_size", "num_layers", "d_model", "num_heads", "dff", "tie_embeddings", "norm_first", "dropout",
    "label_smoothing", "hold_out", "augment", "recombine", "batch_size", "clip_norm", "schedule", "learning_rate",
    "warmup_steps", "epochs", "patience", "monitor", "max_length", "tokenizer", "target_tokenizer",
)  # fmt: skip
"""The settings that are chosen for a corpus if neither they nor a preset are given."""
MAIN_SETTINGS = ("epochs", "grow_vocabulary")  # Among the options that most users need.


class ShortHelp(argparse.Action):
    """Prints the options that most users need; `--help-all` prints all."""

    def __call__(self, parser, namespace, values, option_string=None):
        short = argparse.ArgumentParser(
            prog=parser.prog, usage=parser.usage, description=parser.description, epilog=parser.epilog, add_help=False,
            formatter_class=parser.formatter_class,
        )  # fmt: skip
        add_main_options(short)
        short.print_help()
        parser.exit()


def add_train_options(train):
    """Adds the options of `train` to its parser, which has no `--help` yet.

    No option is required or has a default here, so that a `--config` file can supply those not given.
    """
    train.usage = _("%(prog)s CORPUS --run RUN [options]")
    add_main_options(train)
    add_tokenizer_options(train)
    add_device_options(train)
    add_cluster_options(train)
    add_ray_options(train)
    settings = train.add_argument_group(
        _("settings"),
        _(
            "The paper is “Attention Is All You Need”. “By corpus” is what `keras-transformer data check` recommends\n"
            "for it; with --preset, it is the preset's, which `keras-transformer presets --json` lists."
        ),
    )
    for name in FIELDS:
        if name not in MAIN_SETTINGS:
            add_setting(settings, name, default_in_words(name))


def add_main_options(parser):
    """Adds the options that most users need."""
    train = parser.add_argument_group(_("what most users need"))
    train.add_argument(
        "corpus",
        metavar="CORPUS",
        nargs="*",
        help=_(
            "a file of questions and answers (CSV, TSV, JSON, XLSX, Parquet, YAML or a KakaoTalk chat); two parallel "
            "text files; a folder of such files, split by file name where it says so (train, validation or dev, "
            "test); or a name from `keras-transformer data list`"
        ),
    )
    train.add_argument("--run", metavar="RUN", help=_("folder of the run; created if missing"))
    add_column_options(train)
    train.add_argument(
        "--preset", choices=PRESETS,
        help=_("settings to start from, listed by `keras-transformer presets` (default: chosen for the corpus)"),
    )  # fmt: skip
    add_setting(train, "epochs", default_in_words("epochs"))
    train.add_argument(
        "--validation", metavar="FILE", nargs="+",
        help=_("validation corpus, in the same formats; all of CORPUS is then used for training"),
    )  # fmt: skip
    train.add_argument(
        "--from", dest="from_run", metavar="RUN",
        help=_("run to fine-tune: keeps its tokenizer and sizes, and starts from its best weights"),
    )  # fmt: skip
    add_setting(train, "grow_vocabulary", default_in_words("grow_vocabulary"))
    train.add_argument(
        "--config",
        metavar="FILE",
        help=_(
            "TOML file with any of these options by name (epochs = 20), such as the config.toml of a run folder; "
            "the command line takes precedence"
        ),
    )
    add_language_option(train)
    train.add_argument("-h", "--help", action=ShortHelp, nargs=0, help=_("show these options and exit"))
    train.add_argument("--help-all", action="help", help=_("show all options and settings and exit"))


def add_tokenizer_options(parser):
    """Adds the options for the encoding of the corpus and for existing tokenizers."""
    train = parser.add_argument_group(_("text and tokenizers"))
    add_encoding_option(train)
    train.add_argument(
        "--tokenizer-file", metavar="FILE",
        help=_("tokenizer to use instead of training one: a SentencePiece .model or a .subwords vocabulary"),
    )  # fmt: skip
    train.add_argument("--target-tokenizer-file", metavar="FILE", help=_("tokenizer to use for the answers only"))


def add_device_options(parser):
    """Adds the options for the devices of this machine."""
    train = parser.add_argument_group(_("devices"))
    train.add_argument(
        "--devices",
        type=int,
        metavar="N",
        help=_(
            "number of devices of this machine to train on, with KERAS_BACKEND=jax (default: all GPUs, or one device)"
        ),
    )
    train.add_argument(
        "--model-devices", type=int, default=1, metavar="N",
        help=_("number of devices that each copy of the model is sharded over (default: 1)"),
    )  # fmt: skip


def add_cluster_options(train):
    """Adds the options of multi-process training."""
    cluster = train.add_argument_group(
        _("several machines"),
        _("Run the same command on each machine with KERAS_BACKEND=jax. All share the run folder; one writes to it."),
    )
    cluster.add_argument(
        "--coordinator", metavar="HOST:PORT",
        help=_("address of the first process; auto reads all three options from SLURM or Open MPI"),
    )  # fmt: skip
    cluster.add_argument("--processes", type=int, metavar="N", help=_("number of processes"))
    cluster.add_argument("--process", type=int, metavar="I", help=_("index of this process, from 0"))


def add_ray_options(train):
    """Adds the options of training on a Ray cluster."""
    ray = train.add_argument_group(
        _("a Ray cluster"),
        _(
            "Train on the cluster at RAY_ADDRESS, or on this machine, with KERAS_BACKEND=jax (extra [ray]). All "
            "workers "
            "share the corpus and the run folder."
        ),
    )
    ray.add_argument("--ray-workers", type=int, metavar="N", help=_("number of workers; Ray restarts lost ones"))
    ray.add_argument(
        "--ray-retries",
        type=int,
        metavar="N",
        help=_("maximum number of restarts (default: {default})", default=DEFAULT_RETRIES),
    )
    ray.add_argument(
        "--ray-gpus", type=int, metavar="N", help=_("GPUs per worker (default: 1 if the cluster has any, else 0)")
    )


def ray_settings(options):
    """Returns the keyword arguments for training on a Ray cluster; empty without `--ray-workers`.

    Raises:
        InputError: If the options conflict with each other or with other distribution options.
    """
    if options.ray_workers is None:
        if options.ray_retries is not None or options.ray_gpus is not None:
            raise InputError(_("--ray-retries and --ray-gpus need --ray-workers"))
        return {}
    others = options.devices, options.coordinator, options.processes, options.process, options.model_devices
    if others != (None, None, None, None, 1):
        raise InputError(
            _(
                "--ray-workers: Ray places the workers. Leave out --devices, --model-devices, --coordinator, "
                "--processes "
                "and --process."
            )
        )
    retries = DEFAULT_RETRIES if options.ray_retries is None else options.ray_retries
    return {"workers": options.ray_workers, "retries": retries, "gpus": options.ray_gpus}


def add_source_options(parser):
    """Adds the options that say how to read a corpus."""
    add_column_options(parser)
    add_encoding_option(parser)


def add_column_options(parser):
    """Adds the options for the columns of a corpus."""
    parser.add_argument("--question", metavar="NAME", help=_("column of the questions, if not detected automatically"))
    parser.add_argument("--answer", metavar="NAME", help=_("column of the answers, if not detected automatically"))


def add_encoding_option(parser):
    """Adds the option for the encoding of a corpus."""
    parser.add_argument("--encoding", help=_("encoding of the corpus (default: UTF-8, or CP949 if it is that)"))


def default_in_words(name):
    """Returns the default of a setting of `train`; what is chosen for the corpus, with the value of `small`."""
    value = getattr(Config(), name)
    value = (_("yes") if value else _("no")) if isinstance(value, bool) else value
    return _("by corpus; small: {value}", value=value) if name in BY_CORPUS else str(value)


def add_setting(settings, name, default):
    """Adds the option for a field of `Config`; the field's metadata holds the help text."""
    field = FIELDS[name]
    option, about = f"--{name.replace('_', '-')}", field.metadata["about"]
    about = _(about).replace("%", "%%").removesuffix(".")
    about = _("{about} (default: {default})", about=about, default=default)
    if field.type is bool:
        settings.add_argument(option, action=argparse.BooleanOptionalAction, help=about)
        return
    # `Config` checks the choices, so that the error is the same for the command line and for a file.
    choices = field.metadata["choices"]
    settings.add_argument(option, type=field.type, metavar="|".join(choices) if choices else "N", help=about)


def complete(options):
    """Fills in the options that were not given from the `--config` file.

    Raises:
        InputError: If the file is invalid, or the corpus or the run folder is missing.
    """
    if options.config is not None:
        settings, rest = read_config_file(options.config)
        for key, value in {**settings, **rest}.items():
            name = "from_run" if key == "from" else key
            if getattr(options, name) in (None, []):
                setattr(options, name, value)
    missing = [name for name, value in (("CORPUS", options.corpus), ("--run", options.run)) if not value]
    if missing == ["--run"]:
        run = pathlib.Path("runs", pathlib.Path(options.corpus[0]).stem)
        raise InputError(_("name the folder of the run, such as --run {run}", run=run))
    if missing:
        raise InputError(_("the following arguments are required: {names}", names=", ".join(missing)))


def given_settings(options):
    """Returns the `Config` settings that the completed options give, as a dictionary."""
    return {name: getattr(options, name) for name in FIELDS if getattr(options, name) is not None}
