"""Armature, damping and friction loss of joints, with the names of MJCF attributes.

Reference     MuJoCo, XML reference, ``body/joint``: armature, damping, frictionloss
Units         kg m^2, N m s/rad, N m for hinges; kg, N s/m, N for slides
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ytheta.exporting.losses import find_drive_losses
from ytheta.exporting.settings.json_file import render_json
from ytheta.exporting.source import ExportSource
from ytheta.findings import Finding

UNITS = {"armature": "kg m^2 or kg", "damping": "N m s/rad or N s/m", "frictionloss": "N m or N"}


@dataclass(frozen=True)
class Options:
    """MuJoCo's actuator parameters have no settings."""


def render(source: ExportSource, path: Path, *, options: Options) -> Mapping[Path, bytes]:
    """Return the parameters by joint as JSON."""
    del options
    joints = {
        joint.name: dict(zip(UNITS, joint.drive.parameters[: len(UNITS)], strict=True))
        for joint in source.robot.movable
    }
    return {path: render_json(source, path, UNITS, {"joints": joints})}


def find_losses(source: ExportSource, path: Path) -> tuple[Finding, ...]:
    """Return the laws of friction that MuJoCo does not have."""
    del path
    return find_drive_losses(source.robot, to="MuJoCo")
