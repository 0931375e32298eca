"""The `doctor` command: checks the installation, a run or an export, and says what to do."""

import json
import pathlib

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import add_command, fill_columns, wrap
from keras_transformer.language import translate as _

COLUMNS = 100  # Width of a line of advice.


def add_doctor(commands):
    """Adds the `doctor` command."""
    doctor = add_command(
        commands, "doctor", run_doctor, _("check this installation, a run or an export, and say what to do"),
        "keras-transformer doctor runs/first",
    )  # fmt: skip
    doctor.add_argument(
        "path", metavar="PATH", nargs="?",
        help=_("folder of a run or an export (default: check the installation with a tiny training)"),
    )  # fmt: skip
    doctor.add_argument("--json", action="store_true", help=_("print JSON"))


def run_doctor(options):
    """Prints every finding as soon as there is one; returns 1 if a check failed."""
    import_tensorflow_quietly()
    from keras_transformer.doctor.doctor import examine
    from keras_transformer.doctor.finding import FAILED

    findings = []
    for finding in examine(pathlib.Path(options.path) if options.path else None):
        findings.append(finding)
        if not options.json:
            print(in_lines(finding), flush=True)
    if options.json:
        print(json.dumps([finding.to_dict() for finding in findings], ensure_ascii=False, indent=2))
    failed = sum(finding.status == FAILED for finding in findings)
    if not options.json:
        print(conclusion(failed, len(findings)))
    return int(failed > 0)


def in_lines(finding):
    """Returns a finding as a line, with its advice below."""
    from rich.cells import cell_len

    from keras_transformer.doctor.finding import STATUSES

    names = {status: _(name) for status, name in STATUSES.items()}
    width = max(map(cell_len, names.values())) + 2
    lines = [f"{fill_columns(names[finding.status], width)}{finding.check}: {finding.measured}"]
    return "\n".join([*lines, *(" " * width + line for line in wrap(finding.advice, COLUMNS) if finding.advice)])


def conclusion(failed, count):
    """Returns the last line."""
    if not failed:
        return _("All is well: {count} checks, none failed.", count=count)
    return _("{failed} of {count} checks failed.", failed=failed, count=count)
