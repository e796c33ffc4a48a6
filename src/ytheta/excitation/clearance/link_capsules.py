"""A few capsules around the collision shapes of each link.

The shapes of a link are divided into convex pieces: a sphere, a capsule, a cylinder, a triangle of a mesh or of a box.
Capsules are convex, so capsules that contain the corners of all pieces contain the surfaces of all shapes. The pieces
are split into two groups by a plane again and again, as long as that makes the capsules considerably smaller.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np

from ytheta.errors import InputError, MissingExtraError
from ytheta.files.bounded import read_small_file
from ytheta.findings import Finding, Severity
from ytheta.robot.frame import Frame, Vector, check_vector, to_vector
from ytheta.robot.parts import CollisionShape, ShapeKind
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import Float, Int, Matrix3, Vector3

MAX_CAPSULES = 3  # Largest number of capsules that are fitted to a link. Chosen on: rule of thumb.
MAX_GIVEN_CAPSULES = 4  # Capsules and spheres of a link that are used as they are described. Chosen on: rule of thumb.
# Share of the volume that one more capsule must leave; otherwise there are fewer capsules. Chosen on: rule of thumb.
WORTHWHILE_VOLUME = 0.94
SPLIT_PLACES = 5  # Places along each principal axis at which a link is split by trial. Chosen on: rule of thumb.
UNCHECKED = "not checked"  # code of findings about what the check for collisions leaves out


@dataclass(frozen=True)
class LinkCapsules:
    """Capsules of the links of a robot, in the frames of ``robot.merged``, and findings about meshes left out."""

    capsules: tuple[LinkCapsule, ...]
    findings: tuple[Finding, ...] = ()


def find_link_capsules(robot: Robot) -> LinkCapsules:
    """Return a few capsules for each link, which together contain its collision shapes.

    A mesh that cannot be read is a finding that names the link. Links without shapes have no capsules.
    """
    check_is_robot(robot)
    merged = robot.numeric.merged
    findings: list[Finding] = []
    capsules: list[LinkCapsule] = []
    for link in merged.links:
        shapes = [shape for shape in merged.collision if shape.link == link.name]
        capsules += [LinkCapsule(link.name, capsule) for capsule in _enclose_link(link.name, shapes, findings)]
    return LinkCapsules(tuple(capsules), tuple(findings))


def _enclose_link(link: str, shapes: Sequence[CollisionShape], findings: list[Finding]) -> list[Capsule]:
    if len(shapes) <= MAX_GIVEN_CAPSULES and all(
        shape.kind in (ShapeKind.SPHERE, ShapeKind.CAPSULE) for shape in shapes
    ):
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
        what = {"what": f"the whole shape of {link}"}
        findings.append(Finding(UNCHECKED, Severity.WARNING, statement, names=(link,), fields=what))
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


def _list_sides(pieces: list[Piece]) -> Iterator[Int[np.ndarray, " pieces"]]:
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


# Smallest capsules around balls: points with radii, which may be zero.
#
# For a given axis line and radius, the shortest capsule has a closed form. So the volume is a function of five numbers:
# two angles and two shifts of the line, and the excess of the radius over the smallest possible one. It is minimized
# from several axes. The result contains all balls whatever the minimizer does, because its radius is measured at the
# end.


@dataclass(frozen=True, eq=False)
class Balls:
    """Points and their radii, in metres."""

    points: Float[np.ndarray, "points 3"]
    radii: Float[np.ndarray, " points"]


# Convex pieces of collision shapes: balls whose convex hull contains the piece, in the frame of the link.


Piece: TypeAlias = Balls

# Points on the rim of a cylinder; the polygon around the rim is 0.5 % larger than the circle. Chosen on: reasoning,
# see the error.
RIM_POINTS = 32
# Slices in which each side of a box and the length of a cylinder is divided, so that parts can be split. Chosen on:
# rule of thumb.
SLICES = 4
# Largest number of pieces of a link; if there are more, neighbours are joined. Chosen on: rule of thumb.
MAX_PIECES = 1500
GRID_CELLS = 16  # Cells along the longest axis, for joining neighbours. Chosen on: rule of thumb.


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


# Triangles of mesh files, read by trimesh: STL, OBJ, PLY, OFF, and DAE with pycollada.


MAX_MESH_SIZE = 256 * 1024 * 1024  # bytes; larger mesh files are refused. Chosen on: rule of thumb.
EXTENSIONS = ("stl", "obj", "ply", "off", "dae")


def read_triangles(path: Path) -> Float[np.ndarray, "triangles 3 3"]:
    """Return the corners of all triangles in a mesh file, without a scale. InputError if it cannot be read."""
    extension = path.suffix.lower().removeprefix(".")
    if extension not in EXTENSIONS:
        raise InputError(f"{path.name} is not a mesh that can be read; convert it to one of {', '.join(EXTENSIONS)}")
    content = read_small_file(path, "a mesh", max_size=MAX_MESH_SIZE)
    try:
        import trimesh

        if extension == "dae":
            import collada  # noqa: F401  # trimesh needs it for this format
    except ImportError:
        raise MissingExtraError(
            "meshes are read by trimesh (.dae also by pycollada), which is not installed; install it with: "
            "pip install 'ytheta[collision]'"
        ) from None
    try:
        # From memory, so that materials and textures, to which a file may refer, are not opened.
        scene = trimesh.load_scene(io.BytesIO(content), file_type=extension)
        triangles = np.array(scene.to_mesh().triangles, dtype=float)
    except Exception as error:  # the readers of trimesh raise errors of many kinds for faulty files
        raise InputError(f"{path.name} cannot be read as a mesh: {error}; export it again") from None
    if not len(triangles) or not np.isfinite(triangles).all():
        raise InputError(f"{path.name} contains no triangles, or corners that are not finite; export it again")
    return triangles


# Points below which no convex hull is computed, since it takes longer than it saves; affects only time.
MIN_HULL_POINTS = 40
MAX_EVALUATIONS = 250  # Largest number of evaluations of the volume for each start. Chosen on: rule of thumb.
# Volume along another principal axis over the smallest; larger ones are not refined. Chosen on: rule of thumb.
MAX_START_VOLUME = 1.3
# Relative growth of the radius, so that rounding errors leave no ball outside. Chosen on: reasoning, some thousand
# times the precision of numbers.
ROUNDING = 1e-12


def fit_capsule(balls: Balls) -> Capsule:
    """Return a capsule of small volume that contains all balls; the smallest one up to the accuracy of the search."""
    from scipy.optimize import minimize  # imported here, since loading it takes long

    balls = keep_hull(balls)
    starts = [(axes, _center_line(balls, axes)) for axes in _list_axes(balls)]
    best = fit_quickly(balls)
    center = balls.points.mean(axis=0)
    scale = float(np.ptp(balls.points, axis=0).max()) + float(balls.radii.max())
    for axes, point in starts:
        if _measure_volume(balls, axes[2], point, 0.0)[0] > MAX_START_VOLUME * best.volume:
            continue

        def measure(x: np.ndarray, axes: Matrix3 = axes) -> float:
            direction, point = _turn_line(axes, center, scale, x)
            return _measure_volume(balls, direction, point, scale * abs(float(x[4])))[0]

        shift = point - center
        start = np.array([0.0, 0.0, shift @ axes[0] / scale, shift @ axes[1] / scale, 0.0])
        simplex = np.vstack([start, start + np.diag([0.15, 0.15, 0.05, 0.05, 0.05])])
        x = minimize(
            measure,
            start,
            method="Nelder-Mead",
            options={"maxfev": MAX_EVALUATIONS, "initial_simplex": simplex, "xatol": 1e-4, "fatol": 1e-4 * best.volume},
        ).x
        capsule = _enclose(balls, *_turn_line(axes, center, scale, x), scale * abs(x[4]))
        best = min(best, capsule, key=lambda candidate: candidate.volume)
    return best


def fit_quickly(balls: Balls) -> Capsule:
    """Return the smallest of the capsules along the principal axes, with the smallest radius of each axis."""
    lines = [(axes[2], _center_line(balls, axes)) for axes in _list_axes(balls)]
    direction, point = min(lines, key=lambda line: _measure_volume(balls, line[0], line[1], 0.0)[0])
    return _enclose(balls, direction, point, 0.0)


def keep_hull(balls: Balls) -> Balls:
    """Return the corners of the convex hull if no ball has a radius, else all balls."""
    from scipy.spatial import ConvexHull, QhullError  # imported here, since loading it takes long

    if len(balls.points) < MIN_HULL_POINTS or balls.radii.any():
        return balls
    try:
        corners = ConvexHull(balls.points).vertices
    except QhullError:  # all points are in a plane
        return balls
    return Balls(balls.points[corners], balls.radii[corners])


def _list_axes(balls: Balls) -> list[Matrix3]:
    """Return three triples of axes as rows, with another principal axis of the points in the last row of each."""
    offset = balls.points - balls.points.mean(axis=0)
    rows = np.linalg.eigh(offset.T @ offset)[1].T
    return [np.roll(rows, 2 - k, axis=0) for k in range(3)]


def _center_line(balls: Balls, axes: Matrix3) -> Vector3:
    """Return a point of the line along the last axis through the middle of the points across it."""
    across = balls.points @ axes[:2].T
    middle = ((across - balls.radii[:, None]).min(axis=0) + (across + balls.radii[:, None]).max(axis=0)) / 2.0
    return middle @ axes[:2]


def _turn_line(axes: Matrix3, center: Vector3, scale: float, x: np.ndarray) -> tuple[Vector3, Vector3]:
    """Return the direction and a point of the line for angles x[0], x[1] and shifts x[2], x[3]."""
    direction = axes[2] + x[0] * axes[0] + x[1] * axes[1]
    return direction / np.linalg.norm(direction), center + scale * (x[2] * axes[0] + x[3] * axes[1])


def _measure_volume(
    balls: Balls, direction: Vector3, point: Vector3, excess: float
) -> tuple[float, float, float, float]:
    """Return volume, radius and ends (along the line) of the shortest capsule on a line that contains all balls.

    ``excess`` is the radius minus the smallest one that is possible on this line.
    """
    offset = balls.points - point
    along = offset @ direction
    squares = np.maximum(np.einsum("ij,ij->i", offset, offset) - along * along, 0.0)
    radius = float((np.sqrt(squares) + balls.radii).max()) + excess
    # The end may be this much behind a ball: the ball of the capsule around the end then touches the ball from outside.
    cover = np.sqrt(np.maximum((radius - balls.radii) ** 2 - squares, 0.0))
    start, end = float((along + cover).min()), float((along - cover).max())
    if start > end:
        start = end = (start + end) / 2.0
    return math.pi * radius**2 * (end - start + 4.0 / 3.0 * radius), radius, start, end


def _enclose(balls: Balls, direction: Vector3, point: Vector3, excess: float) -> Capsule:
    """Return the shortest capsule on a line that contains all balls; its radius is measured, not computed."""
    _, radius, start, end = _measure_volume(balls, direction, point, excess)
    capsule = to_capsule(point + start * direction, point + end * direction, radius)
    needed = float((capsule.measure_distances(balls.points) + balls.radii).max()) + capsule.radius
    return to_capsule(capsule.ends[0], capsule.ends[1], needed * (1.0 + ROUNDING))


# Capsule: all points within a radius of a segment.


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

    def measure_distances(self, points: Float[np.ndarray, "points 3"]) -> Float[np.ndarray, " points"]:
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
