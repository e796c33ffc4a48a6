"""The URDF files that come with example-robot-data, found without importing it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

# Files that our reader does not accept, with a part of the error message.
REFUSED = {
    "ur3.urdf": "there is no <link>",
    "alex_psyonic_hands.urdf": "the coupling of joint 'Left_index_q2' uses 'index_q1'",
}


def urdf_files() -> list[Path]:
    spec = importlib.util.find_spec("pinocchio")
    assert spec is not None
    assert spec.origin is not None
    prefix = next(parent for parent in Path(spec.origin).parents if parent.name == "cmeel.prefix")
    return sorted((prefix / "share" / "example-robot-data" / "robots").rglob("*.urdf"))


def urdf(name: str) -> Path:
    """One of the files, by its name."""
    return next(path for path in urdf_files() if path.name == name)


def readable() -> list[Path]:
    return [path for path in urdf_files() if path.name not in REFUSED]
