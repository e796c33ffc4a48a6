"""Self-collision, floor, obstacles and boxes of a design."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta as yt
from ytheta.errors import InputError
from ytheta.excitation.clearance.link_capsules import UNCHECKED
from ytheta.excitation.clearance.obstacle import ObstacleKind
from ytheta.excitation.clearance.self_collision import spread_poses
from ytheta.excitation.surroundings import FLOOR, find_clearances
from ytheta.findings import Finding
from ytheta.robot.frame import to_vector
from ytheta.robot.kinematics import link_poses

NOTHING: dict[str, object] = {
    "self_collision": False,
    "clearance": 0.0,
    "floor": None,
    "obstacles": (),
    "box": None,
}


def test_what_is_switched_off_is_named() -> None:
    paths, findings = find_clearances(yt.load("panda"), **NOTHING)  # type: ignore[arg-type]
    assert paths == ()
    assert [finding.fields["what"] for finding in findings] == ["self-collision", "a floor"]


def test_missing_collision_shapes_are_estimated_and_named() -> None:
    robot = yt.load("puma560")
    paths, findings = find_clearances(robot, **NOTHING | {"self_collision": True})  # type: ignore[arg-type]
    assert len(paths) == 1
    shapes = next(finding for finding in findings if finding.code == UNCHECKED)
    assert shapes.is_warning
    assert shapes.names == tuple(link.name for link in robot.links)


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
    settings |= {"floor": None, "self_collision": False}
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


def find_floor(robot: yt.Robot, floor: float | str = "base") -> tuple[list[str], list[Finding]]:
    """Return the names of all margins of a floor, and the findings."""
    paths, findings = find_clearances(robot, **NOTHING | {"floor": floor, "clearance": 0.01})  # type: ignore[arg-type]
    return [name for path in paths for name in path.names], list(findings)


def hang(robot: yt.Robot, height: float) -> yt.Robot:
    return replace(robot, mounting=yt.Frame.shift(z=height) @ yt.Frame.from_rpy(np.pi, 0.0, 0.0))


def test_the_floor_is_at_the_height_of_the_base() -> None:
    robot = replace(yt.load("panda"), mounting=yt.Frame.shift(z=0.7))
    names, findings = find_floor(robot)
    assert all(name.endswith("–floor") for name in names)
    (note,) = [finding for finding in findings if finding.code == FLOOR]
    assert note.fields["height"] == pytest.approx(0.7)
    assert not note.is_warning
    assert find_floor(robot, 0.0)[1][-1].fields["height"] == 0.0


def test_up_is_against_gravity() -> None:
    """The base of a planar arm stands still while its gravity turns: the margins are those of the turned arm."""
    robot = yt.load("panda")
    turn = yt.Frame.from_rpy(0.0, np.pi / 2.0, 0.0)
    gravity = to_vector(np.array(turn.rotation) @ np.array(robot.gravity))
    turned = replace(robot, mounting=turn, gravity=gravity)
    q = spread_poses(robot, 20)
    settings = NOTHING | {"floor": "base"}
    (upright,), _ = find_clearances(robot, **settings)  # type: ignore[arg-type]
    (lying,), _ = find_clearances(turned, **settings)  # type: ignore[arg-type]
    np.testing.assert_allclose(lying.compute_margins(q), upright.compute_margins(q), rtol=0.0, atol=1e-12)
    (wrong,), _ = find_clearances(replace(robot, mounting=turn), **settings)  # type: ignore[arg-type]
    assert wrong.names != upright.names or not np.allclose(wrong.compute_margins(q), upright.compute_margins(q))


def test_an_arm_that_hangs_keeps_below_the_ceiling_and_has_no_floor() -> None:
    """The twin stands."""
    names, findings = find_floor(hang(yt.load("panda"), 2.0))
    assert names
    assert all(name.endswith("–ceiling") for name in names)
    whats = [finding.fields["what"] for finding in findings if finding.code == UNCHECKED]
    assert "a floor" in whats
    assert any("--floor" in finding.text or "option floor" in finding.text for finding in findings)
    assert "a floor" not in [finding.fields.get("what") for finding in find_floor(yt.load("panda"))[1]]


def test_without_gravity_the_floor_is_unknown() -> None:
    names, findings = find_floor(replace(yt.load("panda"), gravity=(0.0, 0.0, 0.0)))
    assert names == []
    assert any("without gravity" in finding.text for finding in findings)


def test_a_floor_that_leaves_no_pose_is_not_silent() -> None:
    """All poses within these limits are below the base."""
    robot = yt.load("lu-two-link")
    low = dict(zip(robot.actuated, ((-1.7, -1.4), (-0.1, 0.1)), strict=True))
    excitation = yt.excite(robot, position=low, velocity=2.0, effort=100.0, criterion="d", starts=1, polished=1)
    assert "a floor" in excitation.unchecked
    assert not excitation.violations
