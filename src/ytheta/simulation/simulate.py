"""Simulation of a robot under a controller: one run, or many runs that differ.

    simulation = yt.simulate(robot, "slotine-li", runs=1000, variation=yt.Variation(spread=20.0))

The robot is the plant. The controller has its own description of the robot, whose parameter values may differ from
those of the plant. An adaptive controller estimates the values of the plant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import TypeAlias

import numpy as np

from ytheta.arguments import check_count, check_kind, check_number, is_positive
from ytheta.control.laws.law import Law
from ytheta.control.settings import DEFAULT_CONTROLLER, ControllerSettings
from ytheta.dynamics.graphs import check_load_friction
from ytheta.engine.engine import Engine
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.logs.reading.read import LogInput
from ytheta.robot.floating import refuse_floating_base
from ytheta.robot.parameters import check_inertias_are_complete, with_parameters, with_theta
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import Float
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.mujoco_plant import LOOP_SOLREF, MujocoPlant
from ytheta.simulation.plain_loop import PlainLoop
from ytheta.simulation.references import ReferenceTrajectory, sample_reference
from ytheta.simulation.result import Simulation
from ytheta.simulation.runs import Runs, join_runs
from ytheta.simulation.sensors import Sensors
from ytheta.simulation.setup import choose_interval, set_up
from ytheta.simulation.substeps import MAX_SAMPLES, check_timing, choose_substeps, count_periods
from ytheta.simulation.variation import (
    Grasp,
    ParameterChange,
    SampledVariation,
    Variation,
    make_generator,
    sample_variation,
)

# Bounds beyond which a number is a typing error, or needs more time and memory than any machine has; rates in Hz.
# Chosen on: rule of thumb.
MAX_RUNS = 10_000_000
MIN_RATE, MAX_RATE = 0.1, 1e7
MAX_SUBSTEPS = 10_000


# The simulation of all runs on one of the plants, after every setting has been chosen.


OWN, MUJOCO = PLANTS = ("own", "mujoco")


def simulate(
    robot: Robot,
    controller: str | ControllerSettings | Law = DEFAULT_CONTROLLER,
    *,
    seconds: float | None = None,
    reference: LogInput | ReferenceTrajectory | None = None,
    runs: int = 1,
    variation: Variation | None = None,
    plant: str = OWN,
    rate: float = 1000.0,
    substeps: int | None = None,
    sensors: Sensors | None = None,
    parameter_changes: Sequence[ParameterChange] = (),
    grasp: Grasp | None = None,
    estimate: Float[np.ndarray, " unknown"] | None = None,
    rng: int | np.random.Generator = 0,
    every: int | None = None,
    engine: str = "local",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Simulation:
    """Simulate runs of a robot under a controller.

    Parameters
    ----------
    robot              the plant
    controller         the name of a control law, ``ControllerSettings``, or a control law such as ``SlotineLi(…)``. For
                       a name or settings, the simulation smooths Coulomb friction, suggests gains for the reference
                       and the rate, and uses the torque limits of the description. A control law is used as it is.
    seconds            duration, s; None for the duration of the reference, or 10
    reference          a log (anything that ``read_log`` accepts) whose positions are followed, a ``Trajectory`` or its
                       TOML file, or a function of time; None for a motion within the limits of the robot, see
                       ``default_reference``
    runs               number of runs
    variation          random differences between the runs; None for runs that all start on the reference
    plant              the forward dynamics: "own" or "mujoco"
    rate               rate of the controller, Hz; the torque is constant between two control instants
    substeps           integration steps per control period; None for the number that the damping requires
    sensors            errors of the sensors; None for exact readings
    parameter_changes  parameters of the plant that change during the runs
    grasp              a load that the robot grasps: ``grasp(mass, t)``
    estimate           initial estimate of the unknown parameters; None for their values in the controller's description
    rng                seed, or random generator
    every              record every n-th control instant; None for all instants of a single run, or about 500 instants
                       of each of several runs
    engine             where runs are computed: "local", "dask" or "dask://HOST:PORT"
    threads            number of threads of this machine; None for the number of processors
    progress           called with the number of completed runs
    """
    variation = Variation() if variation is None else variation
    _check_problem(robot, controller, plant, variation, grasp, sensors, parameter_changes)
    _check_numbers(seconds, runs, rate, substeps, every, threads)
    check_kind("engine", engine, (str, Engine), "'local', 'dask' or 'dask://HOST:PORT'")
    variation_rng, noise_rng = make_generator(rng).spawn(2)
    setup = set_up(
        robot,
        controller,
        reference,
        seconds,
        variation=variation,
        grasp=grasp,
        rate=rate,
        has_estimate=estimate is not None,
        rng=variation_rng,
    )
    robot, law, variation, trajectory = setup.robot, setup.controller, setup.variation, setup.reference
    if law.robot.parameter_names != robot.parameter_names:
        robot_words = "the robot with the grasped load, grasp.add_load(robot)" if grasp is not None else "this robot"
        raise InputError(
            f"the controller was created for a robot with other links, joints or friction laws than {robot.name!r}; "
            f"create it for {robot_words}, or for one that differs in parameter values only"
        )
    if sensors is not None:
        sensors.check(len(robot.actuated), runs)
    changes = (*parameter_changes, *(() if grasp is None else (grasp.change,)))
    interval, recording = choose_interval(every, runs, setup.seconds, rate)
    gain_names = law.gain_names if variation.gain_spread else ()
    streams = (variation_rng.spawn(1)[0] for _ in range(runs))  # one at a time: a generator has 2 kB
    sampled = sample_variation(
        robot, variation, gains=len(gain_names), unknown_names=law.unknown_names, streams=streams
    )
    _check_load_friction(robot, sampled.theta, changes)
    first = sample_reference(trajectory, robot, np.zeros(1))
    initial_estimate = law.init(first.q[0], first.qd[0], estimate=estimate).x[: len(law.unknown_names)]
    start = Start(first.q + sampled.position, first.qd + sampled.velocity, initial_estimate * sampled.estimate)
    period = 1.0 / rate
    check_timing(period, 1 if substeps is None else substeps, law.max_step)
    count_periods(setup.seconds, period, interval)
    if substeps is None:
        substeps = choose_substeps_for(robot, trajectory, setup.seconds, period, variation, changes, plant)
    task = SimulationTask(robot, law, trajectory, setup.seconds, period, substeps, sensors, changes, interval)
    if plant == OWN:
        varied = robot.parameter_names if variation.spread else ()
        results = run_compiled(task, start, sampled, varied, gain_names, noise_rng, engine, threads, progress)
    else:
        results = run_mujoco(task, start, sampled, noise_rng, progress)
    return Simulation(
        robot=robot,
        controller=law,
        plant=plant,
        period=period,
        reference=sample_reference(trajectory, robot, results.t),
        runs=results,
        theta=sampled.theta,
        parameter_changes=changes,
        gain_names=gain_names,
        gains=sampled.gains if gain_names else None,
        sensors=sensors,
        input_findings=(*setup.findings, *recording),
    )


def _check_problem(
    robot: Robot,
    controller: object,
    plant: str,
    variation: Variation,
    grasp: object,
    sensors: object,
    parameter_changes: object,
) -> None:
    check_is_robot(robot)
    refuse_floating_base(robot, "the simulation")
    check_inertias_are_complete(robot, "a simulation")
    check_kind(
        "controller",
        controller,
        (str, ControllerSettings, Law),
        "the name of a control law, ControllerSettings(…), or a control law such as SlotineLi(…); PlainLoop simulates "
        "controllers of other classes",
    )
    if plant not in PLANTS:
        raise UnknownNameError(f"there is no plant {plant!r}{suggest_names(plant, PLANTS)}")
    check_kind("variation", variation, Variation, "Variation(…), such as Variation(spread=20.0)")
    check_kind("grasp", grasp, (Grasp, NoneType), "grasp(mass, t), such as grasp(2.5, t=4.0)")
    check_kind("sensors", sensors, (Sensors, NoneType), "Sensors(…), such as Sensors(q=Sensor(noise=1e-4))")
    form = "a list, such as [ParameterChange(0.5, {'link3.m': 1.5})]"
    check_kind("parameter_changes", parameter_changes, Sequence, form)
    for change in parameter_changes:  # type: ignore[attr-defined]
        check_kind("an entry of parameter_changes", change, ParameterChange, form)
    if variation.gain_spread and plant != OWN:
        raise InputError("gains can vary on plant 'own' only; set gain_spread to 0, or choose plant='own'")


def _check_load_friction(
    robot: Robot, theta: Float[np.ndarray, "runs params"], changes: Sequence[ParameterChange]
) -> None:
    """Raise an error if the load-dependent friction of a run is not usable, at its start or after a change."""
    places = [k for k, name in enumerate(robot.parameter_names) if name.endswith(".fl")]
    for row in theta[:, places] if places else ():
        check_load_friction([robot.parameter_names[k] for k in places], row)
    for change in changes:
        check_load_friction([*change.values], np.array([*change.values.values()]))


def _check_numbers(
    seconds: object, runs: object, rate: object, substeps: object, every: object, threads: object
) -> None:
    check_count("runs", runs, f"a whole number of runs from 1 to {MAX_RUNS:,}", maximum=MAX_RUNS)
    form = f"a number of Hz from {MIN_RATE:g} to {MAX_RATE:g}, such as 1000"
    check_number("rate", rate, form, allow=lambda value: MIN_RATE <= value <= MAX_RATE)
    if seconds is not None:
        check_number("seconds", seconds, "a positive number of seconds, such as 10", allow=is_positive)
    if substeps is not None:
        check_count("substeps", substeps, f"a whole number from 1 to {MAX_SUBSTEPS:,}", maximum=MAX_SUBSTEPS)
    for name, value in (("every", every), ("threads", threads)):
        if value is not None:
            check_count(name, value, "a whole number, at least 1")


Progress: TypeAlias = Callable[[int], None]
# Standard deviations by which the damping rate may exceed that of the description. Chosen on: reasoning, two for
# larger friction, and two for smaller inertia.
MAX_DAMPING_DEVIATIONS = 4.0


@dataclass(frozen=True, eq=False)
class SimulationTask:
    """The settings that all runs share."""

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
class Start:
    """The initial motion and estimate of every run."""

    q: Float[np.ndarray, "runs joints"]
    qd: Float[np.ndarray, "runs joints"]
    estimate: Float[np.ndarray, "runs unknown"]


def run_compiled(
    task: SimulationTask,
    start: Start,
    sampled: SampledVariation,
    varied: tuple[str, ...],
    gain_names: tuple[str, ...],
    rng: np.random.Generator,
    engine: str,
    threads: int | None,
    progress: Progress | None,
) -> Runs:
    """Simulate all runs together on ytheta's own plant. ``varied`` names parameters that differ between runs."""
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


