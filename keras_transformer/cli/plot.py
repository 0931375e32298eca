"""The command `plot`: pictures of how runs learned, of learning rates, of positions, and of models."""

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import add_command
from keras_transformer.config import SHARED
from keras_transformer.errors import InputError
from keras_transformer.presets import PRESETS, preset
from keras_transformer.visualize.picture import ENDINGS, check, save

WARM_UPS = 10  # That are drawn of a schedule, where nothing says how long a training lasts.


def add_plot(commands):
    """The grammar of `plot`, which has commands of its own."""
    plot = add_command(
        commands, "plot", None, "draw how runs learned, learning rates, the positional encoding, or a model",
        "keras-transformer plot training runs/first --output training.png",
    )  # fmt: skip
    pictures = plot.add_subparsers(title="pictures", metavar="WHAT", required=True)
    add_training(pictures)
    add_refusals(pictures)
    add_schedule(pictures)
    add_positions(pictures)
    add_model(pictures)


def add_training(pictures):
    """The grammar of `plot training`."""
    training = add_picture(
        pictures, "training", draw_training, "draw loss, bits per character, accuracy and learning rate of runs",
        "keras-transformer plot training runs/first runs/second --output training.png",
    )  # fmt: skip
    training.add_argument("runs", metavar="RUN", nargs="+", help="folder of a run; several are compared")


def add_refusals(pictures):
    """The grammar of `plot refusals`."""
    refusals = add_picture(
        pictures, "refusals", draw_refusals, "draw what a calibrated run refuses of questions that it cannot answer",
        "keras-transformer plot refusals runs/first --output refusals.png",
    )  # fmt: skip
    refusals.add_argument("run", metavar="RUN", help="folder of a run that `calibrate` has asked")


def add_schedule(pictures):
    """The grammar of `plot schedule`."""
    schedule = add_picture(
        pictures, "schedule", draw_schedule, "draw the learning rate against the step (section 5.3)",
        "keras-transformer plot schedule --preset small base --output schedule.svg",
    )  # fmt: skip
    which = schedule.add_mutually_exclusive_group(required=True)
    which.add_argument("runs", metavar="RUN", nargs="*", default=[], help="folder of a run; several are compared")
    which.add_argument("--preset", choices=PRESETS, nargs="+", default=[], help="settings with that name, likewise")
    schedule.add_argument(
        "--steps", type=int, metavar="N",
        help=f"updates to draw (default: those of the runs' trainings, or {WARM_UPS} times the longest warm-up)",
    )  # fmt: skip


def add_positions(pictures):
    """The grammar of `plot positions`."""
    positions = add_picture(
        pictures, "positions", draw_positions, "draw the positional encoding as a heat map (section 3.5)",
        "keras-transformer plot positions --d-model 512 --output positions.pdf",
    )  # fmt: skip
    positions.add_argument("--position", type=int, default=50, metavar="N", help="rows (default: %(default)s)")
    positions.add_argument("--d-model", type=int, default=128, metavar="N", help="columns (default: %(default)s)")


def add_model(pictures):
    """The grammar of `plot model`."""
    model = add_picture(
        pictures, "model", draw_model, "draw a model as the paper's Figure 1, with its shapes and parameters",
        "keras-transformer plot model --preset base --output model.svg",
    )  # fmt: skip
    which = model.add_mutually_exclusive_group(required=True)
    which.add_argument("run", metavar="RUN", nargs="?", help="folder of the run")
    which.add_argument("--preset", choices=PRESETS, help="settings with that name, with all of their vocab_size")


def add_picture(pictures, name, draw, what, example):
    """A command that writes what `draw` makes of its options."""
    picture = add_command(pictures, name, run_plot, what, example)
    picture.set_defaults(draw=draw)
    picture.add_argument(
        "--output", metavar="FILE", required=True, help=f"the picture to write, a file in {', '.join(ENDINGS)}"
    )
    return picture


def run_plot(options):
    """Writes the picture, and prints its place."""
    check(options.output)
    import_tensorflow_quietly()
    save(options.draw(options), options.output)
    print(options.output)
    return 0


def draw_training(options):
    """How runs learned."""
    from keras_transformer.visualize.training import plot_training

    return plot_training(*options.runs)


def draw_refusals(options):
    """What a run refuses."""
    from keras_transformer.visualize.confidence import plot_refusals

    return plot_refusals(options.run)


def draw_schedule(options):
    """The learning rates of runs or presets."""
    from keras_transformer.runs.run import Run
    from keras_transformer.visualize.schedule import plot_schedule
    from keras_transformer.visualize.training import names_of

    runs = [Run(path) for path in options.runs]
    asked = [(name, preset(name), None) for name in options.preset]
    asked += [(name, run.config, updates_of(run)) for run, name in zip(runs, names_of(runs))]
    schedules = {name: schedule_of(name, config, updates or options.steps) for name, config, updates in asked}
    longest = max(updates or WARM_UPS * config.warmup_steps for _, config, updates in asked)
    return plot_schedule(schedules, longest if options.steps is None else options.steps)


def updates_of(run):
    """The updates of a run's whole training; None if its metrics do not tell."""
    rows = run.metrics()
    if not rows or "step" not in rows[-1]:
        return None
    return int(run.config.epochs * rows[-1]["step"] / rows[-1]["epoch"]) // run.config.accumulate


def schedule_of(name, config, updates):
    """The learning rate of a `Config`; raises `InputError` if it depends on updates that nobody knows."""
    from keras_transformer.training.schedule import schedule_of_updates

    if config.schedule == "cosine" and not updates:
        raise InputError(f"{name}: its cosine ends with the training, of unknown length: add --steps N, its updates")
    return schedule_of_updates(config, updates)


def draw_positions(options):
    """The positional encoding."""
    from keras_transformer.visualize.position import plot_position_encoding

    return plot_position_encoding(options.position, options.d_model)


def draw_model(options):
    """The model of a run or a preset."""
    from keras_transformer.runs.run import Run, build_model
    from keras_transformer.visualize.model import plot_model_shape

    if options.run:
        return plot_model_shape(Run(options.run).build_model())
    config = preset(options.preset)
    own = None if config.target_tokenizer == SHARED else config.vocab_size
    return plot_model_shape(build_model(config, config.vocab_size, own))
