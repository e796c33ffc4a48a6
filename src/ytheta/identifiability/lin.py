"""Minimal linear combinations of the inertia parameters in closed form, after Lin.

Identity      tau = Y theta depends on theta through the combinations of Theorem 2 alone, and on each of them
Reference     [lin1995] sec. II, Theorem 2; (86), (87) for kappa
Accepts       trees of revolute and prismatic joints with any axes; loads; symbolic lengths; rotor inertia; any gravity.
              Outside: loops, couplings, motors that are no joint's own
Notation      code      paper        meaning
              m, k, U   m hat, k, U  constants of a composite body in its joint frame, see ``inertia_constants``
              u, o      u, s         axes and origins of the joints at q = 0, in base axes. Angles between axes matter
                                     only where all revolute joints between are parallel: q does not change them
              r, s                   the first revolute joint of a path, the first that is not parallel to it
              delta     delta_j      whether the first moment of a turning body is felt across its axis
              sigma     sigma_i      whether a slide moves its body to or from the axis of r
Differs from  the paper in:
              trees, where every body follows the rules along its own path and the constants of its children add up in
              it (what is kept of a body changes with its own q or qd, so nothing is shared between branches);
              delta from joint s on, where the paper always has 1: without gravity, where all axes up to joint j meet in
              one point, nothing moves that point and nothing pulls at the body; U13 and U23 are about that point then,
              and k_x, k_y are not felt;
              [1 - (u_r)_z^2] in item 5, as in (87); rotor inertia.

Why the set is minimal. theta is not felt exactly if its kinetic energy is zero and its potential energy constant, for
all q and qd. The energy of body j is that of the constants it passes on, as if fixed to its parent, and a rest that
changes with q or qd of joint j. With the parent's w, and v at the joint's origin, in the axes of joint j, that rest is

    revolute    U33 (qd^2/2 + qd w_z), (U11 - U22) w'_x^2/2, U12 w'_x w'_y, U13 w'_x w'_z, U23 w'_y w'_z,
                and for k_x, k_y  v . (w' x k) - g . k,   where w' is w turned by q, plus qd along z
    prismatic   m (qd^2/2 + qd v_z + q^2 |w x z|^2/2 + ... - g_z q)  and  k: q (w x z) . (w x k) + qd z . (w x k)

Theorem 2 lists which of these are zero if w is zero (before r), along u_r (before s), or free (from s on).

Rotor inertia adds Ia qd^2/2. No other joint, and of its own joint only U33 or m, has a qd^2 to make up for it. So it is
felt with that one as a sum where that one brings nothing else, and apart from it otherwise:

    revolute    w_z = 0 always: the revolute joints before are parallel to one another and perpendicular to joint j (two
                directions, one turned about the other, would reach z). So it is for r, and for s at a right angle.
    prismatic   |w x z|, v_z and g_z are 0 always: the revolute joints before are parallel to the slide, the slides
                before are perpendicular to it, and so is gravity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ytheta.conventions import parameter_name
from ytheta.dynamics.inertia_constants import Constants, inertia_constants, joint_frames
from ytheta.dynamics.mechanism import PER_LINK, Mechanism, exact_array, mechanism
from ytheta.dynamics.vectors import array, dot, inner, zeros
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identifiability.echelon import looking_order, reduced
from ytheta.robot.inertia import Inertia
from ytheta.robot.modified_dh import TOLERANCE
from ytheta.robot.parameters import length_exponents, select_parameters
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Shaped, Vector3

TURNING = ("U33", "U11-U22", "U12", "U13", "U23")
TENSOR = {"U12": (0, 1), "U13": (0, 2), "U23": (1, 2), "U33": (2, 2)}
MOMENT = {"kx": 0, "ky": 1, "kz": 2}
# Powers of length in the unit of a combination; the others are inertias and have two.
POWERS = {"m": 0, "kx": 1, "ky": 1, "kz": 1, "kappa1": 1, "kappa2": 1}
GOLDEN = (5**0.5 - 1) / 2
ROUNDED = 2e-5  # 3.1416 misses half a turn by 7.3e-6, 0.7071 a diagonal by 1.0e-5


@dataclass(frozen=True, eq=False)
class Combination:
    """One minimal linear combination: the link whose joint it belongs to, its name in Theorem 2, its coefficients.

    Names: U33, U11-U22, U12, U13, U23, kx, ky, kz, m, kappa1, kappa2 and, beyond the paper, Ia. ``row`` goes over
    ``robot.parameter_names`` and holds floats, or SymPy expressions in the robot's symbolic lengths.
    """

    link: str
    name: str
    row: Shaped[np.ndarray, "params"]


def accepts(robot: Robot) -> str | None:
    """None, or the reason why not."""
    if robot.loops:
        return f"robot {robot.name!r} has closed loops, for which Theorem 2 has no rule; method qr takes it"
    if robot.couplings:
        first = robot.couplings[0].joint
        return (
            f"robot {robot.name!r} has a coupled joint, {first!r}, for which Theorem 2 has no rule; method qr takes it"
        )
    if robot.motors:
        return f"robot {robot.name!r} has a motor that is no joint's own, {robot.motors[0].name!r}; method qr takes it"
    if not robot.movable:
        return f"robot {robot.name!r} has no moving joint, so no motion reveals anything of it"
    numbers = _numbers(robot)
    exactly, nearly = (list(_groups(numbers, _geometry(numbers, slack))) for slack in (TOLERANCE, ROUNDED))
    for (j, one), (_, other) in zip(exactly, nearly, strict=True):
        if (one.names, one.rotor_merges) != (other.names, other.rotor_merges):
            return (
                f"on the way to link {numbers.bodies[j].name!r} of robot {robot.name!r} axes or gravity are parallel, "
                f"perpendicular or meeting but for less than {ROUNDED:g}, and rules would take that rounding for "
                "geometry; method qr takes it"
            )
    return None


def base_parameters(robot: Robot, *, rotor_inertia: bool = False) -> BaseParameters:
    """The base parameters among all link parameters and, where asked for, all rotor inertias."""
    numbers, combinations = _combinations(robot, rotor_inertia=rotor_inertia)
    asked = select_parameters(robot, rotor_inertia=rotor_inertia)
    rows = np.array([each.row for each in combinations], dtype=object)
    if robot.symbols:
        from ytheta.identifiability.exact import length_field  # SymPy, for robots that need it only

        evaluated = length_field.evaluated(rows, _lengths(robot))
        independent, _ = _reduced(numbers, combinations, evaluated, asked)
        entries = length_field.solved(rows, independent, sorted(robot.symbols))
    else:
        independent, entries = _reduced(numbers, combinations, rows.astype(float), asked)
    heads = tuple(robot.parameter_names[k] for k in independent)
    return BaseParameters(robot, "lin", heads, entries.astype(object), asked)


def minimal_combinations(robot: Robot, *, rotor_inertia: bool = False) -> tuple[Combination, ...]:
    """The combinations of Theorem 2, joint by joint, in the paper's own form."""
    return _combinations(robot, rotor_inertia=rotor_inertia)[1]


