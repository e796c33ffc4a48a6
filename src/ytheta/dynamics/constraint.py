"""The constraints of a robot's loops: x = U(Q), xd = E Qd, xdd = E Qdd + Edot Qd, without constraint forces.

``build_constraint`` makes the constraint of a robot; ``compute_drive_motion`` computes the motion of all joints and
drives from that of the actuated coordinates.

Identity      c(U(Q)) = 0 for the closure equations c of all cut joints; tau = E^T rho by virtual work
Reference     [walker1988] sec. 2.3, (4)-(9)
Accepts       loops cut at joints of any kind, with couplings q = A x + b; robots without loops have E = 1
Notation      code      paper   meaning                                                   shape
              x         q       coordinates of the robot, passive and actuated            coordinates
              Q         Q       actuated coordinates                                      actuated
              E         E       [1; -Jp^-1 Ja], rows in the order of x                    coordinates x actuated
              Jp, Ja            derivatives of c by passive and by actuated coordinates   passive x …
Differs from  the paper in: E and Edot come from the equations, by automatic differentiation (the paper's epsilon
              algebra), not from a solution U programmed by hand: Jp Edot_p = -(Jdot E). Redundant equations, such as
              those of a planar loop, are left out (see ``build_constraint``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.conventions import JOINT_PARAMETERS
from ytheta.dynamics.elimination import extract_entries, find_blocks, solve
from ytheta.dynamics.mechanism import Mechanism, Motion, build_mechanism, casadi_base_rotation, exact_array, scalars
from ytheta.dynamics.vectors import array, dot, zeros
from ytheta.errors import ClosureError
from ytheta.robot.loops.closure import close_loops
from ytheta.robot.loops.cut_joint import CutJoint, locate_cut_joint
from ytheta.robot.loops.equations import (
    RANK_TOLERANCE,
    close_near,
    compute_closure_jacobians,
    compute_closure_residuals,
    find_loop_coordinates,
)
from ytheta.robot.parts import Drive, JointKind
from ytheta.robot.robot import Robot
from ytheta.shapes import (
    AnyMatrix3,
    AnyPerActuated,
    AnyPerCoordinate,
    AnyPerDrive,
    Float,
    Int,
    PerCoordinate,
    SamplesByCoordinate,
    Shaped,
    freeze,
)

if TYPE_CHECKING:
    import casadi

WARM_START_STEPS = 3  # number of Newton steps from the coordinates of the previous time step; each squares the error


@dataclass(frozen=True, eq=False)
class Affine:
    """U in closed form, which exists for parallelograms: x = E Q + offset for every Q."""

    E: Float[np.ndarray, "coordinates actuated"]
    offset: Float[np.ndarray, " coordinates"]


@dataclass(frozen=True, eq=False)
class LoopConstraint:
    """The closure equations of a robot's loops, in symbols x of its coordinates. Made by ``build_constraint``.

    ``actuated`` and ``passive`` are indices into x. ``equations`` are independent closure equations, as many as there
    are passive coordinates. The loops are closed at the coordinates ``home``. Without loops there are no cut joints and
    no equations, and x is Q. ``base_rotation`` replaces the rotation of a floating base that x contains.
    """

    mechanism: Mechanism
    x: casadi.SX
    actuated: tuple[int, ...]
    passive: tuple[int, ...]
    home: Float[np.ndarray, " coordinates"]
    cuts: tuple[CutJoint, ...] = field(repr=False)
    equations: casadi.SX = field(repr=False)
    affine: Affine | None = None
    base_rotation: AnyMatrix3 | None = None

    @property
    def robot(self) -> Robot:
        """The robot, with numeric lengths and without fixed joints."""
        return self.mechanism.robot

    @cached_property
    def A(self) -> Shaped[np.ndarray, "joints coordinates"]:
        """The matrix A of the couplings, q = A x + b."""
        factors, _ = self.robot.coupling_map
        return _keep_structure(factors)

    @cached_property
    def motors(self) -> Shaped[np.ndarray, "motors coordinates"]:
        """The matrix that maps xd to the velocities of the motors."""
        factors, _ = self.robot.motor_map
        return _keep_structure(factors)

    @cached_property
    def E(self) -> Shaped[np.ndarray, "coordinates actuated"]:
        """dx/dQ at closed coordinates x."""
        if self.affine is not None:
            return exact_array(self.affine.E.tolist())
        E = zeros(len(self.home), len(self.actuated))
        for k, row in enumerate(self.actuated):
            E[row, k] = 1
        if self.passive:
            E[list(self.passive)] = -solve(self._Jp, self._J[:, list(self.actuated)])
        return E

    @cached_property
    def driving(self) -> tuple[int, ...]:
        """The indices of the actuated coordinates that move loops."""
        return tuple(k for k in self.actuated if any(type(e) is not int or e for e in self._J[:, k]))

    def Edot_times(self, xd: AnyPerCoordinate, y: AnyPerCoordinate) -> AnyPerCoordinate:
        """Edot V for y = E V, where Edot is the derivative of E along xd.

        If V = Qd, this is the acceleration of all coordinates for zero acceleration of the actuated coordinates.
        """
        import casadi

        result = zeros(len(self.home))
        if self.affine is None and self.passive:
            constant = casadi.SX.sym("y", len(y))  # stands for y, so that y is not differentiated
            derivative = casadi.jtimes(casadi.jtimes(self.equations, self.x, constant), self.x, column(xd))
            Jdot_y = scalars(casadi.densify(casadi.substitute(derivative, constant, column(y))))
            result[list(self.passive)] = -solve(self._Jp, Jdot_y[:, None])[:, 0]
        return result

    @cached_property
    def cut_rates(self) -> Shaped[np.ndarray, "cuts coordinates"]:
        """The matrix that maps xd to the velocities of revolute and prismatic cut joints, at closed coordinates x."""
        rows = [zeros(0, len(self.home))]
        for cut in self.cuts:
            if cut.joint.kind is JointKind.REVOLUTE:
                rows.append(dot(extract_entries(column(cut.rate(len(self.A))).T), self.A))
            elif cut.joint.kind is JointKind.PRISMATIC:
                rows.append(extract_entries(_differentiate(cut.displacement, self.x)))
        return np.concatenate(rows)

    @cached_property
    def cut_positions(self) -> Shaped[np.ndarray, "cuts"]:
        """Positions of revolute and prismatic cut joints; angles are between -pi and pi."""
        import casadi

        moving = [cut for cut in self.cuts if cut.joint.moves]
        positions = zeros(len(moving))
        for k, cut in enumerate(moving):
            revolute = cut.joint.kind is JointKind.REVOLUTE
            positions[k] = casadi.atan2(*cut.sine_cosine) if revolute else casadi.SX(cut.displacement)
        return positions

    @cached_property
    def residual_and_step(self) -> casadi.Function:
        """x → c and the Newton step Jp^-1 c.

        Subtracting the step from the passive coordinates closes the loops to first order.
        """
        import casadi

        step = solve(self._Jp, scalars(self.equations)[:, None])[:, 0]
        return casadi.Function("residual_and_step", [self.x], [self.equations, column(step)], {"cse": True})

    def take_newton_step(self, x: casadi.SX) -> casadi.SX:
        """Coordinates after one Newton step of the passive ones; the exact solution if U has a closed form."""
        import casadi

        if self.affine is not None:
            return casadi.SX(self.affine.E) @ x[list(self.actuated)] + casadi.SX(self.affine.offset)
        if not self.passive:
            return x
        _, step = self.residual_and_step(x)
        closed = casadi.SX(x)
        for k, index in enumerate(self.passive):
            closed[index] -= step[k]
        return closed

    def close_near(self, Q: casadi.SX, near: casadi.SX) -> casadi.SX:
        """Coordinates at which the loops are closed and the actuated coordinates are Q.

        Newton's method starts from the coordinates ``near`` (warm start). A graph cannot damp steps or repeat them
        until they converge, as ``solver`` does. The graph takes a fixed number, and the caller checks the result.
        """
        import casadi

        if not self.cuts:
            return Q
        x = casadi.SX(near)
        for k, index in enumerate(self.actuated):
            x[index] = Q[k]
        for _ in range(1 if self.affine is not None else WARM_START_STEPS):
            x = self.take_newton_step(x)
        return x

    @cached_property
    def closure_state(self) -> casadi.Function:
        """x → gap of each loop, condition number of Jp in the Frobenius norm, and Jp column by column."""
        import casadi

        inverse = solve(self._Jp, exact_array(np.eye(len(self.passive)).tolist()))
        Jp = column(self._Jp.ravel(order="F"))
        condition = casadi.norm_2(Jp) * casadi.norm_2(column(inverse.ravel()))
        gaps = casadi.vertcat(*(casadi.norm_2(column(cut.residual)) for cut in self.cuts))
        return casadi.Function("closure_state", [self.x], [gaps, condition, Jp], {"cse": True})

    @cached_property
    def blocks(self) -> list[tuple[list[int], list[int]]]:
        """Rows and columns of the diagonal blocks of Jp; in most mechanisms each block is one loop."""
        return find_blocks(self._Jp)

    @cached_property
    def tangent(self) -> casadi.Function:
        """x → E."""
        import casadi

        E = casadi.reshape(column(self.E.ravel(order="F")), *self.E.shape)
        return casadi.Function("tangent", [self.x], [E], {"cse": True})

    @cached_property
    def _J(self) -> Shaped[np.ndarray, "passive coordinates"]:
        return extract_entries(_differentiate(self.equations, self.x))

    @property
    def _Jp(self) -> Shaped[np.ndarray, "passive passive"]:
        return self._J[:, list(self.passive)]


def compute_joint_positions(robot: Robot, x: AnyPerCoordinate) -> tuple[Shaped[np.ndarray, " joints"], ...]:
    """Joint positions q = A x + b, their cosines and their sines, for CasADi scalars."""
    import casadi

    factors, offset = robot.coupling_map
    q = dot(_keep_structure(factors), x) + exact_array(offset.tolist()) if len(offset) else zeros(0)
    cos, sin = (array([f(entry) for entry in q]) if len(q) else q for f in (casadi.cos, casadi.sin))
    return q, cos, sin


def column(values: Sequence[Any] | np.ndarray) -> casadi.SX:
    """The dense CasADi column vector of scalars."""
    import casadi

    return casadi.densify(casadi.vertcat(casadi.SX(0, 1), *values))


def _keep_structure(factors: Float[np.ndarray, "rows columns"]) -> Shaped[np.ndarray, "rows columns"]:
    """The same matrix with integers for the values 0, 1 and -1, so that products with them are left out of a graph."""
    return exact_array(factors.tolist()) if factors.size else zeros(*factors.shape)


def _differentiate(expression: Any, x: casadi.SX) -> casadi.SX:
    import casadi

    return casadi.jacobian(casadi.SX(expression), x)


# Construction of a ``LoopConstraint``: the choice of independent equations, and the search for a closed form.


# Offsets of an actuated coordinate from home, radians or metres, of which the largest at which the loops close is used.
# Chosen on: rule of thumb.
TEST_OFFSETS = (0.3, 0.1, 0.03)
# Largest change of a coordinate, radians or metres, when the loops of a test pose are closed; poses with a larger one
# are not used. Chosen on: rule of thumb.
MAX_CHANGE = 2.0
# Largest gap of the loops, metres and radians, that a closed form may leave. Chosen on: rule of thumb.
CLOSED_FORM_TOLERANCE = 1e-12
# Largest difference between the values of E at all poses at which E is constant. Entries of a constant E that differ
# from an integer by less are rounded to it, and smaller offsets are set to zero. Chosen on: rule of thumb.
INTEGER_TOLERANCE = 1e-9


def build_constraint(robot: Robot) -> LoopConstraint:
    """Build the constraint of a robot.

    Raise ClosureError if the loops do not close at home, or if the actuated coordinates do not determine the others.
    """
    import casadi

    mech = build_mechanism(robot)
    numeric = mech.robot
    x = casadi.SX.sym("x", len(numeric.coordinates))
    indices = {name: k for k, name in enumerate(numeric.coordinates)}
    if not numeric.loops:
        return LoopConstraint(mech, x, tuple(indices.values()), (), numeric.home_coordinates, (), casadi.SX(0, 1))
    actuated = tuple(indices[name] for name in numeric.actuated)
    passive = tuple(indices[name] for name in numeric.passive)
    numbers = _compute_numbers(numeric)
    positions = compute_joint_positions(numeric, scalars(x))
    cuts = tuple(locate_cut_joint(numeric, loop, *positions) for loop in numeric.loops)
    equations = column(np.concatenate([cut.residual for cut in cuts]))
    independent = equations[list(numbers.independent)]
    return LoopConstraint(mech, x, actuated, passive, numbers.home, cuts, independent, numbers.affine)


@dataclass(frozen=True, eq=False)
class _Numbers:
    """The closed home configuration, the indices of the equations to use, and the closed form if there is one."""

    home: PerCoordinate
    independent: tuple[int, ...]
    affine: Affine | None


@lru_cache(maxsize=32)  # every kernel of a robot needs them, and they take longer than the symbols
def _compute_numbers(robot: Robot) -> _Numbers:
    closure = close_loops(robot).or_raise()
    poses = _close_around(robot, np.array([closure.coordinates[name] for name in robot.coordinates]))
    actuated, passive = ([robot.coordinates.index(name) for name in names] for names in (robot.actuated, robot.passive))
    J = compute_closure_jacobians(robot, poses)
    smallest = _compute_smallest_singular_values(J[:, :, passive])
    J, smallest = J[smallest > RANK_TOLERANCE], smallest[smallest > RANK_TOLERANCE]  # singular poses are left out
    independent = _choose_independent(J[:, :, passive], smallest)
    E = np.zeros((len(J), len(robot.coordinates), len(actuated)))
    E[:, actuated] = np.eye(len(actuated))
    E[:, passive] = -np.linalg.solve(J[:, independent][:, :, passive], J[:, independent][:, :, actuated])
    return _Numbers(freeze(poses[0]), tuple(independent), _find_closed_form(robot, poses[0], E))


def _close_around(robot: Robot, home: PerCoordinate) -> SamplesByCoordinate:
    """The home configuration, and closed poses around home with each driving coordinate moved in both directions.

    Driving coordinates are the actuated ones of joints in loops; all others change no equation.
    """
    in_loops = find_loop_coordinates(robot)
    driving = [robot.coordinates.index(name) for name in robot.actuated if name in in_loops]
    passive = [robot.coordinates.index(name) for name in robot.passive]
    units = np.eye(len(home))[driving]
    offsets = np.array([sign * offset * unit for unit in units for sign in (1, -1) for offset in TEST_OFFSETS])
    starts = np.concatenate([home[None], home + offsets.reshape(-1, len(home))])
    x, closed = close_near(robot, starts, passive)
    if not closed[0]:
        raise ClosureError(f"the loops of robot {robot.name!r} do not close at home; correct its [home]")
    usable = closed & (np.abs(x - starts).max(axis=1) < MAX_CHANGE)
    poses = [x[0]]
    for first in range(1, len(x), len(TEST_OFFSETS)):
        poses += [x[k] for k in range(first, first + len(TEST_OFFSETS)) if usable[k]][:1]
    return np.array(poses)


def _choose_independent(
    jacobians: Float[np.ndarray, "poses equations passive"], smallest: Float[np.ndarray, " poses"]
) -> list[int]:
    """Choose as many equations as there are passive coordinates; they should be independent at all poses.

    ``jacobians`` are the derivatives of all equations by the passive coordinates, and ``smallest`` their smallest
    singular values. A pivoted QR factorization at each pose gives one candidate. At each pose, the smallest singular
    value of the candidate's equations is divided by the smallest singular value of all equations. The strength of a
    candidate is the smallest of these ratios. Return the row indices of the candidate with the largest strength.
    """

    def compute_strength(rows: tuple[int, ...]) -> float:
        return float((_compute_smallest_singular_values(jacobians[:, rows]) / smallest).min())

    candidates = dict.fromkeys(tuple(sorted(rows)) for rows in _pivot_rows(jacobians).tolist())
    strongest = max(candidates, key=compute_strength)
    return list(strongest)


def _pivot_rows(matrices: Float[np.ndarray, "poses rows columns"]) -> Int[np.ndarray, "poses columns"]:
    """Choose as many independent rows of each matrix as it has columns: each time the row with the largest remainder.

    The remainder is orthogonal to the rows chosen before; so a QR factorization with column pivoting chooses too.
    """
    remainder = matrices.copy()
    every = np.arange(len(matrices))
    chosen = np.zeros((len(matrices), matrices.shape[2]), dtype=int)
    for k in range(matrices.shape[2]):
        chosen[:, k] = np.argmax(np.sum(remainder**2, axis=2), axis=1)
        row = remainder[every, chosen[:, k]]
        row = row / np.linalg.norm(row, axis=1)[:, None]
        remainder -= (remainder @ row[:, :, None]) * row[:, None, :]
        remainder[every, chosen[:, k]] = 0.0
    return chosen


def _compute_smallest_singular_values(matrices: Float[np.ndarray, "poses rows columns"]) -> Float[np.ndarray, " poses"]:
    values: Float[np.ndarray, " poses"] = np.linalg.svd(matrices, compute_uv=False)[:, -1]
    return values


def _find_closed_form(
    robot: Robot, home: PerCoordinate, tangents: Float[np.ndarray, "poses coordinates actuated"]
) -> Affine | None:
    """U in closed form if E is the same at all poses and U closes the loops far from home too, else None."""
    E = np.where(np.abs(tangents[0] - np.rint(tangents[0])) < INTEGER_TOLERANCE, np.rint(tangents[0]), tangents[0])
    if np.abs(tangents - E).max() > INTEGER_TOLERANCE:
        return None
    offset = home - E @ home[[robot.coordinates.index(name) for name in robot.actuated]]
    offset = np.where(np.abs(offset) < INTEGER_TOLERANCE, 0.0, offset)
    Q = _spread_samples(len(robot.actuated))
    gaps = np.linalg.norm(compute_closure_residuals(robot, Q @ E.T + offset), axis=1)
    return Affine(E, offset) if gaps.max() < CLOSED_FORM_TOLERANCE else None


def _spread_samples(size: int, count: int = 64) -> Float[np.ndarray, "samples actuated"]:
    """Samples that fill the cube from -3 to 3 evenly: multiples of irrational numbers modulo 1, scaled."""
    steps = np.sqrt(np.arange(2.0, 2.0 + size) + 0.1)
    values: Float[np.ndarray, "samples actuated"] = 6.0 * ((np.arange(1, count + 1)[:, None] * steps) % 1.0) - 3.0
    return values


# The motion of joints and drives that follows from the motion of the actuated coordinates.
#
# Identity      qd = A E Qd, qdd = A (E Qdd + Edot Qd) for joints; likewise for moving cut joints and motors
# Reference     [walker1988] sec. 2.3, (4)-(9)
# Accepts       every robot; without loops and couplings no operation is added
# Notation      code              meaning                                                       shape
#               E                 dx/dQ of the constraint; identity without loops               coordinates x actuated
#               joint_jacobian    dq/dQ = A E                                                   joints x actuated
#               drive_jacobian    velocities of joints, moving cut joints, motors per unit Qd   drives x actuated
#
# Control laws of the Slotine-Li kind need Y(x, Qd, V, Vd) with a reference velocity V. The joints then have v = A E V
# and vd = A (E Vd + Edot V), where Edot is computed with the actual velocity Qd, not with V. The torque of a rotor
# inertia uses the acceleration that follows from V and Vd, and viscous friction uses the *reference* velocity. Both
# torques are then linear in V and Vd, like M vd + C v. Coulomb friction opposes the real motion and uses the *real*
# velocity.
#
# The factor of Coulomb friction is the sign of the velocity qd of the drive. If the drive has a ``coulomb_speed`` s,
# the factor is qd / sqrt(qd^2 + s^2) instead, a smooth function that approaches the sign at speeds far above s. Square
# root and division are SIMD instructions, whereas tanh would need one function call per SIMD lane.
#
# Friction that grows with the root of the speed has this factor too, times sqrt(|qd|): like Coulomb friction, it is not
# linear in the velocity and uses the *real* velocity. If the drive has a ``friction_speed``, the velocities of viscous
# friction and of the square root are clipped to it. Load-dependent friction needs a torque, see ``symbolic_model``.
# ``robot.parts`` computes the same laws in NumPy.


@dataclass(frozen=True, eq=False)
class DriveMotion:
    """The motion of the joints, and the real velocity, reference velocity and acceleration of every drive.

    Drives are in the order of ``robot.moving``: joints, moving cut joints, motors. ``driven`` are the rows of joints
    with drives; those of a floating base come before them, and those of sensors after them.
    """

    joints: Motion
    joint_jacobian: Shaped[np.ndarray, "joints actuated"]
    drive_jacobian: Shaped[np.ndarray, "drives actuated"]
    velocity: AnyPerDrive
    reference_velocity: AnyPerDrive
    acceleration: AnyPerDrive
    drives: tuple[Drive, ...]
    driven: slice

    @property
    def parameter_factors(self) -> Shaped[np.ndarray, "drives 4"]:
        """The factors of Ia, fv, fc, fo in the torque of each drive: acceleration, velocity, sign of velocity, 1."""
        factors = zeros(len(self.velocity), len(JOINT_PARAMETERS))
        factors[:, 0], factors[:, 3] = self.acceleration, 1
        factors[:, 1], factors[:, 2] = self.clip_velocities(self.reference_velocity), self.directions
        return factors

    @property
    def directions(self) -> AnyPerDrive:
        """The sign of the velocity of each drive, smoothed as its Coulomb friction."""
        pairs = zip(self.velocity, self.drives, strict=True)
        return array([compute_sign(velocity, drive.coulomb_speed) for velocity, drive in pairs])

    @property
    def root_factors(self) -> AnyPerDrive:
        """The factor of fs in the torque of each drive; 0 for drives without this law."""
        rows = zip(self.directions, self.clip_velocities(self.velocity), self.drives, strict=True)
        return array([0 if d.root is None else compute_root(sign, velocity) for sign, velocity, d in rows])

    def clip_velocities(self, velocity: AnyPerDrive) -> AnyPerDrive:
        """Return these velocities of the drives, clipped to the speeds up to which their friction was measured."""
        pairs = zip(velocity, self.drives, strict=True)
        return array([clip_velocity(entry, drive.max_curve_speed) for entry, drive in pairs])


def compute_drive_motion(
    constraint: LoopConstraint, Qd: AnyPerActuated, Vd: AnyPerActuated, V: AnyPerActuated | None = None
) -> DriveMotion:
    """Compute the motion of joints and drives at the closed coordinates ``constraint.x``.

    Qd is the real velocity, V the reference velocity (None means Qd), and Vd the derivative of V.
    """
    A, E, cuts, motors = constraint.A, constraint.E, constraint.cut_rates, constraint.motors
    xd = dot(E, Qd)
    y = xd if V is None else dot(E, V)
    xdd = dot(E, Vd) + constraint.Edot_times(xd, y)
    qd, vd = dot(A, xd), dot(A, xdd)
    v = qd if V is None else dot(A, y)
    q, cos, sin = compute_joint_positions(constraint.robot, scalars(constraint.x))
    base = len(constraint.robot.base_coordinates)
    driven = slice(base, base + len(constraint.robot.movable))
    velocity = np.concatenate([qd[driven], dot(cuts, xd), dot(motors, xd)])
    joint_jacobian = dot(A, E)
    rotation = constraint.base_rotation
    if base and rotation is None:
        rotation = casadi_base_rotation(q)
    cut_acceleration = dot(cuts, xdd) + _compute_cut_bias(constraint, xd, y)
    return DriveMotion(
        joints=Motion(q, cos, sin, qd, v, vd, rotation),
        joint_jacobian=joint_jacobian,
        drive_jacobian=np.concatenate([joint_jacobian[driven], dot(cuts, E), dot(motors, E)]),
        velocity=velocity,
        reference_velocity=velocity if V is None else np.concatenate([v[driven], dot(cuts, y), dot(motors, y)]),
        acceleration=np.concatenate([vd[driven], cut_acceleration, dot(motors, xdd)]),
        drives=tuple(drive for _, drive in constraint.robot.drives),
        driven=driven,
    )


def compute_sign(velocity: Any, speed: float) -> Any:
    """The sign of a velocity, or the smooth function velocity / sqrt(velocity^2 + speed^2) if ``speed`` is not 0."""
    import casadi

    if type(velocity) is int:  # zero by structure: a drive at rest
        return velocity
    return velocity / casadi.sqrt(velocity * velocity + speed * speed) if speed else casadi.sign(velocity)


def clip_velocity(velocity: Any, max_speed: float) -> Any:
    """The velocity, at most ``max_speed`` in size."""
    import casadi

    if type(velocity) is int or math.isinf(max_speed):
        return velocity
    return casadi.fmin(casadi.fmax(velocity, -max_speed), max_speed)


def compute_root(sign: Any, velocity: Any) -> Any:
    """The root of the size of a velocity, times the sign of the motion."""
    import casadi

    if type(velocity) is int:
        return velocity
    return sign * casadi.sqrt(casadi.fabs(velocity))


def _compute_cut_bias(constraint: LoopConstraint, xd: np.ndarray, y: np.ndarray) -> Shaped[np.ndarray, " cuts"]:
    """The time derivative of ``cut_rates`` along xd, times y. This product is zero in planar mechanisms."""
    import casadi

    rows = constraint.cut_rates
    constant = casadi.SX.sym("y", len(y))
    rates = column(dot(rows, scalars(constant)))
    change = casadi.jtimes(rates, constraint.x, column(xd))
    bias = casadi.densify(casadi.substitute(change, constant, column(y)))
    return array([0 if entry.is_zero() else entry for entry in scalars(bias)] or [0])[: len(rows)]
