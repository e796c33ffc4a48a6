"""The simulation of fernandez2000 sec. 5: Slotine–Li on a PUMA with six joints and the paper's gains.

The paper gives Lambda = 39, Gamma = 0.075 (its inverse is the gain in (31)) and K_D = 35. It does not give the data of
its PUMA 600, the points of its polynomial trajectories, the initial estimate or the initial position. For Fig. 4 it
refers to another publication. Chosen here:

- the PUMA 560 of the catalog,
- random points half a second apart, with a stop at each point,
- an initial estimate of half of every parameter of the description,
- a start on the reference trajectory.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.dynamics.kernels import forward_dynamics
from ytheta.identifiability.registry import base_parameters
from ytheta.reproduction.tracking import compute_rms, evaluate_lyapunov
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot
from ytheta.shapes import Float
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.references import ReferenceTrajectory
from ytheta.simulation.runs import Runs

LAMBDA, GAMMA, K_D = 39.0, 0.075, 35.0  # from the paper
STEP = 5e-4  # s
SECONDS = 30.0
PLOTTED_SECONDS = 8.0  # in Fig. 1 to 3
POINT_INTERVAL = 0.5  # s, between two points of the trajectory


def make_point_to_point_reference(seed: int, joints: int, seconds: float, *, reach: float = 0.6) -> ReferenceTrajectory:
    """Return quintic polynomials between random points, one every half second, with a stop at each point."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-reach, reach, (int(seconds / POINT_INTERVAL) + 2, joints))

    def evaluate(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        k = np.minimum((t / POINT_INTERVAL).astype(int), len(points) - 2)
        s, difference = (t / POINT_INTERVAL - k)[:, None], points[k + 1] - points[k]
        q = points[k] + difference * (10 * s**3 - 15 * s**4 + 6 * s**5)
        qd = difference * (30 * s**2 - 60 * s**3 + 30 * s**4) / POINT_INTERVAL
        return q, qd, difference * (60 * s - 180 * s**2 + 120 * s**3) / POINT_INTERVAL**2

    return evaluate


@cache
def load_puma() -> Robot:
    """Load the robot once, because loading logs the warnings of its description."""
    return load("puma560")


def make_puma_law(adaptation: float = 1.0 / GAMMA) -> SlotineLi:
    """Return the law with 60 unknown parameters, those of the links; friction and rotor inertia are known."""
    return SlotineLi(load_puma(), convergence=LAMBDA, damping=K_D, adaptation=adaptation)


@dataclass(frozen=True, eq=False)
class TrackingRun:
    """A run, its reference trajectory, and its estimates."""

    law: SlotineLi
    trajectory: ReferenceTrajectory
    runs: Runs

    @property
    def t(self) -> Float[np.ndarray, "instants"]:
        return self.runs.t

    @cached_property
    def reference(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.trajectory(self.t)

    @cached_property
    def motion(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, qd and qdd."""
        q, qd = self.runs.q[0], self.runs.qd[0]
        return q, qd, forward_dynamics(self.law.robot)(q, qd, self.runs.tau[0])

    @cached_property
    def base(self) -> tuple[Float[np.ndarray, "instants base"], Float[np.ndarray, "base"]]:
        """Estimated and true base parameters: the combinations of the 60 parameters that have an effect."""
        unknowns = self.law.unknowns
        K = base_parameters(self.law.robot).K[:, list(unknowns.indices)]
        return self.runs.estimate[0] @ K.T, K @ unknowns.nominal

    @cached_property
    def lyapunov(self) -> Float[np.ndarray, "instants"]:
        return evaluate_lyapunov(self.law, self.runs, self.reference)

    def rms_error(self, derivative: int, begin: float, end: float) -> float:
        """Return the rms error of q, qd or qdd of all joints between two times."""
        within = (self.t >= begin) & (self.t < end)
        return float(compute_rms((self.motion[derivative] - self.reference[derivative])[within]))

    @cached_property
    def base_error(self) -> Float[np.ndarray, "instants"]:
        """The distance of the base parameters from the truth, relative to the truth."""
        return _compute_relative_distance(*self.base)

    @cached_property
    def standard_error(self) -> Float[np.ndarray, "instants"]:
        """Likewise of the standard parameters."""
        return _compute_relative_distance(self.runs.estimate[0], self.law.unknowns.nominal)


def _compute_relative_distance(
    estimate: Float[np.ndarray, "instants params"], truth: Float[np.ndarray, "params"]
) -> Float[np.ndarray, "instants"]:
    return np.linalg.norm(estimate - truth, axis=1) / np.linalg.norm(truth)


def simulate(law: SlotineLi, seconds: float) -> TrackingRun:
    """Simulate the law from a start on the reference trajectory, with half of every parameter as initial estimate."""
    trajectory = make_point_to_point_reference(1, 6, SECONDS, reach=1.2)
    loop = ClosedLoop(plant=law.robot, controller=law, period=STEP, continuous=True)
    q, qd, _ = trajectory(np.zeros(1))
    start = loop.init(q, qd, estimate=0.5 * law.unknowns.nominal[None])
    return TrackingRun(law, trajectory, loop.run(start, trajectory, seconds, every=10))
