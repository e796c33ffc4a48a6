"""Columns of friction laws: the differential form against kernels of inverse dynamics, and what uses the columns."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ytheta as yt
from tests.support.driven_robots import coupled_robot, driven_robot
from tests.support.estimation_cases import RATE, smooth_motion
from tests.support.friction_robots import add_friction_laws
from tests.support.motor_robots import PUMA
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.assessment.diagnosis import diagnose
from ytheta.identification.equations.differential import Differential, KnownTorque, RigidTorque
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction import compute_velocity_ratios, make_drive_directions
from ytheta.identification.equations.friction_laws import (
    bound_friction,
    find_law_columns,
    is_rigid,
    supports_load_friction,
    with_friction_laws,
)
from ytheta.logs.preparing.drives import DriveDirections
from ytheta.logs.preparing.motion_sources import ArraySource
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot

ALL_FRICTION = ("viscous", "coulomb", "offset", "root", "load")
ROBOTS = {
    "two links": add_friction_laws(driven_robot("lu-two-link").numeric),
    "prismatic": add_friction_laws(driven_robot("stanford")),
    "motor for two joints": add_friction_laws(PUMA, load=False),
    "coupled": add_friction_laws(coupled_robot(), load=False),
}


@cache
def get_base(name: str) -> BaseParameters:
    robot = ROBOTS[name]
    kinds = ALL_FRICTION if supports_load_friction(robot) else ALL_FRICTION[:-1]
    return yt.base_parameters(robot, rotor_inertia=True, friction=kinds)


def draw_motion(robot: Robot, samples: int = 60) -> MotionSamples:
    return smooth_motion(len(robot.actuated), samples, seed=8)


def compute_kernel_torque(robot: Robot, motion: MotionSamples) -> np.ndarray:
    """tau by inverse dynamics: joints x samples."""
    return np.asarray(yt.inverse_dynamics(robot)(motion.q, motion.qd, motion.qdd).T)


def without_friction(robot: Robot) -> Robot:
    return robot.with_drives(lambda _name, d: Drive(rotor_inertia=d.rotor_inertia, gear_ratio=d.gear_ratio))


@pytest.mark.parametrize("name", ROBOTS)
def test_the_form_has_the_torque_of_the_kernel(name: str) -> None:
    base = get_base(name)
    motion = draw_motion(base.robot)
    expected = compute_kernel_torque(base.robot, motion)
    scale = abs(expected).max()
    np.testing.assert_allclose(Differential(base).torque(motion, base.beta), expected, rtol=1e-9, atol=1e-9 * scale)
    for law in ("fs", "fl"):
        owners = [k for k, each in enumerate(base.independent) if each.endswith(f".{law}")]
        assert bool(owners) == (law == "fs" or supports_load_friction(base.robot))
        for k in owners:  # the twin: every single column matters
            beta = base.beta.copy()
            beta[k] = 0.0
            assert abs(Differential(base).torque(motion, beta) - expected).max() > 1e-4 * scale


@pytest.mark.parametrize("name", ROBOTS)
def test_speed_is_bounded_beyond_the_learnt_speeds(name: str) -> None:
    """All drives at several times their highest speed: the curve is that of the bound, and not that of the speed."""
    base = get_base(name)
    motion = draw_motion(base.robot, 30)
    fast = replace(motion, qd=5.0 * motion.qd)
    np.testing.assert_allclose(
        Differential(base).torque(fast, base.beta), compute_kernel_torque(base.robot, fast), rtol=1e-9, atol=1e-7
    )
    unbounded = base.with_robot(base.robot.with_drives(lambda _name, drive: replace(drive, friction_speed=0.0)))
    assert isinstance(unbounded, BaseParameters)
    difference = Differential(unbounded).torque(fast, base.beta) - compute_kernel_torque(base.robot, fast)
    assert abs(difference).max() > 0.1  # the twin


@pytest.mark.parametrize("name", ["two links", "prismatic", "coupled"])
def test_laws_change_their_sign_with_the_low_passed_direction(name: str) -> None:
    base = get_base(name)
    robot, motion = base.robot, draw_motion(base.robot)
    rates = compute_velocity_ratios(robot)
    directions = make_drive_directions(robot)
    assert isinstance(directions, DriveDirections)  # there are no loops
    sharp = directions.evaluate(motion.qd.T)
    low_passed = 0.8 * sharp + 0.1
    filtered = replace(motion, direction=low_passed.T)
    difference = Differential(base).torque(filtered, base.beta) - Differential(base).torque(motion, base.beta)
    velocity = rates @ motion.qd.T
    drives = dict(robot.drives)
    rigid = abs(compute_kernel_torque(without_friction(robot), motion))
    expected = np.zeros_like(difference)
    for k, owner in enumerate(robot.moving):
        drive = drives[owner]
        speed = np.minimum(abs(velocity[k]), drive.max_curve_speed)
        change = (low_passed - sharp)[k] * (drive.coulomb + (drive.root or 0.0) * np.sqrt(speed))
        for joint in np.flatnonzero(rates[k]):
            load = (low_passed - sharp)[k] * (drive.load or 0.0) * rigid[joint]
            expected[joint] += rates[k, joint] * (change + load)
    np.testing.assert_allclose(difference, expected, rtol=1e-8, atol=1e-8 * abs(expected).max())
    assert abs(expected).max() > 0.1


@pytest.mark.parametrize("name", ["two links", "prismatic"])
def test_rigid_torque_has_no_friction(name: str) -> None:
    base = get_base(name)
    motion = draw_motion(base.robot)
    expected = compute_kernel_torque(without_friction(base.robot), motion)
    known = KnownTorque(base, only_rigid=True)
    assert not known
    rigid = RigidTorque.from_estimate(Differential(base), base.beta, None)
    np.testing.assert_allclose(rigid.torque(motion), expected, rtol=1e-9, atol=1e-9 * abs(expected).max())
    assert abs(expected - compute_kernel_torque(base.robot, motion)).max() > 0.5  # the twin
    assert {n for n in base.robot.parameter_names if not is_rigid(n)} == {
        f"{owner}.{symbol}" for owner, _ in base.robot.drives for symbol in ("fv", "fc", "fo", "fs", "fl")
    }


@pytest.mark.parametrize("name", ["two links", "prismatic"])
def test_known_torque_contains_laws_that_are_not_estimated(name: str) -> None:
    robot = ROBOTS[name]
    links = yt.base_parameters(robot)
    motion = draw_motion(robot)
    known = KnownTorque(links)
    drives = compute_kernel_torque(robot, motion) - compute_kernel_torque(
        robot.with_drives(lambda _name, _drive: Drive()), motion
    )
    np.testing.assert_allclose(known.torque(motion), drives, rtol=1e-8, atol=1e-8 * abs(drives).max())
    plain = KnownTorque(yt.base_parameters(with_friction_laws(robot, root=False, load=False)))
    assert abs(plain.torque(motion) - drives).max() > 0.1  # the twin


def test_the_load_of_an_estimate_replaces_that_of_the_description() -> None:
    base = get_base("two links")
    motion = draw_motion(base.robot)
    heavier = base.robot.with_inertias({link.name: link.inertia + link.inertia for link in base.robot.links[1:]})
    own = Differential(base)
    load = RigidTorque.of(yt.base_parameters(without_friction(heavier), rotor_inertia=True))
    other = Differential(base, load=load)
    difference = other.torque(motion, base.beta) - own.torque(motion, base.beta)
    directions = make_drive_directions(base.robot)
    assert isinstance(directions, DriveDirections)  # there are no loops
    rigid, heavy = (abs(compute_kernel_torque(without_friction(r), motion)) for r in (base.robot, heavier))
    coefficients = np.array([drive.load for _, drive in base.robot.drives])[:, None]
    expected = coefficients * directions.evaluate(motion.qd.T) * (heavy - rigid)
    np.testing.assert_allclose(difference, expected, rtol=1e-8, atol=1e-8 * abs(expected).max())


def test_where_the_kernel_computes_the_laws() -> None:
    """With loops, velocity ratios depend on the pose; without laws, there is nothing to compute."""
    assert find_law_columns(yt.base_parameters(yt.load("lu-two-link").numeric, friction=("viscous",))) is None
    loop = with_friction_laws(yt.load("five-bar"), root=True)
    assert find_law_columns(yt.base_parameters(loop, friction=("viscous", "root"))) is None
    assert find_law_columns(get_base("coupled")) is not None  # the twin
    assert not supports_load_friction(loop)
    assert not supports_load_friction(ROBOTS["coupled"])
    assert not supports_load_friction(ROBOTS["motor for two joints"])
    assert supports_load_friction(ROBOTS["prismatic"])


def test_laws_are_added_and_removed() -> None:
    robot = yt.load("ur10")
    both = with_friction_laws(robot, root=True, load=True)
    assert {(drive.root, drive.load) for _, drive in both.drives} == {(0.0, 0.0)}
    assert with_friction_laws(both, root=False, load=False) == robot
    assert with_friction_laws(both) is both
    valued = add_friction_laws(robot)
    kept = with_friction_laws(valued, root=True, load=None)
    assert [(d.root, d.load) for _, d in kept.drives] == [(d.root, d.load) for _, d in valued.drives]


def test_falling_curves_are_bounded_by_the_recorded_speed() -> None:
    robot = with_friction_laws(yt.load("lu-two-link").numeric, root=True)
    first, second = robot.actuated
    speeds = {first: 2.0, second: 3.0}
    bounded = bound_friction(robot, (f"{first}.fv", f"{second}.fv"), np.array([-0.1, 0.1]), speeds)
    assert {name: drive.friction_speed for name, drive in bounded.drives} == {first: 2.0, second: 0.0}
    # A negative root: the curve 0.1 v - s sqrt(v) falls at v if s > 0.2 sqrt(v).
    names = (f"{first}.fv", f"{first}.fs", f"{second}.fv", f"{second}.fs")
    slopes = np.array([0.1, -0.2 * np.sqrt(2.0) - 1e-6, 0.1, -0.2 * np.sqrt(3.0) + 1e-6])
    bounded = bound_friction(robot, names, slopes, speeds)
    assert {name: drive.friction_speed for name, drive in bounded.drives} == {first: 2.0, second: 0.0}
    plain = with_friction_laws(robot, root=False)
    assert bound_friction(plain, (f"{first}.fv",), np.array([-0.1]), speeds) == plain


@pytest.mark.parametrize("wrong", [(), (1,)])
def test_diagnosis_finds_wrong_signs_beside_friction_laws(wrong: tuple[int, ...]) -> None:
    base = get_base("two links")
    motion = draw_motion(base.robot, 500)
    tau = compute_kernel_torque(base.robot, motion).T
    signs = np.ones(2)
    signs[list(wrong)] = -1.0
    noise = 0.01 * tau.std(axis=0) * np.random.default_rng(0).normal(size=tau.shape)
    source = ArraySource(replace(motion, tau=signs * tau + noise), RATE)
    problem = EstimationProblem(Differential(base), (source,), threads=1)
    findings = diagnose(problem)
    assert [finding.names for finding in findings] == ([(base.robot.actuated[1],)] if wrong else [])
