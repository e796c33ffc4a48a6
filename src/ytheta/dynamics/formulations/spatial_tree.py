"""Walker's inverse dynamics on a binary tree of links, in spatial notation.

Identity      rho = Y(q, qd, qdd) @ theta   for every theta; with loops tau = E^T rho (see ``full_regressor``)
Reference     [walker1988] (1)-(3), (11)-(15), (18)-(21), (25), sec. 5 (the procedures); the tree: ``build_binary_tree``
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
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

import numpy as np

from ytheta.dynamics.formulations.newton_euler import inertia_columns, joint_axis, joint_origin, pose
from ytheta.dynamics.mechanism import PER_LINK, Body, Mechanism, Motion
from ytheta.dynamics.vectors import centripetal_matrix, dot, scale, skew, zeros
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
    row: Shaped[np.ndarray, " columns"]


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
        X = SpatialTransform(*pose(body, motion))
        link_motion = _propagate_motion(body, X, above, motion, symmetric=symmetric)
        behind, forces = visit_both(number, link_motion)
        links = [link, *behind]
        f = combine([link_force(link, link_motion), *forces])  # (12)
        if body.wrench is not None:
            rows = SpatialTransform(body.S, body.s).up(f)  # force, then moment, in the joint frame
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


def _propagate_motion(
    body: Body, X: SpatialTransform, above: LinkMotion, motion: Motion, *, symmetric: bool
) -> LinkMotion:
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


# Spatial algebra in Walker's notation (Featherstone 1983), on object arrays of any scalar.
#
# Motions are (w, v): angular velocity first, then the velocity v of the point at the frame's origin. Forces are (force,
# moment about the origin), and momenta are (linear, angular about the origin). The prime is the *spatial* transpose,
# which swaps the halves, so that the product of a motion and a force is a power: s' f = s_w . f_moment + s_v . f_force.
# Motions and forces then share one transform and one cross product::
#
#     X = | A      0 |      X' = X^-1 = | A^T         0   |      v x = | K(w)  0    |
#         | K(p)A  A |                  | -A^T K(p)   A^T |            | K(v)  K(w) |
#
# A and p are the rotation and position of the moved frame in the other frame; K(a) b = a x b.


def momentum_columns(v: AnySpatialVector) -> Shaped[np.ndarray, "6 10"]:
    """I v per unit of the ten parameters: the columns R_k v of sec. 2.4, in the order of ``conventions``."""
    w, linear = v[:3], v[3:]
    result = zeros(6, PER_LINK)
    result[:3, 0] = linear
    result[:3, 1:4] = skew(w)
    result[3:, 1:4] = -skew(linear)
    result[3:, 4:] = inertia_columns(w)
    return result


def gyroscopic_columns(v: AnySpatialVector, u: AnySpatialVector) -> Shaped[np.ndarray, "6 10"]:
    """v × I v per unit of the ten parameters, as the bilinear form ½ (v × I u + u × I v) that is symmetric in v and u.

    The product is expanded: v × v = 0, so the mass causes no moment, and K(v) K(w) - K(w) K(v) = K(v × w).
    """
    w, u_w = v[:3], u[:3]
    product = dot(skew(w), u[3:])
    inertia = dot(skew(w), inertia_columns(u_w))
    if v is not u:
        product = (product + dot(skew(u_w), v[3:])) * 0.5
        inertia = (inertia + dot(skew(u_w), inertia_columns(w))) * 0.5
    result = zeros(6, PER_LINK)
    result[:3, 0] = product
    result[:3, 1:4] = centripetal_matrix(w, w if v is u else u_w)
    result[3:, 1:4] = -skew(product)
    result[3:, 4:] = inertia
    return result


@dataclass(frozen=True, eq=False)
class SpatialTransform:
    """The transform X of a moved frame in another frame, stored as its rotation A and position p."""

    A: Shaped[np.ndarray, "3 3"]
    p: Shaped[np.ndarray, "3"]

    @property
    def matrix(self) -> Shaped[np.ndarray, "6 6"]:
        X = zeros(6, 6)
        X[:3, :3] = X[3:, 3:] = self.A
        X[3:, :3] = dot(skew(self.p), self.A)
        return X

    def up(self, columns: AnySpatialColumns) -> AnySpatialColumns:
        """X y: from the moved frame to the other frame."""
        upper, lower = dot(self.A, columns[:3]), dot(self.A, columns[3:])
        return np.concatenate([upper, lower + dot(skew(self.p), upper)])

    def down(self, y: AnySpatialVector) -> AnySpatialVector:
        """X' y: from the other frame to the moved frame."""
        inverse = self.A.T
        return np.concatenate([dot(inverse, y[:3]), dot(inverse, y[3:] - dot(skew(self.p), y[:3]))])


