"""Walker's inverse dynamics on a binary tree of links, in spatial notation.

Identity      rho = Y(q, qd, qdd) @ theta   for every theta; with loops tau = E^T rho (see ``full_regressor``)
Reference     [walker1988] (1)-(3), (11)-(15), (18)-(21), (25), sec. 5 (the procedures); the tree: ``binary_tree``
Accepts       trees of revolute and prismatic joints with any axis, loads, loops cut at joints of any kind, floating
              bases
Notation      code   paper     meaning                                          shape   frame
              v      v_i       spatial velocity for qd                          6       i
              u      vhat_i    spatial velocity for the reference v             6       i
              ud     vhatdot   spatial acceleration of u, minus gravity         6       i
              s      s_i       axis of joint i, constant in frame i             6       i
              F      F_i       inertial force per unit of the ten parameters    6 x 10  i
              f      f_i       force of a link and all links behind it          6 x n   i
              X f    l_i       the same in the frame of the predecessor         6 x n   phi_i
Two forms     If the reference v is not qd, ``regressor`` makes every velocity product symmetric in qd and v, which is
              the form with Christoffel symbols, equal to ``newton_euler``. ``walker_regressor`` is the paper's own:
              (19) with v_i × s_i vhat and (21) with vhat × I vhat. Both have the same (qd - v)^T Y, hence the same
              adaptation and the same stability, but not the same torque. If v is qd, they are equal.
Differs from  the paper in: any joint axis and link frame instead of Denavit-Hartenberg; the paper's m_i in the order of
              ``conventions``; g is (0, 0, 0, 0, 0, -9.8) (the print lacks a zero, and its prime swaps the halves);
              the frame of a connector is that of its link; terminating links carry no force and are not visited;
              s_i in the axes of link i, in which it is constant too and often a unit vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ytheta.dynamics.formulations.binary_tree import NodeKind, build_binary_tree
from ytheta.dynamics.formulations.newton_euler import joint_axis, joint_origin, pose
from ytheta.dynamics.formulations.spatial import (
    Transform,
    gyroscopic_columns,
    momentum_columns,
    spatial_cross,
    spatial_transpose,
)
from ytheta.dynamics.mechanism import PER_LINK, Body, Mechanism
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import dot, scale, skew, zeros
from ytheta.robot.robot import Robot
from ytheta.shapes import AnySpatialColumns, AnySpatialVector, Shaped

TWIST_ORDER = (3, 4, 5, 0, 1, 2)  # a spatial vector begins with the rotation, the coordinates of a base do not


@dataclass(frozen=True, eq=False)
class LinkMotion:
    """Spatial velocities and acceleration of a link, in the notation above. If the reference is qd, u *is* v."""

    v: AnySpatialVector
    u: AnySpatialVector
    ud: AnySpatialVector

    @property
    def inertial_columns(self) -> Shaped[np.ndarray, "6 10"]:
        """F of (11), (21), with vhat × I vhat; gravity is part of the acceleration."""
        return momentum_columns(self.ud) + gyroscopic_columns(self.u, self.u)

    @property
    def symmetric_inertial_columns(self) -> Shaped[np.ndarray, "6 10"]:
        """F with the velocity product symmetric in v and u."""
        return momentum_columns(self.ud) + gyroscopic_columns(self.v, self.u)


@dataclass(frozen=True, eq=False)
class JointForce:
    """The row s' f of one joint (13). ``links`` are the links whose forces are in f, in the order of f's columns."""

    joint: int
    links: tuple[int, ...]
    row: Shaped[np.ndarray, "columns"]


LinkForce: TypeAlias = Callable[[int, LinkMotion], AnySpatialColumns]
Combine: TypeAlias = Callable[[Sequence[np.ndarray]], AnySpatialColumns]


def explain_refusal(robot: Robot) -> str | None:
    """Return None if this formulation accepts the robot, else the reason why not."""
    if robot.loops and not robot.actuated:
        return f"robot {robot.name!r} has loops but no actuated coordinates; choose them with 'actuated'"
    return None


def regressor(mechanism: Mechanism, motion: Motion) -> Shaped[np.ndarray, "joints params"]:
    """The regressor of all link parameters, ten columns per body, one row per tree joint, symmetric in qd and v."""
    if motion.ordinary:
        return walker_regressor(mechanism, motion)
    forces = traverse(mechanism, motion, lambda _, m: m.symmetric_inertial_columns, concatenate_forces, symmetric=True)
    return _assemble_regressor(mechanism, forces)


def walker_regressor(mechanism: Mechanism, motion: Motion) -> Shaped[np.ndarray, "joints params"]:
    """The regressor of Walker's controller, (18)-(21); the w_jk of (25) are Y^T (qd - v)."""
    forces = traverse(mechanism, motion, lambda _, m: m.inertial_columns, concatenate_forces)
    return _assemble_regressor(mechanism, forces)


