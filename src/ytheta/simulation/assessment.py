"""Findings about the runs of a simulation: torques at their limits, chattering, estimates, runs that failed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.robot.parameters import is_dissipative
from ytheta.simulation.finding_codes import SimulationFindingCode
from ytheta.simulation.plants.smooth_friction import REVOLUTE_COULOMB_SPEED, find_chattering_drives
from ytheta.simulation.plants.substeps import MAX_SAMPLES

if TYPE_CHECKING:
    from ytheta.simulation.result import Simulation

MAX_SATURATED_SHARE = 0.02  # fraction of instants with a torque at its limit; above it, there is a finding
MAX_RUNS_LISTED = 6


def assess_simulation(simulation: Simulation) -> Iterator[Finding]:
    """Yield the findings about the runs; runs that failed are last."""
    yield from _check_torque_limits(simulation)
    yield from _check_chattering(simulation)
    yield from _check_estimates(simulation)
    yield from _check_runs(simulation)


def _check_torque_limits(simulation: Simulation) -> Iterator[Finding]:
    limits, finished = simulation.controller.max_torque, simulation.finished
    if limits is None or not finished.any():
        return
    share = np.mean(np.abs(simulation.runs.tau[finished]) >= (1.0 - 1e-9) * limits, axis=(0, 1))
    k = int(share.argmax())
    if share[k] > MAX_SATURATED_SHARE:
        joint = simulation.robot.actuated[k]
        yield Finding(
            SimulationFindingCode.TORQUE_LIMIT,
            Severity.WARNING,
            f"the torque of {joint} is at its limit in {100.0 * share[k]:.0f} % of the instants, at which the "
            "stability proof of the controller does not hold",
            "choose smaller gains or a slower reference",
            names=(joint,),
            fields={"percent": 100.0 * float(share[k])},
        )


def _check_chattering(simulation: Simulation) -> Iterator[Finding]:
    if simulation.plant == "mujoco":  # MuJoCo has its own law of Coulomb friction
        return
    q = simulation.reference.q
    samples = np.unique(np.linspace(0, len(q) - 1, MAX_SAMPLES).round().astype(int))
    chattering = find_chattering_drives(simulation.robot, q[samples], simulation.period)
    if chattering:
        yield Finding(
            SimulationFindingCode.CHATTERING,
            Severity.WARNING,
            f"the Coulomb friction of {', '.join(chattering)} changes its sign abruptly at zero speed and is so large "
            "that plant and controller chatter near rest",
            f"set a coulomb_speed in the description, such as {REVOLUTE_COULOMB_SPEED:g} rad/s, or use "
            "with_smooth_friction(robot)",
            names=chattering,
        )


def _check_estimates(simulation: Simulation) -> Iterator[Finding]:
    friction = [k for k, name in enumerate(simulation.unknown_names) if is_dissipative(name)]
    if friction and not simulation.truth[:, friction].any():
        yield Finding(
            SimulationFindingCode.NO_FRICTION,
            Severity.NOTE,
            "the controller estimates friction, but the robot as described has none, so that the true values are 0",
        )
    if simulation.unknown_names and simulation.finished.any():
        growth = (simulation.parameter_error - simulation.initial_parameter_error)[simulation.finished]
        if np.median(growth) > 0.0:
            yield Finding(
                SimulationFindingCode.PARAMETER_ERROR,
                Severity.NOTE,
                "the estimates end farther from the true values than they began, because tracking does not require "
                "true parameters",
                "a longer or more exciting motion brings the estimates closer, and natural or composite adaptation "
                "often does, too",
                fields={"growth": float(np.median(growth))},
            )


def _check_runs(simulation: Simulation) -> Iterator[Finding]:
    diverged = np.flatnonzero(~simulation.finished)
    if len(diverged):
        runs = diverged.tolist()
        listed = ", ".join(map(str, runs[:MAX_RUNS_LISTED]))
        more = f" and {len(runs) - MAX_RUNS_LISTED} more" if len(runs) > MAX_RUNS_LISTED else ""
        yield Finding(
            SimulationFindingCode.NO_LOG,
            Severity.WARNING,
            f"{'run' if len(runs) == 1 else 'runs'} {listed}{more} diverged; "
            f"{'its log is' if len(runs) == 1 else 'their logs are'} not written",
            fields={"runs": runs},
        )
        statement, remedy = simulation.runs.describe_divergence()
        times = simulation.runs.diverged_at[diverged].tolist()
        yield Finding(
            SimulationFindingCode.DIVERGED, Severity.WARNING, statement, remedy, fields={"runs": runs, "t": times}
        )
        return
    not_tracking = np.flatnonzero(~simulation.tracks)
    if len(not_tracking):
        others = f"; {len(not_tracking)} of {len(simulation)} runs do not track" if len(not_tracking) > 1 else ""
        yield Finding(
            SimulationFindingCode.NOT_TRACKING,
            Severity.WARNING,
            f"run {not_tracking[0]} does not track: its error in the last fifth of the time is as large as the motion "
            f"itself{others}",
            "choose other gains, a higher rate, a slower reference, or a start closer to the reference",
            fields={"runs": not_tracking.tolist()},
        )
