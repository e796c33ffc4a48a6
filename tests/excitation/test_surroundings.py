"""Self-collision, floor, obstacles and boxes of a design."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta as yt
from ytheta.errors import InputError
from ytheta.excitation.clearance.obstacle import ObstacleKind
from ytheta.excitation.surroundings import find_clearances
from ytheta.robot.kinematics import link_poses

NOTHING: dict[str, object] = {
    "self_collision": False,
    "clearance": 0.0,
    "floor": None,
    "obstacles": (),
    "box": None,
}


def test_nothing_is_kept_apart_unless_asked_for() -> None:
    assert find_clearances(yt.load("panda"), **NOTHING) == ((), ())  # type: ignore[arg-type]


def test_missing_collision_shapes_are_a_warning() -> None:
    paths, (finding,) = find_clearances(yt.load("ur10"), **NOTHING | {"self_collision": True})  # type: ignore[arg-type]
    assert paths == ()
    assert finding.is_warning
    assert "self-collision is not checked" in finding.text


def test_every_constraint_is_made() -> None:
    sphere = yt.Obstacle("ball", ObstacleKind.SPHERE, (0.2,), yt.Frame.shift(0.9, 0.0, 0.5))
    corners = ((-0.6, -0.6, 0.1), (0.6, 0.6, 1.5))
    settings = {"self_collision": True, "clearance": 0.02, "floor": 0.0, "obstacles": [sphere]}
    paths, _ = find_clearances(yt.load("panda"), **settings, box={"panda_link8": corners})  # type: ignore[arg-type]
    names = [name for path in paths for name in path.names]
    for words in ("panda_link3–panda_link5", "floor", "ball", "panda_link8 below y"):
        assert any(words in name for name in names)


def test_a_design_stays_in_its_box() -> None:
    """The tool of a planar arm must not leave a box that the same design without the box leaves."""
    robot = yt.load("lu-two-link")
    settings = {"criterion": "d", "velocity": 2.0, "effort": 100.0, "starts": 2, "polished": 1}
    position = dict.fromkeys(robot.actuated, (-1.5, 1.5))
    middle = link_poses(robot, np.zeros(2))["load"][:3, 3]
    limit = float(middle[1]) + 0.3
    box = {"load": ((-np.inf, -np.inf, -np.inf), (np.inf, limit, np.inf))}
    kept = yt.excite(robot, position=position, box=box, **settings)  # type: ignore[arg-type]
    free = yt.excite(robot, position=position, **settings)  # type: ignore[arg-type]
    t = np.linspace(0.0, 10.0, 500)
    highest = [max(link_poses(robot, q)["load"][1, 3] for q in each.trajectory(t)[0]) for each in (kept, free)]
    assert highest[0] <= limit < highest[1]
    (use,) = [use for use in kept.uses if use.quantity == "clearance"]
    assert use.value <= limit - highest[0] + 1e-6
    assert not kept.violations


def test_wrong_boxes() -> None:
    with pytest.raises(InputError, match="give its lower and upper corner"):
        find_clearances(yt.load("panda"), **NOTHING | {"box": {"panda_link8": (1.0, 2.0, 3.0)}})  # type: ignore[arg-type]