def run_mujoco(
    task: SimulationTask, start: Start, sampled: SampledVariation, rng: np.random.Generator, progress: Progress | None
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


def choose_substeps_for(
    robot: Robot,
    reference: ReferenceTrajectory,
    seconds: float,
    period: float,
    variation: Variation,
    parameter_changes: Sequence[ParameterChange],
    plant: str,
) -> int:
    """Return the number of substeps that the damping along the reference requires, before and after each change.

    MuJoCo has its own law of Coulomb friction, so that it is not considered for MuJoCo, except beside load-dependent
    friction. The constraints of loops and couplings in MuJoCo need steps that are not longer than the time constant of
    the constraints.
    """
    q = sample_reference(reference, robot, np.linspace(0.0, seconds, MAX_SAMPLES)).q
    robots = [robot]
    for change in sorted(parameter_changes, key=lambda change: change.t):
        robots.append(with_parameters(robots[-1].numeric, change.values))
    margin = float(np.exp(MAX_DAMPING_DEVIATIONS * 0.01 * variation.spread))
    has_springs = plant != OWN and (robot.loops or robot.couplings)
    min_substeps = math.ceil(period / LOOP_SOLREF[0] - 1e-9) if has_springs else 1
    return max(
        min_substeps, *(choose_substeps(changed, q, period, margin=margin, coulomb=plant == OWN) for changed in robots)
    )
