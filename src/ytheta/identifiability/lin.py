"""Minimal linear combinations of the inertia parameters in closed form, after Lin.

Identity      tau = Y theta depends on theta only through the combinations of Theorem 2, each of which has an
              effect
Reference     [lin1995] sec. II, Theorem 2; (86), (87) for kappa
Accepts       trees of revolute and prismatic joints with any axes; loads; symbolic lengths; rotor inertia; any gravity;
              floating bases. Not: loops, couplings, motors that are not part of a joint
Notation      code      paper        meaning
              m, k, U   m hat, k, U  constants of a composite body in its joint frame, see ``composite_bodies``
              u, o      u, s         axes and origins of the joints at q = 0, in base axes. The rules use an angle
                                     between two axes only if all revolute joints between them are parallel, so
                                     that the angle does not depend on q
              r, s                   the first revolute joint of a path, and the first one not parallel to r
              delta     delta_j      whether the first moment of a body on a revolute joint affects the motion
              sigma     sigma_i      whether a prismatic joint moves its body towards the axis of r or away from it
Differs from  the paper in:
              - Trees. Every body follows the rules along its own path, and the constants of its children are added to
                its own. The identifiable constants of a body act through its own q or qd, so the constants of different
                branches are independent.
              - delta from joint s on, for which the paper always has 1. If there is no gravity and all axes up to joint
                j meet in one point, that point does not move. Then k_x and k_y have no effect, and U13 and U23 refer to
                that point.
              - [1 - (u_r)_z^2] in item 5, as in (87).
              - Rotor inertia.

Proof of minimality. theta has no effect if and only if its kinetic energy is zero and its potential energy is
constant, for all q and qd. The energy of body j is the sum of two parts. The first is the energy of the constants that
are added to the parent, as if body j were fixed to the parent. The rest depends on q or qd of joint j. Let w be the
angular velocity of the parent and v the parent's velocity at the origin of joint j, both in the axes of joint j. Then
the rest consists of

    revolute    U33 (qd^2/2 + qd w_z), (U11 - U22) w'_x^2/2, U12 w'_x w'_y, U13 w'_x w'_z, U23 w'_y w'_z,
                and for k_x, k_y  v . (w' x k) - g . k,   where w' is w rotated by q, plus qd along z
    prismatic   m (qd^2/2 + qd v_z + q^2 |w x z|^2/2 + ... - g_z q)  and  k: q (w x z) . (w x k) + qd z . (w x k)

Theorem 2 lists which of these terms are zero in each of three cases: w is zero (before r), w is along u_r (before s),
or w is arbitrary (from s on).

Rotor inertia adds Ia qd^2/2. Only U33 or m of the same joint also multiplies qd^2. If that constant has no other
effect, only its sum with Ia is identifiable; otherwise both are identifiable. The constant has no other
effect in these cases:

    revolute    w_z is always 0: the revolute joints before are parallel to one another and perpendicular to joint j (if
                two of them were not parallel, a rotation about the first would give the second a component along z).
                This is the case for r, and for s if it is perpendicular to r.
    prismatic   |w x z|, v_z and g_z are always 0: the revolute joints before are parallel to the axis of joint j, the
                prismatic joints before are perpendicular to that axis, and so is gravity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ytheta.conventions import LINK_PARAMETERS
from ytheta.dynamics.formulations.composite_bodies import Constants, compute_inertia_constants, compute_joint_frames
from ytheta.dynamics.mechanism import PER_LINK, Mechanism, build_mechanism, exact_array
from ytheta.dynamics.vectors import array, dot, inner, zeros
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import BaseParameters, Combination, order_columns, reduce_to_independent
from ytheta.robot.inertia import Inertia
from ytheta.robot.modified_dh import TOLERANCE
from ytheta.robot.parameters import find_absent_parameters, length_exponents, select_parameters
from ytheta.robot.parts import parameter_name
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Shaped, Vector3

TENSOR_ENTRIES = {"U11": (0, 0), "U22": (1, 1), "U12": (0, 1), "U13": (0, 2), "U23": (1, 2), "U33": (2, 2)}
MOMENT_ENTRIES = {"kx": 0, "ky": 1, "kz": 2}
# Exponents of length in the units of the combinations. Those not listed here are inertias, with exponent 2.
LENGTH_EXPONENTS = {"m": 0, "kx": 1, "ky": 1, "kz": 1, "kappa1": 1, "kappa2": 1}
INVERSE_GOLDEN_RATIO = (5**0.5 - 1) / 2
# Largest angle, in rad, that can be due to rounding. Chosen on: angles in files, 3.1416 differs from half a turn by
# 7.3e-6 rad, and the angle with cosine 0.7071 differs from an eighth of a turn by 1.0e-5 rad.
MAX_ANGLE_ROUNDING = 2e-5


def explain_refusal(robot: Robot) -> str | None:
    """Return the reason why the robot is not accepted, or None if it is."""
    if robot.loops:
        return f"robot {robot.name!r} has closed loops, for which Theorem 2 has no rule; use method qr"
    if robot.couplings:
        first = robot.couplings[0].joint
        return f"robot {robot.name!r} has a coupled joint, {first!r}, for which Theorem 2 has no rule; use method qr"
    if robot.sensor_coordinates:
        return f"robot {robot.name!r} has a sensor joint, for which Theorem 2 has no rule; use method qr"
    if robot.motors:
        return f"robot {robot.name!r} has a motor that is not part of a joint, {robot.motors[0].name!r}; use method qr"
    if not robot.movable and not robot.floating:
        return f"robot {robot.name!r} has no moving joint, so nothing can be identified"
    absent = sorted(name for name in find_absent_parameters(robot) if name.rpartition(".")[2] in LINK_PARAMETERS)
    if absent:
        return f"{absent[0]!r} is declared to be zero, for which Theorem 2 has no rule; use method qr"
    numbers = _make_numerical_mechanism(robot)
    exact, rounded = (
        list(apply_rules(numbers, find_joint_axes(numbers, tolerance))) for tolerance in (TOLERANCE, MAX_ANGLE_ROUNDING)
    )
    for (j, rule), (_, rounded_rule) in zip(exact, rounded, strict=True):
        if (rule.names, rule.rotor_merges) != (rounded_rule.names, rounded_rule.rotor_merges):
            return (
                f"on the path to link {numbers.bodies[j].name!r} of robot {robot.name!r}, axes or gravity are "
                f"parallel, perpendicular or intersecting except for a difference below {MAX_ANGLE_ROUNDING:g}; "
                "the closed form would treat this rounding error as geometry; use method qr"
            )
    return None


def base_parameters(robot: Robot, *, rotor_inertia: bool = False) -> BaseParameters:
    """Return the base parameters among all link parameters and, if requested, all rotor inertias."""
    numbers, combinations = _compute_combinations(robot, rotor_inertia=rotor_inertia)
    selected = select_parameters(robot, rotor_inertia=rotor_inertia)
    rows = np.array([each.row for each in combinations], dtype=object)
    if robot.symbolic_lengths:
        from ytheta.identifiability.exact import length_field  # imports SymPy, which few robots need

        numerical_rows = length_field.evaluate_rows(rows, _choose_length_values(robot))
        independent, _ = _reduce(numbers, combinations, numerical_rows, selected)
        entries = length_field.solve_for_independent(rows, independent, sorted(robot.symbolic_lengths))
    else:
        independent, entries = _reduce(numbers, combinations, rows.astype(float), selected)
    names = tuple(robot.parameter_names[k] for k in independent)
    return BaseParameters(robot, "lin", names, entries.astype(object), selected, combinations=combinations)


def find_minimal_combinations(robot: Robot, *, rotor_inertia: bool = False) -> tuple[Combination, ...]:
    """Return the combinations of Theorem 2, joint by joint, as in the paper."""
    return _compute_combinations(robot, rotor_inertia=rotor_inertia)[1]


def _compute_combinations(robot: Robot, *, rotor_inertia: bool) -> tuple[Mechanism, tuple[Combination, ...]]:
    """Return the mechanism with numerical geometry, and the combinations."""
    reason = explain_refusal(robot)
    if reason is not None:
        raise InputError(reason)
    numbers = arm = _make_numerical_mechanism(robot)
    theta, to_row = _make_unit_forms(PER_LINK * len(numbers.bodies)), _to_row
    if robot.symbolic_lengths:
        from ytheta.identifiability.exact import length_field

        field = length_field.LengthField(tuple(sorted(robot.symbolic_lengths)), len(theta))
        arm, theta, to_row = build_mechanism(_remove_inertias(robot), lengths=field.lengths), field.theta, field.to_row
    names, axes, absent = robot.parameter_names, find_joint_axes(numbers), find_absent_parameters(robot)
    constants = compute_inertia_constants(arm, theta)
    combinations: list[Combination] = []
    for j, rule in apply_rules(numbers, axes):
        body = constants[j]
        if rule.meeting is not None:
            height = compute_height_above_meeting(axes.u, [o for _, o in compute_frames_at_zero(arm)], *rule.meeting, j)
            body = body.seen_from(exact_array(np.eye(3).tolist()), array([0, 0, height]))
        rows = {name: zeros(len(names)) for name in rule.names}
        for name, row in rows.items():
            row[: len(theta)] = to_row(_make_linear_form(name, body, rule.u_r))
        rotor = parameter_name(arm.robot.joints[j].name, "Ia")
        if rotor_inertia and not arm.bodies[j].free and rotor not in absent:
            head = rule.names[0] if rule.rotor_merges else "Ia"
            rows.setdefault(head, zeros(len(names)))[names.index(rotor)] = 1
        combinations += [
            Combination(arm.bodies[j].name, name, _find_item(name, rule.names), row, names)
            for name, row in rows.items()
        ]
    return numbers, tuple(combinations)


def _find_item(constant: str, constants: Sequence[str]) -> int | None:
    """Return the item of Theorem 2 that lists a constant; ``constants`` are all of the same joint."""
    if "U11" in constants:  # a floating base, which the paper does not treat
        return None
    if constant in ("Ia", "m"):
        return 3 if constant == "m" else None
    if "m" in constants:  # a prismatic joint
        return 5 if constant.startswith("kappa") else 4
    return 2 if "U11-U22" in constants else 1


def _remove_inertias(robot: Robot) -> Robot:
    """Set all inertias to zero: they do not matter, and merging fixed links would need values of all lengths."""
    return robot.with_inertias({link.name: Inertia() for link in robot.links})


def _make_numerical_mechanism(robot: Robot) -> Mechanism:
    return build_mechanism(_remove_inertias(robot), lengths=_choose_length_values(robot))


def _make_linear_form(name: str, body: Constants, u_r: Vector3) -> Any:
    """Return one combination of a composite body's constants, as a linear form in theta."""
    k, U = body.k, body.U
    if name == "m":
        return body.m[0]
    if name in MOMENT_ENTRIES:
        return k[MOMENT_ENTRIES[name]]
    if name in TENSOR_ENTRIES:
        return U[TENSOR_ENTRIES[name]]
    if name == "U11-U22":
        return U[0, 0] - U[1, 1]
    x, y, z = (float(entry) for entry in u_r)
    if name == "kappa1":
        return k[1] * x - k[0] * y  # (86)
    return k[2] * (1.0 - z * z) - k[0] * (z * x) - k[1] * (z * y)  # (87)


