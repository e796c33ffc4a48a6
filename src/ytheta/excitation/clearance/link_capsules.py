"""A few capsules around the collision shapes of each link.

The shapes of a link are divided into convex pieces: a sphere, a capsule, a cylinder, a triangle of a mesh or of a box.
Capsules are convex, so capsules that contain the corners of all pieces contain the surfaces of all shapes. The pieces
are split into two groups by a plane again and again, as long as that makes the capsules considerably smaller.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ytheta.errors import InputError
from ytheta.excitation.clearance.capsule import Capsule, LinkCapsule
from ytheta.excitation.clearance.fit import Balls, fit_capsule, fit_quickly
from ytheta.excitation.clearance.mesh import read_triangles
from ytheta.excitation.clearance.pieces import Piece, coarsen, cut_shape, join
from ytheta.findings import Finding, Severity
from ytheta.robot.parts import CollisionShape, ShapeKind
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import Int

MAX_CAPSULES = 3  # of a link
WORTHWHILE_VOLUME = 0.94  # share of the volume that one more capsule must leave; otherwise there are fewer capsules
SPLIT_PLACES = 5  # places along each principal axis that are tried
CODE = "collision"


@dataclass(frozen=True)
class LinkCapsules:
    """Capsules of the links of a robot, in the frames of ``robot.merged``, and findings about links without them."""

    capsules: tuple[LinkCapsule, ...]
    findings: tuple[Finding, ...] = ()


def find_link_capsules(robot: Robot) -> LinkCapsules:
    """Return at most three capsules for each link, which together contain its collision shapes.

    A mesh that cannot be read, and a moving link without shapes, are findings that name the link.
    """
    check_is_robot(robot)
    merged = robot.numeric.merged
    findings: list[Finding] = []
    capsules: list[LinkCapsule] = []
    for link in merged.links:
        shapes = [shape for shape in merged.collision if shape.link == link.name]
        capsules += [LinkCapsule(link.name, capsule) for capsule in _enclose_link(link.name, shapes, findings)]
    covered = {item.link for item in capsules}
    missing = tuple(joint.child for joint in merged.joints if joint.moves and joint.child not in covered)
    if missing:
        statement = f"these links have no collision shapes and are not checked for collisions: {', '.join(missing)}"
        remedy = "add [[collision]] tables to the description"
        findings.append(Finding(CODE, Severity.WARNING, statement, remedy, names=missing))
    return LinkCapsules(tuple(capsules), tuple(findings))


def _enclose_link(link: str, shapes: Sequence[CollisionShape], findings: list[Finding]) -> list[Capsule]:
    if len(shapes) <= MAX_CAPSULES and all(shape.kind in (ShapeKind.SPHERE, ShapeKind.CAPSULE) for shape in shapes):
        return [_to_capsule(shape) for shape in shapes]
    pieces: list[Piece] = []
    faults: list[str] = []
    for shape in shapes:
        try:
            triangles = read_triangles(_locate_mesh(shape)) if shape.kind is ShapeKind.MESH else None
        except InputError as error:
            faults.append(str(error))
            continue
        pieces += cut_shape(shape, triangles)
    if faults:
        result = "its capsules do not contain the whole link" if pieces else "it has no capsule"
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        statement = f"link {link!r}: a mesh is left out, so {result}: {faults[0]}{more}"
        findings.append(Finding(CODE, Severity.WARNING, statement, names=(link,)))
    return fit_capsules(coarsen(pieces)) if pieces else []


def _to_capsule(shape: CollisionShape) -> Capsule:
    half = shape.size[1] / 2.0 if shape.kind is ShapeKind.CAPSULE else 0.0
    return Capsule((0.0, 0.0, -half), (0.0, 0.0, half), shape.size[0]).seen_from(shape.frame)


def _locate_mesh(shape: CollisionShape) -> Path:
    path = Path(shape.file)
    if shape.file.startswith(("package://", "model://")):
        raise InputError(
            f"the package of {shape.file!r} is not found; name the folder of its ROS package with --package-path, or "
            "give the mesh relative to the description"
        )
    if not path.is_absolute():
        raise InputError(shape.file)  # the reason why there is no path
    return path


def fit_capsules(pieces: Sequence[Piece], *, max_capsules: int = MAX_CAPSULES) -> list[Capsule]:
    """Return at most ``max_capsules`` capsules; each piece is inside one of them.

    The largest capsules are split first. A second split may pay off although the first one does not, so the number of
    capsules is chosen at the end.
    """
    groups = [list(pieces)]
    capsules = [fit_capsule(join(pieces))]
    fits = [list(capsules)]
    while len(groups) < max_capsules:
        splits = [_split(group) for group in groups]
        savings = [
            capsule.volume - sum(part.volume for _, part in split) if split else -math.inf
            for split, capsule in zip(splits, capsules, strict=True)
        ]
        best = int(np.argmax(savings))
        if savings[best] == -math.inf:
            break
        groups[best : best + 1] = [group for group, _ in splits[best]]
        capsules[best : best + 1] = [capsule for _, capsule in splits[best]]
        fits.append(list(capsules))
    return min(fits, key=lambda fit: sum(capsule.volume for capsule in fit) / WORTHWHILE_VOLUME ** (len(fit) - 1))


def _split(pieces: list[Piece]) -> list[tuple[list[Piece], Capsule]]:
    """Return the best two groups of pieces and their capsules; an empty list if a single piece is left."""
    if len(pieces) < 2:
        return []
    balls = join(pieces)
    owner = np.repeat(np.arange(len(pieces)), [len(piece.points) for piece in pieces])

    def measure(side: Int[np.ndarray, "pieces"]) -> float:
        masks = (side[owner] == k for k in (0, 1))
        return sum(fit_quickly(Balls(balls.points[mask], balls.radii[mask])).volume for mask in masks)

    sides = list(_list_sides(pieces))
    if not sides:
        return []
    best = min(sides, key=measure)
    groups = [[piece for piece, side in zip(pieces, best, strict=True) if side == k] for k in (0, 1)]
    return [(group, fit_capsule(join(group))) for group in groups]


def _list_sides(pieces: list[Piece]) -> Iterator[Int[np.ndarray, "pieces"]]:
    """Yield the side (0 or 1) of every piece for planes across the principal axes of the centres of the pieces."""
    centers = np.array([piece.points.mean(axis=0) for piece in pieces])
    offset = centers - centers.mean(axis=0)
    for axis in np.linalg.eigh(offset.T @ offset)[1].T:
        heights = centers @ axis
        seen: set[int] = set()
        for place in np.linspace(heights.min(), heights.max(), SPLIT_PLACES + 2)[1:-1]:
            side = (heights < place).astype(int)
            count = int(side.sum())
            if 0 < count < len(pieces) and count not in seen:
                seen.add(count)
                yield side
