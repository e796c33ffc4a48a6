"""What a trajectory reveals and which limits it keeps, measured on a fine grid; designed or read from a file."""

from __future__ import annotations

import math

import numpy as np

from ytheta.excitation.constraints.check import CHECK_POINTS, check_limits
from ytheta.excitation.constraints.penalty import Constraints
from ytheta.excitation.criteria.condition import log_condition, scale_columns
from ytheta.excitation.criteria.information import Grams, Information, compute_std
from ytheta.excitation.findings import (
    describe_slowed,
    describe_unseen_parameters,
    describe_violations,
    describe_weak_parameters,
)
from ytheta.excitation.problem import Problem
from ytheta.excitation.result import DesignRecord, Excitation, ReferenceDeviations, SlowedCondition
from ytheta.excitation.solver.design import sample_grams
from ytheta.excitation.trajectories.trajectory import Trajectory
from ytheta.findings import Finding

SLOWER_SPEEDS = (0.5, 0.25)


def assess(
    problem: Problem,
    trajectory: Trajectory,
    *,
    slow: float = 1.0,
    design: DesignRecord | None = None,
    reference: tuple[float, float] | None = None,
    findings: tuple[Finding, ...] = (),
) -> Excitation:
    """Return the assessed trajectory; ``reference`` are the deviations of a D-optimal one, see ``log_deviations``."""
    constraints, base = problem.constraints, problem.base
    information = problem.expect_information(trajectory.seconds)
    grams = sample_grams(constraints, trajectory, CHECK_POINTS)
    uses = check_limits(trajectory, constraints)
    slowed = tuple(_measure_slowed(constraints, trajectory, speed) for speed in SLOWER_SPEEDS)
    std = information.expect_std(grams)
    before = compute_std(problem.prior) if problem.has_prior else None
    plain, scaled = measure_conditions(grams)
    return Excitation(
        problem.model.robot,
        problem.model.base,
        trajectory,
        slow,
        plain,
        scaled,
        std,
        before,
        problem.noise,
        problem.rate,
        _compare(reference, information, grams),
        slowed,
        constraints.bounds,
        uses,
        design,
        (
            *problem.findings,
            *describe_slowed(plain, scaled, slowed),
            *findings,
            *describe_unseen_parameters(base, information.sum_up(grams), std, plain),
            *describe_weak_parameters(base, before, std),
            *describe_violations(uses),
        ),
    )


def log_deviations(information: Information, grams: Grams) -> tuple[float, float]:
    """Return the logarithms of the geometric mean and of the largest expected standard deviation."""
    log = np.log(information.expect_std(grams))
    return float(log.mean()), float(log.max())


def measure_conditions(grams: Grams) -> tuple[float, float]:
    """Return the condition numbers of W_b, with columns in SI units and scaled to length one."""
    M = grams.sum(axis=0)
    return math.exp(log_condition(M)), math.exp(log_condition(scale_columns(M)))


def _compare(
    reference: tuple[float, float] | None, information: Information, grams: Grams
) -> ReferenceDeviations | None:
    if reference is None:
        return None
    mean, worst = log_deviations(information, grams)
    return ReferenceDeviations(math.exp(mean - reference[0]), math.exp(worst - reference[1]))


def _measure_slowed(constraints: Constraints, trajectory: Trajectory, speed: float) -> SlowedCondition:
    grams = sample_grams(constraints, trajectory.slow_down(1.0 / speed), CHECK_POINTS)
    return SlowedCondition(speed, *measure_conditions(grams))
