"""Natural adaptation of Lee, Kwon and Park: every estimate on the way is one that a body can have.

Identity      dP/dt = -gain P L P,   tr(L dP) = slopeᵀ dphi,   V = sum of F(P_true, P) / gain,
              F(P_true, P) = log det P - log det P_true + tr(P^-1 P_true) - n
Reference     T. Lee, J. Kwon and F. C. Park, A Natural Adaptive Control Law for Robot Manipulators, IROS 2018;
              P. M. Wensing, S. Kim and J.-J. E. Slotine, Linear Matrix Inequalities for Physically Consistent
              Inertial Parameter Identification, IEEE Robotics and Automation Letters 3(1), 2018
Accepts       whole links, rotor inertias and friction that are positive, parameters of either sign
Notation      code     meaning                                                                     shape
              P        pseudo-inertia of a link (see ``robot.inertia``), n = 4; a single positive  n x n
                       parameter (Ia, fv, fc) is one with n = 1
              L        the slope as a matrix on P                                                  n x n
              gain     of P, in 1/J: the same whatever the frames and units of the links
              signed   of offsets and declared forces, which have either sign: a plain gradient
              step     the longest time between two steps of the controller, in s
Differs from  the paper in: friction and rotor inertia beside the links; ``step``.

The proof. F is the Bregman divergence of -log det: zero where P = P_true, greater elsewhere. Along the law
dF/dt = tr(P^-1 dP/dt) - tr(P^-1 dP/dt P^-1 P_true) = -gain tr(L (P - P_true)) = -gain wrongᵀ slope, as a law's proof
asks for. It needs a P_true that is positive definite: not a point mass, not friction that is zero.

Steps. Explicit Euler can leave the cone of bodies, so the rate of each P is divided by 1 + 2 step gain |A|, where A =
P^½ L P^½ and |A|² = tr(L P L P) is the sum of its squared eigenvalues. A step h <= step then makes P^½ (1 - c A) P^½ of
P, and c |A| <= step gain |A| / (1 + 2 step gain |A|) < ½: no direction of P loses more than half, whatever the slope,
as far as rounding allows: where eigenvalues of P are 1e16 apart, the least of them is rounding. (Without the 2 P would
stay positive definite too, but only in exact arithmetic.) The slope and its rate are dual to each other, slopeᵀ dphi =
tr(L P L P), so |A| needs no root of a matrix and knows no frames either. The proof is that of step = 0; with a step it
holds but for the part by which P would change within one.

A gain. P changes in proportion to itself, so a light link learns in proportion to the energies it has a part in: on the
UR10 the arm learns with 1 / J, the wrist with 50. ``Leakage`` and ``DeadZone`` around this one keep bodies too, the
former in steps shorter than half of 1 / leak.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ytheta.control.adaptation.adaptation import Adaptation, Seen
from ytheta.control.gains import scalar, scaled
from ytheta.control.unknowns import Unknowns
from ytheta.conventions import LINK_PARAMETERS
from ytheta.dynamics.loops.constraint import column
from ytheta.dynamics.mechanism import exact_array
from ytheta.dynamics.vectors import dot, inner, zeros
from ytheta.errors import InputError
from ytheta.robot.inertia import Inertia
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerState, AnyPerUnknown, Float, PerJoint, Shaped

POSITIVE = ("Ia", "fv", "fc")
EXTENT = 1e-9  # least second moment about the centre, of the largest moment about the origin: less is rounding

_UNITS = np.eye(16).reshape(16, 4, 4)
LINK = (
    np.stack([Inertia(tuple(ten.tolist())).pseudo.ravel() for ten in np.eye(10)], axis=1),
    np.stack([Inertia.from_pseudo((unit + unit.T) / 2).vector for unit in _UNITS], axis=1),
)
ONE = (np.eye(1), np.eye(1))


@dataclass(frozen=True, eq=False)
class Block:
    """Unknown that are one positive definite matrix: the ten of a link, or one that is positive.

    vec P = into phi and phi = back vec P, so that vec L = backᵀ slope.
    """

    name: str
    places: tuple[int, ...]
    into: Float[np.ndarray, "entries own"]
    back: Float[np.ndarray, "own entries"]

    def own(self, vector: AnyPerUnknown) -> Shaped[np.ndarray, "own"]:
        return vector[list(self.places)]

    def pseudo(self, vector: AnyPerUnknown) -> Shaped[np.ndarray, "n n"]:
        return self._square(self.into, vector)

    def covector(self, slope: AnyPerUnknown) -> Shaped[np.ndarray, "n n"]:
        return self._square(self.back.T, slope)

    def parameters(self, P: Shaped[np.ndarray, "n n"]) -> Shaped[np.ndarray, "own"]:
        return dot(exact_array(self.back.tolist()), P.ravel())

    def _square(self, table: Float[np.ndarray, "entries own"], vector: AnyPerUnknown) -> Shaped[np.ndarray, "n n"]:
        n = math.isqrt(len(table))
        return dot(exact_array(table.tolist()), self.own(vector)).reshape(n, n)


@dataclass(frozen=True, eq=False)
class Natural(Adaptation):
    """Keeps every link's estimate one that a body can have, and friction positive.

    ``step`` is the longest time between two steps of the controller; 0 is the law in continuous time. ``signed`` is the
    gain of parameters of either sign, ``gain`` unless given.
    """

    gain: float
    step: float = 1e-3
    signed: float | None = None

    def check(self, robot: Robot, unknowns: Unknowns) -> None:  # noqa: ARG002
        scalar("gain", self.gain)
        if self.signed is not None:
            scalar("signed", self.signed)
        if not (isinstance(self.step, float | int) and 0.0 <= self.step < math.inf):
            raise InputError(f"step is {self.step!r}; give the seconds between two steps, or 0 for continuous time")
        if unknowns.base is not None:
            raise InputError(
                "natural adaptation keeps links physically consistent, and base parameters are sums over several "
                "links; leave base out and learn whole links, such as learn=('link3.*',), or take Gradient"
            )
        for owner, known in _owners(unknowns).items():
            if len(known) < len(LINK_PARAMETERS):
                raise InputError(
                    f"natural adaptation moves all ten parameters of a link together, but of {owner!r} only "
                    f"{', '.join(known)} are learnt; learn the whole link, learn=('{owner}.*',), or take Gradient"
                )

    @property
    def max_step(self) -> float:
        return self.step or math.inf

    def rate(self, seen: Seen) -> tuple[AnyPerUnknown, AnyPerState]:
        import casadi

        unknowns, slope = seen.symbols.unknowns, seen.slope
        found = -scaled(slope, self._signed)
        factor = seen.symbols.factors.get("adaptation", 1)  # multiplies what is returned; the bound must know it
        for block in _blocks(unknowns):
            P, L = block.pseudo(seen.estimate), block.covector(slope)
            change = block.parameters(dot(dot(P, L), P))
            rate = -scaled(change, self.gain)
            if self.step:
                squared = casadi.fmax(casadi.SX(inner(block.own(slope), change)), 0.0)
                rate = scaled(rate, 1.0 / (1.0 + 2.0 * self.step * self.gain * factor * casadi.sqrt(squared)))
            found[list(block.places)] = rate
        return found, zeros(0)

    def distance(self, unknowns: Unknowns, estimate: AnyPerUnknown, truth: AnyPerUnknown) -> Any:
        wrong, blocks = estimate - truth, tuple(_blocks(unknowns))
        signed = sorted(set(range(len(wrong))) - {place for block in blocks for place in block.places})
        away = inner(wrong[signed], wrong[signed]) * (0.5 / self._signed)
        return away + sum(_divergence(block.pseudo(truth), block.pseudo(estimate)) for block in blocks) / self.gain

    def init(
        self, robot: Robot, unknowns: Unknowns, q: PerJoint, qd: PerJoint, estimate: Float[np.ndarray, "unknown"]
    ) -> Float[np.ndarray, "states"]:
        for block in _blocks(unknowns):
            _begins(block.name, block.own(estimate))
        return super().init(robot, unknowns, q, qd, estimate)

    @property
    def _signed(self) -> float:
        return self.gain if self.signed is None else self.signed


def _owners(unknowns: Unknowns) -> dict[str, list[str]]:
    """The link parameters that are learnt, by the link's name."""
    found: dict[str, list[str]] = {}
    for name in unknowns.names:
        owner, _, parameter = name.rpartition(".")
        if parameter in LINK_PARAMETERS:
            found.setdefault(owner, []).append(parameter)
    return found


