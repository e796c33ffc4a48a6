"""Robots with drives, friction and couplings, their torques, and evaluation of graphs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import ytheta
from tests.support.pinocchio_peer import peer
from ytheta.native.graph import Graph
from ytheta.robot.parts import Coupling, Drive, Motor
from ytheta.robot.robot import Robot


def evaluate(graph: Graph, *vectors: np.ndarray) -> np.ndarray:
    """Evaluate one sample with CasADi's own interpreter."""
    flat = np.zeros(graph.size)
    flat[list(graph.places)] = np.array(graph.function(*vectors)).ravel()
    return flat.reshape(graph.shape)


def driven_robot(name: str) -> Robot:
    """A catalog robot with rotor inertia and friction in every joint."""
    robot = ytheta.load(name)
    drive = Drive(rotor_inertia=2e-4, gear_ratio=80.0, viscous=0.7, coulomb=1.3, offset=-0.2)
    joints = tuple(replace(joint, drive=drive) if joint.moves else joint for joint in robot.joints)
    return replace(robot, joints=joints)


def coupled_robot(name: str = "puma560") -> Robot:
    """The same with a wrist whose last joint depends on a motor and its neighbour, as in the Staubli TX40."""
    robot = driven_robot(name)
    motor = Motor("m6", drive=Drive(3e-5, 45.0, 0.1, 0.2, 0.05))
    coupling = Coupling("joint6", (("joint5", -1.0), ("m6", 1.0)), 0.3)
    return replace(robot, couplings=(coupling,), motors=(motor,), actuated=())


def expected_torque(robot: Robot, x: np.ndarray, xd: np.ndarray, xdd: np.ndarray) -> np.ndarray:
    """tau of the coordinates: links by Pinocchio, drives by their definition."""
    A, b = robot.coupling_map
    q, qd, qdd = A @ x + b, A @ xd, A @ xdd
    drives = np.array([joint.drive.parameters for joint in robot.movable])
    rho = peer(robot).torque(q, qd, qdd)
    rho = rho + drives[:, 0] * qdd + drives[:, 1] * qd + drives[:, 2] * np.sign(qd) + drives[:, 3]
    tau = A.T @ rho
    for motor in robot.motors:
        ia, fv, fc, fo = motor.drive.parameters
        k = robot.coordinates.index(motor.name)
        tau[k] += ia * xdd[k] + fv * xd[k] + fc * np.sign(xd[k]) + fo
    return tau
