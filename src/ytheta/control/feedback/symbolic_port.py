"""A feedback law at one link or joint in symbols: its power, and the values that the conditions concern."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from ytheta.control.feedback.feedback import Feedback, Response
from ytheta.control.feedback.ports import CoordinateErrors, FeedbackPorts
from ytheta.dynamics.constraint import column
from ytheta.dynamics.formulations.spatial_tree import spatial_transpose
from ytheta.dynamics.mechanism import scalars
from ytheta.dynamics.vectors import zeros
from ytheta.errors import InputError
from ytheta.shapes import Float

if TYPE_CHECKING:
    import casadi


@dataclass(frozen=True, eq=False)
class PortSamples:
    """Errors, reference velocities and Lambda_jj of one link or joint, one column per sample."""

    y: Float[np.ndarray, "errors samples"]
    reference: Float[np.ndarray, "size samples"]
    Lambda: Float[np.ndarray, "1 samples"]


class PortValues(NamedTuple):
    """The power vtilde' F + dS/dt at samples, the sum of the absolute values of its terms, and what it is made of.

    ``gradient`` is that of the power by the velocity error, ``state_gradient`` that of the storage by the states.
    """

    power: Float[np.ndarray, "samples"]
    size: Float[np.ndarray, "samples"]
    gradient: Float[np.ndarray, "size samples"]
    output: Float[np.ndarray, "size samples"]
    state_rate: Float[np.ndarray, "states samples"]
    storage: Float[np.ndarray, "1 samples"]
    state_gradient: Float[np.ndarray, "states samples"]


@dataclass(frozen=True, eq=False)
class SymbolicPort:
    """A link or joint in symbols: errors y = (velocity error, position error, states), and what follows from them."""

    feedback: Feedback
    place: str
    velocity_error: casadi.SX
    position_error: casadi.SX
    state: casadi.SX
    reference: casadi.SX
    convergence: casadi.SX
    response: Response

    @property
    def law(self) -> str:
        return type(self.feedback).__name__

    @property
    def size(self) -> int:
        """The number of entries of the velocity error: 6 of a link, 1 of a joint."""
        return int(self.velocity_error.numel())

    @cached_property
    def y(self) -> casadi.SX:
        return column(np.concatenate([scalars(s) for s in (self.velocity_error, self.position_error, self.state)]))

    @cached_property
    def output(self) -> casadi.SX:
        return column(self.response.output)

    @cached_property
    def storage(self) -> casadi.SX:
        import casadi

        return casadi.SX(self.response.storage)

    @cached_property
    def power_terms(self) -> list[Any]:
        """The terms whose sum is vtilde' F + dS/dt."""
        import casadi

        error, output = scalars(self.velocity_error), self.response.output
        if len(error) == 6:
            error = spatial_transpose(error[:, None])[0]
        free = casadi.vertcat(self.position_error, self.state)
        rate = scalars(self.velocity_error)[: self.position_error.numel()]
        rates = np.concatenate([rate - scalars(self.convergence * self.position_error), self.response.state_rate])
        slopes = scalars(casadi.densify(casadi.gradient(self.storage, free))) if len(rates) else zeros(0)
        return [*(error * output), *(slopes * rates)]

    @cached_property
    def power(self) -> casadi.SX:
        return sum(self.power_terms, start=self.storage * 0)

    @cached_property
    def _evaluate(self) -> casadi.Function:
        """(y, reference, convergence) → the entries of ``PortValues``."""
        import casadi

        size = sum((casadi.fabs(term) for term in self.power_terms), start=casadi.SX(0))
        gradient = casadi.gradient(self.power, self.velocity_error)
        outputs = [self.power, size, gradient, self.output, column(self.response.state_rate), self.storage]
        outputs.append(casadi.gradient(self.storage, self.state))
        return casadi.Function("port", [self.y, self.reference, self.convergence], [casadi.densify(o) for o in outputs])

    def compute(self, samples: PortSamples) -> PortValues:
        power, size, *others = (np.array(part) for part in self._evaluate(samples.y, samples.reference, samples.Lambda))
        return PortValues(power[0], size[0], *others)

    def refuse_power(self, y: Float[np.ndarray, "errors"], power: float) -> NoReturn:
        found = f"the power of its output plus the rate of its storage is {power:.3g} W, above 0"
        self.refuse("on dissipation (27)", y, found, self.feedback.remedy)

    def refuse(self, condition: str, y: Float[np.ndarray, "errors"], found: str, remedy: str) -> NoReturn:
        m, p = self.size, self.position_error.numel()
        parts = {"velocity error": y[:m], "position error": y[m : m + p], "state": y[m + p :]}
        errors = [f"{name} {format_entries(values)}" for name, values in parts.items() if len(values)]
        raise InputError(
            f"feedback {self.law} breaks the condition {condition} at {self.place}: with {', '.join(errors)}, {found}; "
            f"{remedy}"
        )


def make_joint_port(ports: FeedbackPorts, drive: int) -> SymbolicPort:
    import casadi

    k, n = ports.find_coordinate(drive), len(ports.loops.robot.actuated)
    states = 0 if k is None else ports.feedback.joint_states
    error, reference, position, Lambda = (casadi.SX.sym(name) for name in ("error", "reference", "position", "Lambda"))
    state, position = casadi.SX.sym("state", states), position if k is not None else casadi.SX(0, 1)
    errors, rates, convergence, all_states = zeros(n), zeros(n), zeros(n), zeros(ports.state_size)
    if k is not None:
        errors[k], rates[k], convergence[k] = position, error - Lambda * position, Lambda
        all_states[k * states : (k + 1) * states] = scalars(state)
    arguments = (scalars(error), scalars(reference), CoordinateErrors(errors, rates, convergence, all_states))
    response = ports.respond_at_joint(drive, *arguments)
    place = f"joint {ports.joints[drive]!r}"
    return SymbolicPort(ports.feedback, place, error, position, state, reference, Lambda, response)


def make_link_port(ports: FeedbackPorts, link: int) -> SymbolicPort:
    import casadi

    states = ports.feedback.link_states
    error, reference, state = (casadi.SX.sym(n, k) for n, k in (("error", 6), ("reference", 6), ("state", states)))
    all_states = zeros(ports.state_size)
    first = len(all_states) - (len(ports.links) - link) * states
    all_states[first : first + states] = scalars(state)
    response = ports.respond_at_link(link, scalars(error), scalars(reference), all_states)
    place = f"link {ports.links[link]!r}"
    return SymbolicPort(
        ports.feedback, place, error, casadi.SX(0, 1), state, reference, casadi.SX.sym("Lambda"), response
    )


def format_entries(values: Float[np.ndarray, "entries"]) -> str:
    listed = ", ".join(f"{value + 0.0:.3g}" for value in values)  # -0.0 + 0.0 is 0.0
    return listed if len(values) == 1 else f"({listed})"
