"""Walker's adaptive Newton-Euler controller for robots with loops.

Identity      tau = Y_W(q, qd, v, vd) theta_hat - K_D r,   d theta_hat/dt = -adaptation Y_Wᵀ r,
              K_D = sum over links of gamma_j J_jᵀ I0_j J_j
Reference     [walker1988] (12), (13), (17)-(26), sec. 5
Accepts       every robot; link parameters, and friction of all joints, including those that close loops
Notation      code          paper               meaning                                          shape
              convergence   Lambda              v = qrd - Lambda e                               actuated x actuated
              feedback      gamma_j             gain of the spatial velocity error of link j     links
              initial       I0_j                the estimate whose inertias weight that error    unknown
              adaptation    1/alpha_j, 1/beta_j the factor of w                                  unknown x unknown
              v             Qhatdot             reference velocity of the actuated coordinates
              r             Qtildedot           qd - v
              w             w_jk, qtildedot qd  gradient (25), with entries for friction         params
              F             -                   derivative of Fhat_j by the ten parameters       6 x 10
              weights       gamma_j m0_j        parameters of the inertias gamma_j I0_j          link params
              rho           rhohat              torque of every drive, so that tau = Eᵀ rho      drives
Two forms     (21) is used as printed, with vhat_j × I_j vhat_j instead of v_j × I_j vhat_j. Both forms have the same
              proof and the same adaptation, but different torques. See ``spatial_tree``.
Differs from  the paper in: Lambda and the adaptation may be full matrices; any subset of the parameters may be
              unknown, also rotor inertia, Coulomb friction and declared forces; I0 is a setting, independent of the
              estimate given to ``init``. Viscous friction is computed with the *measured* velocity (22), so that
              dV/dt = -rᵀ K_D r contains no friction.
              Drives and declared forces are added after the recursion over the tree of links (``spatial_tree``).
Two ways      ``_run_recursion`` evaluates symbols for the graph. In ``evaluate``, it evaluates floats, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ytheta.control.controller import Reference, State
from ytheta.control.gains import Gain, GainShape, compute_quadratic_form, scale_by
from ytheta.control.laws.adaptive_law import AdaptiveLaw
from ytheta.control.laws.law import LawEquations
from ytheta.control.symbols import Symbols
from ytheta.control.unknowns import Unknowns, select_unknowns
from ytheta.conventions import JOINT_PARAMETERS
from ytheta.dynamics.declared_forces import compute_force_shapes
from ytheta.dynamics.drive_motion import DriveMotion, compute_drive_motion
from ytheta.dynamics.formulations.spatial import momentum_columns, spatial_transpose
from ytheta.dynamics.formulations.spatial_tree import LinkMotion, add_forces, traverse
from ytheta.dynamics.loops.builder import build_constraint
from ytheta.dynamics.loops.constraint import Constraint, column
from ytheta.dynamics.loops.solver import solve
from ytheta.dynamics.mechanism import PER_DRIVE, PER_LINK, Mechanism, exact_array
from ytheta.dynamics.motion import numeric_motion, scalars
from ytheta.dynamics.symbolic_model import SymbolicModel
from ytheta.dynamics.vectors import dot, inner, scale, zeros
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.parameters import select_parameters
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerDrive, AnySpatialColumns, Float, PerCoordinate, PerJoint, PerUnknown, Shaped

if TYPE_CHECKING:
    import casadi

VISCOUS = JOINT_PARAMETERS.index("fv")
EIGENVALUE_TOLERANCE = 1e-9  # relative to the largest eigenvalue; smaller ones count as zero (point masses, rods)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Walker(AdaptiveLaw):
    """Walker's law for robots with loops. By default, all links and the viscous friction of all joints are unknown.

    Attributes
    ----------
    robot          the robot description; known parameters have the values of this description
    base           always None, because this law adapts standard parameters
    adaptation     the gain of gradient adaptation, or an adaptation law such as ``Natural(2.0)``
    learn          the unknown parameters, by names or patterns; None for all links and the viscous friction of
                   all joints
    torque_limits  limits of the torques in Nm or N, one number or one per joint; None for no limits
    convergence    Lambda: rate in 1/s at which the position error follows r = ed + Lambda e
    feedback       gamma_j: gain of the spatial velocity error of each link, one number or one per link
    initial        parameters whose inertias weight that error; None for those of the description
    """

    convergence: Gain
    feedback: Gain
    initial: PerUnknown | Sequence[float] | None = None

    GAINS: ClassVar[Mapping[str, GainShape]] = {"convergence": GainShape.MATRIX, "feedback": GainShape.LINKS}

    def __post_init__(self) -> None:
        if self.base is not None:
            raise InputError(
                "Walker's controller weights links by their own inertias and cannot use base parameters; leave base out"
            )
        super().__post_init__()
        _check_feedback(self._loops, self._weights)

    @property
    def name(self) -> str:
        return "walker"

    @classmethod
    def select_unknowns(cls, robot: Robot, base: BaseParameters | None, learn: Sequence[str] | None) -> Unknowns:  # noqa: ARG003
        """Select unknown parameters; None selects those of the links and the viscous friction of all joints."""
        default = select_parameters(robot, rotor_inertia=False, friction=("viscous",))
        return select_unknowns(robot, None, default if learn is None else learn)

    def init(self, q: PerJoint, qd: PerJoint, *, estimate: PerUnknown | None = None, t: float = 0.0) -> State:
        return super().init(q, qd, estimate=self._initial if estimate is None else estimate, t=t)

    def equations(self, s: Symbols) -> LawEquations:
        v, vd = s.qrd - s.apply_gain("convergence", s.error), s.qrdd - s.apply_gain("convergence", s.error_rate)  # (17)
        weights = scale_by(exact_array(self._weights.tolist()), s.factors.get("feedback", 1))
        m = compute_drive_motion(s.model.loops, s.qd, vd, v)
        shapes = compute_force_shapes(s.model.loops, m.joints.q)
        rho, w = _run_recursion(s.model.loops.mechanism, m, shapes, s.model.theta, weights)
        return LawEquations(dot(m.drive_jacobian.T, rho), s.qd - v, w[list(self.unknowns.indices)])  # (23), (24)

    def lyapunov_term(self, s: Symbols, true: SymbolicModel) -> Any:
        """Return the term of (26) that does not depend on the estimate: the sum over all links, rᵀ M r / 2."""
        r = s.error_rate + s.apply_gain("convergence", s.error)
        return compute_quadratic_form(true.mass_matrix, r) * 0.5

    def evaluate(
        self, x: PerUnknown, q: PerJoint, qd: PerJoint, reference: Reference
    ) -> tuple[PerJoint, Float[np.ndarray, "unknown"]]:
        """Return tau before clipping, and Yᵀ r, by the paper's recursion on floats: slow, but without a compiler."""
        Lambda = self.gains["convergence"]
        v, vd = reference.qd - Lambda @ (q - reference.q), reference.qdd - Lambda @ (qd - reference.qd)  # (17)
        closed = solve(self._loops, q[None]).or_raise().x[0] if self.robot.loops else q
        theta = self.unknowns.theta.copy()
        theta[list(self.unknowns.indices)] = x
        m, shapes = self._evaluate_motion(closed, qd, vd, v)
        rho, w = _run_recursion(self._loops.mechanism, m, shapes, theta, self._weights)
        return dot(m.drive_jacobian.T, rho).astype(float), w[list(self.unknowns.indices)].astype(float)

    def _evaluate_motion(
        self, x: PerCoordinate, qd: PerJoint, vd: PerJoint, v: PerJoint
    ) -> tuple[DriveMotion, Shaped[np.ndarray, "drives forces"]]:
        """Return the motion of joints and drives, and the shapes of the declared forces, as floats."""
        *vectors, joints, drives, shapes = (np.array(part) for part in self._kinematics(x, qd, vd, v))
        q, joint_qd, joint_vd, joint_v, velocity, reference_velocity, acceleration = (part[:, 0] for part in vectors)
        motion = numeric_motion(q, joint_qd, joint_vd, joint_v)
        speeds = tuple(drive.coulomb_speed for _, drive in self._loops.robot.drives)
        return DriveMotion(motion, joints, drives, velocity, reference_velocity, acceleration, speeds), shapes

    @cached_property
    def _kinematics(self) -> casadi.Function:
        """(x, Qd, Vd, V) → the vectors and matrices of a ``DriveMotion``, and the shapes of the declared forces."""
        import casadi

        loops = self._loops
        inputs = [casadi.SX.sym(name, len(loops.actuated)) for name in ("Qd", "Vd", "V")]
        m = compute_drive_motion(loops, *(scalars(vector) for vector in inputs))
        vectors = [m.joints.q, m.joints.qd, m.joints.vd, m.joints.v, m.velocity, m.reference_velocity, m.acceleration]
        matrices = [m.joint_jacobian, m.drive_jacobian, compute_force_shapes(loops, m.joints.q)]
        outputs = [casadi.reshape(column(matrix.ravel(order="F")), *matrix.shape) for matrix in matrices]
        return casadi.Function("kinematics", [loops.x, *inputs], [*(column(v) for v in vectors), *outputs])

    @cached_property
    def _loops(self) -> Constraint:
        return build_constraint(self.robot)

    @cached_property
    def _initial(self) -> Float[np.ndarray, "unknown"]:
        if self.initial is None:
            return self.unknowns.nominal
        initial = np.asarray(self.initial, dtype=float)
        if initial.shape != (len(self.unknown_names),) or not np.isfinite(initial).all():
            raise InputError(
                f"initial has shape {initial.shape}, or entries that are not finite; give {len(self.unknown_names)} "
                "finite numbers, one per unknown parameter"
            )
        return initial

    @cached_property
    def _weights(self) -> Float[np.ndarray, "link_params"]:
        """gamma_j m0_j of all links, one link after the other."""
        links = len(self._loops.mechanism.bodies)
        theta = self.unknowns.theta.copy()
        theta[list(self.unknowns.indices)] = self._initial
        gamma = self.gains["feedback"].diagonal()
        return theta[: PER_LINK * links] * np.repeat(gamma, PER_LINK)


