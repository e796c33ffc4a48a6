"""excite: a trajectory that reveals the parameters of a robot and keeps all its limits."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ytheta.arguments import check_count, check_number, is_positive
from ytheta.engine.engine import Engine
from ytheta.engine.local import limit_blas_threads
from ytheta.engine.registry import open_engine
from ytheta.errors import InputError
from ytheta.excitation import solver
from ytheta.excitation.assess import assess, log_deviations
from ytheta.excitation.clearance.obstacle import Obstacle
from ytheta.excitation.constraints import PathConstraint
from ytheta.excitation.criteria import ExpectedDeviation, MotionInformation, check_criterion, make_criterion
from ytheta.excitation.design_model import ModelInput, choose_parameters
from ytheta.excitation.joint_bounds import DEFAULT_MARGINS, LimitInput, PositionInput
from ytheta.excitation.problem import Problem, check_budget, choose_basis, make_space, pose_problem
from ytheta.excitation.result import DesignRecord, Excitation, SearchStatistics, describe_ending
from ytheta.excitation.surroundings import BASE, DEFAULT_CLEARANCE, BoxInput, FloorInput
from ytheta.excitation.trajectories import Trajectory
from ytheta.logs.reading.read import LogInput
from ytheta.robot.floating import refuse_floating_base
from ytheta.robot.inertia import Inertia
from ytheta.robot.robot import Robot, check_is_robot

# Work for the D-optimal trajectory to which deviations are compared. Chosen on: rule of thumb.
REFERENCE_BUDGET = solver.Budget(starts=8, polished=2)
REFERENCE_SHARE = 0.2  # Share of a time limit for this trajectory. Chosen on: rule of thumb.
MAX_ASSESSMENT_SHARE = 0.3  # Largest share of a time limit kept for the last check. Chosen on: rule of thumb.


def excite(
    robot: Robot,
    *,
    seconds: float | None = None,
    base_frequency: float | None = None,
    harmonics: int = 5,
    parametrisation: str = "fourier",
    criterion: str = "balanced",
    friction: Sequence[str] | None = (),
    rotor_inertia: bool = False,
    parameters: Sequence[str] | None = (),
    payload: float | Inertia | None = None,
    model: ModelInput | None = None,
    logs: Sequence[LogInput] = (),
    start: Mapping[str, float] | Sequence[float] | None = None,
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
    starts: int = 96,
    polished: int = 24,
    rng: int = 0,
    engine: str | Engine = "local",
    threads: int | None = None,
    time_limit: float | None = None,
    progress: solver.ProgressFunction | None = None,
) -> Excitation:
    """Design a periodic trajectory, from rest to rest, that reveals the parameters of a robot within its limits.

    Parameters
    ----------
    robot            the robot; its inertias are needed for the torque limits only
    seconds          duration, by default 20 s, or 12 s for a payload
    base_frequency   periods per second; by default near 0.1 Hz, so that the duration is a whole number of periods
    harmonics        harmonics of the Fourier series; B-splines have 2 · harmonics + 1 via-points
    parametrisation  "fourier" or "b-spline"
    criterion        "balanced", "plain", "scaled", "d", "a", "e" or "lin"; see ``excitation.criteria``
    friction, rotor_inertia, parameters
                     parameters to be revealed, as in ``base_parameters``
    payload          largest mass, kg, of an unknown load, or its Inertia in the frame of the last link: only the load's
                     parameters are unknown then, and torques are within their limits without the load, too
    model, logs      earlier identification (or its file) and earlier logs; the design adds what is still weak
    start            start pose, by name or in the order of ``robot.actuated``; by default it is chosen
    position, velocity, acceleration, jerk, effort
                     limits that replace those of the description: one number for all joints, or numbers by joint;
                     positions are pairs (lower, upper) by joint; infinity means that there is no limit
    position_margin, velocity_margin, effort_margin
                     shares of these limits that are kept free, for errors of the controller and of the model
    self_collision   whether links must not touch each other; links without collision shapes are assumed to be capsules
                     between their joints, and a finding says so
    clearance        m; distance that links keep from each other, from the floor and from obstacles
    floor            height of the floor in m against gravity, "base" for that of the base, or None
    obstacles        other obstacles, which links must not touch
    box              corners (lower, upper) of a box in the world, by the link or marker whose origin must not leave it
    paths            other constraints on the pose; see ``PathConstraint``
    noise            standard deviation of the torque noise in each sample, Nm or N, one number or by joint; by
                     default 1 % of the effort limits
    rate             samples per second with independent noise, for the expected standard deviations
    starts, polished largest amount of work: random starts, and how many of the best are polished; the search ends
                     earlier if it gains nothing more
    rng              random seed; the same seed gives the same answer, with any engine and number of threads
    engine, threads  "local" or "dask", as in ``identify``
    time_limit       s; for everything: preparation, search and check. The search stops early, and the result says so.
                     Only the compilation of a robot that is new to the cache, and one check of all limits, cannot be
                     interrupted
    progress         called with a ``Progress`` after every step; KeyboardInterrupt keeps the best so far
    """
    clock = solver.Clock(
        None if time_limit is None else check_number("time_limit", time_limit, "seconds", allow=is_positive)
    )
    check_is_robot(robot)
    refuse_floating_base(robot, "the design of trajectories")
    seed = check_count("rng", rng, "a whole number, 0 or more", minimum=0)
    budget = check_budget(starts, polished)
    chosen = choose_parameters(
        robot, friction=friction, rotor_inertia=rotor_inertia, parameters=parameters, payload=payload, model=model
    )
    basis, periods = choose_basis(seconds, base_frequency, harmonics, parametrisation, has_payload=payload is not None)
    check_criterion(criterion, chosen.base)
    problem = pose_problem(
        chosen,
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
    base, constraints = problem.base, problem.constraints
    space = make_space(constraints, basis, periods, start, seed)
    fisher = problem.expect_information(basis.period * periods)
    conditioning = (
        fisher if problem.has_prior else MotionInformation.unweighted(len(constraints.bounds.joints), len(base))
    )
    report = progress if progress is not None else _ignore
    with open_engine(engine, threads=threads) as opened, limit_blas_threads():
        d_optimal = solver.Design(space, constraints, ExpectedDeviation("d", fisher))
        exploration = solver.Exploration(d_optimal, seed)
        # The value of the criterion is not part of the time until a motion is known that keeps all limits.
        is_feasible = solver.shrink(space, exploration.draw_unknowns(0), constraints) is not None
        first_seconds = clock.seconds
        first = exploration.draw(0) if is_feasible else None
        if first is None:
            raise InputError(_explain_no_motion(chosen.robot))
        report(solver.Progress("first trajectory within all limits", 1, 1, first.value, first_seconds))
        if time_limit is not None:
            clock.keep(min(_time_assessment(problem, space.build(first.x)), MAX_ASSESSMENT_SHARE * time_limit))
        reference, d_outcome = None, None
        if criterion == "balanced":
            small = solver.Budget(min(starts, REFERENCE_BUDGET.starts), min(polished, REFERENCE_BUDGET.polished))
            until = clock.set_deadline(REFERENCE_SHARE)
            d_outcome = solver.search(
                d_optimal,
                small,
                seed=seed,
                engine=opened,
                progress=report,
                clock=clock,
                stage="reference",
                deadline=until,
            )
            best_d = d_outcome.candidates[0] if d_outcome.candidates else first
            reference = log_deviations(fisher, d_optimal.compute_grams(space.build(best_d.x)))
        design = solver.Design(space, constraints, make_criterion(criterion, base, conditioning, fisher, reference))
        if d_outcome is not None and d_outcome.ending is solver.Ending.INTERRUPTED:
            outcome = replace(d_outcome, candidates=tuple(_revalue(design, each) for each in d_outcome.candidates))
        else:
            outcome = solver.search(design, budget, seed=seed, engine=opened, progress=report, clock=clock)
        best = outcome.candidates[0] if outcome.candidates else _revalue(design, first)
        statistics = _summarize(outcome, d_outcome, clock.seconds, first_seconds)
        return assess(
            problem,
            space.build(best.x),
            design=DesignRecord(criterion, best.value, statistics),
            reference=reference,
            findings=tuple(describe_ending(outcome)),
        )


def _time_assessment(problem: Problem, trajectory: Trajectory) -> float:
    """Return how long the assessment of a trajectory takes; what it needs is compiled before."""
    assess(problem, trajectory)
    begin = time.monotonic()
    assess(problem, trajectory)
    return time.monotonic() - begin


def _ignore(_: solver.Progress) -> None:
    pass


def _explain_no_motion(robot: Robot) -> str:
    return (
        f"robot {robot.name!r} cannot move within its limits: not even tiny motion about the pose in the middle keeps "
        "torques and clearances; relax them, give another start pose, or another floor"
    )


def _revalue(design: solver.Design, candidate: solver.Candidate) -> solver.Candidate:
    return replace(candidate, value=design.measure(candidate.x))


def _summarize(
    outcome: solver.SearchOutcome, reference: solver.SearchOutcome | None, seconds: float, first_seconds: float
) -> SearchStatistics:
    evaluations = outcome.evaluations + (0 if reference is None else reference.evaluations)
    return SearchStatistics(
        outcome.starts, outcome.feasible, outcome.polished, evaluations, seconds, outcome.ending, first_seconds
    )
