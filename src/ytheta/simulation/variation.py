"""How the runs of a batch differ: draws of the robot's parameters, of gains, of the start and of the first estimate.

A link of another draw is a body still: its ten parameters share one factor, as if it were made of another material.
Rotor inertia, friction and offsets of each joint have a factor each. Factors are exp(spread * normal): 0.2 means
some 20 % more or less. Each run draws from its own stream: run 7 is the same robot in a batch of 8 and of 8000.
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
    """Spreads; 0 where all runs are alike."""

    parameters: float = 0.0  # of links and drives, relative
    gains: float = 0.0  # relative
    position: float = 0.0  # rad or m beside the reference at the start
    velocity: float = 0.0
    estimate: float = 0.0  # of what the controller takes the unknown for at the start, relative

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value >= 0.0):
                raise InputError(f"the spread of {name} is {value}; give 0 or more")


@dataclass(frozen=True, eq=False)
class SampledVariation:
    """What was drawn, one row for every run."""

    theta: Float[np.ndarray, "runs params"]
    gains: Float[np.ndarray, "runs gains"]
    position: Float[np.ndarray, "runs joints"]
    velocity: Float[np.ndarray, "runs joints"]
    estimate: Float[np.ndarray, "runs unknown"]  # factors


def sample_variation(
    robot: Robot, variation: Variation, *, gains: int, unknown: Sequence[str], streams: Sequence[np.random.Generator]
) -> SampledVariation:
    """One robot, one set of gains and one start for each stream; estimates of whole links are those of bodies too."""
    own, groups, guesses = robot.numeric.theta, _groups(robot.parameter_names), _groups(unknown)
    joints = len(robot.actuated)
    sizes = (_count(groups), gains, joints, joints, _count(guesses))
    rows = [[rng.standard_normal(size) for size in sizes] for rng in streams]
    parameters, factors, position, velocity, estimate = (
        np.array(column).reshape(len(streams), -1) for column in zip(*rows, strict=True)
    )
    return SampledVariation(
        own * np.exp(variation.parameters * parameters[:, groups]),
        np.exp(variation.gains * factors),
        variation.position * position,
        variation.velocity * velocity,
        np.exp(variation.estimate * estimate[:, guesses]),
    )


def perturb_parameters(robot: Robot, spread: float, rng: np.random.Generator) -> Robot:
    """A description with other masses and friction than the robot's, for a controller that does not learn."""
    (theta,) = sample_variation(robot, Variation(parameters=spread), gains=0, unknown=(), streams=rng.spawn(1)).theta
    return with_theta(robot.numeric, theta)


def _count(groups: np.ndarray) -> int:
    return int(groups.max(initial=-1)) + 1


def _groups(names: Sequence[str]) -> np.ndarray:
    """For every parameter the number of its factor: one for all of a link, one for each of a drive's."""
    numbers: dict[str, int] = {}
    found = []
    for name in names:
        part, _, kind = name.rpartition(".")
        key = part if kind in LINK_PARAMETERS else name
        found.append(numbers.setdefault(key, len(numbers)))
    return np.array(found, dtype=np.intp)
