"""The equations of motion of a whole robot, with symbolic coordinates and parameters of any scalar type.

Identity      torque(qd, vd, v) = Y(q, qd, v, vd) theta = M vd + C(q, qd) v + g + friction + declared forces
              multiply_transposed_regressor(torque, unknowns, w) = Y_uᵀ w, the gradient of wᵀ tau by the unknowns
Reference     [lu1993] (1), (12); [fernandez2000] (28), (30); [walker1988] sec. 3 for tau = E^T rho
Accepts       every robot; with loops, M, C, g and Y depend on all coordinates x, at which the loops must be closed
Notation      code       meaning                                                            shape
              q          actuated coordinates                                               actuated
              r          torque that each drive transmits: all but friction and offset      drives
              d          sign of the velocity of each drive, smoothed or not                drives
              theta      standard parameters in the order of Y, numbers or symbols          params
Differs from  the papers in: the regressor is not formed. A recursion computes tau, and reverse automatic
              differentiation of tau gives Yᵀ w, so that the number of operations grows linearly with the number of
              joints instead of quadratically. Load-dependent friction fl d |r| is not linear in theta, since r depends
              on the inertial parameters; ``transmission_theta`` says with which parameters r is computed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ytheta.conventions import ALL_JOINT_PARAMETERS
from ytheta.dynamics import rigid_body
from ytheta.dynamics.constraint import DriveMotion, LoopConstraint, column, compute_drive_motion
from ytheta.dynamics.formulations import composite_inertias, composite_newton_euler, minimal_newton_euler
from ytheta.dynamics.formulations.composite_bodies import find_composite_bodies
from ytheta.dynamics.formulations.equivalent_bodies import find_equivalent_bodies
from ytheta.dynamics.formulations.newton_euler import inverse_dynamics
from ytheta.dynamics.mechanism import PER_DRIVE, PER_LINK, Mechanism, Motion, exact_array, scalars
from ytheta.dynamics.vectors import array, dot, inner, multiply_entries, zeros
from ytheta.robot.forces import evaluate_shapes
from ytheta.robot.frame import cos_sin
from ytheta.robot.parameters import find_drive_slices
from ytheta.robot.parts import parameter_name
from ytheta.shapes import AnyJointsByJoint, AnyPerActuated, AnyPerDrive, AnyPerJoint, AnyPerUnknown, Shaped

if TYPE_CHECKING:
    import casadi


@dataclass(frozen=True, eq=False)
class SymbolicModel:
    """A robot with symbols for its coordinates and numbers or symbols for its parameters.

    Load-dependent friction depends on the torque that a drive transmits. This torque is computed with the standard
    parameters ``transmission_theta``; None means with ``theta``. If ``transmission_theta`` consists of numbers, tau is
    linear in theta, as control laws with unknown parameters need it.
    """

    loops: LoopConstraint
    theta: Shaped[np.ndarray, " params"]
    transmission_theta: Shaped[np.ndarray, " params"] | None = None

    @property
    def q(self) -> AnyPerActuated:
        return scalars(self.loops.x)[list(self.loops.actuated)]

    @property
    def link_theta(self) -> Shaped[np.ndarray, " link_params"]:
        return self.theta[: PER_LINK * len(self.loops.mechanism.bodies)]

    @property
    def drive_theta(self) -> Shaped[np.ndarray, "drives 4"]:
        """Ia, fv, fc and fo of every drive."""
        places = [range(part.start, part.start + PER_DRIVE) for part in self.drive_slices]
        return self.theta[np.array(places, dtype=int).reshape(-1, PER_DRIVE)]

    @property
    def root_theta(self) -> AnyPerDrive:
        """fs of every drive; 0 for drives without this law."""
        return self._find_optional("fs")

    @property
    def load_theta(self) -> AnyPerDrive:
        """fl of every drive; 0 for drives without this law."""
        return self._find_optional("fl")

    @property
    def has_load_friction(self) -> bool:
        return any(drive.load is not None for _, drive in self.loops.robot.drives)

    @property
    def without_load_friction(self) -> SymbolicModel:
        """This model with fl = 0 in all drives, whose torque is linear in theta."""
        theta = self.theta.copy()
        theta[[name.endswith(".fl") for name in self.loops.robot.parameter_names]] = 0
        return replace(self, theta=theta)

    @property
    def force_theta(self) -> Shaped[np.ndarray, " forces"]:
        return self.theta[len(self.theta) - len(self.loops.robot.forces) :]

    def torque(
        self,
        qd: AnyPerActuated,
        vd: AnyPerActuated,
        v: AnyPerActuated | None = None,
        *,
        recursion: str = "newton_euler",
        wrench_torque: AnyPerActuated | None = None,
    ) -> AnyPerActuated:
        """M vd + C v + g, plus friction and declared forces. Without v, the reference velocity is qd.

        Viscous friction depends on v, Coulomb and root friction on qd. The torque of the links comes from
        ``recursion``, a name of ``registry.RECURSIONS``. All but newton_euler use the robot's parameter values instead
        of ``theta`` and need v = qd. ``wrench_torque`` has the effect of the external wrenches; it is not part of the
        result, but drives transmit it too, so that load-dependent friction needs it.
        """
        m = compute_drive_motion(self.loops, qd, vd, v)
        links = self._compute_link_torque(m.joints, recursion)
        drives = zeros(len(m.velocity))
        for k, (theta, factors) in enumerate(zip(self.drive_theta, m.parameter_factors, strict=True)):
            drives[k] = inner(theta, factors)
        all_links, links = links, links[m.driven]
        drives[: len(links)] = drives[: len(links)] + links
        shapes = compute_force_shapes(self.loops, m.joints.q)
        drives = drives + dot(shapes, self.force_theta) + multiply_entries(self.root_theta, m.root_factors)
        if self.has_load_friction:
            if self.transmission_theta is not None:
                links = inverse_dynamics(
                    self.loops.mechanism, m.joints, replace(self, theta=self.transmission_theta).link_theta
                )[m.driven]
            r = self.compute_transmitted_torque(m, links, shapes, wrench_torque)
            drives = drives + multiply_entries(self.load_theta, compute_load_factors(m, r))
        torque = dot(m.drive_jacobian.T, drives)
        if len(all_links) == len(links):
            return torque
        wrenches = np.delete(np.arange(len(all_links)), np.arange(len(all_links))[m.driven])
        return torque + dot(m.joint_jacobian[wrenches].T, all_links[wrenches])

    def compute_friction(self, m: DriveMotion) -> AnyPerDrive:
        """Return friction and offset of every drive, without load-dependent friction."""
        rows = zip(self.drive_theta, m.parameter_factors, strict=True)
        friction = array([inner(theta[1:], factors[1:]) for theta, factors in rows])
        return friction + multiply_entries(self.root_theta, m.root_factors)

    def compute_transmitted_torque(
        self,
        m: DriveMotion,
        links: AnyPerJoint,
        shapes: Shaped[np.ndarray, "drives forces"],
        wrench_torque: AnyPerActuated | None = None,
    ) -> AnyPerDrive:
        """Return r of every drive from the torques of its joint; the robot has no loops, couplings and motors."""
        own = self if self.transmission_theta is None else replace(self, theta=self.transmission_theta)
        r = links + multiply_entries(own.drive_theta[:, 0], m.acceleration) + dot(shapes, own.force_theta)
        return r if wrench_torque is None else r - dot(m.drive_jacobian, wrench_torque)

    @property
    def drive_slices(self) -> tuple[slice, ...]:
        """The places of the parameters of each drive in theta."""
        return find_drive_slices(self.loops.robot)

    def _find_optional(self, symbol: str) -> AnyPerDrive:
        """Return the parameter with this symbol of every drive; 0 for drives that do not have it."""
        places = dict(zip(self.loops.robot.parameter_names, self.theta, strict=True))
        return array([places.get(parameter_name(name, symbol), 0) for name in self.loops.robot.moving])

    def _compute_link_torque(self, motion: Motion, recursion: str) -> AnyPerJoint:
        if recursion == "newton_euler":
            return inverse_dynamics(self.loops.mechanism, motion, self.link_theta)
        if recursion == "composite_newton_euler":
            composite = find_composite_bodies(self.loops.robot)
            return composite_newton_euler.inverse_dynamics(composite, _add_offsets(motion, composite.offsets))
        equivalent = find_equivalent_bodies(self.loops.robot)
        return minimal_newton_euler.inverse_dynamics(equivalent, _add_offsets(motion, equivalent.offsets))

    @cached_property
    def mass_matrix(self) -> Shaped[np.ndarray, "actuated actuated"]:
        """The mass matrix of the actuated coordinates, from the links and the rotor inertia of all drives."""
        return self._add_rotors(rigid_body.mass_matrix(self.loops.mechanism, self._at_rest.joints, self.link_theta))

    @property
    def mass_matrix_from_constants(self) -> Shaped[np.ndarray, "actuated actuated"]:
        """The same from Lin's inertia constants, which are computed from the robot's parameter values."""
        arm = find_composite_bodies(self.loops.robot)
        return self._add_rotors(composite_inertias.mass_matrix(arm, _add_offsets(self._at_rest.joints, arm.offsets)))

    def _add_rotors(self, links: AnyJointsByJoint) -> Shaped[np.ndarray, "actuated actuated"]:
        joints, drives = self._at_rest.joint_jacobian, self._at_rest.drive_jacobian
        return dot(dot(joints.T, links), joints) + dot(dot(drives.T, np.diag(self.drive_theta[:, 0])), drives)

    @property
    def holding_torque(self) -> AnyPerActuated:
        """The torque that holds the robot at rest: weight and declared forces, without friction and offsets."""
        weight = rigid_body.gravity(self.loops.mechanism, self._at_rest.joints, self.link_theta)
        return dot(self._at_rest.joint_jacobian.T, weight) + dot(self.force_columns, self.force_theta)

    @property
    def force_columns(self) -> Shaped[np.ndarray, "actuated forces"]:
        """The columns of the declared forces in Y."""
        return dot(self._at_rest.drive_jacobian.T, compute_force_shapes(self.loops, self._at_rest.joints.q))

    @cached_property
    def _at_rest(self) -> DriveMotion:
        zero = zeros(len(self.loops.actuated))
        return compute_drive_motion(self.loops, zero, zero)


def compute_load_factors(m: DriveMotion, r: AnyPerDrive) -> AnyPerDrive:
    """The factors of fl in the torque of each drive, d |r|, for the transmitted torques r."""
    import casadi

    sizes = array([entry if type(entry) is int and entry >= 0 else casadi.fabs(entry) for entry in r])
    return multiply_entries(m.directions, sizes)


def multiply_transposed_regressor(torque: AnyPerActuated, unknowns: casadi.SX, w: AnyPerActuated) -> AnyPerUnknown:
    """Y_uᵀ w for the torque Y_k theta_k + Y_u theta_u. w is treated as a constant, even if it depends on symbols."""
    import casadi

    if not unknowns.numel():
        return zeros(0)
    product = casadi.densify(casadi.jtimes(column(torque), unknowns, column(w), True))
    return array([0 if entry.is_zero() else entry for entry in scalars(product)])


def _add_offsets(motion: Motion, offsets: Shaped[np.ndarray, " joints"]) -> Motion:
    """Replace cos q and sin q by those of q + offsets. For quarter turns, cos and sin are only swapped or negated."""
    import casadi

    cos, sin = motion.cos.copy(), motion.sin.copy()
    for k, angle in enumerate(offsets.tolist()):
        c, s = exact_array(list(cos_sin(angle)))
        if type(c) is int and type(s) is int:
            both = array([cos[k], sin[k]])
            cos[k], sin[k] = inner(array([c, -s]), both), inner(array([s, c]), both)
        else:
            cos[k], sin[k] = casadi.cos(motion.q[k] + angle), casadi.sin(motion.q[k] + angle)
    return replace(motion, cos=cos, sin=sin)


# The regressor of all standard parameters of links, drives and forces, also with couplings and loops.
#
# The columns of the links come from any formulation.
#
# Identity      tau = Y @ theta   for every theta, in the order of ``robot.parameter_names``; with load-dependent
#               friction, only for the theta of the robot itself
# Reference     [walker1988] sec. 3: tau = E^T rho; (13) and (22) for friction, which cut joints have too
# Accepts       every robot; without loops and couplings no operation is added to those of the formulation
#
# By virtual work, a unit torque on a drive contributes the drive's row of the drive Jacobian, transposed, to tau. The
# four columns of a drive are this vector times the drive's acceleration (Ia), its velocity (fv), the sign of its
# velocity (fc), and one (fo); see ``DriveMotion``. A drive with a ``root`` has the column fs, sign times root of the
# speed. A drive with a ``load`` has the column fl, sign times size of the torque that the drive transmits. This torque
# depends on the inertial parameters, so that the column is computed with the values of the robot. Each declared force
# has one column, after those of the drives; see ``compute_force_shapes``.


LinkRegressor: TypeAlias = Callable[[Mechanism, Motion], np.ndarray]


def full_regressor(
    constraint: LoopConstraint,
    link_regressor: LinkRegressor,
    Qd: AnyPerActuated,
    Vd: AnyPerActuated,
    V: AnyPerActuated | None = None,
) -> Shaped[np.ndarray, "actuated params"]:
    """The regressor of all standard parameters from a formulation's regressor of the links."""
    m = compute_drive_motion(constraint, Qd, Vd, V)
    links = PER_LINK * len(constraint.mechanism.bodies)
    shapes = compute_force_shapes(constraint, m.joints.q)
    link_columns = link_regressor(constraint.mechanism, m.joints)
    theta = constraint.robot.theta.tolist()
    model = SymbolicModel(constraint, exact_array(theta) if theta else zeros(0))
    load_factors = zeros(len(m.velocity))
    if model.has_load_friction:
        r = model.compute_transmitted_torque(m, dot(link_columns[m.driven], model.link_theta), shapes)
        load_factors = compute_load_factors(m, r)
    Y = zeros(len(Qd), len(model.theta))
    Y[:, :links] = dot(m.joint_jacobian.T, link_columns)
    columns = zip(
        m.drive_jacobian, m.parameter_factors, m.root_factors, load_factors, m.drives, model.drive_slices, strict=True
    )
    for row, factors, root, load, drive, place in columns:
        values = dict(zip(ALL_JOINT_PARAMETERS, (*factors, root, load), strict=True))
        Y[:, place] = dot(row[:, None], array([values[symbol] for symbol in drive.parameter_symbols])[None])
    Y[:, len(model.theta) - shapes.shape[1] :] = dot(m.drive_jacobian.T, shapes)
    return Y


