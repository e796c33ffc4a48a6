"""The URDF reader against Pinocchio: inertias, merged bodies and forward kinematics of all example robots."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import ytheta
from tests.support import example_robots
from ytheta.conventions import SNAP
from ytheta.errors import InputError
from ytheta.files.xml_document import parse_xml
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import JointKind
from ytheta.robot.reading.urdf import read_urdf
from ytheta.robot.robot import Robot

# Both sides compute in doubles with numbers up to about a hundred; rounding errors are far smaller.
TOLERANCE = 1e-10

FILES = example_robots.readable()


def read(path: Path, snap: float = 0.0) -> Robot:
    return read_urdf(parse_xml(path.read_bytes(), path), path, snap)


def to_ten_parameters(inertia: pin.Inertia) -> np.ndarray:
    return np.array(inertia.toDynamicParameters())


def compute_inertia_difference(robot: Robot, model: pin.Model) -> float:
    """The largest difference of the inertias of single links and of merged bodies.

    Pinocchio stores the inertia of a link on a fixed joint with the frame of this joint, and merges it into the body
    that carries it.
    """
    fixed = {frame.name: frame.inertia for frame in model.frames if frame.type == pin.FrameType.FIXED_JOINT}
    single = [
        abs(to_ten_parameters(fixed[joint.name]) - robot.link(joint.child).inertia.vector).max()
        for joint in robot.joints
        if joint.kind is JointKind.FIXED
    ]
    carrier = {joint.child: model.getJointId(joint.name) for joint in robot.merged.joints}
    merged = [
        abs(to_ten_parameters(model.inertias[carrier.get(link.name, 0)]) - link.inertia.vector).max()
        for link in robot.merged.links
    ]
    return float(max([*single, *merged]))


def compute_pose_difference(robot: Robot, model: pin.Model, rng: np.random.Generator) -> float:
    """The largest difference of the poses of all links at one random position."""
    q = rng.uniform(-3.0, 3.0, len(robot.movable))
    tangent = np.zeros(model.nv)
    for joint, value in zip(robot.movable, q, strict=True):
        tangent[model.joints[model.getJointId(joint.name)].idx_v] = value
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.integrate(model, pin.neutral(model), tangent))
    poses = link_poses(robot, q)
    return float(
        max(
            abs(poses[frame.name] - data.oMf[k].homogeneous).max()
            for k, frame in enumerate(model.frames)
            if frame.type == pin.FrameType.BODY and frame.name != "universe"
        )
    )


def test_there_are_enough_real_robots() -> None:
    assert len(FILES) >= 25


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.parent.name}/{path.stem}")
def test_equals_pinocchio(path: Path) -> None:
    robot, model = read(path), pin.buildModelFromUrdf(str(path))
    assert len(robot.movable) == model.nv
    assert sum(link.inertia.mass for link in robot.links) == pytest.approx(
        sum(inertia.mass for inertia in model.inertias), abs=TOLERANCE
    )
    assert compute_inertia_difference(robot, model) <= TOLERANCE
    rng = np.random.default_rng(1)
    assert max(compute_pose_difference(robot, model, rng) for _ in range(3)) <= TOLERANCE
    perturbed = robot.with_inertias(_perturb_heaviest_link(robot))
    assert compute_inertia_difference(perturbed, model) > TOLERANCE  # the twin that must fail
    assert np.isfinite(robot.theta).all()


def _perturb_heaviest_link(robot: Robot) -> dict[str, Inertia]:
    link = max(robot.links, key=lambda link: link.inertia.mass)
    parameters = [*link.inertia.parameters[:-1], link.inertia.parameters[-1] * (1 + 1e-6) + 1e-9]
    return {link.name: Inertia(tuple(parameters))}


def test_a_wrong_axis_is_detected() -> None:
    path = example_robots.urdf("panda.urdf")
    robot, model = read(path), pin.buildModelFromUrdf(str(path))
    other = path.read_text().replace('<axis xyz="0 0 1"/>', '<axis xyz="0 1 0"/>', 1)
    twisted = read_urdf(parse_xml(other.encode(), path), path, 0.0)
    assert compute_pose_difference(robot, model, np.random.default_rng(1)) <= TOLERANCE
    assert compute_pose_difference(twisted, model, np.random.default_rng(1)) > TOLERANCE


@pytest.mark.parametrize(("name", "reason"), example_robots.REFUSED.items())
def test_invalid_files_are_errors(name: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason.replace("(", r"\(")):
        ytheta.load(example_robots.urdf(name))


def test_limits_and_friction() -> None:
    robot = read(example_robots.urdf("panda.urdf"))
    model = pin.buildModelFromUrdf(str(example_robots.urdf("panda.urdf")))
    assert [joint.limits.lower for joint in robot.movable] == list(model.lowerPositionLimit)
    assert [joint.limits.upper for joint in robot.movable] == list(model.upperPositionLimit)
    assert [joint.limits.velocity for joint in robot.movable] == list(model.upperVelocityLimit)
    assert [joint.limits.effort for joint in robot.movable] == list(model.upperEffortLimit)
    baxter = read(example_robots.urdf("baxter.urdf"))
    peer = pin.buildModelFromUrdf(str(example_robots.urdf("baxter.urdf")))
    for joint in baxter.movable:
        index = peer.joints[peer.getJointId(joint.name)].idx_v
        assert joint.drive.viscous == peer.damping[index]
        assert joint.drive.coulomb == peer.upperDryFrictionLimit[index]
    assert any(joint.drive.viscous for joint in baxter.movable)


def test_continuous_joints_have_no_position_limits() -> None:
    robot = read(example_robots.urdf("kinova.urdf"))
    assert robot.joint("j2s6s200_joint_1").limits.lower == -np.inf
    assert robot.joint("j2s6s200_joint_1").kind is JointKind.REVOLUTE


def test_mimic_is_a_coupling() -> None:
    robot = read(example_robots.urdf("panda.urdf"))
    (coupling,) = robot.couplings
    assert coupling.terms == (("panda_finger_joint1", 1.0),)
    factors, offset = robot.coupling_map
    assert factors.shape == (9, 8)
    assert not offset.any()
    assert factors[-1].tolist() == factors[-2].tolist()


MIMIC = """<robot name="gripper">
  <link name="base"/>
  <link name="arm"/>
  <link name="finger"/>
  <joint name="turn" type="revolute"><parent link="base"/><child link="arm"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
  <joint name="slide" type="prismatic"><parent link="arm"/><child link="finger"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="1" effort="1"/>
    <mimic joint="turn" multiplier="-0.5" offset="0.2"/></joint>
