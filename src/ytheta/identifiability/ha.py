"""Regrouping of the Lagrangian, after Ha, Ko and Kwon: minimal model parameters, with and without known geometry.

Identity      L(q, qd) = sum_i F_i(q_1..q_i, qd_1..qd_i)ᵀ X_i up to a constant, F and X each linearly independent over
              the reals. ``regroup``: X depends on parameters and on unknown lengths. ``base_parameters``: lengths are
              numbers, X is K theta
Reference     [ha1989] sec. II, (12)-(20), steps 1 and 2; sec. III for the SCARA arm
Accepts       trees of revolute and prismatic joints with any axes; loads; any gravity; rotor inertia. Not: loops,
              couplings, motors that are no joint's own (method qr takes them). Angles are numbers always
Notation      code      paper          meaning
              monomial  F_ij of (12)   a product of cosines, sines, positions and rates, sin² written as 1 - cos²
              row       X_ij of (12)   its factor: coefficients of (standard parameter, powers of lengths)
              level     i of L_i hat   the last joint on which a monomial depends
              zero      (50)           link parameters that symmetry makes vanish
Differs from  the paper in:
              - Order of the steps. The factors of all monomials are rows of a matrix over the rationals; from the last
                level to the first, rows that are no combination of rows kept before (of the same level or behind it)
                are kept, short ones first. Removing dependent terms one after the other, as steps 1 and 2 do, ends in a
                set of the same number and with the same properties (15)-(17), since these say: independent rows, and
                p_i = rank of levels >= i minus rank of levels > i. For the arm of sec. III it ends in (57), (58).
              - X_ij are scaled so that their first coefficient, in the order of theta, is one.
              - Ten parameters with inertia about the frame origin, trees, prismatic joints, rotor inertia.
              - (17), p_i >= 1, is proved in the paper for bodies with mass; with ``zero`` it can fail.
              - (27) is about functions that the paper writes with all geometry unknown; here angles (alpha) are known.
              - ``base_parameters`` never writes the Lagrangian down (``energy_span``): same rank, found joint by joint.
Exactness     Ranks are those of rational matrices, by elimination: no sampling, no tolerance. ``exact_geometry`` says
              how angles and lengths become rational, within 2e-12. Only the last step, from the rational basis to K,
              is in floats. ``regroup`` works in the robot's own link frames and sees a coincidence of axes where it is
              made of quarter turns and zeros, as in tables of Denavit and Hartenberg, or stands in one frame; for
              others p comes out too large. Without unknown lengths that is noticed and refused.
Scale         Measured on one core. ``base_parameters``: RX90, PUMA 560, UR10, Panda 0.05 s each, 7 joints at odd angles
              0.2 s, a humanoid with 29 joints 1-2 s; it grows with the number of joints, not with that of functions.
              ``regroup``: RX90 (1083 terms -> 36) 0.1 s, Panda (4705 -> 43) 0.2 s; with all lengths unknown UR10 (7 of
              them, 1439 -> 56) 0.3 s, Panda (6, 4705 -> 71) 0.5 s. Odd angles everywhere make all functions appear:
              4 joints 0.3 s, 5 joints 2.4 s, 6 joints (12474 -> 38) 13 s. U is an expanded polynomial: its graph takes
              1 s for RX90 (17 000 operations), 6 s for a Panda (93 000).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from ytheta.conventions import parameter_name
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identifiability.echelon import looking_order, reduced
from ytheta.identifiability.exact.energy_maps import ONE, TEN
from ytheta.identifiability.exact.energy_span import energy_span
from ytheta.identifiability.exact.geometry import canonical, exact_mechanism
from ytheta.identifiability.exact.row_span import FrozenRow, Place, RowSpan
from ytheta.identifiability.exact.trigonometric_ring import Function, Monomial, TrigonometricRing, lagrangians, ring_of
from ytheta.identifiability.regrouping import Combination, Regrouping
from ytheta.robot.inertia import transport_matrix
from ytheta.robot.parameters import length_exponents, select_parameters
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

Row: TypeAlias = dict[Place, Any]


def accepts(robot: Robot) -> str | None:
    """None, or the reason why base parameters cannot be found this way."""
    reason = _refused(robot)
    if reason is None and robot.unset_lengths:
        return (
            f"robot {robot.name!r} has a length without a value, {robot.unset_lengths[0]!r}; set it with "
            "robot.with_lengths, or use method lin, which keeps it as a symbol"
        )
    return reason


def base_parameters(robot: Robot, *, rotor_inertia: bool = False) -> BaseParameters:
    """The base parameters among all link parameters and, where asked for, all rotor inertias; lengths are numbers."""
    reason = accepts(robot)
    if reason is not None:
        raise InputError(reason)
    exact = canonical(robot)
    rows = np.concatenate(energy_span(exact.mechanism, rotors=rotor_inertia)).astype(float)
    bodies = TEN * len(exact.frames)
    theta = np.zeros((len(rows), len(robot.parameter_names)))
    for k, frame in enumerate(exact.frames):
        own = slice(TEN * k, TEN * (k + 1))
        theta[:, own] = rows[:, own] @ transport_matrix(frame.inverse())
    names = list(robot.parameter_names)
    for k, joint in enumerate(robot.movable if rotor_inertia else ()):
        theta[:, names.index(parameter_name(joint.name, "Ia"))] = rows[:, bodies + k]
    asked = select_parameters(robot, rotor_inertia=rotor_inertia)
    independent, K = _reduced(robot, theta, asked)
    return BaseParameters(robot, "ha", tuple(names[k] for k in independent), K.astype(object), asked)


def _refused(robot: Robot) -> str | None:
    if robot.loops:
        return (
            f"robot {robot.name!r} has closed loops, which the Lagrangian of a tree does not know; method qr takes it"
        )
    if robot.couplings or robot.motors:
        what = f"joint {robot.couplings[0].joint!r} coupled" if robot.couplings else "a motor that is no joint's own"
        return f"robot {robot.name!r} has {what}, which the Lagrangian of a tree does not know; method qr takes it"
    if not robot.movable:
        return f"robot {robot.name!r} has no moving joint, so no motion reveals anything of it"
    return None


def _reduced(
    robot: Robot, rows: Float[np.ndarray, "base params"], asked: Collection[str]
) -> tuple[list[int], Float[np.ndarray, "base params"]]:
    """Independent parameters and K, of rows whose number is their rank; in units of the robot's size."""
    joints = robot.numeric.merged.joints
    offsets = [float(np.linalg.norm(f.matrix[:3, 3])) for joint in joints for f in (joint.placement, joint.seat)]
    L = max(offsets, default=0.0) or 1.0
    units = L ** length_exponents(robot)
    orthonormal = np.linalg.qr((rows * units).T)[0].T
    independent, K = reduced(orthonormal, looking_order(robot, list(asked)), len(rows))
    return independent, K * units[independent][:, None] / units


