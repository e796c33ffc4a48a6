"""Walker's three procedures over the binary tree of links: traverse, forward and backward.

Identity      rho = Y_W(q, qd, v, vd) theta - sum of s_i' feedback,   w = Y_Wᵀ (qd - v), per joint and per parameter
Reference     [walker1988] (12), (13), (18)-(22), (25), sec. 5
Accepts       every robot; scalars of any kind: symbols trace a graph, floats compute
Notation      code       paper         meaning                                                shape    frame
              v          v_i           spatial velocity for qd                                6        i
              u          vhat_i        spatial velocity for the reference                     6        i
              ud         vhatdot_i     its acceleration, minus gravity                        6        i
              s          s_i           axis of joint i                                        6        i
              F          -             Fhat_i per unit of the ten parameters, no feedback     6 x 10   i
              l          lhat_i        fhat_i of a link and of all behind it                  6        phi_i
              eta        etahat_j      what friction and rotor of a drive cost                drives
              E          E             rates of joints, cut joints and motors per Qd          drives x actuated
              weights    gamma_j m0_j  parameters of the feedback's inertias, times gamma     links * 10
Differs from  the paper in: the frame of a connector is that of the link it belongs to; s_i in link i's axes, where it
              is constant too; a drive has rotor inertia, Coulomb friction and an offset beside the paper's viscous
              friction, which is that of the *real* rate (22); motors and declared forces are added after the tree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.conventions import JOINT_PARAMETERS
from ytheta.dynamics.declared_forces import force_shapes
from ytheta.dynamics.formulations.newton_euler import along, joint_point, pose
from ytheta.dynamics.formulations.spatial import (
    PER_LINK,
    Transform,
    gyroscopic_columns,
    momentum_columns,
    spatial_cross,
    spatial_transpose,
)
from ytheta.dynamics.formulations.spatial_tree import Node, NodeKind, binary_tree
from ytheta.dynamics.full_regressor import moved
from ytheta.dynamics.loops.constraint import Constraint
from ytheta.dynamics.mechanism import Body, Mechanism
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import dot, inner, scaled, skew, zeros
from ytheta.shapes import AnyPerActuated, AnyPerDrive, AnySpatialVector, Shaped

PER_DRIVE = len(JOINT_PARAMETERS)
VISCOUS = JOINT_PARAMETERS.index("fv")


@dataclass(frozen=True, eq=False)
class Moving:
    """How joints move and should move; drives are in the order of ``robot.moving``, joints first."""

    motion: Motion
    E: Shaped[np.ndarray, "drives actuated"]
    error: AnyPerDrive
    values: Shaped[np.ndarray, "drives 4"]
    forces: Shaped[np.ndarray, "drives forces"]


def moving(loops: Constraint, Qd: AnyPerActuated, Vd: AnyPerActuated, V: AnyPerActuated) -> Moving:
    """q, its rates and those of the reference, where the actuated coordinates have Qd and V."""
    m = moved(loops, Qd, Vd, V)
    values = m.values
    values[:, VISCOUS] = m.rate  # (22)
    return Moving(m.motion, m.drives, m.rate - m.reference, values, force_shapes(loops, m.motion.q))


def traverse(
    mechanism: Mechanism,
    m: Moving,
    theta: Shaped[np.ndarray, "params"],
    weights: Shaped[np.ndarray, "link_params"],
) -> tuple[AnyPerDrive, Shaped[np.ndarray, "params"]]:
    """rho of every drive, so that tau = Eᵀ rho; and w of every parameter, friction's and forces' included."""
    tree = binary_tree(mechanism.robot)
    bodies = dict(zip((joint.name for joint in mechanism.robot.joints), mechanism.bodies, strict=True))
    drives = {name: k for k, name in enumerate(mechanism.robot.moving)}
    links, sizes = PER_LINK * len(bodies), PER_LINK * len(bodies) + PER_DRIVE * len(drives)
    still = zeros(6)
    v, u = {0: still}, {0: still}
    ud = {0: np.concatenate([zeros(3), -mechanism.gravity])}
    rho, w = zeros(len(drives)), zeros(len(theta))

    def forward(node: Node, X: Transform, s: AnySpatialVector, joint: slice) -> None:
        """The two velocities of a link and its reference acceleration from those above: (2), (18), (19)."""
        i, above = node.number, node.predecessor or 0
        v[i], u[i], ud[i] = X.down(v[above]), X.down(u[above]), X.down(ud[above])
        if s.any():
            ud[i] = ud[i] + scaled(s, m.motion.vd[joint]) + scaled(spatial_cross(v[i], s), m.motion.v[joint])
            v[i] = v[i] + scaled(s, m.motion.qd[joint])
            u[i] = u[i] + scaled(s, m.motion.v[joint])

    def backward(node: Node) -> AnySpatialVector:
        """Fhat of a link, and w of its parameters: (20), (21), (25)."""
        i, own = node.number, slice(PER_LINK * (node.number - 1), PER_LINK * node.number)
        error = v[i] - u[i]
        F = momentum_columns(ud[i]) + gyroscopic_columns(u[i], u[i])  # vhat × I vhat, not v × I vhat
        w[own] = dot(F.T, spatial_transpose(error[:, None])[0])
        return dot(F, theta[own]) - dot(momentum_columns(error), weights[own])

    def rubs(k: int) -> None:
        """etahat of a drive, and w of its parameters: (22), (24)."""
        own = slice(links + PER_DRIVE * k, links + PER_DRIVE * (k + 1))
        rho[k] = rho[k] + inner(m.values[k], theta[own])
        w[own] = scaled(m.values[k], m.error[k : k + 1])

    def visit(node: Node) -> AnySpatialVector:
        """The force of a node and of all behind it, seen from its predecessor."""
        body = bodies[node.joint or ""] if node.kind is NodeKind.SUCCESSOR else None
        X = None if body is None else Transform(*pose(body, m.motion))
        s, joint = _axis(body)
        if X is not None:
            forward(node, X, s, joint)
        elif node.number:  # a connector moves with its link; of a terminating link only the joint matters
            i, above = node.number, node.predecessor or 0
            v[i], u[i], ud[i] = v[above], u[above], ud[above]
        behind = [visit(tree.nodes[k]) for k in (node.connector, node.successor) if k is not None]
        f = zeros(6) if body is None else backward(node)
        for force in behind:  # (12)
            f = f + force
        if s.any():
            rho[drives[node.joint or ""]] = dot(spatial_transpose(s[:, None]), f)[0]  # (13)
        if node.kind in (NodeKind.SUCCESSOR, NodeKind.TERMINATING) and node.joint in drives:
            rubs(drives[node.joint])
        return f if X is None else X.up(f[:, None])[:, 0]

    visit(tree.nodes[0])
    for motor in mechanism.robot.motors:
        rubs(drives[motor.name])
    w[sizes:] = dot(m.forces.T, m.error)
    return rho + dot(m.forces, theta[sizes:]), w


def _axis(body: Body | None) -> tuple[AnySpatialVector, slice]:
    """The axis of a body's joint, constant in its own axes, and its place in q; zero if nothing moves."""
    if body is None or body.joint is None:
        return zeros(6), slice(0)
    z = along(body)
    s = [z, dot(skew(joint_point(body)), z)] if body.revolute else [zeros(3), z]
    return np.concatenate(s), slice(body.joint, body.joint + 1)
