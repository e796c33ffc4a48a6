"""One list for all formulations: each, on every robot it accepts, gives the same regressor as Pinocchio."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from pinocchio_peer import peer
from random_robots import robots
from test_dynamics import close, load, state
from ytheta.errors import InputError
from ytheta.formulation.choice import FORMULATIONS, acceptance, formulation_of
from ytheta.formulation.mechanism import mechanism
from ytheta.formulation.motion import Motion, numeric_motion
from ytheta.robot.catalog import names
from ytheta.robot.frame import Frame, vector
from ytheta.robot.robot import Robot

URDFS = (
    "ur10_robot.urdf",
    "panda.urdf",
    "kinova.urdf",
    "xarm7.urdf",
    "tiago_no_hand.urdf",
    "baxter.urdf",
    "solo12.urdf",
    "allegro_right_hand.urdf",
    "double_pendulum.urdf",
    "z1.urdf",
)
CASES = [(formulation, robot) for formulation in FORMULATIONS for robot in (*names(), *URDFS)]


def accepted(formulation: str, name: str) -> Robot:
    robot = load(name)
    reason = acceptance(robot)[formulation]
    if reason is not None:
        assert robot.loops  # the only reason a formulation may have to refuse a robot of this list
        pytest.skip(reason)
    return robot


@pytest.mark.parametrize(("formulation", "name"), CASES)
def test_it_equals_pinocchio(formulation: str, name: str) -> None:
    robot = accepted(formulation, name)
    regressor = formulation_of(robot, formulation).regressor
    mech, other = mechanism(robot), peer(robot)
    q, qd, qdd = state(mech.joints, seed=11)
    motion = numeric_motion(q, qd, qdd)
    expected = other.regressor(q, qd, qdd)
    assert close(regressor(mech, motion), expected)
    assert not close(regressor(replace(mech, gravity=-mech.gravity), motion), expected)


@pytest.mark.parametrize(("formulation", "name"), CASES)
def test_two_velocities_and_a_turned_base(formulation: str, name: str) -> None:
    robot = accepted(formulation, name)
    regressor = formulation_of(robot, formulation).regressor
    mech = mechanism(robot)
    q, qd, qdd = state(mech.joints, seed=12)
    v = state(mech.joints, seed=13)[0]
    ordinary = regressor(mech, numeric_motion(q, qd, qdd))
    assert close(regressor(mech, numeric_motion(q, qd, qdd, qd.copy())), ordinary)
    # The reference of two velocities: the symmetric bilinear form that belongs to the quadratic one.
    still = regressor(mech, numeric_motion(q, 0 * q, 0 * q)).astype(float)

    def quadratic(rate: np.ndarray) -> np.ndarray:
        return regressor(mech, numeric_motion(q, rate, 0 * q)).astype(float) - still

    mass = regressor(mech, numeric_motion(q, 0 * q, qdd)).astype(float) - still
    polarised = (quadratic(qd + v) - quadratic(qd) - quadratic(v)) / 2
    assert close(regressor(mech, numeric_motion(q, qd, qdd, v)), mass + polarised + still, 1e-9)
    mounting = Frame.from_rpy(0.3, -0.8, 1.7)
    gravity = vector(np.array(mounting.rotation) @ np.array(robot.gravity_in_base))
    turned = mechanism(replace(robot, mounting=mounting, gravity=gravity))
    assert close(regressor(turned, numeric_motion(q, qd, qdd)), ordinary)


@settings(max_examples=20)
@given(robots(loops=False, symbols=False))
def test_random_trees(robot: Robot) -> None:
    mech = mechanism(robot)
    if not mech.joints:
        return
    q, qd, qdd = state(mech.joints, seed=14)
    expected = peer(robot).regressor(q, qd, qdd)
    for formulation in FORMULATIONS:
        motion: Motion = numeric_motion(q, qd, qdd)
        assert close(formulation_of(robot, formulation).regressor(mech, motion), expected, 1e-9), formulation


def test_unknown_and_unfit_formulations_say_so() -> None:
    with pytest.raises(InputError, match="there is no formulation 'newton_oiler'; did you mean 'newton_euler'"):
        formulation_of(load("panda"), "newton_oiler")
    with pytest.raises(
        InputError, match=r"lagrange does not take this: .* has closed loops.* \(accepted: spatial_tree\)"
    ):
        formulation_of(load("walker"), "lagrange")
    assert formulation_of(load("walker")).__name__.endswith("spatial_tree")
    assert formulation_of(load("panda")).__name__.endswith("newton_euler")
