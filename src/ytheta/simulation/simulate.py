"""The door to closed loops: a robot, a controller, how long, how many runs, how they differ.

    found = yt.simulate(robot, yt.control.SlotineLi(robot, base, …), runs=1000, variation=Variation(parameters=0.2))

The robot is the plant. The controller knows the robot it was made with, which may have other values: that is what it
has to learn.
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
from ytheta.simulation.plants.mujoco_plant import STIFF, MujocoPlant
from ytheta.simulation.plants.substeps import SAMPLES, choose_substeps
from ytheta.simulation.references.fourier import default_reference
from ytheta.simulation.references.reference import ReferenceTrajectory, check_period, periods, sample_reference
from ytheta.simulation.result import Simulation
from ytheta.simulation.runs import Runs, join_runs
from ytheta.simulation.sensors.sensors import Sensors
from ytheta.simulation.variation import SampledVariation, Variation, sample_variation

OWN, MUJOCO = PLANTS = ("own", "mujoco")
Progress = Callable[[int], None]
ALIKE = Variation()
FASTER = 4.0  # standard deviations: friction two above and inertia two below what is described


@dataclass(frozen=True, eq=False)
class _Task:
    """What all runs share."""

    robot: Robot
    controller: Law
    course: ReferenceTrajectory
    seconds: float
    period: float
    substeps: int
    sensors: Sensors | None
    parameter_changes: tuple[ParameterChange, ...]
    every: int


@dataclass(frozen=True, eq=False)
class _Start:
    """How every run begins."""

    q: Float[np.ndarray, "runs joints"]
    qd: Float[np.ndarray, "runs joints"]
    estimate: Float[np.ndarray, "runs unknown"]


def simulate(
    robot: Robot,
    controller: Law,
    *,
    seconds: float = 10.0,
    course: ReferenceTrajectory | None = None,
    runs: int = 1,
    variation: Variation = ALIKE,
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
    """Runs of a robot under a controller; on the reference at the start where nothing else is drawn.

    ``course`` is the reference, by default one that wanders within the robot's limits. ``every``: of how many control
    instants one is kept. ``substeps``: steps of the plant in a period of the controller, as many as its damping needs
    where they are not given. ``progress`` hears how many runs are done. ``rng`` is a generator of seed 0 unless given.
    """
    _check(robot, controller, runs, plant, variation)
    if sensors is not None:
        sensors.check(len(robot.actuated), runs)
    drawing, noise = (np.random.default_rng(0) if rng is None else rng).spawn(2)
    wanted = default_reference(robot, seconds) if course is None else course
    gain_names = controller.gain_names if variation.gains else ()
    drawn = sample_variation(robot, variation, gains=len(gain_names), unknown=controller.unknown_names, streams=drawing.spawn(runs))
    begin = sample_reference(wanted, robot, np.zeros(1))
    guess = controller.init(begin.q[0], begin.qd[0], estimate=estimate).x[: len(controller.unknown_names)]
    start = _Start(begin.q + drawn.position, begin.qd + drawn.velocity, guess * drawn.estimate)
    check_period(period, 1 if substeps is None else substeps, controller.max_step)
    periods(seconds, period, every)
    steps = _needed(robot, wanted, seconds, period, variation, parameter_changes, plant) if substeps is None else substeps
    task = _Task(robot, controller, wanted, seconds, period, steps, sensors, tuple(parameter_changes), every)
    if plant == OWN:
        varied = robot.parameter_names if variation.parameters else ()
        found = _compiled(task, start, drawn, varied, gain_names, noise, engine, threads, progress)
    else:
        found = _stepwise(task, start, drawn, noise, progress)
    return Simulation(
        robot=robot,
        controller=controller,
        plant=plant,
        period=period,
        reference=sample_reference(wanted, robot, found.t),
        runs=found,
        theta=drawn.theta,
        parameter_changes=task.parameter_changes,
        gain_names=gain_names,
        gains=drawn.gains if gain_names else None,
        sensors=sensors,
    )


def _compiled(
    task: _Task,
    start: _Start,
    drawn: SampledVariation,
    varied: tuple[str, ...],
    gain_names: tuple[str, ...],
    rng: np.random.Generator,
    engine: str,
    threads: int | None,
    progress: Progress | None,
) -> Runs:
    """Our own plant: all runs side by side."""
    jumping = tuple(name for change in task.parameter_changes for name in change.values)
    varied = tuple(dict.fromkeys((*varied, *jumping)))
    loop = ClosedLoop(
        plant=task.robot,
        controller=task.controller,
        period=task.period,
        substeps=task.substeps,
        varied=varied,
        varied_gains=gain_names,
        sensors=task.sensors,
    )
    theta = dict(zip(task.robot.parameter_names, drawn.theta.T, strict=True))
    begun = loop.init(
        start.q,
        start.qd,
        estimate=start.estimate,
        parameters={name: theta[name] for name in varied},
        gains=dict(zip(gain_names, drawn.gains.T, strict=True)),
    )
    return loop.run(
        begun,
        task.course,
        task.seconds,
        parameter_changes=task.parameter_changes,
        rng=rng,
        every=task.every,
        engine=engine,
        threads=threads,
        progress=progress,
    )


def _stepwise(task: _Task, start: _Start, drawn: SampledVariation, rng: np.random.Generator, progress: Progress | None) -> Runs:
    """MuJoCo: one run after the other."""
    parts = []
    for k, theta in enumerate(drawn.theta):
        loop = PlainLoop(
            plant=MujocoPlant(with_theta(task.robot.numeric, theta)),
            controller=task.controller,
            period=task.period,
            substeps=task.substeps,
            sensors=task.sensors,
        )
        given = {"estimate": start.estimate[k], "parameter_changes": task.parameter_changes, "rng": rng, "every": task.every, "run": k}
        parts.append(loop.run(start.q[k], start.qd[k], task.course, task.seconds, **given))
        if progress is not None:
            progress(k + 1)
    return join_runs(parts)


def _needed(
    robot: Robot, course: ReferenceTrajectory, seconds: float, period: float, variation: Variation, parameter_changes: Sequence[ParameterChange], plant: str
) -> int:
    """Substeps on the reference, before and after all jumps.

    MuJoCo's dry friction is its own law, not our slope; what it holds loops and couplings by needs steps that are no
    longer than its time constant.
    """
    q = sample_reference(course, robot, np.linspace(0.0, seconds, SAMPLES)).q
    robots = [robot]
    for change in sorted(parameter_changes, key=lambda change: change.t):
        robots.append(with_parameters(robots[-1].numeric, change.values))
    margin = float(np.exp(FASTER * variation.parameters))
    held = plant == MUJOCO and (robot.loops or robot.couplings)
    least = math.ceil(period / STIFF[0] - 1e-9) if held else 1
    return max(least, *(choose_substeps(each, q, period, margin=margin, coulomb=plant == OWN) for each in robots))


def _check(robot: Robot, controller: Law, runs: int, plant: str, variation: Variation) -> None:
    if plant not in PLANTS:
        raise UnknownNameError(f"there is no plant {plant!r}{suggest_names(plant, PLANTS)}")
    if runs < 1:
        raise InputError(f"{runs} runs; give at least 1")
    if controller.robot.parameter_names != robot.parameter_names:
        raise InputError(
            f"the controller was made for a robot with other links and joints than {robot.name!r}; make it for this "
            "one, or for one that differs in values only"
        )
    if variation.gains and plant != OWN:
        raise InputError("gains are drawn with the own plant only; leave them alike, or take plant='own'")
