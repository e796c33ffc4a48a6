"""Modified Denavit-Hartenberg frames against Pinocchio, link poses and published tables, and their inversion."""

from __future__ import annotations

import csv
import math
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxtyping import Float

from ytheta.errors import UnsetLengthError
from ytheta.files.bounded import read_bytes
from ytheta.files.symbols import symbol
from ytheta.files.xml_document import parse_xml
from ytheta.robot.frame import IDENTITY, Frame, Vector
from ytheta.robot.inertia import Inertia
from ytheta.robot.kinematics import link_poses
from ytheta.robot.modified_dh import NEARLY_PARALLEL_SINE, TOLERANCE, ModifiedDH, Row, to_modified_dh
from ytheta.robot.parts import Coupling, Drive, Joint, JointKind, Limits, Link, Loop, Marker, Motor
from ytheta.robot.reading.load import load
from ytheta.robot.reading.urdf import read_urdf
from ytheta.robot.robot import Robot

ARMS = {
    "ur10": "ur_description/urdf/ur10_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "talos": "talos_data/robots/talos_full_v2.urdf",
    "icub": "icub_description/robots/icub.urdf",
    "baxter": "baxter_description/urdf/baxter.urdf",
    "tiago": "tiago_description/robots/tiago.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
    "allegro": "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "pr2": "pr2_description/urdf/pr2.urdf",
    "romeo": "romeo_description/urdf/romeo.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
}
Z: Vector = (0.0, 0.0, 1.0)
X: Vector = (1.0, 0.0, 0.0)


def find_urdf(name: str) -> Path:
    inside = Path("cmeel.prefix", "share", "example-robot-data", "robots", ARMS[name])
    for folder in (Path(pinocchio.__file__).parents[5], *map(Path, sys.path)):
        for candidate in (folder / inside, folder / Path(*inside.parts[1:])):
            if candidate.is_file():
                return candidate
    pytest.skip(f"example-robot-data is not installed ({inside.name} not found)")


@cache
def read(path: Path, snap: float) -> Robot:
    return read_urdf(parse_xml(read_bytes(path), path), path, snap)


@cache
def convert(robot: Robot) -> ModifiedDH:
    """Convert each robot once, since checking shapes and types in every call takes time."""
    return to_modified_dh(robot)


# --- oracle: Pinocchio ----------------------------------------------------------------------------------------------


def build_pinocchio_model(converted: ModifiedDH) -> Any:
    """A Pinocchio model, built only from the rows and the inertial parameters."""
    model = pinocchio.Model()
    model.gravity = pinocchio.Motion(np.array([*converted.robot.gravity, 0.0, 0.0, 0.0]))
    carriers = {converted.robot.base.name: (0, pinocchio.SE3.Identity())}
    for row, link in zip(converted.rows, converted.robot.links[1:], strict=True):
        carrier, place = carriers[row.parent]
        place = place * pinocchio.SE3(row.placement.matrix)
        if row.kind is not JointKind.FIXED:
            kind = pinocchio.JointModelRZ() if row.kind is JointKind.REVOLUTE else pinocchio.JointModelPZ()
            carrier, place = model.addJoint(carrier, kind, place, row.joint), pinocchio.SE3.Identity()
        carriers[link.name] = carrier, place
        if link.inertia.mass:
            body = pinocchio.Inertia.FromDynamicParameters(link.inertia.vector)
            model.appendBodyToJoint(carrier, body, place)
    return model


def compute_torques(model: Any, states: dict[str, tuple[float, float, float]]) -> dict[str, float]:
    q, qd, qdd = pinocchio.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    for name, (position, velocity, acceleration) in states.items():
        joint = model.joints[model.getJointId(name)]
        if joint.nq == 2:  # without limits, Pinocchio uses cosine and sine
            q[joint.idx_q : joint.idx_q + 2] = math.cos(position), math.sin(position)
        else:
            q[joint.idx_q] = position
        qd[joint.idx_v], qdd[joint.idx_v] = velocity, acceleration
    tau = pinocchio.rnea(model, model.createData(), q, qd, qdd)
    return {name: tau[model.joints[model.getJointId(name)].idx_v] for name in states}


