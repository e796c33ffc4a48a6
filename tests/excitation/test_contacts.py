"""Contacts along designed trajectories, found by others: MuJoCo with all shapes, coal with the meshes of vendors."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import coal
import mujoco
import numpy as np
import pinocchio
import pytest

import ytheta as yt
from tests.support import example_robots
from ytheta.excitation.clearance.estimated_capsules import complete_capsules
from ytheta.excitation.clearance.link_capsules import find_link_capsules
from ytheta.excitation.constraints import RobotKernels
from ytheta.robot.mjcf_writer import to_mjcf
from ytheta.robot.parts import ShapeKind, make_capsule

SAMPLES = 2000  # of one period
SMALL: dict[str, Any] = {"criterion": "plain", "seconds": 10.0, "starts": 1, "polished": 1}
CARELESS: dict[str, Any] = {"self_collision": False, "floor": None}
# Catalog robots with the limits that their descriptions lack.
ROBOTS: dict[str, dict[str, Any]] = {
    "panda": {},
    "iiwa14": {},
    "ur10": {"rng": 1},
    "puma560": {"position": (-2.5, 2.5), "velocity": 1.5, "effort": math.inf},
    "rx90": {"position": (-2.5, 2.5), "velocity": 1.5, "effort": math.inf},
    "palletiser": {"velocity": 1.0, "effort": math.inf},
    "five-bar": {"velocity": 2.0, "effort": 20.0},
}


@cache
def design(name: str, *, careless: bool) -> yt.Excitation:
    robot, limits = yt.load(name), dict(ROBOTS[name])
    if "position" in limits:
        limits["position"] = dict.fromkeys(robot.actuated, limits["position"])
    return yt.excite(robot, **limits, **SMALL, **(CARELESS if careless else {}))


def add_shapes(robot: yt.Robot) -> yt.Robot:
    """Return the robot with capsules as its only shapes, also for links whose capsules are estimated."""
    merged = robot.numeric.merged
    capsules = complete_capsules(robot, find_link_capsules(robot)).capsules
    shapes = tuple(
        make_capsule(item.link, item.capsule.start, item.capsule.end, item.capsule.radius) for item in capsules
    )
    ball = yt.Inertia.about_center(1.0, (0.0, 0.0, 0.0), ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)))
    # MuJoCo refuses links without mass, which does not matter for contacts.
    return replace(merged, collision=shapes).with_inertias({link.name: ball for link in merged.links})


def build_model(robot: yt.Robot) -> mujoco.MjModel:
    """Return the robot with its collision shapes and a floor; neighbours do not collide."""
    spec = mujoco.MjSpec.from_string(to_mjcf(robot))
    bodies = {body.name: body for body in spec.bodies}
    for equality in list(spec.equalities):
        spec.delete(equality)  # all joint positions are given
    kinds = {ShapeKind.CAPSULE: mujoco.mjtGeom.mjGEOM_CAPSULE, ShapeKind.SPHERE: mujoco.mjtGeom.mjGEOM_SPHERE}
    for k, shape in enumerate(robot.collision):
        radius, *lengths = shape.size
        geom = bodies.get(shape.link, spec.worldbody).add_geom(name=f"{shape.link}[{k}]", type=kinds[shape.kind])
        geom.size, geom.pos = [radius, 0.5 * sum(lengths), 0.0], shape.frame.translation
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, np.array(shape.frame.rotation).ravel())
        geom.quat = quaternion
    floor = spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE)
    floor.size = [0.0, 0.0, 1.0]
    mujoco.mju_quatZ2Vec(quaternion, -np.array(spec.option.gravity))  # the world is the base of the robot
    floor.quat = quaternion
    return spec.compile()


def find_contacts(excitation: yt.Excitation) -> set[frozenset[str]]:
    """Return the pairs of links, or of link and floor, that touch each other at any sample of a period.

    Pairs that the design leaves out with a finding are left out here, too, and so are links that a joint connects.
    """
    robot = add_shapes(excitation.robot)
    model = build_model(robot)
    data = mujoco.MjData(model)
    kernels = RobotKernels(excitation.robot, excitation.base)
    x = kernels.close(excitation.trajectory.sample_period(SAMPLES).q)
    assert x is not None
    order = [int(model.joint(joint.name).qposadr[0]) for joint in robot.movable]
    joints = (*robot.joints, *(loop.joint for loop in robot.loops))
    ignored = {frozenset((joint.parent, joint.child)) for joint in joints}
    ignored |= {frozenset((robot.base.name, "floor"))}
    for finding in excitation.findings:
        if finding.code in ("self-collision", "not checked") and len(finding.names) == 2:
            ignored.add(frozenset(finding.names))
        if finding.code == "obstacle":
            ignored.add(frozenset((*finding.names, "floor")))
    touching = set()
    for q in kernels.compute_joint_positions(x):
        data.qpos[order] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        for contact in data.contact[: data.ncon]:
            if contact.dist < 0.0:
                names = (model.geom(int(k)).name.partition("[")[0] for k in (contact.geom1, contact.geom2))
                touching.add(frozenset(names))
    return {pair for pair in touching if len(pair) == 2 and pair not in ignored}


@pytest.mark.parametrize("name", ROBOTS)
def test_default_designs_have_no_contacts_in_mujoco(name: str) -> None:
    excitation = design(name, careless=False)
    assert not excitation.violations
    assert find_contacts(excitation) == set()


@pytest.mark.parametrize("name", ["panda", "iiwa14", "ur10", "puma560", "rx90"])
def test_without_the_checks_mujoco_finds_contacts(name: str) -> None:
    """The twin: MuJoCo finds that links touch each other and the floor."""
    excitation = design(name, careless=True)
    assert not excitation.violations  # of the limits that were asked for
    assert set(excitation.unchecked) >= {"self-collision", "a floor"}
    touching = find_contacts(excitation)
    assert any("floor" in pair for pair in touching)
    assert any("floor" not in pair for pair in touching)


def find_mesh_contacts(file: str, kind: pinocchio.GeometryType, trajectory: yt.Trajectory) -> set[str]:
    """Return the pairs of meshes of a vendor, and "floor", that touch along one period, with coal."""
    path = example_robots.urdf(file)
    model = pinocchio.buildModelFromUrdf(str(path))
    folder = str(path.parents[4])
    shapes = pinocchio.buildGeomFromUrdf(model, str(path), kind, package_dirs=[folder])
    names = {model.getJointId(name): name for name in trajectory.joints}
    parents = {k: int(model.parents[k]) for k in range(model.njoints)}
    own = [k for k, shape in enumerate(shapes.geometryObjects) if shape.parentJoint in names or shape.parentJoint == 0]
    own = [
        k
        for k in own
        if isinstance(shapes.geometryObjects[k].geometry, coal.BVHModelBase)
        and not any(word in shapes.geometryObjects[k].name for word in ("hand", "finger"))  # not in the catalog
    ]
    for i, a in enumerate(own):
        for b in own[i + 1 :]:
            first, second = (int(shapes.geometryObjects[k].parentJoint) for k in (a, b))
            if first != second and parents[second] != first and parents[first] != second:
                shapes.addCollisionPair(pinocchio.CollisionPair(a, b))
    data, geometry = model.createData(), shapes.createData()
    columns = [model.joints[model.getJointId(name)].idx_q for name in trajectory.joints]
    corners = {k: np.array(shapes.geometryObjects[k].geometry.vertices()) for k in own}
    touching: set[str] = set()
    for sample in trajectory.sample_period(SAMPLES).q:
        q = pinocchio.neutral(model)
        q[columns] = sample
        pinocchio.updateGeometryPlacements(model, data, shapes, geometry, q)
        for k, pair in enumerate(shapes.collisionPairs):
            if pinocchio.computeCollision(shapes, geometry, k):
                touching.add("–".join(shapes.geometryObjects[each].name for each in (pair.first, pair.second)))
        for k in own:
            place = geometry.oMg[k]
            scaled = corners[k] * shapes.geometryObjects[k].meshScale
            if (
                shapes.geometryObjects[k].parentJoint
                and (scaled @ place.rotation[2] + place.translation[2]).min() < 0.0
            ):
                touching.add("floor")
    return touching


# The collision meshes of the Panda's links 5 and 7 touch in the poses of designs; those for display do not.
MESHES = [
    ("ur10", "ur10_robot.urdf", pinocchio.GeometryType.COLLISION),
    ("panda", "panda.urdf", pinocchio.GeometryType.VISUAL),
]


@pytest.mark.parametrize(("name", "file", "kind"), MESHES)
def test_meshes_of_the_vendor_do_not_touch(name: str, file: str, kind: pinocchio.GeometryType) -> None:
    """The twin is the design without checks: the meshes touch each other and the floor."""
    assert find_mesh_contacts(file, kind, design(name, careless=False).trajectory) == set()
    touching = find_mesh_contacts(file, kind, design(name, careless=True).trajectory)
    assert "floor" in touching
    assert len(touching) > 1