# --- unknown geometry -------------------------------------------------------------------------------------------------


def regroup(robot: Robot, *, zero: Collection[str] = (), rotor_inertia: bool = False) -> Regrouping:
    """The Lagrangian regrouped, symbolic lengths unknown whether they have values or not.

    ``zero``: link parameters that are known to be zero and left out, such as those of symmetric links.
    """
    reason = _refused(robot)
    if reason is not None:
        raise InputError(reason)
    for name in zero:
        if name not in robot.parameter_names:
            raise UnknownNameError(
                f"robot {robot.name!r} has no parameter {name!r}{suggest_names(name, robot.parameter_names)}"
            )
    lengths = sorted(robot.symbols)
    ring = ring_of(robot, lengths)
    mechanism = exact_mechanism(robot, {name: ring.length(name) for name in lengths}, ring.rounded)
    rows, terms = _terms(robot, ring, lagrangians(mechanism, ring), set(zero))
    if rotor_inertia:
        half = ring.ring.domain(1, 2)
        for k, joint in enumerate(robot.movable):
            monomial, powers = ring.split(ring.monomial(k, ONE, 2))
            place = robot.parameter_names.index(parameter_name(joint.name, "Ia"))
            rows.setdefault(monomial, {})[place, powers] = half
    grouped = _regrouped(robot, ring, rows, terms)
    if not robot.symbols:
        _check_minimal(grouped, rotors=rotor_inertia)
    return grouped


