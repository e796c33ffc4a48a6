"""The arms of lin1995: a general chain, and the Stanford arm with any inertias or with published ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ytheta.robot.frame import Frame, to_vector
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive, Joint, JointKind, Link
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot

MASSES_PER_LINK = 6  # point masses; a body of so few has no symmetry


def make_general_chain(kinds: str, seed: int = 1) -> Robot:
    """A chain of revolute (R) and prismatic (P) joints with general angles, lengths and inertias."""
    rng = np.random.default_rng(seed)
    links, joints = [Link("link0")], []
    for k, kind in enumerate(kinds, start=1):
        alpha, a, d, theta = rng.uniform(0.3, 0.6, 4)
        twist = Frame.turn((1.0, 0.0, 0.0), 2.0 * alpha) @ Frame.shift(x=a)
        place = twist @ Frame.turn((0.0, 0.0, 1.0), 0.0 if kind == "R" else theta) @ Frame.shift(z=d)
        links.append(Link(f"link{k}", _draw_body(rng)))
        moves = JointKind.REVOLUTE if kind == "R" else JointKind.PRISMATIC
        joints.append(Joint(f"joint{k}", moves, f"link{k - 1}", f"link{k}", place))
    return Robot(f"general {kinds}", tuple(links), tuple(joints))


def load_stanford_arm() -> Robot:
    """The Stanford arm of the catalog without rotor inertias, which the paper does not have."""
    robot = load("stanford")
    return replace(robot, joints=tuple(replace(joint, drive=Drive()) for joint in robot.joints))


def with_general_inertias(robot: Robot, seed: int = 3) -> Robot:
    """The robot with ten non-zero parameters for every link."""
    rng = np.random.default_rng(seed)
    return robot.with_inertias({link.name: _draw_body(rng) for link in robot.links[1:]})


def _draw_body(rng: np.random.Generator) -> Inertia:
    """A body without any symmetry."""
    body = Inertia()
    for place in rng.normal(0.0, 0.3, (MASSES_PER_LINK, 3)):
        body = body + Inertia.point_mass(rng.uniform(0.2, 1.0), to_vector(place))
    return body
