"""Regrouping of the Lagrangian, after Ha, Ko and Kwon: minimal model parameters, with and without known geometry.

Identity      L(q, qd) = sum_i F_i(q_1..q_i, qd_1..qd_i)ᵀ X_i up to a constant. All F_ij are linearly independent over
              the reals, and so are all X_ij. In ``regroup_lagrangian``, X depends on parameters, unknown lengths and
              unknown angles. In ``base_parameters``, all geometry is known, and X = K theta
Reference     [ha1989] sec. II, (12)-(20), steps 1 and 2; sec. III for the SCARA arm
Accepts       trees of revolute and prismatic joints with any axes; loads; any gravity; rotor inertia. Not: loops,
              couplings, motors that are not part of a joint (use method qr)
Notation      code      paper          meaning
              monomial  F_ij of (12)   a product of cosines, sines, positions and rates, sin² written as 1 - cos²
              row       X_ij of (12)   the factor of a monomial: coefficients of (standard parameter, powers of lengths
                                       and of cosines and sines of angles, sin² written as 1 - cos²)
              level     i of L_i hat   the last joint on which a monomial depends
              zero      (50)           link parameters that vanish by symmetry
Differs from  the paper in:
              - Order of the steps. The factors of all monomials are rows of a rational matrix. From the last level to
                the first, and within a level from short rows to long ones, a row is kept if it is not a combination
                of the rows kept before. The paper's steps 1 and 2 remove dependent terms one after the other. Both ways
                give the same p_i: (15)-(17) require independent rows, so p_i is the rank of levels >= i minus the rank
                of levels > i. For the arm of sec. III, both ways give (57), (58).
              - X_ij are scaled so that their first coefficient, in the order of theta, is one. Rounding errors are
                skipped.
              - Extensions: ten parameters per link with inertia about the frame origin, trees, prismatic joints, rotor
                inertia.
              - (17), p_i >= 1, is proved in the paper for bodies with mass; if ``zero`` is used, p_i can be 0.
              - Only lengths and angles that are symbols count as unknown; (15) and (27) hold over inertias and these.
              - ``base_parameters`` does not expand the Lagrangian: ``compute_energy_span`` finds the same rank joint by
                joint.
Exactness     Ranks of rational matrices are found by elimination, without sampling and without a tolerance.
              ``exact.geometry`` rounds angles and lengths to rational numbers, within 2e-12. Only the last step, from
              the rational basis to K, uses floats. ``regroup_lagrangian`` works in the link frames of the robot
              description. In these frames, parallel, perpendicular or intersecting axes are detected if only quarter
              turns and zeros are involved, or only one frame, such as one Denavit-Hartenberg row. If such axes are not
              detected, p is too large; ``regroup_lagrangian`` then raises an error if all geometry is known.
Cost          ``base_parameters`` grows with the number of joints, not with the number of functions.
              ``regroup_lagrangian`` expands the Lagrangian; with general angles everywhere, its run time grows
              by a factor of five to eight per joint. With unknown twists everywhere, the number of model parameters
              grows by a factor of four to five; more than ``MAX_MODEL_PARAMETERS`` are refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from ytheta.dynamics.mechanism import PER_LINK
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.files.symbols import SymbolKind
from ytheta.identifiability.base_parameters import BaseParameters, order_columns, reduce_to_independent
from ytheta.identifiability.exact.energy import ONE, compute_energy_span
from ytheta.identifiability.exact.geometry import to_canonical_frames, to_circle_point, to_exact_mechanism
from ytheta.identifiability.exact.trigonometric_ring import (
    Function,
    Monomial,
    TrigonometricRing,
    compute_lagrangians,
    make_ring,
)
from ytheta.identifiability.regrouping import PRINTED_FRICTION, LagrangianCombination, Regrouping
from ytheta.robot.frame import cos_sin
from ytheta.robot.inertia import transport_matrix
from ytheta.robot.parameters import (
    FRICTION_PARAMETERS,
    check_friction,
    declare_zero,
    find_absent_parameters,
    length_exponents,
    select_parameters,
)
from ytheta.robot.parts import parameter_name
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import Float

Place: TypeAlias = tuple[int, tuple[int, ...]]  # index of a parameter in theta, exponents of unknown constants

Row: TypeAlias = dict[Place, Any]

# Largest number of model parameters without friction; each unknown twist multiplies it by four to five. Chosen on:
# reasoning, more than any log can identify; a 6R arm with five unknown twists has 6600.
MAX_MODEL_PARAMETERS = 2000
# Largest ratio of the largest coefficient of a combination to another one; smaller ones are rounding errors.
# Chosen on: rule of thumb.
MAX_COEFFICIENT_RATIO = 10**10


def explain_refusal(robot: Robot) -> str | None:
    """Return the reason why the robot is not accepted, or None if it is."""
    reason = explain_refused_regrouping(robot)
    if reason is not None:
        return reason
    friction = tuple(f".{symbol}" for symbol in FRICTION_PARAMETERS.values())
    absent = sorted(name for name in find_absent_parameters(robot) if not name.endswith(friction))
    if absent:
        return f"robot {robot.name!r} has no {absent[0]!r}, and the energy of all links has it; use method qr"
    if robot.unset_lengths:
        return (
            f"robot {robot.name!r} has a length without a value, {robot.unset_lengths[0]!r}; set it with "
            "robot.with_lengths, use method lin, which keeps it as a symbol, or use regroup_lagrangian, whose "
            "parameters need no lengths"
        )
    return None


def base_parameters(robot: Robot, *, rotor_inertia: bool = False) -> BaseParameters:
    """Return the base parameters among all link parameters and, if requested, all rotor inertias."""
    reason = explain_refusal(robot)
    if reason is not None:
        raise InputError(reason)
    canonical = to_canonical_frames(robot)
    span = np.concatenate(compute_energy_span(canonical.mechanism, rotors=rotor_inertia)).astype(float)
    rotors_start = PER_LINK * len(canonical.frames)
    rows = np.zeros((len(span), len(robot.parameter_names)))
    for k, frame in enumerate(canonical.frames):
        link = slice(PER_LINK * k, PER_LINK * (k + 1))
        rows[:, link] = span[:, link] @ transport_matrix(frame.inverse())
    names = list(robot.parameter_names)
    for k, joint in enumerate(robot.movable if rotor_inertia else ()):
        rows[:, names.index(parameter_name(joint.name, "Ia"))] = span[:, rotors_start + k]
    selected = select_parameters(robot, rotor_inertia=rotor_inertia)
    independent, K = _reduce(robot, rows, selected)
    return BaseParameters(robot, "ha", tuple(names[k] for k in independent), K.astype(object), selected)


def explain_refused_regrouping(robot: Robot, remedy: str = "use method qr") -> str | None:
    """Return the reason why the Lagrangian of the robot cannot be regrouped and what to do, or None if it can."""
    if robot.loops:
        return f"robot {robot.name!r} has closed loops, which the Lagrangian of a tree does not cover; {remedy}"
    if robot.couplings or robot.motors:
        coupled = bool(robot.couplings)
        part = f"joint {robot.couplings[0].joint!r} coupled" if coupled else "a motor that is not part of a joint"
        return f"robot {robot.name!r} has {part}, which the Lagrangian of a tree does not cover; {remedy}"
    if robot.floating:
        return f"robot {robot.name!r} has a floating base, which this method does not support; use method lin or qr"
    if robot.sensor_coordinates:
        return f"robot {robot.name!r} has a sensor joint, which this method does not support; use method qr"
    if not robot.movable:
        return f"robot {robot.name!r} has no moving joint, so nothing can be identified"
    return None


def _reduce(
    robot: Robot, rows: Float[np.ndarray, "base params"], selected: Collection[str]
) -> tuple[list[int], Float[np.ndarray, "base params"]]:
    """Return the independent parameters and K from independent rows, computed in units of the robot's size."""
    joints = robot.numeric.merged.joints
    offsets = [float(np.linalg.norm(f.matrix[:3, 3])) for joint in joints for f in (joint.placement, joint.seat)]
    L = max(offsets, default=0.0) or 1.0
    units = L ** length_exponents(robot)
    orthonormal = np.linalg.qr((rows * units).T)[0].T
    independent, K = reduce_to_independent(orthonormal, order_columns(robot, list(selected)), len(rows))
    return independent, K * units[independent][:, None] / units


