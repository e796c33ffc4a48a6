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
from ytheta.dynamics.mechanism import Mechanism, Motion, build_mechanism, numeric_motion
from ytheta.dynamics.vectors import array
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.reading.catalog import list_names
from ytheta.robot.robot import Robot

ALL_ROBOTS = (
    *list_names(), "ur10_robot.urdf", "panda.urdf", "kinova.urdf", "xarm7.urdf", "tiago.urdf", "baxter.urdf",
    "talos_full_v2.urdf", "icub.urdf", "solo12.urdf", "allegro_right_hand.urdf", "pr2.urdf", "double_pendulum.urdf",
)  # fmt: skip

Formulation = Callable[[Mechanism, Motion], np.ndarray]


@lru_cache(maxsize=64)
def load(name: str) -> Robot:
    """A robot of the catalog, or of an example URDF with its angles as they are."""
    return ytheta.load(example_robots.urdf(name), snap=0) if name.endswith(".urdf") else ytheta.load(name)


def state(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Random q, qd, qdd (or vd) and v."""
    q, qd, qdd, v = np.random.default_rng(seed).uniform(-2.0, 2.0, (4, count))
    return q, qd, qdd, v


def close(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-10) -> bool:
    """Whether arrays are equal column by column, relative to the largest entry of the column or to 1e-2."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    assert a.shape == b.shape
    scale = np.maximum(1e-2, np.abs(b).max(axis=0, initial=0.0))
    return bool((np.abs(a - b) <= tolerance * scale).all())


def link_parameters(mech: Mechanism) -> np.ndarray:
    """The ten parameters of all bodies, in their order."""
    return np.concatenate([link.inertia.vector for link in mech.robot.links[1:]])


def equals_newton_euler_and_pinocchio(regressor: Formulation, robot: Robot, tolerance: float = 1e-10) -> bool:
    """Whether a regressor is right for an ordinary motion and for two velocities."""
    oracles = _oracles(robot)
    Y = regressor(oracles.mech, oracles.ordinary)
    return (
        close(Y, oracles.newton_euler, tolerance)
        and close(regressor(oracles.mech, oracles.reference), oracles.newton_euler_reference, tolerance)
        and close(Y, oracles.pinocchio, tolerance)
    )


@dataclass(frozen=True, eq=False)
class _Oracles:
    """An ordinary motion, a motion with a reference velocity, and the regressors to compare formulations with."""

    mech: Mechanism
    ordinary: Motion
    reference: Motion
    newton_euler: np.ndarray
    newton_euler_reference: np.ndarray
    pinocchio: np.ndarray


@lru_cache(maxsize=64)
def _oracles(robot: Robot) -> _Oracles:
    mech = build_mechanism(robot)
    q, qd, qdd, v = state(mech.joints)
    ordinary, reference = numeric_motion(q, qd, qdd), numeric_motion(q, qd, qdd, v)
    Y, Y_reference = (newton_euler.regressor(mech, motion).astype(float) for motion in (ordinary, reference))
    Y_pinocchio = np.atleast_2d(peer(robot).regressor(q, qd, qdd))  # Pinocchio returns one row as a vector
    for array_ in (Y, Y_reference, Y_pinocchio):
        array_.flags.writeable = False
    return _Oracles(mech, ordinary, reference, Y, Y_reference, Y_pinocchio)


def with_gravity_flipped(regressor: Formulation) -> Formulation:
    return lambda mech, motion: regressor(replace(mech, gravity=-mech.gravity), motion)


def with_columns_swapped(regressor: Formulation) -> Formulation:
    """The regressor with Ixx and Ixy of the last body exchanged."""

    def swapped(mech: Mechanism, motion: Motion) -> np.ndarray:
        Y = regressor(mech, motion)
        Y[:, [-6, -5]] = Y[:, [-5, -6]]
        return Y

    return swapped


def robot_without_joints() -> Robot:
    """A load on the base: a body without a moving joint."""
    grasp = Joint("grasp", JointKind.FIXED, "base", "load", Frame.shift(0.1, 0.2, 0.3))
    load = Link("load", Inertia.point_mass(1.0, (0.1, 0.0, 0.0)), load=True)
    return Robot("motionless", (Link("base"), load), (grasp,))


def fork() -> Robot:
    """Two branches on one revolute link: a prismatic one with a seat, and a revolute arm that holds a load."""
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
    """Whether matrices are equal as functions of their symbols.

    Every difference must be divisible by the polynomials s² + c² - 1 of its angles. These have leading terms without
    common factors, so the remainder decides. sympy.simplify takes 50 times longer.
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
