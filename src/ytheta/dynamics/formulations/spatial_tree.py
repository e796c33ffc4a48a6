"""Walker's inverse dynamics on a binary tree of links, in spatial notation.

Identity      rho = Y(q, qd, qdd) @ theta   for every theta; loops then give tau = E^T rho (see ``columns``)
Reference     [walker1988] sec. 2.1-2.2 (the tree), (1)-(3), (11)-(15), (18)-(22), (25), sec. 5 (the procedures)
Accepts       trees of revolute and prismatic joints with any axis, loads, loops cut at joints of any kind
Notation      code   paper     meaning                                          shape   frame
              v      v_i       spatial velocity for qd                          6       i
              u      vhat_i    spatial velocity for the reference v             6       i
              ud     vhatdot   its spatial acceleration, minus gravity          6       i
              s      s_i       axis of joint i; constant there                  6       i
              F      F_i       inertial force per unit of the ten parameters    6 x 10  i
              l      l_i       f_i of a link and all behind it, per parameter   6 x n   phi_i
Two forms     Where the reference v is not qd, ``regressor`` makes every velocity product symmetric in qd and v, which
              is the form with Christoffel symbols, equal to ``newton_euler``. ``walker_reference`` is the paper's own:
              (19) with v_i × s_i vhat and (21) with vhat × I vhat. Both give (qd - v)^T Y the same value, so the same
              adaptation and the same stability, but not the same torque. Where v is qd they are one.
Differs from  the paper in: any joint axis and link frame instead of Denavit-Hartenberg; the paper's m_i in the order of
              ``conventions``; g is (0, 0, 0, 0, 0, -9.8): the print lost a zero, and its prime swaps the halves;
              connectors and terminating links behind which there is no mass are not visited, since they carry no
              force; s_i in link i's axes, where it is constant too and mostly a unit vector, not in its predecessor's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from ytheta.dynamics.formulations.newton_euler import joint_point, pose
from ytheta.dynamics.formulations.spatial import (
    PER_LINK,
    Transform,
    gyroscopic_columns,
    momentum_columns,
    scaled,
    spatial_cross,
    spatial_transpose,
)
from ytheta.dynamics.mechanism import Body, Mechanism
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import array, dot, skew, zeros
from ytheta.robot.robot import Robot
from ytheta.shapes import AnySpatialVector, Shaped

IDENTITY = array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])


class NodeKind(StrEnum):
    """What a node stands for. Successors are the real links; the others have no mass."""

    BASE = "base"
    SUCCESSOR = "successor"
    TERMINATING = "terminating"
    CONNECTOR = "connector"


@dataclass(frozen=True)
class Node:
    """One item of the tree: its kind, the joint it holds or locates, and its neighbours by number.

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

    nodes: tuple[Node, ...]

    def path(self, number: int) -> tuple[int, ...]:
        """Φ_i: the nodes from i to the base, without the base."""
        path: list[int] = []
        at: int | None = number
        while at:
            path.append(at)
            at = self.nodes[at].predecessor
        return tuple(path)

    def descendants(self, number: int) -> tuple[int, ...]:
        """Ψ_i: i and all nodes behind it."""
        return tuple(node.number for node in self.nodes if number in (*self.path(node.number), 0))


def accepts(robot: Robot) -> str | None:
    """None if this formulation takes the robot, else the reason why not."""
    if robot.loops and not robot.actuated:
        return f"robot {robot.name!r} has loops but no actuated coordinates; choose them with 'actuated'"
    return None


def binary_tree(robot: Robot) -> BinaryTree:
    """The tree of sec. 2.1: connectors to the left, successors to the right.

    Links are numbered in tree order, terminating links in the order of the loops. The first joint behind a link is its
    successor's. Every other one, and every place where a loop ends on a link, gets a connector; connectors are numbered
    from the last joint back to the first, then from the last loop back, and hang on each other in that order. On
    Walker's example this gives the numbers of the paper.
    """
    robot = robot.merged
    links = {link.name: k for k, link in enumerate(robot.links)}
    nodes = [Node(0, NodeKind.BASE)]
    nodes += [Node(links[joint.child], NodeKind.SUCCESSOR, joint.name) for joint in robot.joints]
    nodes += [Node(len(links) + k, NodeKind.TERMINATING, loop.name) for k, loop in enumerate(robot.loops)]
    joints = (*robot.joints, *(loop.joint for loop in robot.loops))
    first = {joint.parent: k for k, joint in reversed(list(enumerate(joints, start=1)))}
    for link, number in first.items():
        _hang(nodes, links[link], number, NodeKind.SUCCESSOR)
    last = list(range(len(nodes)))  # of the chain of connectors that hangs on each link
    further = [(k, joint) for k, joint in enumerate(joints, start=1) if first[joint.parent] != k]
    located: list[tuple[str, str, int | None]] = [(joint.parent, joint.name, k) for k, joint in reversed(further)]
    located += [(loop.joint.child, loop.name, None) for loop in reversed(robot.loops)]
    for link, name, carried in located:
        number = len(nodes)
        nodes.append(Node(number, NodeKind.CONNECTOR, name))
        _hang(nodes, last[links[link]], number, NodeKind.CONNECTOR)
        last[links[link]] = number
        if carried is not None:
            _hang(nodes, number, carried, NodeKind.SUCCESSOR)
    return BinaryTree(tuple(nodes))


