"""The studio's folder: its runs, its corpora, and the files that visitors download.

    NAME/                 a run
    corpora/NAME.csv      what visitors typed or uploaded, and the settings to train with (NAME.toml)
    .studio/              uploads under way and files ready for download, which are removed after a day

A visitor chooses runs and corpora by name. No other path that a visitor sends is opened.
"""

import csv
import os
import pathlib
import re
import shutil
import tempfile
import time

from keras_transformer.config_file import read_config_file
from keras_transformer.data import readers
from keras_transformer.data.catalog import corpora
from keras_transformer.data.text_files import GZIP
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.runs.atomic_io import write_atomically
from keras_transformer.runs.run import WEIGHTS, Run

CORPORA, SCRATCH = "corpora", ".studio"
NAME = re.compile(r"\w[\w.-]{0,59}")
ENDINGS = tuple(ending for ending in readers.ENDINGS if not ending.endswith(GZIP))
DAY = 24 * 60 * 60  # Seconds.
PAIRS, LONGEST = 5000, 2000  # Maximum number of typed pairs, and of characters of a text.


class Workspace:
    """The folder, which is created if it is missing.

    Args:
        path: The folder.

    Raises:
        InputError: If it cannot be created.
    """

    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        self.scratch = self.path / SCRATCH
        for folder in (self.path / CORPORA, self.scratch):
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(
                    _("{path}: cannot be written: {reason}", path=folder, reason=error.strerror)
                ) from error

    def runs(self):
        """Returns the names of the runs, the latest first."""
        found = [one for one in self.path.iterdir() if NAME.fullmatch(one.name) and Run.exists(one)]
        return [one.name for one in sorted(found, key=lambda one: one.stat().st_mtime, reverse=True)]

    def trained(self):
        """Returns the names of the runs that can answer, the latest first."""
        return [name for name in self.runs() if (self.path / name / WEIGHTS).is_file()]

    def run(self, name):
        """Returns the folder of a run; raises `InputError` if there is none of this name."""
        if name not in self.runs():
            raise InputError(_("Choose a run first."))
        return self.path / name

    def new_run(self, name):
        """Returns the folder for a new run; raises `InputError` if the name is invalid or taken."""
        name = (name or "").strip()
        if not NAME.fullmatch(name) or name == CORPORA:
            raise InputError(_("{name!r}: name the bot with letters, digits, '.', '_', '-'", name=name))
        path = self.path / name
        if path.exists():
            raise InputError(_("there is already a bot named {name}: choose another name", name=name))
        return path

    def free_name(self):
        """Returns a name for the next run."""
        return next(name for number in range(1, 10**6) if not (self.path / (name := f"bot-{number}")).exists())

    def corpora(self):
        """Returns the names of the corpora in the folder, the latest first, and then those of the catalog."""
        found = [one for one in (self.path / CORPORA).iterdir() if one.suffix in ENDINGS]
        own = [one.name for one in sorted(found, key=lambda one: one.stat().st_mtime, reverse=True)]
        return own + [corpus.name for corpus in corpora()]

    def corpus(self, name):
        """Returns the corpus of a name as the commands take it; raises `InputError` if there is none."""
        if name not in self.corpora():
            raise InputError(_("Choose a corpus first."))
        path = self.path / CORPORA / name
        return str(path) if path.is_file() else name

    def save_pairs(self, name, rows):
        """Saves typed pairs as a corpus; returns its name.

        Args:
            name: The name of the bot that they are for.
            rows: Lists of a question and an answer. Blank ones are left out.

        Raises:
            InputError: If there are no pairs, a pair lacks a text, or there are too many or too long ones.
        """
        pairs = []
        for number, row in enumerate(rows, 1):
            question, answer = (str(text or "").strip() for text in row)
            if bool(question) != bool(answer):
                raise InputError(
                    _("row {number}: a question and an answer belong together. Write both.", number=number)
                )
            if len(question) > LONGEST or len(answer) > LONGEST:
                raise InputError(_("row {number}: a text has at most {most:,} characters", number=number, most=LONGEST))
            if question:
                pairs.append((question, answer))
        if not pairs:
            raise InputError(_("there is no pair yet. Type a question and its answer."))
        if len(pairs) > PAIRS:
            raise InputError(_("at most {most:,} pairs can be typed: upload a file", most=PAIRS))
        path = self._free_path(f"{self.new_run(name).name}.csv")
        with open(path, "x", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("question", "answer"), *pairs])
        return path.name

    def keep_upload(self, path):
        """Copies an uploaded file to the corpora; returns its name there."""
        path = pathlib.Path(path)
        if path.suffix.lower() not in ENDINGS:
            raise InputError(
                _("{path}: name a file that ends in {endings}", path=path.name, endings=", ".join(ENDINGS))
            )
        stem = re.sub(r"[^\w.-]+", "_", path.stem).strip("._-")[:50] or "corpus"
        target = self._free_path(f"{stem}{path.suffix.lower()}")
        shutil.copyfile(path, target)
        return target.name

    def discard(self, name):
        """Removes a corpus that was saved to be checked."""
        (self.path / CORPORA / pathlib.Path(name).name).unlink(missing_ok=True)

    def save_settings(self, name, text):
        """Saves the settings of a training, in TOML; returns the path.

        Raises:
            InputError: If an entry is invalid or no setting: files and folders are chosen elsewhere on the page.
        """
        path = self.path / CORPORA / f"{name}.toml"
        write_atomically(path, text.encode("utf-8"))
        try:
            _settings, rest = read_config_file(path)
            if rest:
                raise InputError(_("the recipe may not contain {keys}", keys=", ".join(rest)))
        except InputError as error:
            path.unlink()
            raise InputError(str(error).replace(str(path), _("recipe"))) from error
        return path

    def scratch_folder(self):
        """Returns a new folder for files, and removes those of more than a day ago."""
        for old in self.scratch.iterdir():
            if time.time() - old.stat().st_mtime > DAY:
                shutil.rmtree(old, ignore_errors=True)
        return pathlib.Path(tempfile.mkdtemp(dir=self.scratch))

    def _free_path(self, name):
        """Returns a path in the corpora that is not taken: with a number, if it must be."""
        path = self.path / CORPORA / name
        stem, ending = os.path.splitext(name)
        number = 1
        while path.exists():
            number += 1
            path = self.path / CORPORA / f"{stem}-{number}{ending}"
        return path
