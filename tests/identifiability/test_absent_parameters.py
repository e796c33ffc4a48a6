"""Rotors, friction and inertias that a robot does not have are not base parameters.

The oracle is the rank of a regressor made of Pinocchio's regressor of the opened tree, of central differences of closed
poses, and of the rotors of the actuated joints alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta as yt
from tests.support.loop_motion import differentiate_motion, draw_motion, get_constraint
from tests.support.pinocchio_peer import peer
from ytheta.dynamics.loops.solver import solve
from ytheta.errors import InputError
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot

LOOPED = {"five-bar": (11, 11), "palletiser": (22, 23), "walker": (19, 22)}  # without and with rotors
STEP = 1e-4  # rad or m, of central differences
MIN_SINGULAR_VALUE = 1e-6  # relative; central differences are accurate to about 1e-8


def compute_jacobian(name: str, Q: np.ndarray) -> np.ndarray:
    """The derivative of all coordinates x by the actuated ones, by central differences."""
    steps = STEP * np.eye(len(Q))
    ahead, behind = (solve(get_constraint(name), Q + sign * steps).or_raise().x for sign in (1.0, -1.0))
    jacobian: np.ndarray = ((ahead - behind) / (2.0 * STEP)).T
    return jacobian


def count_by_rank(name: str, rotors: tuple[str, ...], *, samples: int = 30) -> int:
    """The rank of the stacked regressor of all link parameters and of the rotor inertias of these joints."""
    robot = yt.load(name)
    tree, rows = peer(robot), []
    A, b = robot.coupling_map
    joints = [joint.name for joint in robot.movable]
    for seed in range(samples):
        Q, _, _ = draw_motion(name, seed)
        x, xd, xdd = differentiate_motion(name, seed)
        q, qd, qdd = A @ x + b, A @ xd, A @ xdd
        E = A @ compute_jacobian(name, Q)
        turning = np.array([E[joints.index(joint)] * qdd[joints.index(joint)] for joint in rotors])
        rows.append(np.hstack([E.T @ tree.regressor(q, qd, qdd), turning.T]))
    W = np.vstack(rows)
    norms = np.linalg.norm(W, axis=0)
    sizes = np.linalg.svd(W / np.where(norms > 1e-9 * norms.max(), norms, np.inf), compute_uv=False)
    return int((sizes > MIN_SINGULAR_VALUE * sizes[0]).sum())


@pytest.mark.parametrize("name", LOOPED)
def test_passive_and_cut_joints_have_no_rotor(name: str) -> None:
    robot = yt.load(name)
    base = yt.base_parameters(robot, rotor_inertia=True)
    rotors = tuple(entry.removesuffix(".Ia") for entry in base.selected if entry.endswith(".Ia"))
    assert set(rotors) == set(robot.actuated)
    assert (len(yt.base_parameters(robot)), len(base)) == LOOPED[name]
    assert count_by_rank(name, robot.actuated) == len(base)


def test_a_rotor_of_every_joint_would_count_too_many() -> None:
    """The twin: with a rotor on every joint of the tree, the rank is larger."""
    robot = yt.load("walker")
    assert count_by_rank("walker", tuple(joint.name for joint in robot.movable)) > LOOPED["walker"][1]


def test_a_passive_joint_has_a_rotor_if_the_description_says_so() -> None:
    robot = yt.load("five-bar")
    (passive, *_) = robot.passive

    def give_rotor(name: str, drive: Drive) -> Drive:
        return replace(drive, has_rotor=True) if name == passive else drive

    def give_inertia(name: str, drive: Drive) -> Drive:
        return replace(drive, rotor_inertia=0.1) if name == passive else drive

    for change in (give_rotor, give_inertia):
        assert f"{passive}.Ia" in yt.base_parameters(robot.with_drives(change), rotor_inertia=True).selected
    assert f"{passive}.Ia" not in yt.base_parameters(robot, rotor_inertia=True).selected


def without(robot: Robot, *, rotor: str = "", friction: str = "") -> Robot:
    """The robot without the rotor of one joint, and without viscous friction and offset of another."""

    def change(name: str, drive: Drive) -> Drive:
        drive = replace(drive, has_rotor=False) if name == rotor else drive
        return replace(drive, absent_friction=("viscous", "offset")) if name == friction else drive

    return robot.with_drives(change)


@pytest.mark.parametrize("method", ["lin", "qr"])
def test_a_rotor_that_is_declared_absent_is_not_counted(method: str) -> None:
    robot = replace(yt.load("ur10"), joints=tuple(replace(j, drive=Drive()) for j in yt.load("ur10").joints))
    whole = yt.base_parameters(robot, method=method, rotor_inertia=True)
    less = yt.base_parameters(without(robot, rotor="elbow_joint"), method=method, rotor_inertia=True)
    assert (whole.method, len(whole), len(less)) == (method, 40, 39)
    assert set(whole.selected) - set(less.selected) == {"elbow_joint.Ia"}
    assert whole.independent != less.independent
    first = yt.base_parameters(without(robot, rotor="shoulder_pan_joint"), method=method, rotor_inertia=True)
    assert len(first) == 40  # this one merges with its link


def test_friction_that_is_declared_absent_is_not_counted() -> None:
    robot = without(yt.load("ur10"), friction="elbow_joint")
    kinds = ("viscous", "coulomb", "offset")
    base = yt.base_parameters(robot, friction=kinds)
    assert len(base) == len(yt.base_parameters(yt.load("ur10"), friction=kinds)) - 2
    assert [name for name in base.selected if name.startswith("elbow_joint.")] == ["elbow_joint.fc"]


def test_a_link_without_inertia_is_not_identified() -> None:
    """The second link of a universal joint: the count is that of its other links, selected by name."""
    robot = yt.load("lu-puma4")
    massless = replace(
        robot,
        links=tuple(
            replace(k, inertia=yt.Inertia(), has_inertia=k.name != "link2") if k.name == "link2" else k
            for k in robot.links
        ),
    )
    base = yt.base_parameters(massless)
    others = [f"{link.name}.*" for link in robot.links[1:] if link.name != "link2"]
    assert base.method == "qr"
    assert not any(name.startswith("link2.") for name in base.selected)
    assert base.selected == yt.base_parameters(robot, parameters=others).selected
    assert len(base) < len(yt.base_parameters(robot))
    for method in ("lin", "ha"):
        with pytest.raises(InputError, match="link2"):
            yt.base_parameters(massless, method=method)


def test_absent_parameters_cannot_be_selected_by_name() -> None:
    robot = without(yt.load("ur10"), rotor="elbow_joint")
    with pytest.raises(
        InputError, match=r"'elbow_joint\.Ia' selects 'elbow_joint\.Ia', but robot 'ur10' does not have it"
    ):
        yt.base_parameters(robot, parameters=("elbow_joint.Ia",))
    selected = yt.base_parameters(robot, parameters=("*.Ia",)).selected
    assert len(selected) == 5
    assert "elbow_joint.Ia" not in selected


def test_the_torque_is_that_of_the_base_parameters() -> None:
    robot = without(yt.load("ur10"), rotor="elbow_joint", friction="wrist_1_joint")
    base = yt.base_parameters(robot, rotor_inertia=True, friction=("viscous", "coulomb", "offset"))
    q, qd, qdd = np.random.default_rng(1).uniform(-1.0, 1.0, (3, 20, 6))
    Y = yt.regressor(robot, base)(q, qd, qdd)
    np.testing.assert_allclose(Y @ base.beta, yt.inverse_dynamics(robot)(q, qd, qdd), rtol=1e-9, atol=1e-9)
