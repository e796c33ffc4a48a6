"""Link Jacobians in base axes, and how they change: what formulations by Lagrange's equation start with.

For one body, with its parent's origin on the left::

    parent ──reach──▶ joint ──arm──▶ body

The joint is a point of a revolute axis, which keeps its place in the parent. A body that slides or is fixed has no such
point: its reach ends in its own origin and its arm is zero.

All derivatives are products with axes: along a velocity x an axis changes at zd = w × z, w being the angular velocity
of what carries it, and R at w × R. No differentiation is left to a library, so every scalar will do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ytheta.dynamics.formulations.newton_euler import along, joint_point, pose
from ytheta.dynamics.mechanism import Mechanism
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import cross, dot, scale, zeros
from ytheta.shapes import Shaped

Vector: TypeAlias = Shaped[np.ndarray, "3"]


@dataclass(frozen=True, eq=False)
class Place:
    """A body's axes R, its joint's axis z (zero if fixed), reach and arm; all seen from the base."""

    R: Shaped[np.ndarray, "3 3"]
    z: Vector
    reach: Vector
    arm: Vector


@dataclass(frozen=True, eq=False)
class Flow:
    """What one joint velocity x does to every body: angular velocity w, in link axes d; velocity v of the origin and u
    of the joint; the rate zd at which the joint's axis changes."""

    x: Shaped[np.ndarray, "joints"]
    w: list[np.ndarray]
    d: list[np.ndarray]
    v: list[np.ndarray]
    u: list[np.ndarray]
    zd: list[np.ndarray]


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a body's Jacobian: v and w per unit velocity of the joint of body ``at``, and the way from there."""

    at: int
    revolute: bool
    v: Vector
    w: Vector
    way: Vector


def places(mechanism: Mechanism, motion: Motion) -> list[Place]:
    """The places of all bodies."""
    found: list[Place] = []
    for body in mechanism.bodies:
        R, p = pose(body, motion)
        reach = body.p if body.revolute else p
        if body.parent is not None:
            above = found[body.parent].R
            R, reach = dot(above, R), dot(above, reach)
        z = zeros(3) if body.joint is None else dot(R, along(body))
        arm = dot(R, -joint_point(body)) if body.revolute else zeros(3)
        found.append(Place(R, z, reach, arm))
    return found


def columns(mechanism: Mechanism, found: list[Place], i: int) -> Iterator[tuple[int, Column]]:
    """The columns of body i's Jacobian that are not zero, each with its joint, from the body to the base."""
    way = zeros(3)
    at: int | None = i
    while at is not None:
        body, place = mechanism.bodies[at], found[at]
        way = way + place.arm
        if body.joint is not None:
            v, w = (cross(place.z, way), place.z) if body.revolute else (place.z, zeros(3))
            yield body.joint, Column(at, body.revolute, v, w, way)
        way = way + place.reach
        at = body.parent


def flow(mechanism: Mechanism, found: list[Place], x: Shaped[np.ndarray, "joints"]) -> Flow:
    """The velocities of all bodies for a joint velocity x."""
    result = Flow(x, [], [], [], [], [])
    for body, place in zip(mechanism.bodies, found, strict=True):
        w, v = (zeros(3), zeros(3)) if body.parent is None else (result.w[body.parent], result.v[body.parent])
        u = v + cross(w, place.reach)
        result.u.append(u)
        result.zd.append(cross(w, place.z))
        if body.joint is not None:
            own = scale(place.z, x[body.joint : body.joint + 1])
            w, u = (w + own, u) if body.revolute else (w, u + own)
        result.w.append(w)
        result.d.append(dot(place.R.T, w))
        result.v.append(u + cross(w, place.arm))
    return result


def accelerations(
    mechanism: Mechanism, found: list[Place], carrier: Flow, of: Flow, rate: Shaped[np.ndarray, "joints"]
) -> list[tuple[Vector, Vector]]:
    """How v and w of the flow ``of`` change while q moves with the flow ``carrier`` and x of ``of`` at ``rate``."""
    result: list[tuple[np.ndarray, np.ndarray]] = []
    for k, (body, place) in enumerate(zip(mechanism.bodies, found, strict=True)):
        if body.parent is None:
            a, alpha = zeros(3), zeros(3)
        else:
            a, alpha = result[body.parent]
            swing = cross(carrier.w[body.parent], place.reach)
            a = a + cross(alpha, place.reach) + cross(of.w[body.parent], swing)
        if body.joint is not None:
            own = slice(body.joint, body.joint + 1)
            gained = scale(place.z, rate[own]) + scale(carrier.zd[k], of.x[own])
            if body.revolute:
                alpha = alpha + gained
            else:
                a = a + gained + scale(of.zd[k], carrier.x[own])
        a = a + cross(alpha, place.arm) + cross(of.w[k], cross(carrier.w[k], place.arm))
        result.append((a, alpha))
    return result


def column_rate(carrier: Flow, i: int, J: Column) -> tuple[Vector, Vector]:
    """How a column of body i's Jacobian changes along a flow."""
    zd = carrier.zd[J.at]
    if not J.revolute:
        return zd, zeros(3)
    return cross(zd, J.way) + cross(J.w, carrier.v[i] - carrier.u[J.at]), zd
