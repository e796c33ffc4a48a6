"""Fig. 1 to 4 of fernandez2000: positions, velocities and accelerations with their references, and estimates."""

from __future__ import annotations

import numpy as np

from ytheta.identifiability.registry import base_parameters
from ytheta.plots import Axis, Line, Plot
from ytheta.reproduction.exhibit import Agreement, Comparison, Exhibit
from ytheta.reproduction.fernandez2000.simulation import (
    GAMMA,
    K_D,
    LAMBDA,
    PLOTTED_SECONDS,
    SECONDS,
    TrackingRun,
    make_puma_law,
    simulate,
)
from ytheta.reproduction.tracking import plot_joints

JOINTS = tuple(f"joint {k}" for k in range(1, 7))
NO_ADAPTATION = 1e-9  # gain of a law whose estimate stays where it is
LARGEST_BASE_PARAMETERS = 6  # number of estimates in Fig. 4
OPEN_SETTINGS = (
    "the data of the PUMA 600, the points of the trajectory, the initial estimate and the initial position; the "
    f"curves are missing in the scan. The paper gives Λ = {LAMBDA:g}, Γ = {GAMMA:g} and K_D = {K_D:g}. Chosen here: "
    "the PUMA 560 of the catalog, random points half a second apart, half of every parameter, and a start on the "
    "reference trajectory. So only the kind of result is compared."
)
AS_IN_FIGURE_1 = "the same settings as in Fig. 1."


def compare_figures() -> tuple[Exhibit, ...]:
    """Simulate with and without adaptation, and return Fig. 1 to 4."""
    run = simulate(make_puma_law(), SECONDS)
    without = simulate(make_puma_law(NO_ADAPTATION), PLOTTED_SECONDS)
    return (
        _compare_motion(run, 0, "positions", Axis("position", "rad"), (1e3, "mrad"), _describe_effect(without)),
        _compare_motion(run, 1, "velocities", Axis("velocity", "rad/s"), (1e3, "mrad/s")),
        _compare_motion(run, 2, "accelerations", Axis("acceleration", "rad/s²"), (1.0, "rad/s²")),
        _compare_estimates(run),
    )


def _compare_motion(
    run: TrackingRun,
    derivative: int,
    quantity: str,
    axis: Axis,
    unit: tuple[float, str],
    note: str = "",
) -> Exhibit:
    last = float(run.runs.seconds)
    spans = ((0.0, 1.0), (PLOTTED_SECONDS - 1.0, PLOTTED_SECONDS), (last - 1.0, last))
    first, late, end = (unit[0] * run.rms_error(derivative, *span) for span in spans)
    follow = Comparison(
        f"{quantity} follow their references",
        "a figure",
        f"rms {first:.3g}, {late:.2g}, {end:.2g} {unit[1]} in second 1, {PLOTTED_SECONDS:.0f}, {last:.0f}",
        Agreement.OPEN,
        note,
    )
    number = derivative + 1
    return Exhibit(
        f"figure_{number}",
        f"Fig. {number}: {quantity} and references for joints 1 to 6",
        (follow,),
        (_plot_motion(run, derivative, f"Fig. {number}: {quantity} and references", axis),),
        OPEN_SETTINGS if number == 1 else AS_IN_FIGURE_1,
    )


def _describe_effect(without: TrackingRun) -> str:
    constant = 1e3 * without.rms_error(0, PLOTTED_SECONDS - 1.0, PLOTTED_SECONDS)
    return f"without adaptation, which the paper does not show, {constant:.2g} mrad in second {PLOTTED_SECONDS:.0f}"


def _compare_estimates(run: TrackingRun) -> Exhibit:
    error, unknown, base = run.base_error, len(run.law.unknown_names), len(run.base[1])
    comparisons = (
        Comparison(
            "inertial parameters converge",
            "a figure",
            f"base parameters {100 * error[0]:.0f} % off at the start, {100 * error[-1]:.1f} % at the end",
            Agreement.OPEN,
            f"after {run.runs.seconds:.0f} s of exciting motion. The standard parameters do not converge to the truth "
            f"and are {100 * run.standard_error[-1]:.0f} % off: {unknown - base} of their {unknown} combinations have "
            "no effect. For this figure, the paper refers to another publication",
        ),
    )
    plots = (_plot_estimates(run), _plot_distance(run), _plot_lyapunov(run), _plot_torques(run))
    return Exhibit("figure_4", "Fig. 4: convergence of the inertial parameters", comparisons, plots, AS_IN_FIGURE_1)


def _plot_motion(run: TrackingRun, derivative: int, title: str, axis: Axis) -> Plot:
    plotted = run.t <= PLOTTED_SECONDS
    values, reference = run.motion[derivative][plotted], run.reference[derivative][plotted]
    return plot_joints(
        title,
        run.t[plotted],
        values,
        JOINTS,
        axis,
        reference=reference,
        below=(values - reference, Axis("error", axis.unit)),
        caption="Dashed: the reference. Below: the error.",
    )


def _plot_torques(run: TrackingRun) -> Plot:
    plotted = run.t <= PLOTTED_SECONDS
    torque = run.runs.tau[0][plotted]
    return plot_joints("Torques", run.t[plotted], torque, JOINTS, Axis("torque", "N m"), caption="Not in the paper.")


def _plot_estimates(run: TrackingRun) -> Plot:
    estimate, truth = run.base
    names = base_parameters(run.law.robot).names
    largest = np.argsort(-np.abs(truth))[:LARGEST_BASE_PARAMETERS]
    lines = [Line(names[k], estimate[:, k] / truth[k]) for k in largest]
    return Plot(
        "Fig. 4: inertial parameters",
        run.t,
        (*lines, Line("true", np.ones(len(run.t)), dashed=True, colour=7)),
        (Axis("estimate / truth"),),
        caption="The six largest base parameters, each divided by its true value. All start at half of it.",
    )


def _plot_distance(run: TrackingRun) -> Plot:
    base, unknown = len(run.base[1]), len(run.law.unknown_names)
    return Plot(
        "Fig. 4: distance from the truth",
        run.t,
        (
            Line(f"{base} base parameters", run.base_error),
            Line(f"{unknown} standard parameters", run.standard_error),
        ),
        (Axis("relative distance", log=True),),
        caption="Norm of the error divided by the norm of the truth. Torques depend on "
        f"{base} combinations of the {unknown} parameters. The estimates of these combinations converge, those of the "
        "single parameters cannot.",
    )


def _plot_lyapunov(run: TrackingRun) -> Plot:
    return Plot(
        "Lyapunov function",
        run.t,
        (Line("V", run.lyapunov),),
        (Axis("V", log=True),),
        caption="Not in the paper. It never rises.",
    )
