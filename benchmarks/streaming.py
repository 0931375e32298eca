"""How much memory does training take on a corpus that is larger than memory?

    python -m benchmarks.streaming [--pairs 5000000] [--shards 50] [--minutes 5]

A corpus of distinct pairs is generated in a folder of shards. The command line trains on it with the preset `small`,
and is stopped by Ctrl-C some minutes after the first step. Resident memory is recorded during each stage: reading,
learning the tokenizer, tokenizing, training.
"""

import json
import pathlib
import random
import signal
import subprocess
import tempfile
import time

from benchmarks import ours
from benchmarks.command import at_least, make_parser, provenance, say, start
from benchmarks.programs import Failed
from benchmarks.results import publish, table

NAME = "streaming"
SECONDS_BETWEEN_LOOKS = 1.0
LINES = 12  # Number of table rows.

SYLLABLES = "가나다라마바사아자차카타파하고노도로모보소오조초코토포호"


def write_corpus(folder, pairs, shards):
    """Writes pairs to JSONL files. A number in each pair makes it distinct."""
    draw = random.Random(0)
    for shard in range(shards):
        with open(folder / f"{shard:04d}.jsonl", "w", encoding="utf-8") as file:
            for number in range(pairs * shard // shards, pairs * (shard + 1) // shards):
                question, answer = (sentence(draw) for _ in range(2))
                record = {"question": f"{number} {question}", "answer": answer}
                file.write(json.dumps(record, ensure_ascii=False) + "\n")


def sentence(draw):
    """Returns a few random words of two syllables."""
    return " ".join("".join(draw.choices(SYLLABLES, k=2)) for _ in range(draw.randint(3, 8)))


def resident_mb(pid):
    """Returns the resident memory of a process in MB and its peak so far; zeros if it has ended."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text("ascii", "replace").splitlines()
    except OSError:
        return 0.0, 0.0
    fields = dict(line.split(":", 1) for line in lines)
    return tuple(int(fields.get(name, "0 kB").split()[0]) * 1024 / 1e6 for name in ("VmRSS", "VmHWM"))


def watch(corpus, run, minutes):
    """Trains a run and records its memory.

    Returns:
        Pairs of elapsed seconds and resident MB; the peak in MB; and the seconds until the first step.
    """
    command = [*map(str, ours.PROGRAM), "train", str(corpus), "--run", str(run), "--preset", "small"]
    looks, peak, first_step, begin = [], 0.0, None, time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors)
        try:
            while process.poll() is None:
                seconds, (now, most) = time.perf_counter() - begin, resident_mb(process.pid)
                looks.append((seconds, now))
                peak = max(peak, most)
                if first_step is None and (run / "config.json").exists():
                    first_step = seconds
                if first_step is not None and seconds > first_step + 60 * minutes:
                    process.send_signal(signal.SIGINT)
                    process.wait()
                time.sleep(SECONDS_BETWEEN_LOOKS)
        finally:
            process.kill()
            process.wait()
        if first_step is None:
            errors.seek(0)
            raise Failed(errors.read().decode("utf-8", "replace").strip().splitlines()[-1])
    return looks[:-1], peak, first_step


def report(pairs, size, looks, peak, first_step):
    """Returns the paragraphs of the results."""
    step = max(1, len(looks) // LINES)
    rows = [[f"{seconds:,.0f}", f"{megabytes:,.0f}"] for seconds, megabytes in looks[::step]]
    how = (
        f"{pairs:,} pairs in files of {size / 1e6:,.0f} MB together; training began after {first_step:,.0f} s. "
        f"Resident memory at most: {peak:,.0f} MB."
    )
    return [how, table(["seconds since the start", "resident MB"], rows)]


def main(arguments=None):
    parser = make_parser(__doc__, NAME)
    parser.add_argument("--pairs", type=at_least(200), default=5_000_000, metavar="N", help="default: 5,000,000")
    parser.add_argument("--shards", type=at_least(1), default=50, metavar="N", help="default: 50")
    parser.add_argument("--minutes", type=float, default=5, metavar="N", help="minutes of training (default: 5)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        corpus, run = pathlib.Path(folder) / "corpus", pathlib.Path(folder) / "run"
        corpus.mkdir()
        say("writing the corpus …")
        write_corpus(corpus, options.pairs, options.shards)
        size = sum(path.stat().st_size for path in corpus.iterdir())
        say("training …")
        found = watch(corpus, run, options.minutes)
    about = [provenance(NAME, arguments), *report(options.pairs, size, *found)]
    publish(options.results, NAME, "Memory on a large corpus", about)


if __name__ == "__main__":
    start(main)
