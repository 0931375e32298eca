"""Packs a trained run into a ZIP file to publish, and prints its row of the table of released runs.

    python -m release.pack_run runs/demo --url https://…/releases/download/v0.1.0        # make released-run URL=…

The run is exported to a run folder, whose answers are compared with its own, and packed into `dist/small_talk.zip`. The
same run gives the same bytes, as long as the installed packages are the same.
"""

import argparse
import hashlib
import pathlib
import sys
import tempfile
import zipfile

from keras_transformer.errors import InputError
from keras_transformer.export.manifest import write_about
from keras_transformer.export.registry import export

NAME = "small_talk"  # The corpus of the demonstration.
DIST = pathlib.Path("dist")
TIME = (1980, 1, 1, 0, 0, 0)  # Of every file in the ZIP file, the earliest that there is.


def pack(run_dir, archive):
    """Exports a run and packs the export into a ZIP file, which is replaced if it exists."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        exported = pathlib.Path(scratch, "run")
        about = export(run_dir, exported, "run", quantization="float32")
        del about["made"]  # The time, which would be another one in every file.
        write_about(exported, about)
        write_zip(exported, archive)


def write_zip(folder, archive):
    """Writes the files of a folder to a ZIP file, sorted and without their times.

    They are stored, not compressed: floats hardly become smaller, and every version of zlib writes other bytes.
    """
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as contents:
        for path in sorted(folder.iterdir()):
            entry = zipfile.ZipInfo(path.name, TIME)
            entry.create_system, entry.external_attr = 3, 0o100644 << 16  # An ordinary file, on every system.
            contents.writestr(entry, path.read_bytes())


def row_of(archive, url):
    """Returns the row of `keras_transformer/data/released_runs.tsv` for a ZIP file below a URL."""
    data = archive.read_bytes()
    return f"{archive.stem}\t{url.rstrip('/')}/{archive.name}\t{len(data)}\t{hashlib.sha256(data).hexdigest()}"


def main(arguments=None):
    """Packs the run of the command line."""
    parser = argparse.ArgumentParser(prog="release.pack_run", description=__doc__.splitlines()[0])
    parser.add_argument("run", metavar="RUN", help="folder of the run")
    parser.add_argument("--url", metavar="BASE", required=True, help="URL of the folder that the file is uploaded to")
    parser.add_argument("--name", default=NAME, help="name of the run for its users (default: %(default)s)")
    options = parser.parse_args(arguments)
    archive = DIST / f"{options.name}.zip"
    try:
        pack(options.run, archive)
    except InputError as error:
        parser.error(str(error))
    print(f"{archive}: {archive.stat().st_size / 1e6:.1f} MB", file=sys.stderr)
    print(row_of(archive, options.url))


if __name__ == "__main__":
    main()