</robot>"""


def test_mimic_has_the_factor_and_offset_of_the_specification(tmp_path: Path) -> None:
    """The specification says: value = multiplier · other + offset. Pinocchio places the links."""
    path = tmp_path / "gripper.urdf"
    path.write_text(MIMIC)
    robot, model = read(path), pin.buildModelFromUrdf(str(path), mimic=True)
    factors, offset = robot.coupling_map
    poses = link_poses(robot, factors @ np.array([0.3]) + offset)
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.array([0.3]))
    peer_pose = data.oMf[model.getFrameId("finger")].homogeneous
    np.testing.assert_allclose(poses["finger"], peer_pose, rtol=0.0, atol=1e-15)
    assert abs(link_poses(robot, factors @ np.array([0.3]))["finger"] - peer_pose).max() > 0.1  # without the offset


# --- rounded angles -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["xarm7.urdf", "so101.urdf", "icub.urdf", "ur10_robot.urdf"])
def test_rounded_angles_are_snapped_and_reported(name: str) -> None:
    path = example_robots.urdf(name)
    kept, snapped = read(path, snap=0.0), read(path, snap=SNAP)
    assert kept.findings == ()
    assert any("rounded angle" in note.text for note in snapped.findings)
    q = np.random.default_rng(2).uniform(-2.0, 2.0, len(kept.movable))
    before, after = link_poses(kept, q), link_poses(snapped, q)
    change = max(abs(before[link] - after[link]).max() for link in before)
    assert 0.0 < change < 1e-3


def test_snapped_quarter_turns_are_exact() -> None:
    robot = read(example_robots.urdf("xarm7.urdf"), snap=SNAP)
    entries = {abs(entry) for joint in robot.movable for row in joint.placement.rotation for entry in row}
    assert entries == {0.0, 1.0}


def test_other_angles_are_not_snapped() -> None:
    text = '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="revolute"><parent link="a"/>'
    text += '<child link="b"/><origin rpy="1.5706 0 0.3"/></joint></robot>'
    robot = read_urdf(parse_xml(text.encode(), Path("r.urdf")), Path("r.urdf"), SNAP)
    assert robot.joint("j").placement == Frame.from_rpy(1.5706, 0.0, 0.3)
    assert robot.findings == ()


# --- single features -------------------------------------------------------------------------------------------------


def format_urdf(kind: str, inside: str = "") -> bytes:
    text = f'<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="{kind}"><parent link="a"/>'
    return f'{text}<child link="b"/>{inside}</joint></robot>'.encode()


def read_joint(kind: str, inside: str = "", *, fix_base: bool = False) -> Robot:
    return read_urdf(parse_xml(format_urdf(kind, inside), Path("r.urdf")), Path("r.urdf"), SNAP, fix_base=fix_base)


def test_fix_base_fixes_a_floating_base(tmp_path: Path) -> None:
    floating = read_joint("floating", '<origin xyz="0 0 2"/>')
    assert floating.floating
    assert floating.home == (("base_z", 2.0),)
    robot = read_joint("floating", '<origin xyz="0 0 2"/><limit effort="1"/>', fix_base=True)
    assert robot.joint("j").kind is JointKind.FIXED
    assert robot.joint("j").placement == Frame.shift(0.0, 0.0, 2.0)
    assert [note.text for note in robot.findings] == [
        "the floating joint is fixed at its position in the file (fix_base): j"
    ]
    path = tmp_path / "r.urdf"
    path.write_bytes(format_urdf("floating"))
    assert ytheta.load(path, fix_base=True).movable == ()
    with pytest.raises(InputError, match="'planar' are not supported"):
        read_joint("planar", fix_base=True)
    with pytest.raises(InputError, match="URDF has no joints of type 'spherical'; write three continuous joints"):
        read_joint("spherical")


def test_quaternions_equal_angles() -> None:
    """In the origin of a joint, where quarter turns are snapped, and in that of an inertia, where nothing is."""
    for angle, tilt in ((0.7, 0.0), (math.pi / 2, 1e-5)):
        x, w = math.sin((angle + tilt) / 2), math.cos((angle + tilt) / 2)
        by_angle = read_joint("revolute", f'<origin rpy="{angle!r} 0 0"/>').joint("j").placement
        by_quaternion = read_joint("revolute", f'<origin quat_xyzw="{x!r} 0 0 {w!r}"/>').joint("j").placement
        np.testing.assert_allclose(by_quaternion.matrix, by_angle.matrix, rtol=0.0, atol=1e-15)
        inertias = []
        for origin in (f'rpy="{angle + tilt!r} 0 0"', f'quat_xyzw="{x!r} 0 0 {w!r}"'):
            body = f'<origin {origin}/><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="2.5"/>'
            text = f'<robot name="r"><link name="a"><inertial>{body}</inertial></link></robot>'
            inertias.append(read_urdf(parse_xml(text.encode(), Path("r.urdf")), Path("r.urdf"), SNAP).links[0].inertia)
        np.testing.assert_allclose(inertias[1].vector, inertias[0].vector, rtol=0.0, atol=1e-15)


def test_templates_are_refused() -> None:
    text = b'<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro"><link name="a"/><xacro:arm/></robot>'
    with pytest.raises(InputError, match=r"this is a xacro file, a template; rename it to \.xacro"):
        read_urdf(parse_xml(text, Path("r.urdf")), Path("r.urdf"), SNAP)


def test_attributes_that_are_left_out_are_zero() -> None:
    """The specification: lower and upper, damping and friction default to 0."""
    lower, upper = (read_joint("revolute", f"<limit {x}/>").joint("j").limits for x in ('lower="-2"', 'upper="2"'))
    assert (lower.lower, lower.upper, upper.lower, upper.upper) == (-2.0, 0.0, 0.0, 2.0)
    damped, rubbing = (
        read_joint("revolute", f"<dynamics {x}/>").joint("j").drive for x in ('damping="3"', 'friction="4"')
    )
    assert (damped.viscous, damped.coulomb, rubbing.viscous, rubbing.coulomb) == (3.0, 0.0, 0.0, 4.0)


def test_joints_without_lower_and_upper_are_named_in_one_note() -> None:
    joint = '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/><limit effort="1" {4}/></joint>'
    joints = [("p", "prismatic", "a", "b", ""), ("q", "revolute", "b", "c", ""), ("r", "continuous", "c", "d", "")]
    joints += [("s", "fixed", "d", "e", ""), ("t", "revolute", "e", "f", 'upper="1"')]
    links = "".join(f'<link name="{name}"/>' for name in "abcdef")
    text = f'<robot name="r">{links}{"".join(joint.format(*words) for words in joints)}</robot>'
    robot = read_urdf(parse_xml(text.encode(), Path("r.urdf")), Path("r.urdf"), SNAP)
    assert [finding.text for finding in robot.findings] == [
        "joints with a <limit> without lower and upper are treated as unbounded: p, q"
    ]


def test_infinite_limits_are_no_limits() -> None:
    limits = read_joint("revolute", '<limit lower="-inf" upper="INF" velocity="inf" effort="3"/>').joint("j").limits
    assert (limits.lower, limits.upper) == (-np.inf, np.inf)
    assert (limits.velocity, limits.effort) == (np.inf, 3.0)
    assert read_joint("revolute", '<limit lower="-Infinity" upper="2"/>').joint("j").limits.upper == 2.0


@pytest.mark.parametrize("wrong", ['lower="inf"', 'upper="-inf"', 'lower="nan"', 'velocity="-inf"', 'effort="x"'])
def test_invalid_limits_are_errors(wrong: str) -> None:
    with pytest.raises(InputError, match=r"r\.urdf, line 1, <limit>: .* should contain"):
        read_joint("revolute", f"<limit {wrong}/>")


def test_invalid_geometry_is_an_error() -> None:
    with pytest.raises(InputError, match=r"<origin>: a quaternion of zeros is not a rotation"):
        read_joint("revolute", '<origin quat_xyzw="0 0 0 0"/>')
    with pytest.raises(InputError, match=r"<axis>: joint 'j': the axis is zero"):
        read_joint("revolute", '<axis xyz="0 0 0"/>')


SHAPES = """<robot name="arm" version="1.2">
  <link name="base"><collision><geometry><sphere radius="0.3"/></geometry></collision></link>
  <link name="upper">
    <collision><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><geometry><box size="0.1 0.2 0.3"/></geometry></collision>
    <collision><origin xyz="0 0 1" rpy="1 0 0"/><geometry><cylinder radius="0.1" length="0.5"/></geometry></collision>
    <collision><geometry><capsule radius="0.1" length="0.5"/></geometry></collision>
  </link>
  <joint name="q1" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="2" effort="3"/></joint>