# Declared forces of a robot as columns of Y: springs, counterbalances and other forces of known shape.
#
# Identity      tau += D^T @ shapes @ k,   D the drive Jacobian (``DriveMotion``), k the last parameters of theta
# Accepts       every robot; forces may act on, and depend on, passive and coupled joints, cut joints and motors
# Notation      code      meaning                                                             shape
#               shapes    torque of every drive per unit of each force                        drives x forces
#
# k are the unknown magnitudes of the forces. Shapes depend only on positions, so they are the same with a reference
# velocity. Declared forces contribute to the torque that holds the arm at rest, but not to the momentum.


def compute_force_shapes(
    constraint: LoopConstraint, q: Shaped[np.ndarray, " joints"]
) -> Shaped[np.ndarray, "drives forces"]:
    """Compute the shapes of all forces at the joint positions q and the coordinates ``constraint.x``."""
    robot = constraint.robot
    result = zeros(len(robot.moving), len(robot.forces))
    if not robot.forces:
        return result
    positions = _collect_positions(constraint, q)
    row = {name: k for k, name in enumerate(positions)}
    for k, force in enumerate(robot.forces):
        for name, shape in evaluate_shapes(force, positions).items():
            result[row[name], k] = exact_array([shape])[0]
    return result


def _collect_positions(constraint: LoopConstraint, q: np.ndarray) -> dict[str, Any]:
    """The positions of all drives by name, in the order of ``robot.moving``. Angles of cut joints are in [-pi, pi]."""
    robot = constraint.robot
    _, offset = robot.motor_map
    base = len(robot.base_coordinates)
    motors = dot(constraint.motors, scalars(constraint.x)) + exact_array(offset.tolist()) if len(offset) else ()
    return dict(
        zip(robot.moving, (*q[base : base + len(robot.movable)], *constraint.cut_positions, *motors), strict=True)
    )