def _blocks(unknowns: Unknowns) -> Iterator[Block]:
    places = {name: k for k, name in enumerate(unknowns.names)}
    for owner, parameters in _owners(unknowns).items():
        yield Block(owner, tuple(places[f"{owner}.{parameter}"] for parameter in parameters), *LINK)
    for name, place in places.items():
        if name.rpartition(".")[2] in POSITIVE:
            yield Block(name, (place,), *ONE)


def _divergence(true: Shaped[np.ndarray, "n n"], P: Shaped[np.ndarray, "n n"]) -> Any:
    """F of the module's docstring."""
    import casadi

    n = len(P)
    A, B = (casadi.reshape(column(matrix.ravel()), n, n) for matrix in (P, true))
    return casadi.log(casadi.det(A)) - casadi.log(casadi.det(B)) + casadi.trace(casadi.inv_minor(A) @ B) - n


def _begins(name: str, own: Float[np.ndarray, "own"]) -> None:
    """Refuse an estimate on the border of what can be, or beyond: the law never leaves the one, or the other."""
    if len(own) == 1:
        if not own[0] > 0.0:
            raise InputError(
                f"natural adaptation cannot begin at {name} = {own[0]:g}: what must be positive never leaves zero; "
                "give init an estimate that is greater, a small one where nothing is known, or do not learn it"
            )
        return
    body = Inertia(tuple(own.tolist()))
    moments = np.linalg.eigvalsh(np.array(body.tensor_about_center))
    least = float(moments.sum()) / 2.0 - float(moments[-1])
    if not (body.mass > 0.0 and least > EXTENT * float(abs(own[4:]).max())):
        raise InputError(
            f"natural adaptation cannot begin at the estimate of link {name!r}, since it moves among bodies with mass "
            f"and extent in all directions ({body.consistency().reason}); give init an estimate of such a body (for a "
            "point mass that of a small ball), or take Gradient"
        )
