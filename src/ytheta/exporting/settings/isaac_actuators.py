"""Armature and friction of joints as ``ActuatorBaseCfg`` of Isaac Lab takes them, with Isaac Sim 5.0 or later.

Reference     Isaac Lab, ``isaaclab.actuators.ActuatorBaseCfg``: armature, friction, dynamic_friction, viscous_friction;
              PhysX, ``PxJointFrictionParams``
Units         kg m^2, N m, N m, N m s/rad for revolute joints; kg, N, N, N s/m for prismatic ones. Attributes in USD
              files are per degree instead. Before Isaac Sim 5.0, ``friction`` was a coefficient without unit.

Static and dynamic friction are equal, since the robot has one value of Coulomb friction.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ytheta.exporting.losses import find_drive_losses
from ytheta.exporting.settings.json_file import render_json
from ytheta.exporting.source import ExportSource
from ytheta.findings import Finding

UNITS = {
    "armature": "kg m^2 or kg",
    "friction": "N m or N",
    "dynamic_friction": "N m or N",
    "viscous_friction": "N m s/rad or N s/m",
}


@dataclass(frozen=True)
class Options:
    """Isaac's actuator parameters have no settings."""


def render(source: ExportSource, path: Path, *, options: Options) -> Mapping[Path, bytes]:
    """Return the arguments of ``ActuatorBaseCfg`` as JSON; names of joints are escaped, since they are expressions."""
    del options
    drives = {re.escape(joint.name): joint.drive.parameters for joint in source.robot.movable}
    order = {"armature": 0, "friction": 2, "dynamic_friction": 2, "viscous_friction": 1}
    values = {key: {name: parameters[k] for name, parameters in drives.items()} for key, k in order.items()}
    return {path: render_json(source, path, UNITS, {"actuator": {"joint_names_expr": list(drives), **values}})}


def find_losses(source: ExportSource, path: Path) -> tuple[Finding, ...]:
    """Return the laws of friction that PhysX does not have."""
    del path
    return find_drive_losses(source.robot, to="Isaac")
