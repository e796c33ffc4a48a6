"""Capsule: all points within a radius of a segment."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ytheta.robot.frame import Frame, Vector, check_vector, to_vector
from ytheta.shapes import Float, Vector3


@dataclass(frozen=True)
class Capsule:
    """The points within ``radius`` of the segment from ``start`` to ``end``; a sphere if both ends are the same."""

    start: Vector
    end: Vector
    radius: float

    @property
    def is_sphere(self) -> bool:
        return self.start == self.end

    @property
    def ends(self) -> Float[np.ndarray, "2 3"]:
        return np.array([self.start, self.end])

    @property
    def length(self) -> float:
        """Length of the segment."""
        return math.dist(self.start, self.end)

    @property
    def volume(self) -> float:
        return math.pi * self.radius**2 * (self.length + 4.0 / 3.0 * self.radius)

    def seen_from(self, frame: Frame) -> Capsule:
        """Return this capsule of a frame in the coordinates from which the numeric frame is seen."""
        matrix = frame.matrix
        start, end = (to_vector(matrix[:3, :3] @ point + matrix[:3, 3]) for point in self.ends)
        return Capsule(start, end, self.radius)

    def measure_distances(self, points: Float[np.ndarray, "points 3"]) -> Float[np.ndarray, "points"]:
        """Return the distance of each point from the surface, negative inside."""
        start, along = self.ends[0], self.ends[1] - self.ends[0]
        square = float(along @ along)
        share = np.clip((points - start) @ along / square, 0.0, 1.0) if square > 0.0 else np.zeros(len(points))
        nearest = start + share[:, None] * along
        return np.linalg.norm(points - nearest, axis=1) - self.radius


@dataclass(frozen=True)
class LinkCapsule:
    """A capsule in the frame of a link."""

    link: str
    capsule: Capsule


def to_capsule(start: Vector3, end: Vector3, radius: float) -> Capsule:
    """Return a capsule from arrays."""
    return Capsule(check_vector("start", start), check_vector("end", end), float(radius))
