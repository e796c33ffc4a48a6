"""The load of a robot as controllers of arms want it: mass, centre and inertia in the axes of the flange."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ytheta.errors import InputError, suggest_names
from ytheta.exporting.actuator_settings import render_json
from ytheta.exporting.source import ExportSource, Format
from ytheta.robot.frame import Frame, Matrix, Vector
from ytheta.robot.inertia import Inertia
from ytheta.robot.kinematics import link_poses
from ytheta.robot.robot import Robot

# Joint positions, in rad or m, at which the load must be where it is at 0, relative to the flange. Chosen on:
# reasoning, any value that is not a multiple of a right angle.
PROBE = 0.7
# m; motion of the load relative to the flange above which the flange does not carry it. Chosen on: reasoning, far
# above rounding errors.
MAX_MOTION = 1e-9


@dataclass(frozen=True)
class PayloadOptions:
    """Which load is exported, and in which frame.

    Attributes
    ----------
    load    name of the link that is the load; None for the only load of the robot
    flange  name of the link or marker whose frame is that of the flange; None for the usual name, if the robot has it
    """

    load: str | None = None
    flange: str | None = None


@dataclass(frozen=True)
class Payload:
    """A load: mass in kg, centre in m in the flange frame, inertia in kg m^2 about the centre in flange axes."""

    name: str
    flange: str
    mass: float
    center: Vector
    inertia: Matrix


def find_payload(robot: Robot, options: PayloadOptions, usual_ending: str) -> Payload:
    """Return the load. ``usual_ending``: how the name of the flange frame ends in the vendor's descriptions."""
    load = _find_load(robot, options.load)
    frames = (*(link.name for link in robot.links), *(marker.name for marker in robot.markers))
    flange = options.flange if options.flange is not None else _find_flange(frames, usual_ending)
    if flange not in frames:
        raise InputError(f"{robot.name!r} has no link or marker {flange!r}{suggest_names(flange, frames)}")
    poses = [link_poses(robot, np.full(len(robot.position_names), q)) for q in (0.0, PROBE)]
    at_zero, at_probe = (np.linalg.solve(pose[flange], pose[load]) for pose in poses)
    if abs(at_zero - at_probe).max() > MAX_MOTION:
        raise InputError(
            f"the load {load!r} moves relative to {flange!r}; give the frame of the flange that carries it"
        )
    inertia: Inertia = robot.link(load).inertia.seen_from(Frame.from_matrix(at_zero))
    if not inertia.mass > 0.0:
        raise InputError(f"the load {load!r} has the mass {inertia.mass:g} kg; identify a load before you export it")
    return Payload(load, flange, inertia.mass, inertia.center, inertia.tensor_about_center)


def _find_load(robot: Robot, name: str | None) -> str:
    if name is not None:
        return robot.link(name).name
    loads = [link.name for link in robot.links if link.load]
    if len(loads) != 1:
        which = f"has {len(loads)} loads ({', '.join(loads)})" if loads else "has no load"
        raise InputError(f"{robot.name!r} {which}; name the link that is the load with 'load'")
    return loads[0]


def _find_flange(frames: tuple[str, ...], ending: str) -> str:
    candidates = [name for name in dict.fromkeys(frames) if name.endswith(ending)]
    if len(candidates) != 1:
        number = "several frames" if candidates else "no frame"
        raise InputError(
            f"the robot has {number} whose name ends in {ending!r}; name the frame of the flange with 'flange'"
        )
    return candidates[0]


# The load as ``franka::Robot::setLoad`` and the ROS service ``franka_msgs/SetLoad`` take it.
#
# Reference     libfranka, ``include/franka/robot.h``, ``Robot::setLoad(load_mass, F_x_Cload, load_inertia)``
# Units         kg; m from the flange to the centre of mass; kg m^2 about the centre of mass, 3 x 3, column by column
# Frame         the flange, which descriptions of Franka call ``panda_link8`` or ``fr3_link8``


FRANKA_FLANGE_ENDING = "link8"
FRANKA_UNITS = {"load_mass": "kg", "F_x_Cload": "m", "load_inertia": "kg m^2, column-major"}


def render_franka_load(source: ExportSource, path: Path, options: PayloadOptions) -> Mapping[Path, bytes]:
    """Return the load as JSON; its keys are the arguments of ``setLoad``."""
    payload = find_payload(source.robot, options, FRANKA_FLANGE_ENDING)
    values = {
        "load": payload.name,
        "flange": payload.flange,
        "load_mass": payload.mass,
        "F_x_Cload": list(payload.center),
        "load_inertia": np.array(payload.inertia).ravel(order="F").tolist(),
    }
    return {path: render_json(source, path, FRANKA_UNITS, values)}


# The load as ``set_target_payload`` of URScript takes it.
#
# Reference     Universal Robots, Script manual (PolyScope 5.10 and later), ``set_target_payload(m, cog, inertia)``
# Units         kg; m from the tool mount; kg m^2 about the centre of gravity as [Ixx, Iyy, Izz, Ixy, Ixz, Iyz]
# Frame         the tool flange, which the ROS descriptions call ``tool0``; their ``flange`` has other axes


SCRIPT_SUFFIX = ".script"
UR_FLANGE_ENDING = "tool0"
MAX_MOMENT = 133.0  # kg m^2, in magnitude, of every entry. Fixed by: the script manual of Universal Robots.


def render_ur_payload(source: ExportSource, path: Path, options: PayloadOptions) -> Mapping[Path, bytes]:
    """Return one call of ``set_target_payload`` with a comment."""
    if path.suffix.lower() != SCRIPT_SUFFIX:
        raise InputError(f"{path}: this file must have the extension {SCRIPT_SUFFIX}; change its name")
    payload = find_payload(source.robot, options, UR_FLANGE_ENDING)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = payload.inertia
    moments = (xx, yy, zz, xy, xz, yz)
    if max(map(abs, moments)) > MAX_MOMENT:
        raise InputError(f"the load {payload.name!r} has an inertia beyond {MAX_MOMENT:g} kg m^2, which UR refuses")
    names = f"load {payload.name!a} of {source.robot.name!a} in the frame {payload.flange!a}"
    lines = (
        f"# {names}; {source.origin!a}",
        "# mass in kg, centre of gravity in m, [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] about it in kg m^2, in flange axes",
        f"set_target_payload({_format_number(payload.mass)}, {_format(payload.center)}, {_format(moments)})",
        "",
    )
    return {path: "\n".join(lines).encode("ascii")}


def _format(values: Iterable[float]) -> str:
    return f"[{', '.join(map(_format_number, values))}]"


def _format_number(value: float) -> str:
    """Return a number to 12 decimals; URScript does not document exponents, so that none are used."""
    text = f"{value:.12f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


FRANKA_LOAD = Format(render_franka_load, PayloadOptions)
UR_PAYLOAD = Format(render_ur_payload, PayloadOptions)
