"""Arms with symbolic lengths, exact motion with the torques of Pinocchio, and their true model parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

import ytheta
from tests.support.estimation_cases import draw_body
from tests.support.form_cases import Fourier, torque
from ytheta.files.symbols import symbol
from ytheta.identifiability.regrouping import Regrouping
from ytheta.logs.log import Log
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive, Joint, JointKind, Link
from ytheta.robot.robot import Robot

FRICTION = ("viscous", "coulomb", "offset")
RATE = 200.0
ARMS = ("ha-scara", "RPR", "PRR")  # the arm of the paper, and two random arms of revolute and prismatic joints


@cache
def make_arm(name: str) -> Robot:
    """The SCARA arm with other bodies, or a random arm: kinds of joints, quarter turns between axes, two lengths each.

    All lengths are symbols with values.
    """
    rng = np.random.default_rng(sum(map(ord, name)))
    if name == "ha-scara":
        scara = ytheta.load(name)
        return scara.with_inertias({link.name: draw_body(rng) for link in scara.links[1:]})
    links, joints, lengths = [Link("base")], [], []
    for k, kind in enumerate(name, start=1):
        links.append(Link(f"link{k}", draw_body(rng)))
        turn = Frame.turn((1.0, 0.0, 0.0), rng.choice([-0.5, 0.5]) * np.pi) if k > 1 else Frame()
        shift = Frame((symbol(f"a{k}"), 0.0, symbol(f"d{k}")), Frame().rotation) if k > 1 else Frame()
        lengths += [(f"{letter}{k}", float(rng.uniform(0.2, 0.6))) for letter in "ad" if k > 1]
        viscous, coulomb, offset = (float(x) for x in rng.uniform(0.2, 1.0, 3))
        drive = Drive(viscous=viscous, coulomb=coulomb, offset=offset)
        joint_kind = JointKind.REVOLUTE if kind == "R" else JointKind.PRISMATIC
        joints.append(Joint(f"joint{k}", joint_kind, links[-2].name, links[-1].name, shift @ turn, drive=drive))
    gravity = (0.0, -6.0, -7.0)
    return Robot(name, tuple(links), tuple(joints), gravity=gravity, lengths=tuple(lengths))


def forget_lengths(robot: Robot) -> Robot:
    """The robot without values of its lengths, and without inertias."""
    return replace(
        robot.with_inertias({link.name: Inertia() for link in robot.links}),
        lengths=tuple((name, None) for name, _ in robot.lengths),
    )


@dataclass(frozen=True, eq=False)
class UnknownLengthsCase:
    """A robot with all its values, its description without them, exact motion, and the true model parameters."""

    robot: Robot
    base: Regrouping
    motion: MotionSamples
    truth: np.ndarray

    def make_log(self, noise: float = 0.0, seed: int = 0) -> Log:
        """The motion as a log, with torque noise."""
        rng = np.random.default_rng(seed)
        assert self.motion.tau is not None
        tau = self.motion.tau + noise * rng.normal(size=self.motion.tau.shape)
        return Log(self.robot.actuated, self.motion.t, self.motion.q, tau=tau)


@cache
def make_case(name: str, seconds: float = 12.0, seed: int = 0, still: Sequence[int] = ()) -> UnknownLengthsCase:
    robot = make_arm(name)
    t = np.arange(round(seconds * RATE)) / RATE
    q, qd, qdd = Fourier(len(robot.movable), seed)(t)
    for k in still:
        q[:, k], qd[:, k], qdd[:, k] = 0.3, 0.0, 0.0
    motion = MotionSamples(t, q, qd, qdd, torque(robot.numeric, q, qd, qdd), None, np.arange(len(t)))
    base = ytheta.model_parameters(robot, friction=FRICTION, unknown_geometry=True)
    assert isinstance(base, Regrouping)
    return UnknownLengthsCase(robot, base, motion, replace(base, robot=robot).values)
