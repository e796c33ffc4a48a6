"""Simulation of a robot under a controller: one run, or many runs that differ.

    simulation = yt.simulate(robot, controller, runs=1000, variation=yt.Variation(parameters=0.2))

The robot is the plant. The controller has its own description of the robot, whose parameter values may differ from
those of the plant. An adaptive controller estimates the values of the plant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.control.laws.law import Law
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.robot.parameters import with_parameters, with_theta
from ytheta.robot.robot import Robot
from ytheta.shapes import Float
from ytheta.simulation.closed_loop.compiled import ClosedLoop
from ytheta.simulation.closed_loop.plain import PlainLoop
from ytheta.simulation.parameter_changes import ParameterChange
from ytheta.simulation.plants.mujoco_plant import LOOP_SOLREF, MujocoPlant
from ytheta.simulation.plants.substeps import MAX_SAMPLES, choose_substeps
from ytheta.simulation.references.fourier import default_reference
from ytheta.simulation.references.reference import ReferenceTrajectory, sample_reference
from ytheta.simulation.result import Simulation
from ytheta.simulation.runs import Runs, join_runs
from ytheta.simulation.sensors.sensors import Sensors
from ytheta.simulation.timing import check_timing, count_periods
from ytheta.simulation.variation import SampledVariation, Variation, sample_variation

OWN, MUJOCO = PLANTS = ("own", "mujoco")
Progress = Callable[[int], None]
NO_VARIATION = Variation()
# Standard deviations by which the damping rate may exceed that of the description: two for larger friction, and two for
# smaller inertia.
MAX_DAMPING_DEVIATIONS = 4.0


@dataclass(frozen=True, eq=False)
class _Task:
    """The arguments of the simulation that all runs share."""

    robot: Robot
    controller: Law
    reference: ReferenceTrajectory
    seconds: float
    period: float
    substeps: int
    sensors: Sensors | None
    parameter_changes: tuple[ParameterChange, ...]
    every: int


@dataclass(frozen=True, eq=False)
class _Start:
    """The initial motion and estimate of every run."""

    q: Float[np.ndarray, "runs joints"]
    qd: Float[np.ndarray, "runs joints"]
    estimate: Float[np.ndarray, "runs unknown"]


def simulate(
    robot: Robot,
    controller: Law,
    *,
    seconds: float = 10.0,
    reference: ReferenceTrajectory | None = None,
    runs: int = 1,
    variation: Variation = NO_VARIATION,
    plant: str = OWN,
    period: float = 1e-3,
    substeps: int | None = None,
    sensors: Sensors | None = None,
    parameter_changes: Sequence[ParameterChange] = (),
    estimate: Float[np.ndarray, "unknown"] | None = None,
    rng: np.random.Generator | None = None,
    every: int = 10,
    engine: str = "local",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Simulation:
    """Simulate runs of a robot under a controller.

    Without ``variation``, all runs start on the reference. The default ``reference`` is a motion within the robot's
    limits, see ``default_reference``. ``substeps`` is the number of integration steps per control period; the default
    is the number that the damping of the plant requires. ``estimate`` is the controller's initial estimate of its
    unknown parameters; the default is their values in the controller's description. Every ``every``-th control instant
    is recorded. The default ``rng`` is a generator with seed 0. ``progress`` is called with the number of completed
    runs.
    """
    _check_arguments(robot, controller, runs, plant, variation)
    if sensors is not None:
        sensors.check(len(robot.actuated), runs)
    variation_rng, noise_rng = (np.random.default_rng(0) if rng is None else rng).spawn(2)
    reference = default_reference(robot, seconds) if reference is None else reference
    gain_names = controller.gain_names if variation.gains else ()
    unknown_names, streams = controller.unknown_names, variation_rng.spawn(runs)
    sampled = sample_variation(robot, variation, gains=len(gain_names), unknown_names=unknown_names, streams=streams)
    first = sample_reference(reference, robot, np.zeros(1))
    initial_estimate = controller.init(first.q[0], first.qd[0], estimate=estimate).x[: len(unknown_names)]
    start = _Start(first.q + sampled.position, first.qd + sampled.velocity, initial_estimate * sampled.estimate)
    check_timing(period, 1 if substeps is None else substeps, controller.max_step)
    count_periods(seconds, period, every)
    if substeps is None:
        substeps = _choose_substeps(robot, reference, seconds, period, variation, parameter_changes, plant)
    task = _Task(robot, controller, reference, seconds, period, substeps, sensors, tuple(parameter_changes), every)
    if plant == OWN:
        varied = robot.parameter_names if variation.parameters else ()
        results = _run_compiled(task, start, sampled, varied, gain_names, noise_rng, engine, threads, progress)
    else:
        results = _run_mujoco(task, start, sampled, noise_rng, progress)
    return Simulation(
        robot=robot,
        controller=controller,
        plant=plant,
        period=period,
        reference=sample_reference(reference, robot, results.t),
        runs=results,
        theta=sampled.theta,
        parameter_changes=task.parameter_changes,
        gain_names=gain_names,
        gains=sampled.gains if gain_names else None,
        sensors=sensors,
    )


def _run_compiled(
    task: _Task,
    start: _Start,
    sampled: SampledVariation,
    varied: tuple[str, ...],
    gain_names: tuple[str, ...],
    rng: np.random.Generator,
    engine: str,
    threads: int | None,
    progress: Progress | None,
) -> Runs:
    """Simulate all runs together on ytheta's own plant."""
    changing = tuple(name for change in task.parameter_changes for name in change.values)
    varied = tuple(dict.fromkeys((*varied, *changing)))
    loop = ClosedLoop(
        plant=task.robot,
        controller=task.controller,
        period=task.period,
        substeps=task.substeps,
        varied=varied,
        varied_gains=gain_names,
        sensors=task.sensors,
    )
    theta = dict(zip(task.robot.parameter_names, sampled.theta.T, strict=True))
    initial = loop.init(
        start.q,
        start.qd,
        estimate=start.estimate,
        parameters={name: theta[name] for name in varied},
        gains=dict(zip(gain_names, sampled.gains.T, strict=True)),
    )
    return loop.run(
        initial,
        task.reference,
        task.seconds,
        parameter_changes=task.parameter_changes,
        rng=rng,
        every=task.every,
        engine=engine,
        threads=threads,
        progress=progress,
    )


