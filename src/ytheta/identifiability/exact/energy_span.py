"""The combinations of parameters that the energy of a robot contains: their exact number, and a basis of them.

The functions h_i are represented by their span: h_iᵀ = fᵀ B with independent functions f and a matrix B of at most ten
rows. The twists V_i are represented in the same way. At the next joint, f is multiplied by the functions of that joint
(see ``energy_maps``), and the products are independent again. The coefficients of each product form a row, and
dependent rows are eliminated. So no polynomial in all joints is ever formed, and the work is the same for every joint,
in chains and in trees.

The energy of body j contains the part h_iᵀ Lambda_1 theta_j, which does not depend on q_j or qd_j; Lambda_1 is the
constant coefficient of Lambda. So Lambda_1 theta_j is added to the parameters of body i. The base does not move, so
its functions h are constants, and parameters that are added to it have no effect on the motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ytheta.dynamics.mechanism import PER_LINK, Mechanism
from ytheta.dynamics.vectors import array, dot, zeros
from ytheta.identifiability.exact.energy_maps import HALF, ONE, EnergyMaps, compute_energy_maps
from ytheta.shapes import Shaped


def compute_energy_span(mechanism: Mechanism, *, rotors: bool) -> list[Shaped[np.ndarray, "rows columns"]]:
    """Return independent rows of coefficients for every body: ten columns per body, then one rotor inertia per joint.

    The rows of all bodies together are independent: the rows of a body are independent in its own ten columns and its
    rotor's column, and the rows of the bodies behind it are zero in these columns. The number of rows is the number of
    base parameters.
    """
    bodies = mechanism.bodies
    maps = [compute_energy_maps(body) for body in bodies]
    spans, twists = _compute_carrier_spans(mechanism, maps)
    width = PER_LINK * len(bodies) + mechanism.joints * rotors
    composites = [
        _make_unit_rows(k, width) for k in range(len(bodies))
    ]  # parameters of body k and of the bodies it carries
    result: list[np.ndarray] = [zeros(0, width)] * len(bodies)
    for k in reversed(range(len(bodies))):
        body, joint_maps = bodies[k], maps[k]
        B, V = spans[k], twists[k]
        Lambda = joint_maps.Lambda
        rows = [dot(B, L) for powers, L in Lambda.items() if powers != ONE]
        rows += [dot(dot(V, joint_maps.G), L) for L in Lambda.values()]
        rows += [dot(joint_maps.k, L) for powers, L in Lambda.items() if powers != ONE]
        quadratic = dot(joint_maps.k, Lambda[ONE])  # coefficients of qd_j² alone; rotor inertia multiplies qd_j² too
        stacked = np.concatenate([*rows, quadratic])
        if rotors and body.joint is not None:
            rotor = zeros(len(stacked), 1)
            rotor[-1, 0] = HALF
            basis = compute_row_basis(np.concatenate([stacked, rotor], axis=1))
            result[k] = dot(basis[:, :PER_LINK], composites[k])
            result[k][:, PER_LINK * len(bodies) + body.joint] = basis[:, PER_LINK]
        else:
            result[k] = dot(compute_row_basis(stacked), composites[k])
        if body.parent is not None:
            composites[body.parent] = composites[body.parent] + dot(Lambda[ONE], composites[k])
    return result


def _compute_carrier_spans(
    mechanism: Mechanism, maps: Sequence[EnergyMaps]
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the matrices B of h_i and of V_i, where i is the carrier of each body."""
    ground = zeros(1, PER_LINK)
    ground[0, 1:4] = mechanism.gravity  # the Lagrangian contains + gᵀ (m p + R h)
    carrier_energies: list[np.ndarray] = []
    carrier_twists: list[np.ndarray] = []
    spans: list[tuple[np.ndarray, np.ndarray]] = []
    for body, joint_maps in zip(mechanism.bodies, maps, strict=True):
        B, V = (compute_row_basis(ground), zeros(0, 6)) if body.parent is None else spans[body.parent]
        carrier_energies.append(B)
        carrier_twists.append(V)
        factors = (B, dot(V, joint_maps.G), joint_maps.k)
        energies = [dot(rows, L) for L in joint_maps.Lambda.values() for rows in factors]
        twists = [dot(V, X.T) for X in joint_maps.X.values()]
        spans.append(
            (
                compute_row_basis(np.concatenate(energies)),
                compute_row_basis(np.concatenate([*twists, joint_maps.S[None]])),
            )
        )
    return carrier_energies, carrier_twists


def compute_row_basis(matrix: Shaped[np.ndarray, "rows columns"]) -> Shaped[np.ndarray, "rank columns"]:
    """Return the reduced row echelon form of a matrix of fractions, without rows of zeros."""
    pivots: list[tuple[int, list[Any]]] = []  # column and row of each pivot
    for row in {tuple(entries): None for entries in matrix.tolist()}:
        rest = list(row)
        for column, pivot in pivots:
            if rest[column]:
                rest = _eliminate(rest, pivot, column)
        column = next((k for k, x in enumerate(rest) if x), -1)
        if column < 0:
            continue
        rest = [x and x / Fraction(rest[column]) for x in rest]
        pivots = [(k, _eliminate(pivot, rest, column) if pivot[column] else pivot) for k, pivot in pivots]
        pivots.append((column, rest))
    pivots.sort(key=lambda item: item[0])
    return array([entries for _, entries in pivots]) if pivots else zeros(0, matrix.shape[1])


def _eliminate(row: list[Any], pivot: list[Any], column: int) -> list[Any]:
    factor = row[column]
    return [x - factor * y if y else x for x, y in zip(row, pivot, strict=True)]


def _make_unit_rows(body: int, width: int) -> Shaped[np.ndarray, "10 columns"]:
    """Return the rows of the unit matrix for the ten parameters of a body."""
    result = zeros(PER_LINK, width)
    for k in range(PER_LINK):
        result[k, PER_LINK * body + k] = 1
    return result