def spatial_transpose(X: Shaped[np.ndarray, "6 columns"]) -> Shaped[np.ndarray, "columns 6"]:
    """X' of a 6 x 6 matrix, or the row s' of a column s."""
    swapped = np.concatenate([X[3:], X[:3]]).T
    if X.shape[1] == 6:
        return np.concatenate([swapped[3:], swapped[:3]])
    return swapped


def spatial_cross(v: AnySpatialVector, y: AnySpatialVector) -> AnySpatialVector:
    """v × y."""
    upper = dot(skew(v[:3]), y[:3])
    return np.concatenate([upper, dot(skew(v[:3]), y[3:]) + dot(skew(v[3:]), y[:3])])


# Walker's binary tree of the links of a robot.
#
# Reference     [walker1988] sec. 2.1-2.2
# Accepts       every robot; loops are cut at their cut joints
# Notation      code         paper    meaning
#               successor    -        node of the next link or of a cut joint; the right branch
#               connector    -        node that locates a further joint on the same link; the left branch
#               predecessor  phi_i    the node towards the base
#               path         Phi_i    nodes from i to the base
#               descendants  Psi_i    i and all nodes behind it


class NodeKind(StrEnum):
    """The kind of a node. Successors are the links of the robot; the other nodes have no mass."""

    BASE = "base"
    SUCCESSOR = "successor"
    TERMINATING = "terminating"
    CONNECTOR = "connector"


@dataclass(frozen=True)
class TreeNode:
    """A node of the tree: its kind, its joint, and the numbers of its neighbours.

    ``joint`` is the joint of a link, the cut joint of a terminating link, or the joint that a connector locates.
    """

    number: int
    kind: NodeKind
    joint: str | None = None
    predecessor: int | None = None
    connector: int | None = None
    successor: int | None = None


@dataclass(frozen=True)
class BinaryTree:
    """Nodes by number: base 0, links 1 … m, terminating links m+1 … m+r, then connectors."""

    nodes: tuple[TreeNode, ...]

    def path(self, number: int) -> tuple[int, ...]:
        """Phi_i: the nodes from i to the base, without the base."""
        path: list[int] = []
        current: int | None = number
        while current:
            path.append(current)
            current = self.nodes[current].predecessor
        return tuple(path)

    def descendants(self, number: int) -> tuple[int, ...]:
        """Psi_i: i and all nodes behind it."""
        return tuple(node.number for node in self.nodes if number in (*self.path(node.number), 0))


def build_binary_tree(robot: Robot) -> BinaryTree:
    """Build the tree of sec. 2.1, with connectors on the left and successors on the right.

    Links are numbered in tree order, terminating links in the order of the loops. The first joint on a link leads to
    the successor of the link. Every other joint on the link, and every loop that ends on the link, gets a connector.
    Connectors are numbered from the last joint to the first, then from the last loop to the first, and are chained in
    that order. For Walker's example, the numbers are those of the paper.
    """
    robot = robot.merged
    links = {link.name: k for k, link in enumerate(robot.links)}
    nodes = [TreeNode(0, NodeKind.BASE)]
    nodes += [TreeNode(links[joint.child], NodeKind.SUCCESSOR, joint.name) for joint in robot.joints]
    nodes += [TreeNode(len(links) + k, NodeKind.TERMINATING, loop.name) for k, loop in enumerate(robot.loops)]
    joints = (*robot.joints, *(loop.joint for loop in robot.loops))
    first = {joint.parent: k for k, joint in reversed(list(enumerate(joints, start=1)))}
    for link, number in first.items():
        _attach(nodes, number, to=links[link], side=NodeKind.SUCCESSOR)
    chain_ends = list(range(len(nodes)))  # the last connector on each link, or the link itself
    others = [(k, joint) for k, joint in enumerate(joints, start=1) if first[joint.parent] != k]
    located: list[tuple[str, str, int | None]] = [(joint.parent, joint.name, k) for k, joint in reversed(others)]
    located += [(loop.joint.child, loop.name, None) for loop in reversed(robot.loops)]
    for link, joint_name, successor in located:
        number = len(nodes)
        nodes.append(TreeNode(number, NodeKind.CONNECTOR, joint_name))
        _attach(nodes, number, to=chain_ends[links[link]], side=NodeKind.CONNECTOR)
        chain_ends[links[link]] = number
        if successor is not None:
            _attach(nodes, successor, to=number, side=NodeKind.SUCCESSOR)
    return BinaryTree(tuple(nodes))


def _attach(nodes: list[TreeNode], number: int, *, to: int, side: NodeKind) -> None:
    """Make node ``number`` the connector or the successor of another node."""
    nodes[to] = (
        replace(nodes[to], connector=number) if side is NodeKind.CONNECTOR else replace(nodes[to], successor=number)
    )
    nodes[number] = replace(nodes[number], predecessor=to)