def _run_mujoco(
    task: _Task, start: _Start, sampled: SampledVariation, rng: np.random.Generator, progress: Progress | None
) -> Runs:
    """Simulate one run after the other in MuJoCo."""
    parts = []
    for k, theta in enumerate(sampled.theta):
        loop = PlainLoop(
            plant=MujocoPlant(with_theta(task.robot.numeric, theta)),
            controller=task.controller,
            period=task.period,
            substeps=task.substeps,
            sensors=task.sensors,
        )
        run = loop.run(
            start.q[k],
            start.qd[k],
            task.reference,
            task.seconds,
            estimate=start.estimate[k],
            parameter_changes=task.parameter_changes,
            rng=rng,
            every=task.every,
            run=k,
        )
        parts.append(run)
        if progress is not None:
            progress(k + 1)
    return join_runs(parts)


def _choose_substeps(
    robot: Robot,
    reference: ReferenceTrajectory,
    seconds: float,
    period: float,
    variation: Variation,
    parameter_changes: Sequence[ParameterChange],
    plant: str,
) -> int:
    """Return the number of substeps that the damping along the reference requires, before and after each change.

    MuJoCo has its own law of Coulomb friction, so that Coulomb friction is not considered for MuJoCo. The constraints
    of loops and couplings in MuJoCo need steps that are not longer than the time constant of the constraints.
    """
    q = sample_reference(reference, robot, np.linspace(0.0, seconds, MAX_SAMPLES)).q
    robots = [robot]
    for change in sorted(parameter_changes, key=lambda change: change.t):
        robots.append(with_parameters(robots[-1].numeric, change.values))
    margin = float(np.exp(MAX_DAMPING_DEVIATIONS * variation.parameters))
    has_springs = plant == MUJOCO and (robot.loops or robot.couplings)
    min_substeps = math.ceil(period / LOOP_SOLREF[0] - 1e-9) if has_springs else 1
    return max(
        min_substeps, *(choose_substeps(changed, q, period, margin=margin, coulomb=plant == OWN) for changed in robots)
    )


def _check_arguments(robot: Robot, controller: Law, runs: int, plant: str, variation: Variation) -> None:
    if plant not in PLANTS:
        raise UnknownNameError(f"there is no plant {plant!r}{suggest_names(plant, PLANTS)}")
    if runs < 1:
        raise InputError(f"the number of runs is {runs}; give at least 1")
    if controller.robot.parameter_names != robot.parameter_names:
        raise InputError(
            f"the controller was created for a robot with other links and joints than {robot.name!r}; create it for "
            "this robot, or for one that differs in parameter values only"
        )
    if variation.gains and plant != OWN:
        raise InputError("gains can vary on plant 'own' only; set the variation of gains to 0, or choose plant='own'")
