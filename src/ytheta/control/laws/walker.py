"""Walker's adaptive Newton-Euler controller for robots with loops.

Identity      tau = Y_W(q, qd, v, vd) theta_hat + tau_f,   d theta_hat/dt = -adaptation Y_Wᵀ r
              tau_f follows from the feedback law by the same recursion; a gain as ``feedback`` stands for (21):
              tau_f = -K_D r,   K_D = sum over links of gamma_j J_jᵀ I0_j J_j
Reference     [walker1988] (12), (13), (16)-(29), sec. 5; ``feedback.feedback`` for the class of feedback laws
Accepts       every robot; link parameters, and friction of all joints, including those that close loops
Notation      code          paper               meaning                                          shape
              convergence   Lambda              v = qrd - Lambda e                               actuated x actuated
              feedback      F_j, eta_j          parts of Fhat_j, etahat_j that are feedback; or gamma_j, one per link
              initial       I0_j                the estimate whose inertias weight that error    unknown
              adaptation    1/alpha_j, 1/beta_j the factor of w                                  unknown x unknown
              v             Qhatdot             reference velocity of the actuated coordinates
              r             Qtildedot           qd - v
              w             w_jk, qtildedot qd  gradient (25), with entries for friction         params
              F             -                   derivative of Fhat_j by the ten parameters       6 x 10
              rho           rhohat              torque of every drive, so that tau = Eᵀ rho      drives
Two forms     (21) is used as printed, with vhat_j × I_j vhat_j instead of v_j × I_j vhat_j. Both forms have the same
              proof and the same adaptation, but different torques. See ``spatial_tree``.
Differs from  the paper in: Lambda and the adaptation may be full matrices; any subset of the parameters may be
              unknown, also rotor inertia, Coulomb friction and declared forces; I0 is a setting, independent of the
              estimate given to ``init``; any feedback law that meets the conditions of the proof may replace the
              last term of (21). Viscous friction is computed with the *measured* velocity (22), so that dV/dt is the
              power of the feedback and contains no friction.
              Drives and declared forces are added after the recursion over the tree of links (``spatial_tree``).
Two ways      ``WalkerRecursion`` evaluates symbols for the graph and, in ``evaluate``, floats, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ytheta.control.controller import Reference, State
from ytheta.control.feedback.conditions import check_conditions
from ytheta.control.feedback.feedback import Feedback
from ytheta.control.feedback.inertial import InertialFeedback
from ytheta.control.feedback.ports import CoordinateErrors, FeedbackPorts
from ytheta.control.gains import PER_UNKNOWN, Gain, GainShape, compute_quadratic_form, scale_by, to_vector
from ytheta.control.laws.law import AdaptiveLaw, LawEquations
from ytheta.control.unknowns import LawSymbols, Unknowns, select_unknowns
from ytheta.conventions import JOINT_PARAMETERS
from ytheta.dynamics.constraint import DriveMotion, LoopConstraint, build_constraint, column, compute_drive_motion
from ytheta.dynamics.formulations.spatial_tree import LinkMotion, add_forces, spatial_transpose, traverse
from ytheta.dynamics.loop_solver import solve
from ytheta.dynamics.mechanism import PER_LINK, numeric_motion, scalars
from ytheta.dynamics.symbolic_model import SymbolicModel, compute_force_shapes
from ytheta.dynamics.vectors import array, dot, inner, scale, zeros
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.parameters import find_drive_slices, select_parameters
from ytheta.robot.robot import Robot
from ytheta.shapes import (
    AnyPerDrive,
    AnyPerState,
    AnySpatialColumns,
    Float,
    PerCoordinate,
    PerJoint,
    PerState,
    PerUnknown,
    Shaped,
    SquareMatrix,
)

if TYPE_CHECKING:
    import casadi


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
    feedback       gamma_j: gain of the spatial velocity error of each link, one number or one per link; or a feedback
                   law, such as ``PDFeedback(stiffness=…, damping=…)``
    initial        parameters whose inertias weight that error; None for those of the description
    rng            random seed or generator of the samples at which the conditions on the feedback law are checked
    """

    convergence: Gain
    feedback: Gain | Feedback
    initial: PerUnknown | Sequence[float] | None = None
    rng: np.random.Generator | int = 0

    GAINS: ClassVar[Mapping[str, GainShape]] = {"convergence": GainShape.MATRIX, "feedback": GainShape.LINKS}

    def __post_init__(self) -> None:
        if self.base is not None:
            raise InputError(
                "Walker's controller weights links by their own inertias and cannot use base parameters; leave base out"
            )
        if self.feedback is None or isinstance(self.feedback, str) or callable(self.feedback):
            raise InputError(
                f"feedback is {self.feedback!r}; give a number, one for each link, or a feedback law, such as "
                "PDFeedback(stiffness=…, damping=…); names such as 'pd' are for ControllerSettings"
            )
        loaded = [name for name, drive in self.robot.drives if drive.load is not None]
        if loaded:
            raise InputError(
                f"the drive of {', '.join(map(repr, loaded))} has load-dependent friction, which Walker's recursion "
                "does not compute, since it adds the torques of links and drives joint by joint; remove 'load', or use "
                "slotine-li or computed-torque"
            )
        super().__post_init__()
        self.feedback_law.check(self.robot)
        self.check_factors({})

    def check_factors(self, factors: Mapping[str, Float[np.ndarray, " runs"]]) -> None:
        super().check_factors(factors)
        Lambda = self.gains["convergence"]
        convergence = np.outer(factors.get("convergence", 1.0), Lambda.diagonal())
        diagonal = not np.count_nonzero(Lambda - np.diag(Lambda.diagonal()))
        rng = np.random.default_rng(self.rng)
        check_conditions(self._ports, convergence, self._motion_function.home_jacobians, rng, diagonal=diagonal)

    @property
    def name(self) -> str:
        return "walker"

    @cached_property
    def feedback_law(self) -> Feedback:
        return self.feedback if isinstance(self.feedback, Feedback) else InertialFeedback(self.feedback)

    @cached_property
    def gains(self) -> Mapping[str, SquareMatrix]:
        """The gains as matrices, without those of a feedback law."""
        names = {name: shape for name, shape in self.GAINS.items() if not isinstance(getattr(self, name), Feedback)}
        return {name: self._to_gain_matrix(name, shape) for name, shape in names.items()}

    @property
    def law_states(self) -> int:
        return self._ports.state_size

    @classmethod
    def select_unknowns(cls, robot: Robot, base: BaseParameters | None, learn: Sequence[str] | None) -> Unknowns:  # noqa: ARG003
        """Select unknown parameters; None selects those of the links and the viscous friction of all joints."""
        default = select_parameters(robot, rotor_inertia=False, friction=("viscous",))
        return select_unknowns(robot, None, default if learn is None else learn)

    def init(self, q: PerJoint, qd: PerJoint, *, estimate: PerUnknown | None = None, t: float = 0.0) -> State:
        return super().init(q, qd, estimate=self._initial if estimate is None else estimate, t=t)

    def equations(self, s: LawSymbols) -> LawEquations:
        v, vd = s.qrd - s.apply_gain("convergence", s.error), s.qrdd - s.apply_gain("convergence", s.error_rate)  # (17)
        m = compute_drive_motion(s.model.loops, s.qd, vd, v)
        shapes = compute_force_shapes(s.model.loops, m.joints.q)
        recursion = WalkerRecursion(
            self._ports, self._make_errors(s), m, shapes, s.model.theta, s.factors.get("feedback", 1)
        )
        rho, w, state_rate = recursion.run()
        tau = dot(m.drive_jacobian.T, rho)
        return LawEquations(tau, s.qd - v, w[list(self.unknowns.indices)], state_rate)  # (23), (24)

    def lyapunov_term(self, s: LawSymbols, true: SymbolicModel) -> Any:
        """Return the terms of V that do not depend on the estimate: rᵀ M r / 2 of (26), and the feedback's storage."""
        r = s.error_rate + s.apply_gain("convergence", s.error)
        storage = self._ports.compute_storage(self._make_errors(s))
        return compute_quadratic_form(true.mass_matrix, r) * 0.5 + storage * s.factors.get("feedback", 1)

    def evaluate(
        self, x: PerState, q: PerJoint, qd: PerJoint, reference: Reference
    ) -> tuple[PerJoint, Float[np.ndarray, " unknown"]]:
        """Return tau before clipping, and Yᵀ r, by the paper's recursion on floats: slow, but without a compiler.

        ``x`` is the estimate, followed by the states of the feedback law.
        """
        Lambda, size = self.gains["convergence"], len(self.unknown_names)
        e, ed = q - reference.q, qd - reference.qd
        v, vd = reference.qd - Lambda @ e, reference.qdd - Lambda @ ed  # (17)
        closed = solve(self._loops, q[None]).or_raise().x[0] if self.robot.loops else q
        theta = self.unknowns.theta.copy()
        theta[list(self.unknowns.indices)] = x[:size]
        m, shapes = self._motion_function.evaluate(closed, qd, vd, v)
        errors = CoordinateErrors(e, ed, Lambda.diagonal(), x[size:])
        rho, w, _ = WalkerRecursion(self._ports, errors, m, shapes, theta).run()
        return dot(m.drive_jacobian.T, rho).astype(float), w[list(self.unknowns.indices)].astype(float)

    def _make_errors(self, s: LawSymbols) -> CoordinateErrors:
        Lambda = scale_by(self.gains["convergence"].diagonal(), s.factors.get("convergence", 1))
        return CoordinateErrors(s.error, s.error_rate, Lambda, s.law_state)

    @cached_property
    def _loops(self) -> LoopConstraint:
        return build_constraint(self.robot)

    @cached_property
    def _initial(self) -> Float[np.ndarray, " unknown"]:
        if self.initial is None:
            return self.unknowns.nominal
        return to_vector("initial", self.initial, len(self.unknown_names), per=PER_UNKNOWN)

    @cached_property
    def _ports(self) -> FeedbackPorts:
        theta = self.unknowns.theta.copy()
        theta[list(self.unknowns.indices)] = self._initial
        return FeedbackPorts(self.feedback_law, self._loops, theta[: PER_LINK * len(self._loops.mechanism.bodies)])

    @cached_property
    def _motion_function(self) -> MotionFunction:
        return MotionFunction(self._loops)


