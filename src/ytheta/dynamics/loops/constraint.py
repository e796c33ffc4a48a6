"""The constraints of a robot's loops: x = U(Q), xd = E Qd, xdd = E Qdd + Edot Qd, without constraint forces.

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
              those of a planar loop, are left out (see ``builder``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.dynamics.loops.elimination import extract_entries, find_blocks, solve
from ytheta.dynamics.mechanism import Mechanism, exact_array
from ytheta.dynamics.motion import scalars
from ytheta.dynamics.vectors import array, dot, zeros
from ytheta.robot.loops.cut_joint import CutJoint
from ytheta.robot.parts import JointKind
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyMatrix3, AnyPerCoordinate, Float, Shaped

if TYPE_CHECKING:
    import casadi

WARM_START_STEPS = 3  # number of Newton steps from the coordinates of the previous time step; each squares the error


@dataclass(frozen=True, eq=False)
class Affine:
    """U in closed form, which exists for parallelograms: x = E Q + offset for every Q."""

    E: Float[np.ndarray, "coordinates actuated"]
    offset: Float[np.ndarray, "coordinates"]


@dataclass(frozen=True, eq=False)
class Constraint:
    """The closure equations of a robot's loops, in symbols x of its coordinates. Made by ``builder.build_constraint``.

    ``actuated`` and ``passive`` are indices into x. ``equations`` are independent closure equations, as many as there
    are passive coordinates. The loops are closed at the coordinates ``home``. Without loops there are no cut joints and
    no equations, and x is Q. ``base_rotation`` replaces the rotation of a floating base that x contains.
    """

    mechanism: Mechanism
    x: casadi.SX
    actuated: tuple[int, ...]
    passive: tuple[int, ...]
    home: Float[np.ndarray, "coordinates"]
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


def compute_joint_positions(robot: Robot, x: AnyPerCoordinate) -> tuple[Shaped[np.ndarray, "joints"], ...]:
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
