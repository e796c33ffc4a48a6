"""Robots as Pinocchio models, joint by joint: the oracle of the tests of dynamics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.inertia import transport_matrix
from ytheta.robot.parts import JointKind
from ytheta.robot.robot import Robot


@dataclass(frozen=True, eq=False)
class Peer:
    """A Pinocchio model whose joints are a robot's movable joints in the same order.

    ``parameter_map`` maps the link parameters of the robot (link frames, loads apart) to those of Pinocchio (joint
    frames, loads merged).
    """

    model: pin.Model
    parameter_map: np.ndarray

    def torque(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        return pin.rnea(self.model, self.model.createData(), q, qd, qdd)

    def regressor(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        data = self.model.createData()
        # Pinocchio drops the axis of joints if there is only one.
        return np.atleast_2d(pin.computeJointTorqueRegressor(self.model, data, q, qd, qdd)) @ self.parameter_map

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        upper = np.triu(pin.crba(self.model, self.model.createData(), q))
        return upper + np.triu(upper, 1).T


def peer(robot: Robot) -> Peer:
    """The Pinocchio model of a robot, without its loops."""
    merged = robot.numeric.merged
    model = pin.Model()
    model.gravity = pin.Motion(np.array(robot.gravity_in_base), np.zeros(3))
    poses: dict[str, tuple[int, Frame]] = {merged.base.name: (0, IDENTITY)}  # joint, and the link frame in its frame
    count = len(merged.movable)
    parameter_map = np.zeros((10 * count, 10 * (len(merged.links) - 1)))
    for k, joint in enumerate(merged.joints):
        parent, frame = poses[joint.parent]
        placement = frame @ joint.placement
        link = merged.links[k + 1]
        if joint.kind is JointKind.FIXED:
            poses[joint.child] = parent, placement @ joint.seat
        else:
            revolute = joint.kind is JointKind.REVOLUTE
            axis = np.array(joint.axis)
            kind = pin.JointModelRevoluteUnaligned(axis) if revolute else pin.JointModelPrismaticUnaligned(axis)
            poses[joint.child] = model.addJoint(parent, kind, _se3(placement), joint.name), joint.seat
        index, frame = poses[joint.child]
        if index:
            model.appendBodyToJoint(index, _inertia(link.inertia.vector), _se3(frame))
            parameter_map[10 * (index - 1) : 10 * index, 10 * k : 10 * (k + 1)] += transport_matrix(frame)
    return Peer(model, parameter_map)


def _se3(frame: Frame) -> pin.SE3:
    return pin.SE3(np.array(frame.rotation), frame.matrix[:3, 3])


def _inertia(theta: np.ndarray) -> pin.Inertia:
    if theta[0] == 0.0:  # Pinocchio needs a centre of mass, which inertia without mass does not have
        tensor = np.array(
            [[theta[4], theta[5], theta[7]], [theta[5], theta[6], theta[8]], [theta[7], theta[8], theta[9]]]
        )
        return pin.Inertia(0.0, np.zeros(3), tensor)
    return pin.Inertia.FromDynamicParameters(theta)
