"""How fast the unknown are learnt, for each kind of adaptation: the second half of ``tuning``, which says why.

Notation      code     meaning                                                      shape
              Y        regressor of the unknown                                     samples x joints x unknown
              M, K_D   mass and damping: M rdot + K_D r = Y wrong                   samples x joints x joints
              S        natural adaptation's metric: d estimate/dt = -gain S slope   unknown x unknown
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.control.adaptation.adaptation import Adaptation
from ytheta.control.adaptation.composite import Composite
from ytheta.control.adaptation.natural import LINK, POSITIVE, Natural
from ytheta.control.unknowns import Unknowns
from ytheta.conventions import JOINT_PARAMETERS, LINK_PARAMETERS
from ytheta.errors import UnknownNameError, suggest_names
from ytheta.robot.inertia import Inertia
from ytheta.shapes import Float, Shaped, UnknownByUnknown

HARDLY = 1e-6  # of what the best shown parameter of a kind shows: nothing counts as shown less


@dataclass(frozen=True, eq=False)
class Learning:
    """What learning looks like on a motion.

    ``weights``: of torques, so that they count as much as the r that they make. ``eager``: how far over what begins to
    swing, at the worst instant.
    """

    unknowns: Unknowns
    Y: Float[np.ndarray, "samples joints unknown"]
    M: Float[np.ndarray, "samples joints joints"]
    K_D: Float[np.ndarray, "samples joints joints"]
    weights: Float[np.ndarray, "joints joints"]
    eager: float
    period: float

    @cached_property
    def gradient(self) -> Float[np.ndarray, "unknown"]:
        """gamma_j = g / mean(Y_jᵀ K_D^-1 Y_j)."""
        shown = np.einsum("sju,sju->u", self.Y, np.linalg.solve(self.K_D, self.Y)) / len(self.Y)
        kinds = np.array([name.rpartition(".")[2] for name in self.unknowns.names])
        for kind in np.unique(kinds):
            own = kinds == kind
            shown[own] = np.maximum(shown[own], HARDLY * shown[own].max())
        if not shown.any():
            return np.ones(len(shown))
        gamma = 1.0 / np.where(shown > 0.0, shown, shown.max())
        return gamma * (self.eager / self.pace(np.diag(gamma)))

    @property
    def natural(self) -> Natural:
        """The same pace in the metric that the description's own bodies make; offsets and forces as in the gradient."""
        S, signed = np.zeros((len(self.unknowns.names),) * 2), np.ones(len(self.unknowns.names), dtype=bool)
        owners = [name.rpartition(".") for name in self.unknowns.names]
        _, back = LINK
        for link in dict.fromkeys(owner for owner, _, kind in owners if kind in LINK_PARAMETERS):
            places = [k for k, (owner, _, kind) in enumerate(owners) if owner == link and kind in LINK_PARAMETERS]
            if len(places) == len(LINK_PARAMETERS):  # fewer are refused by Natural
                P = Inertia(tuple(self.unknowns.nominal[places].tolist())).pseudo
                S[np.ix_(places, places)] = back @ np.kron(P, P) @ back.T
            signed[places] = False
        for k, (_, _, kind) in enumerate(owners):
            if kind in JOINT_PARAMETERS and kind in POSITIVE:
                S[k, k], signed[k] = self.unknowns.nominal[k] ** 2, False
        gain = self.eager / self.pace(S) if S.any() else 1.0
        return Natural(gain, step=self.period, signed=float(self.gradient[signed].min()) if signed.any() else None)

    @property
    def composite(self) -> Composite:
        """The gradient's gain; a torque's error counts as much as the r that it makes, and is filtered as fast."""
        rate = float(eigenvalues(self.K_D, self.M).min())
        return Composite(self.gradient, prediction=self.weights, bandwidth=rate)

    def pace(self, Gamma: UnknownByUnknown) -> float:
        """The largest eigenvalue of Y Gamma Yᵀ, where 1 begins to swing."""
        swings = 0.25 * self.K_D @ np.linalg.solve(self.M, self.K_D)
        return float(eigenvalues(np.einsum("sju,uw,skw->sjk", self.Y, Gamma, self.Y, optimize=True), swings).max())


ADAPTATIONS: dict[str, Callable[[Learning], Float[np.ndarray, "unknown"] | Adaptation]] = {
    "gradient": lambda learning: learning.gradient,
    "natural": lambda learning: learning.natural,
    "composite": lambda learning: learning.composite,
}


def adaptation_gain(name: str, learning: Learning) -> Float[np.ndarray, "unknown"] | Adaptation:
    """What ``adaptation`` of a law is set to."""
    if name not in ADAPTATIONS:
        raise UnknownNameError(f"there is no adaptation {name!r}{suggest_names(name, ADAPTATIONS)}")
    return ADAPTATIONS[name](learning)


def eigenvalues(
    A: Shaped[np.ndarray, "_ joints joints"], M: Shaped[np.ndarray, "samples joints joints"]
) -> Shaped[np.ndarray, "samples joints"]:
    """Of M^-1 A, for symmetric A; ascending."""
    L = np.linalg.cholesky(M)
    half = np.linalg.solve(L, np.broadcast_to(A, M.shape))
    return np.linalg.eigvalsh(np.linalg.solve(L, half.transpose(0, 2, 1)))
