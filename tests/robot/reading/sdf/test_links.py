"""Inertias of SDF links: computed from shapes and meshes, and SDF's defaults. MuJoCo is the oracle of shapes."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import ytheta as yt
from tests.support.sdf_models import make_document, make_joint, make_link
from ytheta.errors import RobotFileError
from ytheta.files.xml_document import parse_xml
from ytheta.robot.frame import to_rows, to_vector
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import CollisionShape, ShapeKind
from ytheta.robot.reading.sdf.reader import read_sdf
from ytheta.robot.robot import Robot

# A tetrahedron as STL in text form; its volume is 0.2 * 0.3 * 0.4 / 6.
_CORNERS = ((0.0, 0.0, 0.0), (0.2, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0, 0.4))
_FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
OBJ = "".join(f"v {x} {y} {z}\n" for x, y, z in _CORNERS) + "".join(
    f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in _FACES
)


def make_text(shape: str, *, inertial: str = '<inertial auto="true"><density>700</density></inertial>') -> str:
    collision = f'<collision name="c"><pose>0.1 0.2 0.3 0.4 0.5 0.6</pose><geometry>{shape}</geometry></collision>'
    return make_document(f'<link name="a">{inertial}{collision if shape else ""}</link>', "1.11")


def read(text: str) -> Robot:
    path = Path("model.sdf")
    return read_sdf(parse_xml(text.encode(), path), path, 0.0)


def measure_by_mujoco(geom: str) -> Inertia:
    """The inertia of a geom of the same size and density at the same pose, in the frame of the body."""
    text = f"""<mujoco><compiler angle="radian" eulerseq="XYZ"/><worldbody><body><freejoint/>
    <geom pos="0.1 0.2 0.3" euler="0.4 0.5 0.6" density="700" {geom}/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, model.body_iquat[1])
    turn = matrix.reshape(3, 3)
    tensor = turn @ np.diag(model.body_inertia[1]) @ turn.T
    return Inertia.about_center(float(model.body_mass[1]), to_vector(model.body_ipos[1]), to_rows(tensor))


SHAPES = {
    "<box><size>0.2 0.4 0.6</size></box>": 'type="box" size="0.1 0.2 0.3"',
    "<sphere><radius>0.2</radius></sphere>": 'type="sphere" size="0.2"',
    "<cylinder><radius>0.2</radius><length>0.5</length></cylinder>": 'type="cylinder" size="0.2 0.25"',
    "<capsule><radius>0.2</radius><length>0.5</length></capsule>": 'type="capsule" size="0.2 0.25"',
    "<ellipsoid><radii>0.2 0.3 0.4</radii></ellipsoid>": 'type="ellipsoid" size="0.2 0.3 0.4"',
}


@pytest.mark.parametrize("shape", SHAPES)
def test_inertias_of_shapes_are_those_of_mujoco(shape: str) -> None:
    expected = measure_by_mujoco(SHAPES[shape]).vector
    assert np.allclose(read(make_text(shape)).link("a").inertia.vector, expected, rtol=1e-9, atol=1e-9)
    wrong = read(make_text(shape.replace("0.2", "0.21", 1))).link("a").inertia.vector
    assert not np.allclose(wrong, expected, rtol=1e-3)


def test_the_inertia_of_a_mesh(tmp_path: Path) -> None:
    (tmp_path / "t.obj").write_text(OBJ)
    text = make_text("<mesh><uri>t.obj</uri><scale>2 1 1</scale></mesh>")
    (tmp_path / "r.sdf").write_text(text.replace("<pose>0.1 0.2 0.3 0.4 0.5 0.6</pose>", ""))
    inertia = yt.load(tmp_path / "r.sdf").link("a").inertia
    mass = 700 * 0.4 * 0.3 * 0.4 / 6
    # Moments of a tetrahedron with three edges a, b, c along the axes: the mean of x^2 is a^2 / 10, of x y is a b / 20.
    a, b, c = 0.4, 0.3, 0.4
    moments = [(b**2 + c**2) / 10, -a * b / 20, (a**2 + c**2) / 10, -a * c / 20, -b * c / 20, (a**2 + b**2) / 10]
    expected = [mass, *(mass * edge / 4 for edge in (a, b, c)), *(mass * moment for moment in moments)]
    assert np.allclose(inertia.vector, expected, rtol=1e-5)


