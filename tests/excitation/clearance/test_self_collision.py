"""Margins between links: coal and MuJoCo as oracles, gradients, slopes, pairs that are left out."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import coal
import mujoco
import numpy as np
import pytest

from tests.support.clearances import difference_margins, measure_gradient_error, measure_slope_ratio
from tests.support.revolute_chains import revolute_chain
from ytheta.errors import InputError
from ytheta.excitation.clearance.link_capsules import Capsule, find_link_capsules
from ytheta.excitation.clearance.self_collision import make_self_collision, spread_poses
from ytheta.robot.frame import Frame
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import JointKind, Limits, make_capsule
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot

ARMS = ("panda", "iiwa14")
TOLERANCE = 1e-6  # m; the accuracy to which coal iterates


def name_by_link(robot: Robot) -> dict[str, tuple[str, Capsule]]:
    """Link and capsule by the name in the names of margins."""
    capsules = find_link_capsules(robot).capsules
    links = [item.link for item in capsules]
    names = {}
    for k, item in enumerate(capsules):
        number = f"[{links[: k + 1].count(item.link)}]" if links.count(item.link) > 1 else ""
        names[f"{item.link}{number}"] = item.link, item.capsule
    return names


def ask_coal(first: tuple[str, Capsule], second: tuple[str, Capsule], poses: dict[str, np.ndarray]) -> float:
    shapes = []
    for link, capsule in (first, second):
        ends = capsule.ends @ poses[link][:3, :3].T + poses[link][:3, 3]
        along = ends[1] - ends[0]
        length = float(np.linalg.norm(along))
        turn = Frame.align_z(tuple(along / length)).rotation if length else np.eye(3)
        shapes += [coal.Capsule(capsule.radius, length), coal.Transform3s(np.array(turn), ends.mean(axis=0))]
    return float(coal.distance(*shapes, coal.DistanceRequest(), coal.DistanceResult()))


@pytest.mark.parametrize("name", ARMS)
def test_margins_are_the_distances_of_coal(name: str) -> None:
    robot = load(name)
    constraint = make_self_collision(robot, clearance=0.01)
    q = spread_poses(robot, 20)
    margins = constraint.compute_margins(q)
    names = name_by_link(robot)
    apart = 0
    for sample, row in zip(q, margins, strict=True):
        poses = link_poses(robot, sample)
        for pair, margin in zip(constraint.names, row, strict=True):
            first, second = pair.split("–")
            distance = ask_coal(names[first], names[second], poses)
            if distance > 0.0:  # the depth of coal is that of the shapes, ours that of the axes, which is larger
                assert margin + 0.01 == pytest.approx(distance, abs=TOLERANCE)
                apart += 1
            else:
                assert margin + 0.01 <= TOLERANCE
    assert apart > 100


def to_mujoco(robot: Robot) -> mujoco.MjModel:
    """The same capsules as geoms on free bodies, to be placed where the links are."""
    spec = mujoco.MjSpec()
    for name, (link, capsule) in name_by_link(robot).items():
        body = spec.body(link) or spec.worldbody.add_body(name=link, mocap=True)
        if capsule.is_sphere:
            body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[capsule.radius, 0, 0], pos=capsule.start)
        else:
            fromto = [*capsule.start, *capsule.end]
            body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_CAPSULE, size=[capsule.radius, 0, 0], fromto=fromto)
    return spec.compile()


def find_smallest_distance(robot: Robot, model: mujoco.MjModel, q: np.ndarray, pairs: list[str]) -> float:
    data = mujoco.MjData(model)
    for link, pose in link_poses(robot, q).items():
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, link)
        if body > 0:
            data.mocap_pos[model.body_mocapid[body]] = pose[:3, 3]
            mujoco.mju_mat2Quat(data.mocap_quat[model.body_mocapid[body]], np.ascontiguousarray(pose[:3, :3]).ravel())
    mujoco.mj_kinematics(model, data)
    ends = [[model.geom(end).id for end in pair.split("–")] for pair in pairs]
    return min(mujoco.mj_geomDistance(model, data, a, b, 10.0, None) for a, b in ends)


@pytest.mark.parametrize("name", ARMS)
def test_the_smallest_margin_is_the_smallest_distance_of_mujoco(name: str) -> None:
    robot = load(name)
    constraint = make_self_collision(robot)
    pairs = list(constraint.names)
    model = to_mujoco(robot)
    q = spread_poses(robot, 60)
    smallest = constraint.compute_margins(q).min(axis=1)
    for sample, margin in zip(q, smallest, strict=True):
        distance = find_smallest_distance(robot, model, sample, pairs)
        if max(margin, distance) > 0.0:
            assert margin == pytest.approx(distance, abs=TOLERANCE)
    moved = find_smallest_distance(robot, model, q[0] + 0.01, pairs)
    assert moved != pytest.approx(float(smallest[0]), abs=TOLERANCE)


@pytest.mark.parametrize("name", ARMS)
def test_gradients_and_slopes(name: str) -> None:
    robot = load(name)
    constraint = make_self_collision(robot, clearance=0.01)
    q = spread_poses(robot, 200)
    error = measure_gradient_error(constraint, q)
    # Where segments become parallel or a nearest point reaches an end, differences straddle a kink.
    assert np.quantile(error, 0.97) < 1e-7
    assert measure_slope_ratio(constraint, q) <= 1.0
    halved = replace(constraint, lipschitz=0.5 * constraint.lipschitz)
    assert measure_slope_ratio(halved, q) > 1.0
    assert np.quantile(measure_gradient_error(constraint, q, shift=1e-3), 0.5) > 1e-5


def test_local_slopes_are_within_their_bounds_and_reach_them() -> None:
    robot = load("panda")
    constraint = make_self_collision(robot)
    slopes = abs(difference_margins(constraint, spread_poses(robot, 400))).max(axis=0)
    assert (slopes <= constraint.lipschitz + 1e-6).all()
    moving = constraint.lipschitz > 0.0
    assert np.median(slopes[moving] / constraint.lipschitz[moving]) > 0.7  # the bounds are not far too large
    assert slopes[~moving] == pytest.approx(0.0, abs=1e-6)  # joints that move both links alike


def three_links(radius: float = 0.05, *, reach: float = 0.3) -> Robot:
    """A planar arm of three links that can fold back on its base."""
    arm = revolute_chain(("q1", "base", "upper"), ("q2", "upper", "fore"), ("q3", "fore", "hand"))
    joints = tuple(
        replace(joint, axis=(0.0, 1.0, 0.0), placement=Frame.shift(x=reach), limits=Limits(-3.0, 3.0))
        for joint in arm.joints
    )
    shapes = tuple(make_capsule(link.name, (0.0, 0.0, 0.0), (reach, 0.0, 0.0), radius) for link in arm.links)
    return replace(arm, joints=joints, collision=shapes)


def test_a_start_pose_in_collision_names_the_pair() -> None:
    constraint = make_self_collision(three_links(), clearance=0.02)
    constraint.check_pose(np.zeros(3))
    with pytest.raises(InputError, match=r"the start pose is too close .* upper–hand by \d"):
        constraint.check_pose(np.array([0.0, 2.9, 2.9]))


def test_neighbours_are_not_checked() -> None:
    assert set(make_self_collision(three_links()).names) == {"base–fore", "base–hand", "upper–hand"}


def test_pairs_that_always_touch_are_named() -> None:
    robot = three_links()
    wide = (*robot.collision[:3], make_capsule("hand", (-0.3, 0.0, 0.0), (0.3, 0.0, 0.0), 0.35))
    constraint = make_self_collision(replace(robot, collision=wide))
    assert set(constraint.names) == {"base–fore", "base–hand"}
    (finding,) = constraint.findings
    assert finding.text.startswith("upper–hand are not checked for collision, because they overlap in all poses")


def test_pairs_that_cannot_meet_are_left_out() -> None:
    robot = three_links()
    limits = Limits(-0.1, 0.1)
    stiff = replace(robot, joints=tuple(replace(joint, limits=limits) for joint in robot.joints))
    with pytest.raises(InputError, match="no pair of links can collide"):
        make_self_collision(stiff)
    loose = replace(
        stiff, joints=(*stiff.joints[:1], *(replace(j, limits=Limits(-3.0, 3.0)) for j in stiff.joints[1:]))
    )
    assert "upper–hand" in make_self_collision(loose).names


def test_a_robot_without_shapes_is_refused() -> None:
    with pytest.raises(InputError, match="has no two links with collision shapes"):
        make_self_collision(load("puma560"))


def test_an_unbounded_slide_is_refused() -> None:
    robot = three_links()
    slide = replace(robot.joints[1], kind=JointKind.PRISMATIC, limits=Limits())
    with pytest.raises(InputError, match="joint 'q2' is prismatic and has no position limits"):
        make_self_collision(replace(robot, joints=(robot.joints[0], slide, robot.joints[2])))


def test_prismatic_joints() -> None:
    robot = three_links()
    slide = replace(
        robot.joints[1], kind=JointKind.PRISMATIC, limits=Limits(-0.5, 0.3), seat=Frame.from_rpy(0.3, 0.2, 0.1)
    )
    constraint = make_self_collision(replace(robot, joints=(robot.joints[0], slide, robot.joints[2])))
    q = spread_poses(replace(robot, joints=(robot.joints[0], slide, robot.joints[2])), 200)
    assert np.quantile(measure_gradient_error(constraint, q), 0.95) < 1e-7
    assert measure_slope_ratio(constraint, q) <= 1.0


@pytest.mark.parametrize("clearance", [-0.1, math.nan, math.inf])
def test_a_wrong_clearance_is_refused(clearance: float) -> None:
    with pytest.raises(InputError, match=r"clearance is .*; give a distance in metres"):
        make_self_collision(three_links(), clearance=clearance)


def test_a_clearance_can_be_sent_to_another_process() -> None:
    constraint = make_self_collision(three_links())
    q = spread_poses(three_links(), 10)
    margins = constraint.compute_margins(q)
    assert (pickle.loads(pickle.dumps(constraint)).compute_margins(q) == margins).all()


def test_joints_without_limits() -> None:
    robot = three_links()
    joints = (replace(robot.joints[0], limits=Limits()), *robot.joints[1:])
    assert set(make_self_collision(replace(robot, joints=joints)).names) == {"base–fore", "base–hand", "upper–hand"}


def test_loops() -> None:
    """q contains all joints; both sides of a cut joint are neighbours."""
    robot = load("five-bar")
    shapes = tuple(make_capsule(link.name, (0.0, 0.0, 0.0), (0.1, 0.0, 0.0), 0.01) for link in robot.links)
    constraint = make_self_collision(replace(robot, collision=shapes))
    cut = robot.loops[0].joint
    assert f"{cut.parent}–{cut.child}" not in constraint.names
    assert f"{cut.child}–{cut.parent}" not in constraint.names
    q = spread_poses(robot, 50)
    assert constraint.compute_margins(q).shape == (len(q), len(constraint.names))
    assert np.quantile(measure_gradient_error(constraint, q), 0.8) < 1e-7
