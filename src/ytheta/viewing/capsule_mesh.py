"""Triangles of a capsule: two half-spheres and the cylinder between them."""

from __future__ import annotations

import numpy as np

from ytheta.excitation.clearance.link_capsules import Capsule
from ytheta.robot.frame import Frame
from ytheta.shapes import Float, Int

SECTORS, RINGS = 20, 6  # around the axis, and from the equator of a half-sphere to its pole


def make_capsule_mesh(capsule: Capsule) -> tuple[Float[np.ndarray, "points 3"], Int[np.ndarray, "triangles 3"]]:
    """Return corners and triangles of the surface of a capsule, in its own frame; normals point outwards."""
    latitude = np.linspace(0.0, 0.5 * np.pi, RINGS + 1)
    rings = np.concatenate([-latitude[::-1], latitude])  # two equators, one for each end of the cylinder
    heights = capsule.radius * np.sin(rings) + np.repeat([-0.5, 0.5], RINGS + 1) * capsule.length
    longitude = 2.0 * np.pi * np.arange(SECTORS) / SECTORS
    circle = capsule.radius * np.cos(rings)[:, None, None] * np.stack([np.cos(longitude), np.sin(longitude)], axis=-1)
    points = np.concatenate([circle, np.broadcast_to(heights[:, None, None], (*circle.shape[:2], 1))], axis=-1)
    ring, sector = (each.ravel() for each in np.mgrid[: len(rings) - 1, :SECTORS])
    a, b = ring * SECTORS + sector, ring * SECTORS + (sector + 1) % SECTORS
    faces = np.concatenate([np.stack([a, b, b + SECTORS], axis=1), np.stack([a, b + SECTORS, a + SECTORS], axis=1)])
    start, end = capsule.ends
    rotation = np.eye(3)
    if not capsule.is_sphere:
        x, y, z = ((end - start) / capsule.length).tolist()
        rotation = Frame.align_z((x, y, z)).matrix[:3, :3]
    return points.reshape(-1, 3) @ rotation.T + 0.5 * (start + end), faces