def _check_minimal(grouped: Regrouping, *, rotors: bool) -> None:
    """Whether the robot's own frames show all coincidences of its axes, as those of ``canonical`` do."""
    robot = grouped.robot
    known = sum(len(rows) for rows in energy_span(canonical(robot).mechanism, rotors=rotors))
    if sum(grouped.counts) > known:
        raise InputError(
            f"robot {robot.name!r} has link frames at odd angles, behind which parallel or meeting axes cannot be seen "
            f"exactly: {sum(grouped.counts)} terms would be left where {known} are enough; regroup "
            "ytheta.to_modified_dh(robot).robot instead"
        )


def _terms(
    robot: Robot, ring: TrigonometricRing, bodies: Sequence[Sequence[Function]], zero: Collection[str]
) -> tuple[dict[Monomial, Row], tuple[int, ...]]:
    """(13): for every monomial in what joints do its factor, a row; and how many monomials each body has (12)."""
    rows: dict[Monomial, Row] = {}
    counts: list[int] = []
    for k, functions in enumerate(bodies):
        own: set[Monomial] = set()
        for n, function in enumerate(functions, start=TEN * k):
            if robot.parameter_names[n] in zero:
                continue
            for monomial, factor in function.terms():
                joints, powers = ring.split(monomial)
                if any(joints):  # what depends on no joint moves nothing
                    own.add(joints)
                    rows.setdefault(joints, {})[n, powers] = factor
        counts.append(len(own))
    return rows, tuple(counts)


def _regrouped(
    robot: Robot, ring: TrigonometricRing, rows: Mapping[Monomial, Row], terms: tuple[int, ...]
) -> Regrouping:
    """Steps 1 and 2, from the last joint to the first: each level keeps what the levels behind it do not have."""
    scaled = {monomial: _scaled(row) for monomial, row in rows.items()}
    levels: dict[int, list[Monomial]] = {}
    for monomial in sorted(rows, key=ring.order):
        levels.setdefault(ring.level(monomial), []).append(monomial)
    span = RowSpan()
    chosen: list[list[int]] = []
    for level in range(len(ring.turns), 0, -1):
        # Step 1: monomials with the same factor share a row. Step 2: the shortest rows that are independent stay.
        distinct = {scaled[monomial][1]: place for place, monomial in reversed(list(enumerate(levels.get(level, []))))}
        kept = [row for row in sorted(distinct, key=lambda row: (len(row), distinct[row])) if span.add(row)]
        chosen.append([span.index(row) for row in sorted(kept, key=lambda row: distinct[row])])
    functions: list[dict[Monomial, Any]] = [{} for _ in range(len(span))]
    for monomial, (scale, row) in scaled.items():
        for k, factor in span.solve(row).items():
            functions[k][monomial] = scale * factor
    chosen.reverse()
    return Regrouping(
        robot=robot,
        ring=ring,
        functions=tuple(tuple(ring.from_terms(functions[k]) for k in own) for own in chosen),
        combinations=tuple(tuple(_combination(robot, ring, span.rows[k]) for k in own) for own in chosen),
        terms=terms,
    )


def _scaled(row: Row) -> tuple[Any, FrozenRow]:
    """A factor and a row whose first coefficient, in the order of theta, is one."""
    places = sorted(row, key=lambda place: (place[0], [-power for power in place[1]]))
    scale = row[places[0]]
    return scale, tuple((place, row[place] / scale) for place in places)


def _combination(robot: Robot, ring: TrigonometricRing, row: FrozenRow) -> Combination:
    def powers(exponents: Monomial) -> tuple[tuple[str, int], ...]:
        return tuple((name, power) for name, power in zip(ring.lengths, exponents, strict=True) if power)

    return Combination(
        tuple(
            (robot.parameter_names[k], powers(exponents), Fraction(int(x.numerator), int(x.denominator)))
            for (k, exponents), x in row
        )
    )