def _run_recursion(
    mechanism: Mechanism,
    m: DriveMotion,
    force_shapes: Shaped[np.ndarray, "drives forces"],
    theta: Shaped[np.ndarray, "params"],
    weights: Shaped[np.ndarray, "link_params"],
) -> tuple[AnyPerDrive, Shaped[np.ndarray, "params"]]:
    """Return rho of every drive and w of every parameter."""
    rho, w = zeros(len(m.velocity)), zeros(len(theta))
    velocity_error = m.velocity - m.reference_velocity

    def compute_link_force(link: int, motion: LinkMotion) -> AnySpatialColumns:
        """Return Fhat of a link, and set w of its parameters: (20), (21), (25)."""
        place = slice(PER_LINK * link, PER_LINK * (link + 1))
        error = motion.v - motion.u
        F = motion.inertial_columns
        w[place] = dot(F.T, spatial_transpose(error[:, None])[0])
        return (dot(F, theta[place]) - dot(momentum_columns(error), weights[place]))[:, None]

    for force in traverse(mechanism, m.joints, compute_link_force, add_forces):
        rho[force.joint] = force.row[0]
    factors = m.parameter_factors
    factors[:, VISCOUS] = m.velocity  # (22)
    for k in range(len(rho)):  # (22), (24)
        start = len(weights) + PER_DRIVE * k
        place = slice(start, start + PER_DRIVE)
        rho[k] = rho[k] + inner(factors[k], theta[place])
        w[place] = scale(factors[k], velocity_error[k : k + 1])
    first_force = len(theta) - force_shapes.shape[1]
    w[first_force:] = dot(force_shapes.T, velocity_error)
    return rho + dot(force_shapes, theta[first_force:]), w