# --- unknown geometry -------------------------------------------------------------------------------------------------


def regroup_lagrangian(
    robot: Robot,
    *,
    zero: Collection[str] = (),
    rotor_inertia: bool = False,
    friction: Sequence[str] | None = PRINTED_FRICTION,
    lengths: Collection[str] | None = None,
    angles: Collection[str] | None = None,
) -> Regrouping:
    """Return the regrouped Lagrangian: parameters that can be identified although lengths and angles are unknown.

    ``zero``: names or patterns of link parameters that are zero by symmetry, as (50) has them. They are left out, and
    so are those that the description declares zero or absent.
    ``friction``: kinds of friction of each joint ("viscous", "coulomb", "offset", and "root" for the joints that have
    it; not "load"). ``lengths`` and ``angles``: names of the unknown ones. By default, all symbolic lengths and angles
    count as unknown, even if they have values; if only one of the two is given, those of the other kind that have no
    value.
    """
    check_is_robot(robot)
    kinds = check_friction(friction)
    reason = explain_refused_regrouping(robot)
    if reason is not None:
        raise InputError(reason)
    loaded = [name for name, drive in robot.drives if drive.load is not None]
    if loaded or "load" in kinds:
        raise InputError(
            f"{', '.join(map(repr, loaded)) or 'friction'} is load-dependent, and the torque on which it depends needs "
            "the geometry and the inertias, which a regrouped Lagrangian does not use; remove 'load'"
        )
    robot = declare_zero(robot, tuple(zero))
    absent = find_absent_parameters(robot)
    if lengths is not None or angles is not None:
        lengths = robot.unset_lengths if lengths is None else lengths
        angles = robot.unset_angles if angles is None else angles
    ring = make_ring(
        robot, _list_unknown(robot, lengths, SymbolKind.LENGTH), _list_unknown(robot, angles, SymbolKind.ANGLE)
    )
    known_lengths = {name: ring.to_constant(value) for name, value in robot.lengths if value is not None}
    known_angles = {name: to_circle_point(*cos_sin(value)) for name, value in robot.angles if value is not None}
    mechanism = to_exact_mechanism(
        robot,
        known_lengths | {name: ring.get_length(name) for name in ring.lengths},
        known_angles | {name: ring.get_cosine_and_sine(name) for name in ring.angles},
    )
    rows, terms = _collect_terms(robot, ring, compute_lagrangians(mechanism, ring), absent)
    if rotor_inertia:
        half = ring.ring.domain(1, 2)
        for k, joint in enumerate(robot.movable):
            rotor = parameter_name(joint.name, "Ia")
            if rotor in absent:
                continue
            monomial, powers = ring.split_monomial(ring.make_monomial(k, ONE, 2))
            place = robot.parameter_names.index(rotor)
            rows.setdefault(monomial, {})[place, powers] = half
    regrouping = replace(_select_terms(robot, ring, rows, terms), friction=kinds, rotor_inertia=rotor_inertia)
    if not ring.constants:
        _check_minimal(regrouping, rotors=rotor_inertia)
    return regrouping