</robot>"""


def list_pinocchio_shapes(text: str) -> list[tuple[str, list[float], np.ndarray]]:
    """Kind, sizes and pose in the joint frame of the collision shapes of Pinocchio."""
    model = pin.buildModelFromXML(text)
    shapes = []
    for entry in pin.buildGeomFromUrdfString(model, text, pin.GeometryType.COLLISION).geometryObjects:
        geometry = entry.geometry
        kind = type(geometry).__name__.lower()
        size = list(2.0 * geometry.halfSide) if kind == "box" else [geometry.radius]
        size += [2.0 * geometry.halfLength] if kind in ("cylinder", "capsule") else []
        shapes.append((kind, size, entry.placement.homogeneous))
    return shapes


def test_collision_shapes_are_those_of_pinocchio(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"

    def compare(text: str) -> None:
        path.write_text(SHAPES)
        robot, peer = read(path), list_pinocchio_shapes(text)
        assert [shape.link for shape in robot.collision] == ["base", "upper", "upper", "upper"]
        assert [shape.kind.value for shape in robot.collision] == [kind for kind, _, _ in peer]
        for shape, (_, size, pose) in zip(robot.collision, peer, strict=True):
            assert shape.size == pytest.approx(size)
            assert shape.frame.matrix == pytest.approx(pose, abs=1e-12)

    compare(SHAPES)
    with pytest.raises(AssertionError):
        compare(SHAPES.replace('length="0.5"', 'length="0.6"', 1))


def test_collision_meshes_are_located(tmp_path: Path) -> None:
    """Beside the file, and by the name of the package that contains it."""
    package = tmp_path / "arm_description"
    (package / "urdf").mkdir(parents=True)
    (package / "package.xml").write_text("<package><name> arm_pkg </name></package>")
    path = package / "urdf" / "arm.urdf"
    references = ("a.stl", "package://arm_pkg/meshes/a.stl", "package://arm_description/a.stl", "package://other/a.stl")
    meshes = (f'<collision><geometry><mesh filename="{file}"/></geometry></collision>' for file in references)
    path.write_text(f'<robot name="arm"><link name="base">{"".join(meshes)}</link></robot>')
    folder = package.resolve()
    files = [shape.file for shape in read(path).collision]
    assert files == [
        str(folder / "urdf" / "a.stl"),
        str(folder / "meshes" / "a.stl"),
        str(folder / "a.stl"),
        "package://other/a.stl",
    ]


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ("<geometry/>", "<geometry> has no shape"),
        ("<geometry><cone/></geometry>", "<cone> is not a shape"),
        ('<geometry><sphere radius="0"/></geometry>', "its radius is 0; give a positive number"),
        ('<geometry><box size="1 2"/></geometry>', "should contain 3 numbers"),
    ],
)
def test_a_faulty_collision_shape_is_left_out_with_a_warning(tmp_path: Path, shape: str, words: str) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(f'<robot name="arm"><link name="base"><collision>{shape}</collision></link></robot>')
    robot = read(path)
    assert robot.collision == ()
    (finding,) = robot.findings
    assert finding.is_warning
    assert finding.names == ("base",)
    assert "a collision shape of link 'base' is left out" in finding.text
    assert words in finding.text
