"""The motion of a design as curves: joints, torques, and the paths of the tool, over one period."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ytheta.errors import ClosureError
from ytheta.excitation.constraints.robot_kernels import RobotKernels
from ytheta.excitation.result import Excitation
from ytheta.excitation.trajectories.trajectory import SampledTrajectory
from ytheta.robot.kinematics import link_poses
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, InstantsByJoint, SamplesByJoint

CURVE_POINTS = 400  # per period
MAX_TOOLS = 4  # links whose paths are computed


@dataclass(frozen=True, eq=False)
class MotionCurves:
    """Curves over one period.

    Attributes
    ----------
    motion  positions, velocities, accelerations and jerk of the actuated coordinates
    torque  torques of the description, Nm or N
    paths   positions of the links or markers at the ends of the robot in the frame of its base, m
    """

    motion: SampledTrajectory
    torque: InstantsByJoint
    paths: Mapping[str, Float[np.ndarray, "instants 3"]]


def compute_curves(excitation: Excitation, *, points: int = CURVE_POINTS) -> MotionCurves:
    """Return the curves at ``points`` + 1 equally spaced times, from the start of a period to its end."""
    t = np.linspace(0.0, excitation.trajectory.basis.period, points + 1)
    motion = excitation.trajectory.evaluate(t)
    kernels = RobotKernels(excitation.robot, excitation.base)
    x = kernels.close(motion.q)
    if x is None:
        raise ClosureError(f"loops of robot {excitation.robot.name!r} do not close along the motion")
    torque = kernels.compute_torque(x, motion.qd, motion.qdd)
    return MotionCurves(motion, torque, _trace_tools(excitation.robot, kernels.compute_joint_positions(x)))


def find_tools(robot: Robot) -> tuple[str, ...]:
    """Return the frames at the ends of the robot: for each link that carries no other, its last marker or itself."""
    parents = {joint.parent for joint in robot.joints}
    ends = [link.name for link in robot.links if link.name not in parents]
    markers = {marker.link: marker.name for marker in robot.markers}
    return tuple(markers.get(name, name) for name in ends[:MAX_TOOLS])


def _trace_tools(robot: Robot, positions: SamplesByJoint) -> dict[str, Float[np.ndarray, "instants 3"]]:
    tools = find_tools(robot)
    poses = [link_poses(robot, q) for q in positions]
    return {name: np.array([pose[name][:3, 3] for pose in poses]) for name in tools}
