"""Natural adaptation of Lee, Kwon and Park: every estimate is physically consistent.

Identity      dP/dt = -gain P L P,   tr(L dP) = slopeᵀ dphi,   V = sum of F(P_true, P) / gain,
              F(P_true, P) = log det P - log det P_true + tr(P^-1 P_true) - n
Reference     T. Lee, J. Kwon and F. C. Park, A Natural Adaptive Control Law for Robot Manipulators, IROS 2018;
              P. M. Wensing, S. Kim and J.-J. E. Slotine, Linear Matrix Inequalities for Physically Consistent
              Inertial Parameter Identification, IEEE Robotics and Automation Letters 3(1), 2018
Accepts       whole links (all ten parameters); rotor inertia and friction, which are positive; offsets, root
              friction and declared forces, which have either sign
Notation      code     meaning                                                                     shape
              P        pseudo-inertia of a link (see ``robot.inertia``), n = 4; for a single       n x n
                       positive parameter (Ia, fv, fc, fl) the parameter itself, n = 1
              phi      the parameters of P: ten for a link, or one                                 group
              slope    gradient Y_uᵀ r of the control law                                          unknown
              L        the gradient as a matrix, dual to P                                         n x n
              gain     factor of P L P, in 1/J; it does not depend on the frames of the links
              signed   gain of offsets, fs and declared forces, which have gradient adaptation
              step     the longest time between two steps of the controller, in s
Differs from  the paper in: friction and rotor inertia are adapted too; ``step`` limits the rate.

Proof. F is the Bregman divergence of -log det: zero for P = P_true and positive otherwise. Along the law,
dF/dt = tr(P^-1 dP/dt) - tr(P^-1 dP/dt P^-1 P_true) = -gain tr(L (P - P_true)) = -gain theta_tildeᵀ slope, as the proof
of a control law requires. P_true must be positive definite, which excludes point masses and zero friction.

Steps. Explicit Euler can leave the cone of positive definite matrices, so the rate of each P is divided by
1 + 2·step·gain·|A|, where A = P^½ L P^½, and |A|² = tr(L P L P) is the sum of the squared eigenvalues of A. A step
h <= step then turns P into P^½ (1 - c A) P^½ with c |A| <= step·gain·|A| / (1 + 2·step·gain·|A|) < ½. Whatever the
gradient, the new P is at least half of the old P and therefore positive definite. Rounding errors break this guarantee
if eigenvalues of P differ by a factor of 1e16. (Without the factor 2, P would stay positive definite in exact
arithmetic only.) |A|² is computed as slopeᵀ psi, where psi are the parameters of the matrix P L P; this product needs
no matrix root and does not depend on frames. The proof above is for step = 0. With step > 0, the proof holds except for
a relative error of 2·step·gain·|A|, which is approximately the relative change of P in one step.

Gain. The relative rate of P is -gain L P, in 1/s, with the trace -gain tr(L P). tr(L P) = slopeᵀ phi is rᵀ times the
estimated torque of the link, in W. This product is small for light links, so that their estimates change slowly unless
the gain is larger: on the UR10, a gain of 1 / J suits the links of the arm, and 50 / J those of the wrist. ``Leakage``
and ``DeadZone`` around this law keep estimates consistent too; ``Leakage`` does so for steps shorter than 1 / (2 leak).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ytheta.control.adaptation.adaptation import Adaptation, AdaptationInputs
from ytheta.control.gains import Gain, scale_by, to_number
from ytheta.control.unknowns import Unknowns
from ytheta.conventions import LINK_PARAMETERS
from ytheta.dynamics.constraint import column
from ytheta.dynamics.mechanism import exact_array
from ytheta.dynamics.vectors import dot, inner, zeros
from ytheta.errors import InputError
from ytheta.identification.consistency.reference import make_plausible_reference
from ytheta.robot.inertia import Inertia
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerState, AnyPerUnknown, Float, PerJoint, PerState, PerUnknown, Shaped

POSITIVE_PARAMETERS = ("Ia", "fv", "fc", "fl")
# Ratio of the smallest second moment about the centre of mass to the largest entry of the inertia tensor about the
# origin; below it, the second moment is considered a rounding error. Chosen on: rule of thumb.
MIN_RELATIVE_MOMENT = 1e-9

_UNITS = np.eye(16).reshape(16, 4, 4)
# vec P = LINK_TO_PSEUDO phi and phi = LINK_FROM_PSEUDO vec P for the ten parameters phi of a link.
LINK_TO_PSEUDO = np.stack([Inertia(tuple(unit.tolist())).pseudo.ravel() for unit in np.eye(10)], axis=1)
LINK_FROM_PSEUDO = np.stack([Inertia.from_pseudo((unit + unit.T) / 2).vector for unit in _UNITS], axis=1)


@dataclass(frozen=True, eq=False)
class PositiveGroup:
    """Unknown parameters that form one positive definite matrix P: the ten of a link, or one positive parameter.

    vec P = to_matrix phi and phi = from_matrix vec P, so that vec L = from_matrixᵀ slope.
    """

    name: str
    indices: tuple[int, ...]  # among the unknown parameters
    to_matrix: Float[np.ndarray, "entries group"]
    from_matrix: Float[np.ndarray, "group entries"]

    def select(self, vector: AnyPerUnknown) -> Shaped[np.ndarray, " group"]:
        return vector[list(self.indices)]

    def make_pseudo_inertia(self, vector: AnyPerUnknown) -> Shaped[np.ndarray, "n n"]:
        return self._apply(self.to_matrix, vector)

    def make_slope_matrix(self, slope: AnyPerUnknown) -> Shaped[np.ndarray, "n n"]:
        return self._apply(self.from_matrix.T, slope)

    def extract_parameters(self, P: Shaped[np.ndarray, "n n"]) -> Shaped[np.ndarray, " group"]:
        return dot(exact_array(self.from_matrix.tolist()), P.ravel())

    def _apply(self, table: Float[np.ndarray, "entries group"], vector: AnyPerUnknown) -> Shaped[np.ndarray, "n n"]:
        n = math.isqrt(len(table))
        return dot(exact_array(table.tolist()), self.select(vector)).reshape(n, n)


@dataclass(frozen=True, eq=False, repr=False)
class Natural(Adaptation):
    """Keeps the estimate of every link physically consistent, and friction positive.

    Attributes
    ----------
    gain    factor of the gradient, one number for all parameters
    step    longest time between two steps of the controller, in s; 0 stands for continuous time
    signed  gain of parameters that may be negative (offsets, root friction and declared forces); None for ``gain``
    """

    gain: float
    step: float = 1e-3
    signed: float | None = None

    @property
    def main_gain(self) -> Gain:
        return self.gain

    def check(self, robot: Robot, unknowns: Unknowns) -> None:  # noqa: ARG002
        to_number("gain", self.gain)
        if self.signed is not None:
            to_number("signed", self.signed)
        if not (isinstance(self.step, float | int) and 0.0 <= self.step < math.inf):
            raise InputError(
                f"step is {self.step!r}; give the longest time between two steps in s, or 0 for continuous time"
            )
        if unknowns.base is not None:
            raise InputError(
                "natural adaptation keeps links physically consistent, but base parameters combine several links; "
                "leave base out and learn whole links, such as learn=('link3.*',), or use Gradient"
            )
        for link, parameters in _group_by_link(unknowns).items():
            if len(parameters) < len(LINK_PARAMETERS):
                raise InputError(
                    f"natural adaptation changes all ten parameters of a link together, but of {link!r} only "
                    f"{', '.join(parameters)} are unknown; learn the whole link, learn=('{link}.*',), or use Gradient"
                )

    @property
    def max_step(self) -> float:
        return self.step or math.inf

    def rate(self, inputs: AdaptationInputs) -> tuple[AnyPerUnknown, AnyPerState]:
        import casadi

        slope = inputs.slope
        rates = -scale_by(slope, self._signed)
        for group in _find_positive_groups(inputs.unknowns):
            P, L = group.make_pseudo_inertia(inputs.estimate), group.make_slope_matrix(slope)
            change = group.extract_parameters(dot(dot(P, L), P))
            rate = -scale_by(change, self.gain)
            if self.step:
                gain = self.gain * inputs.gain_factor  # the factor multiplies the rate that is returned here
                squared = casadi.fmax(casadi.SX(inner(group.select(slope), change)), 0.0)
                rate = scale_by(rate, 1.0 / (1.0 + 2.0 * self.step * gain * casadi.sqrt(squared)))
            rates[list(group.indices)] = rate
        return rates, zeros(0)

    def lyapunov_term(self, unknowns: Unknowns, estimate: AnyPerUnknown, truth: AnyPerUnknown) -> Any:
        theta_tilde, groups = estimate - truth, tuple(_find_positive_groups(unknowns))
        signed = sorted(set(range(len(theta_tilde))) - {index for group in groups for index in group.indices})
        V = inner(theta_tilde[signed], theta_tilde[signed]) * (0.5 / self._signed)
        pairs = ((group.make_pseudo_inertia(truth), group.make_pseudo_inertia(estimate)) for group in groups)
        return V + sum(_compute_divergence(P_true, P) for P_true, P in pairs) / self.gain

    def choose_start(self, robot: Robot, unknowns: Unknowns) -> PerUnknown:
        """Return the values of the description, with a plausible body for every link from which P cannot start."""
        start = unknowns.nominal.copy()
        groups = [group for group in _find_positive_groups(unknowns) if len(group.indices) == len(LINK_PARAMETERS)]
        unusable = [group for group in groups if not _is_body_with_extent(group.select(start))]
        if unusable:
            pseudo = make_plausible_reference(robot).pseudo
            for group in unusable:
                start[list(group.indices)] = Inertia.from_pseudo(pseudo[group.name]).vector
        return start

    def init(self, robot: Robot, unknowns: Unknowns, q: PerJoint, qd: PerJoint, estimate: PerUnknown) -> PerState:
        for group in _find_positive_groups(unknowns):
            _check_start(group.name, group.select(estimate))
        return super().init(robot, unknowns, q, qd, estimate)

    @property
    def _signed(self) -> float:
        return self.gain if self.signed is None else self.signed


def _group_by_link(unknowns: Unknowns) -> dict[str, list[str]]:
    """Return the unknown parameters of each link, by the link's name."""
    links: dict[str, list[str]] = {}
    for name in unknowns.names:
        owner, _, parameter = name.rpartition(".")
        if parameter in LINK_PARAMETERS:
            links.setdefault(owner, []).append(parameter)
    return links