def _make_unit_forms(count: int) -> Shaped[np.ndarray, " link_params"]:
    """Return the parameters as linear forms in theta: entry k is row k of the unit matrix."""
    forms = zeros(count)
    for k, row in enumerate(np.eye(count)):
        forms[k] = row
    return forms


def _to_row(form: Float[np.ndarray, " link_params"]) -> Float[np.ndarray, " link_params"]:
    """Return the coefficients of a linear form. With numerical lengths, the form already is a row of numbers."""
    return form


def _choose_length_values(robot: Robot) -> dict[str, float]:
    """Return a number for every symbolic length: its value, or a generic one, so that no axes meet by chance."""
    known = dict(robot.lengths)
    generic = {
        name: 0.5 + INVERSE_GOLDEN_RATIO * k % 1.0 for k, name in enumerate(sorted(robot.symbolic_lengths), start=1)
    }
    return {name: number if (value := known.get(name)) is None else value for name, number in generic.items()}


def _reduce(
    numbers: Mechanism,
    combinations: Sequence[Combination],
    rows: Float[np.ndarray, "base params"],
    selected: Sequence[str],
) -> tuple[list[int], Float[np.ndarray, "base params"]]:
    """Return the independent parameters and K. All combinations are independent, so their number is the rank.

    Every combination contains parameters of its own link, with factors near one, and no parameters of the links before
    it. In units of the robot's size, the factors of parameters of the links behind it are of the order of one too, as
    ``reduce_to_independent`` requires.
    """
    L = find_longest_offset(numbers)
    units = L ** length_exponents(numbers.robot)
    row_units = np.array([L ** LENGTH_EXPONENTS.get(each.constant, 2.0) for each in combinations])
    rotors = [
        k for k, each in enumerate(combinations) if each.constant == "Ia"
    ]  # in kg or kg m2, depending on the joint
    row_units[rotors] = units[np.argmax(rows[rotors], axis=1)] if rotors else 1.0
    order = order_columns(numbers.robot, selected)
    independent, K = reduce_to_independent(rows * units / row_units[:, None], order, len(rows))
    return independent, K * units[independent][:, None] / units


