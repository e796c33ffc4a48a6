"""The arm, the trajectory and the two adaptive schemes of lu1993 V-B, and batches of runs with other settings.

The paper gives the masses, the shape of the trajectory, 20 % initial error and the initial estimate m4 = 0.5 kg. It
does not give omega, lambda, Gamma, the gains of Craig's scheme, the initial velocity or the tolerance of "converging".
Fig. 3 to 5 are missing in the scan. Chosen here:

- omega = 4 pi: of pi, 2 pi and 4 pi, the one with which m4 converges within two seconds,
- lambda = 20 for both schemes: errors with a double pole at -lambda settle to one degree in 0.3 s,
- for each scheme, the one of eight values of Gamma with which the scheme settles first,
- an initial velocity equal to that of the reference.

Both schemes run in continuous time, and Craig's scheme gets exact accelerations. The accelerations depend on the
torque, but the torque does not depend on the accelerations, so torque, accelerations and rates are computed in this
order. The gains and Gamma of each run are part of the controller's state, with a rate of zero, so that one compiled
step serves all runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ytheta.control.laws.craig import Craig
from ytheta.control.laws.law import Law
from ytheta.control.laws.modified_slotine_li import QuasiComputedTorque
from ytheta.dynamics.graphs import forward_dynamics_graph
from ytheta.dynamics.mechanism import scalars
from ytheta.native import Kernel, compile_graph
from ytheta.native.graph import Graph, Input, trace
from ytheta.robot.reading.load import load
from ytheta.shapes import Float, Shaped
from ytheta.simulation.own_plant import EquationsOfMotion
from ytheta.simulation.period_graph import PeriodGraphBuilder
from ytheta.simulation.references import ReferenceTrajectory

LAMBDA = 20.0  # 1/s
OMEGA = 4.0 * np.pi  # rad/s
GAMMAS = {"modified": 0.006, "Craig": 0.0011}
LINK4_MASS = 0.5  # kg, m4 without the load
TRUE_M4 = 1.0  # kg, with the load
INITIAL_ERROR = 0.2  # of every joint position, relative to the reference position
SECONDS, STEP = 2.0, 1e-3
LEARN = ("load.m",)
SCHEMES = ("modified", "Craig")


def make_reference(omega: float = OMEGA) -> ReferenceTrajectory:
    """Return the trajectory of sec. V-B. Joints 1 and 3 follow sines, joints 2 and 4 cosines."""
    c = np.pi * np.array([8 / 9, 2 / 3, 3 / 4, 15 / 18])
    a = np.pi * np.array([4 / 9, 1 / 3, 1 / 4, 8 / 18])
    w = omega / np.array([1.0, 2.0, 3.0, 4.0])
    phase = np.array([0.0, np.pi / 2, 0.0, np.pi / 2])

    def evaluate(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        angle = np.outer(t, w) + phase
        return c + a * np.sin(angle), a * w * np.cos(angle), -a * w * w * np.sin(angle)

    return evaluate


def make_modified(gamma: float = GAMMAS["modified"], convergence: float = LAMBDA) -> QuasiComputedTorque:
    """Return the modified scheme in its quasi-computed-torque form (94)-(96)."""
    return QuasiComputedTorque(load("lu-puma4"), convergence=convergence, adaptation=gamma, learn=LEARN)


def make_craig(gamma: float = GAMMAS["Craig"], convergence: float = LAMBDA) -> Craig:
    """Return Craig's scheme with the poles of the modified one: K_p = lambda², K_v = 2 lambda, Psi = lambda."""
    gains: dict[str, Any] = {"stiffness": convergence**2, "damping": 2.0 * convergence, "filtering": convergence}
    return Craig(load("lu-puma4"), **gains, adaptation=gamma, learn=LEARN)


@dataclass(frozen=True, eq=False)
class BatchSettings:
    """Settings of runs on one trajectory, one entry per run.

    ``initial_error`` and ``initial_velocity`` are relative to the initial position and velocity of the reference.
    """

    omega: float
    convergence: Float[np.ndarray, "runs"]
    gamma: Float[np.ndarray, "runs"]
    initial_error: Float[np.ndarray, "runs"]
    initial_velocity: Float[np.ndarray, "runs"]
    filtering: float = 1.0  # Craig's Psi, in units of lambda

    @staticmethod
    def single(gamma: float, *, omega: float = OMEGA, convergence: float = LAMBDA) -> BatchSettings:
        """Return the settings of one run."""
        lam, gammas, error, velocity = (np.array([value]) for value in (convergence, gamma, INITIAL_ERROR, 1.0))
        return BatchSettings(omega, lam, gammas, error, velocity)

    def factors(self, scheme: str) -> Float[np.ndarray, "runs gains"]:
        """Return factors for the gains of ``make_modified(1, 1)`` or ``make_craig(1, 1)``, ordered like gain_names."""
        lam = self.convergence
        rows = (lam,) if scheme == "modified" else (lam**2, lam, self.filtering * lam)
        return np.stack([*rows, self.gamma], axis=1)