def _combinations(robot: Robot, *, rotor_inertia: bool) -> tuple[Mechanism, tuple[Combination, ...]]:
    """The robot in numbers, and its combinations."""
    reason = accepts(robot)
    if reason is not None:
        raise InputError(reason)
    numbers = arm = _numbers(robot)
    theta, read = _unit_forms(PER_LINK * len(numbers.bodies)), _same
    if robot.symbols:
        from ytheta.identifiability.exact import length_field

        field = length_field.LengthField(tuple(sorted(robot.symbols)), len(theta))
        arm, theta, read = mechanism(_bare(robot), lengths=field.lengths), field.theta, field.row
    names, geometry = robot.parameter_names, _geometry(numbers)
    constants = inertia_constants(arm, theta)
    found: list[Combination] = []
    for j, group in _groups(numbers, geometry):
        own = constants[j]
        if group.meeting is not None:
            place = array([0, 0, _height(geometry.u, [o for _, o in _at_home(arm)], *group.meeting, j)])
            own = own.seen_from(exact_array(np.eye(3).tolist()), place)
        rows = {name: zeros(len(names)) for name in group.names}
        for name, row in rows.items():
            row[: len(theta)] = read(_form(name, own, group.u_r))
        if rotor_inertia:
            head = group.names[0] if group.rotor_merges else "Ia"
            rotor = parameter_name(arm.robot.joints[j].name, "Ia")
            rows.setdefault(head, zeros(len(names)))[names.index(rotor)] = 1
        found += [Combination(arm.bodies[j].name, name, row) for name, row in rows.items()]
    return numbers, tuple(found)


