"""Armature and friction of joints, as simulators take them and as a table."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ytheta.errors import InputError
from ytheta.exporting.losses import find_drive_losses
from ytheta.exporting.refit import Abilities, Refit, refit
from ytheta.exporting.source import ExportSource, Format, NoOptions
from ytheta.findings import Finding
from ytheta.robot.parts import Drive

# Armature and friction of joints as ``ActuatorBaseCfg`` of Isaac Lab takes them, with Isaac Sim 5.0 or later.
#
# Reference     Isaac Lab, ``isaaclab.actuators.ActuatorBaseCfg``: armature, friction, dynamic_friction,
#               viscous_friction; PhysX, ``PxJointFrictionParams``
# Units         kg m^2, N m, N m, N m s/rad for revolute joints; kg, N, N, N s/m for prismatic ones. Attributes in USD
#               files are per degree instead. Before Isaac Sim 5.0, ``friction`` was a coefficient without unit.
#
# Static and dynamic friction are equal, since the robot has one value of Coulomb friction.

ISAAC, MUJOCO = "Isaac", "MuJoCo"  # for messages
ISAAC_UNITS = {
    "armature": "kg m^2 or kg",
    "friction": "N m or N",
    "dynamic_friction": "N m or N",
    "viscous_friction": "N m s/rad or N s/m",
}


def render_isaac_actuators(source: ExportSource, path: Path, options: NoOptions) -> Mapping[Path, bytes]:
    """Return the arguments of ``ActuatorBaseCfg`` as JSON; names of joints are escaped, since they are expressions."""
    del options
    drives = {re.escape(joint.name): joint.drive.parameters for joint in _refit(source, ISAAC).robot.movable}
    order = {"armature": 0, "friction": 2, "dynamic_friction": 2, "viscous_friction": 1}
    values = {key: {name: parameters[k] for name, parameters in drives.items()} for key, k in order.items()}
    return {path: render_json(source, path, ISAAC_UNITS, {"actuator": {"joint_names_expr": list(drives), **values}})}


def find_isaac_losses(source: ExportSource, path: Path) -> tuple[Finding, ...]:
    """Return the laws of friction that PhysX does not have."""
    del path
    return (*find_drive_losses(source.robot, to=ISAAC), *_refit(source, ISAAC).findings)


# Armature, damping and friction loss of joints, with the names of MJCF attributes.
#
# Reference     MuJoCo, XML reference, ``body/joint``: armature, damping, frictionloss
# Units         kg m^2, N m s/rad, N m for hinges; kg, N s/m, N for slides


MUJOCO_UNITS = {"armature": "kg m^2 or kg", "damping": "N m s/rad or N s/m", "frictionloss": "N m or N"}


def render_mujoco_actuators(source: ExportSource, path: Path, options: NoOptions) -> Mapping[Path, bytes]:
    """Return the parameters by joint as JSON."""
    del options
    joints = {
        joint.name: dict(zip(MUJOCO_UNITS, joint.drive.parameters[: len(MUJOCO_UNITS)], strict=True))
        for joint in _refit(source, MUJOCO).robot.movable
    }
    return {path: render_json(source, path, MUJOCO_UNITS, {"joints": joints})}


def find_mujoco_losses(source: ExportSource, path: Path) -> tuple[Finding, ...]:
    """Return the laws of friction that MuJoCo does not have."""
    del path
    return (*find_drive_losses(source.robot, to=MUJOCO), *_refit(source, MUJOCO).findings)


@lru_cache(maxsize=1)  # the file and the findings about it need the same fit
def _refit(source: ExportSource, to: str) -> Refit:
    return refit(source, Abilities(to))


# JSON files with an origin; JSON is also YAML.


ENDINGS = (".json", ".yaml", ".yml")


def render_json(source: ExportSource, path: Path, units: Mapping[str, str], values: Mapping[str, Any]) -> bytes:
    """Return a JSON file with the name of the robot, its origin, the units and these values."""
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"{path}: this file must have the extension {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
    data = {"robot": source.robot.name, "origin": source.origin, "units": dict(units), **values}
    return (json.dumps(data, indent=2, allow_nan=False) + "\n").encode("ascii")


# Friction of all joints and motors as a CSV table, one row each, with the units of every value.


TABLE_SUFFIX = ".csv"
COLUMNS = (
    *("joint", "force_unit", "position_unit", "viscous", "coulomb", "offset", "coulomb_speed"),
    *("root", "load", "friction_speed", "rotor_inertia_at_joint"),
)


def render_friction_table(source: ExportSource, path: Path, options: NoOptions) -> Mapping[Path, bytes]:
    """Return the table as CSV."""
    del options
    if path.suffix.lower() != TABLE_SUFFIX:
        raise InputError(f"{path}: this file must have the extension {TABLE_SUFFIX}; change its name")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for name, drive in source.robot.drives:
        prismatic = name in source.robot.prismatic_joints
        writer.writerow([_protect(name), *(("N", "m") if prismatic else ("N m", "rad")), *_list_values(drive)])
    return {path: text.getvalue().encode("utf-8")}


def _list_values(drive: Drive) -> Iterator[str]:
    inertia, viscous, coulomb, offset, *_ = drive.parameters
    values = (viscous, coulomb, offset, drive.coulomb_speed, drive.root, drive.load, drive.friction_speed, inertia)
    return ("" if value is None else repr(float(value)) for value in values)


def _protect(name: str) -> str:
    """Return a name that spreadsheets do not take for a formula."""
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r")) else name


ISAAC_ACTUATORS = Format(render_isaac_actuators, find_losses=find_isaac_losses)
MUJOCO_ACTUATORS = Format(render_mujoco_actuators, find_losses=find_mujoco_losses)
FRICTION_TABLE = Format(render_friction_table)