# The rules of Theorem 2: which constants of the composite body behind a joint are identifiable.
#
# Reference     [lin1995] sec. II, Theorem 2; the symbols and the proof of minimality are in ``lin``


BASE_CONSTANTS = ("m", "kx", "ky", "kz", "U11", "U12", "U13", "U22", "U23", "U33")
REVOLUTE_CONSTANTS = ("U33", "U11-U22", "U12", "U13", "U23")


@dataclass(frozen=True, eq=False)
class JointRule:
    """The identifiable constants of the composite body behind one joint.

    ``names``: the constants as in Theorem 2, beginning with the one that multiplies qd^2. ``rotor_merges``: whether
    rotor inertia is identifiable only in a sum with that first constant. ``u_r`` is the axis of joint r in the joint
    frame. ``meeting`` is (r, s) if the first moment has no effect because all axes pass through the intersection of the
    axes of joints r and s; otherwise it is None.
    """

    names: tuple[str, ...]
    rotor_merges: bool
    u_r: Vector3
    meeting: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class JointAxes:
    """The joint frames R, o at q = 0 and gravity g, in base axes, as numbers.

    Angles up to ``tolerance`` (rad) and lengths up to ``tolerance * size`` (m) count as zero; ``size`` is the longest
    offset of the robot.
    """

    R: Float[np.ndarray, "links 3 3"]
    o: Float[np.ndarray, "links 3"]
    g: Vector3
    size: float
    tolerance: float

    @property
    def u(self) -> Float[np.ndarray, "links 3"]:
        """The joint axes."""
        return self.R[:, :, 2]

    def are_parallel(self, joints: Sequence[int]) -> bool:
        """Whether the axes of these joints are parallel to one another."""
        return all(np.linalg.norm(np.cross(self.u[joints[0]], self.u[k])) <= self.tolerance for k in joints)

    def are_perpendicular(self, joints: Sequence[int], j: int) -> bool:
        """Whether the axes of these joints are perpendicular to that of joint j."""
        return all(abs(self.u[k] @ self.u[j]) <= self.tolerance for k in joints)

    def pass_through(self, point: Vector3, joints: Sequence[int]) -> bool:
        """Whether the axes of these joints pass through a point."""
        return all(np.linalg.norm(np.cross(point - self.o[k], self.u[k])) <= self.tolerance * self.size for k in joints)

    def gravity_is_parallel(self, j: int) -> bool:
        """Whether gravity is parallel to the axis of joint j, or zero."""
        return bool(np.linalg.norm(np.cross(self.g, self.u[j])) <= self.tolerance * np.linalg.norm(self.g))

    def gravity_is_perpendicular(self, j: int) -> bool:
        """Whether gravity is perpendicular to the axis of joint j, or zero."""
        return bool(abs(self.g @ self.u[j]) <= self.tolerance * np.linalg.norm(self.g))


