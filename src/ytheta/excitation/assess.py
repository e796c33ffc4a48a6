"""assess_trajectory: what a saved trajectory reveals, and whether it keeps all limits, at any speed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ytheta.arguments import check_kind, check_number, is_positive
from ytheta.excitation import result
from ytheta.excitation.clearance.obstacle import Obstacle
from ytheta.excitation.constraints import Constraints, PathConstraint
from ytheta.excitation.criteria import Grams, MotionInformation, compute_std, log_condition, scale_columns
from ytheta.excitation.design_model import ModelInput, choose_parameters
from ytheta.excitation.joint_bounds import DEFAULT_MARGINS, LimitInput, PositionInput
from ytheta.excitation.limit_check import CHECK_POINTS, check_limits, check_torque_limits, list_violations
from ytheta.excitation.problem import Problem, pose_problem
from ytheta.excitation.solver import sample_grams
from ytheta.excitation.surroundings import BASE, DEFAULT_CLEARANCE, BoxInput, FloorInput
from ytheta.excitation.trajectories import Trajectory
from ytheta.excitation.trajectory_files import load_trajectory
from ytheta.findings import Finding
from ytheta.logs.reading.read import LogInput
from ytheta.robot.floating import refuse_floating_base
from ytheta.robot.inertia import Inertia
from ytheta.robot.robot import Robot, check_is_robot


def assess_trajectory(
    robot: Robot,
    trajectory: Trajectory | str | Path,
    *,
    slow: float = 1.0,
    friction: Sequence[str] | None = (),
    rotor_inertia: bool = False,
    parameters: Sequence[str] | None = (),
    payload: float | Inertia | None = None,
    model: ModelInput | None = None,
    logs: Sequence[LogInput] = (),
    position: PositionInput = None,
    velocity: LimitInput = None,
    acceleration: LimitInput = None,
    jerk: LimitInput = None,
    effort: LimitInput = None,
    position_margin: float = DEFAULT_MARGINS.position,
    velocity_margin: float = DEFAULT_MARGINS.velocity,
    effort_margin: float = DEFAULT_MARGINS.effort,
    self_collision: bool = True,
    clearance: float = DEFAULT_CLEARANCE,
    floor: FloorInput = BASE,
    obstacles: Sequence[Obstacle] = (),
    box: BoxInput = None,
    paths: Sequence[PathConstraint] = (),
    noise: LimitInput = None,
    rate: float = 100.0,
) -> result.Excitation:
    """Assess a trajectory as ``excite`` assesses its designs: what it reveals, and which limits it keeps.

    Parameters
    ----------
    robot            the robot; the trajectory must move exactly its actuated coordinates
    trajectory       a trajectory, or a TOML file of ``save_trajectory`` or ``ytheta excite``
    slow             the path is passed this many times as slowly; a number below 1 makes it faster

    All other parameters are those of ``excite``.
    """
    check_is_robot(robot)
    refuse_floating_base(robot, "the assessment of trajectories")
    form = "a Trajectory, or the name of the .toml file of one"
    check_kind("trajectory", trajectory, (Trajectory, str, Path), form)
    slow = check_number("slow", slow, "a positive number, such as 2 for half the speed", allow=is_positive)
    motion = trajectory if isinstance(trajectory, Trajectory) else load_trajectory(trajectory)
    problem = pose_problem(
        choose_parameters(
            robot, friction=friction, rotor_inertia=rotor_inertia, parameters=parameters, payload=payload, model=model
        ),
        logs=logs,
        position=position,
        velocity=velocity,
        acceleration=acceleration,
        jerk=jerk,
        effort=effort,
        position_margin=position_margin,
        velocity_margin=velocity_margin,
        effort_margin=effort_margin,
        self_collision=self_collision,
        clearance=clearance,
        floor=floor,
        obstacles=obstacles,
        box=box,
        paths=paths,
        noise=noise,
        rate=rate,
    )
    return assess(problem, motion.order_joints(robot.actuated).slow_down(slow), slow=slow)


# What a trajectory reveals and which limits it keeps, measured on a fine grid; designed or read from a file.


# Shares of the speed at which the condition numbers of a slowed motion are stated. Chosen on: rule of thumb.
SLOWER_SPEEDS = (0.5, result.FIRST_RUN_SPEED)


def assess(
    problem: Problem,
    trajectory: Trajectory,
    *,
    slow: float = 1.0,
    design: result.DesignRecord | None = None,
    reference: tuple[float, float] | None = None,
    findings: tuple[Finding, ...] = (),
) -> result.Excitation:
    """Return the assessed trajectory; ``reference`` are the deviations of a D-optimal one, see ``log_deviations``."""
    constraints, base = problem.constraints, problem.base
    information = problem.expect_information(trajectory.seconds)
    grams = sample_grams(constraints, trajectory, CHECK_POINTS)
    uses = check_limits(trajectory, constraints)
    slowed = tuple(_measure_slowed(constraints, trajectory, speed) for speed in SLOWER_SPEEDS)
    std = information.expect_std(grams)
    before = compute_std(problem.prior) if problem.has_prior else None
    plain, scaled = measure_conditions(grams)
    judged = math.exp(log_condition(scale_columns(information.sum_up(grams)))) if problem.has_prior else scaled
    return result.Excitation(
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
        judged,
        slowed,
        constraints.bounds,
        uses,
        design,
        (
            *problem.findings,
            *result.describe_slowed(plain, scaled, slowed),
            *result.describe_first_run(slowed),
            *result.describe_poor_design(judged),
            *findings,
            *result.describe_unseen_parameters(base, information.sum_up(grams), std, plain),
            *result.describe_weak_parameters(base, before, std),
            *result.describe_violations(uses),
        ),
    )


def log_deviations(information: MotionInformation, grams: Grams) -> tuple[float, float]:
    """Return the logarithms of the geometric mean and of the largest expected standard deviation."""
    log = np.log(information.expect_std(grams))
    return float(log.mean()), float(log.max())


def measure_conditions(grams: Grams) -> tuple[float, float]:
    """Return the condition numbers of W_b, with columns in SI units and scaled to length one."""
    M = grams.sum(axis=0)
    return math.exp(log_condition(M)), math.exp(log_condition(scale_columns(M)))


def _compare(
    reference: tuple[float, float] | None, information: MotionInformation, grams: Grams
) -> result.ReferenceDeviations | None:
    if reference is None:
        return None
    mean, worst = log_deviations(information, grams)
    return result.ReferenceDeviations(math.exp(mean - reference[0]), math.exp(worst - reference[1]))


def _measure_slowed(constraints: Constraints, trajectory: Trajectory, speed: float) -> result.SlowedCondition:
    slowed = trajectory.slow_down(1.0 / speed)
    conditions = measure_conditions(sample_grams(constraints, slowed, CHECK_POINTS))
    # The path is the same, and velocity, acceleration and jerk are smaller; but torques may be larger.
    return result.SlowedCondition(speed, *conditions, list_violations(check_torque_limits(slowed, constraints)))
