"""Simulations of the arm of Figure 1 under the adaptive controller, with settings chosen here (see ``OPEN``).

Reference     [walker1988] sec. 4, (17), (21)-(26)
Notation      code   paper       meaning
              r      Qtildedot   qd - (qrd - Lambda e)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec

import numpy as np

from ytheta.control.feedback.feedback import Feedback
from ytheta.control.feedback.pid import PIDFeedback
from ytheta.control.laws.walker import Walker
from ytheta.dynamics.constraint import build_constraint
from ytheta.reproduction.tracking import evaluate_lyapunov
from ytheta.robot.parameters import with_parameters
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot
from ytheta.shapes import Float
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.plain_loop import PlainLoop
from ytheta.simulation.runs import Runs

SECONDS, MUJOCO_SECONDS = 4.0, 0.4
START_OFFSET = 0.02  # m or rad
TRANSIENT = 0.05  # s, in which the controller corrects the start offset, too fast for sums over periods
AMPLITUDE = 0.05  # m or rad
FREQUENCY, FREQUENCY_STEP = 2.0, 0.5  # rad/s, of the first coordinate, and the increase per coordinate
PID = PIDFeedback(stiffness=[2e5, 2e5, 2e3], integral=[5e5, 5e5, 5e3], damping=[1e4, 1e4, 1e2])
PID_NOTE = "sec. 4 only says that its general class includes PID controllers; the proof is for (21)"
OPEN = (
    "The paper gives no dimensions, masses, gains or trajectories, and simulates nothing. Chosen here: the robot "
    "walker of the catalog without Coulomb friction, estimates that start at 60 % of the masses and without friction, "
    "a start offset of 20 mm or 20 mrad, a slow motion around home, Lambda = 10/s. The theorem holds for any of these "
    "settings."
)


@dataclass(frozen=True, eq=False)
class TrackingRun:
    """A run of an arm."""

    law: Walker
    runs: Runs

    @cached_property
    def reference(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return evaluate_reference(self.law.robot, self.runs.t)

    @cached_property
    def error(self) -> Float[np.ndarray, "instants joints"]:
        return self.runs.q[0] - self.reference[0]

    @cached_property
    def r(self) -> Float[np.ndarray, "instants joints"]:
        """Qtildedot (17)."""
        return self.runs.qd[0] - self.reference[1] + self.error @ self.law.gains["convergence"].T

    @cached_property
    def V(self) -> Float[np.ndarray, "instants"]:
        """The Lyapunov function (26), plus the storage of the feedback law."""
        return evaluate_lyapunov(self.law, self.runs, self.reference)

    @property
    def V_falls(self) -> bool:
        return bool((np.diff(self.V) < 0.0).all())

    def find_late_error(self, seconds: float) -> float:
        """Return the largest error in the last tenth of the first ``seconds``."""
        late = (self.runs.t <= seconds) & (self.runs.t > 0.9 * seconds)
        return float(np.abs(self.error[late]).max())


@dataclass(frozen=True, eq=False)
class ArmRuns:
    """Runs of the arm: on ytheta's own plant, without adaptation, with PID feedback, and in MuJoCo if installed."""

    own_plant: TrackingRun
    constant: TrackingRun
    pid: TrackingRun
    mujoco: TrackingRun | None


def simulate_arm() -> ArmRuns:
    """Simulate the arm of Figure 1."""
    robot = load_without_coulomb("walker")
    law = make_law(robot)
    return ArmRuns(
        simulate(law),
        simulate(make_law(robot, speed=1e-9)),
        simulate(make_law(robot, feedback=PID)),
        simulate_in_mujoco(law) if find_spec("mujoco") else None,
    )


def load_without_coulomb(name: str) -> Robot:
    robot = load(name)
    return with_parameters(robot, {p: 0.0 for p in robot.parameter_names if p.endswith(".fc")})


def make_initial_estimate(law: Walker) -> Float[np.ndarray, "unknown"]:
    """Return 60 % of the parameters of the links, and no friction."""
    truth = law.unknowns.nominal
    return np.array([0.0 if n.endswith(".fv") else 0.6 * t for n, t in zip(law.unknown_names, truth, strict=True)])


def make_law(
    robot: Robot, *, light_link: str = "link3", speed: float = 1.0, feedback: Feedback | None = None
) -> Walker:
    """Return a law with unknown links and viscous friction; adaptation gains grow with the square of the parameters.

    ``light_link`` gets a larger feedback gain, and ``speed`` multiplies the adaptation gains.
    """
    unit_law = Walker(robot, convergence=10.0, feedback=1.0, adaptation=1.0)
    names = [body.name for body in build_constraint(robot).mechanism.bodies]
    gamma = np.where(np.array(names) == light_link, 2000.0, 200.0)
    weights = np.array([30.0 if n.endswith(".fv") else 1.0 for n in unit_law.unknown_names])
    adaptation = speed * weights * (abs(unit_law.unknowns.nominal) + 0.02) ** 2
    initial = make_initial_estimate(unit_law)
    return Walker(robot, convergence=10.0, feedback=feedback or gamma, adaptation=adaptation, initial=initial)


def evaluate_reference(robot: Robot, t: Float[np.ndarray, "instants"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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


def simulate(law: Walker) -> TrackingRun:
    """Simulate on ytheta's own plant, in continuous time."""
    loop = ClosedLoop(plant=law.robot, controller=law, continuous=True)
    q, qd, _ = evaluate_reference(law.robot, np.zeros(1))
    initial = loop.init(q + START_OFFSET, qd)
    return TrackingRun(law, loop.run(initial, lambda t: evaluate_reference(law.robot, t), SECONDS, every=1))


def simulate_in_mujoco(law: Walker) -> TrackingRun:
    """Simulate in MuJoCo, with a period of 1 ms."""
    from ytheta.simulation.mujoco_plant import MujocoPlant

    loop = PlainLoop(plant=MujocoPlant(law.robot), controller=law)
    q, qd, _ = evaluate_reference(law.robot, np.zeros(1))
    return TrackingRun(
        law, loop.run(q[0] + START_OFFSET, qd[0], lambda t: evaluate_reference(law.robot, t), MUJOCO_SECONDS, every=5)
    )
