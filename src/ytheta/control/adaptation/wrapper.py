"""The base of adaptation laws that wrap another one and modify its rate."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ytheta.control.adaptation.adaptation import Adaptation
from ytheta.control.gains import PER_UNKNOWN, Gain, to_vector
from ytheta.control.unknowns import Unknowns
from ytheta.dynamics.mechanism import scalars
from ytheta.errors import InputError
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerUnknown, PerJoint, PerState, PerUnknown


@dataclass(frozen=True, eq=False, repr=False)
class AdaptationWrapper(Adaptation, ABC):
    """An adaptation law with the states and the Lyapunov term of its inner law; only the rate is different."""

    inner: Adaptation

    def check(self, robot: Robot, unknowns: Unknowns) -> None:
        if not isinstance(self.inner, Adaptation):
            raise InputError(
                f"{type(self).__name__} wraps another adaptation law, not {self.inner!r}; give a gain as Gradient(gain)"
            )
        self.inner.check(robot, unknowns)

    @property
    def main_gain(self) -> Gain:
        return self.inner.main_gain

    @property
    def max_step(self) -> float:
        return self.inner.max_step

    @property
    def resets(self) -> bool:
        return self.inner.resets

    def reset(self, unknowns: Unknowns, estimate: AnyPerUnknown) -> AnyPerUnknown:
        return self.inner.reset(unknowns, estimate)

    def lyapunov_term(self, unknowns: Unknowns, estimate: AnyPerUnknown, truth: AnyPerUnknown) -> Any:
        return self.inner.lyapunov_term(unknowns, estimate, truth)

    def state_size(self, robot: Robot, unknowns: Unknowns) -> int:
        return self.inner.state_size(robot, unknowns)

    def choose_start(self, robot: Robot, unknowns: Unknowns) -> PerUnknown:
        return self.inner.choose_start(robot, unknowns)

    def init(self, robot: Robot, unknowns: Unknowns, q: PerJoint, qd: PerJoint, estimate: PerUnknown) -> PerState:
        return self.inner.init(robot, unknowns, q, qd, estimate)


def broadcast_to_unknowns(name: str, setting: Any, unknowns: Unknowns) -> PerUnknown:
    """Return one number for each unknown parameter. ``setting`` is one number for all of them, or one for each."""
    return to_vector(name, setting, len(unknowns.names), per=PER_UNKNOWN, allow_number=True)


# Known bounds of parameters, for the adaptation laws that keep estimates within them.


Bounds: TypeAlias = float | Sequence[float] | PerUnknown


def broadcast_bounds(lower: Bounds, upper: Bounds, unknowns: Unknowns) -> tuple[PerUnknown, PerUnknown]:
    """Return lower and upper bounds of every unknown parameter; raise if they leave no room."""
    low, high = (broadcast_to_unknowns(name, b, unknowns) for name, b in (("lower", lower), ("upper", upper)))
    for name, a, b in zip(unknowns.names, low, high, strict=True):
        if not a < b:
            raise InputError(f"the bounds of {name} are {a:g} and {b:g}; lower must be less than upper")
    return low, high


def check_start(
    unknowns: Unknowns,
    estimate: PerUnknown,
    bounds: tuple[PerUnknown, PerUnknown],
    delta: PerUnknown | None = None,
) -> None:
    """Raise if an initial estimate is outside its bounds, by more than the margin ``delta`` if there is one."""
    margins = np.zeros(len(estimate)) if delta is None else delta
    for name, x, low, high, margin in zip(unknowns.names, estimate, *bounds, margins, strict=True):
        if not low - margin <= x <= high + margin:
            excess = f" by more than delta = {margin:g}" if margin else ""
            raise InputError(
                f"the initial estimate {name} = {x:g} is outside its bounds {low:g} and {high:g}{excess}; start within "
                "them, or widen them"
            )


def check_separable(title: str, adaptation: Adaptation, unknowns: Unknowns) -> None:
    """Raise unless V is a sum of functions of one parameter each, so that its Hessian is diagonal."""
    import casadi

    estimate, truth = (casadi.SX.sym(name, len(unknowns.names)) for name in ("estimate", "truth"))
    V = casadi.SX(adaptation.lyapunov_term(unknowns, scalars(estimate), scalars(truth)))
    rows, columns = casadi.jacobian_sparsity(casadi.gradient(V, estimate), estimate).get_triplet()
    if list(rows) != list(columns):
        raise InputError(
            f"{title} treats every parameter by itself, but the metric of {type(adaptation).__name__} inside it "
            "couples several, so the law has no stability proof; use Gradient with a number or a vector"
        )
