"""Differences between the runs of a simulation: random parameters, gains, starts and first estimates.

The ten parameters of a link share one factor, as if it were made of another material, so that a physically consistent
link stays physically consistent. The rotor inertia, friction and offset of each joint have a factor each. Factors are
exp(spread * normal): a spread of 0.2 means about 20 % more or less. Each run has its own random stream: run 7 is the
same robot in a simulation of 8 runs and of 8000.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.conventions import LINK_PARAMETERS
from ytheta.errors import InputError
from ytheta.robot.parameters import with_theta
from ytheta.robot.robot import Robot
from ytheta.shapes import Float


@dataclass(frozen=True)
class Variation:
    """Standard deviations of the differences between runs; with 0 all runs are equal."""

    parameters: float = 0.0  # of links and drives, relative
    gains: float = 0.0  # relative
    position: float = 0.0  # offset from the reference at the start, rad or m
    velocity: float = 0.0  # likewise, rad/s or m/s
    estimate: float = 0.0  # initial error of the estimated parameters, relative

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value >= 0.0):
                raise InputError(f"the variation of {name} is {value}; give 0 or more")


@dataclass(frozen=True, eq=False)
class SampledVariation:
    """The values of every run, one row each; ``gains`` and ``estimate`` are factors."""

    theta: Float[np.ndarray, "runs params"]
    gains: Float[np.ndarray, "runs gains"]
    position: Float[np.ndarray, "runs joints"]
    velocity: Float[np.ndarray, "runs joints"]
    estimate: Float[np.ndarray, "runs unknown"]


def sample_variation(
    robot: Robot,
    variation: Variation,
    *,
    gains: int,
    unknown_names: Sequence[str],
    streams: Sequence[np.random.Generator],
) -> SampledVariation:
    """Sample the values of one run from each stream; estimates of a whole link are physically consistent too."""
    described, groups, estimate_groups = robot.numeric.theta, _groups(robot.parameter_names), _groups(unknown_names)
    joints = len(robot.actuated)
    sizes = (_count(groups), gains, joints, joints, _count(estimate_groups))
    rows = [[rng.standard_normal(size) for size in sizes] for rng in streams]
    parameters, factors, position, velocity, estimate = (
        np.array(column).reshape(len(streams), -1) for column in zip(*rows, strict=True)
    )
    return SampledVariation(
        described * np.exp(variation.parameters * parameters[:, groups]),
        np.exp(variation.gains * factors),
        variation.position * position,
        variation.velocity * velocity,
        np.exp(variation.estimate * estimate[:, estimate_groups]),
    )


def perturb_parameters(robot: Robot, spread: float, rng: np.random.Generator) -> Robot:
    """Return the robot with perturbed masses and friction, as an inexact model for a controller without adaptation."""
    variation = Variation(parameters=spread)
    (theta,) = sample_variation(robot, variation, gains=0, unknown_names=(), streams=rng.spawn(1)).theta
    return with_theta(robot.numeric, theta)


def _count(groups: np.ndarray) -> int:
    return int(groups.max(initial=-1)) + 1


def _groups(names: Sequence[str]) -> np.ndarray:
    """The index of the factor of every parameter: one for all of a link, one for each of a drive."""
    indices: dict[str, int] = {}
    groups = []
    for name in names:
        owner, _, kind = name.rpartition(".")
        key = owner if kind in LINK_PARAMETERS else name
        groups.append(indices.setdefault(key, len(indices)))
    return np.array(groups, dtype=np.intp)
