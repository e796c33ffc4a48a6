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
Two ways      ``spatial_control.WalkerRecursion`` evaluates symbols for the graph and, in ``evaluate``, floats, as the
              paper does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.control.controller import Reference, State
from ytheta.control.feedback.ports import CoordinateErrors
from ytheta.control.gains import PER_UNKNOWN, to_vector
from ytheta.control.laws.law import AdaptiveLaw, LawEquations
from ytheta.control.laws.spatial_control import SpatialLaw, WalkerRecursion
from ytheta.control.unknowns import LawSymbols, Unknowns, select_unknowns
from ytheta.dynamics.loop_solver import solve
from ytheta.dynamics.vectors import dot
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.parameters import select_parameters
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerJoint, PerState, PerUnknown


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Walker(SpatialLaw, AdaptiveLaw):
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

    initial: PerUnknown | Sequence[float] | None = None

    def __post_init__(self) -> None:
        if self.base is not None:
            raise InputError(
                "Walker's controller weights links by their own inertias and cannot use base parameters; leave base out"
            )
        super().__post_init__()

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

    def equations(self, s: LawSymbols) -> LawEquations:
        equations, w = self._run_recursion(s, is_whole=False)
        return equations._replace(slope=w[list(self.unknowns.indices)])  # (23), (24)

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

    @cached_property
    def _initial(self) -> Float[np.ndarray, " unknown"]:
        if self.initial is None:
            return self.unknowns.nominal
        return to_vector("initial", self.initial, len(self.unknown_names), per=PER_UNKNOWN)

    @property
    def _initial_theta(self) -> Float[np.ndarray, " params"]:
        theta = self.unknowns.theta.copy()
        theta[list(self.unknowns.indices)] = self._initial
        return theta