def _list_unknown(robot: Robot, names: Collection[str] | None, kind: SymbolKind) -> list[str]:
    """Return the names of unknown lengths or angles in alphabetical order; those without a value must be among them."""
    is_length = kind is SymbolKind.LENGTH
    used, unset = (
        (robot.symbolic_lengths, robot.unset_lengths) if is_length else (robot.symbolic_angles, robot.unset_angles)
    )
    if names is None:
        return sorted(used)
    for name in names:
        if name not in used:
            raise UnknownNameError(f"robot {robot.name!r} has no {kind} {name!r}{suggest_names(name, used)}")
    for name in unset:
        if name not in names:
            raise InputError(f"the {kind} {name!r} has no value; add it to the unknown {kind}s")
    return sorted(set(names))


def _check_minimal(regrouping: Regrouping, *, rotors: bool) -> None:
    """Raise an InputError if fewer terms are enough; canonical frames detect more coincidences of axes exactly."""
    robot = regrouping.robot
    span = compute_energy_span(to_canonical_frames(robot).mechanism, rotors=rotors)
    minimum = sum(len(rows) for rows in span)
    if sum(regrouping.counts) > minimum:
        raise InputError(
            f"robot {robot.name!r} has link frames at general angles, in which parallel or intersecting axes cannot be "
            f"detected exactly: {sum(regrouping.counts)} terms would remain, although {minimum} are enough; regroup "
            "ytheta.to_modified_dh(robot).robot instead"
        )


