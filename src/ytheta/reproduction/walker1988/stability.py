"""The Lyapunov function (26) and its rate (27)-(29), along simulated motions of the arm of Figure 1.

Identity      dV/dt = -sum over links of gamma_j vtilde_j' I0_j vtilde_j = -rᵀ K_D r
Reference     [walker1988] sec. 4, (26)-(29)
Notation      code        paper                          meaning
              kinetic     first term of (26)             sum of vtilde_j' I_j vtilde_j / 2 = rᵀ M r / 2
              estimate    second and third term of (26)  sum of alpha_j mtilde_jᵀ mtilde_j / 2 + beta_j dtilde_j² / 2
              exchanged   mtilde_jᵀ w_j + dtilde_j qtildedot_j qd_j, with mtilde = m - mhat as defined after (26)
Independent   K_D is the mass matrix of an arm whose links have the inertias gamma_j I0_j, not code of the controller.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import cumulative_simpson

from ytheta.control.laws.walker import Walker
from ytheta.dynamics import kernels
from ytheta.plots import Axis, Line, Plot
from ytheta.reproduction.exhibit import Agreement, Comparison, Exhibit
from ytheta.reproduction.walker1988.simulations import (
    OPEN,
    PID_NOTE,
    TRANSIENT,
    ArmRuns,
    TrackingRun,
    make_initial_estimate,
)
from ytheta.robot.parameters import with_parameters
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

MAX_RATE_ERROR = 1e-3  # of V, relative to its fall; sums over periods of 1 ms


@dataclass(frozen=True, eq=False)
class EnergyBalance:
    """The terms of V after the transient, as changes since its end; ``dissipated`` and ``exchanged`` are integrals."""

    V: Float[np.ndarray, "instants"]
    kinetic: Float[np.ndarray, "instants"]
    estimate: Float[np.ndarray, "instants"]
    dissipated: Float[np.ndarray, "instants"]
    exchanged: Float[np.ndarray, "instants"]

    @property
    def rate_error(self) -> float:
        """The largest difference between V and the integral of -rᵀ K_D r, relative to the fall of V."""
        return float(abs(self.V + self.dissipated).max() / abs(self.V).max())

    @property
    def signs(self) -> tuple[float, float]:
        """The factors of mtildeᵀ w + dtilde qtildedot qd in (27), and in the sum of (28) and (29)."""
        kinetic = self.kinetic + self.dissipated
        scale = float(self.exchanged @ self.exchanged)
        return float(kinetic @ self.exchanged) / scale, float(self.estimate @ self.exchanged) / scale


def compute_balance(run: TrackingRun) -> EnergyBalance:
    """Return the terms of V along a run with the feedback of the paper, after the transient."""
    law, runs, r, reference = run.law, run.runs, run.r, run.reference
    after = runs.t >= TRANSIENT
    M = kernels.mass_matrix(law.robot)(runs.q[0])
    weighted = _make_weighted_arm(law)
    K_D = kernels.mass_matrix(weighted)(runs.q[0])
    x, gains = runs.controller_state[0], np.asarray(law.adaptation, dtype=float)
    output = law.compile(law.graph)(runs.q[0], runs.qd[0], *reference, x)
    w = -output[:, len(law.robot.actuated) :] / gains  # (23), (24): d estimate/dt = -gains w
    tilde = law.unknowns.nominal - x
    kinetic = 0.5 * np.einsum("ti,tij,tj->t", r, M, r)
    estimate = 0.5 * (tilde**2 / gains).sum(axis=1)
    dissipated, exchanged = np.einsum("ti,tij,tj->t", r, K_D, r)[after], (tilde * w).sum(axis=1)[after]
    changes = [values[after] - values[after][0] for values in (run.V, kinetic, estimate)]
    integrals = [cumulative_simpson(v, x=runs.t[after], initial=0.0) for v in (dissipated, exchanged)]
    return EnergyBalance(*changes, *integrals)


def _make_weighted_arm(law: Walker) -> Robot:
    """Return an arm whose links have the inertias gamma_j I0_j, and whose drives have no rotors."""
    gamma = np.repeat(law.gains["feedback"].diagonal(), 10)
    values = dict(zip(law.unknown_names, make_initial_estimate(law), strict=True))
    names = law.robot.parameter_names
    weights = {name: g * values.get(name, 0.0) for name, g in zip(names, gamma, strict=False)}
    return with_parameters(law.robot, {name: weights.get(name, 0.0) for name in names})


def compare_proof(runs: ArmRuns) -> Exhibit:
    """Compare (26)-(29) with the terms of V along the simulated motion."""
    balance = compute_balance(runs.own_plant)
    first, second = balance.signs
    sum_is_right = balance.rate_error < MAX_RATE_ERROR
    note = (
        "with mtilde = m - mhat, as defined after (26), the term has the opposite sign; with mtilde = mhat - m, (27) "
        "to (29) are right as printed. The sum, and the theorem, do not change"
    )
    return Exhibit(
        "equations_26_29",
        "Lyapunov function (26) and its rate (27)-(29)",
        (
            Comparison(
                "dV/dt = -sum of gamma_j vtilde' I0 vtilde",
                "equal",
                f"V falls by {abs(balance.V[-1]):.4g}, its integrated rate differs by {100 * balance.rate_error:.1g} %",
                Agreement.of(sum_is_right),
                f"after the first {1e3 * TRANSIENT:.0f} ms",
            ),
            _compare_sign("sign of mtilde' w + dtilde qtildedot qd in (27)", 1, first, note),
            _compare_sign("sign of the same terms in (28), (29)", -1, second, note),
            Comparison(
                "V, feedback of (21)",
                "never grows",
                _describe_fall(runs.own_plant),
                Agreement.of(runs.own_plant.V_falls),
            ),
            Comparison(
                "V, PID feedback",
                "not stated",
                _describe_fall(runs.pid),
                Agreement.OPEN,
                f"{PID_NOTE}. V with the storage of the PID",
            ),
        ),
        plots=(
            Plot(
                "Lyapunov function (26)",
                runs.own_plant.runs.t,
                (Line("feedback of (21)", runs.own_plant.V), Line("PID feedback", runs.pid.V, dashed=True)),
                (Axis("V", log=True),),
            ),
        ),
        open=OPEN,
    )


def _describe_fall(run: TrackingRun) -> str:
    return f"{run.V[0]:.4g} to {run.V[-1]:.4g}, {'falling all the time' if run.V_falls else 'with rises'}"


def _compare_sign(name: str, printed: int, factor: float, note: str) -> Comparison:
    agrees = abs(factor - printed) < 0.01
    return Comparison(name, f"{printed:+d}", f"{factor:+.3f}", Agreement.of(agrees), "" if agrees else note)