@dataclass(frozen=True, eq=False)
class Batch:
    """A batch of runs. A run diverges if its estimated mass matrix has no inverse; its errors are then infinite."""

    t: Float[np.ndarray, "instants"]
    reference: Float[np.ndarray, "instants joints"]
    error: Float[np.ndarray, "instants runs joints"]
    m4: Float[np.ndarray, "instants runs"]

    @property
    def diverged(self) -> Shaped[np.ndarray, "runs"]:
        return ~np.isfinite(self.m4[-1])

    @property
    def largest_error(self) -> Float[np.ndarray, "instants runs"]:
        """The largest error of all joints."""
        return np.abs(self.error).max(axis=2)


def simulate_scheme(scheme: str, settings: BatchSettings) -> Batch:
    """Simulate two seconds; the initial estimate is m4 = 0.5 kg, a load of zero."""
    builder, kernel = _compile_step(scheme)
    slots, steps = builder.slots, round(SECONDS / STEP)
    samples = np.concatenate(make_reference(settings.omega)(0.5 * STEP * np.arange(2 * steps + 1)), axis=1)
    reference = np.concatenate([samples[:-1:2], samples[1::2], samples[2::2]], axis=1)
    start, velocity = samples[0, : slots.joints], samples[0, slots.joints : 2 * slots.joints]
    runs = len(settings.gamma)
    state = np.zeros((runs, slots.size))
    state[:, slots.x] = (1.0 + settings.initial_error[:, None]) * start
    state[:, slots.qd] = settings.initial_velocity[:, None] * velocity
    state[:, slots.controller_state] = np.concatenate([np.zeros((runs, 1)), settings.factors(scheme)], axis=1)
    x, estimate, period_count = slots.x, slots.controller_state.start, slots.period_count
    q, m4, diverged = (
        np.empty((steps, runs, slots.joints)),
        np.empty((steps, runs)),
        np.empty((steps, runs), dtype=bool),
    )
    for k in range(steps):
        q[k], m4[k], diverged[k] = state[:, x], LINK4_MASS + state[:, estimate], state[:, period_count] < 0.0
        state = kernel(state, reference[k])
    followed = reference[:, : slots.joints]
    error = np.where(diverged[:, :, None], np.inf, q - followed[:, None])
    return Batch(STEP * np.arange(steps), followed, error, np.where(diverged, np.inf, m4))


@cache
def _compile_step(scheme: str) -> tuple[PeriodGraphBuilder, Kernel]:
    law: Law = make_modified(1.0, 1.0) if scheme == "modified" else make_craig(1.0, 1.0)
    builder = PeriodGraphBuilder(EquationsOfMotion(law.robot), _add_gains_to_state(law), STEP, continuous=True)
    return builder, compile_graph(builder.build_graph())


def _add_gains_to_state(law: Law) -> Graph:
    """Return (q, qd, qr, qrd, qrdd, x) → (tau, dx/dt), where x are the estimate and the factors of all gains."""
    import casadi

    graph, n, unknown = law.graph_with(law.gain_names), len(law.robot.actuated), len(law.unknown_names)
    sizes = dict.fromkeys(("q", "qd", "qr", "qrd", "qrdd"), n) | {"x": unknown + len(law.gain_names)}
    symbols = {name: casadi.SX.sym(name, size) for name, size in sizes.items()}
    q, qd, *reference, x = symbols.values()
    rest = (*reference, x[:unknown], x[unknown:])
    if law.needs_acceleration:
        tau = graph.apply(q, qd, casadi.SX.zeros(n), *rest)[:n]
        qdd = forward_dynamics_graph(law.robot).apply(q, qd, tau)
        rates = graph.apply(q, qd, qdd, *rest)
    else:
        rates = graph.apply(q, qd, *rest)
    output = casadi.vertcat(rates, casadi.SX.zeros(len(law.gain_names)))
    inputs = [(Input(name, size), symbols[name]) for name, size in sizes.items()]
    return trace(law.name, inputs, scalars(output), made_from=f"{law.name} of {law.robot.name}")
