"""The symbols in which control laws are written: measured motion, reference, estimate and gains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ytheta.control.gains import multiply, scale_by
from ytheta.control.unknowns import Unknowns
from ytheta.dynamics.constraint import build_constraint
from ytheta.dynamics.mechanism import scalars
from ytheta.dynamics.symbolic_model import SymbolicModel
from ytheta.native.graph import Input
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerActuated, AnyPerState, AnyPerUnknown, SquareMatrix

if TYPE_CHECKING:
    import casadi


@dataclass(frozen=True, eq=False)
class Symbols:
    """The symbols of a control law; the parameters of ``model`` contain the estimate.

    ``factors`` are symbols by which gains are multiplied, for batches in which every run has its own gains.
    """

    unknowns: Unknowns
    model: SymbolicModel
    x: casadi.SX
    qd: AnyPerActuated
    qdd: AnyPerActuated
    qr: AnyPerActuated
    qrd: AnyPerActuated
    qrdd: AnyPerActuated
    gains: Mapping[str, SquareMatrix]
    factors: Mapping[str, Any]
    adaptation_states: int = 0

    @property
    def estimate_sx(self) -> casadi.SX:
        """The estimate as a CasADi vector, for derivatives with respect to it."""
        return self.x[: len(self.unknowns.names)]

    @property
    def estimate(self) -> AnyPerUnknown:
        return scalars(self.estimate_sx)

    @property
    def adaptation_state(self) -> AnyPerState:
        """The part of the controller's state that follows the estimate: the states of the adaptation law."""
        first = len(self.unknowns.names)
        return scalars(self.x[first : first + self.adaptation_states])

    @property
    def law_state(self) -> AnyPerState:
        """The last part of the controller's state: the states of the control law itself."""
        return scalars(self.x[len(self.unknowns.names) + self.adaptation_states :])

    @property
    def error(self) -> AnyPerActuated:
        """q - qr."""
        return self.model.q - self.qr

    @property
    def error_rate(self) -> AnyPerActuated:
        """qd - qrd."""
        return self.qd - self.qrd

    def apply_gain(self, gain: str, vector: AnyPerActuated) -> AnyPerActuated:
        """Return the product of a gain, given by its name, and a vector."""
        product = multiply(self.gains[gain], vector)
        return scale_by(product, self.factors[gain]) if gain in self.factors else product


def make_symbols(
    robot: Robot,
    unknowns: Unknowns,
    gains: Mapping[str, SquareMatrix],
    *,
    adaptation_states: int = 0,
    law_states: int = 0,
    acceleration: bool = False,
    factors: Sequence[str] = (),
) -> tuple[list[tuple[Input, Any]], Symbols]:
    """Return the inputs (q, qd, qr, qrd, qrdd, x) of a law's graph, and their symbols.

    If the robot has loops, q contains all coordinates, and the loops must be closed. With ``acceleration``, qdd follows
    qd. ``factors`` names gains that are multiplied by factors; these factors are an additional last input.
    """
    import casadi

    loops = build_constraint(robot)
    n, size = len(loops.actuated), len(unknowns.names)
    states = size + adaptation_states + law_states
    motion = {name: casadi.SX.sym(name, n) for name in ("qd", "qdd", "qr", "qrd", "qrdd")}
    x, factor_symbols = casadi.SX.sym("x", states), casadi.SX.sym("factors", len(factors))
    inputs: list[tuple[Input, Any]] = [(Input("q", len(loops.home)), loops.x)]
    inputs += [(Input(name, n), vector) for name, vector in motion.items() if acceleration or name != "qdd"]
    inputs.append((Input("x", states), x))
    if factors:
        inputs.append((Input("factors", len(factors)), factor_symbols))
    # Load-dependent friction is computed with the torque of the description, so that tau is linear in the estimate.
    described = unknowns.fill(unknowns.nominal)
    model = SymbolicModel(loops, unknowns.fill(scalars(x[:size])), transmission_theta=described)
    return inputs, Symbols(
        unknowns,
        model,
        x,
        **{name: scalars(vector) for name, vector in motion.items()},
        gains=gains,
        factors=dict(zip(factors, scalars(factor_symbols), strict=True)),
        adaptation_states=adaptation_states,
    )
