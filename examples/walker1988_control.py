"""Adaptive control of arms with loops by the law of walker1988, on ytheta's own plant and in MuJoCo.

    python -m examples.walker1988_control -o report

The paper proves stability and simulates nothing. Its figures show an arm with two loops, without dimensions. Chosen
here:

- two arms of the catalog, with their dimensions, masses and friction: ``walker``, and the ``palletiser`` with its
  parallelogram,
- initial estimates of 60 % of the masses, and no friction,
- a start offset of 20 mm (20 mrad) from the reference, which is a slow motion around home.

Coulomb friction is left out, because MuJoCo models it differently.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import plotly.graph_objects as go

import ytheta as yt
from examples.paper_comparison import (
    TWO_PLOTS_HEIGHT,
    Agreement,
    PaperComparison,
    Row,
    evaluate_lyapunov,
    main,
    plot_joints,
    rms,
)
from ytheta.dynamics.loops.builder import build_constraint
from ytheta.plots import Axis, Line
from ytheta.report.figures_page import Figure
from ytheta.report.line_plot import line_plot
from ytheta.robot.parameters import with_parameters
from ytheta.shapes import Float

OUTERMOST_LINK = {"walker": "link3", "palletiser": "flange"}  # a light link, so it gets a larger feedback gain
SECONDS, MUJOCO_SECONDS = 4.0, 0.4
START_OFFSET = 0.02  # m or rad
TRANSIENT = 0.05  # s, in which the controller corrects the start offset
AMPLITUDE = 0.05  # m or rad
FREQUENCY, FREQUENCY_STEP = 2.0, 0.5  # rad/s, of the first coordinate, and the increase per coordinate
ABOUT = (
    "M. W. Walker (1988). The paper proves stability and simulates nothing. Here, its statements are tested with two "
    "arms of the catalog, on ytheta's own plant and in MuJoCo. The estimates of the masses start at 60 % of the truth, "
    "those of the viscous friction of all joints at zero."
)


def make_initial_estimate(law: yt.control.Walker) -> Float[np.ndarray, "unknown"]:
    """Return 60 % of the parameters of the links, and no friction."""
    truth = law.unknowns.nominal
    return np.array([0.0 if n.endswith(".fv") else 0.6 * t for n, t in zip(law.unknown_names, truth, strict=True)])


def make_law(robot: yt.Robot, name: str, *, speed: float = 1.0) -> yt.control.Walker:
    """Return a law with unknown links and viscous friction; adaptation gains grow with the square of the parameters."""
    unit_law = yt.control.Walker(robot, convergence=10.0, feedback=1.0, adaptation=1.0)
    names = [body.name for body in build_constraint(robot).mechanism.bodies]
    gamma = np.where(np.array(names) == OUTERMOST_LINK[name], 2000.0, 200.0)
    weights = np.array([30.0 if n.endswith(".fv") else 1.0 for n in unit_law.unknown_names])
    adaptation = speed * weights * (abs(unit_law.unknowns.nominal) + 0.02) ** 2
    return yt.control.Walker(
        robot, convergence=10.0, feedback=gamma, adaptation=adaptation, initial=make_initial_estimate(unit_law)
    )


def load_without_coulomb(name: str) -> yt.Robot:
    robot = yt.load(name)
    return with_parameters(robot, {p: 0.0 for p in robot.parameter_names if p.endswith(".fc")})


def evaluate_reference(robot: yt.Robot, t: Float[np.ndarray, "instants"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a motion from home to one side and back; each coordinate is a little faster than the one before."""
    loops = build_constraint(robot)
    w = FREQUENCY + FREQUENCY_STEP * np.arange(len(robot.actuated))
    half = 0.5 * np.outer(t, w)
    offset = 2.0 * AMPLITUDE * np.sin(half) ** 2
    return (
        loops.home[list(loops.actuated)] + offset,
        AMPLITUDE * w * np.sin(2.0 * half),
        AMPLITUDE * w**2 * np.cos(2.0 * half),
    )