def find_joint_axes(mechanism: Mechanism, tolerance: float = TOLERANCE) -> JointAxes:
    """Return the joint axes of a mechanism with numerical geometry."""
    frames = compute_frames_at_zero(mechanism)
    R, o = (np.array([frame[k] for frame in frames], dtype=float) for k in (0, 1))
    return JointAxes(R, o, np.array(mechanism.gravity, dtype=float), find_longest_offset(mechanism), tolerance)


def apply_rules(mechanism: Mechanism, axes: JointAxes) -> Iterator[tuple[int, JointRule]]:
    """Yield the index and the rule of every body that a moving joint carries, and of a floating base.

    The angular velocity and the acceleration of a floating base are arbitrary. All constants of the base are therefore
    identifiable, and each joint has as many identifiable constants as behind two revolute joints that are not parallel.
    """
    for j, body in enumerate(mechanism.bodies):
        if body.free:
            yield j, JointRule(BASE_CONSTANTS, False, np.array([0.0, 0.0, 1.0]))
            continue
        if body.joint is not None and mechanism.robot.floating:
            names = (*REVOLUTE_CONSTANTS, "kx", "ky") if body.revolute else ("m", "kx", "ky", "kz")
            yield j, JointRule(names, False, np.array([0.0, 0.0, 1.0]))
            continue
        before = [k for k in mechanism.path(j)[:-1] if mechanism.bodies[k].joint is not None]
        revolute = [k for k in before if mechanism.bodies[k].revolute]
        prismatic = [k for k in before if not mechanism.bodies[k].revolute]
        if body.joint is not None:
            yield j, (_make_revolute_rule if body.revolute else _make_prismatic_rule)(axes, j, revolute, prismatic)


