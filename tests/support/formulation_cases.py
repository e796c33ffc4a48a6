"""Robots, states and comparisons for the tests of formulations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import sympy

import ytheta
from tests.support import example_robots
from tests.support.pinocchio_peer import peer
from ytheta.dynamics.formulations import newton_euler
from ytheta.dynamics.mechanism import Mechanism, mechanism
from ytheta.dynamics.motion import Motion, numeric_motion
from ytheta.dynamics.vectors import array
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot

CATALOG = ("stanford", "puma560", "ha-scara", "lu-puma4", "lu-two-link", "iiwa14", "rx90")
URDFS = (
    "ur10_robot.urdf", "panda.urdf", "tiago_no_hand.urdf", "double_pendulum.urdf", "kinova.urdf", "talos_left_arm.urdf",
)  # fmt: skip

Formulation = Callable[[Mechanism, Motion], np.ndarray]


@lru_cache(maxsize=64)
def load(name: str) -> Robot:
    return ytheta.load(example_robots.urdf(name), snap=0) if name.endswith(".urdf") else ytheta.load(name)


def state(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """q, qd, qdd (or vd) and v."""
    q, qd, qdd, v = np.random.default_rng(seed).uniform(-2.0, 2.0, (4, count))
    return q, qd, qdd, v


def close(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-10) -> bool:
    """Equal column by column, each relative to its own largest entry (or to 1e-2, for columns that are nearly zero)."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    assert a.shape == b.shape
    scale = np.maximum(1e-2, np.abs(b).max(axis=0, initial=0.0))
    return bool((np.abs(a - b) <= tolerance * scale).all())


def theta_of(mech: Mechanism) -> np.ndarray:
    return np.concatenate([link.inertia.vector for link in mech.robot.links[1:]])


def equals_newton_euler_and_pinocchio(regressor: Formulation, robot: Robot, tolerance: float = 1e-10) -> bool:
    known = _oracles(robot)
    Y = regressor(known.mech, known.ordinary)
    return (
        close(Y, known.newton_euler, tolerance)
        and close(regressor(known.mech, known.two), known.newton_euler_two, tolerance)
        and close(Y, known.pinocchio, tolerance)
    )


@dataclass(frozen=True, eq=False)
class _Oracles:
    """An ordinary motion and one with two velocities, and the regressors that every formulation is compared with."""

    mech: Mechanism
    ordinary: Motion
    two: Motion
    newton_euler: np.ndarray
    newton_euler_two: np.ndarray
    pinocchio: np.ndarray


@lru_cache(maxsize=64)
def _oracles(robot: Robot) -> _Oracles:
    mech = mechanism(robot)
    q, qd, qdd, v = state(mech.joints)
    ordinary, two = numeric_motion(q, qd, qdd), numeric_motion(q, qd, qdd, v)
    one_velocity, two_velocities = (newton_euler.regressor(mech, motion).astype(float) for motion in (ordinary, two))
    pinocchio = np.atleast_2d(peer(robot).regressor(q, qd, qdd))  # a matrix of one row comes as a vector
    for Y in (one_velocity, two_velocities, pinocchio):
        Y.flags.writeable = False
    return _Oracles(mech, ordinary, two, one_velocity, two_velocities, pinocchio)


def with_gravity_flipped(regressor: Formulation) -> Formulation:
    return lambda mech, motion: regressor(replace(mech, gravity=-mech.gravity), motion)


def with_columns_swapped(regressor: Formulation) -> Formulation:
    """The last body's Ixx and Ixy exchanged."""

    def swapped(mech: Mechanism, motion: Motion) -> np.ndarray:
        Y = regressor(mech, motion)
        Y[:, [-6, -5]] = Y[:, [-5, -6]]
        return Y

    return swapped


def robot_without_joints() -> Robot:
    """A load on the base: a body, but no joint."""
    grasp = Joint("grasp", JointKind.FIXED, "base", "load", Frame.shift(0.1, 0.2, 0.3))
    return Robot("motionless", (Link("base"), Link("load", Inertia.point_mass(1.0, (0.1, 0.0, 0.0)), load=True)), (grasp,))


def fork() -> Robot:
    """Two branches on one turning link: a slider with a seat, and a turning arm that holds a load."""
    seat = Frame.shift(0.1, -0.2, 0.3) @ Frame.from_rpy(0.3, 0.1, -0.4)
    skewed = (0.6, 0.0, 0.8)
    body = Inertia.about_center(2.0, (0.1, -0.2, 0.3), ((0.3, 0.01, 0.02), (0.01, 0.2, 0.03), (0.02, 0.03, 0.25)))
    links = (Link("base"), *(Link(name, body) for name in ("trunk", "slider", "arm")))
    joints = (
        Joint("turn", JointKind.REVOLUTE, "base", "trunk", Frame.shift(0.0, 0.1, 0.5), seat=seat),
        Joint("slide", JointKind.PRISMATIC, "trunk", "slider", Frame.shift(0.2, 0.0, 0.1), skewed, seat),
        Joint("swing", JointKind.REVOLUTE, "trunk", "arm", Frame.from_rpy(0.5, -0.2, 0.1), skewed, seat),
    )
    return Robot("fork", links, joints).with_load(body, on="arm", frame=Frame.shift(0.0, 0.0, 0.4))


def with_symbols(arm: Mechanism) -> Mechanism:
    """The two-link arm with its lengths l1, l2 and gravity g as symbols."""
    l1, l2, g = sympy.symbols("l1 l2 g", positive=True)
    link1, link2, held = arm.bodies
    bodies = (link1, replace(link2, p=array([l1, 0, 0])), replace(held, p=array([l2, 0, 0])))
    return replace(arm, bodies=bodies, gravity=array([0, -g, 0]))


def identical(A: object, B: object) -> bool:
    """Equal as functions of all symbols: every difference is a polynomial that s² + c² - 1 of its angles divide.

    These divisors have leading terms without common factors, so the remainder decides; simplify takes 50 times longer.
    """
    for entry in sympy.Matrix(A) - sympy.Matrix(B):
        difference = sympy.expand(sympy.nsimplify(entry, rational=True), trig=True)
        angles = sorted({f.args[0] for f in difference.atoms(sympy.sin, sympy.cos)}, key=str)
        pairs = [(sympy.sin(x), sympy.cos(x), *sympy.symbols(f"s_{x} c_{x}")) for x in angles]
        difference = difference.subs({old: new for sin, cos, s, c in pairs for old, new in ((sin, s), (cos, c))})
        circles = [s**2 + c**2 - 1 for _, _, s, c in pairs]
        if circles:
            difference = sympy.reduced(difference, circles, *(s for _, _, s, _ in pairs))[1]
        if sympy.expand(difference) != 0:
            return False
    return True
