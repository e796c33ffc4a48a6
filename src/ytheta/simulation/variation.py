"""Random differences between the runs of a simulation: parameters, gains, initial motion and initial estimates.

The ten parameters of a link share one factor, as if the link were made of another material. A physically consistent
link therefore stays physically consistent. Each rotor inertia, friction parameter and torque offset has its own factor.
A factor is exp(spread / 100 * x) with a standard normal x, so that a spread of 20 % is a standard deviation of about
20 %. Each run has its own random stream, so that run 7 is the same in a simulation of 8 runs and in one of 8000 runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.arguments import check_count, check_number, is_not_negative
from ytheta.conventions import LINK_PARAMETERS
from ytheta.robot.parameters import with_theta
from ytheta.robot.robot import Robot
from ytheta.shapes import Float


@dataclass(frozen=True)
class Variation:
    """Standard deviations of quantities that differ between runs; 0 means no difference.

    Attributes
    ----------
    spread           parameters of the plant (links and drives), in percent
    gain_spread      gains of the controller, in percent
    start_offset     initial position minus reference position, in rad or m
    velocity_offset  initial velocity minus reference velocity, in rad/s or m/s
    initial_error    initial error of the estimated parameters, in percent. For a controller without adaptation that
                     ``simulate`` creates, it is the error of the parameters in the controller's description, the same
                     in all runs. None means 20 for an adaptive controller that ``simulate`` creates, otherwise 0.
    """

    spread: float = 0.0
    gain_spread: float = 0.0
    start_offset: float = 0.0
    velocity_offset: float = 0.0
    initial_error: float | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None or name != "initial_error":
                check_number(name, value, "one number, 0 or more", allow=is_not_negative)


@dataclass(frozen=True, eq=False)
class SampledVariation:
    """The sampled values, one row for every run. ``gains`` and ``estimate`` contain factors."""

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
    streams: Iterable[np.random.Generator],
) -> SampledVariation:
    """Sample the values of one run from each stream. Streams are used one after the other, so they may be made lazily.

    If all parameters of a link are estimated, their initial estimates are physically consistent.
    """
    groups, estimate_groups = _group_parameters(robot.parameter_names), _group_parameters(unknown_names)
    joints = len(robot.actuated)
    sizes = (_count_groups(groups), gains, joints, joints, _count_groups(estimate_groups))
    # One array instead of five per run: these would take more memory than the results of the runs.
    row = np.dtype((float, (sum(sizes),)))
    normal: np.ndarray = np.fromiter((rng.standard_normal(sum(sizes)) for rng in streams), dtype=row)
    parameters, factors, position, velocity, estimate = np.split(normal, np.cumsum(sizes)[:-1], axis=1)
    return SampledVariation(
        robot.numeric.theta * np.exp(0.01 * variation.spread * parameters[:, groups]),
        np.exp(0.01 * variation.gain_spread * factors),
        variation.start_offset * position,
        variation.velocity_offset * velocity,
        np.exp(0.01 * (variation.initial_error or 0.0) * estimate[:, estimate_groups]),
    )


def perturb_parameters(robot: Robot, spread: float, rng: np.random.Generator) -> Robot:
    """Return the robot with parameters that are perturbed by ``spread`` percent.

    Controllers without adaptation use it as an inexact model.
    """
    variation = Variation(spread=spread)
    (theta,) = sample_variation(robot, variation, gains=0, unknown_names=(), streams=[rng]).theta
    return with_theta(robot.numeric, theta)


def make_generator(rng: int | np.random.Generator) -> np.random.Generator:
    """Return a random generator for a seed; a generator is returned as it is."""
    if isinstance(rng, np.random.Generator):
        return rng
    form = "a whole number, 0 or more, or a generator, numpy.random.default_rng(seed)"
    return np.random.default_rng(check_count("the random seed (rng)", rng, form, minimum=0))


def _count_groups(groups: np.ndarray) -> int:
    return int(groups.max(initial=-1)) + 1


def _group_parameters(names: Sequence[str]) -> np.ndarray:
    """Return for each parameter the index of its factor; the ten parameters of a link have the same factor."""
    indices: dict[str, int] = {}
    groups = []
    for name in names:
        owner, _, kind = name.rpartition(".")
        key = owner if kind in LINK_PARAMETERS else name
        groups.append(indices.setdefault(key, len(indices)))
    return np.array(groups, dtype=np.intp)