def _check_feedback(loops: Constraint, weights: Float[np.ndarray, "link_params"]) -> None:
    """Raise if K_D is not positive definite: I0 is not physically consistent, or a coordinate moves no mass."""
    import casadi

    for body, parameters in zip(loops.mechanism.bodies, weights.reshape(-1, PER_LINK), strict=True):
        momenta = np.array([momentum_columns(unit) @ parameters for unit in np.eye(6)], dtype=float)
        values = np.linalg.eigvalsh(np.roll(momenta, 3, axis=1))
        if values[0] < -EIGENVALUE_TOLERANCE * abs(values[-1]):
            raise InputError(
                f"the initial inertia of {body.name!r} is not physically consistent, so feedback that it weights need "
                "not damp; give consistent inertias as initial"
            )
    theta = np.concatenate([weights, np.zeros(len(loops.robot.parameter_names) - len(weights))])
    damping = SymbolicModel(loops, exact_array(theta.tolist())).mass_matrix
    K_D = casadi.Function("K_D", [loops.x], [column(damping.ravel())])(loops.home)
    values = np.linalg.eigvalsh(np.array(K_D).reshape(damping.shape))
    if values[0] <= EIGENVALUE_TOLERANCE * values[-1]:
        raise InputError("the initial inertias do not damp some coordinate; give every outermost link mass and extent")
