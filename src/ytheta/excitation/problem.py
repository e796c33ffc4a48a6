"""What a trajectory is for, and what it must keep: parameters, limits, surroundings, noise, earlier measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.arguments import check_number
from ytheta.excitation.arguments import check_paths, check_rate, find_noise, is_share
from ytheta.excitation.clearance.obstacle import Obstacle
from ytheta.excitation.constraints.joint_bounds import LimitInput, PositionInput, find_bounds
from ytheta.excitation.constraints.path_constraint import PathConstraint
from ytheta.excitation.constraints.penalty import Constraints
from ytheta.excitation.constraints.robot_kernels import RobotKernels
from ytheta.excitation.criteria.information import Information
from ytheta.excitation.earlier import collect_information
from ytheta.excitation.findings import describe_assumed_noise
from ytheta.excitation.robot_model import DesignModel
from ytheta.excitation.surroundings import BoxInput, find_clearances
from ytheta.findings import Finding
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.logs.reading.read import LogInput
from ytheta.robot.missing_meshes import check_inertias_are_complete
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

    def expect_information(self, seconds: float) -> Information:
        """Return the Fisher information of a motion of this duration, as a function of its Gram matrices."""
        return Information(seconds * self.rate / self.noise**2, self.prior)


def pose_problem(
    model: DesignModel,
    *,
    logs: Sequence[LogInput],
    position: PositionInput,
    velocity: LimitInput,
    acceleration: LimitInput,
    jerk: LimitInput,
    effort: LimitInput,
    effort_margin: float,
    self_collision: bool,
    clearance: float,
    floor: float | None,
    obstacles: Sequence[Obstacle],
    box: BoxInput,
    paths: Sequence[PathConstraint],
    noise: LimitInput,
    rate: float,
) -> Problem:
    """Check the arguments that ``excite`` and ``assess_trajectory`` share; they are explained there."""
    margin = check_number("effort_margin", effort_margin, "a share from 0 to below 1", allow=is_share)
    rate = check_rate(rate)
    bounds, findings = find_bounds(
        model.robot,
        position=position,
        velocity=velocity,
        acceleration=acceleration,
        jerk=jerk,
        effort=effort,
        effort_margin=margin,
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
    deviations = find_noise(model.robot, noise, bounds.effort / (1.0 - margin))
    prior = collect_information(kernels, model=model.model, logs=logs, noise=deviations, rate=rate)
    assumed = describe_assumed_noise(deviations, rate, is_assumed=noise is None)
    return Problem(model, base, constraints, deviations, rate, prior, (*findings, *clearance_findings, *assumed))
