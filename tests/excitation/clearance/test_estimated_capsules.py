"""Capsules of links without shapes: against meshes of vendors, and for links of known size."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pinocchio
import pytest

import ytheta as yt
from tests.support import example_robots
from ytheta.excitation.clearance.estimated_capsules import complete_capsules, estimate_capsules, measure_reach
from ytheta.excitation.clearance.link_capsules import (
    UNCHECKED,
    LinkCapsules,
    find_link_capsules,
)
from ytheta.excitation.clearance.self_collision import make_self_collision
from ytheta.robot.inertia import Inertia

NONE = LinkCapsules(())


def find_mesh_contacts(path: Path, poses: np.ndarray) -> np.ndarray:
    """Return in which poses meshes touch whose links are not connected by a joint, with coal."""
    model = pinocchio.buildModelFromUrdf(str(path))
    folder = str(path.parents[4])
    shapes = pinocchio.buildGeomFromUrdf(model, str(path), pinocchio.GeometryType.COLLISION, package_dirs=[folder])
    parents = [int(shape.parentJoint) for shape in shapes.geometryObjects]
    for a, b in combinations(range(len(parents)), 2):
        first, second = sorted((parents[a], parents[b]))
        if first not in (second, model.parents[second]):
            shapes.addCollisionPair(pinocchio.CollisionPair(a, b))
    data, geometry = model.createData(), shapes.createData()
    return np.array([pinocchio.computeCollisions(model, data, shapes, geometry, q, True) for q in poses])


@pytest.mark.parametrize("file", ["ur5_robot.urdf", "ur10_robot.urdf"])
def test_estimated_capsules_find_most_collisions_of_the_meshes(file: str) -> None:
    """Most means more than half, and most poses without contact are free; the twin has lines instead of capsules."""
    path = example_robots.urdf(file)
    robot = yt.load(path)
    poses = np.random.default_rng(0).uniform(-np.pi, np.pi, (500, len(robot.actuated)))
    touching = find_mesh_contacts(path, poses)
    assert touching.sum() > 50
    estimated = complete_capsules(replace(robot, collision=()), NONE)
    found = make_self_collision(robot, capsules=estimated).compute_margins(poses).min(axis=1) < 0.0
    assert found[touching].mean() > 0.5
    assert found[~touching].mean() < 0.5
    lines = tuple(replace(each, capsule=replace(each.capsule, radius=1e-3)) for each in estimated.capsules)
    found = make_self_collision(robot, capsules=LinkCapsules(lines)).compute_margins(poses).min(axis=1) < 0.0
    assert found[touching].mean() < 0.5


def test_a_uniform_cylinder_gets_its_own_radius_and_more() -> None:
    """I = m r² / 2 about the axis of a cylinder; links are 1.3 times as thick as their inertia says."""
    robot = yt.load("lu-puma4")
    r, h, mass = 0.05, 0.4318, 7.0
    across = mass * (3.0 * r**2 + h**2) / 12.0
    tensor = ((0.5 * mass * r**2, 0.0, 0.0), (0.0, across, 0.0), (0.0, 0.0, across))
    bar = robot.with_inertias({"link2": Inertia.about_center(mass, (h / 2.0, 0.0, 0.0), tensor)})
    merged = bar.numeric.merged
    for item in estimate_capsules(merged, merged.link("link2"), measure_reach(merged)):
        assert item.capsule.radius == pytest.approx(1.3 * r)


def test_the_reach_is_the_length_of_the_arm() -> None:
    assert measure_reach(yt.load("rx90").numeric.merged) == pytest.approx(0.45 + 0.45)


def test_links_with_shapes_keep_them_and_the_others_are_named() -> None:
    robot = yt.load("panda")
    found = find_link_capsules(robot)
    assert complete_capsules(robot, found) is found
    without = replace(robot, collision=tuple(shape for shape in robot.collision if shape.link != "panda_link4"))
    completed = complete_capsules(without, find_link_capsules(without))
    (finding,) = completed.findings
    assert (finding.code, finding.names) == (UNCHECKED, ("panda_link4",))
    assert {item.link for item in completed.capsules} == {item.link for item in found.capsules}
