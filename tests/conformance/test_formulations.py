"""All formulations on all robots that they accept: the same regressor as Pinocchio and Newton-Euler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from tests.support.formulation_cases import (
    close,
    equals_newton_euler_and_pinocchio,
    fork,
    load,
    state,
    with_columns_swapped,
    with_gravity_flipped,
)
from tests.support.lin_chains import TORQUES, agree
from tests.support.pinocchio_peer import peer
from tests.support.random_robots import robots
from ytheta.dynamics import jacobians
from ytheta.dynamics.formulations import inward_newton_euler, kronecker, newton_euler, spatial_tree
from ytheta.dynamics.formulations.registry import (
    FORMULATIONS,
    RECURSIONS,
    choose_formulation,
    choose_recursion,
    explain_recursion_refusals,
    formulations,
)
from ytheta.dynamics.mechanism import build_mechanism, numeric_motion
from ytheta.dynamics.vectors import axis_rotation
from ytheta.errors import InputError
from ytheta.robot.frame import Frame, to_vector
from ytheta.robot.reading.catalog import list_names
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
    "talos_left_arm.urdf",
)


def load_accepted(formulation: str, name: str) -> Robot:
    """Load a robot; skip the test if the formulation does not accept it."""
    robot = load(name)
    reason = formulations(robot)[formulation]
    if reason is not None:
        assert robot.loops  # the only reason to refuse a robot of this list
        pytest.skip(reason)
    return robot


@pytest.mark.parametrize("name", [*list_names(), *URDFS])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_equals_pinocchio_and_newton_euler(formulation: str, name: str) -> None:
    """Ordinary motion and two velocities, column by column."""
    robot = load_accepted(formulation, name)
    assert equals_newton_euler_and_pinocchio(choose_formulation(robot, formulation).regressor, robot)


@pytest.mark.parametrize("name", ["stanford", "panda.urdf", "tiago_no_hand.urdf"])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_twins_that_must_fail(formulation: str, name: str) -> None:
    regressor = choose_formulation(load(name), formulation).regressor
    assert not equals_newton_euler_and_pinocchio(with_gravity_flipped(regressor), load(name))
    assert not equals_newton_euler_and_pinocchio(with_columns_swapped(regressor), load(name))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_branches_seats_and_loads(formulation: str) -> None:
    assert equals_newton_euler_and_pinocchio(choose_formulation(fork(), formulation).regressor, fork())


@pytest.mark.parametrize("name", ["ur10", "stanford", "lu-two-link", "ha-scara", "tiago_no_hand.urdf"])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_equal_velocities_and_a_rotated_base(formulation: str, name: str) -> None:
    """Y(q, qd, qd, qdd) = Y(q, qd, qdd); rotating base and gravity together changes nothing, the base alone does."""
    robot = load(name)
    regressor = choose_formulation(robot, formulation).regressor
    mech = build_mechanism(robot)
    q, qd, qdd, _ = state(mech.joints, seed=12)
    motion = numeric_motion(q, qd, qdd)
    ordinary = regressor(mech, motion)
    assert close(regressor(mech, numeric_motion(q, qd, qdd, qd.copy())), ordinary)
    mounting = Frame.from_rpy(0.3, -0.8, 1.7)
    gravity = to_vector(np.array(mounting.rotation) @ np.array(robot.gravity_in_base))
    assert close(regressor(build_mechanism(replace(robot, mounting=mounting, gravity=gravity)), motion), ordinary)
    assert not close(regressor(build_mechanism(replace(robot, mounting=mounting)), motion), ordinary)


@settings(max_examples=25)
@given(robots(loops=False, symbols=False))
def test_random_trees(robot: Robot) -> None:
    # A different order of summation may lose one digit of sixteen for random placements, axes and gravity.
    if build_mechanism(robot).joints:
        for name in FORMULATIONS:
            regressor = choose_formulation(robot, name).regressor
            assert equals_newton_euler_and_pinocchio(regressor, robot, tolerance=1e-9), name


def turn_joints_the_wrong_way(monkeypatch: pytest.MonkeyPatch, *modules: ModuleType) -> None:
    """Let ``pose`` and ``joint_axis``, as these modules use them, see every joint axis with the opposite sign."""
    for function in (newton_euler.pose, newton_euler.joint_axis):
        for module in modules:
            if hasattr(module, function.__name__):
                monkeypatch.setattr(module, function.__name__, _with_axis_reversed(function))


def _with_axis_reversed(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda body, *motion: function(replace(body, axis=-body.axis), *motion)


def find_agreeing(robot: Robot) -> set[str]:
    """The formulations whose regressor equals that of Newton-Euler."""
    mech = build_mechanism(robot)
    q, qd, qdd, v = state(mech.joints)
    motion = numeric_motion(q, qd, qdd, v)
    expected = newton_euler.regressor(mech, motion)
    return {name for name in FORMULATIONS if close(choose_formulation(robot, name).regressor(mech, motion), expected)}


@pytest.mark.parametrize("name", ["fork", "lu-puma4"])
def test_two_kinematics_check_each_other(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A joint that moves the wrong way in one of the two kinematics is noticed without any other program."""
    robot = fork() if name == "fork" else load(name)
    assert find_agreeing(robot) == set(FORMULATIONS)
    with monkeypatch.context() as patch:
        turn_joints_the_wrong_way(patch, newton_euler, inward_newton_euler, jacobians, spatial_tree)
        # The four formulations that share their kinematics are wrong together.
        assert find_agreeing(robot) == set(FORMULATIONS) - {"kronecker"}
    with monkeypatch.context() as patch:
        generator = kronecker.make_generator
        patch.setattr(kronecker, "make_generator", lambda body: -generator(body))
        assert find_agreeing(robot) == set(FORMULATIONS) - {"kronecker"}
    with monkeypatch.context() as patch:
        patch.setattr(newton_euler, "axis_rotation", lambda axis, c, s: axis_rotation(axis, c, -s))
        assert "kronecker" not in find_agreeing(robot)


