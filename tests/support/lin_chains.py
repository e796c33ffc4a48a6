"""Chains and arms for the tests of Lin's recursions, and their torques by every formulation of inverse dynamics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tests.support.formulation_cases import link_parameters, state
from ytheta.dynamics.formulations import composite_newton_euler, newton_euler
from ytheta.dynamics.formulations.composite_bodies import CompositeBodies, find_composite_bodies
from ytheta.dynamics.formulations.composite_newton_euler import EndEffectorWrench
from ytheta.dynamics.formulations.equivalent_bodies import EquivalentBodies, find_equivalent_bodies
from ytheta.dynamics.formulations.minimal_newton_euler import inverse_dynamics
from ytheta.dynamics.mechanism import build_mechanism, numeric_motion
from ytheta.robot.frame import Frame, to_vector
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive, Joint, JointKind, Link
from ytheta.robot.robot import Robot

Bodies = Callable[[Robot], EquivalentBodies]


def agree(tau: np.ndarray, other: np.ndarray, tolerance: float = 1e-10) -> bool:
    """Whether torques are equal, each relative to itself or to a hundredth of the largest, whichever is larger."""
    tau, other = np.asarray(tau, dtype=float), np.asarray(other, dtype=float)
    scale = np.maximum(abs(other), np.maximum(1e-2 * abs(other).max(initial=0.0), 1e-6))
    return bool((abs(tau - other) <= tolerance * scale).all())


def minimal_torque(robot: Robot, seed: int = 0, bodies: Bodies = find_equivalent_bodies) -> np.ndarray:
    arm = bodies(robot)
    q, qd, qdd, _ = state(len(robot.merged.movable), seed)
    return inverse_dynamics(arm, numeric_motion(q + arm.offsets, qd, qdd)).astype(float)


def composite_torque(
    robot: Robot, seed: int = 0, wrench: EndEffectorWrench | None = None, arm: CompositeBodies | None = None
) -> np.ndarray:
    arm = find_composite_bodies(robot) if arm is None else arm
    q, qd, qdd, _ = state(len(robot.merged.movable), seed)
    return composite_newton_euler.inverse_dynamics(arm, numeric_motion(q + arm.offsets, qd, qdd), wrench).astype(float)


def expected_torque(robot: Robot, seed: int = 0) -> np.ndarray:
    mech = build_mechanism(robot)
    q, qd, qdd, _ = state(mech.joints, seed)
    theta = link_parameters(mech) if mech.bodies else np.zeros(0)
    return newton_euler.inverse_dynamics(mech, numeric_motion(q, qd, qdd), theta).astype(float)


TORQUES = {
    "minimal_newton_euler": minimal_torque,
    "newton_euler": expected_torque,
    "composite_newton_euler": composite_torque,
}


def random_body(rng: np.random.Generator) -> Inertia:
    """A body without any symmetry."""
    body = Inertia()
    for place in rng.normal(0.0, 0.3, (6, 3)):
        body = body + Inertia.point_mass(rng.uniform(0.2, 1.0), to_vector(place))
    return body


def with_any_inertias(robot: Robot, seed: int = 3) -> Robot:
    """The robot with ten non-zero parameters for every link and without drives, as the papers count."""
    rng = np.random.default_rng(seed)
    links = tuple(replace(link, inertia=random_body(rng)) for link in robot.links[1:])
    return without_drives(replace(robot, links=(robot.links[0], *links)))


def without_drives(robot: Robot) -> Robot:
    return replace(robot, joints=tuple(replace(joint, drive=Drive()) for joint in robot.joints))


def build_chain(
    kinds: str, *, gravity: Sequence[float] = (0.0, 0.0, -9.81), parallel: Sequence[int] = (), seed: int = 1
) -> Robot:
    """A chain of revolute (R) and prismatic (P) joints with general angles and lengths; alpha = 0 for ``parallel``."""
    rng = np.random.default_rng(seed)
    links, joints = [Link("link0")], []
    for k, kind in enumerate(kinds, start=1):
        alpha, a, d, theta = rng.uniform(0.3, 0.6, 4)
        twist = Frame.turn((1.0, 0.0, 0.0), 0.0 if k == 1 or k in parallel else 2 * alpha) @ Frame.shift(x=a)
        place = twist @ Frame.turn((0.0, 0.0, 1.0), 0.0 if kind == "R" else theta) @ Frame.shift(z=d)
        links.append(Link(f"link{k}", random_body(rng)))
        moves = JointKind.REVOLUTE if kind == "R" else JointKind.PRISMATIC
        joints.append(Joint(f"joint{k}", moves, f"link{k - 1}", f"link{k}", place))
    return Robot(kinds, tuple(links), tuple(joints), gravity=to_vector(gravity))
