"""What a law is written with: symbols of the measured motion, of the reference, of the estimate, and its gains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.control.gains import scaled, times
from ytheta.dynamics.symbolic_model import SymbolicModel
from ytheta.control.unknowns import Unknowns
from ytheta.dynamics.loops.closing import constraint
from ytheta.dynamics.motion import scalars
from ytheta.native.graph import Input
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerActuated, Shaped, SquareMatrix

if TYPE_CHECKING:
    import casadi


@dataclass(frozen=True, eq=False)
class Symbols:
    """What a law sees: measured motion, reference, and the estimate; ``model`` has the estimate in it.

    ``factors`` are symbols that gains are multiplied with, where every run of a batch has gains of its own.
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

    @property
    def estimate_sx(self) -> casadi.SX:
        """The estimate as symbols to differentiate by."""
        return self.x[: len(self.unknowns.names)]

    @property
    def estimate(self) -> Shaped[np.ndarray, "unknown"]:
        return scalars(self.estimate_sx)

    @property
    def memory(self) -> Shaped[np.ndarray, "states"]:
        """What is remembered beside the estimate."""
        return scalars(self.x[len(self.unknowns.names) :])

    @property
    def error(self) -> AnyPerActuated:
        """q - qr."""
        return self.model.q - self.qr

    @property
    def error_rate(self) -> AnyPerActuated:
        """qd - qrd."""
        return self.qd - self.qrd

    def times(self, gain: str, vector: AnyPerActuated) -> AnyPerActuated:
        """A gain of the law, by its name, times a vector."""
        product = times(self.gains[gain], vector)
        return scaled(product, self.factors[gain]) if gain in self.factors else product


def traced(
    robot: Robot,
    unknowns: Unknowns,
    gains: Mapping[str, SquareMatrix],
    *,
    more: int = 0,
    acceleration: bool = False,
    varied: Sequence[str] = (),
) -> tuple[list[tuple[Input, Any]], Symbols]:
    """The inputs (q, qd, qr, qrd, qrdd, x) of a law's graph, and their symbols.

    With loops the first are all coordinates, closed. x are the unknown and ``more`` that is remembered. With qdd after
    qd where asked for, and factors of the ``varied`` gains behind all.
    """
    import casadi

    loops = constraint(robot)
    n, size = len(loops.actuated), len(unknowns.names)
    symbols = {name: casadi.SX.sym(name, n) for name in ("qd", "qdd", "qr", "qrd", "qrdd")}
    x, factors = casadi.SX.sym("x", size + more), casadi.SX.sym("factors", len(varied))
    inputs: list[tuple[Input, Any]] = [(Input("q", len(loops.home)), loops.x)]
    inputs += [(Input(name, n), vector) for name, vector in symbols.items() if acceleration or name != "qdd"]
    inputs.append((Input("x", size + more), x))
    if varied:
        inputs.append((Input("factors", len(varied)), factors))
    model = SymbolicModel(loops, unknowns.fill(scalars(x[:size])))
    moving = {name: scalars(vector) for name, vector in symbols.items()}
    return inputs, Symbols(
        unknowns, model, x, **moving, gains=gains, factors=dict(zip(varied, scalars(factors), strict=True))
    )
