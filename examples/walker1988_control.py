"""Adaptive control of arms with closed loops after walker1988, on ytheta's own plant and in MuJoCo.

    python -m examples.walker1988_control -o report

The paper proves stability and simulates nothing; its figures show an arm with two loops without dimensions. Chosen
here: the dimensions, masses and friction of ``walker`` in the catalog, and the ``palletiser`` with its parallelogram;
initial estimates of 60 % of the masses and no friction; a start 20 mm (20 mrad) beside the reference; a slow motion
around home. Coulomb friction is left out, since MuJoCo has another law of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import ytheta as yt
from examples.paper_comparison import Agreement, PaperComparison, Row, evaluate_lyapunov, main, plot_joints, rms
from ytheta.control.laws.walker import Walker
from ytheta.dynamics.loops.builder import build_constraint
from ytheta.report.figures_page import Figure
from ytheta.report.line_plot import Axis, Line, line_plot
from ytheta.robot.parameters import with_parameters
from ytheta.robot.robot import Robot
from ytheta.shapes import Float
from ytheta.simulation.closed_loop.compiled import ClosedLoop
from ytheta.simulation.closed_loop.plain import PlainLoop
from ytheta.simulation.plants.mujoco_plant import MujocoPlant
from ytheta.simulation.runs import Runs

OUTERMOST_LINK = {"walker": "link3", "palletiser": "flange"}  # light, so that it gets more feedback
SECONDS, MUJOCO_SECONDS = 4.0, 0.4
START_OFFSET = 0.02  # m or rad
TRANSIENT = 0.05  # s, in which the controller corrects the start offset
AMPLITUDE = 0.05  # m or rad
FREQUENCY, FREQUENCY_STEP = 2.0, 0.5  # rad/s, of the first coordinate and from one to the next
ABOUT = (
    "M. W. Walker (1988). The paper proves stability and simulates nothing. Here its statements are tested with two "
    "arms of the catalog, on ytheta's own plant and in MuJoCo. The estimates of the masses start at 60 % of the truth, "
    "those of the viscous friction of all joints at zero."
)


def initial_estimate(law: Walker) -> Float[np.ndarray, "unknown"]:
    """Return 60 % of the parameters of the links, and no friction."""
    truth = law.unknowns.nominal
    return np.array([0.0 if n.endswith(".fv") else 0.6 * t for n, t in zip(law.unknown_names, truth, strict=True)])


def make_law(robot: Robot, name: str, *, speed: float = 1.0) -> Walker:
    """Return a law with unknown links and viscous friction; adaptation gains grow with the squared parameters."""
    unit_law = Walker(robot, convergence=10.0, feedback=1.0, adaptation=1.0)
    names = [body.name for body in build_constraint(robot).mechanism.bodies]
    gamma = np.where(np.array(names) == OUTERMOST_LINK[name], 2000.0, 200.0)
    weights = np.array([30.0 if n.endswith(".fv") else 1.0 for n in unit_law.unknown_names])
    adaptation = speed * weights * (abs(unit_law.unknowns.nominal) + 0.02) ** 2
    return Walker(robot, convergence=10.0, feedback=gamma, adaptation=adaptation, initial=initial_estimate(unit_law))


def without_coulomb(name: str) -> Robot:
    robot = yt.load(name)
    return with_parameters(robot, {p: 0.0 for p in robot.parameter_names if p.endswith(".fc")})


def reference_motion(robot: Robot, t: Float[np.ndarray, "instants"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a motion from home to one side and back, a little faster for each further coordinate."""
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

    law: Walker
    runs: Runs

    @cached_property
    def reference(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return reference_motion(self.law.robot, self.runs.t)

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
        """Return the largest error in the last tenth of this time."""
        late = (self.runs.t <= seconds) & (self.runs.t > 0.9 * seconds)
        return float(np.abs(self.error[late]).max())


def simulate(law: Walker) -> TrackingRun:
    """Simulate on the own plant, in continuous time."""
    loop = ClosedLoop(plant=law.robot, controller=law, continuous=True)
    q, qd, _ = reference_motion(law.robot, np.zeros(1))
    return TrackingRun(
        law, loop.run(loop.init(q + START_OFFSET, qd), lambda t: reference_motion(law.robot, t), SECONDS, every=5)
    )


def simulate_in_mujoco(law: Walker) -> TrackingRun:
    """Simulate in MuJoCo, with a period of 1 ms."""
    loop = PlainLoop(plant=MujocoPlant(law.robot), controller=law)
    q, qd, _ = reference_motion(law.robot, np.zeros(1))
    return TrackingRun(
        law, loop.run(q[0] + START_OFFSET, qd[0], lambda t: reference_motion(law.robot, t), MUJOCO_SECONDS, every=5)
    )


@dataclass(frozen=True, eq=False)
class ArmRuns:
    """An arm under the law on both plants, and on the own plant without adaptation."""

    name: str
    own: TrackingRun
    mujoco: TrackingRun
    constant: TrackingRun


def simulate_arm(name: str) -> ArmRuns:
    robot = without_coulomb(name)
    law, constant = make_law(robot, name), make_law(robot, name, speed=1e-9)
    return ArmRuns(name, simulate(law), simulate_in_mujoco(law), simulate(constant))


def compare_with_paper() -> PaperComparison:
    arms = [simulate_arm(name) for name in OUTERMOST_LINK]
    rows = [row for each in arms for row in _rows(each)]
    figures = [figure for each in arms for figure in _figures(each)]
    return PaperComparison("walker1988: adaptive control of arms with closed loops", ABOUT, tuple(rows), tuple(figures))


def _rows(arm: ArmRuns) -> Iterator[Row]:
    law, loops = arm.own.law, len(arm.own.law.robot.loops)
    friction = sum(name.endswith(".fv") for name in law.unknown_names)
    moving = len(law.robot.moving)
    yield Row(
        f"{arm.name}: unknown parameters",
        "mass properties, friction of all joints",
        f"{len(law.unknown_names) - friction} of links, {friction} of joints; {loops} loop{'s' * (loops > 1)}",
        Agreement.of(agrees=friction == moving),
    )
    for plant, each in (("own plant", arm.own), ("MuJoCo", arm.mujoco)):
        seconds = each.runs.seconds
        yield Row(
            f"{arm.name}, {plant}: tracking error",
            "goes to zero",
            f"{1e3 * START_OFFSET:.0f} to {1e3 * each.largest_error(seconds):.2g} mm or mrad in {seconds:.1f} s",
            Agreement.of(agrees=each.largest_error(seconds) < 0.25 * START_OFFSET),
        )
        yield Row(
            f"{arm.name}, {plant}: V (26)",
            "never grows",
            f"{each.V[0]:.3g} to {each.V[-1]:.3g}, {'falling all the time' if each.V_falls else 'with rises'}",
            Agreement.of(agrees=each.V_falls),
        )
    half = arm.own.runs.t >= 0.5 * SECONDS
    adaptive, constant = (1e3 * float(rms(each.error[half])) for each in (arm.own, arm.constant))
    yield Row(
        f"{arm.name}, own plant: effect of adaptation",
        "-",
        f"rms {adaptive:.2g} mm or mrad after {0.5 * SECONDS:.0f} s, without adaptation {constant:.2g}",
        Agreement.of(agrees=adaptive < 0.5 * constant),
    )


def _figures(arm: ArmRuns) -> Iterator[Figure]:
    names = arm.own.law.robot.actuated
    robot = arm.own.law.robot
    kinds = {joint.name: joint.kind.value for joint in robot.movable}
    labels = tuple(f"{name} ({'mm' if kinds[name] == 'prismatic' else 'mrad'})" for name in names)
    torque_labels = tuple(f"{name} ({'N' if kinds[name] == 'prismatic' else 'N m'})" for name in names)
    for plant, each in (("own plant", arm.own), ("MuJoCo", arm.mujoco)):
        yield Figure(
            f"{arm.name}, {plant}: tracking errors",
            "Below: the largest error, with adaptation and without (dashed)." if each is arm.own else "",
            _errors(arm, labels)
            if each is arm.own
            else plot_joints(each.runs.t, 1e3 * each.error, labels, Axis("error")),
        )
        later, most = each.runs.t >= TRANSIENT, np.abs(each.runs.tau).max() / 1e3
        yield Figure(
            f"{arm.name}, {plant}: forces and torques",
            f"The first {1e3 * TRANSIENT:.0f} ms are left out: forces and torques reach {most:.0f} kN or kN m to "
            f"correct the start offset of {1e3 * START_OFFSET:.0f} mm.",
            plot_joints(each.runs.t[later], each.runs.tau[0][later], torque_labels, Axis("force or torque")),
        )
    both = ((arm.own, "own plant, continuous"), (arm.mujoco, "MuJoCo, period of 1 ms"))
    yield Figure(
        f"{arm.name}: Lyapunov function (26)",
        "It falls at every instant, on both plants.",
        line_plot(
            arm.own.runs.t,
            [Line(name, each.V, x=each.runs.t, dashed=each is arm.mujoco) for each, name in both],
            [Axis("V", log=True)],
        ),
    )


def _errors(arm: ArmRuns, labels: tuple[str, ...]) -> str:
    own, constant = (1e3 * each.error for each in (arm.own, arm.constant))
    plotted = [Line(label, own[:, k]) for k, label in enumerate(labels)]
    plotted += [
        Line("largest", np.abs(own).max(axis=1), axis=1, colour=7),
        Line("largest without adaptation", np.abs(constant).max(axis=1), axis=1, colour=7, dashed=True),
    ]
    return line_plot(arm.own.runs.t, plotted, [Axis("error"), Axis("largest", log=True)], height=420)


if __name__ == "__main__":
    main(compare_with_paper, "walker1988.html")
