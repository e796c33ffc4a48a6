"""The unknown parameters of a controller: which ones it adapts, and the values of all others.

Identity      tau = Y_k theta_k + Y_u theta_u
Reference     [lu1993] (15)-(18): the known and the unknown columns of Y

With base parameters, the columns of the independent parameters are multiplied by beta = K theta, and the dependent
parameters are zero: tau = Y_b beta. This is also true of the regressor Y(q, qd, v, vd): C consists of Christoffel
symbols of M, so a parameter without effect on M has no effect on C. Parameters outside the base parameters (usually
friction) keep their own columns and can be unknown as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.control.gains import multiply, scale_by
from ytheta.dynamics.constraint import build_constraint
from ytheta.dynamics.mechanism import exact_array, scalars
from ytheta.dynamics.symbolic_model import SymbolicModel
from ytheta.dynamics.vectors import zeros
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.native.graph import Input
from ytheta.robot.parameters import match_parameters, select_parameters
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerActuated, AnyPerParameter, AnyPerState, AnyPerUnknown, Float, PerUnknown, SquareMatrix

if TYPE_CHECKING:
    import casadi


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The parameters that a controller adapts.

    Attributes
    ----------
    names    the unknown parameters, in the order of theta; with base parameters, their independent parameters
    indices  their positions in theta
    theta    all parameters of the robot description; with base parameters, beta at the independent parameters and zero
             at the dependent ones
    base     the base parameters, or None
    """

    names: tuple[str, ...]
    indices: tuple[int, ...]
    theta: Float[np.ndarray, " params"]
    base: BaseParameters | None = None

    @property
    def nominal(self) -> PerUnknown:
        """The values of the unknown parameters in the robot description."""
        return self.theta[list(self.indices)]

    def extract(self, theta: Float[np.ndarray, "runs params"]) -> Float[np.ndarray, "runs unknown"]:
        """Return the values of the unknown parameters for these standard parameters, one row per robot."""
        return _combine(theta, self.base)[:, list(self.indices)]

    def fill(self, values: AnyPerUnknown) -> AnyPerParameter:
        """Return all parameters, with these values or symbols for the unknown ones."""
        theta = exact_array(self.theta.tolist()) if len(self.theta) else zeros(0)
        for index, value in zip(self.indices, values, strict=True):
            theta[index] = value
        return theta


def select_unknowns(robot: Robot, base: BaseParameters | None, learn: Sequence[str] | None) -> Unknowns:
    """Select unknown parameters by names or patterns such as ``link_*.m``.

    None selects the base parameters, or all parameters of the links if there are no base parameters.
    """
    if isinstance(learn, str):
        raise InputError(f"learn is a list of names or patterns, such as ({learn!r},), not a single string")
    positions = {name: k for k, name in enumerate(robot.parameter_names)}
    dependent: set[str] = set()
    if base is not None:
        base.check_robot(robot)
        dependent = set(base.selected) - set(base.independent)
    theta = _combine(robot.numeric.theta[None], base)[0]
    default = select_parameters(robot, rotor_inertia=False) if base is None else base.independent
    selected = set(default if learn is None else _match_unknowns(robot, learn, dependent))
    names = tuple(name for name in positions if name in selected)
    return Unknowns(names, tuple(positions[name] for name in names), theta, base)


def _combine(theta: Float[np.ndarray, "runs params"], base: BaseParameters | None) -> Float[np.ndarray, "runs params"]:
    """Replace standard parameters by beta at the independent ones and zero at the dependent ones."""
    combined = theta.copy()
    if base is not None:
        index = {name: k for k, name in enumerate(base.robot.parameter_names)}
        combined[:, [index[name] for name in base.selected]] = 0.0
        combined[:, base.places] = theta @ base.K.T
    return combined


def _match_unknowns(robot: Robot, patterns: Sequence[str], dependent: set[str]) -> set[str]:
    """Return the parameters with these names or patterns, without the dependent ones."""
    names: set[str] = set()
    for pattern in patterns:
        matching = set(match_parameters(robot, (pattern,))) - dependent
        if not matching:
            raise InputError(f"{pattern!r} matches only dependent parameters; give independent ones, or leave base out")
        names |= matching
    return names


# The symbols in which control laws are written: measured motion, reference, estimate and gains.


@dataclass(frozen=True, eq=False)
class LawSymbols:
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
) -> tuple[list[tuple[Input, Any]], LawSymbols]:
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
    return inputs, LawSymbols(
        unknowns,
        model,
        x,
        **{name: scalars(vector) for name, vector in motion.items()},
        gains=gains,
        factors=dict(zip(factors, scalars(factor_symbols), strict=True)),
        adaptation_states=adaptation_states,
    )
