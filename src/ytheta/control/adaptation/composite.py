"""Composite adaptation of Slotine and Li: driven by the tracking error and by the error of a predicted torque.

Identity      d estimate/dt = -Gamma (slope + W_fᵀ R e),   e = W_f estimate - y_f
              W_f = a/(p + a) Y_u and y_f = a/(p + a) (tau - Y_k theta_k), without accelerations: with
              tau = d/dt (W theta) + Yhat theta,   W_f = a W + z,   dz/dt = a (Yhat - W_f)
              V = theta_tildeᵀ Gamma^-1 theta_tilde / 2,   dV/dt is that of gradient adaptation minus eᵀ R e
Reference     J.-J. E. Slotine and W. Li, Composite Adaptive Control of Robot Manipulators, Automatica 25(4), 1989;
              [lu1993] (47) and remark 2 for W and Yhat
Accepts       every robot, with loops and friction that does not depend on the load; every adaptive law, since W_f and
              y_f do not depend on the law
Notation      code         paper      meaning                                                       shape
              slope                   gradient Y_uᵀ r of the control law                            unknown
              gain         P          Gamma, the factor of both gradients                           unknown x unknown
              prediction   R          weights of the prediction errors                              actuated x actuated
              bandwidth               a, the bandwidth of the filter in rad/s                       number
              W                       momentum regressor: W theta = M qd                            actuated x unknown
              Yhat                    remainder: Yhat theta = -∂T/∂Q + gravity + friction + forces  actuated x unknown
              filtered     W, y       the structural non-zeros of W_f, then y_f                     states
              z                       the state: filtered - a (W, -W_k theta_k)                     states
Loops         The kinetic energy T is a function of Qd and of all coordinates x with closed loops: ∂T/∂Q = Eᵀ ∂T/∂x.
Gain          The prediction error alone gives d estimate/dt = -Gamma W_fᵀ R W_f theta_tilde. If Gamma is c times the
              inverse of the mean of Yᵀ R Y during the motion, all parameters converge at the rate c (1/s), provided
              that c is small compared with the frequencies of the motion. If Gamma is one number, the rates differ by
              a factor of up to the condition number of that mean: the parameters that the motion excites least converge
              last.
Limits        tau is the applied torque, so the prediction stays right while torque limits are active. The gradient of
              the control law is wrong during that time: if limits are often active, increase R and decrease Gamma.
Sampled       If the torque is held between steps, explicit Euler is exact for the momentum's part of z. Yhat is
              evaluated at the start of each step, so e has an error of half a period times the rate of Yhat. Coulomb
              friction is discontinuous: near rest its sign is constant for a whole period, and e is wrong by up to
              the friction torque (on a puma560 by 50 % of that torque at a = 20/s, and by 100 % at a = 500/s). A
              ``coulomb_speed`` of 0.05 rad/s reduces these errors to 2 and 8 %. For stability, a and the eigenvalues of
              Gamma W_fᵀ R W_f must be below 2 / period; W_f is about as large as Y. The time given to ``init`` should
              be one period before the first step, as in simulated closed loops; any other time causes an error that
              decays with exp(-a t).
Differs from  the paper in: the torque of the known parameters and tau share a filter with n states; structural zeros of
              Y have no state; R and the gain are constant. The paper's P(t), least squares with forgetting, would need
              unknown² more states, and a Lyapunov term that depends on them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.control.adaptation.adaptation import Adaptation, AdaptationInputs
from ytheta.control.gains import PER_COORDINATE, Gain, compute_quadratic_form, multiply, scale_by, to_matrix, to_number
from ytheta.control.unknowns import LawSymbols, Unknowns, make_symbols
from ytheta.dynamics.constraint import LoopConstraint, column, compute_drive_motion
from ytheta.dynamics.elimination import extract_entries
from ytheta.dynamics.formulations.newton_euler import inverse_dynamics
from ytheta.dynamics.loop_solver import solve
from ytheta.dynamics.symbolic_model import SymbolicModel
from ytheta.dynamics.vectors import array, dot, inner, zeros
from ytheta.errors import InputError
from ytheta.robot.robot import Robot
from ytheta.shapes import (
    AnyPerActuated,
    AnyPerState,
    AnyPerUnknown,
    Float,
    PerJoint,
    PerState,
    PerUnknown,
    Shaped,
    SquareMatrix,
)

if TYPE_CHECKING:
    import casadi


@dataclass(frozen=True, eq=False, repr=False)
class Composite(Adaptation):
    """Gradient adaptation that is also driven by the error of the predicted, filtered torque.

    Attributes
    ----------
    gain        Gamma: factor of the gradient, one number, one per unknown parameter, or a matrix
    prediction  weight of the error of the predicted torque, one number, one per joint, or a matrix
    bandwidth   bandwidth of the filter of the torque, in 1/s
    """

    gain: Gain
    prediction: Gain
    bandwidth: float

    @property
    def main_gain(self) -> Gain:
        return self.gain

    def check(self, robot: Robot, unknowns: Unknowns) -> None:
        self._to_gain_matrix(unknowns)
        self._to_weight_matrix(len(robot.actuated))
        to_number("bandwidth", self.bandwidth)
        loaded = [name for name, drive in robot.drives if drive.load is not None]
        if loaded:
            raise InputError(
                f"the drive of {', '.join(map(repr, loaded))} has load-dependent friction, which depends on "
                "accelerations; composite adaptation predicts a torque without accelerations, so use gradient or "
                "natural adaptation, or remove 'load'"
            )

    def rate(self, inputs: AdaptationInputs) -> tuple[AnyPerUnknown, AnyPerState]:
        terms = _make_filter_terms(inputs.symbols)
        filtered = scale_by(terms.momenta, self.bandwidth) + inputs.state
        W_f, y_f = terms.unpack(filtered)
        R = self._to_weight_matrix(len(inputs.tau))[np.ix_(terms.rows, terms.rows)]
        slope = inputs.slope + dot(W_f.T, multiply(R, dot(W_f, inputs.estimate) - y_f))
        rest = np.concatenate([terms.Yhat, inputs.tau[terms.rows] - terms.known_rest])
        return -multiply(self._to_gain_matrix(inputs.unknowns), slope), scale_by(rest - filtered, self.bandwidth)

    def lyapunov_term(self, unknowns: Unknowns, estimate: AnyPerUnknown, truth: AnyPerUnknown) -> Any:
        return compute_quadratic_form(np.linalg.inv(self._to_gain_matrix(unknowns)), estimate - truth) * 0.5

    def state_size(self, robot: Robot, unknowns: Unknowns) -> int:
        return int(_make_filter_momenta(robot, unknowns).function.size1_out(0))

    def init(
        self,
        robot: Robot,
        unknowns: Unknowns,
        q: PerJoint,
        qd: PerJoint,
        estimate: PerUnknown,  # noqa: ARG002
    ) -> PerState:
        """Return the state z for which W_f and y_f are zero, so that y_f = W_f theta from the start."""
        return -self.bandwidth * _make_filter_momenta(robot, unknowns).evaluate(q, qd)

    def filtered_regressor(
        self, robot: Robot, unknowns: Unknowns, q: PerJoint, qd: PerJoint, state: PerState
    ) -> tuple[Float[np.ndarray, "actuated unknown"], Float[np.ndarray, " actuated"]]:
        """Return W_f and y_f of a state; both are zero for coordinates on which no unknown parameter acts."""
        momenta = _make_filter_momenta(robot, unknowns)
        rows = momenta.terms.rows
        W_f, y_f = np.zeros((len(q), len(unknowns.names))), np.zeros(len(q))
        W_f[rows], y_f[rows] = momenta.terms.unpack(self.bandwidth * momenta.evaluate(q, qd) + state)
        return W_f, y_f

    def _to_gain_matrix(self, unknowns: Unknowns) -> SquareMatrix:
        return to_matrix("gain", self.gain, len(unknowns.names), per="unknown parameter")

    def _to_weight_matrix(self, coordinates: int) -> SquareMatrix:
        return to_matrix("prediction", self.prediction, coordinates, per=PER_COORDINATE)


@dataclass(frozen=True, eq=False)
class _FilterTerms:
    """The terms of tau = d/dt (W theta) + Yhat theta in symbols, in the order of the filter's states.

    The structural non-zeros of W and Yhat come first; ``nonzeros`` are their positions (coordinate, unknown). The terms
    of the known parameters follow, one for each coordinate on which an unknown parameter acts (``rows``).
    """

    nonzeros: list[tuple[int, int]]
    rows: list[int]
    unknown_count: int
    W: Shaped[np.ndarray, " entries"]
    Yhat: Shaped[np.ndarray, " entries"]
    known_momentum: Shaped[np.ndarray, " rows"]
    known_rest: Shaped[np.ndarray, " rows"]

    @property
    def momenta(self) -> AnyPerState:
        """The terms that are differentiated with respect to time: first those of W_f, then those of y_f."""
        return np.concatenate([self.W, -self.known_momentum])

    def unpack(self, filtered: AnyPerState) -> tuple[Shaped[np.ndarray, "rows unknown"], Shaped[np.ndarray, " rows"]]:
        """Return W_f and y_f."""
        W_f = zeros(len(self.rows), self.unknown_count)
        for (row, k), entry in zip(self.nonzeros, filtered, strict=False):
            W_f[self.rows.index(row), k] = entry
        return W_f, filtered[len(self.nonzeros) :]


def _make_filter_terms(s: LawSymbols) -> _FilterTerms:
    import casadi

    parts = _compute_momentum_and_rest(s.model, s.qd)
    W, Yhat = (extract_entries(casadi.sparsify(casadi.jacobian(column(part), s.estimate_sx))) for part in parts)
    known = SymbolicModel(s.model.loops, s.unknowns.fill(zeros(len(s.estimate))))
    momentum, rest = _compute_momentum_and_rest(known, s.qd)
    nonzeros = [
        position
        for position in np.ndindex(W.shape)
        if not (_is_structural_zero(W[position]) and _is_structural_zero(Yhat[position]))
    ]
    rows = sorted({row for row, _ in nonzeros})
    W_entries, Yhat_entries = (array([part[position] for position in nonzeros]) for part in (W, Yhat))
    return _FilterTerms(nonzeros, rows, len(s.estimate), W_entries, Yhat_entries, momentum[rows], rest[rows])


def _compute_momentum_and_rest(model: SymbolicModel, qd: AnyPerActuated) -> tuple[AnyPerActuated, AnyPerActuated]:
    """Return M qd and tau - d/dt (M qd), both linear in theta and free of accelerations."""
    import casadi

    loops, no_acceleration = model.loops, zeros(len(qd))
    m, drives = compute_drive_motion(loops, qd, no_acceleration), model.drive_theta
    # M qd is the torque for the acceleration qd, at rest and without gravity. It costs as little as tau.
    weightless = replace(loops.mechanism, gravity=zeros(3))
    links = inverse_dynamics(weightless, replace(m.joints.at_rest, vd=m.joints.qd), model.link_theta)
    momenta = array([inner(theta[:1], rate) for theta, rate in zip(drives, m.velocity[:, None], strict=True)])
    momenta[: len(links)] = momenta[: len(links)] + links
    momentum = dot(m.drive_jacobian.T, momenta)
    twice_T = casadi.SX(inner(qd, momentum))
    by_x = extract_entries(casadi.sparsify(casadi.gradient(twice_T, loops.x)))[:, 0]
    friction = model.compute_friction(m)
    return momentum, model.holding_torque + dot(m.drive_jacobian.T, friction) - scale_by(dot(loops.E.T, by_x), 0.5)


def _is_structural_zero(entry: Any) -> bool:
    return type(entry) is int and not entry


@dataclass(frozen=True, eq=False)
class _FilterMomenta:
    """The terms of a filter, and the function (x, qd) → its momenta."""

    loops: LoopConstraint
    terms: _FilterTerms
    function: casadi.Function

    def evaluate(self, q: PerJoint, qd: PerJoint) -> PerState:
        x = solve(self.loops, q[None]).or_raise().x[0] if self.loops.cuts else q
        return np.array(self.function(x, qd))[:, 0]


@lru_cache(maxsize=16)
def _make_filter_momenta(robot: Robot, unknowns: Unknowns) -> _FilterMomenta:
    """Return the terms of the filter, with their function. Cached, because every call of ``init`` needs them."""
    import casadi

    inputs, s = make_symbols(robot, unknowns, {})
    terms, loops = _make_filter_terms(s), s.model.loops
    qd = next(vector for entry, vector in inputs if entry.name == "qd")
    function = casadi.Function("momenta", [loops.x, qd], [column(terms.momenta)], {"cse": True})
    return _FilterMomenta(loops, terms, function)
