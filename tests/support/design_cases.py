"""Designs of small robots that the tests of ``excitation`` share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

import ytheta as yt
from ytheta.engine.engine import PickledByFields
from ytheta.excitation.constraints import Constraints, PathConstraint, RobotKernels
from ytheta.excitation.criteria import MotionInformation, PlainCondition
from ytheta.excitation.joint_bounds import JointBounds
from ytheta.excitation.solver import Design
from ytheta.excitation.trajectories import Fourier, RestToRest
from ytheta.robot.robot import Robot

PERIOD = 5.0


@cache
def load(name: str) -> Robot:
    return yt.load(name)


@cache
def make_kernels(name: str) -> RobotKernels:
    return RobotKernels(load(name), yt.base_parameters(load(name)))


def make_bounds(robot: Robot, **changes: float) -> JointBounds:
    """Generous limits of all joints; ``changes`` replace a limit of all joints."""
    count = len(robot.actuated)
    limits = {"lower": -1.5, "upper": 1.5, "velocity": 4.0, "acceleration": 30.0, "jerk": 300.0, "effort": 1e4}
    arrays = {key: np.full(count, value) for key, value in (limits | changes).items()}
    return JointBounds(robot.actuated, **arrays)  # type: ignore[arg-type]  # effort_margin is no array


def make_design(name: str, *, paths: tuple[PathConstraint, ...] = (), **changes: float) -> Design:
    """A design for the plain condition number about the middle of the ranges, or about home if there are loops."""
    kernels = make_kernels(name)
    bounds = make_bounds(kernels.robot, **changes)
    joints = len(bounds.joints)
    center = kernels.home if kernels.robot.loops else bounds.middle
    space = RestToRest(bounds.joints, Fourier(PERIOD, 5), 1, center, bounds.half_range, False, 100)
    criterion = PlainCondition(MotionInformation.unweighted(joints, len(kernels.base)))
    return Design(space, Constraints(bounds, kernels, paths), criterion)


def with_bounds(constraints: Constraints, **changes: float) -> Constraints:
    bounds = constraints.bounds
    arrays: dict[str, Any] = {key: np.full(len(bounds.joints), value) for key, value in changes.items()}
    return replace(constraints, bounds=replace(bounds, **arrays))


@dataclass(frozen=True, eq=False)
class Floor(PickledByFields):
    """The tip of a planar chain of rods, each as long as ``rod``, stays above a height."""

    joints: int
    height: float
    rod: float = 0.3

    @property
    def names(self) -> tuple[str, ...]:
        return ("tip above floor",)

    @property
    def lipschitz(self) -> np.ndarray:
        return self.rod * np.arange(self.joints, 0, -1.0)[None]

    def compute_margins(self, q: np.ndarray) -> np.ndarray:
        return self.rod * np.cos(np.cumsum(q, axis=1)).sum(axis=1, keepdims=True) - self.height

    def pull_back(self, q: np.ndarray, weights: np.ndarray) -> np.ndarray:
        slopes = -self.rod * np.sin(np.cumsum(q, axis=1))
        return weights * np.cumsum(slopes[:, ::-1], axis=1)[:, ::-1]
