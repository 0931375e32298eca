"""The result of one check of the doctor."""

import dataclasses
from typing import Any

from keras_transformer.language import translatable
from keras_transformer.language import translate as _

OK, WARNING, FAILED, SKIPPED = "ok", "warning", "failed", "skipped"
STATUSES = {
    OK: translatable("ok"),
    WARNING: translatable("warning"),
    FAILED: translatable("failed"),
    SKIPPED: translatable("skipped"),
}
"""The statuses of a finding with their names in tables. Only `FAILED` makes the command fail."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        check: What was checked, a sentence that is true if all is well.
        status: One of `STATUSES`.
        measured: The measured value, as text.
        advice: What to do, if the check did not pass.
    """

    check: str
    status: str
    measured: str
    advice: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Returns the finding as a JSON-serializable dictionary."""
        return dataclasses.asdict(self)


def passed_if(passed, check, measured, advice):
    """Returns a `Finding` that is `OK` if `passed` is true and `FAILED` with advice otherwise."""
    return Finding(check, OK, measured) if passed else Finding(check, FAILED, measured, advice)


def guarded(check, function, *arguments):
    """Returns the `Finding` of a function; one that is `FAILED` with the error if the function raises.

    A defect may raise any error, which must not hide the other findings.
    """
    try:
        return function(*arguments)
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        return Finding(check, FAILED, reason, _("Report this with the output of `keras-transformer doctor`."))
