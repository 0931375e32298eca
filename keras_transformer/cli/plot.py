"""The `plot` command: plots training curves, learning rates, positional encodings, and models."""

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import add_command, echo
from keras_transformer.config import SHARED
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.presets import PRESETS, preset
from keras_transformer.visualize.picture import ENDINGS, check, save

WARM_UPS = 10  # Length of a plotted schedule in warm-ups, if the length of the training is unknown.


def add_plot(commands):
    """Adds the `plot` command and its subcommands."""
    plot = add_command(
        commands, "plot", None, _("plot training curves, learning rates, the positional encoding, or a model"),
        "keras-transformer plot training runs/first --output training.png",
    )  # fmt: skip
    pictures = plot.add_subparsers(title=_("pictures"), metavar="WHAT")
    add_training(pictures)
    add_refusals(pictures)
    add_schedule(pictures)
    add_positions(pictures)
    add_model(pictures)


def add_training(pictures):
    """Adds the `plot training` command."""
    training = add_picture(
        pictures, "training", draw_training, _("plot loss, bits per character, accuracy and learning rate"),
        "keras-transformer plot training runs/first runs/second --output training.png",
    )  # fmt: skip
    training.add_argument("runs", metavar="RUN", nargs="+", help=_("run folders to plot together"))


def add_refusals(pictures):
    """Adds the `plot refusals` command."""
    refusals = add_picture(
        pictures, "refusals", draw_refusals, _("plot how many out-of-domain questions a calibrated run refuses"),
        "keras-transformer plot refusals runs/first --output refusals.png",
    )  # fmt: skip
    refusals.add_argument("run", metavar="RUN", help=_("folder of a calibrated run"))


def add_schedule(pictures):
    """Adds the `plot schedule` command."""
    schedule = add_picture(
        pictures, "schedule", draw_schedule, _("plot the learning rate by step (section 5.3)"),
        "keras-transformer plot schedule --preset small base --output schedule.svg",
    )  # fmt: skip
    which = schedule.add_mutually_exclusive_group(required=True)
    which.add_argument("runs", metavar="RUN", nargs="*", default=[], help=_("run folders to plot together"))
    which.add_argument("--preset", choices=PRESETS, nargs="+", default=[], help=_("presets to plot together"))
    schedule.add_argument(
        "--steps",
        type=int,
        metavar="N",
        help=_(
            "updates to plot (default: the length of the training, or {times} times the longest warm-up)",
            times=WARM_UPS,
        ),
    )


def add_positions(pictures):
    """Adds the `plot positions` command."""
    positions = add_picture(
        pictures, "positions", draw_positions, _("plot the positional encoding as a heat map (section 3.5)"),
        "keras-transformer plot positions --d-model 512 --output positions.pdf",
    )  # fmt: skip
    positions.add_argument(
        "--position", type=int, default=50, metavar="N", help=_("number of positions (default: %(default)s)")
    )
    positions.add_argument(
        "--d-model", type=int, default=128, metavar="N", help=_("number of dimensions (default: %(default)s)")
    )


def add_model(pictures):
    """Adds the `plot model` command."""
    model = add_picture(
        pictures, "model", draw_model, _("plot a model as the paper's Figure 1, with shapes and parameters"),
        "keras-transformer plot model --preset base --output model.svg",
    )  # fmt: skip
    which = model.add_mutually_exclusive_group(required=True)
    which.add_argument("run", metavar="RUN", nargs="?", help=_("folder of the run"))
    which.add_argument("--preset", choices=PRESETS, help=_("preset to plot, with its full vocab_size"))


def add_picture(pictures, name, draw, what, example):
    """Adds a subcommand that saves the figure that `draw` returns for the options."""
    picture = add_command(pictures, name, run_plot, what, example)
    picture.set_defaults(draw=draw)
    picture.add_argument(
        "--output", metavar="FILE", required=True, help=_("file to write ({endings})", endings=", ".join(ENDINGS))
    )
    return picture


def run_plot(options):
    """Saves the figure and prints its path."""
    check(options.output)
    save(options.draw(options), options.output)
    echo(options.output)
    return 0


def draw_training(options):
    """Returns the training curves of runs."""
    from keras_transformer.visualize.training import plot_training

    return plot_training(*options.runs)


def draw_refusals(options):
    """Returns the refusal curves of a run."""
    import_tensorflow_quietly()
    from keras_transformer.visualize.confidence import plot_refusals

    return plot_refusals(options.run)


def draw_schedule(options):
    """Returns the learning rate curves of runs or presets."""
    import_tensorflow_quietly()
    from keras_transformer.runs.run import Run
    from keras_transformer.visualize.schedule import plot_schedule
    from keras_transformer.visualize.training import names_of

    runs = [Run(path) for path in options.runs]
    entries = [(name, preset(name), None) for name in options.preset]
    entries += [(name, run.config, updates_of(run)) for run, name in zip(runs, names_of(runs))]
    schedules = {name: schedule_of(name, config, updates or options.steps) for name, config, updates in entries}
    longest = max(updates or WARM_UPS * config.warmup_steps for _, config, updates in entries)
    return plot_schedule(schedules, longest if options.steps is None else options.steps)


def updates_of(run):
    """Returns the number of updates of a run's whole training; None if its metrics do not record it."""
    rows = run.metrics()
    if not rows or "step" not in rows[-1]:
        return None
    return int(run.config.epochs * rows[-1]["step"] / rows[-1]["epoch"]) // run.config.accumulate


def schedule_of(name, config, updates):
    """Returns the schedule of a `Config`; raises `InputError` if it needs the number of updates and it is unknown."""
    from keras_transformer.training.schedule import schedule_of_updates

    if config.schedule == "cosine" and not updates:
        raise InputError(
            _("{name}: the length of its cosine schedule is unknown: add --steps N, the number of updates", name=name)
        )
    return schedule_of_updates(config, updates)


def draw_positions(options):
    """Returns the heat map of the positional encoding."""
    import_tensorflow_quietly()
    from keras_transformer.visualize.position import plot_position_encoding

    return plot_position_encoding(options.position, options.d_model)


def draw_model(options):
    """Returns the diagram of the model of a run or a preset."""
    import_tensorflow_quietly()
    from keras_transformer.runs.run import Run, build_model
    from keras_transformer.visualize.model import plot_model_shape

    if options.run:
        return plot_model_shape(Run(options.run).build_model())
    config = preset(options.preset)
    own = None if config.target_tokenizer == SHARED else config.vocab_size
    return plot_model_shape(build_model(config, config.vocab_size, own))
