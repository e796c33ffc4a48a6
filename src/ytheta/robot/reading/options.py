"""How a robot description is read: rounding of angles, the base, and the files that may be opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ytheta.conventions import SNAP


@dataclass(frozen=True)
class ReadingOptions:
    """Options that the readers of all formats share; ``load`` describes them.

    ``package_paths`` and ``allow_paths`` are resolved.
    """

    snap: float = SNAP
    fix_base: bool = False
    xacro_args: Mapping[str, str] = field(default_factory=dict)
    package_paths: tuple[Path, ...] = ()
    allow_paths: tuple[Path, ...] = ()
