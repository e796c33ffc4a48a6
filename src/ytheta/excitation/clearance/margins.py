"""Clearance: margins of distance as a function of the joint positions, with gradients and bounds on their slopes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ytheta.dynamics.formulations.newton_euler import pose
from ytheta.dynamics.mechanism import Mechanism, casadi_motion, scalars
from ytheta.engine.engine import PickledByFields
from ytheta.errors import InputError
from ytheta.findings import Finding
from ytheta.native import Kernel, compile_graph
from ytheta.native.graph import Graph, Input, trace
from ytheta.shapes import Float, PerJoint, SamplesByJoint, Vector3, freeze

if TYPE_CHECKING:
    import casadi

MAX_NAMED_VIOLATIONS = 4  # affects only the length of a message


@dataclass(frozen=True, eq=False)
class Clearance(PickledByFields):
    """Margins that must not be negative along a path: distances minus the clearance asked for.

    q has the order of ``robot.movable`` and contains all joints, also those that couplings and loops determine.

    Attributes
    ----------
    names            one name for each margin, such as "link4–link7"
    lipschitz        bounds on |d margin / d q_j| over all poses within the position limits, in m/rad or m/m
    findings         pairs that are not checked, and links without collision shapes
    margins_graph    q → margins
    pull_back_graph  (q, weights) → gradient of the weighted sum of the margins
    """

    names: tuple[str, ...]
    lipschitz: Float[np.ndarray, "margins joints"]
    findings: tuple[Finding, ...]
    margins_graph: Graph
    pull_back_graph: Graph

    def compute_margins(self, q: SamplesByJoint) -> Float[np.ndarray, "samples margins"]:
        """Return the margins of each sample in metres; a negative one is violated."""
        return self._margins(q)

    def pull_back(self, q: SamplesByJoint, weights: Float[np.ndarray, "samples margins"]) -> SamplesByJoint:
        """Return the gradient of ``sum(weights * margins)`` with respect to q."""
        return self._pull_back(q, weights)

    def check_pose(self, q: PerJoint, *, pose: str = "the start pose") -> None:
        """Raise InputError with the names of the margins that a pose violates."""
        margins = self.compute_margins(np.asarray(q, dtype=float)[None])[0]
        violated = np.flatnonzero(margins < 0.0)
        if len(violated):
            worst = violated[np.argsort(margins[violated])]
            listed = ", ".join(f"{self.names[k]} by {-1e3 * margins[k]:.3g} mm" for k in worst[:MAX_NAMED_VIOLATIONS])
            more = f" and {len(worst) - MAX_NAMED_VIOLATIONS} more" if len(worst) > MAX_NAMED_VIOLATIONS else ""
            raise InputError(
                f"{pose} is too close to a collision or outside the workspace: {listed}{more}; give another pose, or "
                "a smaller clearance"
            )

    @cached_property
    def _margins(self) -> Kernel:
        return compile_graph(self.margins_graph)

    @cached_property
    def _pull_back(self) -> Kernel:
        return compile_graph(self.pull_back_graph)


def make_clearance(
    poses: BodyPoses,
    margins: Sequence[Margin],
    names: Sequence[str],
    lipschitz: Float[np.ndarray, "margins joints"],
    *,
    findings: Sequence[Finding] = (),
) -> Clearance:
    """Return the clearance of symbolic margins; nothing is compiled before it is used."""
    return Clearance(
        tuple(names),
        freeze(np.array(lipschitz, dtype=float)),
        tuple(findings),
        trace_margins(poses, margins),
        trace_pull_back(poses, margins),
    )


# Graphs of margins: from joint positions to margins, and from weights of margins to their gradient.
#
# A margin changes by ``sum(direction · change of point)`` over its pushes. So its gradient is J^T applied to forces
# ``weight * direction`` at the points: the forces on each body are added up, then passed on towards the base, as in the
# recursion of Newton and Euler. This needs far fewer operations than a Jacobian for every margin.


@dataclass(frozen=True, eq=False)
class Push:
    """A point of a body (None for the base) and the direction in which its motion increases a margin; base axes."""

    body: int | None
    point: casadi.SX
    direction: casadi.SX


@dataclass(frozen=True, eq=False)
class Margin:
    """The value of a margin in metres, and its pushes."""

    value: casadi.SX
    pushes: tuple[Push, ...]


@dataclass(frozen=True, eq=False)
class BodyPoses:
    """The poses of all bodies at symbolic joint positions q: rotations and positions seen from the base."""

    mechanism: Mechanism
    q: casadi.SX
    rotations: tuple[casadi.SX, ...]
    positions: tuple[casadi.SX, ...]

    def locate(self, body: int | None, point: Vector3) -> casadi.SX:
        """Return a point that is given in the frame of a body."""
        import casadi

        fixed = casadi.SX(np.asarray(point, dtype=float).tolist())
        return fixed if body is None else self.rotations[body] @ fixed + self.positions[body]


def pose_bodies(mechanism: Mechanism) -> BodyPoses:
    """Return the poses of the bodies of a mechanism at symbolic joint positions."""
    import casadi

    q, rest = casadi.SX.sym("q", mechanism.joints), casadi.SX.zeros(mechanism.joints)
    motion = casadi_motion(q, rest, rest)
    rotations: list[casadi.SX] = []
    positions: list[casadi.SX] = []
    for body in mechanism.bodies:
        R, p = (_to_matrix(part) for part in pose(body, motion))
        if body.parent is not None:
            R, p = rotations[body.parent] @ R, rotations[body.parent] @ p + positions[body.parent]
        rotations.append(R)
        positions.append(p)
    return BodyPoses(mechanism, q, tuple(rotations), tuple(positions))


def trace_margins(poses: BodyPoses, margins: Sequence[Margin]) -> Graph:
    """Return the graph q → margins."""
    import casadi

    inputs = [(Input("q", poses.mechanism.joints), poses.q)]
    return trace("margins", inputs, scalars(casadi.vertcat(*(margin.value for margin in margins))))


def trace_pull_back(poses: BodyPoses, margins: Sequence[Margin]) -> Graph:
    """Return the graph (q, weights) → gradient of the weighted sum of the margins."""
    import casadi

    weights = casadi.SX.sym("weights", len(margins))
    mechanism = poses.mechanism
    force = [casadi.SX.zeros(3) for _ in mechanism.bodies]
    moment = [casadi.SX.zeros(3) for _ in mechanism.bodies]  # about the origin of the base
    for k, margin in enumerate(margins):
        for push in margin.pushes:
            if push.body is not None:
                f = weights[k] * push.direction
                force[push.body] += f
                moment[push.body] += casadi.cross(push.point, f)
    gradient = casadi.SX.zeros(mechanism.joints)
    for k in reversed(range(len(mechanism.bodies))):
        body = mechanism.bodies[k]
        if body.joint is not None:
            R = poses.rotations[k] @ _to_matrix(body.S).T
            axis = R @ _to_matrix(body.axis)
            if body.revolute:
                origin = poses.positions[k] - R @ _to_matrix(body.s)
                gradient[body.joint] = casadi.dot(axis, moment[k] - casadi.cross(origin, force[k]))
            else:
                gradient[body.joint] = casadi.dot(axis, force[k])
        if body.parent is not None:
            force[body.parent] += force[k]
            moment[body.parent] += moment[k]
    inputs = [(Input("q", mechanism.joints), poses.q), (Input("weights", len(margins)), weights)]
    return trace("pull back", inputs, scalars(gradient))


def _to_matrix(values: np.ndarray) -> casadi.SX:
    """Return a vector or matrix of scalars of any kind as a CasADi matrix."""
    import casadi

    rows = [casadi.horzcat(*row) if isinstance(row, np.ndarray) else row for row in values]
    return casadi.SX(casadi.vertcat(*rows))