def compute_largest_difference(model: Any, peer: Any, joints: tuple[str, ...]) -> float:
    """The largest difference of torques at ten random states, relative to the largest torque."""
    rng, worst = np.random.default_rng(7), 0.0
    for _ in range(10):
        states = {name: tuple(rng.uniform(-2.0, 2.0, 3)) for name in joints}
        a, b = compute_torques(model, states), compute_torques(peer, states)
        worst = max(worst, max(abs(a[k] - b[k]) for k in joints) / max(abs(v) for v in a.values()))
    return worst


@pytest.mark.parametrize("name", ARMS)
def test_torques_are_those_of_the_urdf(name: str) -> None:
    path = find_urdf(name)
    converted = convert(read(path, 0.0))
    joints = tuple(joint.name for joint in converted.robot.movable)
    expected = pinocchio.buildModelFromUrdf(str(path))
    assert expected.nv == len(joints)
    # 1e-9: distances below a nanometre and angles below a nanoradian become zero, see TOLERANCE
    assert compute_largest_difference(expected, build_pinocchio_model(converted), joints) < 1e-9


@pytest.mark.parametrize("parameter", range(10))
def test_one_wrong_inertial_parameter_is_detected(parameter: int) -> None:
    path = find_urdf("ur10")
    converted = convert(read(path, 0.0))
    last = converted.robot.links[-1]
    ten = list(last.inertia.parameters)
    ten[parameter] += 1e-3
    wrong = replace(converted, robot=converted.robot.with_inertias({last.name: Inertia(tuple(ten))}))
    joints = tuple(joint.name for joint in converted.robot.movable)
    assert (
        compute_largest_difference(pinocchio.buildModelFromUrdf(str(path)), build_pinocchio_model(wrong), joints) > 1e-6
    )


@pytest.mark.parametrize("key", ["alpha", "a", "theta", "d", "gamma", "b"])
def test_one_wrong_entry_of_a_row_is_detected(key: str) -> None:
    path = find_urdf("ur10")
    converted = convert(read(path, 0.0))
    row = converted.rows[3]
    table = (*converted.rows[:3], replace(row, **{key: getattr(row, key) + 1e-3}), *converted.rows[4:])
    joints = tuple(joint.name for joint in converted.robot.movable)
    expected = pinocchio.buildModelFromUrdf(str(path))
    assert compute_largest_difference(expected, build_pinocchio_model(replace(converted, rows=table)), joints) > 1e-6


# --- structure ------------------------------------------------------------------------------------------------------


def check_structure(converted: ModifiedDH) -> None:
    robot, original = converted.robot, converted.original
    assert [row.joint for row in converted.rows] == [joint.name for joint in robot.joints]
    assert [link.name for link in robot.links] == [link.name for link in original.links]
    assert converted.frames[0] == IDENTITY
    parents: set[str] = {robot.base.name, *(link.name for link in robot.links if link.load)}
    by_child = {joint.child: joint for joint in robot.joints}
    for row, joint in zip(converted.rows, robot.joints, strict=True):
        assert (joint.axis, joint.seat, joint.kind, joint.parent) == (Z, IDENTITY, row.kind, row.parent)
        np.testing.assert_allclose(joint.placement.matrix, multiply_row(row), rtol=0.0, atol=1e-12)
        assert all(-math.pi < angle <= math.pi for angle in (row.gamma, row.alpha, row.theta))
        assert abs(row.gamma) <= math.pi / 2 + TOLERANCE
        parallel = abs(math.sin(row.alpha)) <= TOLERANCE
        assert not parallel or (row.b == 0.0 and row.alpha in (0.0, math.pi))
        if row.kind is JointKind.FIXED:
            continue
        nearly_parallel = TOLERANCE < abs(math.sin(row.alpha)) <= NEARLY_PARALLEL_SINE
        if row.parent not in parents and not nearly_parallel:
            assert (row.gamma, row.b) == (0.0, 0.0), row
            assert abs(row.theta) <= math.pi / 2 + TOLERANCE
            above = by_child[row.parent].kind
            assert above is not JointKind.PRISMATIC or (row.a, row.d) == (0.0, 0.0), row
        parents.add(row.parent)
        if not any(child.parent == joint.child and child.moves for child in robot.joints):
            assert row.theta == 0.0
            assert row.d == 0.0 or nearly_parallel


