"""How do the export formats compare in answers, size and speed?

    python -m benchmarks.exports RUN CORPUS [CORPUS …] [--questions N] [--formats saved_model …]

The questions are drawn evenly from the corpora, the same number from each. An answer counts as equal if its text is
identical to the run's own answer, in batches of 32. Times are from text to text, for batches of 1 and of 32 questions,
measured in turn with the run's `Chatbot`. Compilation at the first question is excluded.
"""

import pathlib
import tempfile
import time

from benchmarks.command import at_least, make_parser, provenance, say, start
from benchmarks.results import median_and_range, publish, table
from keras_transformer import Chatbot, InputError, load_pairs
from keras_transformer.export.registry import export, exporter_of

NAME = "exports"
VARIANTS = {
    "saved_model": ({}, {"tokenizer_ops": "tensorflow_text"}, {"xla": False}, {"quantization": "int8"}),
    "litert": ({}, {"quantization": "int8"}),
    "onnx": ({}, {"quantization": "int8"}),
    "ctranslate2": ({}, {"quantization": "bfloat16"}, {"quantization": "int8"}),
    "run": ({}, {"quantization": "int8"}),
}
"""The options with which each format is written. For HTML, see `html_bot`."""

BATCH = 32
ROUNDS = 5


def draw(corpora, count):
    """Returns a list of `count` questions, drawn evenly from the corpora."""
    each, drawn = -(-count // len(corpora)), []
    for path in corpora:
        questions = load_pairs(path)["question"].drop_duplicates()
        if len(questions) < each:
            raise InputError(f"{path}: has {len(questions)} different questions, not {each}")
        drawn += questions.sample(each, random_state=0).tolist()
    return drawn[:count]


def batches(questions, size):
    """Returns the questions in batches of the given size."""
    return [questions[first : first + size] for first in range(0, len(questions), size)]


def ask(answers, questions, size):
    """Returns the answers to all questions, asked in batches of the given size, as a list."""
    return [answer for batch in batches(questions, size) for answer in answers(batch)]


def milliseconds(answers, questions, size):
    """Returns the milliseconds per answer, asked in batches of the given size."""
    begin = time.perf_counter()
    ask(answers, questions, size)
    return 1e3 * (time.perf_counter() - begin) / len(questions)


def measure(answers, bot, questions):
    """Compares an export format with the run.

    Args:
        answers: The function returned by the `load` of the format.
        bot: The run's `Chatbot`.
        questions: The questions.

    Returns:
        The number of equal answers; and, for batches of 1 and of `BATCH`, the milliseconds per answer of the format and
        the ratios to the run's, with one value per round.
    """
    found = [answer for answer, _ in ask(answers, questions, BATCH)]
    equal = sum(a == b for a, b in zip(found, bot.replies(questions), strict=True))
    found = []
    for size, asked in ((1, questions[:BATCH]), (BATCH, questions[: 4 * BATCH])):
        for function in (answers, bot.replies):
            ask(function, asked, size)  # Warm-up: compiles.
        times = [[milliseconds(function, asked, size) for function in (answers, bot.replies)] for _ in range(ROUNDS)]
        found += [[ours for ours, _ in times], [ours / run for ours, run in times]]
    return equal, *found


def row_of(run, kind, options, bot, questions):
    """Exports the run to a format and returns the table row of the format."""
    with tempfile.TemporaryDirectory() as kept:
        folder = pathlib.Path(kept) / "exported"
        about = export(run, folder, kind, **options)
        size = sum(file["bytes"] for file in about["files"].values())
        equal, alone, ratio_alone, together, ratio_together = measure(exporter_of(kind).load(folder), bot, questions)
    name = ", ".join([kind, *(f"{option} {value}" for option, value in options.items())])
    say(f"  {equal} of {len(questions)} answers equal, {size / 1e6:.1f} MB")
    times = [median_and_range(alone, 1), median_and_range(ratio_alone, 2)]
    times += [median_and_range(together, 2), median_and_range(ratio_together, 2)]
    return [name, f"{equal:,} of {len(questions):,}", f"{size / 1e6:.1f}", *times]


def main(arguments=None):
    parser = make_parser(__doc__, NAME)
    parser.add_argument("run", metavar="RUN", help="folder of a trained run")
    parser.add_argument("corpora", type=pathlib.Path, nargs="+", metavar="CORPUS", help="files of questions")
    parser.add_argument("--questions", type=at_least(BATCH), default=1000, metavar="N", help="default: 1000")
    parser.add_argument("--formats", choices=VARIANTS, nargs="+", default=list(VARIANTS), help="default: all")
    options = parser.parse_args(arguments)
    bot, questions = Chatbot.load(options.run), draw(options.corpora, options.questions)
    rows = []
    for kind in options.formats:
        for chosen in VARIANTS[kind]:
            say(f"{kind} {chosen or ''} …")
            rows.append(row_of(options.run, kind, chosen, bot, questions))
    header = ["format", "equal answers", "MB", "batch 1, ms", "to the run", f"batch {BATCH}, ms", "to the run"]
    model = f"The run has {bot.model.count_params():,} parameters. Times are of one answer, text to text."
    publish(options.results, NAME, "Exports", [provenance(NAME, arguments), model, table(header, rows)])


if __name__ == "__main__":
    start(main)
