"""The simulation of all runs on one of the plants, after every setting has been chosen."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ytheta.control.laws.law import Law
from ytheta.robot.parameters import with_parameters, with_theta
from ytheta.robot.robot import Robot
from ytheta.shapes import Float
from ytheta.simulation.closed_loop.compiled import ClosedLoop
from ytheta.simulation.closed_loop.plain import PlainLoop
from ytheta.simulation.parameter_changes import ParameterChange
from ytheta.simulation.plants.mujoco_plant import LOOP_SOLREF, MujocoPlant
from ytheta.simulation.plants.substeps import MAX_SAMPLES, choose_substeps
from ytheta.simulation.references.reference import ReferenceTrajectory, sample_reference
from ytheta.simulation.runs import Runs, join_runs
from ytheta.simulation.sensors.sensors import Sensors
from ytheta.simulation.variation import SampledVariation, Variation

OWN, MUJOCO = PLANTS = ("own", "mujoco")
Progress: TypeAlias = Callable[[int], None]
# Standard deviations by which the damping rate may exceed that of the description: two for larger friction, and two for
# smaller inertia.
MAX_DAMPING_DEVIATIONS = 4.0


@dataclass(frozen=True, eq=False)
class Task:
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
    task: Task,
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
    task: Task, start: Start, sampled: SampledVariation, rng: np.random.Generator, progress: Progress | None
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

    MuJoCo has its own law of Coulomb friction, so that Coulomb friction is not considered for MuJoCo. The constraints
    of loops and couplings in MuJoCo need steps that are not longer than the time constant of the constraints.
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
