"""Describes the machine of a measurement and the versions of its software."""

import json
import os
import pathlib
import platform
import re
import subprocess
import sys

VERSIONS = """
import importlib.metadata, json, platform
found = {"Python": platform.python_version()}
for name in ("TensorFlow", "Keras", "torch", "CTranslate2"):
    try:
        found[name] = importlib.metadata.version(name.lower())
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""


def describe_machine():
    """Returns CPU, cores, memory and operating system in one line."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{cpu_name()}, {cores} cores, {memory:.0f} GiB of memory, {system_name()}"


def cpu_name():
    """Returns the model name of the CPU."""
    about = pathlib.Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*:\s*(.+)$", about.read_text("utf-8"), re.MULTILINE) if about.exists() else None
    return found.group(1).strip() if found else platform.processor() or platform.machine()


def system_name():
    """Returns the operating system and the type of the machine."""
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError, AttributeError):
        name = platform.platform(terse=True)
    return f"{name} ({platform.machine()})"


def describe_versions(python=sys.executable):
    """Returns the versions of an interpreter and of its installed `LIBRARIES`, in one line."""
    try:
        done = subprocess.run([python, "-c", VERSIONS], capture_output=True, check=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return "an interpreter that does not run"
    return ", ".join(f"{name} {version}" for name, version in json.loads(done.stdout).items())
