"""Mutation testing: small errors are put into the heart of the package, and its tests have to notice.

    python tests/hard/mutants.py --sample 100

It needs the extra `mutants`: cosmic-ray, which is kept up by its authors since 2013, changes the code by its syntax
tree, and runs the tests in processes of their own, which TensorFlow needs. The mutants are made in a copy of the last
commit; which ones of all depends on the seed alone. All tests of the same name come first, then those of the folder
that are not slow, the fast ones before the others.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
PACKAGE = ROOT / "keras_transformer"
MODULES = [
    *PACKAGE.glob("layers/*.py"), *PACKAGE.glob("models/*.py"), *PACKAGE.glob("decoding/*.py"),
    PACKAGE / "training/checkpoint.py", PACKAGE / "training/schedule.py",
]  # fmt: skip
TESTS = {
    "decoding/options.py": ["tests/cli/test_generation_options.py", "tests/decoding"],
    "training/checkpoint.py": ["tests/training/test_checkpoint.py", "tests/training/test_resuming.py"],
    "training/schedule.py": ["tests/training/test_schedule.py"],
}
"""Of modules whose folder has tests of too many others, or whose tests are elsewhere."""
CONFIG = """\
[cosmic-ray]
module-path = {module}
timeout = 900.0
excluded-modules = []
test-command = {command}
[cosmic-ray.distributor]
name = "local"
"""
LIST = """
SELECT job_id FROM mutation_specs WHERE operator_name NOT LIKE '%Operator_BitOr_%'
ORDER BY start_pos_row, start_pos_col, operator_name, occurrence
"""
"""The mutants, but for those of `str | None` in an annotation, which is no operation."""


def main():
    """Makes the mutants, tests them, and prints how many were noticed, and which were not."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--sample", type=int, default=100, metavar="N", help="number of mutants")
    options.add_argument("--seed", type=int, default=0, help="which of all mutants")
    options.add_argument("modules", nargs="*", metavar="MODULE", help="such as layers/masks.py (default: all)")
    options = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "copy"
        subprocess.run(["git", "clone", "--quiet", ROOT, copy], check=True)
        modules = [PACKAGE / name for name in options.modules] or sorted(MODULES)
        sessions = {module: session(copy, module.relative_to(ROOT)) for module in modules}
        mutants = [(module, mutant) for module, (_, jobs) in sessions.items() for mutant in jobs]
        chosen = random.Random(options.seed).sample(mutants, min(options.sample, len(mutants)))
        print(f"{len(chosen)} of {len(mutants)} mutants", flush=True)
        killed = 0
        for module, (config, _) in sessions.items():
            jobs = [job for other, job in chosen if other == module]
            found = outcomes(copy, config, jobs) if jobs else []
            noticed = sum(outcome == "killed" for outcome, _ in found)
            killed += noticed
            print(f"{module.relative_to(ROOT)}: {noticed} of {len(jobs)} noticed", flush=True)
            for outcome, diff in found:
                if outcome != "killed":
                    print(f"{outcome}:\n{diff}", flush=True)
    print(f"{killed} of {len(chosen)} noticed: {killed / len(chosen):.1%}")


def session(copy, module):
    """Has the mutants of a module listed. Returns the configuration of cosmic-ray, and the ids of the mutants."""
    config = copy.parent / f"{'-'.join(module.with_suffix('').parts)}.toml"
    config.write_text(CONFIG.format(module=json.dumps(str(module)), command=json.dumps(command_of(copy, module))))
    cosmic_ray(copy, "init", config, config.with_suffix(".sqlite"))
    with contextlib.closing(sqlite3.connect(config.with_suffix(".sqlite"))) as database:
        rows = database.execute(LIST).fetchall()
    return config, [job for (job,) in rows]


def command_of(copy, module):
    """The command that tests a module."""
    name = "/".join(module.parts[1:])
    folder = f"tests/{module.parts[1]}"
    own = f"{folder}/test_{module.name}"
    tests = TESTS.get(name, [*([own] if (copy / own).exists() else []), folder])
    run, fast, rest = f"{sys.executable} -m pytest -q -x", "-m 'not slow and not heavy' ", "-m 'not slow' "
    words = [f"{run} {mark}{one}" for one in tests for mark in ([""] if one.endswith(".py") else [fast, rest])]
    return f"sh -c {json.dumps(' && '.join(words))}"


def outcomes(copy, config, jobs):
    """Tests some mutants. Returns a list of pairs of the outcome, "killed" or "survived", and the difference."""
    database = config.with_suffix(".sqlite")
    marks = ", ".join("?" * len(jobs))
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        for table in ("mutation_specs", "work_items"):
            connection.execute(f"DELETE FROM {table} WHERE job_id NOT IN ({marks})", jobs)
    cosmic_ray(copy, "exec", config, database)
    with contextlib.closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("SELECT test_outcome, diff FROM work_results").fetchall()
    return [(str(outcome).lower(), diff) for outcome, diff in rows]


def cosmic_ray(copy, *words):
    """Runs cosmic-ray in the copy."""
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(["cosmic-ray", *map(str, words)], cwd=copy, env=environment, check=True)


if __name__ == "__main__":
    main()
