"""Convex pieces of collision shapes: balls whose convex hull contains the piece, in the frame of the link."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from ytheta.excitation.clearance.fit import Balls
from ytheta.robot.parts import CollisionShape, ShapeKind
from ytheta.shapes import Float

Piece: TypeAlias = Balls

RIM_POINTS = 32  # of a cylinder; the polygon around the rim is 0.5 % larger than the circle
SLICES = 4  # in which each side of a box and the length of a cylinder is divided, so that parts can be split
MAX_PIECES = 1500  # of a link; if there are more, neighbours are joined
GRID_CELLS = 16  # along the longest axis, for joining neighbours


def cut_shape(shape: CollisionShape, triangles: Float[np.ndarray, "triangles 3 3"] | None) -> list[Piece]:
    """Return the pieces of a shape; ``triangles`` are those of a mesh, in the coordinates of its file."""
    match shape.kind:
        case ShapeKind.MESH:
            assert triangles is not None
            pieces = [Balls(corners, np.zeros(3)) for corners in triangles * np.array(shape.size)]
        case ShapeKind.SPHERE:
            pieces = [Balls(np.zeros((1, 3)), np.array(shape.size))]
        case ShapeKind.CAPSULE:
            ends = np.array([[0.0, 0.0, -0.5], [0.0, 0.0, 0.5]]) * shape.size[1]
            pieces = [Balls(ends, np.full(2, shape.size[0]))]
        case ShapeKind.CYLINDER:
            pieces = _cut_cylinder(*shape.size)
        case ShapeKind.BOX:
            pieces = _cut_box(np.array(shape.size))
        case ShapeKind.ELLIPSOID:
            pieces = [Balls(_circumscribe_sphere() * np.array(shape.size), np.zeros(len(_circumscribe_sphere())))]
    matrix = shape.frame.matrix
    return [Balls(piece.points @ matrix[:3, :3].T + matrix[:3, 3], piece.radii) for piece in pieces]


def join(pieces: Sequence[Piece]) -> Balls:
    """Return the balls of all pieces."""
    return Balls(np.concatenate([piece.points for piece in pieces]), np.concatenate([piece.radii for piece in pieces]))


def coarsen(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces; if there are very many, pieces in the same cell of a grid are joined to one."""
    if len(pieces) <= MAX_PIECES:
        return list(pieces)
    centers = np.array([piece.points.mean(axis=0) for piece in pieces])
    cell = float(np.ptp(centers, axis=0).max()) / GRID_CELLS or 1.0
    _, group = np.unique(np.floor((centers - centers.min(axis=0)) / cell).astype(int), axis=0, return_inverse=True)
    members: list[list[Piece]] = [[] for _ in range(int(group.max()) + 1)]
    for piece, k in zip(pieces, group.ravel(), strict=True):
        members[k].append(piece)
    return [_remove_repeated(join(each)) for each in members]


def _remove_repeated(balls: Balls) -> Balls:
    rows = np.unique(np.column_stack([balls.points, balls.radii]), axis=0)
    return Balls(rows[:, :3], rows[:, 3])


def _cut_cylinder(radius: float, length: float) -> list[Piece]:
    angles = 2.0 * math.pi * np.arange(RIM_POINTS) / RIM_POINTS
    outer = radius / math.cos(math.pi / RIM_POINTS)
    rim = np.stack([outer * np.cos(angles), outer * np.sin(angles), np.zeros(RIM_POINTS)], axis=1)
    heights = np.linspace(-length / 2.0, length / 2.0, SLICES + 1)
    return [
        Balls(np.concatenate([rim + np.array([0.0, 0.0, height]) for height in ends]), np.zeros(2 * RIM_POINTS))
        for ends in pairwise(heights)
    ]


def _cut_box(size: Float[np.ndarray, "3"]) -> list[Piece]:
    """Return the small boxes into which a box is divided along each axis, about cubes, at most four along an axis."""
    counts = np.clip(np.ceil(SLICES * size / size.max()), 1, SLICES).astype(int)
    unit = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], dtype=float)
    places = np.array(list(np.ndindex(*counts)), dtype=float)
    return [Balls(((place + unit) / counts - 0.5) * size, np.zeros(8)) for place in places]


def _circumscribe_sphere() -> Float[np.ndarray, "points 3"]:
    """Return corners of a polyhedron around the unit sphere: a grid of directions, moved outward by 3 %."""
    directions = [(0.0, 0.0, 1.0), (0.0, 0.0, -1.0)]
    for polar in np.arange(1, 12) * math.pi / 12:
        turns = np.arange(24) * math.pi / 12
        directions += [(math.sin(polar) * math.cos(t), math.sin(polar) * math.sin(t), math.cos(polar)) for t in turns]
    return 1.03 * np.array(directions)
