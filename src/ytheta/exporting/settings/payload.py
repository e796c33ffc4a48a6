"""The load of a robot as controllers of arms want it: mass, centre and inertia in the axes of the flange."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.errors import InputError, suggest_names
from ytheta.robot.frame import Frame, Matrix, Vector
from ytheta.robot.inertia import Inertia
from ytheta.robot.kinematics import link_poses
from ytheta.robot.robot import Robot

PROBE = 0.7  # joint positions, in rad or m, at which the load must be where it is at 0
MAX_MOTION = 1e-9  # of the load relative to the flange, in m


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
