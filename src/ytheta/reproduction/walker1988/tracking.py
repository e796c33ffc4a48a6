"""Tracking of the arm of Figure 1 with unknown links and friction.

Reference     [walker1988] abstract, sec. 2.4 and 4
"""

from __future__ import annotations

import numpy as np

from ytheta.plots import Axis, Line, Plot
from ytheta.reproduction.exhibit import Agreement, Comparison, Exhibit
from ytheta.reproduction.tracking import plot_joints
from ytheta.reproduction.walker1988.simulations import OPEN, PID_NOTE, START_OFFSET, TRANSIENT, ArmRuns, TrackingRun

MAX_LATE_ERROR = 0.25  # relative to the start offset


def compare_tracking(runs: ArmRuns) -> Exhibit:
    """Compare the statement that the tracking error vanishes, and that all parameters are adapted."""
    law = runs.own_plant.law
    friction = sum(name.endswith(".fv") for name in law.unknown_names)
    counted = f"{len(law.unknown_names) - friction} of links, {friction} of joints"
    plants = {"feedback of (21)": runs.own_plant}
    left_out = ""
    if runs.mujoco is not None:
        plants["feedback of (21), in MuJoCo"] = runs.mujoco
    else:
        left_out = " MuJoCo is not installed, so its simulation is left out."
    printed = "70 of links, 9 of joints"
    note = "sec. 2.4: ten parameters m_jk of each of m = 7 links, and d_j of each of m + r = 9 joints"
    comparisons = [Comparison("adapted parameters", printed, counted, Agreement.of(counted == printed), note)]
    for name, run in plants.items():
        agrees = Agreement.of(run.find_late_error(run.runs.seconds) < MAX_LATE_ERROR * START_OFFSET)
        comparisons.append(Comparison(f"Q_e, {name}", "goes to 0", _describe_error(run), agrees))
    comparisons.append(
        Comparison("Q_e, PID feedback", "not stated", _describe_error(runs.pid), Agreement.OPEN, PID_NOTE)
    )
    return Exhibit(
        "tracking",
        "Tracking of the arm of Figure 1",
        tuple(comparisons),
        plots=_make_plots(runs),
        open=OPEN + left_out,
    )


def _describe_error(run: TrackingRun) -> str:
    late = run.find_late_error(run.runs.seconds)
    return f"{1e3 * START_OFFSET:.0f} to {1e3 * late:.2g} mm or mrad in {run.runs.seconds:.1f} s"


def _make_plots(runs: ArmRuns) -> tuple[Plot, ...]:
    run, t = runs.own_plant, runs.own_plant.runs.t
    kinds = {joint.name: joint.kind.value for joint in run.law.robot.movable}
    units = [("mm", "N") if kinds[name] == "prismatic" else ("mrad", "Nm") for name in run.law.robot.actuated]
    labels = [f"{name} ({length})" for name, (length, _) in zip(run.law.robot.actuated, units, strict=True)]
    torque_labels = [f"{name} ({force})" for name, (_, force) in zip(run.law.robot.actuated, units, strict=True)]
    largest, without = (1e3 * np.abs(r.error).max(axis=1) for r in (run, runs.constant))
    lines = [Line(label, 1e3 * run.error[:, k]) for k, label in enumerate(labels)]
    lines += [
        Line("largest", largest, axis=1, colour=7),
        Line("largest without adaptation", without, axis=1, colour=7, dashed=True),
    ]
    errors = Plot(
        "Tracking errors",
        t,
        tuple(lines),
        (Axis("error"), Axis("largest", log=True)),
        caption="Below: the largest error, with and without adaptation (dashed).",
    )
    later, peak = t >= TRANSIENT, np.abs(run.runs.tau).max() / 1e3
    torques = plot_joints(
        "Forces and torques",
        t[later],
        run.runs.tau[0][later],
        torque_labels,
        Axis("force or torque"),
        caption=(
            f"The first {1e3 * TRANSIENT:.0f} ms are left out: forces and torques reach {peak:.0f} kN or kNm to "
            f"correct the start offset of {1e3 * START_OFFSET:.0f} mm."
        ),
    )
    return errors, torques
