"""Checks of the machine: versions, devices, fonts, write access and disk space."""

import importlib.metadata
import importlib.util
import pathlib
import platform
import shutil
import tempfile
import warnings

from packaging.requirements import Requirement

from keras_transformer.backend.devices import find_devices
from keras_transformer.backend.gpu_diagnostics import explain_unseen_gpu
from keras_transformer.doctor.finding import OK, SKIPPED, WARNING, Finding, guarded, passed_if
from keras_transformer.errors import DISTRIBUTION, InputError
from keras_transformer.language import translate as _
from keras_transformer.runs.lock import locked

LEAST_ROOM = 2**30  # Bytes that a training with its checkpoints may need.
KOREAN = "가힣"


def environment_findings(folder):
    """Yields a `Finding` for each property of the machine.

    Args:
        folder: The folder where runs are written, a `pathlib.Path`.
    """
    yield guarded(_("Installed versions are those that the package supports"), supported_versions)
    yield guarded(_("The devices are in use"), devices)
    yield guarded(_("Pictures can show Hangul"), hangul_font)
    for place in dict.fromkeys((folder.resolve(), pathlib.Path(tempfile.gettempdir()).resolve())):
        yield guarded(_("{folder} can be written and locked", folder=place), writable, place)
        yield guarded(_("{folder} has room for a training", folder=place), room, place)


def supported_versions():
    """Returns the `Finding` that the versions of the dependencies are in the ranges of the package."""
    check = _("Installed versions are those that the package supports")
    try:
        required = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return Finding(check, SKIPPED, _("the package runs from its source code, without being installed"))
    requirements = [Requirement(one) for one in required]
    needed = [one for one in requirements if one.marker is None or one.marker.evaluate({"extra": ""})]
    wrong = [problem for one in needed if (problem := problem_of(one))]
    if wrong:
        return passed_if(False, check, ", ".join(wrong), _("Install them: pip install '{name}'", name=DISTRIBUTION))
    names = ("keras", "tensorflow", "numpy")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    return Finding(check, OK, f"python {platform.python_version()}, {versions}")


def problem_of(requirement):
    """Returns what is wrong with an installed package, or None."""
    try:
        version = importlib.metadata.version(requirement.name)
    except importlib.metadata.PackageNotFoundError:
        return _("{name} is missing", name=requirement.name)
    if requirement.specifier.contains(version, prereleases=True):
        return None
    return _("{name} is {version}, not {range}", name=requirement.name, version=version, range=requirement.specifier)


def devices():
    """Returns the `Finding` about CPU and GPUs; a GPU that the framework does not see is a warning."""
    check, devices = _("The devices are in use"), find_devices()
    if not devices.gpus and (reason := explain_unseen_gpu()):
        return Finding(check, WARNING, str(devices), reason)
    return Finding(check, OK, str(devices))


def hangul_font():
    """Returns the `Finding` that matplotlib has a font with Hangul."""
    check = _("Pictures can show Hangul")
    if importlib.util.find_spec("matplotlib") is None:
        return Finding(check, SKIPPED, _("matplotlib is not installed"))
    from keras_transformer.visualize.fonts import fonts_for

    try:
        return Finding(check, OK, fonts_for([KOREAN])[-1])
    except InputError as error:
        return Finding(check, WARNING, _("no font"), str(error))


def writable(folder):
    """Returns the `Finding` that files in a folder, or in its nearest existing parent, can be written and locked."""
    check, place = _("{folder} can be written and locked", folder=folder), existing(folder)
    try:
        with tempfile.TemporaryDirectory(dir=place) as inside, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with locked(inside):
                pass
    except (OSError, InputError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return passed_if(False, check, reason, _("Name a folder that you may write to, or change its permissions."))
    if caught:
        return Finding(check, WARNING, str(caught[0].message))
    return Finding(check, OK, _("yes"))


def room(folder):
    """Returns the `Finding` about free disk space."""
    check, free = _("{folder} has room for a training", folder=folder), shutil.disk_usage(existing(folder)).free
    measured = _("{size:.1f} GB free", size=free / 1e9)
    if free >= LEAST_ROOM:
        return Finding(check, OK, measured)
    return Finding(check, WARNING, measured, _("Make room: a training with its checkpoints may need 1 GB."))


def existing(folder):
    """Returns the folder, or its nearest parent that exists."""
    return next(place for place in (folder, *folder.parents) if place.is_dir())
