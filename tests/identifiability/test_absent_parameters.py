"""Rotors, friction and inertias that a robot does not have are not base parameters.

The oracle is the rank of a regressor made of Pinocchio's regressor of the opened tree, of central differences of closed
poses, and of the rotors of the actuated joints alone.
"""

from __future__ import annotations

import importlib.resources
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import ytheta as yt
from tests.support.loop_motion import differentiate_motion, draw_motion, get_constraint
from tests.support.mjcf_models import body_names, read, read_text, world_text
from tests.support.pinocchio_peer import peer
from ytheta.conventions import LINK_PARAMETERS
from ytheta.dynamics.loop_solver import solve
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


BODY = '<inertial pos="0.1 0.02 0.03" mass="1" fullinertia=".02 .03 .025 .001 .002 .003"/>'
END = f'<body name="end" pos="0.3 0.1 0.2"><joint name="last" axis="0 1 0"/>{BODY}</body></body>'
JOINTS = {
    "ball": '<joint name="ball" type="ball" pos="0.05 0.02 0.01"/>',
    "universal": '<joint name="u"/><joint name="v" axis="1 0 0"/>',
    "slides": '<joint name="u" type="slide" axis="1 0 0"/><joint name="v" type="slide" axis="0 1 0"/>',
}


def make_pinocchio_joint(name: str) -> pin.JointModel:
    """The joint of the first body as one joint of Pinocchio, without links between its axes."""
    if name == "ball":
        return pin.JointModelSpherical()
    joint = pin.JointModelComposite(2)
    parts = {
        "universal": (pin.JointModelRZ(), pin.JointModelRX()),
        "slides": (pin.JointModelPX(), pin.JointModelPY()),
    }
    for part in parts[name]:
        joint.addJoint(part)
    return joint


def count_by_pinocchio(name: str) -> int:
    """The rank of Pinocchio's regressor of two bodies."""
    model, rng = pin.Model(), np.random.default_rng(0)
    anchor = pin.SE3(np.eye(3), np.array([0.05, 0.02, 0.01]) if name == "ball" else np.zeros(3))
    first = pin.SE3(pin.rpy.rpyToMatrix(*np.radians([10.0, 20.0, 30.0])), np.zeros(3)) * anchor
    body = model.addJoint(0, make_pinocchio_joint(name), first, "first")
    model.addJoint(body, pin.JointModelRY(), anchor.inverse() * pin.SE3(np.eye(3), np.array([0.3, 0.1, 0.2])), "last")
    data, rows = model.createData(), []
    for _ in range(60):
        q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
        rows.append(pin.computeJointTorqueRegressor(model, data, q, *rng.normal(size=(2, model.nv))))
    sizes = np.linalg.svd(np.vstack(rows), compute_uv=False)
    return int((sizes > 1e-9 * sizes[0]).sum())


def give_inertia_to_all_links(robot: Robot) -> Robot:
    return replace(robot, links=tuple(replace(link, has_inertia=True) for link in robot.links))


@pytest.mark.parametrize("name", JOINTS)
def test_links_between_the_joints_of_a_body_have_no_parameters(name: str) -> None:
    content = f'<body name="a" euler="10 20 30">{JOINTS[name]}{BODY}{END}'
    robot = read_text(world_text(content, '<compiler eulerseq="XYZ"/>'))
    base = yt.base_parameters(robot)
    assert len(base) == count_by_pinocchio(name)
    assert {entry.rpartition(".")[0] for entry in base.selected} == {"a", "end"}
    assert len(yt.base_parameters(give_inertia_to_all_links(robot))) > len(base)  # the twin


@pytest.mark.parametrize(("name", "count"), [("humanoid", 90), ("walker2d", 22)])
def test_bodies_with_several_joints_count_once(name: str, count: int) -> None:
    """Models of gymnasium; the oracle is the rank of Pinocchio's regressor of the bodies that MuJoCo knows."""
    path = Path(str(importlib.resources.files("gymnasium.envs.mujoco") / "assets" / f"{name}.xml"))
    robot, bodies = read(path), set(body_names(mujoco.MjModel.from_xml_path(str(path))))
    owners = [link.name for link in robot.merged.links[1:] for _ in LINK_PARAMETERS]
    kept = [k for k, owner in enumerate(owners) if owner in bodies]
    rng, size, pinocchio = np.random.default_rng(0), len(robot.actuated), peer(robot)
    W = np.vstack([pinocchio.regressor(*rng.normal(size=(3, size)))[:, kept] for _ in range(80)])
    sizes = np.linalg.svd(W / np.maximum(np.linalg.norm(W, axis=0), 1e-9), compute_uv=False)
    assert int((sizes > MIN_SINGULAR_VALUE * sizes[0]).sum()) == count
    assert sum(not entry.endswith(".k") for entry in yt.base_parameters(robot).independent) == count
    all_links = yt.base_parameters(give_inertia_to_all_links(robot)).independent
    assert sum(not entry.endswith(".k") for entry in all_links) > count  # the twin
