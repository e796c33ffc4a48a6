"""The capsules of the catalog against their sources: meshes of the Panda, spheres of the iiwa14."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import example_robots
from tests.support.catalog_robots import edited, robot
from ytheta.excitation.clearance.link_capsules import find_link_capsules, read_triangles
from ytheta.robot.robot import Robot

# Radius and centre of the collision spheres of MuJoCo Menagerie kuka_iiwa_14/iiwa14.xml (BSD-3-Clause).
SPHERES = {
    "base": [(0.12, 0, 0, 0.03), (0.08, -0.08, 0, 0.103), (0.08, -0.08, 0, 0.04), (0.1, 0, 0, 0.14)],
    "link1": [(0.08, 0, 0, -0.0005), (0.075, 0.01, -0.025, 0.0425), (0.07, 0.01, -0.045, 0.1025)],
    "link2": [
        *((0.095, 0, 0, -0.01), (0.09, 0, 0, 0.045), (0.07, 0.01, 0.04, 0.054), (0.065, 0.01, 0.09, 0.04)),
        *((0.065, 0.01, 0.13, 0.02), (0.075, 0, 0.18, 0)),
    ],
    "link3": [
        *((0.075, 0, 0, 0.0355), (0.06, 0.01, 0.023, 0.0855), (0.055, 0.01, 0.048, 0.1255)),
        *((0.06, 0.01, 0.056, 0.1755), (0.075, 0, 0.045, 0.2155), (0.075, 0, 0, 0.2155)),
    ],
    "link4": [(0.078, 0, 0.01, 0.046), (0.06, 0.01, 0.06, 0.052), (0.065, 0.01, 0.12, 0.034), (0.075, 0, 0.184, 0)],
    "link5": [
        *((0.075, 0, 0, 0.0335), (0.05, 0.012, 0.031, 0.0755), (0.04, 0.012, 0.06, 0.1155)),
        *((0.04, 0.01, 0.065, 0.1655), (0.035, 0.012, 0.065, 0.1855)),
    ],
    "link6": [(0.055, 0, 0, -0.059), (0.065, 0, -0.03, 0.011), (0.08, 0, 0, 0)],
    # Rims of link_7_polytope.obj of drake's iiwa_description (BSD-3-Clause), as points.
    "link7": [(0, 0.051854, 0, 0), (0, 0.047807, 0, 0.028272), (0, 0.04198, 0, 0.037001), (0, 0.030505, 0, 0.044998)],
}
MIRROR = np.array([1, -1, 1, 1])  # spheres beside the plane x = 0 come in pairs


def protrude(arm: Robot, link: str, points: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """How far each ball is outside the capsule of the link that holds it best."""
    capsules = [item.capsule for item in find_link_capsules(arm).capsules if item.link == link]
    distances: np.ndarray = np.min([capsule.measure_distances(points) + radii for capsule in capsules], axis=0)
    return distances


def test_every_sphere_of_the_iiwa14_is_inside_a_capsule() -> None:
    def measure(arm: Robot) -> float:
        worst = 0.0
        for link, spheres in SPHERES.items():
            rows = np.array(spheres)
            rows = np.concatenate([rows, rows[abs(rows[:, 1]) < 0.05] * MIRROR])
            worst = max(worst, float(protrude(arm, link, rows[:, 1:], rows[:, 0]).max()))
        return worst

    assert measure(robot("iiwa14")) <= 1e-9
    assert measure(edited("iiwa14", "radius = 0.055", "radius = 0.054")) > 1e-4


@pytest.mark.parametrize("k", range(8))
def test_the_links_of_the_panda_are_inside_their_capsules(k: int) -> None:
    mesh = example_robots.urdf("panda.urdf").parents[1] / "meshes" / "visual" / f"link{k}.dae"
    corners = read_triangles(mesh)
    arm = robot("panda")
    capsules = [item.capsule for item in find_link_capsules(arm).capsules if item.link == f"panda_link{k}"]
    # A capsule is convex: it contains a triangle if it contains the three corners.
    distances = [capsule.measure_distances(corners.reshape(-1, 3)).reshape(-1, 3).max(axis=1) for capsule in capsules]
    outside = np.min(distances, axis=0).max()
    assert -0.003 < outside <= 1e-9  # inside, but not by far
