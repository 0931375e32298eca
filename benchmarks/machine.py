"""Where a measurement was made: the machine, and the versions of what ran."""

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
    """CPU, cores, memory and operating system in a line."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{cpu_name()}, {cores} cores, {memory:.0f} GiB of memory, {system_name()}"


def cpu_name():
    """The model name of the CPU."""
    about = pathlib.Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*:\s*(.+)$", about.read_text("utf-8"), re.MULTILINE) if about.exists() else None
    return found.group(1).strip() if found else platform.processor() or platform.machine()


def system_name():
    """The operating system and the kind of machine that it runs on."""
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError, AttributeError):
        name = platform.platform(terse=True)
    return f"{name} ({platform.machine()})"


def describe_versions(python=sys.executable):
    """An interpreter's version and those of the libraries above that it has, in a line."""
    try:
        done = subprocess.run([python, "-c", VERSIONS], capture_output=True, check=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return "an interpreter that does not run"
    return ", ".join(f"{name} {version}" for name, version in json.loads(done.stdout).items())
