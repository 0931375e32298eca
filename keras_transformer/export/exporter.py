"""The protocol of an export format: what the registry, the loader and the command line expect of its module."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from keras_transformer.export import EXACT

if TYPE_CHECKING:
    from pathlib import Path

    import keras

    from keras_transformer.chat.confidence import Fallback
    from keras_transformer.runs.run import Run

Answers = Callable[[Sequence[str]], list[tuple[str, float | None]]]
"""A function from questions to pairs of an answer and its score.

The score is the answer's log-probability in nats, summed over its tokens; None if the answer was retrieved. A blank
question gives ("", 0.0)."""


class Exporter(Protocol):
    """A format of exports, folders or single files. A module of this package is one; `MODULES` lists them."""

    QUANTIZATIONS: tuple[str, ...]
    """The types of weights that `write` supports, some of `export.QUANTIZATIONS`. All formats support `EXACT`."""

    OPTIONS: tuple[str, ...]
    """Names of the arguments of `write` after `fallback`, which only this format has."""

    IS_RUN_FOLDER: bool
    """Whether the folder is itself a run folder, which `Chatbot.load` opens.

    It keeps the run's answering mode and calibration and therefore stores no fallback."""

    EDITABLE: tuple[str, ...]
    """Names of files of the folder that its owner may change, so that they have no checksums."""

    FILE: str | None
    """Name of the single file that `write` creates, an HTML file that becomes the export itself; None for a folder."""

    def write(
        self, run: "Run", model: "keras.Model", folder: "Path", quantization: str = EXACT,
        fallback: "Fallback | None" = None, **options: Any,
    ) -> None:  # fmt: skip
        """Writes a run to a folder, which then does not need the run.

        The folder answers as the run does, by retrieval too, unless an option or a fallback says otherwise.

        Args:
            run: The `Run`.
            model: Its model, with the best weights.
            folder: An empty folder.
            quantization: One of `QUANTIZATIONS`.
            fallback: The `Fallback`, which replaces low-confidence answers, or None. Always None for a run folder.
            **options: `OPTIONS`, each an argument with a default.

        Raises:
            InputError: If an option is invalid, the format cannot hold the run, or a package is missing.
        """

    def load(self, folder: "Path", apply_fallback: bool = True) -> Answers:
        """Loads a folder that `write` wrote, without the run.

        Args:
            folder: The folder.
            apply_fallback: Whether the fallback of the folder replaces low-confidence answers. Without a fallback,
                both are the same.

        Raises:
            InputError: If a package is missing.
        """
