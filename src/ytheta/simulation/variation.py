"""Random differences between the runs of a simulation: parameters, gains, initial motion and initial estimates.

The ten parameters of a link share one factor, as if the link were made of another material. A physically consistent
link therefore stays physically consistent. Each rotor inertia, friction parameter and torque offset has its own factor.
A factor is exp(spread / 100 * x) with a standard normal x, so that a spread of 20 % is a standard deviation of about
20 %. Each run has its own random stream, so that run 7 is the same in a simulation of 8 runs and in one of 8000 runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType

import numpy as np

from ytheta.arguments import check_count, check_kind, check_number, is_not_negative, is_positive
from ytheta.conventions import LINK_PARAMETERS
from ytheta.errors import InputError
from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.parameters import with_theta
from ytheta.robot.parts import parameter_name
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


# Plant parameters that change during a run: new values at a time, and a load that the robot grasps.


GRASPED = "grasped"  # name of the link that is added for a grasped load


@dataclass(frozen=True)
class ParameterChange:
    """New values of standard parameters of the plant, from the first control instant at or after time t (s).

    Attributes
    ----------
    t       time of the change, s
    values  the new values, by the names of the parameters
    """

    t: float
    values: Mapping[str, float]

    def __post_init__(self) -> None:
        check_number("the time of a parameter change", self.t, "a number of seconds, 0 or later", allow=is_not_negative)
        form = "a dictionary of names and new values, such as {'link3.m': 1.5}"
        check_kind("values of a parameter change", self.values, Mapping, form)
        for name, value in self.values.items():
            check_number(f"the new value of {name!r}", value, "a finite number")

    def find_instant(self, period: float) -> int:
        """Return the index of the control instant at which the change takes effect."""
        return math.ceil(self.t / period - 1e-9)


@dataclass(frozen=True, repr=False)
class Grasp:
    """A load that the robot grasps during a simulation; ``grasp`` creates it.

    Attributes
    ----------
    inertia  inertia of the load in its own frame
    t        time at which the robot grasps the load, s
    on       the link that grasps the load; None for the last link
    frame    pose of the load in the frame of that link
    name     name of the load, a link of the robot that has no mass before t
    """

    inertia: Inertia
    t: float = 0.0
    on: str | None = None
    frame: Frame = IDENTITY
    name: str = GRASPED

    def __repr__(self) -> str:
        return f"Grasp({self.inertia.mass:g} kg at {self.t:g} s on {self.on or 'the last link'})"

    @property
    def change(self) -> ParameterChange:
        """The parameter change that gives the load its inertia."""
        pairs = zip(LINK_PARAMETERS, self.inertia.parameters, strict=True)
        return ParameterChange(self.t, {parameter_name(self.name, parameter): value for parameter, value in pairs})

    def add_load(self, robot: Robot) -> Robot:
        """Return the robot with a load without mass; the robot itself if it has a link with the name of the load."""
        if any(link.name == self.name for link in robot.links):
            return robot
        return robot.with_load(Inertia(), name=self.name, on=self.on, frame=self.frame)


def grasp(
    load: float | Inertia, t: float = 0.0, *, on: str | None = None, frame: Frame | None = None, name: str = GRASPED
) -> Grasp:
    """Return a load for the argument ``grasp`` of ``simulate``: the robot grasps the load at time t (s).

    ``load`` is the mass of a point load in kg, or an inertia. ``on`` is the link that grasps the load, by default the
    last one; ``frame`` is the pose of the load in the frame of this link, by default at its origin.
    """
    mass = load.mass if isinstance(load, Inertia) else load
    mass = check_number("the mass of a grasped load", mass, "a positive number of kg", allow=is_positive)
    check_number("the time at which a load is grasped", t, "a number of seconds, 0 or later", allow=is_not_negative)
    check_kind("on", on, (str, NoneType), "the name of a link")
    check_kind("frame", frame, (Frame, NoneType), "a Frame")
    inertia = load if isinstance(load, Inertia) else Inertia((mass, *([0.0] * 9)))
    return Grasp(inertia, t, on, IDENTITY if frame is None else frame, name)


def sort_changes(changes: Sequence[ParameterChange], period: float, steps: int) -> list[ParameterChange]:
    """Return the changes in order of time. Raise an error if a change comes after the last control instant."""
    in_order = sorted(changes, key=lambda change: change.t)
    if in_order and in_order[-1].find_instant(period) >= steps:
        raise InputError(
            f"a parameter change is set for t = {in_order[-1].t:g} s, but the simulation ends at {steps * period:g} s; "
            "choose an earlier time or a longer simulation"
        )
    return in_order


def group_by_instant(
    changes: Sequence[ParameterChange], period: float, names: Sequence[str], steps: int
) -> dict[int, list[tuple[int, float]]]:
    """Return the changes at each control instant that has any, as pairs (index in ``names``, new value)."""
    indices = {name: k for k, name in enumerate(names)}
    grouped: dict[int, list[tuple[int, float]]] = {}
    for change in sort_changes(changes, period, steps):
        for name, value in change.values.items():
            if name not in indices:
                raise InputError(
                    f"{name!r} changes at t = {change.t:g} s, but it is not an input of this closed loop; add it to "
                    "``varied``"
                )
            grouped.setdefault(change.find_instant(period), []).append((indices[name], value))
    return grouped


def apply_changes(theta: Float[np.ndarray, "runs varied"], changes: Sequence[tuple[int, float]]) -> None:
    """Write the new values, given as pairs of index and value, into the parameters of all runs."""
    for index, value in changes:
        theta[:, index] = value
