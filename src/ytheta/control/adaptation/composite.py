"""Composite adaptation of Slotine and Li: learning from the tracking error and from the error of a predicted torque.

Identity      d estimate/dt = -Gamma (slope + W_fᵀ R e),   e = W_f estimate - y_f
              W_f = a/(p + a) Y_u and y_f = a/(p + a) (tau - Y_k theta_k), without accelerations: with
              tau = d/dt (W theta) + Yhat theta,   W_f = a W + z,   dz/dt = a (Yhat - W_f)
              V = wrongᵀ Gamma^-1 wrong / 2,   whose rate has -eᵀ R e beside what the gradient's has
Reference     J.-J. E. Slotine and W. Li, Composite Adaptive Control of Robot Manipulators, Automatica 25(4), 1989;
              [lu1993] (47) and remark 2 for W and Yhat
Accepts       every robot, loops and friction included; every law that learns, since the torque is the robot's own
Notation      code         paper      meaning                                                       shape
              gain         P          Gamma, the factor before the slopes                           unknown x unknown
              prediction   R          weighs the errors of prediction                               actuated x actuated
              bandwidth               a, in rad/s: of the filter                                    number
              W                       momentum: W theta = M qd                                      actuated x unknown
              Yhat                    the rest: Yhat theta = -∂T/∂Q + weight + friction + forces    actuated x unknown
              filtered     W, y       W_f, where it is not zero by structure, then y_f              states
              z                       what is remembered: filtered - a (W, -W_k theta_k)            states
Loops         T is taken as a function of all coordinates x, closed, and Qd; ∂T/∂Q = Eᵀ ∂T/∂x.
Gain          Prediction alone changes the estimate by -Gamma W_fᵀ R W_f wrong. With c times the inverse of the mean of
              Yᵀ R Y over the motion for Gamma all parameters come in at the rate c, where c is slower than the motion;
              with one number for Gamma those that the motion shows worst come in last, by the condition of that mean.
Limits        tau is what was given, so that prediction stays right where limits cut it. The slope that the law hands
              over does not: where limits are met often, give R more weight and Gamma less.
Sampled       Explicit Euler for z is exact in the momentum's part where the torque is held between steps, and takes
              Yhat where a step begins: e is wrong by half a period times its rate. Coulomb friction has no such rate:
              near rest a sign that holds for a period makes e wrong by up to the friction itself (of a puma560 half of
              it at a = 20/s and all of it at 500/s). A ``coulomb_speed`` of 0.05 rad/s mends that: 2 and 8 % there. a
              must be below 2 / period, as must the eigenvalues of Gamma W_fᵀ R W_f, and W_f is of the size of Y.
              ``init`` is meant for one period before the first step, as closed loops have it; what is missed otherwise
              fades with exp(-a t).
Differs from  the paper in: the known parameters' part goes through the filter of tau, n numbers for both; entries of Y
              that are zero by structure have no state; R and the gain are constant. The paper's P(t), least squares
              with forgetting, would take as many states again as unknown squared, and a distance that depends on them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.control.adaptation.adaptation import Adaptation, Seen
from ytheta.control.gains import Gain, inverse, matrix, quadratic, scalar, scaled, times
from ytheta.control.model import PER_JOINT, SymbolicModel
from ytheta.control.symbols import Symbols, traced
from ytheta.control.unknowns import Unknowns
from ytheta.dynamics.formulations.newton_euler import PER_LINK, inverse_dynamics
from ytheta.dynamics.full_regressor import moved
from ytheta.dynamics.loops.constraint import Constraint, column
from ytheta.dynamics.loops.elimination import entries
from ytheta.dynamics.loops.loops import solve
from ytheta.dynamics.vectors import array, dot, inner, zeros
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerActuated, AnyPerState, AnyPerUnknown, Float, PerJoint, Shaped, SquareMatrix

if TYPE_CHECKING:
    import casadi


@dataclass(frozen=True, eq=False)
class Composite(Adaptation):
    """Learns as the gradient does, and from the filtered torque too."""

    gain: Gain
    prediction: Gain
    bandwidth: float

    def check(self, robot: Robot, unknowns: Unknowns) -> None:
        self._gain(unknowns)
        self._weights(len(robot.actuated))
        scalar("bandwidth", self.bandwidth)

    def rate(self, seen: Seen) -> tuple[AnyPerUnknown, AnyPerState]:
        felt = _felt(seen.symbols)
        filtered = scaled(felt.momenta, self.bandwidth) + seen.memory
        W_f, y_f = felt.laid_out(filtered)
        R = self._weights(len(seen.tau))[np.ix_(felt.rows, felt.rows)]
        slope = seen.slope + dot(W_f.T, times(R, dot(W_f, seen.estimate) - y_f))
        rest = np.concatenate([felt.Yhat, seen.tau[felt.rows] - felt.known_rest])
        return -times(self._gain(seen.symbols.unknowns), slope), scaled(rest - filtered, self.bandwidth)

    def distance(self, unknowns: Unknowns, estimate: AnyPerUnknown, truth: AnyPerUnknown) -> Any:
        return quadratic(inverse(self._gain(unknowns)), estimate - truth) * 0.5

    def states(self, robot: Robot, unknowns: Unknowns) -> int:
        return int(_remembered(robot, unknowns).momenta.size1_out(0))

    def init(
        self,
        robot: Robot,
        unknowns: Unknowns,
        q: PerJoint,
        qd: PerJoint,
        estimate: Float[np.ndarray, "unknown"],  # noqa: ARG002
    ) -> Float[np.ndarray, "states"]:
        """W_f and y_f begin with zero, for which y_f = W_f theta holds from the start."""
        return -self.bandwidth * _remembered(robot, unknowns).at(q, qd)

    def filtered(
        self, robot: Robot, unknowns: Unknowns, q: PerJoint, qd: PerJoint, memory: Float[np.ndarray, "states"]
    ) -> tuple[Float[np.ndarray, "actuated unknown"], Float[np.ndarray, "actuated"]]:
        """W_f and y_f as they are remembered; both zero for coordinates that feel no unknown."""
        known = _remembered(robot, unknowns)
        some = known.felt.laid_out(self.bandwidth * known.at(q, qd) + memory)
        W_f, y_f = np.zeros((len(q), len(unknowns.names))), np.zeros(len(q))
        W_f[known.felt.rows], y_f[known.felt.rows] = some
        return W_f, y_f

    def _gain(self, unknowns: Unknowns) -> SquareMatrix:
        return matrix("gain", self.gain, len(unknowns.names), per="unknown parameter")

    def _weights(self, actuated: int) -> SquareMatrix:
        return matrix("prediction", self.prediction, actuated, per="actuated coordinate")


@dataclass(frozen=True, eq=False)
class _Felt:
    """tau = d/dt (W theta) + Yhat theta in symbols, in the order of the memory: entries of W and Yhat at ``places``
    (coordinate, unknown); then, for the coordinates that feel an unknown (``rows``), what the known parameters do."""

    places: list[tuple[int, int]]
    rows: list[int]
    width: int
    W: Shaped[np.ndarray, "entries"]
    Yhat: Shaped[np.ndarray, "entries"]
    known_momentum: Shaped[np.ndarray, "rows"]
    known_rest: Shaped[np.ndarray, "rows"]

    @property
    def momenta(self) -> AnyPerState:
        """What stands under d/dt in all that is filtered: W_f, then y_f."""
        return np.concatenate([self.W, -self.known_momentum])

    def laid_out(self, filtered: AnyPerState) -> tuple[Shaped[np.ndarray, "rows unknown"], Shaped[np.ndarray, "rows"]]:
        """W_f and y_f."""
        W_f = zeros(len(self.rows), self.width)
        for (row, k), entry in zip(self.places, filtered, strict=False):
            W_f[self.rows.index(row), k] = entry
        return W_f, filtered[len(self.places) :]


def _felt(s: Symbols) -> _Felt:
    import casadi

    W, Yhat = (entries(casadi.sparsify(casadi.jacobian(column(part), s.estimate_sx))) for part in _parts(s.model, s.qd))
    momentum, rest = _parts(SymbolicModel(s.model.loops, s.unknowns.fill(zeros(len(s.estimate)))), s.qd)
    places = [place for place in np.ndindex(W.shape) if not (_nothing(W[place]) and _nothing(Yhat[place]))]
    rows = sorted({row for row, _ in places})
    own, other = (array([part[place] for place in places]) for part in (W, Yhat))
    return _Felt(places, rows, len(s.estimate), own, other, momentum[rows], rest[rows])


def _parts(model: SymbolicModel, qd: AnyPerActuated) -> tuple[AnyPerActuated, AnyPerActuated]:
    """M qd, and tau - d/dt (M qd), both linear in theta and without accelerations."""
    import casadi

    loops, still = model.loops, zeros(len(qd))
    m, bodies = moved(loops, qd, still), PER_LINK * len(loops.mechanism.bodies)
    drives = model.theta[bodies : len(model.theta) - len(loops.robot.forces)].reshape(-1, PER_JOINT)
    # M qd is the torque at rest, without weight, for the acceleration qd: a recursion as cheap as that of tau.
    weightless = replace(loops.mechanism, gravity=zeros(3))
    links = inverse_dynamics(weightless, replace(m.motion.at_rest, vd=m.motion.qd), model.theta[:bodies])
    turning = array([inner(own[:1], rate) for own, rate in zip(drives, m.rate[:, None], strict=True)])
    turning[: len(links)] = turning[: len(links)] + links
    momentum = dot(m.drives.T, turning)
    twice_T = casadi.SX(inner(qd, momentum))
    by_x = entries(casadi.sparsify(casadi.gradient(twice_T, loops.x)))[:, 0]
    rubbing = array([inner(own[1:], values[1:]) for own, values in zip(drives, m.values, strict=True)])
    return momentum, model.holding_torque + dot(m.drives.T, rubbing) - scaled(dot(loops.E.T, by_x), 0.5)


def _nothing(entry: Any) -> bool:
    """Whether an entry is zero by structure."""
    return type(entry) is int and not entry


@dataclass(frozen=True, eq=False)
class _Remembered:
    """What a memory stands for, and (x, qd) → its momenta."""

    loops: Constraint
    felt: _Felt
    momenta: casadi.Function

    def at(self, q: PerJoint, qd: PerJoint) -> Float[np.ndarray, "states"]:
        x = solve(self.loops, q[None]).or_raise().x[0] if self.loops.cuts else q
        return np.array(self.momenta(x, qd))[:, 0]


@lru_cache(maxsize=16)
def _remembered(robot: Robot, unknowns: Unknowns) -> _Remembered:
    """Kept, since every start of a run asks for it."""
    import casadi

    inputs, s = traced(robot, unknowns, {})
    felt, loops = _felt(s), s.model.loops
    given = [loops.x, next(vector for entry, vector in inputs if entry.name == "qd")]
    return _Remembered(loops, felt, casadi.Function("momenta", given, [column(felt.momenta)], {"cse": True}))
