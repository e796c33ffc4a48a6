"""Capsules of links without shapes: against meshes of vendors, and for links of known size."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support import example_robots
from ytheta.excitation.clearance.estimated_capsules import complete_capsules, estimate_capsules, measure_reach
from ytheta.excitation.clearance.link_capsules import (
    UNCHECKED,
    LinkCapsules,
    find_link_capsules,
    read_triangles,
)
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import ShapeKind

NONE = LinkCapsules(())


def measure_share_inside(robot: yt.Robot, capsules: LinkCapsules) -> float:
    """Return the share of the corners of all meshes that are inside the capsules of their links."""
    inside: list[np.ndarray] = []
    for shape in robot.numeric.merged.collision:
        if shape.kind is not ShapeKind.MESH:
            continue
        points = read_triangles(Path(shape.file)).reshape(-1, 3) * shape.size
        points = points @ shape.frame.matrix[:3, :3].T + shape.frame.matrix[:3, 3]
        own = [item.capsule for item in capsules.capsules if item.link == shape.link]
        inside.append(np.min([capsule.measure_distances(points) for capsule in own], axis=0) <= 0.0)
    return float(np.concatenate(inside).mean())


@pytest.mark.parametrize("file", ["ur5_robot.urdf", "ur10_robot.urdf", "panda.urdf"])
def test_estimated_capsules_contain_about_half_of_the_links(file: str) -> None:
    """The twin is half as thick."""
    robot = yt.load(example_robots.urdf(file))
    estimated = complete_capsules(replace(robot, collision=()), NONE)
    share = measure_share_inside(robot, estimated)
    assert share > 0.45  # joints are thicker than the cylinder that their inertia says
    thin = tuple(
        replace(each, capsule=replace(each.capsule, radius=0.5 * each.capsule.radius)) for each in estimated.capsules
    )
    assert measure_share_inside(robot, LinkCapsules(thin)) < 0.7 * share


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
