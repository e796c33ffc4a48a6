"""The arm along its path, seen from two sides: outlines of the capsules that are checked for collisions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ytheta.errors import ClosureError
from ytheta.excitation.clearance.estimated_capsules import complete_capsules
from ytheta.excitation.clearance.link_capsules import find_link_capsules
from ytheta.excitation.constraints import RobotKernels
from ytheta.excitation.surroundings import FLOOR
from ytheta.excitation.trajectories import POSITION
from ytheta.robot.kinematics import link_poses
from ytheta.shapes import Float, Vector3

if TYPE_CHECKING:
    from ytheta.excitation.result import Excitation

POSES = 9  # Poses of one period that are drawn; affects only plots
ARC_POINTS = 9  # Points of a half-circle of an outline; affects only plots


@dataclass(frozen=True, eq=False)
class ArmView:
    """The arm seen from one side, in metres.

    Attributes
    ----------
    across    what the horizontal axis is: "forward" along x of the base, or "left" of it
    outlines  for each pose, points of the outlines of all capsules; NaN separates the outlines
    times     s, of the poses
    floor     height of the floor or ceiling, None without one
    """

    across: str
    outlines: tuple[Float[np.ndarray, "points 2"], ...]
    times: Float[np.ndarray, " poses"]
    floor: float | None


def compute_arm_views(excitation: Excitation) -> tuple[ArmView, ArmView]:
    """Return the arm at equally spaced times of one period, seen from the side and from the front."""
    robot = excitation.robot.numeric.merged
    times = np.arange(POSES) * (excitation.trajectory.basis.period / POSES)
    kernels = RobotKernels(excitation.robot, excitation.base)
    x = kernels.close(excitation.trajectory.derive(times, POSITION))
    if x is None:
        raise ClosureError(f"loops of robot {excitation.robot.name!r} do not close along the motion")
    capsules = complete_capsules(excitation.robot, find_link_capsules(excitation.robot)).capsules
    poses = [link_poses(robot, q) for q in kernels.compute_joint_positions(x)]
    mounting = robot.mounting.matrix
    heights = [finding.fields["height"] for finding in excitation.findings if finding.code == FLOOR]
    up, forward = find_directions(np.array(robot.gravity), mounting[:3, 0], mounting[:3, 1])
    views = []
    for name, across in (("forward", forward), ("left", np.cross(up, forward))):
        plane = np.stack([across, up])
        outlines = [
            np.concatenate(
                [
                    _trace_outline(
                        (_place(mounting @ pose[item.link], item.capsule.ends)) @ plane.T, item.capsule.radius
                    )
                    for item in capsules
                ]
            )
            for pose in poses
        ]
        views.append(ArmView(name, tuple(outlines), times, heights[0] if heights else None))
    return views[0], views[1]


def find_directions(gravity: Vector3, x: Vector3, y: Vector3) -> tuple[Vector3, Vector3]:
    """Return up, against gravity, and the horizontal direction nearest to x, or to y if x is vertical."""
    size = np.linalg.norm(gravity)
    up = -gravity / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
    forward = next(flat for axis in (x, y) if np.linalg.norm(flat := axis - up * (up @ axis)) > 0.5)
    return up, forward / np.linalg.norm(forward)


def _place(pose: Float[np.ndarray, "4 4"], points: Float[np.ndarray, "points 3"]) -> Float[np.ndarray, "points 3"]:
    return np.asarray(points @ pose[:3, :3].T + pose[:3, 3])


def _trace_outline(ends: Float[np.ndarray, "2 2"], radius: float) -> Float[np.ndarray, "points 2"]:
    """Return the closed outline of a projected capsule, and a NaN after it."""
    along = ends[1] - ends[0]
    angle = math.atan2(along[1], along[0])
    turns = np.linspace(-0.5 * np.pi, 0.5 * np.pi, ARC_POINTS)
    arcs = [
        end + radius * np.stack([np.cos(angle + turns + shift), np.sin(angle + turns + shift)], axis=1)
        for end, shift in ((ends[1], 0.0), (ends[0], np.pi))
    ]
    return np.concatenate([*arcs, arcs[0][:1], np.full((1, 2), np.nan)])