def _find_positive_groups(unknowns: Unknowns) -> Iterator[PositiveGroup]:
    index = {name: k for k, name in enumerate(unknowns.names)}
    for link, parameters in _group_by_link(unknowns).items():
        indices = tuple(index[f"{link}.{parameter}"] for parameter in parameters)
        yield PositiveGroup(link, indices, LINK_TO_PSEUDO, LINK_FROM_PSEUDO)
    for name, k in index.items():
        if name.rpartition(".")[2] in POSITIVE_PARAMETERS:
            yield PositiveGroup(name, (k,), np.eye(1), np.eye(1))


def _compute_divergence(P_true: Shaped[np.ndarray, "n n"], P: Shaped[np.ndarray, "n n"]) -> Any:
    """Return F(P_true, P), see the docstring of the module."""
    import casadi

    n = len(P)
    A, B = (casadi.reshape(column(matrix.ravel()), n, n) for matrix in (P, P_true))
    return casadi.log(casadi.det(A)) - casadi.log(casadi.det(B)) + casadi.trace(casadi.inv_minor(A) @ B) - n


def _check_start(name: str, values: Float[np.ndarray, " group"]) -> None:
    """Raise if P of the initial estimate is not positive definite: the adaptation law cannot start from it."""
    if len(values) == 1:
        if not values[0] > 0.0:
            raise InputError(
                f"natural adaptation cannot start at {name} = {values[0]:g}: it keeps this parameter positive; give "
                "init a positive estimate, a small one if nothing is known, or do not learn this parameter"
            )
        return
    if not _is_body_with_extent(values):
        reason = Inertia(tuple(values.tolist())).consistency().reason
        raise InputError(
            f"natural adaptation cannot start at the estimate of link {name!r}: a link needs mass, and extent in all "
            f"directions ({reason}); give init the estimate of such a body (instead of a point mass, that of a small "
            "ball), or use Gradient"
        )


def _is_body_with_extent(values: Float[np.ndarray, "10"]) -> bool:
    """Whether the link has mass and, beyond rounding errors, an extent in all directions."""
    inertia = Inertia(tuple(values.tolist()))
    moments = np.linalg.eigvalsh(np.array(inertia.tensor_about_center))
    smallest_moment = float(moments.sum()) / 2.0 - float(moments[-1])
    return inertia.mass > 0.0 and smallest_moment > MIN_RELATIVE_MOMENT * float(abs(values[4:]).max())