def test_a_mesh_that_is_missing_or_not_allowed(tmp_path: Path) -> None:
    path = tmp_path / "r.sdf"
    path.write_text(make_text("<mesh><uri>nothing.obj</uri></mesh>"))
    robot = yt.load(path)
    assert robot.link("a").inertia.massless
    assert any("depends on mesh files that do not exist" in finding.text for finding in robot.findings)
    path.write_text(make_text("<mesh><uri>../other/t.obj</uri></mesh>"))
    with pytest.raises(RobotFileError, match="the inertia of the link depends on this mesh: the path"):
        yt.load(path)


def test_the_mass_of_an_automatic_inertia_scales_it() -> None:
    shape = next(iter(SHAPES))
    whole = read(make_text(shape)).link("a").inertia.vector
    scaled = read(make_text(shape, inertial='<inertial auto="true"><mass>3</mass></inertial>')).link("a").inertia.vector
    assert np.allclose(scaled, whole * 3.0 / whole[0], rtol=1e-12)


@pytest.mark.parametrize("inertial", ["", "<inertial/>", '<inertial auto="true"/>'])
def test_the_default_is_one_kilogram_with_a_warning(inertial: str) -> None:
    robot = read(make_text("", inertial=inertial))
    assert np.array_equal(robot.link("a").inertia.vector, [1, 0, 0, 0, 1, 0, 1, 0, 0, 1])
    (warning,) = [finding for finding in robot.findings if finding.is_warning]
    assert "1 kg and 1 kg m2" in warning.text
    assert warning.names == ("a",)


def test_a_density_that_is_not_positive_is_refused() -> None:
    with pytest.raises(RobotFileError, match="the density 0 kg/m3 is not positive"):
        read(make_text(next(iter(SHAPES)), inertial='<inertial auto="true"><density>0</density></inertial>'))


def test_a_size_that_is_too_large_is_refused() -> None:
    with pytest.raises(RobotFileError, match=r"the size 1e\+200 m is too large to compute an inertia from it"):
        read(make_text("<sphere><radius>1e200</radius></sphere>"))


def test_ignored_forces_are_reported() -> None:
    text = (
        make_text("")
        .replace("<link name", "<x/><link name")
        .replace("</link>", "<gravity>0</gravity><velocity_decay><linear>0.1</linear></velocity_decay></link>")
    )
    texts = [finding.text for finding in read(text).findings]
    assert "gravity acts on links for which it is switched off in the file: a" in texts
    assert "the velocity_decay of links is ignored: a" in texts


def test_a_negative_mass_is_refused_also_if_shapes_give_the_inertia() -> None:
    shape, inertial = next(iter(SHAPES)), '<inertial auto="true"><mass>{}</mass></inertial>'
    assert read(make_text(shape, inertial=inertial.format(3))).links[1].inertia.mass == pytest.approx(3.0)
    with pytest.raises(RobotFileError, match="the mass -3 kg is negative"):
        read(make_text(shape, inertial=inertial.format(-3)))


@pytest.mark.parametrize(
    ("inertial", "statements"),
    [
        ("", ["links without <inertial>, or with an empty one, have SDF's default of 1 kg and 1 kg m2: a"]),
        ("<inertial><mass>3</mass></inertial>", ["are SDF's default of 1 kg m2: a"]),
        ("<inertial><mass>3</mass><inertia><ixx>2</ixx></inertia></inertial>", ["are SDF's default of 1 kg m2: a"]),
        (
            "<inertial><inertia><ixx>2</ixx><iyy>2</iyy><izz>2</izz></inertia></inertial>",
            ["links without <mass> have SDF's default of 1 kg: a"],
        ),
        ("<inertial><mass>1</mass><inertia><ixx>2</ixx><iyy>2</iyy><izz>2</izz></inertia></inertial>", []),
    ],
)
def test_defaults_are_named_for_what_is_missing(inertial: str, statements: list[str]) -> None:
    texts = [finding.text for finding in read(make_text("", inertial=inertial)).findings if "default" in finding.text]
    assert len(texts) == len(statements)
    assert all(text.endswith(statement) for text, statement in zip(texts, statements, strict=True))


# Collision shapes of SDF links.


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