def multiply_row(row: Row) -> Float[np.ndarray, "4 4"]:
    """Rz(gamma) Tz(b) Rx(alpha) Tx(a) Rz(theta) Tz(d), multiplied by hand."""
    cg, sg, ca, sa = math.cos(row.gamma), math.sin(row.gamma), math.cos(row.alpha), math.sin(row.alpha)
    ct, st_ = math.cos(row.theta), math.sin(row.theta)
    return np.array(
        [
            [cg * ct - sg * ca * st_, -cg * st_ - sg * ca * ct, sg * sa, cg * row.a + sg * sa * row.d],
            [sg * ct + cg * ca * st_, -sg * st_ + cg * ca * ct, -cg * sa, sg * row.a - cg * sa * row.d],
            [sa * st_, sa * ct, ca, row.b + ca * row.d],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def check_poses(converted: ModifiedDH, robot: Robot, *, atol: float) -> None:
    """Check that new link frames are fixed in the old ones in every pose, and that markers have not moved."""
    rng = np.random.default_rng(3)
    for scale in (0.0, 3.0):
        q = dict(zip((joint.name for joint in robot.movable), rng.uniform(-scale, scale, 1000), strict=False))
        before = link_poses(robot, np.array([q[joint.name] for joint in robot.movable]))
        after = link_poses(converted.robot, np.array([q[joint.name] for joint in converted.robot.movable]))
        for link, frame in zip(converted.robot.links, converted.frames, strict=True):
            np.testing.assert_allclose(after[link.name], before[link.name] @ frame.matrix, rtol=0.0, atol=atol)
        for marker in converted.robot.markers:
            np.testing.assert_allclose(after[marker.name], before[marker.name], rtol=0.0, atol=atol)


def check_inertias(converted: ModifiedDH) -> None:
    """Check that each body has the same pseudo-inertia."""
    for old, new, frame in zip(converted.original.links, converted.robot.links, converted.frames, strict=True):
        h = frame.matrix
        moved = h @ new.inertia.pseudo @ h.T
        largest = max(1.0, float(np.abs(h).max() ** 2 * np.abs(new.inertia.pseudo).max()))
        np.testing.assert_allclose(moved, old.inertia.pseudo, rtol=0.0, atol=1e-14 * largest)


def check_restored(converted: ModifiedDH, merged: Robot, *, atol: float = 1e-12) -> None:
    restored = converted.restore()
    assert [replace(link, inertia=Inertia()) for link in restored.links] == [
        replace(link, inertia=Inertia()) for link in merged.links
    ]
    for link, original in zip(restored.links, merged.links, strict=True):
        np.testing.assert_allclose(link.inertia.vector, original.inertia.vector, rtol=0.0, atol=atol)
    assert replace(restored, links=merged.links) == merged


@pytest.mark.parametrize("snap", [0.0, 1e-4])
@pytest.mark.parametrize("name", ARMS)
def test_urdf_structure_poses_and_restored_robot(name: str, snap: float) -> None:
    robot = read(find_urdf(name), snap)
    converted = convert(robot)
    check_structure(converted)
    check_poses(converted, robot, atol=1e-9)
    check_inertias(converted)
    heaviest = max(link.inertia.mass for link in robot.merged.links)
    check_restored(converted, robot.merged, atol=1e-12 * max(1.0, heaviest))


@pytest.mark.parametrize("name", ARMS)
def test_snapped_robots_need_no_gamma_and_b_in_chains(name: str) -> None:
    """With snapped angles, no axis of a first child is nearly parallel, so that gamma = b = 0 in every chain."""
    converted = convert(read(find_urdf(name), 1e-4))
    seen: set[str] = {converted.robot.base.name}
    for row in converted.rows:
        assert row.parent in seen or (row.gamma, row.b) == (0.0, 0.0)
        seen.add(row.parent)


# --- known tables ---------------------------------------------------------------------------------------------------


def read_table(path: Path) -> tuple[Row, ...]:
    with path.open() as file:
        lines = list(csv.DictReader(file))
    kinds = (JointKind.REVOLUTE, JointKind.PRISMATIC)
    return tuple(
        Row(
            joint=f"joint{k + 1}",
            parent=f"link{k}",
            kind=kinds[int(line["sigma"])],
            gamma=0.0,
            b=0.0,
            alpha=float(line["alpha_rad"]),
            a=float(line["a_m"]),
            theta=float(line["theta_offset_rad"]),
            d=float(line["d_m"]),
        )
        for k, line in enumerate(lines)
    )


def make_robot(table: tuple[Row, ...]) -> Robot:
    links = tuple(Link(f"link{k}", make_brick(k)) for k in range(len(table) + 1))
    joints = tuple(Joint(row.joint, row.kind, row.parent, f"link{k + 1}", row.placement) for k, row in enumerate(table))
    return Robot("table", links, joints)


def make_brick(k: int) -> Inertia:
    """A body whose ten parameters differ from those of all others."""
    x, y, z = (0.3 * math.sin(step * k + step) for step in (1.0, 2.0, 3.0))
    corners: tuple[Vector, ...] = ((x, y, z), (y, z, x), (-x, y, 0.1), (z, -0.2, y))
    return sum((Inertia.point_mass(0.5 + 0.2 * k, corner) for corner in corners), Inertia())


@pytest.mark.parametrize("name", ["rx90", "iiwa14", "planar_2r"])
def test_published_tables_are_reproduced(name: str, shared_data: Path) -> None:
    """All rows agree exactly, except d of the last row, which belongs to a tool and is 0 here."""
    published = read_table(shared_data / "reference" / f"{name}_mdh.csv")
    rows = to_modified_dh(make_robot(published)).rows
    for row, expected in zip(rows[:-1], published[:-1], strict=True):
        assert row == expected
    assert rows[-1] == replace(published[-1], d=0.0)


def test_puma_table_is_reproduced_except_for_parallel_axes(shared_data: Path) -> None:
    """Axes 2 and 3 are parallel, so that only d2 + d3 is determined; the conversion puts it into d3."""
    published = read_table(shared_data / "reference" / "puma560_mdh.csv")
    rows = to_modified_dh(make_robot(published)).rows
    assert rows[1].d == 0.0
    assert rows[2].d == pytest.approx(published[1].d + published[2].d, abs=1e-15)
    for row, expected in zip(rows, published, strict=True):
        for key in ("gamma", "b", "alpha", "a", "theta"):
            assert getattr(row, key) == getattr(expected, key)
        assert row.joint in ("joint2", "joint3") or row.d == expected.d


@pytest.mark.parametrize("name", ["cartesian_ppp", "ppp_axes_1_3_parallel"])
def test_prismatic_robots_have_no_lengths(name: str, shared_data: Path) -> None:
    published = read_table(shared_data / "reference" / f"{name}_mdh.csv")
    moved = tuple(replace(row, a=0.1, d=-0.2) for row in published)
    for row, expected in zip(to_modified_dh(make_robot(moved)).rows, published, strict=True):
        assert (row.b, row.a, row.d) == (0.0, 0.0, 0.0)
        assert abs(row.alpha) == abs(expected.alpha)


def test_panda_urdf_gives_the_published_table(shared_data: Path) -> None:
    published = read_table(shared_data / "panda" / "mdh.csv")
    arm = to_modified_dh(read(shared_data / "panda" / "panda_arm.urdf", 1e-4)).rows
    assert [replace(row, joint="", parent="") for row in arm] == [
        replace(row, joint="", parent="") for row in published
    ]
    with_hand = convert(read(find_urdf("panda"), 1e-4)).rows[:7]
    for row, expected in zip(with_hand, published, strict=True):
        assert (abs(row.alpha), abs(row.a), row.d) == (abs(expected.alpha), abs(expected.a), expected.d)


def make_standard_dh_robot(table: list[tuple[JointKind, float, float, float, float]]) -> Robot:
    """A robot from rows of alpha, a, theta, d in the standard convention, Rz(theta) Tz(d) Tx(a) Rx(alpha)."""
    joints = tuple(
        Joint(
            f"joint{k + 1}",
            kind,
            f"link{k}",
            f"link{k + 1}",
            placement=Frame.turn(Z, theta) if kind is JointKind.PRISMATIC else IDENTITY,
            seat=(Frame.turn(Z, theta) if kind is JointKind.REVOLUTE else IDENTITY)
            @ Frame.shift(z=d)
            @ Frame.shift(x=a)
            @ Frame.turn(X, alpha),
        )
        for k, (kind, alpha, a, theta, d) in enumerate(table)
    )
    return Robot("standard", tuple(Link(f"link{k}", make_brick(k)) for k in range(len(table) + 1)), joints)


def test_stanford_arm_from_standard_dh() -> None:
    """Stanford arm (Paul 1981): the origin of the prismatic link is the intersection of the three wrist axes."""
    R, P, quarter = JointKind.REVOLUTE, JointKind.PRISMATIC, math.pi / 2
    robot = make_standard_dh_robot(
        [
            (R, -quarter, 0.0, 0.0, 0.412),
            (R, quarter, 0.0, 0.0, 0.154),
            (P, 0.0, 0.0, 0.0, 0.0),
            (R, -quarter, 0.0, 0.0, 0.0),
            (R, quarter, 0.0, 0.0, 0.0),
            (R, 0.0, 0.0, 0.0, 0.0),
        ]
    )
    converted = to_modified_dh(robot)
    check_structure(converted)
    check_poses(converted, robot, atol=1e-12)
    check_restored(converted, robot)
    table = [(row.alpha, row.a, row.theta, row.d) for row in converted.rows]
    assert table == [
        (0.0, 0.0, 0.0, 0.412),
        (-quarter, 0.0, 0.0, 0.154),
        (quarter, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0),
        (-quarter, 0.0, 0.0, 0.0),
        (quarter, 0.0, 0.0, 0.0),
    ]


# --- other parts of a robot ------------------------------------------------------------------------------------


def test_everything_but_geometry_is_kept() -> None:
    joints = (
        Joint("lift", JointKind.PRISMATIC, "base", "post", Frame.shift(0.1, 0.2, 0.3), X, limits=Limits(-1.0, 2.0)),
        Joint("turn", JointKind.REVOLUTE, "post", "arm", Frame.shift(0.0, 0.5, 0.0), X, drive=Drive(1e-4, 100.0, 0.3)),
        Joint("bend", JointKind.REVOLUTE, "arm", "hand", Frame.from_rpy(0.3, 0.2, 0.1) @ Frame.shift(0.4), Z),
    )
    robot = Robot(
        "full",
        tuple(Link(name, make_brick(k)) for k, name in enumerate(("base", "post", "arm", "hand"))),
        joints,
        couplings=(Coupling("bend", (("motor", 0.5), ("turn", -1.0)), 0.1),),
        motors=(Motor("motor", drive=Drive(2e-4, 50.0)),),
        markers=(Marker("tool", "hand", Frame.shift(0.1, 0.0, 0.2)), Marker("camera", "base", Frame.shift(1.0))),
        home=(("turn", 0.7),),
        gravity=(0.0, -9.81, 0.0),
        mounting=Frame.from_rpy(0.1, 0.2, 0.3),
        about="an arm on a post",
    )
    converted = to_modified_dh(robot)
    check_poses(converted, robot, atol=1e-12)
    check_restored(converted, robot)
    for key in ("couplings", "motors", "actuated", "home", "gravity", "mounting", "about", "coordinates"):
        assert getattr(converted.robot, key) == getattr(robot, key)
    for before, after in zip(robot.joints, converted.robot.joints, strict=True):
        assert (before.limits, before.drive, before.kind) == (after.limits, after.drive, after.kind)


def test_changed_parameters_are_restored_in_the_original_frames() -> None:
    robot = read(find_urdf("ur10"), 1e-4)
    converted = to_modified_dh(robot)
    link = converted.robot.links[3]
    heavier = converted.robot.with_inertias({link.name: link.inertia + Inertia.point_mass(1.0, (0.0, 0.0, 0.0))})
    restored = replace(converted, robot=heavier).restore()
    origin = converted.frames[3].matrix[:3, 3]
    added = restored.links[3].inertia.vector - robot.merged.links[3].inertia.vector
    np.testing.assert_allclose(added[:4], [1.0, *origin], rtol=0.0, atol=1e-12)


def make_four_bar() -> Robot:
    seat = Frame.from_rpy(0.2, 0.0, 0.0) @ Frame.shift(0.0, 0.1, 0.05)
    joints = (
        Joint("left", JointKind.REVOLUTE, "base", "a", Frame.shift(0.0), Z, seat),
        Joint("top", JointKind.REVOLUTE, "a", "b", Frame.shift(0.0, 1.0, 0.0), Z),
        Joint("right", JointKind.REVOLUTE, "base", "c", Frame.shift(1.0), Z),
    )
    cut = Joint("cut", JointKind.REVOLUTE, "b", "c", Frame.shift(1.0), Z, seat=Frame.shift(0.0, -1.0, 0.0))
    links = tuple(Link(name, make_brick(k)) for k, name in enumerate(("base", "a", "b", "c")))
    return Robot("four-bar", links, joints, loops=(Loop(cut),), actuated=("left",))


def compute_cut_joint_residual(robot: Robot, q: Float[np.ndarray, " joints"]) -> Float[np.ndarray, "4 4"]:
    """The frame of the cut joint on its parent, seen from the frame of the cut joint on its child."""
    poses, cut = link_poses(robot, q), robot.loops[0].joint
    gap: Float[np.ndarray, "4 4"] = (
        np.linalg.inv(poses[cut.child] @ cut.seat.inverse().matrix) @ poses[cut.parent] @ cut.placement.matrix
    )
    return gap


def test_loops_are_cut_at_the_same_place() -> None:
    robot = make_four_bar()
    converted = to_modified_dh(robot)
    assert len(converted.rows) == 3
    assert converted.robot.loops[0].joint.axis == robot.loops[0].joint.axis
    rng = np.random.default_rng(11)
    for _ in range(5):
        q = rng.uniform(-2.0, 2.0, 3)
        np.testing.assert_allclose(
            compute_cut_joint_residual(converted.robot, q), compute_cut_joint_residual(robot, q), rtol=0.0, atol=1e-12
        )
    check_restored(converted, robot)


def test_loads_keep_their_frames_in_fixed_rows() -> None:
    place = Frame.from_rpy(0.3, -0.4, 1.9) @ Frame.shift(0.02, 0.03, 0.1)
    path = find_urdf("ur10")
    robot = read(path, 0.0).with_load(make_brick(9), on="tool0", frame=place)
    converted = to_modified_dh(robot)
    assert converted.rows[-1].kind is JointKind.FIXED
    assert converted.frames[-1] == IDENTITY
    assert converted.robot.link("load").inertia.parameters == make_brick(9).parameters
    check_structure(converted)
    check_poses(converted, robot, atol=1e-9)
    check_restored(converted, robot.merged)
    bare = pinocchio.buildModelFromUrdf(str(path))
    tool = bare.frames[bare.getFrameId("tool0")]
    body = pinocchio.Inertia.FromDynamicParameters(make_brick(9).vector)
    bare.appendBodyToJoint(tool.parentJoint, body, tool.placement * pinocchio.SE3(place.matrix))
    joints = tuple(joint.name for joint in robot.movable)
    assert compute_largest_difference(bare, build_pinocchio_model(converted), joints) < 1e-9


def test_a_robot_without_movable_joints() -> None:
    links = (Link("base", make_brick(0)), Link("plate", make_brick(1)))
    robot = Robot("table", links, (Joint("bolt", JointKind.FIXED, "base", "plate", Frame.shift(0.1)),))
    converted = to_modified_dh(robot)
    assert converted.rows == ()
    assert converted.robot == robot.merged == converted.restore()


def test_symbolic_lengths_need_values() -> None:
    joint = Joint("joint", JointKind.REVOLUTE, "base", "arm", Frame.shift(symbol("l1")), X)
    robot = Robot("symbolic", (Link("base"), Link("arm", make_brick(1))), (joint,), lengths=(("l1", None),))
    with pytest.raises(UnsetLengthError, match="l1"):
        to_modified_dh(robot)
    converted = to_modified_dh(robot.with_lengths(l1=0.4))
    check_restored(converted, robot.with_lengths(l1=0.4).numeric)


@pytest.mark.parametrize("turn", [0.3, -0.3])
@pytest.mark.parametrize("offset", [0.5, -0.5])
def test_the_length_is_positive_if_both_senses_of_the_normal_are_a_quarter_turn_away(
    turn: float, offset: float
) -> None:
    """A positive length is preferred to a positive twist."""
    place = Frame.shift(y=offset) @ Frame.turn((0.0, 1.0, 0.0), turn)
    joint = Joint("joint1", JointKind.REVOLUTE, "link0", "link1", place)
    (row,) = to_modified_dh(Robot("one joint", (Link("link0"), Link("link1")), (joint,))).rows
    assert row.a == 0.5
    assert row.gamma == math.copysign(math.pi / 2, offset)
    assert row.alpha == pytest.approx(math.copysign(turn, turn * offset), abs=1e-15)


@pytest.mark.parametrize("tilt", [1e-11, 1e-8, 1e-6, 1e-4, 9e-3, 1.1e-2])
def test_nearly_parallel_axes(tilt: float) -> None:
    shift = Frame.shift(0.3, 0.1, 0.2)
    joints = tuple(
        Joint(f"joint{k}", JointKind.REVOLUTE, f"link{k}", f"link{k + 1}", shift @ Frame.turn(X, tilt))
        for k in range(4)
    )
    robot = Robot("tilted", tuple(Link(f"link{k}", make_brick(k)) for k in range(5)), joints)
    converted = to_modified_dh(robot)
    check_structure(converted)
    # The error is the tilt itself (below TOLERANCE) or the rounding of lengths of 1 m / tilt.
    check_poses(converted, robot, atol=1e-12 + 20 * (tilt if tilt < TOLERANCE else 1e-16 / tilt))
    assert max(np.abs(frame.matrix).max() for frame in converted.frames) < (
        5.0 if tilt < NEARLY_PARALLEL_SINE else 100.0
    )
    check_restored(converted, robot, atol=1e-12 if tilt < NEARLY_PARALLEL_SINE else 1e-9)


# --- properties -----------------------------------------------------------------------------------------------------

quarters = st.integers(-3, 4).map(lambda k: k * math.pi / 2)
sixths = st.integers(-5, 6).map(lambda k: k * math.pi / 6)
angles = st.one_of(quarters, quarters, sixths, st.integers(-314, 314).map(lambda k: k / 100))
offsets = st.one_of(
    st.just(0.0), st.integers(-20, 20).map(lambda k: k / 20), st.integers(-999, 999).map(lambda k: k / 1e3)
)
axes = st.sampled_from([X, (0.0, 1.0, 0.0), Z, (0.0, 0.0, -1.0), (0.6, 0.0, -0.8), (2 / 3, 1 / 3, -2 / 3)])
frames = st.builds(
    lambda xyz, rpy: Frame.shift(*xyz) @ Frame.from_rpy(*rpy),
    st.tuples(offsets, offsets, offsets),
    st.one_of(st.just((0.0, 0.0, 0.0)), st.tuples(angles, angles, angles)),
)
kinds = st.sampled_from(
    [JointKind.REVOLUTE, JointKind.REVOLUTE, JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.FIXED]
)


@st.composite
def trees(draw: st.DrawFn) -> Robot:
    """Chains and branches with seats, loads, massless links; parallel, coincident, perpendicular and skew axes."""
    count = draw(st.integers(1, 7))
    links, joints = [Link("link0")], []
    for k in range(1, count + 1):
        kind = draw(kinds)
        load = kind is JointKind.FIXED and draw(st.booleans())
        links.append(Link(f"link{k}", draw(st.sampled_from([Inertia(), make_brick(k)])), load=load))
        parent = max(0, k - 1 - draw(st.sampled_from([0, 0, 0, 1, 2])))
        seat = draw(st.one_of(st.just(IDENTITY), frames))
        joints.append(Joint(f"joint{k}", kind, f"link{parent}", f"link{k}", draw(frames), draw(axes), seat))
    return Robot("random", tuple(links), tuple(joints), markers=(Marker("tool", f"link{count}", draw(frames)),))


@settings(max_examples=80, deadline=None, derandomize=True)
@given(trees())
def test_any_tree(robot: Robot) -> None:
    converted = to_modified_dh(robot)
    check_structure(converted)
    check_poses(converted, robot, atol=1e-9)
    check_inertias(converted)
    farthest = max(float(np.abs(frame.matrix).max()) for frame in converted.frames)
    check_restored(converted, robot.merged, atol=1e-13 * max(10.0, farthest**2))


@settings(max_examples=30, deadline=None, derandomize=True)
@given(trees())
def test_converting_twice_changes_nothing(robot: Robot) -> None:
    once = to_modified_dh(robot)
    twice = to_modified_dh(once.robot)
    for one, two in zip(once.rows, twice.rows, strict=True):
        placements = one.placement.matrix, two.placement.matrix
        np.testing.assert_allclose(*placements, rtol=0.0, atol=1e-8)


def test_the_repr_is_short() -> None:
    assert repr(to_modified_dh(load("ur10"))) == "ModifiedDH(6 rows of Robot('ur10', 6 joints, 6 actuated))"
