"""Limits of drives: every limited curve brakes at every speed, and limits exclude nothing that brakes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta as yt
from tests.support.friction_robots import compute_friction_by_hand
from ytheta.identification.consistency.bounds import MAX_LOAD_FRICTION, make_drive_limits, raise_coulomb_friction
from ytheta.identification.consistency.nearest import find_nearest_bodies
from ytheta.identification.consistency.reference import make_plausible_reference
from ytheta.identification.equations.friction_laws import with_friction_laws
from ytheta.robot.parameters import with_theta
from ytheta.robot.parts import find_driving_speed
from ytheta.robot.robot import Robot

SPEEDS = {"joint1": 2.0, "joint2": 3.0}


def make_robot(*, root: bool, load: bool = False, friction_speed: float = 0.0) -> Robot:
    robot = with_friction_laws(yt.load("lu-two-link").numeric, root=root, load=load)
    return robot.with_drives(lambda _name, drive: replace(drive, friction_speed=friction_speed if root else 0.0))


def with_values(robot: Robot, values: dict[str, float]) -> np.ndarray:
    theta = robot.theta.copy()
    for name, value in values.items():
        theta[robot.parameter_names.index(name)] = value
    return theta


def is_allowed(robot: Robot, values: dict[str, float], *, free: set[str] | None = None) -> bool:
    limits = make_drive_limits(robot, set(robot.parameter_names) if free is None else free, SPEEDS)
    return bool((limits.rows @ with_values(robot, values) >= limits.lower - 1e-12).all())


@pytest.mark.parametrize(
    ("values", "allowed"),
    [
        ({"joint1.fv": 0.3, "joint1.fc": 0.2, "joint1.Ia": 0.1, "joint1.fo": -5.0}, True),
        ({"joint1.fv": -0.01}, False),
        ({"joint2.fc": -0.01}, False),
        ({"joint2.Ia": -1e-3}, False),
    ],
)
def test_plain_friction_is_limited_term_by_term(values: dict[str, float], allowed: bool) -> None:
    assert is_allowed(make_robot(root=False), values) is allowed


@pytest.mark.parametrize("friction_speed", [0.0, 2.0])
def test_the_curve_is_limited_and_not_its_terms(friction_speed: float) -> None:
    """Random curves of joint 1: allowed if and only if they brake up to the highest speed and do not fall beyond it."""
    robot = make_robot(root=True, friction_speed=friction_speed)
    rng, kinds = np.random.default_rng(0), []
    for _ in range(300):
        fv, fc, fs = rng.normal(size=3)
        drive = replace(dict(robot.drives)["joint1"], viscous=fv, coulomb=fc, root=fs)
        speeds = np.linspace(0.0, SPEEDS["joint1"], 201)[1:] ** 2 / SPEEDS["joint1"]
        lowest = min(fc, *(compute_friction_by_hand(drive, v, 0.0) - drive.offset for v in speeds))
        beyond = SPEEDS["joint1"] * np.geomspace(1.0, 1e6, 5000)
        falls = bool((np.diff(fc + fs * np.sqrt(beyond) + fv * beyond) < 0.0).any()) and not friction_speed
        brakes = bool(lowest >= 0.0 and not falls)
        if brakes or lowest < -0.02 or falls:  # else: between two limited speeds
            assert is_allowed(robot, {"joint1.fv": fv, "joint1.fc": fc, "joint1.fs": fs}) is brakes
            kinds.append((brakes, bool(fv < 0.0), bool(fs < 0.0)))
    assert (True, False, True) in kinds  # a negative term in a curve that brakes
    assert ((True, True, False) in kinds) is bool(friction_speed)
    assert sum(brakes for brakes, *_ in kinds) > 20


def test_load_friction_is_between_zero_and_its_limit() -> None:
    robot = make_robot(root=False, load=True)
    for value, allowed in ((0.0, True), (MAX_LOAD_FRICTION, True), (-0.01, False), (MAX_LOAD_FRICTION + 0.01, False)):
        assert is_allowed(robot, {"joint1.fl": value, "joint2.fl": 0.1}) is allowed


def test_known_terms_move_the_bound_of_free_ones() -> None:
    robot = make_robot(root=True, friction_speed=2.0)
    robot = with_theta(robot, with_values(robot, {"joint1.fc": 1.0, "joint1.fv": 0.0}))
    free = {"joint1.fs"}
    lowest = -1.0 / np.sqrt(SPEEDS["joint1"])  # fc + fs sqrt(v) is zero at the highest speed
    limits = make_drive_limits(robot, free, SPEEDS)
    assert set(limits.labels) == {"friction of joint1 brakes"}
    assert is_allowed(robot, {"joint1.fs": lowest + 1e-6}, free=free)
    assert not is_allowed(robot, {"joint1.fs": lowest - 1e-3}, free=free)
    assert make_drive_limits(robot, set(), SPEEDS).labels == ()


def test_labels_name_the_drive() -> None:
    limits = make_drive_limits(make_robot(root=False, load=True), {"joint2.Ia", "joint2.fl", "joint2.fc"}, SPEEDS)
    assert limits.labels == (
        "rotor inertia of joint2 is not negative",
        "load-dependent friction of joint2 brakes",
        "load-dependent friction of joint2 is below the load",
        "friction of joint2 brakes",
    )


def test_coulomb_friction_is_raised_between_the_limited_speeds() -> None:
    robot = make_robot(root=True)
    # fv c + fc + fs sqrt(c) = (sqrt(c) - 1)² - 1e-3: negative near a speed of 1
    theta = with_values(robot, {"joint1.fv": 1.0, "joint1.fc": 1.0 - 1e-3, "joint1.fs": -2.0})
    raised = raise_coulomb_friction(robot, theta, set(robot.parameter_names))
    values = dict(zip(robot.parameter_names, raised, strict=True))
    assert values["joint1.fc"] == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_array_equal(np.flatnonzero(raised != theta), [robot.parameter_names.index("joint1.fc")])
    np.testing.assert_array_equal(raise_coulomb_friction(robot, theta, set()), theta)  # the twin: not free
    np.testing.assert_array_equal(raise_coulomb_friction(robot, raised, set(robot.parameter_names)), raised)


def test_coulomb_friction_is_not_raised_for_speeds_far_beyond_the_recorded_ones() -> None:
    """With a negative root and hardly any viscous friction, only immense Coulomb friction would make it brake."""
    robot = make_robot(root=True)
    falling = {"joint1.fv": 1e-9, "joint1.fc": 1.0, "joint1.fs": -0.2}
    assert min(1.0 - 0.2 * np.sqrt(v) for v in np.linspace(0.0, SPEEDS["joint1"])) > 0.5  # it brakes up to this speed
    assert not is_allowed(robot, falling)
    # The twin: a curve that is constant beyond the highest speed brakes, and its Coulomb friction is not raised.
    bounded = make_robot(root=True, friction_speed=SPEEDS["joint1"])
    assert is_allowed(bounded, falling)
    theta = with_values(bounded, falling)
    np.testing.assert_array_equal(raise_coulomb_friction(bounded, theta, set(bounded.parameter_names)), theta)


def test_the_nearest_bodies_have_coulomb_friction_of_the_size_of_the_target() -> None:
    """A target whose bodies have no viscous friction; Coulomb friction was once raised to a million Nm."""
    robot = make_robot(root=True)
    names = set(robot.parameter_names)
    target = with_values(robot, {"joint1.fv": -0.05, "joint1.fc": 1.0, "joint1.fs": -0.3})
    nearest = find_nearest_bodies(
        robot,
        target,
        np.eye(len(target)),
        reference=make_plausible_reference(robot),
        inequalities=make_drive_limits(robot, names, SPEEDS),
    )
    values = dict(zip(robot.parameter_names, raise_coulomb_friction(robot, nearest.theta, names), strict=True))
    assert values["joint1.fc"] < 1.5
    drive = replace(
        dict(robot.drives)["joint1"],
        viscous=values["joint1.fv"],
        coulomb=values["joint1.fc"],
        root=values["joint1.fs"],
    )
    assert find_driving_speed(drive) is None


def test_a_drive_that_never_moved_has_no_negative_root() -> None:
    robot = make_robot(root=True)
    free = {"joint1.fv", "joint1.fc", "joint1.fs"}
    limits = make_drive_limits(robot, free, {})
    for fs, allowed in ((0.1, True), (-0.1, False)):
        theta = with_values(robot, {"joint1.fv": 1.0, "joint1.fc": 1.0, "joint1.fs": fs})
        assert bool((limits.rows @ theta >= limits.lower).all()) is allowed
