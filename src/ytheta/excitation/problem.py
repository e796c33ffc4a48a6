"""What a trajectory is for, and what it must keep: parameters, limits, surroundings, noise, earlier measurements."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ytheta.arguments import check_count, check_kind, check_number
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.excitation.clearance.obstacle import Obstacle
from ytheta.excitation.constraints import Constraints, PathConstraint, RobotKernels
from ytheta.excitation.criteria import MotionInformation
from ytheta.excitation.design_model import DesignModel, collect_information
from ytheta.excitation.joint_bounds import LimitInput, LimitMargins, PositionInput, find_bounds
from ytheta.excitation.result import describe_assumed_noise
from ytheta.excitation.solver import Budget, check_start, find_center
from ytheta.excitation.surroundings import BoxInput, FloorInput, find_clearances
from ytheta.excitation.trajectories import BSpline, Fourier, RestToRest
from ytheta.findings import Finding
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.logs.reading.read import LogInput
from ytheta.robot.parameters import check_inertias_are_complete
from ytheta.robot.robot import Robot
from ytheta.shapes import BaseByBase, PerJoint


@dataclass(frozen=True, eq=False)
class Problem:
    """What trajectories are designed for, or assessed by.

    Attributes
    ----------
    model        robot and parameters
    base         the parameters, with smooth friction, so that they have derivatives
    constraints  what a trajectory must keep
    noise        standard deviations of the torque noise in each sample, Nm or N
    rate         samples per second with independent noise
    prior        information of earlier measurements; zero without them
    findings     what was assumed
    """

    model: DesignModel
    base: BaseParameters
    constraints: Constraints
    noise: PerJoint
    rate: float
    prior: BaseByBase
    findings: tuple[Finding, ...]

    @property
    def has_prior(self) -> bool:
        return bool(self.prior.any())

    def expect_information(self, seconds: float) -> MotionInformation:
        """Return the Fisher information of a motion of this duration, as a function of its Gram matrices."""
        return MotionInformation(seconds * self.rate / self.noise**2, self.prior)


def pose_problem(
    model: DesignModel,
    *,
    logs: Sequence[LogInput],
    position: PositionInput,
    velocity: LimitInput,
    acceleration: LimitInput,
    jerk: LimitInput,
    effort: LimitInput,
    position_margin: float,
    velocity_margin: float,
    effort_margin: float,
    self_collision: bool,
    clearance: float,
    floor: FloorInput,
    obstacles: Sequence[Obstacle],
    box: BoxInput,
    paths: Sequence[PathConstraint],
    noise: LimitInput,
    rate: float,
) -> Problem:
    """Check the arguments that ``excite`` and ``assess_trajectory`` share; they are explained there."""
    form = "a share from 0 to below 1"
    margins = LimitMargins(
        check_number("position_margin", position_margin, form, allow=is_share),
        check_number("velocity_margin", velocity_margin, form, allow=is_share),
        check_number("effort_margin", effort_margin, form, allow=is_share),
    )
    rate = check_rate(rate)
    bounds, findings = find_bounds(
        model.robot,
        position=position,
        velocity=velocity,
        acceleration=acceleration,
        jerk=jerk,
        effort=effort,
        margins=margins,
    )
    if np.isfinite(bounds.effort).any():
        remedy = "design without effort limits: --effort inf (effort=math.inf)"
        check_inertias_are_complete(model.robot, "a motion within effort limits", alternative=remedy)
    base = model.find_base(bounds.velocity)
    kernels = RobotKernels(model.robot, base)
    clearances, clearance_findings = find_clearances(
        bounds.limit_positions(model.robot),
        self_collision=self_collision,
        clearance=clearance,
        floor=floor,
        obstacles=obstacles,
        box=box,
    )
    empty = None if model.empty is None else RobotKernels(model.empty, base)
    constraints = Constraints(bounds, kernels, (*clearances, *check_paths(paths)), empty)
    deviations = find_noise(model.robot, noise, bounds.effort / (1.0 - margins.effort))
    prior = collect_information(kernels, model=model.model, logs=logs, noise=deviations, rate=rate)
    assumed = describe_assumed_noise(deviations, rate, is_assumed=noise is None)
    return Problem(model, base, constraints, deviations, rate, prior, (*findings, *clearance_findings, *assumed))


# Arguments of ``excite``: checked, and turned into the values that the search needs.


# s; duration of a motion for the whole robot, and for a payload. Chosen on: rule of thumb.
DEFAULT_SECONDS, DEFAULT_PAYLOAD_SECONDS = 20.0, 12.0
# s; durations of a motion beyond these are refused as typing errors. Chosen on: rule of thumb.
MIN_SECONDS, MAX_SECONDS = 0.01, 1e6
# Periods per second, Hz; others are refused as typing errors. Chosen on: rule of thumb.
MIN_FREQUENCY, MAX_FREQUENCY = 1e-6, 1e3
MIN_RATE, MAX_RATE = 1e-3, 1e6  # Samples per second; others are refused as typing errors. Chosen on: rule of thumb.
# Nm or N; standard deviations of torques beyond these are refused as typing errors. Chosen on: rule of thumb.
MIN_NOISE, MAX_NOISE = 1e-9, 1e9
# Largest number of random starts, each of which takes milliseconds; more are refused as a typing error. Chosen on:
# rule of thumb.
MAX_STARTS = 1_000_000
# Hz; changed a little so that the duration is a whole number of periods. Chosen on: rule of thumb.
DEFAULT_BASE_FREQUENCY = 0.1
PARAMETRISATIONS = ("fourier", "b-spline")
# Samples per period during the search: for each harmonic, and at least. Chosen on: rule of thumb.
POINTS_PER_HARMONIC, MIN_POINTS = 20, 100
EFFORT_NOISE_SHARE = 0.01  # Assumed noise of a torque, relative to its limit. Chosen on: rule of thumb.
UNLIMITED_NOISE = 1.0  # Nm or N; assumed noise of a torque without limit. Chosen on: rule of thumb.


def check_budget(starts: int, polished: int) -> Budget:
    counts, form = {"starts": starts, "polished": polished}, f"a whole number from 1 to {MAX_STARTS:,}"
    return Budget(*(check_count(name, count, form, maximum=MAX_STARTS) for name, count in counts.items()))


def is_share(value: float) -> bool:
    return 0.0 <= value < 1.0


def choose_seconds(seconds: float | None, *, has_payload: bool) -> float:
    """Return the duration of a motion."""
    if seconds is None:
        return DEFAULT_PAYLOAD_SECONDS if has_payload else DEFAULT_SECONDS
    form = f"a positive number of seconds from {MIN_SECONDS:g} to {MAX_SECONDS:g}, such as 20"
    return check_number("seconds", seconds, form, allow=lambda value: MIN_SECONDS <= value <= MAX_SECONDS)


def check_rate(rate: float) -> float:
    form = f"a positive number of samples per second from {MIN_RATE:g} to {MAX_RATE:g}"
    return check_number("rate", rate, form, allow=lambda value: MIN_RATE <= value <= MAX_RATE)


def check_paths(paths: Any) -> tuple[PathConstraint, ...]:
    form = "a list of constraints with names, lipschitz, compute_margins and pull_back"
    check_kind("paths", paths, (list, tuple), form)
    for path in paths:
        check_kind("one of paths", path, PathConstraint, form)
    return tuple(paths)


def choose_basis(
    seconds: float | None, base_frequency: float | None, harmonics: int, parametrisation: str, *, has_payload: bool
) -> tuple[Fourier | BSpline, int]:
    """Return the functions and the number of periods; the duration is a whole number of periods."""
    duration = choose_seconds(seconds, has_payload=has_payload)
    if parametrisation not in PARAMETRISATIONS:
        hint = suggest_names(parametrisation, PARAMETRISATIONS)
        raise UnknownNameError(f"there is no parametrisation {parametrisation!r}{hint}")
    count = check_count("harmonics", harmonics, "a whole number from 2 to 50", minimum=2, maximum=50)
    periods = max(1, round(duration * DEFAULT_BASE_FREQUENCY))
    if base_frequency is not None:
        frequency = check_number(
            "base_frequency",
            base_frequency,
            f"a positive number of hertz from {MIN_FREQUENCY:g} to {MAX_FREQUENCY:g}",
            allow=lambda value: MIN_FREQUENCY <= value <= MAX_FREQUENCY,
        )
        periods = round(duration * frequency)
        if periods < 1 or not math.isclose(periods, duration * frequency, rel_tol=1e-6):
            nearest = max(1, periods) / duration
            raise InputError(
                f"{duration:g} s at {frequency:g} Hz are {duration * frequency:g} periods; give a base_frequency with "
                f"a whole number of periods, such as {nearest:g}"
            )
    period = duration / periods
    return (Fourier(period, count) if parametrisation == "fourier" else BSpline(period, 2 * count + 1)), periods


def make_space(constraints: Constraints, basis: Fourier | BSpline, periods: int, start: Any, seed: int) -> RestToRest:
    bounds = constraints.bounds
    if start is None:
        center = find_center(constraints, np.random.default_rng([seed, 0]))
    else:
        center = _read_pose(constraints.kernels.robot, start)
        check_start(constraints, center)
    harmonics = basis.harmonics if isinstance(basis, Fourier) else basis.via_points // 2
    points = max(MIN_POINTS, POINTS_PER_HARMONIC * harmonics)
    return RestToRest(bounds.joints, basis, periods, center, bounds.half_range, start is not None, points)


def _read_pose(robot: Robot, start: Any) -> PerJoint:
    names = robot.actuated
    if isinstance(start, Mapping):
        for name in (*start, *names):
            if name not in names:
                raise UnknownNameError(f"start: there is no actuated joint {name!r}{suggest_names(name, names)}")
            if name not in start:
                raise InputError(f"start lacks the position of {name!r}; give all of {', '.join(names)}")
        start = [start[name] for name in names]
    try:
        pose = np.array(start, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"start is {start!r}; give one position for each of {', '.join(names)}") from None
    if pose.shape != (len(names),) or not np.isfinite(pose).all():
        raise InputError(f"start has the shape {pose.shape}; give one finite position for each of {', '.join(names)}")
    return pose


def find_noise(robot: Robot, noise: LimitInput, effort: PerJoint) -> PerJoint:
    """Return the standard deviations of the torques; without ``noise``, they follow from the effort limits."""
    shares = np.clip(EFFORT_NOISE_SHARE * effort, MIN_NOISE, MAX_NOISE)
    values = np.where(np.isfinite(effort), shares, UNLIMITED_NOISE)
    if noise is None:
        return values
    form = f"a positive number of Nm or N from {MIN_NOISE:g} to {MAX_NOISE:g}"
    by_joint = noise if isinstance(noise, Mapping) else dict.fromkeys(robot.actuated, noise)
    for name, value in by_joint.items():
        if name not in robot.actuated:
            raise UnknownNameError(f"noise: there is no joint {name!r}{suggest_names(name, robot.actuated)}")
        values[robot.actuated.index(name)] = check_number(
            f"noise of {name!r}", value, form, allow=lambda value: MIN_NOISE <= value <= MAX_NOISE
        )
    return values