def _make_revolute_rule(axes: JointAxes, j: int, revolute: list[int], prismatic: list[int]) -> JointRule:
    rotor_merges = axes.are_parallel(revolute) and axes.are_perpendicular(revolute, j)
    u_r = axes.R[j].T @ axes.u[[*revolute, j][0]]
    if axes.are_parallel([*revolute, j]):  # item 1: r <= j < s
        at_rest = axes.are_parallel([*revolute, *prismatic, j]) and axes.pass_through(axes.o[j], revolute)
        delta = not (at_rest and axes.gravity_is_parallel(j))
        return JointRule(("U33", "kx", "ky") if delta else ("U33",), rotor_merges, u_r)
    meeting = None if prismatic or axes.g.any() else _find_meeting(axes, [*revolute, j])
    names = REVOLUTE_CONSTANTS if meeting else (*REVOLUTE_CONSTANTS, "kx", "ky")
    return JointRule(names, rotor_merges, u_r, meeting)  # item 2


def _make_prismatic_rule(axes: JointAxes, i: int, revolute: list[int], prismatic: list[int]) -> JointRule:
    u_r = axes.R[i].T @ axes.u[[*revolute, i][0]]
    if not axes.are_parallel(revolute):  # items 3 and 4: i > s
        return JointRule(("m", "kx", "ky", "kz"), False, u_r)
    sigma = not axes.are_parallel([*revolute, i])
    rotor_merges = not sigma and axes.are_perpendicular(prismatic, i) and axes.gravity_is_perpendicular(i)
    return JointRule(("m", "kappa1", "kappa2") if sigma else ("m",), rotor_merges, u_r)  # items 3 and 5: i < s


def _find_meeting(axes: JointAxes, joints: list[int]) -> tuple[int, int] | None:
    """Return (r, s) if the axes of all these joints meet in one point, else None."""
    r = joints[0]
    s = next(k for k in joints if not axes.are_parallel([r, k]))
    point = axes.o[s] - axes.u[s] * compute_height_above_meeting(axes.u, list(axes.o), r, s, s)
    return (r, s) if axes.pass_through(point, joints) else None


def compute_height_above_meeting(
    u: Float[np.ndarray, "links 3"], o: Sequence[np.ndarray], r: int, s: int, j: int
) -> Any:
    """Return the distance along the axis of joint j from the intersection of the axes of r and s to the origin of j."""
    normal = np.cross(u[r], u[s])
    # The inner product of ``along`` and the offset of s from r is the distance from r's origin to the intersection.
    along = np.cross(u[s], normal) / (normal @ normal)
    return inner(o[j] - o[r], u[j]) - inner(o[s] - o[r], along) * float(u[r] @ u[j])


def compute_frames_at_zero(mechanism: Mechanism) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the joint frames at q = 0: rotation and origin in base axes."""
    frames: list[tuple[np.ndarray, np.ndarray]] = []
    for body, (R, p) in zip(mechanism.bodies, compute_joint_frames(mechanism), strict=True):
        if body.parent is not None:
            R_parent, p_parent = frames[body.parent]
            R, p = dot(R_parent, R), p_parent + dot(R_parent, p)
        frames.append((R, p))
    return frames


def find_longest_offset(mechanism: Mechanism) -> float:
    """Return the longest offset of the geometry, the unit of length for tolerances; 1 if all offsets are zero."""
    offsets = (np.array(offset, dtype=float) for body in mechanism.bodies for offset in (body.p, body.s))
    return max((float(np.linalg.norm(offset)) for offset in offsets), default=0.0) or 1.0