def _bare(robot: Robot) -> Robot:
    """Masses do not matter, and merging those of fixed links would ask for the values of all lengths."""
    return robot.with_inertias({link.name: Inertia() for link in robot.links})


def _numbers(robot: Robot) -> Mechanism:
    return mechanism(_bare(robot), lengths=_lengths(robot))


# --- the joints of Theorem 2 ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Group:
    """What is felt of the composite body behind one joint.

    ``names`` as in Theorem 2, the one with qd^2 first; ``rotor_merges`` tells whether rotor inertia is felt in a sum
    with that one. ``u_r`` is the axis of r in the joint frame. ``meeting`` are r and s, if the first moment is not felt
    since all axes meet where theirs do.
    """

    names: tuple[str, ...]
    rotor_merges: bool
    u_r: Vector3
    meeting: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class _Geometry:
    """The joint frames R, o at q = 0 and gravity, seen from the base, in numbers; what is below ``slack`` is zero."""

    R: Float[np.ndarray, "links 3 3"]
    o: Float[np.ndarray, "links 3"]
    g: Vector3
    size: float
    slack: float

    @property
    def u(self) -> Float[np.ndarray, "links 3"]:
        return self.R[:, :, 2]

    def parallel(self, joints: Sequence[int]) -> bool:
        """Whether some axes are parallel to one another."""
        return all(np.linalg.norm(np.cross(self.u[joints[0]], self.u[k])) <= self.slack for k in joints)

    def perpendicular(self, joints: Sequence[int], j: int) -> bool:
        return all(abs(self.u[k] @ self.u[j]) <= self.slack for k in joints)

    def meet(self, point: Vector3, joints: Sequence[int]) -> bool:
        """Whether some axes go through a point."""
        return all(np.linalg.norm(np.cross(point - self.o[k], self.u[k])) <= self.slack * self.size for k in joints)

    def gravity_along(self, j: int) -> bool:
        return bool(np.linalg.norm(np.cross(self.g, self.u[j])) <= self.slack * np.linalg.norm(self.g))

    def gravity_across(self, j: int) -> bool:
        return bool(abs(self.g @ self.u[j]) <= self.slack * np.linalg.norm(self.g))


def _groups(numbers: Mechanism, geometry: _Geometry) -> Iterator[tuple[int, _Group]]:
    """The bodies behind moving joints, each with its group."""
    for j, body in enumerate(numbers.bodies):
        before = [k for k in numbers.path(j)[:-1] if numbers.bodies[k].joint is not None]
        turns = [k for k in before if numbers.bodies[k].revolute]
        slides = [k for k in before if not numbers.bodies[k].revolute]
        if body.joint is not None:
            yield j, (_turning if body.revolute else _sliding)(geometry, j, turns, slides)


def _turning(geometry: _Geometry, j: int, turns: list[int], slides: list[int]) -> _Group:
    rotor_merges = geometry.parallel(turns) and geometry.perpendicular(turns, j)
    u_r = geometry.R[j].T @ geometry.u[[*turns, j][0]]
    if geometry.parallel([*turns, j]):  # item 1: r <= j < s
        still = geometry.parallel([*turns, *slides, j]) and geometry.meet(geometry.o[j], turns)
        delta = not (still and geometry.gravity_along(j))
        return _Group(("U33", "kx", "ky") if delta else ("U33",), rotor_merges, u_r)
    meeting = None if slides or geometry.g.any() else _meeting(geometry, [*turns, j])
    return _Group(TURNING if meeting else (*TURNING, "kx", "ky"), rotor_merges, u_r, meeting)  # item 2


def _sliding(geometry: _Geometry, i: int, turns: list[int], slides: list[int]) -> _Group:
    u_r = geometry.R[i].T @ geometry.u[[*turns, i][0]]
    if not geometry.parallel(turns):  # items 3 and 4: i > s
        return _Group(("m", "kx", "ky", "kz"), False, u_r)
    sigma = not geometry.parallel([*turns, i])
    rotor_merges = not sigma and geometry.perpendicular(slides, i) and geometry.gravity_across(i)
    return _Group(("m", "kappa1", "kappa2") if sigma else ("m",), rotor_merges, u_r)  # items 3 and 5: i < s


