"""Plausible bodies of a robot: the description, with floors for links that no body can have.

A prior or a scale around the description needs positive definite pseudo-inertias. Descriptions contain links without
mass, point masses, rods, and links whose inertia no body can have. Their masses and second moments are raised to
floors:

    mass                                 at least 2 % of the mass of the heaviest link
    principal second moments about       at least m (0.3 r)², with the median radius r of gyration of the links,
    the centre of mass                   between 3 and 50 cm

The radius of gyration of a link is the root of tr(I_c) / (3 m), the mean over the axes through its centre of mass. If
no link of the description has an extent, r is the median radius of gyration of uniform rods between the joints; if
there is no distance between joints either, r is 10 cm. If no link has a mass, every mass is 1 kg, and every body is a
ball with the radius of gyration r.

A link without a usable centre of mass has it in the middle of its joints. The geometry is not used if symbolic lengths
or angles have no values.

Some links of a description are placeholders: a file needs an inertia, and somebody wrote one. They are recognised by
what no designer's file contains:

    no mass, or an inertia that no body can have
    three equal principal moments, as of the identity matrix: only balls and cubes have them
    mass per volume of the ball with the same radius of gyration: no robot's link is as light as air, or heavier than
    solid metal
    the same mass for all links, if there are at least three
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.conventions import LINK_PARAMETERS
from ytheta.identification.consistency.solver import LinkScale
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import parameter_name
from ytheta.robot.robot import Robot
from ytheta.shapes import Matrix3, Matrix4, PerParameter, Vector3, freeze

# Smallest mass of a plausible link, relative to that of the heaviest. Chosen on: rule of thumb.
MIN_RELATIVE_MASS = 0.02
# Smallest root of a principal second moment per mass of a plausible link, relative to the median radius of gyration.
# Chosen on: rule of thumb.
MIN_RELATIVE_RADIUS = 0.3
# Range of the median radius of gyration, in m. Chosen on: rule of thumb.
RADIUS_RANGE = (0.03, 0.5)
# Radius of gyration in m, if neither inertias nor distances between joints are known. Chosen on: rule of thumb.
DEFAULT_RADIUS = 0.1
# Mass of every link in kg, if no link has a mass. Chosen on: rule of thumb.
DEFAULT_MASS = 1.0
# Radius of gyration of a uniform rod, relative to its length: the mean over three axes. Fixed by: geometry.
ROD_RADIUS = 18.0**-0.5
# Radius of gyration relative to the distance of the centre of mass from the origin, or to 1 m; below it, the link is
# a point mass, and its radius is a rounding error. Chosen on: rule of thumb.
MIN_POINT_RADIUS = 1e-6
# Difference of the principal moments relative to the largest, up to which they are equal. Chosen on: rule of thumb;
# files cut off digits.
MAX_ISOTROPY = 1e-3
# Range of the mass per volume of a link in kg/m³, for the ball with its radius of gyration. Chosen on: reasoning; such
# a ball around a slender tube is a hundred times larger than the tube, and steel and lead have 7800 and 11300 kg/m³.
DENSITY_RANGE = (3.0, 2e4)
# Volume of a ball, divided by the cube of its radius of gyration. Fixed by: geometry.
BALL_VOLUME = 4.0 / 3.0 * np.pi * 2.5**1.5
# Number of links from which on equal masses are an invention. Chosen on: rule of thumb; two links can be equal.
MIN_EQUAL_LINKS = 3


@dataclass(frozen=True, eq=False)
class PlausibleReference:
    """Plausible bodies of a robot.

    Attributes
    ----------
    theta         standard parameters; parameters of drives and forces have the values of the description
    pseudo        the positive definite pseudo-inertia of each link, by name
    floored       links that differ from the description, by name, each with the reason
    has_inertias  whether any link of the description has a mass; if not, the bodies are guesses from the geometry
    radius        the median radius of gyration r, in m
    placeholders  links whose inertias are inventions
    middles       distance of the middle of the joints on each link from its frame, by name, in m
    """

    theta: PerParameter
    pseudo: Mapping[str, Matrix4]
    floored: Mapping[str, str]
    has_inertias: bool
    radius: float
    placeholders: frozenset[str]
    middles: Mapping[str, float]

    @cached_property
    def scales(self) -> dict[str, LinkScale]:
        """The coordinates of each link, by name, in which its body is the identity."""
        return {link: LinkScale.of(P0) for link, P0 in self.pseudo.items()}


def make_plausible_reference(robot: Robot) -> PlausibleReference:
    """Return a body for every moving link: that of the description if a body can have it, else with floors."""
    robot = robot if robot.unset_symbols else robot.numeric
    links = {link.name: link.inertia for link in robot.merged.links[1:]}
    consistent = [inertia for inertia in links.values() if inertia.mass > 0.0 and inertia.consistency()]
    masses = [inertia.mass for inertia in consistent or links.values() if inertia.mass > 0.0]
    has_inertias = any(not inertia.massless for inertia in links.values())
    radius = _find_radius(robot, consistent)
    min_mass = MIN_RELATIVE_MASS * max(masses) if masses else DEFAULT_MASS
    min_moment = (MIN_RELATIVE_RADIUS * radius) ** 2 if masses else radius**2 / 2.0
    theta, pseudo, floored = robot.theta.copy(), {}, {}
    index = {name: k for k, name in enumerate(robot.parameter_names)}
    for name, inertia in links.items():
        P0, changes = _raise_to_floors(inertia, _find_middle(robot, name), min_mass, min_moment)
        pseudo[name] = freeze(P0)
        if changes:
            floored[name] = changes
            theta[[index[parameter_name(name, p)] for p in LINK_PARAMETERS]] = Inertia.from_pseudo(P0).vector
    middles = {name: float(np.linalg.norm(_find_middle(robot, name))) for name in links}
    return PlausibleReference(freeze(theta), pseudo, floored, has_inertias, radius, find_placeholders(links), middles)


def find_placeholders(links: Mapping[str, Inertia]) -> frozenset[str]:
    """Return the links whose inertias are inventions; see the module docstring."""
    masses = {inertia.mass for inertia in links.values()}
    if len(links) >= MIN_EQUAL_LINKS and len(masses) == 1:
        return frozenset(links)
    return frozenset(name for name, inertia in links.items() if _is_placeholder(inertia))


def _is_placeholder(inertia: Inertia) -> bool:
    if not inertia.mass > 0.0 or not inertia.consistency():
        return True
    moments = np.linalg.eigvalsh(np.array(inertia.tensor_about_center))
    radius = float(np.sqrt(max(moments.mean(), 0.0) / inertia.mass))
    lightest, heaviest = DENSITY_RANGE
    volume = BALL_VOLUME * radius**3
    is_possible = lightest * volume <= inertia.mass <= heaviest * volume
    return not is_possible or bool(np.ptp(moments) <= MAX_ISOTROPY * moments[-1])


def _raise_to_floors(inertia: Inertia, middle: Vector3, min_mass: float, min_moment: float) -> tuple[Matrix4, str]:
    """Return the pseudo-inertia with floors for mass and second moments per mass, and what was changed."""
    consistency = inertia.consistency()
    reasons = [] if consistency else [consistency.reason]
    mass, center, second = inertia.mass, middle, np.zeros((3, 3))
    if mass > 0.0 and (consistency or mass >= min_mass):  # else h/m and S_c are ratios and differences without meaning
        center = np.array(inertia.center)
        tensor = np.array(inertia.tensor_about_center)
        second = np.trace(tensor) / 2.0 * np.eye(3) - tensor
    if mass < min_mass:
        reasons.append(f"mass {mass:.3g} kg raised to {min_mass:.3g} kg")
        mass = min_mass
    moments, axes = np.linalg.eigh(second)
    if moments[0] < mass * min_moment:
        reasons.append(f"second moments about the centre raised to {mass * min_moment:.3g} kg m2")
        second = (axes * np.maximum(moments, mass * min_moment)) @ axes.T
    return _make_pseudo(mass, center, second), "; ".join(reasons)


def _make_pseudo(mass: float, center: Vector3, second: Matrix3) -> Matrix4:
    P = np.empty((4, 4))
    P[:3, :3] = second + mass * np.outer(center, center)
    P[:3, 3] = P[3, :3] = mass * center
    P[3, 3] = mass
    return P


def _find_radius(robot: Robot, bodies: list[Inertia]) -> float:
    """Return the median radius of gyration r, from inertias if links have an extent, else from the geometry."""
    radii = []
    for body in bodies:
        mean_moment = float(np.trace(np.array(body.tensor_about_center))) / 3.0
        radius = np.sqrt(max(mean_moment, 0.0) / body.mass)
        if radius > MIN_POINT_RADIUS * max(float(np.linalg.norm(body.center)), 1.0):
            radii.append(radius)
    if not radii:
        radii = [ROD_RADIUS * length for length in _list_link_lengths(robot)] or [DEFAULT_RADIUS]
    return float(np.clip(np.median(radii), *RADIUS_RANGE))


def _list_joints_on(robot: Robot, link: str) -> list[Vector3]:
    """Return the positions of the joints on a link, in its frame; the joint above the link is the first."""
    joints = (*robot.merged.joints, *(loop.joint for loop in robot.merged.loops))
    above = [joint.seat.inverse().matrix[:3, 3] for joint in joints if joint.child == link]
    return above + [joint.placement.matrix[:3, 3] for joint in joints if joint.parent == link and joint.moves]


def _find_middle(robot: Robot, link: str) -> Vector3:
    """Return the mean position of the joints on a link; the origin if lengths or angles have no values."""
    return np.zeros(3) if robot.unset_symbols else np.mean(_list_joints_on(robot, link), axis=0)


def _list_link_lengths(robot: Robot) -> list[float]:
    """Return the distance of the joints on each link, for links that have one; empty if lengths have no values."""
    if robot.unset_symbols:
        return []
    lengths = []
    for link in robot.merged.links[1:]:
        first, *others = _list_joints_on(robot, link.name)
        lengths += [max((float(np.linalg.norm(other - first)) for other in others), default=0.0)]
    return [length for length in lengths if length > 0.0]
