"""Does training with default options work on many kinds of corpora?

    python -m benchmarks.recipe [--only NAME …] [--seeds 0 1 2] [--corpus-dir FOLDER] [--runs FOLDER] [--report FILE]

Every corpus is trained with every seed by `keras-transformer train CORPUS --run RUN --seed SEED`, with all other
options at their defaults. FAQs and chat are tested on their own questions, unchanged and reworded; the score is the
share of answers that equal the corpus. The other corpora are tested by exact match on their test split. With
--corpus-dir, French and Hungarian pronunciation (`fre_train.tsv`, … of the SIGMORPHON 2020 shared task 1) and
`ChatbotData.csv` are included; the files may be in subfolders. A second start with the same --runs does not repeat
completed trainings.
"""

import argparse
import pathlib
import statistics

from benchmarks.command import at_least, folder, provenance, say, start
from benchmarks.recipe.corpora import CORPORA, IN_ORDINARY_WORDS, IN_OTHER_WORDS, downloaded
from benchmarks.recipe.measuring import EXACT, GENERATED, measure
from benchmarks.recipe.rewording import REWORDINGS
from benchmarks.results import table, write_atomically

NAME = "recipe"
REPORT = pathlib.Path(__file__).parents[1] / "RECIPE.md"
RUNS = pathlib.Path("runs") / NAME
NONE = "–"
SCORES = (EXACT, GENERATED, *REWORDINGS, IN_ORDINARY_WORDS, IN_OTHER_WORDS)
HEADER = ["corpus", "pairs", "measured by", *(f"{name}, %" for name in SCORES), "seconds", "best epoch of all",
          "diverged"]  # fmt: skip
LEGEND = """
Each cell has the median of all seeds and, in brackets, every seed in order. *Known questions*: the share of all
questions of the corpus that are answered as there, and of the same questions reworded. Questions that a rewording does
not change, or turns into another question of the corpus, are left out of its share. *By generate*: the same share of
generated answers, whatever way of answering training has chosen. *In ordinary words*: the questions of a FAQ
as customers type them who have not read it, briefly and often with the same noun, such as "downtown
parking price". *In other words*: the same, with as few words in common as possible. Both were written beside the
FAQ, and the right answer is its own. *Unseen questions*: exact match on the test split. Seconds are those of the whole
process, from its start to its end.
""".strip().replace("\n", " ")


def main(arguments=None):
    options = parse(arguments)
    sources = {**CORPORA, **(downloaded(options.corpus_dir) if options.corpus_dir else {})}
    unknown = [name for name in options.only or () if name not in sources]
    if unknown:
        options.error(f"--only: there is no corpus {unknown[0]!r}, but {', '.join(sources)}; or add --corpus-dir")
    records = {}
    for name in options.only or sources:
        records[name] = [measured(sources[name], name, seed, options.runs) for seed in options.seeds]
    text = document(sources, records, options.seeds, provenance(NAME, arguments))
    print(text)
    write_atomically(options.report, text)


def parse(arguments):
    """Parses the command line. Returns the options, and the parser's `error` function."""
    kind = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(f"python -m benchmarks.{NAME}", description=__doc__, formatter_class=kind)
    parser.add_argument("--only", nargs="+", metavar="NAME", help=f"corpora: {', '.join(CORPORA)}, … (default: all)")
    parser.add_argument("--seeds", type=at_least(0), nargs="+", default=[0, 1, 2], metavar="N", help="default: 0 1 2")
    parser.add_argument("--corpus-dir", type=folder, metavar="FOLDER", help="folder of the downloaded corpora")
    parser.add_argument(
        "--runs", type=pathlib.Path, default=RUNS, metavar="FOLDER",
        help="folder for corpora, runs and logs (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--report", type=pathlib.Path, default=REPORT, metavar="FILE", help="default: benchmarks/RECIPE.md"
    )
    options = parser.parse_args(arguments)
    options.seeds, options.error = list(dict.fromkeys(options.seeds)), parser.error
    return options


def measured(source, name, seed, runs):
    """Returns the `Record` of a corpus and a seed, and prints progress before and after."""
    say(f"{name}, seed {seed} …")
    record = measure(source, name, seed, runs.resolve())
    exact = f"failed: {record.failure}" if record.failure else f"{record.scores[EXACT]:.1%} exact"
    say(f"  {name}, seed {seed}: {exact}, {record.seconds:.0f} s")
    return record


def document(sources, records, seeds, made_by):
    """Returns the whole document in Markdown.

    Args:
        sources: Dictionary from names to `Source`s.
        records: Dictionary from names to the `Record`s of the seeds.
        seeds: The seeds.
        made_by: How, when and where the figures were measured.
    """
    command = "`keras-transformer train CORPUS --run RUN --seed SEED`"
    how = f"Every corpus was trained by {command}, with the seeds {', '.join(map(str, seeds))}."
    rows = [row(name, sources[name], found) for name, found in records.items()]
    about = "\n".join(f"- `{name}`: {sources[name].about}" for name in records)
    failures = [
        f"- `{name}`: {record.failure}" for name, found in records.items() for record in found if record.failure
    ]
    failed = ["Failed, and left out of the medians:", "\n".join(failures)] if failures else []
    title = "# Training without options"
    return "\n\n".join([title, made_by, how, table(HEADER, rows), LEGEND, *failed, "The corpora:", about]) + "\n"


def row(name, source, records):
    """Returns the row of a corpus. Failed runs have no scores."""
    good = [record for record in records if record.failure is None]
    scores = [
        with_median([100 * record.scores[score] for record in good if score in record.scores], "{:.1f}")
        for score in SCORES
    ]
    epochs = ", ".join(f"{record.best_epoch} of {record.epochs}" for record in good)
    diverged = f"{sum(record.diverged for record in records)} of {len(records)}"
    if len(good) < len(records):
        diverged += f"; {len(records) - len(good)} failed"
    seconds = with_median([record.seconds for record in good], "{:,.0f}")
    return [name, f"{len(source.pairs()):,}", source.kind, *scores, seconds, epochs or NONE, diverged]


def with_median(values, form):
    """Formats the median and all values, as "98.0 (97.0, 98.0, 99.0)"; a single value alone; a dash for no values."""
    if not values:
        return NONE
    middle, *each = map(form.format, [statistics.median(values), *values])
    return f"{middle} ({', '.join(each)})" if len(each) > 1 else middle


if __name__ == "__main__":
    start(main)
