"""Capsules for links without collision shapes, from what the description says about them: joints, mass and inertia.

A link contains its joints and, roughly, its centre of mass. So capsules lead from the joint that carries the link to
the centre of mass, and from there to the other joints of the link, or to its markers if it is the last one. Their
radius follows from that of the cylinder with the mass and the smallest moment of inertia of the link, I = m r² / 2,
within a range that depends on the reach of the robot. Without mass or inertia it is a share of the reach.
"""

from __future__ import annotations

import math

import numpy as np

from ytheta.excitation.clearance.link_capsules import UNCHECKED, LinkCapsule, LinkCapsules, to_capsule
from ytheta.findings import Finding, Severity
from ytheta.robot.parts import Link
from ytheta.robot.robot import Robot
from ytheta.shapes import Vector3

# Radius of a link over that of the cylinder with its inertia: housings are hollow, and joints are thicker than tubes.
# Chosen on: the meshes of UR3, UR5, UR10, Panda, xArm 7, Kinova and Z1, and the spheres of the iiwa14; the median is
# about 1.3.
RADIUS_RATIO = 1.3
# Radius of a link relative to the reach: without inertia, and the smallest and largest that an inertia may give. Chosen
# on: the same arms, whose links have 0.03 to 0.075, in the median 0.053.
RADIUS_SHARE, MIN_RADIUS_SHARE, MAX_RADIUS_SHARE = 0.055, 0.04, 0.08
# Distance of the centre of mass from a straight capsule, in radii; above it, the capsules pass through the centre.
# Chosen on: rule of thumb.
MAX_DETOUR = 0.5


def complete_capsules(robot: Robot, found: LinkCapsules) -> LinkCapsules:
    """Return the capsules with estimated ones for links that have none; a finding names these links."""
    merged = robot.numeric.merged
    covered = {item.link for item in found.capsules}
    reach = measure_reach(merged)
    estimated = [
        item for link in merged.links if link.name not in covered for item in estimate_capsules(merged, link, reach)
    ]
    missing = tuple(dict.fromkeys(item.link for item in estimated))
    if not missing:
        return found
    finding = Finding(
        UNCHECKED,
        Severity.WARNING,
        f"links without collision shapes are assumed to be capsules between their joints: {', '.join(missing)}",
        "add collision shapes to the description",
        names=missing,
        fields={"what": f"the true shape of {', '.join(missing)}"},
    )
    return LinkCapsules((*found.capsules, *estimated), (*found.findings, finding))


def measure_reach(merged: Robot) -> float:
    """Return the longest way from the base along the joints to an end, at the zero positions of prismatic joints."""
    lengths = {merged.base.name: 0.0}
    for joint in merged.joints:  # parents come first
        start = _find_carrier(merged, joint.parent)
        lengths[joint.child] = lengths[joint.parent] + math.dist(start, joint.placement.matrix[:3, 3])
    return max(
        length + max((math.dist(_find_carrier(merged, name), end) for end in _list_ends(merged, name)), default=0.0)
        for name, length in lengths.items()
    )


def estimate_capsules(merged: Robot, link: Link, reach: float) -> list[LinkCapsule]:
    """Return the capsules of one link."""
    radius = estimate_radius(link, reach)
    if radius == 0.0:
        return []
    start, ends = _find_carrier(merged, link.name), _list_ends(merged, link.name)
    center = _find_center(link)
    if center is None:
        pairs = [(start, end) for end in ends] or [(start, start)]
    elif not ends:
        pairs = [(start, center)]
    elif min(_measure_distance(center, start, end) for end in ends) < MAX_DETOUR * radius:
        pairs = [(start, end) for end in ends]
    else:
        pairs = [(start, center), *((center, end) for end in ends)]
    return [LinkCapsule(link.name, to_capsule(a, b, radius)) for a, b in pairs]


def estimate_radius(link: Link, reach: float) -> float:
    """Return the radius of a link from its mass and smallest moment of inertia, or from the reach without them."""
    inertia = link.inertia
    if not inertia.mass > 0.0:
        return RADIUS_SHARE * reach
    moment = float(np.linalg.eigvalsh(np.array(inertia.tensor_about_center, dtype=float))[0])
    radius = RADIUS_RATIO * math.sqrt(2.0 * moment / inertia.mass) if moment > 0.0 else 0.0
    if radius == 0.0:
        return RADIUS_SHARE * reach
    return min(max(radius, MIN_RADIUS_SHARE * reach), MAX_RADIUS_SHARE * reach)


def _find_carrier(merged: Robot, link: str) -> Vector3:
    """Return the origin of the joint that carries a link, in the frame of the link; its own origin for the base."""
    joint = next((joint for joint in merged.joints if joint.child == link), None)
    return np.zeros(3) if joint is None else joint.seat.inverse().matrix[:3, 3]


def _list_ends(merged: Robot, link: str) -> list[Vector3]:
    """Return the origins of the joints on a link that carry others or close loops; if there are none, its markers."""
    loops = [loop.joint for loop in merged.loops]
    ends = [joint.placement.matrix[:3, 3] for joint in (*merged.joints, *loops) if joint.parent == link]
    ends += [joint.seat.inverse().matrix[:3, 3] for joint in loops if joint.child == link]
    return ends or [marker.frame.matrix[:3, 3] for marker in merged.markers if marker.link == link]


def _find_center(link: Link) -> Vector3 | None:
    return np.array(link.inertia.center) if link.inertia.mass > 0.0 else None


def _measure_distance(point: Vector3, start: Vector3, end: Vector3) -> float:
    return float(to_capsule(start, end, 0.0).measure_distances(point[None])[0])
