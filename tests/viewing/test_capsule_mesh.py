"""Meshes of capsules: every corner is on the surface, and the volume is that of the capsule."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from ytheta.excitation.clearance.link_capsules import Capsule
from ytheta.viewing.viewer import make_capsule_mesh

CAPSULES = [
    Capsule((0.1, 0.2, 0.3), (0.5, -0.2, 0.9), 0.15),
    Capsule((0.0, 0.0, 1.0), (0.0, 0.0, -1.0), 0.2),
    Capsule((1.0, 2.0, 3.0), (1.0, 2.0, 3.0), 0.5),
]


@pytest.mark.parametrize("capsule", CAPSULES)
def test_corners_are_on_the_surface(capsule: Capsule) -> None:
    points, faces = make_capsule_mesh(capsule)
    np.testing.assert_allclose(capsule.measure_distances(points), 0.0, atol=1e-9)
    mesh = trimesh.Trimesh(points, faces, validate=True)  # merges corners at the poles, removes faces without area
    assert mesh.is_watertight
    assert 0.94 * capsule.volume < mesh.volume < capsule.volume  # corners on the surface: a little smaller
    assert not 0.94 * capsule.volume < trimesh.Trimesh(points, faces[:, ::-1]).volume  # the twin: turned inside out
