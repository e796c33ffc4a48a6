"""Closed loops to report, and the numbers that a page holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.support.simulate_cases import sample_starts, swing
from ytheta.control.laws.law import Law
from ytheta.robot.robot import Robot
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.references import sample_reference
from ytheta.simulation.result import Simulation
from ytheta.simulation.sensors import Sensors
from ytheta.simulation.variation import ParameterChange

RUNS, DIVERGED = 24, (3, 11, 17)  # runs of the batch, and those whose load makes them diverge


def simulate_loops(
    robot: Robot,
    law: Law,
    seconds: float,
    *,
    runs: int = 1,
    loads: np.ndarray | None = None,
    parameter_changes: tuple[ParameterChange, ...] = (),
    sensors: Sensors | None = None,
) -> Simulation:
    """Simulate closed loops with a start offset and a wrong estimate; ``loads`` are the masses of the runs."""
    varied = tuple(
        {name for change in parameter_changes for name in change.values} | ({"load.m"} if loads is not None else set())
    )
    loop = ClosedLoop(plant=robot, controller=law, varied=varied, sensors=sensors)
    q, qd = sample_starts(robot, runs, spread=0.02)
    rng = np.random.default_rng(5)
    estimate = law.unknowns.nominal * np.exp(0.3 * rng.normal(size=(runs, len(law.unknown_names))))
    parameters = {} if loads is None else {"load.m": loads}
    start = loop.init(q, qd, estimate=estimate, parameters=parameters)
    reference = swing(robot)
    results = loop.run(start, reference, seconds, parameter_changes=parameter_changes, rng=np.random.default_rng(1))
    theta = np.tile(robot.numeric.theta, (runs, 1))
    if loads is not None:
        theta[:, robot.parameter_names.index("load.m")] = loads
    return Simulation(
        robot=robot,
        controller=law,
        plant="own",
        period=1e-3,
        reference=sample_reference(reference, robot, results.t),
        runs=results,
        theta=theta,
        parameter_changes=parameter_changes,
        sensors=sensors,
    )


def with_all_diverged(batch: Simulation) -> Simulation:
    return replace(batch, runs=replace(batch.runs, diverged_at=np.linspace(0.2, 0.4, RUNS)))
