"""What a simulation decides for the user: reference and duration, smooth friction, controller, recorded instants."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ytheta.control.create import create_controller
from ytheta.control.laws.law import Law
from ytheta.control.settings import ControllerSettings
from ytheta.errors import InputError
from ytheta.excitation.trajectories import Trajectory
from ytheta.excitation.trajectory_files import COEFFICIENT_SUFFIX, load_trajectory
from ytheta.findings import Finding, Severity
from ytheta.logs.reading.read import read_log
from ytheta.robot.robot import Robot
from ytheta.simulation.logged_reference import reference_from_log
from ytheta.simulation.references import ReferenceTrajectory, TimedReference, default_reference, sample_reference
from ytheta.simulation.result import SimulationFindingCode
from ytheta.simulation.substeps import (
    PRISMATIC_COULOMB_SPEED,
    REVOLUTE_COULOMB_SPEED,
    find_nonsmooth_drives,
    with_smooth_friction,
)
from ytheta.simulation.variation import Grasp, Variation, perturb_parameters

DEFAULT_SECONDS = 10.0  # s; duration if none is given. Chosen on: rule of thumb.
DEFAULT_INITIAL_ERROR = 20.0  # Percent; standard deviation of the initial estimates. Chosen on: rule of thumb.
INSTANTS_PER_RUN = 500  # Recorded instants of each run if there are several runs. Chosen on: rule of thumb.
# Control periods of a run, and recorded instants of all runs; more are refused, since they need too much memory.
# Chosen on: rule of thumb.
MAX_PERIODS = 2_000_000
# A duration that is shorter than a number of periods by this many counts as that number. Chosen on: reasoning, far
# above rounding errors.
ROUNDING_PERIODS = 1e-6
TUNING_SAMPLES = 1001  # Samples of the reference for which gains are suggested. Chosen on: rule of thumb.


@dataclass(frozen=True, eq=False)
class Setup:
    """The plant, its controller and its reference; ``findings`` say what was decided."""

    robot: Robot
    controller: Law
    reference: ReferenceTrajectory
    seconds: float
    variation: Variation
    findings: tuple[Finding, ...]


def set_up(
    robot: Robot,
    controller: str | ControllerSettings | Law,
    reference: object,
    seconds: float | None,
    *,
    variation: Variation,
    grasp: Grasp | None,
    rate: float,
    has_estimate: bool,
    rng: np.random.Generator,
) -> Setup:
    """Choose everything that is not given.

    A controller that is given as a ``Law`` is used as it is. For a name or settings, friction is smoothed and the
    controller is created. ``has_estimate`` says whether the initial estimate is given, so that it has no random error.
    ``rng`` perturbs the description that a controller without adaptation uses.
    """
    findings: tuple[Finding, ...] = ()
    if not isinstance(controller, Law):
        robot, findings = _smooth_friction(robot)
    if grasp is not None:
        robot = grasp.add_load(robot)
    trajectory, duration, log_findings = _load_reference(reference, robot, seconds, rate)
    _check_periods(duration, rate)
    findings = (*findings, *log_findings)
    if isinstance(controller, Law):
        if variation.initial_error and not controller.unknown_names:
            raise InputError(
                f"initial_error is the error of estimates, but {controller.name} does not estimate parameters; create "
                "it for a robot with other parameter values, or give its name"
            )
        return Setup(robot, controller, trajectory, duration, variation, findings)
    error = variation.initial_error
    model = robot if error is None else perturb_parameters(robot, error, rng)
    samples = sample_reference(trajectory, robot, np.linspace(0.0, duration, TUNING_SAMPLES))
    motion = (samples.q, samples.qd, samples.qdd)
    law = create_controller(controller, robot, model=model, motion=motion, rate=rate)
    if not law.unknown_names:
        variation = replace(variation, initial_error=0.0)
    elif error is None and not has_estimate:
        variation = replace(variation, initial_error=DEFAULT_INITIAL_ERROR)
    return Setup(robot, law, trajectory, duration, variation, findings)


def choose_interval(every: int | None, runs: int, seconds: float, rate: float) -> tuple[int, tuple[Finding, ...]]:
    """Return n such that every n-th control instant is recorded, and a finding if n was chosen and is not 1.

    By default, all instants of a single run are recorded, and about ``INSTANTS_PER_RUN`` instants of each of several.
    """
    periods = seconds * rate
    if every is not None:
        if every >= 1 and runs > 1 and runs * periods / every > MAX_PERIODS:
            raise InputError(
                f"{runs} runs with {periods / every:.3g} recorded instants each do not fit into memory; choose fewer "
                "runs, a shorter time, or a larger ``every``"
            )
        return every, ()
    interval = 1 if runs == 1 else max(1, round(periods / INSTANTS_PER_RUN))
    if interval == 1:
        return 1, ()
    finding = Finding(
        SimulationFindingCode.RECORDING,
        Severity.NOTE,
        f"one of {interval} control instants is recorded, so that logs have a rate of {rate / interval:.4g} Hz",
        "choose every=1 to record all instants",
        fields={"every": interval},
    )
    return interval, (finding,)


def _smooth_friction(robot: Robot) -> tuple[Robot, tuple[Finding, ...]]:
    """Return the robot with smooth Coulomb friction, and a finding if its friction was not smooth."""
    drives = find_nonsmooth_drives(robot)
    if not drives:
        return robot, ()
    finding = Finding(
        SimulationFindingCode.SMOOTH_FRICTION,
        Severity.REPAIRED,
        f"Coulomb friction is smoothed over about {REVOLUTE_COULOMB_SPEED:g} rad/s ({PRISMATIC_COULOMB_SPEED:g} m/s "
        "for prismatic joints)",
        "set coulomb_speed in the description to change that",
        names=drives,
    )
    return with_smooth_friction(robot), (finding,)


def _load_reference(
    reference: Any, robot: Robot, seconds: float | None, rate: float
) -> tuple[ReferenceTrajectory, float, tuple[Finding, ...]]:
    """Return the reference, the duration of the simulation (s), and the findings about the log of the reference."""
    if reference is None:
        duration = DEFAULT_SECONDS if seconds is None else seconds
        return default_reference(robot, duration), duration, ()
    findings: tuple[Finding, ...] = ()
    if isinstance(reference, str | Path) and Path(reference).suffix.lower() == COEFFICIENT_SUFFIX:
        reference = load_trajectory(reference)
    if isinstance(reference, Trajectory):
        reference = reference.order_joints(robot.actuated)
    if not callable(reference):
        log = read_log(reference, robot)
        reference, findings = reference_from_log(log), log.findings
    covered = reference.seconds if isinstance(reference, TimedReference) else None
    if seconds is None:
        seconds = DEFAULT_SECONDS if covered is None else covered
    if covered is not None and seconds <= covered:
        seconds = min(seconds, _round_down(covered, rate))
    return reference, seconds, findings


def _round_down(seconds: float, rate: float) -> float:
    """Return the largest multiple of the control period within this duration; rounding errors do not shorten it."""
    return math.floor(seconds * rate + ROUNDING_PERIODS) / rate


def _check_periods(seconds: float, rate: float) -> None:
    if not seconds * rate <= MAX_PERIODS:
        raise InputError(
            f"{seconds:g} s at {rate:g} Hz are {seconds * rate:.3g} control periods, but at most {MAX_PERIODS:,} fit "
            "into memory; choose a shorter time or a lower rate"
        )
