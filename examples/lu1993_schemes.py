"""The arm, the trajectory and the two adaptive schemes of lu1993 V-B, and many runs of them with other settings.

The text gives the masses, the shape of the trajectory, 20 % initial error and the guess m4 = 0.5 kg. It does not give
omega, lambda, Gamma, the gains of Craig's scheme, the velocity at the start, nor the tolerance of "converging"; Fig. 3
to 5 are missing in the scan. Chosen here: omega = 4 pi, the one of pi, 2 pi and 4 pi with which two seconds suffice for
m4; lambda = 20 for both, whose double pole takes 0.3 s to one degree; for each scheme, of eight values, the Gamma that
settles soonest; the reference's velocity at the start.

Both schemes run in continuous time, and Craig's is told exact accelerations: as they depend on the torque, and the
torque not on them, they are computed in between. What is scanned, gains and Gamma, is part of what a law remembers,
with the rate zero: so one compiled step serves all runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import ytheta as yt
from ytheta.control.laws.craig import Craig
from ytheta.control.laws.law import Law
from ytheta.control.laws.modified_slotine_li import QuasiComputedTorque
from ytheta.dynamics.graphs import forward_dynamics_graph
from ytheta.dynamics.motion import scalars
from ytheta.native import Kernel, compile_graph
from ytheta.native.graph import Graph, Input, trace
from ytheta.shapes import Float, Shaped
from ytheta.simulation.closed_loop.period_graph import PeriodGraphBuilder
from ytheta.simulation.plants.equations_of_motion import EquationsOfMotion
from ytheta.simulation.references.reference import ReferenceTrajectory

LAMBDA = 20.0  # 1/s
OMEGA = 4.0 * np.pi  # rad/s
GAMMAS = {"modified": 0.006, "Craig": 0.0011}
LINK4 = 0.5  # kg of m4 that are no load
TOTAL = 1.0  # kg, m4 with the load
OFFSET = 0.2  # of the positions at the start
SECONDS, STEP = 2.0, 1e-3
LEARN = ("load.m",)
SCHEMES = ("modified", "Craig")


def course(omega: float = OMEGA) -> ReferenceTrajectory:
    """The trajectory of sec. V-B; joints 2 and 4 have cosines."""
    c = np.pi * np.array([8 / 9, 2 / 3, 3 / 4, 15 / 18])
    a = np.pi * np.array([4 / 9, 1 / 3, 1 / 4, 8 / 18])
    w = omega / np.array([1.0, 2.0, 3.0, 4.0])
    phase = np.array([0.0, np.pi / 2, 0.0, np.pi / 2])

    def at(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        angle = np.outer(t, w) + phase
        return c + a * np.sin(angle), a * w * np.cos(angle), -a * w * w * np.sin(angle)

    return at


def modified(gamma: float = GAMMAS["modified"], convergence: float = LAMBDA) -> QuasiComputedTorque:
    """The modified scheme in its quasi-computed-torque form (94)-(96)."""
    return QuasiComputedTorque(yt.load("lu-puma4"), convergence=convergence, adaptation=gamma, learn=LEARN)


def craig(gamma: float = GAMMAS["Craig"], convergence: float = LAMBDA) -> Craig:
    """Craig's scheme with the poles of the other, and its error: K_p = lambda², K_v = 2 lambda, Psi = lambda."""
    gains: dict[str, Any] = {"stiffness": convergence**2, "damping": 2.0 * convergence, "filtering": convergence}
    return Craig(yt.load("lu-puma4"), **gains, adaptation=gamma, learn=LEARN)


@dataclass(frozen=True, eq=False)
class Settings:
    """Of some runs on one trajectory, one row each; ``offset`` is relative, ``moving`` the part of its velocity."""

    omega: float
    convergence: Float[np.ndarray, "runs"]
    gamma: Float[np.ndarray, "runs"]
    offset: Float[np.ndarray, "runs"]
    moving: Float[np.ndarray, "runs"]
    filtering: float = 1.0  # Craig's Psi in lambda

    @staticmethod
    def one(gamma: float, *, omega: float = OMEGA, convergence: float = LAMBDA) -> Settings:
        """The one run that is shown."""
        lam, own, offset, moving = (np.array([value]) for value in (convergence, gamma, OFFSET, 1.0))
        return Settings(omega, lam, own, offset, moving)

    def factors(self, scheme: str) -> Float[np.ndarray, "runs gains"]:
        """Of the gains of ``modified(1, 1)`` and ``craig(1, 1)``, as ``law.gain_names`` lists them."""
        lam = self.convergence
        rows = (lam,) if scheme == "modified" else (lam**2, lam, self.filtering * lam)
        return np.stack([*rows, self.gamma], axis=1)


