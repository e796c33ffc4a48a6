"""Facts about the machine on which times were measured."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import ytheta
from ytheta.engine.local import count_processors

LIBRARIES = {"pinocchio": "pin", "mujoco": "mujoco", "numpy": "numpy", "casadi": "casadi"}  # and their packages


def describe_machine() -> dict[str, object]:
    """Return processor, number of usable processors, system and versions."""
    versions = {"python": platform.python_version(), "ytheta": ytheta.__version__}
    for name, package in LIBRARIES.items():
        try:
            versions[name] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "cpu": _find_processor(),
        "processors": count_processors(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": versions,
    }


def _find_processor() -> str:
    """Return the name of the processor; Linux does not tell it through ``platform``."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
