"""Capsules of links: all kinds of shapes are inside, meshes are read, missing ones are named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import coal
import numpy as np
import pytest
import trimesh

from tests.support import example_robots
from tests.support.revolute_chains import revolute_chain
from ytheta.excitation.clearance.link_capsules import (
    UNCHECKED,
    Balls,
    Capsule,
    find_link_capsules,
    fit_capsules,
    read_triangles,
)
from ytheta.findings import Severity
from ytheta.robot.frame import Frame
from ytheta.robot.parts import CollisionShape, ShapeKind
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot

ARM = revolute_chain(("q1", "base", "arm"), ("q2", "arm", "hand"))
FRAME = Frame.shift(0.1, -0.2, 0.3) @ Frame.from_rpy(0.4, 0.5, 0.6)
SHAPES = {
    ShapeKind.SPHERE: ((0.1,), coal.Sphere(0.1)),
    ShapeKind.CAPSULE: ((0.1, 0.4), coal.Capsule(0.1, 0.4)),
    ShapeKind.CYLINDER: ((0.1, 0.4), coal.Cylinder(0.1, 0.4)),
    ShapeKind.BOX: ((0.1, 0.2, 0.5), coal.Box(0.1, 0.2, 0.5)),
    ShapeKind.ELLIPSOID: ((0.1, 0.2, 0.3), coal.Ellipsoid(0.1, 0.2, 0.3)),
}


def with_shapes(*shapes: CollisionShape) -> Robot:
    return replace(ARM, collision=shapes)


def capsules_of(robot: Robot, link: str = "arm") -> list[Capsule]:
    return [item.capsule for item in find_link_capsules(robot).capsules if item.link == link]


def measure_outside(capsules: list[Capsule], points: np.ndarray) -> float:
    """How far the farthest point is outside all capsules."""
    return float(np.min([capsule.measure_distances(points) for capsule in capsules], axis=0).max())


def surface_points(shape: coal.ShapeBase) -> np.ndarray:
    """Points of the surface of a shape of coal: its support points in many directions."""
    directions = np.random.default_rng(1).normal(size=(400, 3))
    small, points = coal.Sphere(1e-9), []
    for direction in directions / np.linalg.norm(directions, axis=1)[:, None]:
        far = coal.Transform3s(np.eye(3), 10.0 * direction)
        result = coal.DistanceResult()
        coal.distance(shape, coal.Transform3s(), small, far, coal.DistanceRequest(), result)
        points.append(result.getNearestPoint1())
    return np.array(points)


@pytest.mark.parametrize("kind", SHAPES)
def test_shapes_are_inside_their_capsules(kind: ShapeKind) -> None:
    size, peer = SHAPES[kind]
    robot = with_shapes(CollisionShape("arm", kind, size, FRAME))
    points = surface_points(peer) @ np.array(FRAME.rotation).T + FRAME.matrix[:3, 3]
    assert measure_outside(capsules_of(robot), points) <= 1e-6  # the accuracy of coal
    assert measure_outside(capsules_of(robot), points + 0.2) > 1e-3


def test_a_cylinder_with_spheres_at_its_ends_is_one_capsule() -> None:
    """The way in which URDF files describe capsules."""
    ends = [CollisionShape("arm", ShapeKind.SPHERE, (0.06,), FRAME @ Frame.shift(z=z)) for z in (-0.1, 0.1)]
    robot = with_shapes(CollisionShape("arm", ShapeKind.CYLINDER, (0.06, 0.2), FRAME), *ends)
    (capsule,) = capsules_of(robot)
    assert capsule.radius == pytest.approx(0.06, rel=0.02)
    assert capsule.length == pytest.approx(0.2, rel=0.03)


def test_an_angle_of_two_bars_gets_two_capsules() -> None:
    bars = [
        CollisionShape("arm", ShapeKind.BOX, (0.05, 0.05, 0.6), Frame.shift(z=0.3)),
        CollisionShape("arm", ShapeKind.BOX, (0.6, 0.05, 0.05), Frame.shift(x=0.3)),
    ]
    capsules = capsules_of(with_shapes(*bars))
    assert len(capsules) >= 2
    assert sum(capsule.volume for capsule in capsules) < 0.3 * fit_capsules(corners(bars), max_capsules=1)[0].volume


def corners(bars: list[CollisionShape]) -> list[Balls]:
    unit = np.array([[i, j, k] for i in (-0.5, 0.5) for j in (-0.5, 0.5) for k in (-0.5, 0.5)])
    return [Balls(unit * bar.size + bar.frame.matrix[:3, 3], np.zeros(8)) for bar in bars]


@pytest.mark.parametrize("extension", ["stl", "obj", "dae"])
def test_meshes_of_every_format_are_read(tmp_path: Path, extension: str) -> None:
    mesh = trimesh.creation.cylinder(radius=0.1, height=0.5)
    mesh.export(tmp_path / f"bar.{extension}")
    assert np.ptp(read_triangles(tmp_path / f"bar.{extension}").reshape(-1, 3), axis=0)[2] == pytest.approx(0.5)
    shape = CollisionShape("arm", ShapeKind.MESH, (1.0, 1.0, 2.0), FRAME, str(tmp_path / f"bar.{extension}"))
    points = (mesh.vertices * [1.0, 1.0, 2.0]) @ np.array(FRAME.rotation).T + FRAME.matrix[:3, 3]
    assert measure_outside(capsules_of(with_shapes(shape)), points) <= 1e-6  # files have six or seven digits
    unscaled = replace(shape, size=(1.0, 1.0, 1.0))
    assert measure_outside(capsules_of(with_shapes(unscaled)), points) > 0.1


def test_panda_links_are_inside_their_capsules() -> None:
    """The meshes of a vendor, with package:// references."""
    robot = load(example_robots.urdf("panda.urdf"))
    found = find_link_capsules(robot)
    assert found.findings == ()
    meshes = [shape for shape in robot.numeric.merged.collision if shape.kind is ShapeKind.MESH]
    assert len(meshes) >= 9
    for shape in meshes:
        points = read_triangles(Path(shape.file)).reshape(-1, 3)
        points = points @ shape.frame.matrix[:3, :3].T + shape.frame.matrix[:3, 3]
        capsules = [item.capsule for item in found.capsules if item.link == shape.link]
        assert measure_outside(capsules, points) <= 1e-9


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("package://other/arm.stl", "the package of 'package://other/arm.stl' is not found"),
        ("/nowhere/arm.stl", "arm.stl does not exist"),
        ("the vertices of mesh 'm' are not in a file; save the mesh as a file", "save the mesh as a file"),
        ("/nowhere/arm.step", "arm.step is not a mesh that can be read"),
    ],
)
def test_a_mesh_that_cannot_be_read_is_named_with_its_link(file: str, words: str) -> None:
    found = find_link_capsules(with_shapes(CollisionShape("arm", ShapeKind.MESH, (1.0, 1.0, 1.0), file=file)))
    (first,) = found.findings
    assert first.severity is Severity.WARNING
    assert first.names == ("arm",)
    assert words in first.text
    assert first.code == UNCHECKED


def test_a_broken_mesh_is_named(tmp_path: Path) -> None:
    (tmp_path / "arm.stl").write_bytes(b"solid nothing")
    shape = CollisionShape("arm", ShapeKind.MESH, (1.0, 1.0, 1.0), file=str(tmp_path / "arm.stl"))
    finding = find_link_capsules(with_shapes(shape)).findings[0]
    assert "arm.stl" in finding.text
    assert "export it again" in finding.text


def test_many_triangles_are_joined() -> None:
    mesh = trimesh.creation.icosphere(subdivisions=4, radius=0.2)
    assert len(mesh.triangles) > 1500
    pieces = [Balls(np.array(corners), np.zeros(3)) for corners in mesh.triangles]
    capsules = fit_capsules(pieces)
    assert measure_outside(capsules, np.array(mesh.vertices)) <= 1e-9
    assert len(capsules) == 1
    assert capsules[0].radius == pytest.approx(0.2, rel=0.02)