def _hang(nodes: list[Node], on: int, number: int, side: NodeKind) -> None:
    nodes[on] = (
        replace(nodes[on], connector=number) if side is NodeKind.CONNECTOR else replace(nodes[on], successor=number)
    )
    nodes[number] = replace(nodes[number], predecessor=on)


def regressor(mechanism: Mechanism, motion: Motion) -> Shaped[np.ndarray, "joints params"]:
    """The regressor of all link parameters, ten columns per body, one row per tree joint; symmetric in qd and v."""
    return _sweep(mechanism, motion, symmetric=not motion.ordinary)


def walker_reference(mechanism: Mechanism, motion: Motion) -> Shaped[np.ndarray, "joints params"]:
    """The regressor of Walker's controller, (18)-(21); the w_jk of (25) are Y^T (qd - v)."""
    return _sweep(mechanism, motion, symmetric=False)


def _sweep(mechanism: Mechanism, motion: Motion, *, symmetric: bool) -> Shaped[np.ndarray, "joints params"]:
    """The procedures of sec. 5: traverse calls forward on the way out and backward on the way back."""
    tree = binary_tree(mechanism.robot)
    seated = _seated(mechanism, tree)
    still = zeros(6)
    v, u = {0: still}, {0: still}
    ud = {0: np.concatenate([zeros(3), -mechanism.gravity])}
    Y = zeros(mechanism.joints, PER_LINK * len(mechanism.bodies))

    def forward(node: Node, X: Transform, joint: slice, s: AnySpatialVector) -> None:
        """Velocities and the acceleration of a node from those of its predecessor: (2), (3), (18), (19)."""
        i, above = node.number, node.predecessor or 0
        v[i] = X.down(v[above])
        u[i] = v[i] if motion.ordinary else X.down(u[above])
        ud[i] = X.down(ud[above])
        if s.any():
            bias = scaled(spatial_cross(v[i], s), motion.v[joint])
            if symmetric:
                bias = (bias + scaled(spatial_cross(u[i], s), motion.qd[joint])) * 0.5
            ud[i] = ud[i] + scaled(s, motion.vd[joint]) + bias
            v[i] = v[i] + scaled(s, motion.qd[joint])
            u[i] = v[i] if motion.ordinary else u[i] + scaled(s, motion.v[joint])

    def backward(node: Node) -> Shaped[np.ndarray, "6 10"]:
        """The inertial force of a link per unit of its parameters: (11), (21), gravity inside the acceleration."""
        i = node.number
        return momentum_columns(ud[i]) + gyroscopic_columns(v[i] if symmetric else u[i], u[i])

    def traverse(node: Node) -> tuple[list[int], Shaped[np.ndarray, "6 columns"]]:
        """l_i: the force of a node and of all behind it per parameter, in predecessor's axes, and which ones."""
        joint, s = _axis(node, seated)
        X = _place(node, seated, motion)
        if node.number:
            forward(node, X, joint, s)
        behind = [traverse(tree.nodes[k]) for k in (node.connector, node.successor) if k in seated]
        parameters = [k for some, _ in behind for k in some]
        pieces = [piece for _, piece in behind]
        if node.kind is NodeKind.SUCCESSOR:
            parameters += range(PER_LINK * (node.number - 1), PER_LINK * node.number)
            pieces.append(backward(node))
        f = np.concatenate([zeros(6, 0), *pieces], axis=1)  # (12)
        if s.any():
            Y[joint, parameters] = dot(spatial_transpose(s[:, None]), f)  # (13)
        return parameters, X.up(f)

    traverse(tree.nodes[0])
    return Y


def _seated(mechanism: Mechanism, tree: BinaryTree) -> dict[int, Body]:
    """The body of each link, or of the joint a connector locates, placed in its predecessor's frame.

    A connector's frame is the frame of the joint it locates. Nodes behind which there is no mass are left out.
    """
    bodies = dict(zip((joint.name for joint in mechanism.robot.joints), mechanism.bodies, strict=True))
    seated: dict[int, Body] = {}
    for link in range(1, len(mechanism.bodies) + 1):
        for node in (tree.nodes[number] for number in tree.path(link)):
            body = bodies[node.joint or ""]
            above = tree.nodes[node.predecessor or 0]
            if above.kind is NodeKind.CONNECTOR and above.joint == node.joint:
                body = replace(body, P=IDENTITY, p=zeros(3))
            elif above.kind is NodeKind.CONNECTOR:
                other = bodies[above.joint or ""]
                body = replace(body, P=dot(other.P.T, body.P), p=dot(other.P.T, body.p - other.p))
            seated[node.number] = body
    return seated


def _place(node: Node, seated: dict[int, Body], motion: Motion) -> Transform:
    """X of a node seen from its predecessor; a connector does not move."""
    if not node.number:
        return Transform(IDENTITY, zeros(3))
    body = seated[node.number]
    return Transform(body.P, body.p) if node.kind is NodeKind.CONNECTOR else Transform(*pose(body, motion))


def _axis(node: Node, seated: dict[int, Body]) -> tuple[slice, AnySpatialVector]:
    """The place in q and the axis s of a node's joint, constant in the node's own axes; zero if nothing moves."""
    body = seated.get(node.number)
    if body is None or body.joint is None or node.kind is not NodeKind.SUCCESSOR:
        return slice(0), zeros(6)
    z = dot(body.S.T, body.axis)
    s = [z, dot(skew(joint_point(body)), z)] if body.revolute else [zeros(3), z]
    return slice(body.joint, body.joint + 1), np.concatenate(s)
