"""The interface of adaptation laws, which compute the rate of the estimate from the gradient of a control law.

A control law reduces an error r and passes the gradient Y_uᵀ r to its adaptation law, where Y_u is the regressor of the
unknown parameters. In Craig's law, the gradient is Y_uᵀ H_hat^-1 r. Code and equations call the gradient ``slope``.

The error of the estimate is theta_tilde = estimate - truth. The stability proof of the control law needs a Lyapunov
function with a term in theta_tilde whose rate is -theta_tildeᵀ slope. In gradient adaptation, this term is a quadratic
form with a constant metric. Other adaptation laws use a different metric, or lose part of the stability proof in
exchange for another property; the docstrings of their modules name the metric or the property.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ytheta.control.gains import Gain, describe_gain
from ytheta.control.unknowns import LawSymbols, Unknowns
from ytheta.dynamics.vectors import zeros
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerActuated, AnyPerState, AnyPerUnknown, PerJoint, PerState, PerUnknown


@dataclass(frozen=True, eq=False)
class AdaptationInputs:
    """The inputs of an adaptation law: symbols, error, gradient (``slope``) and torque of the control law."""

    symbols: LawSymbols
    error: AnyPerActuated
    slope: AnyPerUnknown
    tau: AnyPerActuated  # within the torque limits

    @property
    def unknowns(self) -> Unknowns:
        return self.symbols.unknowns

    @property
    def estimate(self) -> AnyPerUnknown:
        return self.symbols.estimate

    @property
    def state(self) -> AnyPerState:
        """The states of the adaptation law besides the estimate."""
        return self.symbols.adaptation_state

    @property
    def gain_factor(self) -> Any:
        """The number or symbol by which the control law multiplies the rate of the estimate."""
        return self.symbols.factors.get("adaptation", 1)


class Adaptation(ABC):
    """An adaptation law. Implementations are frozen dataclasses and are not subclassed."""

    def __repr__(self) -> str:
        settings = [f"{field.name}={_describe_setting(getattr(self, field.name))}" for field in fields(self)]  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(settings)})"

    @abstractmethod
    def check(self, robot: Robot, unknowns: Unknowns) -> None:
        """Raise if the settings do not fit the unknown parameters."""

    @abstractmethod
    def rate(self, inputs: AdaptationInputs) -> tuple[AnyPerUnknown, AnyPerState]:
        """Return d estimate/dt and d state/dt."""

    @abstractmethod
    def lyapunov_term(self, unknowns: Unknowns, estimate: AnyPerUnknown, truth: AnyPerUnknown) -> Any:
        """Return the term of the Lyapunov function that depends on the estimate."""

    @property
    def main_gain(self) -> Gain:
        """The gain of the gradient; 0 without adaptation."""
        return 0.0

    @property
    def max_step(self) -> float:
        """The longest controller step, in s, for which the adaptation law keeps its guarantees."""
        return math.inf

    @property
    def resets(self) -> bool:
        """Whether ``reset`` can change an estimate."""
        return False

    def reset(self, unknowns: Unknowns, estimate: AnyPerUnknown) -> AnyPerUnknown:  # noqa: ARG002
        """Return the estimate with which the next step begins; most adaptation laws leave it as it is."""
        return estimate

    def state_size(self, robot: Robot, unknowns: Unknowns) -> int:  # noqa: ARG002
        """Return the number of states besides the estimate."""
        return 0

    def choose_start(self, robot: Robot, unknowns: Unknowns) -> PerUnknown:  # noqa: ARG002
        """Return the initial estimate if none is given: the values of the robot description, as far as possible."""
        return unknowns.nominal

    def init(
        self,
        robot: Robot,  # noqa: ARG002
        unknowns: Unknowns,  # noqa: ARG002
        q: PerJoint,  # noqa: ARG002
        qd: PerJoint,  # noqa: ARG002
        estimate: PerUnknown,  # noqa: ARG002
    ) -> PerState:
        """Return the initial state; raise if the adaptation law cannot start from this estimate."""
        return np.zeros(0)


@dataclass(frozen=True, eq=False, repr=False)
class NoAdaptation(Adaptation):
    """The adaptation law of control laws without unknown parameters."""

    def check(self, robot: Robot, unknowns: Unknowns) -> None:
        pass

    def rate(self, inputs: AdaptationInputs) -> tuple[AnyPerUnknown, AnyPerState]:  # noqa: ARG002
        return zeros(0), zeros(0)

    def lyapunov_term(self, unknowns: Unknowns, estimate: AnyPerUnknown, truth: AnyPerUnknown) -> Any:  # noqa: ARG002
        return 0.0


def _describe_setting(value: Any) -> str:
    return repr(value) if value is None or isinstance(value, Adaptation) else describe_gain(value)
