"""Adaptive control of arms with closed loops after walker1988, with our own plant and with MuJoCo as the plant.

    python -m examples.walker1988_control -o report

The paper proves and simulates nothing; its figures show an arm with two loops without dimensions. Chosen here: the
dimensions, masses and friction of the catalog's ``walker``, and its ``palletiser`` with a parallelogram; masses of 60 %
and no friction at the start, 20 mm (20 mrad) beside the reference; a slow swing around home. Coulomb friction is left
out: MuJoCo's is another law.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import ytheta as yt
from examples.redrawn import Redrawn, Row, joint_lines, lyapunov, main, rms, verdict
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

OUTERMOST = {"walker": "link3", "palletiser": "flange"}  # light links, so that more of the feedback is theirs
SECONDS, MUJOCO_SECONDS = 4.0, 0.4
OFFSET = 0.02  # m or rad
JOLT = 0.05  # s in which the first error is answered
SIZE, SLOWEST, FASTER = 0.05, 2.0, 0.5  # m or rad; rad/s, and how much more from coordinate to coordinate
ABOUT = (
    "M. W. Walker (1988). The paper proves its controller and simulates nothing; what is drawn here are its statements "
    "on two arms of the catalog, with our own plant and with MuJoCo as the plant. Masses begin at 60 % of the truth, "
    "viscous friction of all joints at nothing."
)


def guess(law: Walker) -> Float[np.ndarray, "unknown"]:
    """Links of 60 % of their mass, and no friction."""
    truth = law.unknowns.nominal
    return np.array([0.0 if n.endswith(".fv") else 0.6 * t for n, t in zip(law.unknown_names, truth, strict=True)])


def tracking(robot: Robot, name: str, *, speed: float = 1.0) -> Walker:
    """Masses and all viscous friction unknown; parameters adapt in proportion to their squares."""
    any_law = Walker(robot, convergence=10.0, feedback=1.0, adaptation=1.0)
    names = [body.name for body in build_constraint(robot).mechanism.bodies]
    gamma = np.where(np.array(names) == OUTERMOST[name], 2000.0, 200.0)
    rubs = np.array([30.0 if n.endswith(".fv") else 1.0 for n in any_law.unknown_names])
    adaptation = speed * rubs * (abs(any_law.unknowns.nominal) + 0.02) ** 2
    return Walker(robot, convergence=10.0, feedback=gamma, adaptation=adaptation, initial=guess(any_law))


def without_coulomb(name: str) -> Robot:
    robot = yt.load(name)
    return with_parameters(robot, {p: 0.0 for p in robot.parameter_names if p.endswith(".fc")})


def sway(robot: Robot, t: Float[np.ndarray, "instants"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """From home to one side and back, a little faster from coordinate to coordinate."""
    loops = build_constraint(robot)
    w = SLOWEST + FASTER * np.arange(len(robot.actuated))
    half = 0.5 * np.outer(t, w)
    away = 2.0 * SIZE * np.sin(half) ** 2
    return loops.home[list(loops.actuated)] + away, SIZE * w * np.sin(2.0 * half), SIZE * w**2 * np.cos(2.0 * half)


@dataclass(frozen=True, eq=False)
class Tracked:
    """A run of an arm."""

    law: Walker
    runs: Runs

    @cached_property
    def wanted(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return sway(self.law.robot, self.runs.t)

    @cached_property
    def error(self) -> Float[np.ndarray, "instants joints"]:
        return self.runs.q[0] - self.wanted[0]

    @cached_property
    def V(self) -> Float[np.ndarray, "instants"]:  # noqa: N802
        return lyapunov(self.law, self.runs, self.wanted)

    @property
    def falls(self) -> bool:
        return bool((np.diff(self.V) < 0.0).all())

    def largest(self, seconds: float) -> float:
        """The largest error in the last tenth of so many seconds."""
        late = (self.runs.t <= seconds) & (self.runs.t > 0.9 * seconds)
        return float(np.abs(self.error[late]).max())


def tracked(law: Walker) -> Tracked:
    """With our own plant, in continuous time."""
    loop = ClosedLoop(plant=law.robot, controller=law, continuous=True)
    q, qd, _ = sway(law.robot, np.zeros(1))
    return Tracked(law, loop.run(loop.init(q + OFFSET, qd), lambda t: sway(law.robot, t), SECONDS, every=5))


def tracked_in_mujoco(law: Walker) -> Tracked:
    """With a period of 1 ms."""
    loop = PlainLoop(plant=MujocoPlant(law.robot), controller=law)
    q, qd, _ = sway(law.robot, np.zeros(1))
    return Tracked(law, loop.run(q[0] + OFFSET, qd[0], lambda t: sway(law.robot, t), MUJOCO_SECONDS, every=5))


@dataclass(frozen=True, eq=False)
class Arm:
    """An arm under the law, in both plants, and in ours without learning."""

    name: str
    own: Tracked
    mujoco: Tracked
    twin: Tracked


def arm(name: str) -> Arm:
    robot = without_coulomb(name)
    law = tracking(robot, name)
    return Arm(name, tracked(law), tracked_in_mujoco(law), tracked(tracking(robot, name, speed=1e-9)))


def redrawn() -> Redrawn:
    arms = [arm(name) for name in OUTERMOST]
    rows = [row for each in arms for row in _rows(each)]
    figures = [figure for each in arms for figure in _figures(each)]
    return Redrawn("walker1988: adaptive control of arms with closed loops", ABOUT, tuple(rows), tuple(figures))


def _rows(found: Arm) -> Iterator[Row]:
    law, loops = found.own.law, len(found.own.law.robot.loops)
    rubbing = sum(name.endswith(".fv") for name in law.unknown_names)
    moving = len(law.robot.moving)
    yield Row(
        f"{found.name}: what is learnt",
        "mass properties, friction of all joints",
        f"{len(law.unknown_names) - rubbing} of links, {rubbing} of joints; {loops} loop{'s' * (loops > 1)}",
        verdict(rubbing == moving),
    )
    for plant, each in (("own plant", found.own), ("MuJoCo", found.mujoco)):
        seconds = each.runs.seconds
        yield Row(
            f"{found.name}, {plant}: tracking error",
            "goes to zero",
            f"{1e3 * OFFSET:.0f} to {1e3 * each.largest(seconds):.2g} mm or mrad in {seconds:.1f} s",
            verdict(each.largest(seconds) < 0.25 * OFFSET),
        )
        yield Row(
            f"{found.name}, {plant}: V (26)",
            "never grows",
            f"{each.V[0]:.3g} to {each.V[-1]:.3g}, {'falling all the time' if each.falls else 'with rises'}",
            verdict(each.falls),
        )
    half = found.own.runs.t >= 0.5 * SECONDS
    learnt, unlearnt = (1e3 * float(rms(each.error[half])) for each in (found.own, found.twin))
    yield Row(
        f"{found.name}, own plant: learning matters",
        "-",
        f"rms {unlearnt:.2g} instead of {learnt:.2g} mm or mrad without, from {0.5 * SECONDS:.0f} s on",
        verdict(learnt < 0.5 * unlearnt),
    )


def _figures(found: Arm) -> Iterator[Figure]:
    names = found.own.law.robot.actuated
    robot = found.own.law.robot
    kinds = {joint.name: joint.kind.value for joint in robot.movable}
    labels = tuple(f"{name} ({'mm' if kinds[name] == 'prismatic' else 'mrad'})" for name in names)
    pushes = tuple(f"{name} ({'N' if kinds[name] == 'prismatic' else 'N m'})" for name in names)
    for plant, each in (("own plant", found.own), ("MuJoCo", found.mujoco)):
        yield Figure(
            f"{found.name}, {plant}: tracking errors",
            "Below: the largest of them, as it is without learning (dashed) and with." if each is found.own else "",
            _errors(found, labels)
            if each is found.own
            else joint_lines(each.runs.t, 1e3 * each.error, labels, Axis("error")),
        )
        later, most = each.runs.t >= JOLT, np.abs(each.runs.tau).max() / 1e3
        yield Figure(
            f"{found.name}, {plant}: forces and torques",
            f"The first {1e3 * JOLT:.0f} ms are left out: they answer {1e3 * OFFSET:.0f} mm of error by up to "
            f"{most:.0f} kN or kN m.",
            joint_lines(each.runs.t[later], each.runs.tau[0][later], pushes, Axis("force or torque")),
        )
    both = ((found.own, "own plant, continuous"), (found.mujoco, "MuJoCo, period of 1 ms"))
    yield Figure(
        f"{found.name}: Lyapunov function (26)",
        "It falls at every instant, with either plant.",
        line_plot(
            found.own.runs.t,
            [Line(name, each.V, x=each.runs.t, dashed=each is found.mujoco) for each, name in both],
            [Axis("V", log=True)],
        ),
    )


def _errors(found: Arm, labels: tuple[str, ...]) -> str:
    own, twin = (1e3 * each.error for each in (found.own, found.twin))
    drawn = [Line(label, own[:, k]) for k, label in enumerate(labels)]
    drawn += [
        Line("largest", np.abs(own).max(axis=1), axis=1, colour=7),
        Line("largest without learning", np.abs(twin).max(axis=1), axis=1, colour=7, dashed=True),
    ]
    return line_plot(found.own.runs.t, drawn, [Axis("error"), Axis("largest", log=True)], height=420)


if __name__ == "__main__":
    main(redrawn, "walker1988.html")
