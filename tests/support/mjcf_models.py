"""MJCF texts, their robots and their MuJoCo models, and comparisons of the two."""

from __future__ import annotations

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest
from jaxtyping import Float

from ytheta.errors import RobotFileError
from ytheta.files.bounded import read_bytes
from ytheta.files.xml_document import parse_xml
from ytheta.robot.kinematics import link_poses
from ytheta.robot.reading.mjcf.reader import read_mjcf
from ytheta.robot.robot import Robot

TOLERANCE = 1e-10  # both sides compute with doubles in SI units of the order of one


GEOM = '<geom size="0.1"/>'


MECHANISM = f"""
    <site name="post" pos="1 0 0.2" euler="5 6 7"/>
    <body name="a" pos="0.1 0.2 0.3" euler="10 20 30">
      <joint name="a1" ref="20" pos="0.1 0 0"/><joint name="a2" axis="0 1 0"/>{GEOM}<site name="tip" pos="0.5 0.1 0"/>
      <body name="b" pos="0 0 1" euler="40 50 60"><joint name="b1" axis="1 0 0" pos="0 0.3 0"/>{GEOM}</body>
    </body>
    <body name="c" pos="1 0 0" quat="1 2 3 4"><joint name="c1" type="slide" axis="1 1 0" ref="0.3"/>{GEOM}
      <body name="d" pos="0 0.5 0"><joint name="d1" axis="0 1 0"/>{GEOM}
        <frame euler="0 0 30"><site name="end" type="capsule" size="0.1" fromto="0 0 0 1 1 0"/></frame></body>
    </body>"""


def read(path: Path, *, snap: float = 0.0, fix_base: bool = False) -> Robot:
    return read_mjcf(parse_xml(read_bytes(path), path), path, snap, fix_base=fix_base)


def read_text(text: str, *, snap: float = 0.0, fix_base: bool = False) -> Robot:
    path = Path("model.xml")
    return read_mjcf(parse_xml(text.encode(), path), path, snap, fix_base=fix_base)


def read_both(text: str, *, fix_base: bool = False) -> tuple[Robot, mujoco.MjModel]:
    return read_text(text, fix_base=fix_base), mujoco.MjModel.from_xml_string(text)


def world_text(content: str, top: str = "") -> str:
    return f"<mujoco>{top}<worldbody>{content}</worldbody></mujoco>"


def mechanism_text(equality: str, rest: str = "") -> str:
    return f"<mujoco><worldbody>{MECHANISM}</worldbody><equality>{equality}</equality>{rest}</mujoco>"


def body_names(model: mujoco.MjModel) -> list[str]:
    return [model.body(k).name or f"body{k}" for k in range(model.nbody)]


def scalar_joints(model: mujoco.MjModel) -> list[int]:
    scalar = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    return [k for k in range(model.njnt) if int(model.jnt_type[k]) in scalar]


def pose_error(robot: Robot, model: mujoco.MjModel, samples: int = 4) -> float:
    """The largest difference of any body's pose over random joint positions."""
    joints, data, rng = scalar_joints(model), mujoco.MjData(model), np.random.default_rng(7)
    assert len(robot.movable) == len(joints)
    worst = 0.0
    for _ in range(samples):
        q = rng.uniform(-2.0, 2.0, len(joints))
        data.qpos[:] = model.qpos0
        data.qpos[model.jnt_qposadr[joints]] = q
        mujoco.mj_kinematics(model, data)
        poses = link_poses(robot, q)
        for k, name in enumerate(body_names(model)):
            worst = max(worst, float(abs(poses[name][:3, 3] - data.xpos[k]).max()))
            worst = max(worst, float(abs(poses[name][:3, :3] - data.xmat[k].reshape(3, 3)).max()))
    return worst


def moves(robot: Robot, link: str) -> bool:
    return any(joint.moves for joint in robot.path(link))


def body_tensor(model: mujoco.MjModel, body: int) -> Float[np.ndarray, "3 3"]:
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, model.body_iquat[body])
    turn = matrix.reshape(3, 3)
    tensor: Float[np.ndarray, "3 3"] = turn @ np.diag(model.body_inertia[body]) @ turn.T
    return tensor


def inertia_error(robot: Robot, model: mujoco.MjModel) -> float:
    """The largest relative difference of mass, centre or inertia of any body except fixed bodies without mass."""
    worst = 0.0
    for k, name in list(enumerate(body_names(model)))[1:]:
        inertia = robot.link(name).inertia
        if inertia.mass == 0.0 and not moves(robot, name):
            continue
        tensor = body_tensor(model, k)
        worst = max(worst, abs(inertia.mass - model.body_mass[k]) / max(model.body_mass[k], 1e-9))
        worst = max(worst, float(abs(np.array(inertia.center) - model.body_ipos[k]).max()) if inertia.mass else 0.0)
        difference = abs(np.array(inertia.tensor_about_center) - tensor).max()
        # The tensor about the centre is computed from the one about the origin, which adds rounding errors.
        scale = abs(tensor).max() + 1e-4 * inertia.mass * float(model.body_ipos[k] @ model.body_ipos[k])
        worst = max(worst, float(difference / max(scale, 1e-12)))
    return worst


def joint_error(robot: Robot, model: mujoco.MjModel) -> float:
    """The largest difference of limits, damping, friction and armature of any joint."""
    worst = 0.0
    for joint, k in zip(robot.movable, scalar_joints(model), strict=True):
        dof = model.jnt_dofadr[k]
        lower, upper = model.jnt_range[k] if model.jnt_limited[k] else (-math.inf, math.inf)
        drive = joint.drive
        ours = (joint.limits.lower, joint.limits.upper, drive.viscous, drive.coulomb, drive.parameters[0])
        theirs = (lower, upper, model.dof_damping[dof], model.dof_frictionloss[dof], model.dof_armature[dof])
        for a, b in zip(ours, theirs, strict=True):
            worst = max(worst, 0.0 if a == b else abs(a - b))
        assert model.joint(k).name in (joint.name, "")
        if model.jnt_actfrclimited[k]:
            assert joint.limits.effort == abs(model.jnt_actfrcrange[k]).max()
    return worst


def check_agreement(robot: Robot, model: mujoco.MjModel) -> None:
    assert pose_error(robot, model) < TOLERANCE
    assert inertia_error(robot, model) < TOLERANCE
    assert joint_error(robot, model) < TOLERANCE


def check_refused(content: str, top: str, message: str) -> None:
    """Check that reading a file with this world and these top-level elements raises an error with this message."""
    with pytest.raises(RobotFileError, match=rf"^model\.xml, line 1, <.*{message}"):
        read_text(world_text(content, top))


def spring_text(joints: str, top: str = "") -> str:
    """A model with one body and these joints."""
    geom = '<geom type="capsule" size="0.04" fromto="0 0 0 0.3 0 0"/>'
    return f'<mujoco>{top}<worldbody><body name="a">{joints}{geom}</body></worldbody></mujoco>'
