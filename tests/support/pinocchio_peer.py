"""Robots as Pinocchio models, joint by joint: the oracle of the tests of dynamics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin

from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.inertia import transport_matrix
from ytheta.robot.parts import Joint, JointKind
from ytheta.robot.robot import Robot


@dataclass(frozen=True, eq=False)
class Peer:
    """A Pinocchio model whose joints are a robot's floating base and movable joints in the same order.

    ``parameter_map`` maps the link parameters of the robot (link frames, loads apart) to those of Pinocchio (joint
    frames, loads merged). The model has a frame for every link and marker, also for those on fixed joints.
    """

    model: pin.Model
    parameter_map: np.ndarray

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """The configuration of the model: a quaternion replaces the rotation vector of a floating base."""
        if self.model.nq == self.model.nv:
            return q
        return np.concatenate([q[:3], pin.Quaternion(pin.exp3(q[3:6])).coeffs(), q[6:]])

    def torque(
        self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, wrenches: Mapping[str, np.ndarray] | None = None
    ) -> np.ndarray:
        """Torques if external wrenches, in base axes, act on the origins of named frames."""
        return pin.rnea(
            self.model, self.model.createData(), self.configuration(q), qd, qdd, self._fext(q, wrenches or {})
        )

    def joint_wrenches(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """Force and moment through every joint, about the origin and in the axes of its frame."""
        data = self.model.createData()
        pin.rnea(self.model, data, self.configuration(q), qd, qdd)
        return np.array([force.vector for force in list(data.f)[1:]])

    def acceleration(
        self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, wrenches: Mapping[str, np.ndarray] | None = None
    ) -> np.ndarray:
        return pin.aba(
            self.model, self.model.createData(), self.configuration(q), qd, tau, self._fext(q, wrenches or {})
        )

    def frame_jacobian(self, q: np.ndarray, frame: str, *, base_axes: bool) -> np.ndarray:
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED if base_axes else pin.ReferenceFrame.LOCAL
        data, index = self.model.createData(), self.model.getFrameId(frame, pin.FrameType.OP_FRAME)
        pin.computeJointJacobians(self.model, data, self.configuration(q))
        pin.updateFramePlacements(self.model, data)
        # Pinocchio drops the axis of joints if there is only one.
        return pin.getFrameJacobian(self.model, data, index, axes).reshape(6, self.model.nv)

    def rotation(self, q: np.ndarray, frame: str) -> np.ndarray:
        """The axes of a frame, seen from the base."""
        data = self.model.createData()
        pin.framesForwardKinematics(self.model, data, self.configuration(q))
        rotation: np.ndarray = data.oMf[self.model.getFrameId(frame, pin.FrameType.OP_FRAME)].rotation
        return rotation

    def _fext(self, q: np.ndarray, wrenches: Mapping[str, np.ndarray]) -> pin.StdVec_Force:
        """External forces on the joints, each in the frame of its joint, as Pinocchio wants them."""
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for name, wrench in wrenches.items():
            frame = self.model.frames[self.model.getFrameId(name, pin.FrameType.OP_FRAME)]
            axes = self.rotation(q, name).T
            local = pin.Force(axes @ wrench[:3], axes @ wrench[3:])
            forces[frame.parentJoint] = forces[frame.parentJoint] + frame.placement.act(local)
        return pin.StdVec_Force(forces)

    def regressor(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        data = self.model.createData()
        # Pinocchio drops the axis of joints if there is only one.
        Y = pin.computeJointTorqueRegressor(self.model, data, self.configuration(q), qd, qdd)
        return np.atleast_2d(Y) @ self.parameter_map

    def composite_inertias(self, q: np.ndarray) -> list[pin.Inertia]:
        """The inertia of every joint's body together with all bodies behind it, in the frame of the joint."""
        data = self.model.createData()
        pin.crba(self.model, data, self.configuration(q), pin.Convention.LOCAL)
        return list(data.Ycrb)[1:]

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        upper = np.triu(pin.crba(self.model, self.model.createData(), self.configuration(q)))
        return upper + np.triu(upper, 1).T