def _collect_terms(
    robot: Robot, ring: TrigonometricRing, bodies: Sequence[Sequence[Function]], zero: Collection[str]
) -> tuple[dict[Monomial, Row], tuple[int, ...]]:
    """Return the factor (13) of every monomial in the joint variables, and the number of terms (12) of every body."""
    rows: dict[Monomial, Row] = {}
    counts: list[int] = []
    for k, functions in enumerate(bodies):
        monomials: set[Monomial] = set()
        for n, function in enumerate(functions, start=PER_LINK * k):
            if robot.parameter_names[n] in zero:
                continue
            for monomial, factor in function.terms():
                joints, powers = ring.split_monomial(monomial)
                if any(joints):  # a term that depends on no joint has no effect
                    monomials.add(joints)
                    rows.setdefault(joints, {})[n, powers] = factor
        counts.append(len(monomials))
    return rows, tuple(counts)


def _select_terms(
    robot: Robot, ring: TrigonometricRing, rows: Mapping[Monomial, Row], terms: tuple[int, ...]
) -> Regrouping:
    """Do steps 1 and 2 from the last joint to the first: a row is kept if the rows kept before do not span it."""
    scaled = {monomial: _scale(row) for monomial, row in rows.items()}
    levels: dict[int, list[Monomial]] = {}
    for monomial in sorted(rows, key=ring.make_sort_key):
        levels.setdefault(ring.find_level(monomial), []).append(monomial)
    span = RowSpan()
    selected: list[list[int]] = []
    for level in range(len(ring.revolute), 0, -1):
        # Step 1: monomials with the same factor share a row. Step 2: the shortest independent rows are kept.
        distinct = {scaled[monomial][1]: place for place, monomial in reversed(list(enumerate(levels.get(level, []))))}
        kept: list[FrozenRow] = []
        for row in sorted(distinct, key=lambda row: (len(row), distinct[row])):
            if span.add(row):
                kept.append(row)
                _check_size(robot, ring, len(span))
        selected.append([span.index(row) for row in sorted(kept, key=lambda row: distinct[row])])
    functions: list[dict[Monomial, Any]] = [{} for _ in range(len(span))]
    for monomial, (scale, row) in scaled.items():
        for k, factor in span.solve(row).items():
            functions[k][monomial] = scale * factor
    selected.reverse()
    return Regrouping(
        robot=robot,
        ring=ring,
        functions=tuple(tuple(ring.from_terms(functions[k]) for k in indices) for indices in selected),
        combinations=tuple(
            tuple(_make_combination(robot, ring, span.rows[k]) for k in indices) for indices in selected
        ),
        terms=terms,
    )