@dataclass(frozen=True, eq=False)
class TrackingRun:
    """A run of an arm."""

    law: yt.control.Walker
    runs: yt.Runs

    @cached_property
    def reference(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return evaluate_reference(self.law.robot, self.runs.t)

    @cached_property
    def error(self) -> Float[np.ndarray, "instants joints"]:
        return self.runs.q[0] - self.reference[0]

    @cached_property
    def V(self) -> Float[np.ndarray, "instants"]:  # noqa: N802
        return evaluate_lyapunov(self.law, self.runs, self.reference)

    @property
    def V_falls(self) -> bool:  # noqa: N802
        return bool((np.diff(self.V) < 0.0).all())

    def largest_error(self, seconds: float) -> float:
        """Return the largest error in the last tenth of the first ``seconds``."""
        late = (self.runs.t <= seconds) & (self.runs.t > 0.9 * seconds)
        return float(np.abs(self.error[late]).max())


def simulate(law: yt.control.Walker) -> TrackingRun:
    """Simulate on ytheta's own plant, in continuous time."""
    loop = yt.ClosedLoop(plant=law.robot, controller=law, continuous=True)
    q, qd, _ = evaluate_reference(law.robot, np.zeros(1))
    return TrackingRun(
        law, loop.run(loop.init(q + START_OFFSET, qd), lambda t: evaluate_reference(law.robot, t), SECONDS, every=5)
    )


def simulate_in_mujoco(law: yt.control.Walker) -> TrackingRun:
    """Simulate in MuJoCo, with a period of 1 ms."""
    loop = yt.PlainLoop(plant=yt.MujocoPlant(law.robot), controller=law)
    q, qd, _ = evaluate_reference(law.robot, np.zeros(1))
    return TrackingRun(
        law, loop.run(q[0] + START_OFFSET, qd[0], lambda t: evaluate_reference(law.robot, t), MUJOCO_SECONDS, every=5)
    )


@dataclass(frozen=True, eq=False)
class ArmRuns:
    """Runs of an arm: on both plants, and on the own plant without adaptation (``constant``)."""

    name: str
    own_plant: TrackingRun
    mujoco: TrackingRun
    constant: TrackingRun


def simulate_arm(name: str) -> ArmRuns:
    robot = load_without_coulomb(name)
    law, constant = make_law(robot, name), make_law(robot, name, speed=1e-9)
    return ArmRuns(name, simulate(law), simulate_in_mujoco(law), simulate(constant))


def compare_with_paper() -> PaperComparison:
    arms = [simulate_arm(name) for name in OUTERMOST_LINK]
    rows = [row for arm in arms for row in _compare_statements(arm)]
    figures = [figure for arm in arms for figure in _make_figures(arm)]
    return PaperComparison("walker1988: adaptive control of arms with closed loops", ABOUT, tuple(rows), tuple(figures))


def _compare_statements(arm: ArmRuns) -> Iterator[Row]:
    law, loops = arm.own_plant.law, len(arm.own_plant.law.robot.loops)
    friction = sum(name.endswith(".fv") for name in law.unknown_names)
    moving = len(law.robot.moving)
    yield Row(
        f"{arm.name}: unknown parameters",
        "mass properties, friction of all joints",
        f"{len(law.unknown_names) - friction} of links, {friction} of joints; {loops} loop{'s' * (loops > 1)}",
        Agreement.of(agrees=friction == moving),
    )
    for plant, run in (("own plant", arm.own_plant), ("MuJoCo", arm.mujoco)):
        seconds = run.runs.seconds
        yield Row(
            f"{arm.name}, {plant}: tracking error",
            "goes to zero",
            f"{1e3 * START_OFFSET:.0f} to {1e3 * run.largest_error(seconds):.2g} mm or mrad in {seconds:.1f} s",
            Agreement.of(agrees=run.largest_error(seconds) < 0.25 * START_OFFSET),
        )
        yield Row(
            f"{arm.name}, {plant}: V (26)",
            "never grows",
            f"{run.V[0]:.3g} to {run.V[-1]:.3g}, {'falling all the time' if run.V_falls else 'with rises'}",
            Agreement.of(agrees=run.V_falls),
        )
    late = arm.own_plant.runs.t >= 0.5 * SECONDS
    adaptive, constant = (1e3 * float(rms(run.error[late])) for run in (arm.own_plant, arm.constant))
    yield Row(
        f"{arm.name}, own plant: effect of adaptation",
        "-",
        f"rms {adaptive:.2g} mm or mrad after {0.5 * SECONDS:.0f} s, without adaptation {constant:.2g}",
        Agreement.of(agrees=adaptive < 0.5 * constant),
    )


def _make_figures(arm: ArmRuns) -> Iterator[Figure]:
    names = arm.own_plant.law.robot.actuated
    robot = arm.own_plant.law.robot
    kinds = {joint.name: joint.kind.value for joint in robot.movable}
    labels = tuple(f"{name} ({'mm' if kinds[name] == 'prismatic' else 'mrad'})" for name in names)
    torque_labels = tuple(f"{name} ({'N' if kinds[name] == 'prismatic' else 'N m'})" for name in names)
    for plant, run in (("own plant", arm.own_plant), ("MuJoCo", arm.mujoco)):
        yield Figure(
            f"{arm.name}, {plant}: tracking errors",
            "Below: the largest error, with and without adaptation (dashed)." if run is arm.own_plant else "",
            _plot_errors(arm, labels)
            if run is arm.own_plant
            else plot_joints(run.runs.t, 1e3 * run.error, labels, Axis("error")),
        )
        later, largest = run.runs.t >= TRANSIENT, np.abs(run.runs.tau).max() / 1e3
        yield Figure(
            f"{arm.name}, {plant}: forces and torques",
            f"The first {1e3 * TRANSIENT:.0f} ms are left out: forces and torques reach {largest:.0f} kN or kN m to "
            f"correct the start offset of {1e3 * START_OFFSET:.0f} mm.",
            plot_joints(run.runs.t[later], run.runs.tau[0][later], torque_labels, Axis("force or torque")),
        )
    both = ((arm.own_plant, "own plant, continuous"), (arm.mujoco, "MuJoCo, period of 1 ms"))
    yield Figure(
        f"{arm.name}: Lyapunov function (26)",
        "It falls at every instant, on both plants.",
        line_plot(
            arm.own_plant.runs.t,
            [Line(name, run.V, x=run.runs.t, dashed=run is arm.mujoco) for run, name in both],
            [Axis("V", log=True)],
        ),
    )


def _plot_errors(arm: ArmRuns, labels: tuple[str, ...]) -> go.Figure:
    own, constant = (1e3 * run.error for run in (arm.own_plant, arm.constant))
    plotted = [Line(label, own[:, k]) for k, label in enumerate(labels)]
    plotted += [
        Line("largest", np.abs(own).max(axis=1), axis=1, colour=7),
        Line("largest without adaptation", np.abs(constant).max(axis=1), axis=1, colour=7, dashed=True),
    ]
    return line_plot(arm.own_plant.runs.t, plotted, [Axis("error"), Axis("largest", log=True)], height=TWO_PLOTS_HEIGHT)


if __name__ == "__main__":
    main(compare_with_paper, "walker1988.html")