def peer(robot: Robot) -> Peer:
    """The Pinocchio model of a robot, without its loops."""
    merged = robot.numeric.merged
    model = pin.Model()
    model.gravity = pin.Motion(np.array(robot.gravity_in_base), np.zeros(3))
    poses: dict[str, tuple[int, Frame]] = {merged.base.name: (0, IDENTITY)}  # joint, and the link frame in its frame
    count = len(merged.movable) + merged.floating
    parameter_map = np.zeros((10 * count, 10 * (len(merged.links) - 1)))
    for k, joint in enumerate(merged.joints):
        parent, frame = poses[joint.parent]
        placement = frame @ joint.placement
        link = merged.links[k + 1]
        if joint.kind is JointKind.FIXED:
            poses[joint.child] = parent, placement @ joint.seat
        else:
            kind = _make_joint_model(joint)
            poses[joint.child] = model.addJoint(parent, kind, _se3(placement), joint.name), joint.seat
        index, frame = poses[joint.child]
        if index:
            model.appendBodyToJoint(index, _inertia(link.inertia.vector), _se3(frame))
            parameter_map[10 * (index - 1) : 10 * index, 10 * k : 10 * (k + 1)] += transport_matrix(frame)
    _add_frames(model, robot.numeric)
    return Peer(model, parameter_map)


def _make_joint_model(joint: Joint) -> pin.JointModel:
    if joint.kind is JointKind.FREE:
        return pin.JointModelFreeFlyer()
    axis = np.array(joint.axis)
    revolute = joint.kind is JointKind.REVOLUTE
    return pin.JointModelRevoluteUnaligned(axis) if revolute else pin.JointModelPrismaticUnaligned(axis)


def read_urdf(path: Path, robot: Robot) -> Peer:
    """The model that Pinocchio itself reads from a URDF, with its own frames of links behind fixed joints.

    The URDF must not have continuous or mimic joints, and both readers must find the same order of joints.
    """
    model = pin.buildModelFromUrdf(str(path))
    assert list(model.names)[1:] == [joint.name for joint in robot.movable]
    model.gravity = pin.Motion(np.array(robot.gravity_in_base), np.zeros(3))
    bodies = [frame for frame in model.frames if frame.type == pin.FrameType.BODY]
    copies = [(frame.name, frame.parentJoint, frame.placement.copy()) for frame in bodies]
    for name, joint, placement in copies:
        model.addFrame(pin.Frame(name, joint, placement, pin.FrameType.OP_FRAME))
    return Peer(model, np.zeros((0, 0)))


def _add_frames(model: pin.Model, robot: Robot) -> None:
    """Add the frames of all links and markers, without use of the merged robot."""
    frames: dict[str, tuple[int, Frame]] = {robot.base.name: (0, IDENTITY)}
    for joint in robot.joints:
        parent, frame = frames[joint.parent]
        fixed = parent, frame @ joint.placement @ joint.seat
        frames[joint.child] = (
            (model.getJointId(joint.name), joint.seat) if joint.moves or joint.kind is JointKind.FREE else fixed
        )
    for marker in robot.markers:
        parent, frame = frames[marker.link]
        frames[marker.name] = parent, frame @ marker.frame
    for name, (index, frame) in frames.items():
        model.addFrame(pin.Frame(name, index, _se3(frame), pin.FrameType.OP_FRAME))


def _se3(frame: Frame) -> pin.SE3:
    return pin.SE3(np.array(frame.rotation), frame.matrix[:3, 3])


def _inertia(theta: np.ndarray) -> pin.Inertia:
    if theta[0] == 0.0:  # Pinocchio needs a centre of mass, which inertia without mass does not have
        tensor = np.array(
            [[theta[4], theta[5], theta[7]], [theta[5], theta[6], theta[8]], [theta[7], theta[8], theta[9]]]
        )
        return pin.Inertia(0.0, np.zeros(3), tensor)
    return pin.Inertia.FromDynamicParameters(theta)