def traverse(
    mechanism: Mechanism, motion: Motion, link_force: LinkForce, combine: Combine, *, symmetric: bool = False
) -> list[JointForce]:
    """Walker's recursion (sec. 5): the motion of the links from the base outward, then their forces inward.

    ``link_force(link, motion)`` returns the force of one link as columns. ``combine`` joins the forces of a link and
    of the links behind it (12): ``concatenate_forces`` if the columns belong to parameters, else ``add_forces``.
    """
    nodes = build_binary_tree(mechanism.robot).nodes
    result: list[JointForce] = []

    def visit(number: int | None, above: LinkMotion) -> tuple[list[int], list[np.ndarray]]:
        """Return the links at and behind a node, and their forces in the frame of the link before the node."""
        if number is None or nodes[number].kind is NodeKind.TERMINATING:
            return [], []
        node = nodes[number]
        if node.kind is not NodeKind.SUCCESSOR:
            return visit_both(number, above)
        link = number - 1
        body = mechanism.bodies[link]
        X = Transform(*pose(body, motion))
        link_motion = _propagate_motion(body, X, above, motion, symmetric=symmetric)
        behind, forces = visit_both(number, link_motion)
        links = [link, *behind]
        f = combine([link_force(link, link_motion), *forces])  # (12)
        if body.wrench is not None:
            rows = Transform(body.S, body.s).up(f)  # force, then moment, in the joint frame
            result.extend(JointForce(k, tuple(links), row) for k, row in enumerate(rows, start=body.wrench))
        elif body.joint is not None:
            s = _compute_spatial_axis(body)
            result.append(JointForce(body.joint, tuple(links), dot(spatial_transpose(s[:, None]), f)[0]))
        return links, [X.up(f)]

    def visit_both(number: int, above: LinkMotion) -> tuple[list[int], list[np.ndarray]]:
        """Visit the connector and the successor of a node, and return both results together."""
        left, right = (visit(k, above) for k in (nodes[number].connector, nodes[number].successor))
        return [*left[0], *right[0]], [*left[1], *right[1]]

    at_rest = zeros(6)
    visit(0, LinkMotion(at_rest, at_rest, np.concatenate([zeros(3), -mechanism.gravity])))
    return result


def _propagate_motion(body: Body, X: Transform, above: LinkMotion, motion: Motion, *, symmetric: bool) -> LinkMotion:
    """Velocities and acceleration of a link from those of the link before it: (2), (3), (18), (19)."""
    v, ud = X.down(above.v), X.down(above.ud)
    u = v if motion.ordinary else X.down(above.u)
    if body.free:
        return _compute_base_motion(motion, ud, symmetric=symmetric)
    if body.joint is None:
        return LinkMotion(v, u, ud)
    joint, s = slice(body.joint, body.joint + 1), _compute_spatial_axis(body)
    product = scale(spatial_cross(v, s), motion.v[joint])
    if symmetric:
        product = (product + scale(spatial_cross(u, s), motion.qd[joint])) * 0.5
    ud = ud + scale(s, motion.vd[joint]) + product
    v = v + scale(s, motion.qd[joint])
    return LinkMotion(v, v if motion.ordinary else u + scale(s, motion.v[joint]), ud)


def _compute_base_motion(motion: Motion, minus_gravity: AnySpatialVector, *, symmetric: bool) -> LinkMotion:
    """Velocities and acceleration of a floating base: its six axes are the coordinate axes of its own frame."""
    v, u, ud = (vector[list(TWIST_ORDER)] for vector in (motion.qd, motion.v, motion.vd))
    if motion.ordinary or symmetric:  # v × u is antisymmetric
        return LinkMotion(v, v if motion.ordinary else u, minus_gravity + ud)
    return LinkMotion(v, u, minus_gravity + ud + spatial_cross(v, u))


def _compute_spatial_axis(body: Body) -> AnySpatialVector:
    """The spatial axis s of a body's joint, which is constant in the body's frame."""
    z = joint_axis(body)
    return np.concatenate([z, dot(skew(joint_origin(body)), z)] if body.revolute else [zeros(3), z])


def concatenate_forces(forces: Sequence[np.ndarray]) -> AnySpatialColumns:
    """Concatenate the columns of several links."""
    return np.concatenate(forces, axis=1)


def add_forces(forces: Sequence[np.ndarray]) -> AnySpatialColumns:
    """Add the forces of several links."""
    total = forces[0]
    for force in forces[1:]:
        total = total + force
    return total


def _assemble_regressor(mechanism: Mechanism, forces: Sequence[JointForce]) -> Shaped[np.ndarray, "joints params"]:
    Y = zeros(mechanism.joints, PER_LINK * len(mechanism.bodies))
    for force in forces:
        columns = [PER_LINK * link + k for link in force.links for k in range(PER_LINK)]
        Y[force.joint, columns] = force.row  # (13)
    return Y