def _meeting(geometry: _Geometry, joints: list[int]) -> tuple[int, int] | None:
    """r and s, if all axes meet in one point."""
    r = joints[0]
    s = next(k for k in joints if not geometry.parallel([r, k]))
    point = geometry.o[s] - geometry.u[s] * _height(geometry.u, list(geometry.o), r, s, s)
    return (r, s) if geometry.meet(point, joints) else None


def _height(u: Float[np.ndarray, "links 3"], o: Sequence[np.ndarray], r: int, s: int, j: int) -> Any:
    """How far along its axis the origin of joint j is from where the axes of r and s meet."""
    normal = np.cross(u[r], u[s])
    along = np.cross(u[s], normal) / (normal @ normal)  # from r's origin to the meeting point, per offset of s
    return inner(o[j] - o[r], u[j]) - inner(o[s] - o[r], along) * float(u[r] @ u[j])


def _geometry(numbers: Mechanism, slack: float = TOLERANCE) -> _Geometry:
    frames = _at_home(numbers)
    R, o = (np.array([frame[k] for frame in frames], dtype=float) for k in (0, 1))
    return _Geometry(R, o, np.array(numbers.gravity, dtype=float), _size(numbers), slack)


def _at_home(arm: Mechanism) -> list[tuple[np.ndarray, np.ndarray]]:
    """The joint frames at q = 0 seen from the base."""
    places: list[tuple[np.ndarray, np.ndarray]] = []
    for body, (R, p) in zip(arm.bodies, joint_frames(arm), strict=True):
        if body.parent is not None:
            above, place = places[body.parent]
            R, p = dot(above, R), place + dot(above, p)
        places.append((R, p))
    return places


def _size(numbers: Mechanism) -> float:
    """The longest step of the geometry, the measure of what is no length; 1 where there is none."""
    steps = (np.array(step, dtype=float) for body in numbers.bodies for step in (body.p, body.s))
    return max((float(np.linalg.norm(step)) for step in steps), default=0.0) or 1.0


# --- the rows -------------------------------------------------------------------------------------------------------


def _form(name: str, own: Constants, u_r: Vector3) -> Any:
    """One combination of a body's constants, as a linear form."""
    k, U = own.k, own.U
    if name == "m":
        return own.m[0]
    if name in MOMENT:
        return k[MOMENT[name]]
    if name in TENSOR:
        return U[TENSOR[name]]
    if name == "U11-U22":
        return U[0, 0] - U[1, 1]
    x, y, z = (float(entry) for entry in u_r)
    if name == "kappa1":
        return k[1] * x - k[0] * y  # (86)
    return k[2] * (1.0 - z * z) - k[0] * (z * x) - k[1] * (z * y)  # (87)


def _unit_forms(count: int) -> Shaped[np.ndarray, "link_params"]:
    """The parameters as linear forms of themselves: entry k is row k of the unit matrix."""
    forms = zeros(count)
    for k, row in enumerate(np.eye(count)):
        forms[k] = row
    return forms


def _same(form: Float[np.ndarray, "link_params"]) -> Float[np.ndarray, "link_params"]:
    return form


def _lengths(robot: Robot) -> dict[str, float]:
    """Numbers for all symbolic lengths: their values, and where they have none, numbers that no geometry brings."""
    known = dict(robot.lengths)
    unlike = {name: 0.5 + GOLDEN * k % 1.0 for k, name in enumerate(sorted(robot.symbols), start=1)}
    return {name: other if (value := known.get(name)) is None else value for name, other in unlike.items()}


def _reduced(
    numbers: Mechanism,
    combinations: Sequence[Combination],
    rows: Float[np.ndarray, "base params"],
    asked: Sequence[str],
) -> tuple[list[int], Float[np.ndarray, "base params"]]:
    """Independent parameters and K. Their number is known: no combination depends on the others.

    Each holds parameters of its own link, none of links before, with factors of about one; in units of the robot's size
    so are those of the links behind.
    """
    L = _size(numbers)
    units = L ** length_exponents(numbers.robot)
    own = np.array([L ** POWERS.get(each.name, 2.0) for each in combinations])
    rotors = [k for k, each in enumerate(combinations) if each.name == "Ia"]  # a mass or an inertia, by its joint
    own[rotors] = units[np.argmax(rows[rotors], axis=1)] if rotors else 1.0
    order = looking_order(numbers.robot, asked)
    independent, K = reduced(rows * units / own[:, None], order, len(rows))
    return independent, K * units[independent][:, None] / units