@dataclass(frozen=True, eq=False)
class Batch:
    """What runs did; a lost one, whose estimated mass matrix has no inverse, is infinitely far off from then on."""

    t: Float[np.ndarray, "instants"]
    wanted: Float[np.ndarray, "instants joints"]
    error: Float[np.ndarray, "instants runs joints"]
    m4: Float[np.ndarray, "instants runs"]

    @property
    def lost(self) -> Shaped[np.ndarray, "runs"]:
        return ~np.isfinite(self.m4[-1])

    @property
    def farthest(self) -> Float[np.ndarray, "instants runs"]:
        """The error of the joint that is farthest off."""
        return np.abs(self.error).max(axis=2)


def simulated(scheme: str, settings: Settings) -> Batch:
    """Two seconds; m4 is taken for 0.5 kg at first: a load of nothing."""
    maker, kernel = _step(scheme)
    slots, steps = maker.slots, round(SECONDS / STEP)
    wanted = np.concatenate(course(settings.omega)(0.5 * STEP * np.arange(2 * steps + 1)), axis=1)
    reference = np.concatenate([wanted[:-1:2], wanted[1::2], wanted[2::2]], axis=1)
    q, qd = wanted[0, : slots.joints], wanted[0, slots.joints : 2 * slots.joints]
    runs = len(settings.gamma)
    state = np.zeros((runs, slots.size))
    state[:, slots.x] = (1.0 + settings.offset[:, None]) * q
    state[:, slots.qd] = settings.moving[:, None] * qd
    state[:, slots.controller_state] = np.concatenate([np.zeros((runs, 1)), settings.factors(scheme)], axis=1)
    error, m4 = np.empty((steps, runs, slots.joints)), np.empty((steps, runs))
    for k in range(steps):
        lost = state[:, slots.period_count] < 0.0
        error[k] = np.where(lost[:, None], np.inf, state[:, slots.x] - reference[k, : slots.joints])
        m4[k] = np.where(lost, np.inf, LINK4 + state[:, slots.controller_state.start])
        state = kernel(state, reference[k])
    return Batch(STEP * np.arange(steps), reference[:, : slots.joints], error, m4)


@cache
def _step(scheme: str) -> tuple[PeriodGraphBuilder, Kernel]:
    law: Law = modified(1.0, 1.0) if scheme == "modified" else craig(1.0, 1.0)
    maker = PeriodGraphBuilder(EquationsOfMotion(law.robot), _scanned(law), STEP, continuous=True)
    return maker, compile_graph(maker.graph())


def _scanned(law: Law) -> Graph:
    """(q, qd, qr, qrd, qrdd, x) → (tau, dx/dt), x being the estimate and factors of all gains; qdd is the true one."""
    import casadi

    graph, n, unknown = law.graph_with(law.gain_names), len(law.robot.actuated), len(law.unknown_names)
    sizes = dict.fromkeys(("q", "qd", "qr", "qrd", "qrdd"), n) | {"x": unknown + len(law.gain_names)}
    symbols = {name: casadi.SX.sym(name, size) for name, size in sizes.items()}
    q, qd, *wanted, x = symbols.values()
    rest = (*wanted, x[:unknown], x[unknown:])
    if law.needs_acceleration:
        tau = graph.apply(q, qd, casadi.SX.zeros(n), *rest)[:n]
        qdd = forward_dynamics_graph(law.robot).apply(q, qd, tau)
        found = graph.apply(q, qd, qdd, *rest)
    else:
        found = graph.apply(q, qd, *rest)
    output = casadi.vertcat(found, casadi.SX.zeros(len(law.gain_names)))
    inputs = [(Input(name, size), symbols[name]) for name, size in sizes.items()]
    return trace(law.name, inputs, scalars(output), made_from=f"{law.name} of {law.robot.name}")