def _check_size(robot: Robot, ring: TrigonometricRing, parameters: int) -> None:
    """Raise an InputError if there are too many model parameters for any log, and soon for the memory."""
    if ring.constants and parameters > MAX_MODEL_PARAMETERS:
        raise InputError(
            f"robot {robot.name!r} has more than {MAX_MODEL_PARAMETERS} model parameters if {ring.list_unknown()} are "
            f"unknown; give values to some of {'the angles' if ring.angles else 'them'}"
        )


def _scale(row: Row) -> tuple[Any, FrozenRow]:
    """Return the first coefficient of a row, in the order of theta, and the row divided by this coefficient.

    A coefficient that is only the rounding error of angles, such as 60 and 30 degrees about the same axis, is skipped.
    """
    places = sorted(row, key=lambda place: (place[0], [-power for power in place[1]]))
    largest = max(abs(x) for x in row.values())
    scale = next(row[place] for place in places if abs(row[place]) * MAX_COEFFICIENT_RATIO > largest)
    return scale, tuple((place, row[place] / scale) for place in places)


def _make_combination(robot: Robot, ring: TrigonometricRing, row: FrozenRow) -> LagrangianCombination:
    def list_powers(exponents: Monomial) -> tuple[tuple[str, int], ...]:
        return tuple((name, power) for name, power in zip(ring.constants, exponents, strict=True) if power)

    return LagrangianCombination(
        tuple(
            (robot.parameter_names[k], list_powers(exponents), Fraction(int(x.numerator), int(x.denominator)))
            for (k, exponents), x in row
        )
    )


# The span of rows of exact numbers: a basis of independent rows, and all other rows as combinations of the basis.


FrozenRow: TypeAlias = tuple[tuple[Place, Any], ...]  # sparse, in a fixed order
_Sparse: TypeAlias = dict[Any, Any]


class RowSpan:
    """A basis to which rows can be added, and its echelon form; each echelon row is stored with its combination."""

    def __init__(self) -> None:
        self.rows: list[FrozenRow] = []
        self._pivots: dict[Place, tuple[_Sparse, _Sparse]] = {}  # echelon row, and its combination of basis rows
        self._solutions: dict[FrozenRow, _Sparse] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def index(self, row: FrozenRow) -> int:
        """Return the index of a row in the basis."""
        return self.rows.index(row)

    def add(self, row: FrozenRow) -> bool:
        """Add a row to the basis if the row is independent of the basis; return whether it was added."""
        rest, combination = self._split(row)
        if not rest:
            self._solutions[row] = combination
            return False
        combination = {k: -x for k, x in combination.items()}
        combination[len(self.rows)] = 1
        self._solutions[row] = {len(self.rows): 1}
        self.rows.append(row)
        pivot = next(iter(rest))
        scale = 1 / rest[pivot]
        self._pivots[pivot] = (
            {place: x * scale for place, x in rest.items()},
            {k: x * scale for k, x in combination.items()},
        )
        return True

    def solve(self, row: FrozenRow) -> _Sparse:
        """Return the factors of the basis rows, by index, whose combination is a row of the span."""
        if row not in self._solutions:
            rest, combination = self._split(row)
            if rest:
                raise ArithmeticError("the row is not in the span")
            self._solutions[row] = combination
        return self._solutions[row]

    def _split(self, row: FrozenRow) -> tuple[_Sparse, _Sparse]:
        """Split a row into a rest outside the span and a combination of basis rows."""
        rest: _Sparse = dict(row)
        combination: _Sparse = {}
        for pivot, (echelon, echelon_combination) in self._pivots.items():
            factor = rest.get(pivot)
            if factor is not None:
                _subtract(rest, factor, echelon)
                _subtract(combination, -factor, echelon_combination)
        return rest, combination


def _subtract(target: _Sparse, factor: Any, other: _Sparse) -> None:
    for key, x in other.items():
        value = target.get(key, 0) - factor * x
        if value:
            target[key] = value
        else:
            target.pop(key, None)
