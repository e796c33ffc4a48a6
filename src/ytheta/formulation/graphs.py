"""Graphs of a whole robot, drives and couplings included: what kernels are compiled from.

Positions are the robot's coordinates x (see ``robot.robot``): joints that no coupling determines, then motors. With
q = A x + b the torques of the coordinates are Aᵀ rho, where rho holds links and drives of the joints; a motor's own
drive acts on its coordinate directly. Robots with closed loops have graphs of their own in ``loops``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.conventions import JOINT_PARAMETERS
from ytheta.errors import InputError
from ytheta.formulation import composite_body, dynamics
from ytheta.formulation.graph import Graph, Input, trace
from ytheta.formulation.mechanism import Mechanism, exact, mechanism
from ytheta.formulation.motion import Motion, scalars
from ytheta.formulation.newton_euler import PER_LINK, inverse_dynamics
from ytheta.formulation.vectors import array, dot, zeros
from ytheta.robot.robot import Robot
from ytheta.shapes import Shaped

if TYPE_CHECKING:
    import casadi

Vector = Shaped[np.ndarray, "coordinates"]
PER_JOINT = len(JOINT_PARAMETERS)


@dataclass(frozen=True, eq=False)
class Traced:
    """A robot with symbols for its motion: coordinates x, xd, xdd (or any last vector) and the joints that follow."""

    robot: Robot
    mechanism: Mechanism
    inputs: tuple[tuple[Input, casadi.SX], ...]
    A: np.ndarray
    motion: Motion
    xd: Vector
    last: Vector
    theta: Shaped[np.ndarray, "params"]

    @property
    def link_theta(self) -> Shaped[np.ndarray, "link_params"]:
        return self.theta[: PER_LINK * len(self.mechanism.bodies)]

    def drive(self, k: int) -> Shaped[np.ndarray, "4"]:
        """Ia, fv, fc, fo of the k-th joint, then of the motors."""
        start = PER_LINK * len(self.mechanism.bodies) + PER_JOINT * k
        return self.theta[start : start + PER_JOINT]

    def to_coordinates(self, rho: np.ndarray) -> np.ndarray:
        """Torques of the coordinates from torques (or rows) of the joints."""
        return dot(self.A.T, rho)

    def graph(self, name: str, output: np.ndarray) -> Graph:
        return trace(name, self.inputs, output, made_from=f"{name} of {self.robot.name}")


def traced(robot: Robot, last: str = "qdd", *, theta_input: bool = False) -> Traced:
    """Symbols for a robot without loops. ``last`` names the third vector; theta is baked in unless it is an input."""
    import casadi

    if robot.loops:
        raise InputError(f"robot {robot.name!r} has closed loops: its graphs take closed coordinates, see loops")
    mech = mechanism(robot)
    size = len(robot.coordinates)
    symbols = [casadi.SX.sym(name, size) for name in ("q", "qd", last)]
    inputs = [(Input(name, size), x) for name, x in zip(("q", "qd", last), symbols, strict=True)]
    factors, offset = robot.coupling_map
    A = exact(factors.tolist()) if factors.size else zeros(*factors.shape)
    x, xd, third = (scalars(vector) for vector in symbols)
    q = dot(A, x) + exact(offset.tolist())
    qd, vd = dot(A, xd), dot(A, third)
    motion = Motion(q, array([casadi.cos(e) for e in q]), array([casadi.sin(e) for e in q]), qd, qd, vd)
    theta: Any = exact(robot.numeric.theta.tolist())
    if theta_input:
        vector = casadi.SX.sym("theta", len(theta))
        inputs.append((Input("theta", len(theta), shared=True), vector))
        theta = scalars(vector)
    return Traced(robot, mech, tuple(inputs), A, motion, xd, third, theta)


def inverse_dynamics_graph(robot: Robot, *, theta_input: bool = False) -> Graph:
    """(q, qd, qdd) → tau, friction and rotor inertia included."""
    t = traced(robot, theta_input=theta_input)
    rho = inverse_dynamics(t.mechanism, t.motion, t.link_theta) + _drive_torque(t, with_inertia=True)
    return t.graph("inverse dynamics", t.to_coordinates(rho) + _motor_torque(t, with_inertia=True))


def bias_graph(robot: Robot) -> Graph:
    """(q, qd) → the torque without acceleration, friction included."""
    return _two(traced(robot), "bias", _bias)


def gravity_graph(robot: Robot) -> Graph:
    """q → the torque that holds the arm at rest, friction and offsets left out."""
    t = traced(robot)
    held = t.to_coordinates(dynamics.gravity(t.mechanism, t.motion, t.link_theta))
    return trace("gravity", t.inputs[:1], held, made_from=f"gravity of {robot.name}")


def mass_matrix_graph(robot: Robot) -> Graph:
    """q → the mass matrix, rotor inertia included."""
    t = traced(robot)
    return trace("mass matrix", t.inputs[:1], _mass_matrix(t), made_from=f"mass matrix of {robot.name}")


def coriolis_graph(robot: Robot) -> Graph:
    """(q, qd) → C with tau = M qdd + C qd + g and Mdot - 2 C skew."""
    return _two(
        traced(robot),
        "Coriolis matrix",
        lambda t: dot(dot(t.A.T, dynamics.coriolis_matrix(t.mechanism, t.motion, t.link_theta)), t.A),
    )


def momentum_graph(robot: Robot) -> Graph:
    """(q, qd) → M qd."""
    return _two(traced(robot), "momentum", lambda t: dot(_mass_matrix(t), t.xd))


def energy_graph(robot: Robot) -> Graph:
    """(q, qd) → kinetic and potential energy."""

    def energies(t: Traced) -> np.ndarray:
        kinetic = dot(t.xd[None], dot(_mass_matrix(t), t.xd))[0] * 0.5
        return array([kinetic, dynamics.potential_energy(t.mechanism, t.motion, t.link_theta)])

    return _two(traced(robot), "energy", energies)


def forward_dynamics_graph(robot: Robot) -> Graph:
    """(q, qd, tau) → qdd."""
    t = traced(robot, "tau")
    M, right = _mass_matrix(t), t.last - _bias(t)
    solve = composite_body.solve if not robot.couplings else composite_body.solve_dense
    return t.graph("forward dynamics", solve(t.mechanism, M, right))


def _two(t: Traced, name: str, output: Callable[[Traced], np.ndarray]) -> Graph:
    return trace(name, t.inputs[:2], output(t), made_from=f"{name} of {t.robot.name}")


def _bias(t: Traced) -> np.ndarray:
    rho = dynamics.bias(t.mechanism, t.motion, t.link_theta) + _drive_torque(t, with_inertia=False)
    return t.to_coordinates(rho) + _motor_torque(t, with_inertia=False)


def _mass_matrix(t: Traced) -> np.ndarray:
    M = composite_body.mass_matrix(t.mechanism, t.motion, t.link_theta)
    joints = len(t.robot.movable)
    for k in range(joints):
        M[k, k] = M[k, k] + t.drive(k)[0]
    M = dot(dot(t.A.T, M), t.A)
    for k in range(len(t.robot.motors)):
        place = len(t.xd) - len(t.robot.motors) + k
        M[place, place] = M[place, place] + t.drive(joints + k)[0]
    return M


def _drive_torque(t: Traced, *, with_inertia: bool) -> np.ndarray:
    """What rotors and friction of the joints take."""
    rates, accelerations = t.motion.qd, t.motion.vd
    joints = len(t.robot.movable)
    return array([_torque(t.drive(k), rates[k], accelerations[k], with_inertia) for k in range(joints)] or [0])[:joints]


def _motor_torque(t: Traced, *, with_inertia: bool) -> np.ndarray:
    """What rotors and friction of the motors take, in all coordinates."""
    torque, joints, motors = zeros(len(t.xd)), len(t.robot.movable), len(t.robot.motors)
    for k in range(motors):
        place = len(t.xd) - motors + k
        torque[place] = _torque(t.drive(joints + k), t.xd[place], t.last[place], with_inertia)
    return torque


def _torque(drive: np.ndarray, rate: Any, acceleration: Any, with_inertia: bool) -> Any:
    import casadi

    terms = [(drive[1], rate), (drive[2], casadi.sign(rate)), (drive[3], 1)]
    if with_inertia:
        terms.append((drive[0], acceleration))
    return dot(array([factor for factor, _ in terms])[None], array([value for _, value in terms]))[0]
