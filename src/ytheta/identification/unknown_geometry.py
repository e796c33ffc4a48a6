"""Models whose parameters are those of a regrouped Lagrangian: inverse dynamics without geometry, and their marks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ytheta.conventions import parameter_name
from ytheta.dynamics.kernels import AnyKernel
from ytheta.dynamics.mechanism import scalars
from ytheta.errors import InputError, UnsetAngleError, UnsetLengthError
from ytheta.findings import Finding, Severity
from ytheta.identifiability.base_parameters import BaseParameters, ModelParameters
from ytheta.identifiability.regrouping import LagrangianCombination, Regrouping
from ytheta.identification.equations.differential import KnownTorque
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.native import compile_graph
from ytheta.native.graph import Graph, trace
from ytheta.robot.reading.toml import UNKNOWN_ANGLES, UNKNOWN_LENGTHS
from ytheta.robot.robot import Robot
from ytheta.shapes import BaseByBase, PerBase

POSITIVE_PARAMETERS = ("m", "Ixx", "Iyy", "Izz", "Ia")  # masses and moments of inertia, which cannot be negative
MIN_STANDARD_DEVIATIONS = 3.0  # negative value / standard deviation; above it, noise does not explain the sign


def summarize_geometry(base: ModelParameters) -> dict[str, Any]:
    """Return the unknown lengths and angles as plain data; an empty dictionary if the geometry is known."""
    if isinstance(base, BaseParameters):
        return {}
    return {UNKNOWN_LENGTHS: list(base.robot.unset_lengths), UNKNOWN_ANGLES: list(base.robot.unset_angles)}


def list_function_texts(base: ModelParameters) -> tuple[str, ...] | None:
    """Return the function F of every parameter of a regrouped Lagrangian as text; None if the geometry is known."""
    return base.function_texts if isinstance(base, Regrouping) else None


def find_negative_inertias(base: ModelParameters, beta: PerBase, std: PerBase) -> Iterator[Finding]:
    """Yield a warning if sums of masses and moments of inertia are significantly negative; geometry unknown."""
    if not isinstance(base, Regrouping):
        return
    places = {name: k for k, name in enumerate(base.names)}
    combined = [
        (parameter_name(joint.name, f"X{n}"), combination)
        for joint, combinations in zip(base.robot.movable, base.combinations, strict=True)
        for n, combination in enumerate(combinations, start=1)
    ]
    negative = [
        name
        for name, combination in combined
        if _is_positive(combination) and beta[places[name]] < -MIN_STANDARD_DEVIATIONS * std[places[name]]
    ]
    if negative:
        values = ", ".join(f"{name} = {base.expressions[places[name]]} = {beta[places[name]]:.3g}" for name in negative)
        statement = f"sums of masses or moments of inertia are negative, which is impossible: {values}"
        remedy = "check the signs of torque and motion, the units, and the axes of the joints"
        fields = {"parameters": negative}
        yield Finding(FitFindingCode.NEGATIVE, Severity.WARNING, statement, remedy, fields=fields)


def find_driving_friction(
    base: ModelParameters, beta: PerBase, covariance: BaseByBase, std: PerBase, highest_speeds: Mapping[str, float]
) -> Iterator[Finding]:
    """Yield a warning about friction that drives instead of braking, at rest or at the highest recorded speed.

    This is for unknown geometry: with known geometry, the bodies of a model have friction that brakes.
    """
    places, driving = {name: k for k, name in enumerate(base.names)}, []
    for name, drive in base.robot.drives:
        known = {"fv": drive.viscous, "fc": drive.coulomb, "fs": drive.root or 0.0}
        for speed in (0.0, highest_speeds.get(name, 0.0)):
            row, torque = np.zeros(len(beta)), 0.0
            for symbol, factor in {"fv": speed, "fc": 1.0, "fs": np.sqrt(speed)}.items():
                place = places.get(parameter_name(name, symbol))
                if place is None:
                    torque += factor * known[symbol]
                elif factor:
                    row[place] = factor
            estimated = row != 0.0
            torque += float(row @ beta)
            deviation = float(np.sqrt(max(row @ covariance @ row, 0.0)))
            if np.isfinite(std[estimated]).all() and torque < -MIN_STANDARD_DEVIATIONS * deviation and estimated.any():
                driving.append(name)
    names = tuple(dict.fromkeys(driving))
    if names:
        statement = f"the friction of {', '.join(names)} drives instead of braking, which is impossible"
        remedy = "check the signs of torque and motion; if both are right, record longer motion at several speeds"
        yield Finding(FitFindingCode.NEGATIVE, Severity.WARNING, statement, remedy, names=names)


def _is_positive(combination: LagrangianCombination) -> bool:
    """Whether a combination has positive factors of masses, moments and rotor inertias; lengths may be negative."""
    return all(
        parameter.rpartition(".")[2] in POSITIVE_PARAMETERS
        and factor > 0
        and all(power % 2 == 0 for _, power in powers)
        for parameter, powers, factor in combination.terms
    )


def is_without_geometry(table: Mapping[str, Any]) -> bool:
    """Whether the table of a model file contains parameters of a regrouped Lagrangian."""
    return UNKNOWN_LENGTHS in table or UNKNOWN_ANGLES in table


def make_unset_error(robot: Robot) -> InputError:
    """Return the error that standard parameters need a length or an angle that is unknown."""
    error = UnsetLengthError if robot.unset_lengths else UnsetAngleError
    return error(
        f"the standard parameters of {robot.name!r} need {robot.unset_symbols[0]!r}, which has no value; without it, "
        "beta, inverse_dynamics() and predict still work"
    )


def make_torque_kernel(base: ModelParameters, beta: PerBase) -> AnyKernel:
    """Return the kernel (q, qd, qdd) → Y beta, plus the torque of known drive parameters."""
    return compile_graph(make_torque_graph(base, beta))


def make_torque_graph(base: ModelParameters, beta: PerBase) -> Graph:
    """Return the graph (q, qd, qdd) → Y beta, plus the torque of known drive parameters."""
    import casadi

    known = KnownTorque(base)
    parts = [(base.find_graph("regressor_graph", base.robot, {}), beta)]
    if known:
        parts.append((known.find_regressor_graph(), known.values))
    inputs = parts[0][0].inputs
    symbols = [casadi.SX.sym(entry.name, entry.size) for entry in inputs]
    total = casadi.SX.zeros(len(base.robot.actuated))
    for graph, values in parts:
        Y = casadi.reshape(graph.apply(*symbols), len(values), -1).T  # the array is in C order
        total = total + casadi.mtimes(Y, casadi.DM(values.tolist()))
    pairs = list(zip(inputs, symbols, strict=True))
    return trace("inverse dynamics", pairs, scalars(total), made_from=f"model of {base.robot.name}")