# The recursion of Walker's controller over the tree of links, on symbols or floats.
#
# Reference     [walker1988] (12), (13), (20)-(22), (24), (25), sec. 5; notation: ``walker``


VISCOUS = JOINT_PARAMETERS.index("fv")


@dataclass(frozen=True, eq=False)
class MotionFunction:
    """The motion of joints, drives and links of a robot as floats."""

    loops: LoopConstraint

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


def compute_link_velocities(loops: LoopConstraint, m: DriveMotion) -> Float[np.ndarray, "links 6"]:
    """Return the spatial velocity v_j of every link in its own axes, from a motion in floats."""
    velocities = np.zeros((len(loops.mechanism.bodies), 6))

    def record_velocity(link: int, motion: LinkMotion) -> AnySpatialColumns:
        velocities[link] = motion.v
        return zeros(6, 1)

    traverse(loops.mechanism, m.joints, record_velocity, add_forces)
    return velocities


@dataclass(frozen=True, eq=False)
class WalkerRecursion:
    """The recursion of sec. 5, on symbols or floats. ``factor`` multiplies the outputs of the feedback law."""

    ports: FeedbackPorts
    errors: CoordinateErrors
    m: DriveMotion
    force_shapes: Shaped[np.ndarray, "drives forces"]
    theta: Shaped[np.ndarray, " params"]
    factor: Any = 1

    def run(self) -> tuple[AnyPerDrive, Shaped[np.ndarray, " params"], AnyPerState]:
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

    def _scale(self, output: Shaped[np.ndarray, " size"]) -> Shaped[np.ndarray, " size"]:
        """Return the output of the feedback law times the factor; symbols that are zero become structural zeros."""
        import casadi

        entries = scale_by(output, self.factor)
        return array([0 if isinstance(entry, casadi.SX) and entry.is_zero() else entry for entry in entries])
