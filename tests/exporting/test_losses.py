"""What new files do not contain is named, and nothing else; collision shapes are compared with Pinocchio and MuJoCo."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import ytheta as yt
from ytheta.exporting.export import export, find_losses
from ytheta.exporting.losses import find_description_losses
from ytheta.exporting.source import find_source
from ytheta.robot.frame import Frame
from ytheta.robot.kinematics import change_link_frames
from ytheta.robot.parts import CollisionShape, Coupling, Limits, Loop, Motor, ShapeKind
from ytheta.robot.robot import Robot

FRAME = Frame.shift(0.1, -0.2, 0.3) @ Frame.from_rpy(0.3, 0.5, -0.7)
SIZES = {
    ShapeKind.SPHERE: (0.05,),
    ShapeKind.CAPSULE: (0.04, 0.3),
    ShapeKind.CYLINDER: (0.03, 0.2),
    ShapeKind.BOX: (0.1, 0.2, 0.3),
    ShapeKind.ELLIPSOID: (0.1, 0.2, 0.3),
    ShapeKind.MESH: (1.0, 1.0, 1.0),
}
LIMITS = Limits(-1.0, 1.0, effort=5.0)
SIMPLE = (ShapeKind.SPHERE, ShapeKind.CAPSULE, ShapeKind.CYLINDER, ShapeKind.BOX)


def make_robot(*kinds: ShapeKind, limits: Limits = LIMITS) -> Robot:
    """A UR10 with one shape of each kind on its base and on its forearm, and other limits."""
    robot = yt.load("ur10")
    robot = change_link_frames(robot, {robot.movable[2].child: FRAME})  # a link frame that is not at its joint
    links = (robot.base.name, robot.movable[2].child)
    shapes = (
        CollisionShape(link, kind, SIZES[kind], FRAME, "arm.stl" * (kind is ShapeKind.MESH))
        for link in links
        for kind in kinds
    )
    joints = tuple(replace(joint, limits=limits) if joint.moves else joint for joint in robot.joints)
    return replace(robot, collision=tuple(shapes), joints=joints, findings=(), markers=(), home=())


def list_losses(robot: Robot, to: str) -> list[str]:
    """The losses, without rotor inertia of URDF."""
    texts = [finding.text for finding in find_losses(find_source(robot), to=to, path="x")]
    return [text for text in texts if "rotor inertia" not in text]


def is_inside(shape: CollisionShape, points: np.ndarray) -> np.ndarray:
    """Whether points of a link are inside a shape, by its definition."""
    matrix = np.linalg.inv(shape.frame.matrix)
    x, y, z = matrix[:3, :3] @ points.T + matrix[:3, 3:]
    size = shape.size
    match shape.kind:
        case ShapeKind.SPHERE:
            inside = x**2 + y**2 + z**2 < size[0] ** 2
        case ShapeKind.CYLINDER:
            inside = (np.hypot(x, y) < size[0]) & (abs(z) < size[1] / 2)
        case ShapeKind.CAPSULE:
            inside = x**2 + y**2 + np.maximum(abs(z) - size[1] / 2, 0.0) ** 2 < size[0] ** 2
        case _:
            inside = (abs(x) < size[0] / 2) & (abs(y) < size[1] / 2) & (abs(z) < size[2] / 2)
    return np.asarray(inside)


@pytest.mark.parametrize("kind", SIMPLE)
@pytest.mark.parametrize("to", ["urdf", "mjcf"])
def test_simple_shapes_are_read_back_as_the_same_volume(to: str, kind: ShapeKind, tmp_path: Path) -> None:
    robot = make_robot(kind)
    (path,) = export(robot, to=to, path=tmp_path / "new.xml")
    link = robot.movable[2].child
    # URDF has its link frames at the joints, so that the shapes are compared in frames of the world.
    points = np.random.default_rng(3).uniform(-0.2, 0.2, (4000, 3)) + FRAME.matrix[:3, 3]
    expected = is_inside(robot.collision[1], points)
    seat = robot.movable[2].seat.matrix if to == "urdf" else np.eye(4)
    back = [shape for shape in yt.load(path, snap=0.0).collision if shape.link == link]
    moved = points @ seat[:3, :3].T + seat[:3, 3]
    assert np.array_equal(np.any([is_inside(shape, moved) for shape in back], axis=0), expected)
    assert expected.sum() > 20
    assert not np.array_equal(np.any([is_inside(shape, moved + 0.01) for shape in back], axis=0), expected)
    assert list_losses(robot, to) == []


def test_pinocchio_reads_the_shapes(tmp_path: Path) -> None:
    (path,) = export(make_robot(*SIMPLE), to="urdf", path=tmp_path / "new.urdf")
    model = pin.buildModelFromUrdf(str(path))
    geometry = pin.buildGeomFromUrdf(model, str(path), pin.GeometryType.COLLISION)
    assert len(geometry.geometryObjects) == 2 * (len(SIMPLE) + 2)  # a capsule has two spheres


def test_mujoco_reads_the_shapes_which_touch_surroundings_only(tmp_path: Path) -> None:
    robot = make_robot(*SIMPLE, ShapeKind.ELLIPSOID)
    shoulder = replace(robot.collision[0], link=robot.movable[0].child)
    robot = replace(robot, collision=(*robot.collision, shoulder))  # a sphere that overlaps that of the base
    (path,) = export(robot, to="mjcf", path=tmp_path / "new.xml")
    text = path.read_text()
    model = mujoco.MjModel.from_xml_string(text)
    assert count_contacts(model, np.zeros(model.nq)) == 0
    assert count_contacts(mujoco.MjModel.from_xml_string(let_links_touch(text)), np.zeros(model.nq)) > 0  # the twin
    plane = '<worldbody><geom type="plane" size="0 0 1" pos="0 0 9"/>'  # all links are below it
    assert count_contacts(mujoco.MjModel.from_xml_string(text.replace("<worldbody>", plane)), np.zeros(model.nq)) > 0
    assert model.ngeom == len(robot.collision)
    last = model.body(robot.movable[2].child)
    assert float(last.mass[0]) == pytest.approx(robot.link(robot.movable[2].child).inertia.mass, rel=1e-12)


@pytest.mark.parametrize(
    ("to", "lost"),
    [("urdf", ("ellipsoid", "mesh")), ("mjcf", ("mesh",)), ("toml", ("mesh",))],
)
def test_other_shapes_are_named(to: str, lost: tuple[str, ...]) -> None:
    robot = make_robot(*ShapeKind)
    links = f"{robot.base.name}, {robot.movable[2].child}"
    assert list_losses(robot, to) == [f"{to.upper()} cannot express the collision {kind} of {links}" for kind in lost]


def test_toml_contains_all_other_shapes(tmp_path: Path) -> None:
    robot = make_robot(*ShapeKind)
    (path,) = export(robot, to="toml", path=tmp_path / "new.toml")
    assert yt.load(path, snap=0.0).collision == tuple(s for s in robot.collision if s.kind is not ShapeKind.MESH)


@pytest.mark.parametrize(
    ("to", "lost"), [("urdf", ("acceleration", "jerk")), ("mjcf", ("velocity", "acceleration", "jerk")), ("toml", ())]
)
def test_limits_without_a_place_are_named(to: str, lost: tuple[str, ...], tmp_path: Path) -> None:
    robot = make_robot(limits=Limits(-1.0, 1.0, 2.0, 3.0, 4.0, 5.0))
    names = ", ".join(joint.name for joint in robot.movable)
    expected = [f"{to.upper()} cannot express the {quantity} limit of {names}" for quantity in lost]
    assert list_losses(robot, to) == expected
    (path,) = export(robot, to=to, path=tmp_path / ("new.toml" if to == "toml" else "new.xml"))
    for joint in yt.load(path).movable:  # what is not named is in the file
        kept = {key: math.inf if key in lost else value for key, value in vars(robot.movable[0].limits).items()}
        assert joint.limits == Limits(**kept)
    assert all(f"<!-- {text} -->" in path.read_text() for text in expected)


def test_home_actuation_motors_and_cut_joints_are_named() -> None:
    robot = make_robot()
    first, second, *_ = (joint.name for joint in robot.movable)
    at_home = replace(robot, home=((first, 0.3),))
    assert list_losses(at_home, "urdf") == [f"URDF cannot express the home position of {first}"]
    assert list_losses(at_home, "mjcf") == []
    swapped = replace(robot, actuated=(second, first, *robot.actuated[2:]))
    assert list_losses(swapped, "urdf") == ["URDF cannot express the order of the actuated joints of ur10"]
    coupled = replace(robot, actuated=(), couplings=(Coupling(second, ((first, 0.5),)),))
    assert list_losses(coupled, "mjcf") == [f"MJCF cannot express the effort limit of {second}"]
    assert list_losses(coupled, "urdf") == []
    third = robot.actuated[2]
    twice = replace(robot, actuated=(), couplings=(Coupling(third, ((first, 0.5), (second, 0.5))),))
    assert f"URDF cannot express the coupling of {third}" in list_losses(twice, "urdf")  # mimic has one joint
    assert not any("coupling" in text for text in list_losses(twice, "mjcf"))
    looped = yt.load("five-bar")
    cut = replace(looped, loops=tuple(Loop(replace(x.joint, limits=Limits(-1.0, 1.0))) for x in looped.loops))
    texts = find_description_losses(cut, to="mjcf", described=None)
    assert [x.names for x in texts if "the limits of" in x.text] == [tuple(x.name for x in looped.loops)]
    geared = replace(robot, actuated=(), motors=(Motor("m1", turns_with=((first, 1.0), (second, 1.0))),))
    for to in ("urdf", "mjcf"):
        assert f"{to.upper()} cannot express the motor of m1" in list_losses(geared, to)


@pytest.mark.parametrize("to", ["urdf", "mjcf"])
def test_limits_that_differ_from_those_of_the_edited_file_are_named(to: str, tmp_path: Path) -> None:
    robot = yt.load("ur10")
    suffix = {"urdf": ".urdf", "mjcf": ".xml"}[to]
    export(robot, to=to, path=tmp_path / f"ur10{suffix}")
    described = yt.load(tmp_path / f"ur10{suffix}")
    first, second, *others = described.joints
    changed = replace(
        described,
        joints=(
            replace(first, limits=replace(first.limits, upper=first.limits.upper - 0.5, effort=50.0)),
            replace(second, limits=replace(second.limits, velocity=0.5, acceleration=3.0)),
            *others,
        ),
    )
    losses = find_description_losses(changed, to=to, described=described)
    assert [(loss.text.partition("express the ")[2].partition(",")[0], loss.names) for loss in losses] == [
        ("range of motion", (first.name,)),
        ("velocity limit", (second.name,)),
        ("effort limit", (first.name,)),
        ("acceleration limit", (second.name,)),
    ]
    assert find_description_losses(described, to=to, described=described) == ()


@pytest.mark.parametrize("name", ["panda", "iiwa14", "ur10"])
def test_a_robot_does_not_touch_itself_in_any_pose(name: str, tmp_path: Path) -> None:
    export(name, to="mjcf", path=tmp_path / "arm.xml")
    text = (tmp_path / "arm.xml").read_text()
    model, twin = (mujoco.MjModel.from_xml_string(each) for each in (text, let_links_touch(text)))
    assert model.ngeom > 7
    poses = np.random.default_rng(0).uniform(-2.0, 2.0, (20, model.nq))
    assert sum(count_contacts(model, q) for q in poses) == 0
    assert sum(count_contacts(twin, q) for q in poses) > 0


def let_links_touch(text: str) -> str:
    return text.replace('conaffinity="0"', "")


def count_contacts(model: mujoco.MjModel, q: np.ndarray) -> int:
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    return int(data.ncon)
