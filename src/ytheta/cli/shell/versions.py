"""The versions that a bug report needs, from the metadata of the installed packages: none of them is imported."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

import ytheta

# Libraries that decide about results, by the names of their packages.
LIBRARIES = {"NumPy": "numpy", "SciPy": "scipy", "CasADi": "casadi", "llvmlite": "llvmlite", "Polars": "polars"}
# Libraries of extras: the name of the package, and the extra that installs it.
OPTIONAL_LIBRARIES = {
    "MuJoCo": ("mujoco", "mujoco"),
    "Plotly": ("plotly", "report"),
    "rosbags": ("rosbags", "rosbags"),
    "h5py": ("h5py", "hdf5"),
    "Dask": ("distributed", "dask"),
    "trimesh": ("trimesh", "collision"),
    "xacrodoc": ("xacrodoc", "xacro"),
    "viser": ("viser", "view"),
}


def format_versions() -> str:
    """Return one line for each version; the first line is that of ytheta."""
    return "\n".join(f"{name:<10}{value}" for name, value in _list_versions())


def _list_versions() -> Iterator[tuple[str, str]]:
    yield "ytheta", ytheta.__version__
    yield "Python", f"{platform.python_version()} ({platform.system()} {platform.machine()})"
    for name, package in LIBRARIES.items():
        yield name, _find_version(package) or "not installed"
    for name, (package, extra) in OPTIONAL_LIBRARIES.items():
        yield name, _find_version(package) or f"not installed; pip install 'ytheta[{extra}]'"


def _find_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
