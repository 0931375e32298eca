"""How is the time of a training step distributed over the operations?

    python -m benchmarks.profile [--precision float32 bfloat16] [--corpus FILE]

Steps of `train` at the sizes of the preset "tutorial" are recorded by TensorFlow's profiler. Times are summed over the
executor threads, of which there is one per core. An operation that several cores share counts on the thread that waits
for it. Reading the next batch and idle time are excluded.
"""

import collections
import os
import pathlib
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from benchmarks.command import at_least, make_parser, provenance, say, start
from benchmarks.corpus import SMALL_TALK
from benchmarks.results import publish, table
from keras_transformer import Run, load_pairs, preset
from keras_transformer.data.corpus import Corpus
from keras_transformer.training import plan, trainer
from keras_transformer.training.tokenizers import make_tokenizers

NAME = "profile"
WARM_UP = 5
KINDS = {
    "matrix products": {"MatMul", "FusedMatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"},
    "update of all weights, one program": {"StatefulPartitionedCall"},
    "other compiled programs": {"PartitionedCall"},
    "casts between precisions": {"Cast"},
    "transposes": {"Transpose"},
    "biases and their gradients": {"BiasAdd", "BiasAddGrad"},
    "softmax and masks": {"Softmax", "SelectV2"},
    "random numbers": {"StatelessRandomUniformV2"},
}
OTHERS = "other operations"


def kind_of(operation):
    """Returns the table row of an operation from its type, such as "_MklMatMul"."""
    name = operation.removeprefix("_Mkl").removeprefix("_Fused")
    return next((kind for kind, names in KINDS.items() if name in names), OTHERS)


def operations(space):
    """Yields (type, milliseconds) of each call of a TensorFlow operation on the threads of this machine."""
    for plane in space.planes:
        for line in plane.lines:
            for event in line.events:
                name = plane.event_metadata[event.metadata_id].name
                if name == "ExecutorState::ProcessAsync::Start":  # A compiled program, or reading the next batch.
                    name = f":{kernel_type(plane, event)}"
                path, colon, operation = name.rpartition(":")
                if colon and not path.endswith(":") and operation[:1] != " ":
                    yield operation, event.duration_ps / 1e9


def kernel_type(plane, event):
    """Returns the type of the operation of a profiler event."""
    for stat in event.stats:
        if plane.stat_metadata[stat.metadata_id].name == "kernel_type":
            return stat.str_value or plane.stat_metadata[stat.ref_value].name
    return ""


def shares(calls, steps):
    """Returns milliseconds per step by kind, in descending order, from (type, milliseconds) of each call."""
    total = collections.Counter()
    for operation, milliseconds in calls:
        if operation != "IteratorGetNext":
            total[kind_of(operation)] += milliseconds / steps
    return dict(total.most_common())


def record(config, precision, pairs, steps):
    """Profiles some steps of a new training after a few warm-up steps, which trace and compile."""
    import tensorflow as tf

    corpus = Corpus(pairs)
    survey = corpus.survey()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        tokenizers = make_tokenizers(survey.sample, config)
        run = Run.create(folder / "run", config, tokenizers[0], plan.about_corpus({}, survey))
        [rows] = plan.packed_rows(corpus, tokenizers, config, ["train"])
        model = trainer.compiled_model(run, rows.encoded.tokens / len(rows), len(rows), precision)
        batches = iter(rows.from_step(0))
        model.make_train_function()
        train_step = model.train_function
        for _ in range(WARM_UP):
            train_step(batches)
        with tf.profiler.experimental.Profile(str(folder / "profile")):
            for _ in range(steps):
                train_step(batches)["loss"].numpy()
        return read_profile(folder / "profile")


def read_profile(folder):
    """Returns the only recording in a folder."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    (path,) = folder.rglob("*.xplane.pb")
    return xplane_pb2.XSpace.FromString(path.read_bytes())


def kind_table(precisions):
    """Returns the table of milliseconds and shares from the result of `shares` for each precision."""
    header = ["part of a step", *(f"{name}, ms (%)" for name in precisions)]
    kinds = dict.fromkeys(kind for times in precisions.values() for kind in times)
    rows = [[kind, *(cell(times, kind) for times in precisions.values())] for kind in kinds]
    return table(header, [*rows, ["all", *(f"{sum(times.values()):,.1f}" for times in precisions.values())]])


def cell(times, kind):
    """Returns the table cell with a time and its share."""
    return f"{times.get(kind, 0):,.1f} ({100 * times.get(kind, 0) / sum(times.values()):.0f})"


def parser():
    """Returns the command-line parser."""
    grammar = make_parser(__doc__, NAME)
    names = ("float32", "bfloat16")
    grammar.add_argument("--precision", nargs="+", choices=names, default=names, help="default: both")
    grammar.add_argument("--corpus", type=pathlib.Path, default=SMALL_TALK, metavar="FILE", help="corpus to train on")
    grammar.add_argument(
        "--steps", type=at_least(1), default=20, metavar="N", help="number of recorded steps (default: 20)"
    )
    return grammar


def main(arguments=None):
    options = parser().parse_args(arguments)
    pairs, times = load_pairs(options.corpus), {}
    for precision in options.precision:
        say(f"{precision} …")
        space = record(preset("tutorial"), precision, pairs, options.steps)
        times[precision] = shares(operations(space), options.steps)
    how = f"Thread-milliseconds of a training step, mean of {options.steps} steps of one process, and percent of all."
    publish(options.results, NAME, "Where a step's time goes", [provenance(NAME, arguments), how, kind_table(times)])


if __name__ == "__main__":
    start(main)
