"""Collision shapes of SDF links."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.sdf_models import make_document, make_joint, make_link
from ytheta.robot.parts import CollisionShape, ShapeKind
from ytheta.robot.robot import Robot


def load(folder: Path, geometry: str, pose: str = "<pose>0.1 0.2 0.3 0 0 0</pose>") -> Robot:
    collision = f'<collision name="c">{pose}<geometry>{geometry}</geometry></collision>'
    content = make_link("x") + make_link("y", "1 2 3 0 0 0", extra=collision) + make_joint("j", "x", "y")
    path = folder / "r.sdf"
    path.write_text(make_document(content))
    return yt.load(path)


@pytest.mark.parametrize(
    ("geometry", "kind", "size"),
    [
        ("<box><size>1 2 3</size></box>", ShapeKind.BOX, (1.0, 2.0, 3.0)),
        ("<sphere><radius>2</radius></sphere>", ShapeKind.SPHERE, (2.0,)),
        ("<cylinder><radius>2</radius><length>3</length></cylinder>", ShapeKind.CYLINDER, (2.0, 3.0)),
        ("<capsule><radius>2</radius><length>3</length></capsule>", ShapeKind.CAPSULE, (2.0, 3.0)),
        ("<ellipsoid><radii>1 2 3</radii></ellipsoid>", ShapeKind.ELLIPSOID, (1.0, 2.0, 3.0)),
    ],
)
def test_shapes(geometry: str, kind: ShapeKind, size: tuple[float, ...], tmp_path: Path) -> None:
    (shape,) = load(tmp_path, geometry).collision
    assert (shape.link, shape.kind, shape.size) == ("y", kind, size)
    assert np.allclose(shape.frame.matrix[:3, 3], (0.1, 0.2, 0.3))


def test_a_shape_placed_relative_to_another_frame(tmp_path: Path) -> None:
    robot = load(tmp_path, "<sphere/>", '<pose relative_to="x">0.1 0.2 0.3 0 0 0</pose>')
    (shape,) = robot.collision
    assert np.allclose(shape.frame.matrix[:3, 3], (-0.9, -1.8, -2.7))


def test_meshes_are_located_but_need_not_exist(tmp_path: Path) -> None:
    def find(uri: str) -> CollisionShape:
        (shape,) = load(tmp_path, f"<mesh><uri>{uri}</uri><scale>2 2 2</scale></mesh>").collision
        return shape

    assert find("meshes/a.stl").file == str(tmp_path / "meshes" / "a.stl")
    assert find("meshes/a.stl").size == (2.0, 2.0, 2.0)
    assert find("model://robot/a.stl").file == "model://robot/a.stl"
    (tmp_path / "robot").mkdir()
    assert find("model://robot/a.stl").file == str(tmp_path / "robot" / "a.stl")
    assert "leaves the robot's folder" in find("../a.stl").file


@pytest.mark.parametrize("geometry", ["<plane/>", "<heightmap/>", "<empty/>"])
def test_surroundings_are_left_out(geometry: str, tmp_path: Path) -> None:
    robot = load(tmp_path, geometry)
    assert not robot.collision
    assert not [finding for finding in robot.findings if finding.is_warning]


@pytest.mark.parametrize("geometry", ["", "<cone/>", "<box><size>0 1 1</size></box>", "<mesh/>"])
def test_faulty_shapes_are_left_out_with_a_warning(geometry: str, tmp_path: Path) -> None:
    robot = load(tmp_path, geometry)
    assert not robot.collision
    (warning,) = [finding for finding in robot.findings if finding.is_warning]
    assert warning.text.startswith("collision shapes are left out: one of 'y' (")
