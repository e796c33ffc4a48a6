"""The recursion of Walker's controller over the tree of links, on symbols or floats.

Reference     [walker1988] (12), (13), (20)-(22), (24), (25), sec. 5; notation: ``walker``
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.control.feedback.ports import CoordinateErrors, FeedbackPorts
from ytheta.control.gains import scale_by
from ytheta.conventions import JOINT_PARAMETERS
from ytheta.dynamics.constraint import Constraint, DriveMotion, column, compute_drive_motion
from ytheta.dynamics.formulations.spatial_tree import LinkMotion, add_forces, spatial_transpose, traverse
from ytheta.dynamics.mechanism import PER_LINK, numeric_motion, scalars
from ytheta.dynamics.symbolic_model import compute_force_shapes
from ytheta.dynamics.vectors import array, dot, inner, scale, zeros
from ytheta.robot.parameters import find_drive_slices
from ytheta.shapes import AnyPerDrive, AnyPerState, AnySpatialColumns, Float, PerCoordinate, PerJoint, Shaped

if TYPE_CHECKING:
    import casadi

VISCOUS = JOINT_PARAMETERS.index("fv")


@dataclass(frozen=True, eq=False)
class MotionFunction:
    """The motion of joints, drives and links of a robot as floats."""

    loops: Constraint

    def evaluate(
        self, x: PerCoordinate, qd: PerJoint, vd: PerJoint, v: PerJoint
    ) -> tuple[DriveMotion, Shaped[np.ndarray, "drives forces"]]:
        """Return the motion of joints and drives, and the shapes of the declared forces; x are closed coordinates."""
        *vectors, joints, drives, shapes = (np.array(part) for part in self._function(x, qd, vd, v))
        q, joint_qd, joint_vd, joint_v, velocity, reference_velocity, acceleration = (part[:, 0] for part in vectors)
        motion = numeric_motion(q, joint_qd, joint_vd, joint_v)
        laws = tuple(drive for _, drive in self.loops.robot.drives)
        return DriveMotion(
            motion, joints, drives, velocity, reference_velocity, acceleration, laws, slice(None)
        ), shapes

    @cached_property
    def home_jacobians(self) -> tuple[Float[np.ndarray, "drives actuated"], Float[np.ndarray, "links 6 actuated"]]:
        """The Jacobians of drives and links (14) at the home position."""
        columns = []
        for unit in np.eye(len(self.loops.actuated)):
            m, _ = self.evaluate(self.loops.home, unit, 0.0 * unit, 0.0 * unit)
            columns.append(compute_link_velocities(self.loops, m))
        return m.drive_jacobian, np.stack(columns, axis=2)

    @cached_property
    def _function(self) -> casadi.Function:
        """(x, Qd, Vd, V) → the vectors and matrices of a ``DriveMotion``, and the shapes of the declared forces."""
        import casadi

        inputs = [casadi.SX.sym(name, len(self.loops.actuated)) for name in ("Qd", "Vd", "V")]
        m = compute_drive_motion(self.loops, *(scalars(vector) for vector in inputs))
        vectors = [m.joints.q, m.joints.qd, m.joints.vd, m.joints.v, m.velocity, m.reference_velocity, m.acceleration]
        matrices = [m.joint_jacobian, m.drive_jacobian, compute_force_shapes(self.loops, m.joints.q)]
        outputs = [casadi.reshape(column(matrix.ravel(order="F")), *matrix.shape) for matrix in matrices]
        return casadi.Function("motion", [self.loops.x, *inputs], [*(column(v) for v in vectors), *outputs])


def compute_link_velocities(loops: Constraint, m: DriveMotion) -> Float[np.ndarray, "links 6"]:
    """Return the spatial velocity v_j of every link in its own axes, from a motion in floats."""
    velocities = np.zeros((len(loops.mechanism.bodies), 6))

    def record_velocity(link: int, motion: LinkMotion) -> AnySpatialColumns:
        velocities[link] = motion.v
        return zeros(6, 1)

    traverse(loops.mechanism, m.joints, record_velocity, add_forces)
    return velocities


@dataclass(frozen=True, eq=False)
class Recursion:
    """The recursion of sec. 5, on symbols or floats. ``factor`` multiplies the outputs of the feedback law."""

    ports: FeedbackPorts
    errors: CoordinateErrors
    m: DriveMotion
    force_shapes: Shaped[np.ndarray, "drives forces"]
    theta: Shaped[np.ndarray, "params"]
    factor: Any = 1

    def run(self) -> tuple[AnyPerDrive, Shaped[np.ndarray, "params"], AnyPerState]:
        """Return rho of every drive, w of every parameter, and the rates of the feedback law's states."""
        ports, m, theta = self.ports, self.m, self.theta
        rho, w = zeros(len(m.velocity)), zeros(len(theta))
        velocity_error = m.velocity - m.reference_velocity
        link_rates = zeros(len(ports.links), ports.feedback.link_states)
        joint_rates = zeros(len(ports.loops.actuated), ports.feedback.joint_states)

        def compute_link_force(link: int, motion: LinkMotion) -> AnySpatialColumns:
            """Return Fhat of a link, and set w of its parameters: (20), (21), (25)."""
            place = slice(PER_LINK * link, PER_LINK * (link + 1))
            error = motion.v - motion.u
            F = motion.inertial_columns
            w[place] = dot(F.T, spatial_transpose(error[:, None])[0])
            response = ports.respond_at_link(link, error, motion.u, self.errors.state)
            link_rates[link] = response.state_rate
            return (dot(F, theta[place]) + self._scale(response.output))[:, None]

        for force in traverse(ports.loops.mechanism, m.joints, compute_link_force, add_forces):
            rho[force.joint] = force.row[0]
        rows, roots = m.parameter_factors, m.root_factors
        rows[:, VISCOUS] = m.clip_velocities(m.velocity)  # (22)
        for k, place in enumerate(find_drive_slices(ports.loops.robot)):  # (22), (24)
            here = slice(k, k + 1)
            factors = rows[k] if m.drives[k].root is None else np.concatenate([rows[k], roots[here]])
            response = ports.respond_at_joint(k, velocity_error[here], m.reference_velocity[here], self.errors)
            rho[k] = rho[k] + inner(factors, theta[place]) + self._scale(response.output)[0]
            w[place] = scale(factors, velocity_error[here])
            coordinate = ports.find_coordinate(k)
            if coordinate is not None:
                joint_rates[coordinate] = response.state_rate
        first_force = len(theta) - self.force_shapes.shape[1]
        w[first_force:] = dot(self.force_shapes.T, velocity_error)
        rho = rho + dot(self.force_shapes, theta[first_force:])
        return rho, w, np.concatenate([joint_rates.ravel(), link_rates.ravel()])

    def _scale(self, output: Shaped[np.ndarray, "size"]) -> Shaped[np.ndarray, "size"]:
        """Return the output of the feedback law times the factor; symbols that are zero become structural zeros."""
        import casadi

        entries = scale_by(output, self.factor)
        return array([0 if isinstance(entry, casadi.SX) and entry.is_zero() else entry for entry in entries])
