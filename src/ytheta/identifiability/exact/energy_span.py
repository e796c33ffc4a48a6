"""Which combinations of parameters the energy of a robot contains: their exact number, and a basis of them.

Functions h_i and twists V_i are known by what they span: h_iᵀ = fᵀ B with independent functions f and a matrix B of at
most ten rows. One joint on, the functions are f times functions of the joint (see ``energy_maps``), hence independent
again, and the coefficients of each are a row; rows that depend on others are eliminated. So no polynomial in all joints
is ever written down, and the work is the same for every joint, in chains and in trees.

What does not depend on q_j and qd_j is h_iᵀ Lambda_1 theta_j: it joins the parameters of body i. The functions of the
base are constants, which move nothing; so what is left there in the end has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ytheta.dynamics.mechanism import Mechanism
from ytheta.dynamics.vectors import array, dot, zeros
from ytheta.identifiability.exact.energy_maps import HALF, ONE, TEN, energy_maps
from ytheta.shapes import Shaped


def energy_span(mechanism: Mechanism, *, rotors: bool) -> list[Shaped[np.ndarray, "rows columns"]]:
    """For every body, independent rows of coefficients: ten columns per body, then one rotor inertia per joint.

    Rows of all bodies together are independent: a body's own ten columns (and its rotor's) tell its rows apart, and
    rows of bodies behind it do not use them. The number of rows is the number of base parameters.
    """
    bodies = mechanism.bodies
    maps = [energy_maps(body) for body in bodies]
    spans, twists = _spans(mechanism, maps)
    width = TEN * len(bodies) + mechanism.joints * rotors
    carried = [_own(k, width) for k in range(len(bodies))]
    result: list[np.ndarray] = [zeros(0, width)] * len(bodies)
    for k in reversed(range(len(bodies))):
        body, own = bodies[k], maps[k]
        B, V = spans[k], twists[k]
        rows = [dot(B, L) for powers, L in own.Lambda.items() if powers != ONE]
        rows += [dot(dot(V, own.G), L) for L in own.Lambda.values()]
        rows += [dot(own.k, L) for powers, L in own.Lambda.items() if powers != ONE]
        squared = dot(own.k, own.Lambda[ONE])  # of qd_j² alone; the rotor shares it
        stacked = np.concatenate([*rows, squared])
        if rotors and body.joint is not None:
            rotor = zeros(len(stacked), 1)
            rotor[-1, 0] = HALF
            basis = row_basis(np.concatenate([stacked, rotor], axis=1))
            found = dot(basis[:, :TEN], carried[k])
            found[:, TEN * len(bodies) + body.joint] = basis[:, TEN]
        else:
            found = dot(row_basis(stacked), carried[k])
        result[k] = found
        if body.parent is not None:
            carried[body.parent] = carried[body.parent] + dot(own.Lambda[ONE], carried[k])
    return result


def _spans(mechanism: Mechanism, maps: Sequence[Any]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """B of h_i and of V_i for the carrier i of every body."""
    ground = zeros(1, TEN)
    ground[0, 1:4] = mechanism.gravity  # the Lagrangian has + gᵀ (m p + R h)
    span: list[np.ndarray] = []
    twist: list[np.ndarray] = []
    above: list[tuple[np.ndarray, np.ndarray]] = []
    for body, own in zip(mechanism.bodies, maps, strict=True):
        B, V = (row_basis(ground), zeros(0, 6)) if body.parent is None else above[body.parent]
        span.append(B)
        twist.append(V)
        energies = [dot(rows, L) for L in own.Lambda.values() for rows in (B, dot(V, own.G), own.k)]
        twists = [dot(V, X.T) for X in own.X.values()]
        above.append((row_basis(np.concatenate(energies)), row_basis(np.concatenate([*twists, own.S[None]]))))
    return span, twist


def row_basis(matrix: Shaped[np.ndarray, "rows columns"]) -> Shaped[np.ndarray, "rank columns"]:
    """The reduced echelon form of a matrix of fractions, rows of zeros left out."""
    found: list[tuple[int, list[Any]]] = []
    for row in {tuple(entries): None for entries in matrix.tolist()}:
        rest = list(row)
        for place, pivot in found:
            if rest[place]:
                rest = _without(rest, pivot, place)
        place = next((k for k, x in enumerate(rest) if x), -1)
        if place < 0:
            continue
        rest = [x and x / Fraction(rest[place]) for x in rest]
        found = [(k, _without(old, rest, place) if old[place] else old) for k, old in found]
        found.append((place, rest))
    found.sort(key=lambda item: item[0])
    return array([entries for _, entries in found]) if found else zeros(0, matrix.shape[1])


def _without(row: list[Any], pivot: list[Any], place: int) -> list[Any]:
    factor = row[place]
    return [x - factor * y if y else x for x, y in zip(row, pivot, strict=True)]


def _own(body: int, width: int) -> Shaped[np.ndarray, "10 columns"]:
    result = zeros(TEN, width)
    for k in range(TEN):
        result[k, TEN * body + k] = 1
    return result
