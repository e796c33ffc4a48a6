"""What a law is written with: symbols of the measured motion, of the reference and of the estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.control.learnt import Learnt
from ytheta.control.model import Model
from ytheta.formulation.closing import constraint
from ytheta.formulation.graph import Input
from ytheta.formulation.motion import scalars
from ytheta.robot.robot import Robot
from ytheta.shapes import Shaped

if TYPE_CHECKING:
    import casadi

Actuated = Shaped[np.ndarray, "actuated"]


@dataclass(frozen=True, eq=False)
class Symbols:
    """What a law sees: measured motion, reference, and the estimate; ``model`` has the estimate in it."""

    model: Model
    unknown: casadi.SX
    qd: Actuated
    qdd: Actuated
    qr: Actuated
    qrd: Actuated
    qrdd: Actuated

    @property
    def error(self) -> Actuated:
        """q - qr."""
        return self.model.q - self.qr

    @property
    def error_rate(self) -> Actuated:
        """qd - qrd."""
        return self.qd - self.qrd


def traced(robot: Robot, learnt: Learnt, *, acceleration: bool) -> tuple[list[tuple[Input, Any]], Symbols]:
    """The inputs (q, qd, qr, qrd, qrdd, x) of a law's graph, with qdd after qd where asked for; and their symbols.

    With loops the first are all coordinates, closed.
    """
    import casadi

    loops = constraint(robot)
    n, size = len(loops.actuated), len(learnt.names)
    symbols = {name: casadi.SX.sym(name, n) for name in ("qd", "qdd", "qr", "qrd", "qrdd")}
    x = casadi.SX.sym("x", size)
    inputs: list[tuple[Input, Any]] = [(Input("q", len(loops.home)), loops.x)]
    inputs += [(Input(name, n), vector) for name, vector in symbols.items() if acceleration or name != "qdd"]
    inputs.append((Input("x", size), x))
    model = Model(loops, learnt.filled(scalars(x)))
    return inputs, Symbols(model, x, **{name: scalars(vector) for name, vector in symbols.items()})
