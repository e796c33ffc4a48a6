"""Walker's class of control laws: torques from spatial forces of the links and torques of the joints.

Identity      fhat_j = Fhat_j + fhat_k + fhat_l,   rhohat_j = s_j' fhat_j + etahat_j,   tau = Eᵀ rhohat
              Fhat_j and etahat_j are any functions of desired and actual motion
Reference     [walker1988] sec. 4, the two characteristics before (16); sec. 5; ``feedback.feedback`` for the conditions
Accepts       every robot
Notation      code          paper              meaning                                            shape
              convergence   Lambda             v = qrd - Lambda e                                 actuated x actuated
              v             Qhatdot            reference velocity of the actuated coordinates
              model_force   (21)               Ihat_j vhatdot_j + vhat_j × Ihat_j vhat_j - Ihat_j g    6
              model_torque  (22)               d_j qd_j; also rotor, Coulomb friction, forces     1
Proof         In ``SpatialControl``, Fhat_j and etahat_j are wholly those of the user. With the V of (26), without
              estimates, plus the storage S of the law, (16) and (27) give
                  dV/dt = P                              if they contain model_force and model_torque
                  dV/dt = P - sum over links and joints of (vtilde_j' model_force_j + qtildedot_j model_torque_j)
                                                         if they do not
              P is the power of the rest, plus dS/dt. The conditions on it are checked as for Walker's controller. The
              errors vanish, as in the paper, only if dV/dt = P. Whether it is follows from the law in symbols
              (``lacks_model``). A PID controller without a model is accepted, but its errors need not vanish.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ytheta.control.feedback.conditions import check_conditions, list_places_without_model
from ytheta.control.feedback.feedback import Feedback
from ytheta.control.feedback.inertial import InertialFeedback
from ytheta.control.feedback.ports import CoordinateErrors, FeedbackPorts
from ytheta.control.gains import Gain, GainShape, compute_quadratic_form, scale_by
from ytheta.control.laws.law import Law, LawEquations
from ytheta.control.unknowns import LawSymbols
from ytheta.conventions import JOINT_PARAMETERS
from ytheta.dynamics.constraint import DriveMotion, LoopConstraint, build_constraint, column, compute_drive_motion
from ytheta.dynamics.formulations.spatial_tree import LinkMotion, add_forces, spatial_transpose, traverse
from ytheta.dynamics.mechanism import PER_LINK, numeric_motion, scalars
from ytheta.dynamics.symbolic_model import SymbolicModel, compute_force_shapes
from ytheta.dynamics.vectors import array, dot, inner, scale, zeros
from ytheta.errors import InputError
from ytheta.robot.parameters import find_drive_slices
from ytheta.shapes import (
    AnyPerDrive,
    AnyPerState,
    AnySpatialColumns,
    Float,
    PerCoordinate,
    PerJoint,
    Shaped,
    SquareMatrix,
)

if TYPE_CHECKING:
    import casadi


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SpatialLaw(Law, ABC):
    """What the laws of Walker's class share: a feedback law at links and joints, and the conditions on it.

    Attributes
    ----------
    convergence  Lambda: rate in 1/s at which the position error follows r = ed + Lambda e
    feedback     the feedback law; a gain stands for ``InertialFeedback``
    rng          random seed or generator of the samples at which the conditions on the feedback law are checked
    """

    convergence: Gain
    feedback: Gain | Feedback
    rng: np.random.Generator | int = 0

    GAINS: ClassVar[Mapping[str, GainShape]] = {"convergence": GainShape.MATRIX, "feedback": GainShape.LINKS}

    def __post_init__(self) -> None:
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

    def lyapunov_term(self, s: LawSymbols, true: SymbolicModel) -> Any:
        """Return the terms of V that do not depend on the estimate: rᵀ M r / 2 of (26), and the feedback's storage."""
        r = s.error_rate + s.apply_gain("convergence", s.error)
        storage = self._ports.compute_storage(self._make_errors(s))
        return compute_quadratic_form(true.mass_matrix, r) * 0.5 + storage * s.factors.get("feedback", 1)

    def _run_recursion(self, s: LawSymbols, *, is_whole: bool) -> tuple[LawEquations, Shaped[np.ndarray, " params"]]:
        """Return the equations without a slope, and w of every parameter."""
        v, vd = s.qrd - s.apply_gain("convergence", s.error), s.qrdd - s.apply_gain("convergence", s.error_rate)  # (17)
        m = compute_drive_motion(s.model.loops, s.qd, vd, v)
        shapes = compute_force_shapes(s.model.loops, m.joints.q)
        factor = s.factors.get("feedback", 1)
        recursion = WalkerRecursion(self._ports, self._make_errors(s), m, shapes, s.model.theta, factor, is_whole)
        rho, w, state_rate = recursion.run()
        return LawEquations(dot(m.drive_jacobian.T, rho), s.qd - v, zeros(0), state_rate), w

    def _make_errors(self, s: LawSymbols) -> CoordinateErrors:
        Lambda = scale_by(self.gains["convergence"].diagonal(), s.factors.get("convergence", 1))
        return CoordinateErrors(s.error, s.error_rate, Lambda, s.law_state)

    @cached_property
    def _loops(self) -> LoopConstraint:
        return build_constraint(self.robot)

    @property
    def _initial_theta(self) -> Float[np.ndarray, " params"]:
        """The parameters whose inertias weight the errors of the links."""
        return self.unknowns.theta

    @cached_property
    def _ports(self) -> FeedbackPorts:
        initial = self._initial_theta[: PER_LINK * len(self._loops.mechanism.bodies)]
        return FeedbackPorts(self.feedback_law, self._loops, initial)

    @cached_property
    def _motion_function(self) -> MotionFunction:
        return MotionFunction(self._loops)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SpatialControl(SpatialLaw):
    """The law whose spatial forces Fhat_j and torques etahat_j are wholly those of a feedback law, without adaptation.

    A PID controller without a model is ``SpatialControl(robot, convergence=…, feedback=PIDFeedback(…))``.

    Attributes
    ----------
    robot          the robot description; model terms that the feedback law uses have the parameters of this description
    torque_limits  limits of the torques in Nm or N, one number or one per joint; None for no limits
    convergence    Lambda: rate in 1/s of r = ed + Lambda e. The law uses it only as far as its feedback law does
    feedback       the law that gives Fhat_j at every link and etahat_j at every joint; a gain stands for
                   ``InertialFeedback``. ``link.model_force`` and ``joint.model_torque`` are the terms with which the
                   paper's controller cancels the dynamics
    rng            random seed or generator of the samples at which the conditions on the feedback law are checked
    lacks_model    links and joints at which the law does not contain the whole model term. If there is one, V need not
                   fall, and the errors need not vanish
    """

    @property
    def name(self) -> str:
        return "spatial-control"

    @cached_property
    def lacks_model(self) -> tuple[str, ...]:
        """The links and joints at which (21) and (22) demand a model term that the law does not contain."""
        return list_places_without_model(self._ports, np.random.default_rng(self.rng))

    def __str__(self) -> str:
        """Return the gains in full, and whether the stability proof of the paper covers the law."""
        lacking = f"{', '.join(self.lacks_model)} without model terms (21), (22): the errors need not vanish"
        return f"{super().__str__()}\n  {'proof':17}{lacking if self.lacks_model else 'complete, (26)-(29)'}"

    def equations(self, s: LawSymbols) -> LawEquations:
        return self._run_recursion(s, is_whole=True)[0]


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
    """The recursion of sec. 5, on symbols or floats. ``factor`` multiplies the outputs of the feedback law.

    The outputs of the feedback law are added to the model terms of (21) and (22); if ``is_whole`` is true, they are
    Fhat_j and etahat_j themselves, and the law may use the model terms.
    """

    ports: FeedbackPorts
    errors: CoordinateErrors
    m: DriveMotion
    force_shapes: Shaped[np.ndarray, "drives forces"]
    theta: Shaped[np.ndarray, " params"]
    factor: Any = 1
    is_whole: bool = False

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
            model = dot(F, theta[place])
            response = ports.respond_at_link(
                link, error, motion.u, self.errors.state, model if self.is_whole else zeros(6)
            )
            link_rates[link] = response.state_rate
            output = self._scale(response.output)
            return (output if self.is_whole else model + output)[:, None]

        for force in traverse(ports.loops.mechanism, m.joints, compute_link_force, add_forces):
            rho[force.joint] = force.row[0]
        rows, roots = m.parameter_factors, m.root_factors
        rows[:, VISCOUS] = m.clip_velocities(m.velocity)  # (22)
        first_force = len(theta) - self.force_shapes.shape[1]
        forces = dot(self.force_shapes, theta[first_force:])
        for k, place in enumerate(find_drive_slices(ports.loops.robot)):  # (22), (24)
            here = slice(k, k + 1)
            factors = rows[k] if m.drives[k].root is None else np.concatenate([rows[k], roots[here]])
            model_torque = array([inner(factors, theta[place]) + forces[k]])
            response = ports.respond_at_joint(
                k,
                velocity_error[here],
                m.reference_velocity[here],
                self.errors,
                model_torque if self.is_whole else zeros(1),
            )
            output_torque = self._scale(response.output)[0]
            rho[k] = rho[k] + (output_torque if self.is_whole else model_torque[0] + output_torque)
            w[place] = scale(factors, velocity_error[here])
            coordinate = ports.find_coordinate(k)
            if coordinate is not None:
                joint_rates[coordinate] = response.state_rate
        w[first_force:] = dot(self.force_shapes.T, velocity_error)
        return rho, w, np.concatenate([joint_rates.ravel(), link_rates.ravel()])

    def _scale(self, output: Shaped[np.ndarray, " size"]) -> Shaped[np.ndarray, " size"]:
        """Return the output of the feedback law times the factor; symbols that are zero become structural zeros."""
        import casadi

        entries = scale_by(output, self.factor)
        return array([0 if isinstance(entry, casadi.SX) and entry.is_zero() else entry for entry in entries])