@pytest.mark.parametrize("name", list_names())
def test_two_velocities_are_the_bilinear_form_of_one(name: str) -> None:
    """Newton-Euler's Y(q, qd, v, vd), the reference of the other tests, by polarization of the quadratic form in qd."""
    mech = build_mechanism(load(name))
    q, qd, qdd, v = state(mech.joints, seed=12)

    def Y(velocity: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        return newton_euler.regressor(mech, numeric_motion(q, velocity, acceleration)).astype(float)

    zero = 0 * q
    at_rest = Y(zero, zero)
    polarized = (Y(qd + v, zero) - Y(qd, zero) - Y(v, zero) + at_rest) / 2
    two = newton_euler.regressor(mech, numeric_motion(q, qd, qdd, v))
    assert close(two, Y(zero, qdd) + polarized, 1e-9)
    assert close(newton_euler.regressor(mech, numeric_motion(q, qd, qdd, qd.copy())), Y(qd, qdd))


# --- inverse dynamics without a regressor --------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*list_names(), *URDFS])
@pytest.mark.parametrize("recursion", RECURSIONS)
def test_inverse_dynamics_equals_pinocchio(recursion: str, name: str) -> None:
    """Torques of the links; of a robot with loops, those of the opened tree."""
    robot = load(name)
    reason = explain_recursion_refusals(robot)[recursion]
    if reason is not None:
        assert robot.loops  # the only reason to refuse a robot of this list
        pytest.skip(reason)
    q, qd, qdd, _ = state(len(robot.merged.movable))
    assert agree(TORQUES[recursion](robot), peer(robot).torque(q, qd, qdd))


@pytest.mark.parametrize("name", ["stanford", "panda.urdf", "tiago_no_hand.urdf"])
@pytest.mark.parametrize("recursion", RECURSIONS)
def test_inverse_dynamics_twins_that_must_fail(recursion: str, name: str) -> None:
    robot = load(name)
    q, qd, qdd, _ = state(len(robot.merged.movable))
    flipped = replace(robot, gravity=to_vector(-np.array(robot.gravity)))
    assert not agree(TORQUES[recursion](flipped), peer(robot).torque(q, qd, qdd))
    assert not agree(TORQUES[recursion](robot), peer(robot).torque(q, qd, -qdd))


@settings(max_examples=20)
@given(robots(loops=False, symbols=False))
def test_inverse_dynamics_of_random_trees(robot: Robot) -> None:
    """Branches, loads, prismatic joints anywhere, links without mass, any gravity and mounting."""
    for recursion in RECURSIONS:
        assert agree(TORQUES[recursion](robot), TORQUES["newton_euler"](robot)), recursion


def test_unknown_and_unsuitable_formulations_are_refused() -> None:
    with pytest.raises(InputError, match="there is no formulation 'newton_oiler'; did you mean 'newton_euler'"):
        choose_formulation(load("panda"), "newton_oiler")
    with pytest.raises(
        InputError, match=r"lagrange does not accept this robot: .* has closed loops.* \(accepted by: spatial_tree\)"
    ):
        choose_formulation(load("walker"), "lagrange")
    assert choose_formulation(load("walker")).__name__.endswith("spatial_tree")
    assert choose_formulation(load("panda")).__name__.endswith("newton_euler")
    with pytest.raises(InputError, match=r"composite_newton_euler cannot be used: .* has closed loops"):
        choose_recursion(load("walker"), "composite_newton_euler")
    with pytest.raises(InputError, match=r"composite_newton_euler cannot be used: .* theta cannot be an input"):
        choose_recursion(load("panda"), "composite_newton_euler", theta_input=True)
    with pytest.raises(InputError, match="composite_newton_euler is a formulation of inverse dynamics, not of the reg"):
        choose_formulation(load("panda"), "composite_newton_euler")
    with pytest.raises(InputError, match="spatial_tree is a formulation of the regressor, not of inverse dynamics"):
        choose_recursion(load("walker"), "spatial_tree")
    with pytest.raises(InputError, match="inverse dynamics has no formulation 'composite_newton'"):
        choose_recursion(load("panda"), "composite_newton")
    assert [choose_recursion(load(name)) for name in ("panda", "walker")] == ["minimal_newton_euler", "newton_euler"]
