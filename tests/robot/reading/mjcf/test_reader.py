"""The MJCF reader against MuJoCo: every model that comes with installed packages, then one model per feature."""

from __future__ import annotations

import importlib.util
import math
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import mujoco
import numpy as np
import pytest
from jaxtyping import Float

from ytheta.errors import InputError, RobotError, RobotFileError
from ytheta.files.bounded import read_bytes
from ytheta.files.xml_document import parse_xml
from ytheta.robot.frame import Frame, to_rows
from ytheta.robot.inertia import Inertia
from ytheta.robot.kinematics import link_poses
from ytheta.robot.loops.closure import close_loops
from ytheta.robot.parts import Joint, JointKind
from ytheta.robot.reading.mjcf.reader import read_mjcf
from ytheta.robot.robot import Robot

CLOSE = 1e-10  # both sides compute with doubles in SI units of the order of one
GEOM = '<geom size="0.1"/>'


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo writes its warnings into a file in the working directory."""
    monkeypatch.chdir(tmp_path)


# --- reading and comparing -------------------------------------------------------------------------------------------


def read(path: Path, *, snap: float = 0.0, fix_base: bool = False) -> Robot:
    return read_mjcf(parse_xml(read_bytes(path), path), path, snap, fix_base=fix_base)


def read_text(text: str, *, snap: float = 0.0, fix_base: bool = False) -> Robot:
    path = Path("model.xml")
    return read_mjcf(parse_xml(text.encode(), path), path, snap, fix_base=fix_base)


def both(text: str, *, fix_base: bool = False) -> tuple[Robot, mujoco.MjModel]:
    return read_text(text, fix_base=fix_base), mujoco.MjModel.from_xml_string(text)


def world(content: str, top: str = "") -> str:
    return f"<mujoco>{top}<worldbody>{content}</worldbody></mujoco>"


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


def tensor_of(model: mujoco.MjModel, body: int) -> Float[np.ndarray, "3 3"]:
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, model.body_iquat[body])
    turn = matrix.reshape(3, 3)
    tensor: Float[np.ndarray, "3 3"] = turn @ np.diag(model.body_inertia[body]) @ turn.T
    return tensor


def inertia_error(robot: Robot, model: mujoco.MjModel) -> float:
    """The largest relative difference of mass, centre or inertia of any body, fixed bodies without mass left out."""
    worst = 0.0
    for k, name in list(enumerate(body_names(model)))[1:]:
        inertia = robot.link(name).inertia
        if inertia.mass == 0.0 and not moves(robot, name):
            continue
        tensor = tensor_of(model, k)
        worst = max(worst, abs(inertia.mass - model.body_mass[k]) / max(model.body_mass[k], 1e-9))
        worst = max(worst, float(abs(np.array(inertia.center) - model.body_ipos[k]).max()) if inertia.mass else 0.0)
        off = abs(np.array(inertia.tensor_about_center) - tensor).max()
        # The tensor about the centre comes back from the one about the origin and loses what the shift adds.
        scale = abs(tensor).max() + 1e-4 * inertia.mass * float(model.body_ipos[k] @ model.body_ipos[k])
        worst = max(worst, float(off / max(scale, 1e-12)))
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
        for one, other in zip(ours, theirs, strict=True):
            worst = max(worst, 0.0 if one == other else abs(one - other))
        assert model.joint(k).name in (joint.name, "")
        if model.jnt_actfrclimited[k]:
            assert joint.limits.effort == abs(model.jnt_actfrcrange[k]).max()
    return worst


def agrees(robot: Robot, model: mujoco.MjModel) -> None:
    assert pose_error(robot, model) < CLOSE
    assert inertia_error(robot, model) < CLOSE
    assert joint_error(robot, model) < CLOSE


# --- models of installed packages ------------------------------------------------------------------------------------


def package_folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


PACKAGES = {
    "gymnasium": "envs/mujoco/assets",
    "gymnasium_robotics": "envs",
    "mujoco": "testdata",
}
# Pieces that other files include; MuJoCo itself refuses them, or they hold no bodies on their own.
FRAGMENTS = (
    *("adroit_assets", "adroit_model", "shared", "shared_asset", "shared_touch_sensors_92", "robot", "chain"),
    *("robot_touch_sensors_92", "actuator", "assets", "franka_config", "basic_scene", "msh"),
)
UNSUPPORTED = {
    "kitchen_env_model": "the inertia of the body depends on a mesh",
    "model": "has a ball joint, which is not supported",
}


def installed_models() -> Iterator[tuple[str, str]]:
    for package, folder in PACKAGES.items():
        for path in sorted((package_folder(package) / folder).rglob("*.xml")):
            if path.stem not in FRAGMENTS and "item_assets" not in path.parts:
                yield package, str(path.relative_to(package_folder(package) / folder))


@cache
def copied(package: str, target: Path) -> Path:
    """The XML files of a package in a folder that is declared as one package: their meshes lie beside, not below."""
    folder = target / package
    source = package_folder(package) / PACKAGES[package]

    def not_xml(parent: str, names: list[str]) -> list[str]:
        return [name for name in names if not name.endswith(".xml") and not (Path(parent) / name).is_dir()]

    shutil.copytree(source, folder, ignore=not_xml)
    (folder / "package.xml").write_text("<package/>")
    return folder


@cache
def pair(package: str, file: str, target: Path) -> tuple[Robot, mujoco.MjModel]:
    model = mujoco.MjModel.from_xml_path(str(package_folder(package) / PACKAGES[package] / file))
    return read(copied(package, target) / file, fix_base=True), model


SUPPORTED = [entry for entry in installed_models() if Path(entry[1]).stem not in UNSUPPORTED]


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("copies")


def test_the_list_of_models_is_not_empty() -> None:
    assert len(SUPPORTED) >= 40


@pytest.mark.parametrize(("package", "file"), SUPPORTED)
def test_installed_model_moves_as_in_mujoco(package: str, file: str, copies: Path) -> None:
    assert pose_error(*pair(package, file, copies)) < CLOSE


@pytest.mark.parametrize(("package", "file"), SUPPORTED)
def test_installed_model_weighs_as_in_mujoco(package: str, file: str, copies: Path) -> None:
    robot, model = pair(package, file, copies)
    assert inertia_error(robot, model) < CLOSE
    moving = [k for k, name in enumerate(body_names(model)) if moves(robot, name)]
    total = sum(robot.link(body_names(model)[k]).inertia.mass for k in moving)
    assert total == pytest.approx(model.body_mass[moving].sum(), rel=1e-12, abs=0.0)


@pytest.mark.parametrize(("package", "file"), SUPPORTED)
def test_installed_model_has_the_joints_of_mujoco(package: str, file: str, copies: Path) -> None:
    robot, model = pair(package, file, copies)
    assert joint_error(robot, model) < CLOSE
    assert robot.gravity == pytest.approx(tuple(model.opt.gravity))


@pytest.mark.parametrize(
    ("package", "file"), [entry for entry in installed_models() if Path(entry[1]).stem in UNSUPPORTED]
)
def test_unsupported_installed_model_says_why(package: str, file: str, copies: Path) -> None:
    with pytest.raises(RobotFileError, match=UNSUPPORTED[Path(file).stem]):
        read(copied(package, copies) / file, fix_base=True)


def test_assets_beside_the_folder_are_refused_without_a_package() -> None:
    path = package_folder("gymnasium_robotics") / "envs/assets/fetch/reach.xml"
    with pytest.raises(RobotFileError, match=r"the path '\.\./textures/block\.png' leaves the robot's folder") as error:
        read(path, fix_base=True)
    assert "put a package.xml into the folder that holds both" in str(error.value)


def test_a_slightly_wrong_inertia_is_detected(copies: Path) -> None:
    robot, model = pair("gymnasium", "half_cheetah.xml", copies)
    link = robot.links[3]
    tensor = np.array(link.inertia.tensor_about_center)
    tensor[0, 0] *= 1.0 + 1e-6
    wrong = Inertia.about_center(link.inertia.mass, link.inertia.center, to_rows(tensor))
    assert inertia_error(robot.with_inertias({link.name: wrong}), model) > 100 * CLOSE


def test_a_slightly_wrong_anchor_is_detected(copies: Path) -> None:
    robot, model = pair("gymnasium", "humanoid.xml", copies)

    def shifted(joint: Joint) -> Joint:
        return replace(joint, seat=Frame.shift(1e-6) @ joint.seat) if joint is robot.movable[4] else joint

    wrong = replace(robot, joints=tuple(shifted(joint) for joint in robot.joints))
    assert pose_error(wrong, model) > 100 * CLOSE


# --- joints ----------------------------------------------------------------------------------------------------------

SEVERAL_JOINTS = world(
    f"""
    <body name="a" pos="0.1 0.2 0.3" euler="10 20 30">
      <joint name="one" pos="0.3 -0.1 0.2" axis="1 2 3" ref="25" range="-30 60"/>
      <joint name="two" type="slide" pos="1 1 1" axis="0 1 1" ref="0.4" range="-1 2" armature="0.1"/>
      <joint name="three" pos="-0.2 0.5 0.1" axis="3 -1 0.5" ref="-70" damping="0.3" frictionloss="0.2"/>
      {GEOM}
      <body name="b" pos="0 0 1" quat="1 2 3 4"><joint axis="0 1 0" pos="0 0 0.1"/>{GEOM}</body>
      <body pos="0 1 0">{GEOM}</body>
    </body>"""
)


def test_several_joints_in_one_body_move_in_order() -> None:
    robot, model = both(SEVERAL_JOINTS)
    agrees(robot, model)
    assert [link.name for link in robot.links] == ["world", "a.one", "a.two", "a", "b", "body3"]
    assert [joint.name for joint in robot.joints] == ["one", "two", "three", "b.joint", "body3.fixed"]
    assert robot.link("a.one").inertia.massless


def test_swapped_joints_are_detected() -> None:
    robot, model = both(SEVERAL_JOINTS)
    swapped = SEVERAL_JOINTS.replace('"one"', '"x"').replace('"three"', '"one"').replace('"x"', '"three"')
    lines = swapped.splitlines()
    lines[2], lines[4] = lines[4], lines[2]
    assert pose_error(read_text("\n".join(lines)), model) > 1e-3
    assert pose_error(robot, model) < CLOSE


def test_positions_at_the_start_are_home() -> None:
    robot, model = both(SEVERAL_JOINTS)
    assert robot.home_coordinates == pytest.approx(model.qpos0)


def test_made_up_names_keep_away_from_given_ones() -> None:
    text = world(
        f'<body name="body2"><joint name="body2.joint"/>{GEOM}</body><body><joint/><joint/>{GEOM}</body>'
        f'<body name="body2.joint"><joint/>{GEOM}</body><body name="body2_2.joint">{GEOM}</body>'
    )
    names = [link.name for link in read_text(text).links]
    assert names == ["world", "body2", "body2_2.joint_2", "body2_2", "body2.joint", "body2_2.joint"]


@pytest.mark.parametrize("free", ["<freejoint/>", '<joint type="free"/>', '<joint class="floating"/>'])
def test_free_bodies_are_fixed_when_asked(free: str) -> None:
    top = '<default><default class="floating"><joint type="free"/></default></default>'
    text = world(f'<body name="a" pos="1 2 3" euler="40 0 0">{free}{GEOM}<body><joint/>{GEOM}</body></body>', top)
    with pytest.raises(RobotFileError, match=r"body 'a' moves freely.*--fix-base \(fix_base=True\)"):
        read_text(text)
    robot, model = both(text, fix_base=True)
    assert pose_error(robot, model) < CLOSE
    assert any("free bodies held fixed" in note.text and not note.is_warning for note in robot.findings)


@pytest.mark.parametrize(
    ("compiler", "joint"),
    [
        ("", 'range="-90 45"'),
        ('angle="radian"', 'range="-1 2"'),
        ("", 'range="-90 45" limited="false"'),
        ("", 'range="-90 45" limited="true"'),
        ("", 'range="0 0"'),
        ("", 'type="slide" range="-0.2 0.5"'),
        ('autolimits="false"', 'range="-90 45" limited="true"'),
        ('autolimits="false"', 'type="slide" range="0 1" limited="false"'),
    ],
)
def test_limits(compiler: str, joint: str) -> None:
    agrees(*both(world(f"<body><joint {joint}/>{GEOM}</body>", f"<compiler {compiler}/>")))


def actuated(actuators: str, joint: str = "") -> str:
    return f'<mujoco><worldbody><body><joint name="j" {joint}/>{GEOM}</body></worldbody>{actuators}</mujoco>'


@pytest.mark.parametrize(
    ("joint", "actuators", "effort"),
    [
        ('actuatorfrcrange="-3 5"', '<motor joint="j" forcerange="-9 9"/>', 5.0),
        ("", '<motor joint="j" forcerange="-3 2" gear="-10"/>', 30.0),
        ("", '<position joint="j" forcerange="-3 2"/><motor jointinparent="j" ctrlrange="-1 1" gear="4"/>', 7.0),
        ("", '<motor joint="j" forcerange="-3 3" forcelimited="false"/>', math.inf),
        ("", '<position joint="j" ctrlrange="-3 3"/>', math.inf),
        ("", "", math.inf),
    ],
)
def test_effort(joint: str, actuators: str, effort: float) -> None:
    robot, model = both(actuated(f"<actuator>{actuators}</actuator>", joint))
    assert robot.joint("j").limits.effort == pytest.approx(effort)
    agrees(robot, model)


def test_rotors_and_damping_of_actuators_are_felt_through_the_gear() -> None:
    top = '<default><motor gear="3" armature="2" damping="0.5"/></default>'
    text = actuated(f'{top}<actuator><motor joint="j"/><position joint="j" gear="2"/></actuator>', 'armature="1"')
    robot, model = both(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    rotor, viscous, _, _ = robot.joint("j").drive.parameters
    assert rotor + tensor_of(model, 1)[2, 2] == pytest.approx(model.dof_M0[0])
    assert viscous == pytest.approx((3**2 + 2**2) * 0.5)


def test_what_a_robot_cannot_hold_is_said() -> None:
    text = (
        '<mujoco><option density="1.2" viscosity="0.1"/><worldbody><body name="a" gravcomp="1">'
        '<joint name="j" damping="1 2"/>'
        f'<joint name="k" axis="1 0 0" springdamper="0.1 1" damping="4"/>{GEOM}</body></worldbody>'
        '<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>'
        '<equality><tendon tendon1="t"/></equality></mujoco>'
    )
    robot = read_text(text)
    warnings = "\n".join(note.text for note in robot.findings if note.is_warning)
    for piece in (
        "the quadratic and cubic damping of joints is ignored: j",
        "(springdamper) are ignored: k",
        "(gravcomp) of bodies is ignored: a",
        "tendons are ignored: t",
        "forces of the medium around the robot are ignored: density, viscosity",
        "equality constraints of tendons and flexes are ignored: <tendon> in line 1",
    ):
        assert piece in warnings
    assert (robot.joint("j").drive.viscous, robot.joint("k").drive.viscous) == (1.0, 0.0)


# --- orientation, frames, defaults -----------------------------------------------------------------------------------


@pytest.mark.parametrize("sequence", ["xyz", "zyx", "XYZ", "ZYX", "xYz", "zxz", "YxZ"])
@pytest.mark.parametrize("unit", ["degree", "radian"])
def test_euler_sequences(sequence: str, unit: str) -> None:
    text = world(
        '<body euler="0.3 -1.2 2.5"><joint/><geom type="box" size=".1 .2 .3" euler="3 2 1"/></body>',
        f'<compiler eulerseq="{sequence}"/><compiler angle="{unit}"/>',
    )
    agrees(*both(text))


@pytest.mark.parametrize(
    "turn",
    [
        'quat="1 -2 3 4"',
        'axisangle="1 2 3 40"',
        'euler="10 20 30"',
        'xyaxes="1 2 3 -1 0.5 1"',
        'zaxis="1 2 -3"',
        'zaxis="0 0 -1"',
        'zaxis="0 0 1"',
    ],
)
def test_every_way_to_write_an_orientation(turn: str) -> None:
    text = world(
        f'<frame {turn} pos="1 0 0"><body {turn}><joint axis="1 1 0"/>'
        f'<geom type="box" size=".1 .2 .3" pos="1 2 3" {turn}/>'
        f'<body {turn}><joint/><inertial pos="1 2 3" mass="2" diaginertia="1 2 2.5" {turn}/></body></body></frame>'
    )
    agrees(*both(text))


def test_frames_move_everything_inside() -> None:
    text = world(
        f"""
        <frame pos="1 0 0" euler="0 0 90" childclass="damped">
          <body name="a" pos="0 1 0">
            <frame euler="30 40 50" pos="0.1 0.2 0.3">
              <joint name="j" pos="0 0.5 0" axis="1 0 0"/>
              <frame axisangle="0 1 0 20"><geom type="box" size=".1 .2 .3"/></frame>
              <body name="b" pos="0 0 1"><joint type="slide"/>{GEOM}</body>
            </frame>
            <body name="c"><joint class="main"/>{GEOM}</body>
            <frame pos="0 0 2"><body name="d"><joint/><frame pos="1 1 1" euler="0 9 0">
              <inertial pos="0 0 1" mass="1" diaginertia="1 2 2"/></frame></body></frame>
          </body>
        </frame>
        <body name="e"><joint/>{GEOM}</body>""",
        '<default><default class="damped"><joint damping="7"/></default></default>',
    )
    robot, model = both(text)
    agrees(robot, model)
    assert [link.name for link in robot.links] == ["world", "a", "b", "c", "d", "e"]


def test_default_classes_inherit() -> None:
    text = world(
        """
        <body childclass="outer">
          <joint name="1"/><joint name="2" axis="1 0 0" class="inner"/>
          <geom/><geom class="inner" size="0.5"/><geom class="main" type="sphere" size="0.2"/>
          <body childclass="inner" pos="0 0 1"><joint name="3" damping="9"/><geom quat="1 1 0 0"/></body>
          <body pos="0 1 0"><joint name="4"/><geom mass="3" size="0.3 0.2"/></body>
        </body>
        <body pos="3 0 0"><joint name="5"/><geom type="sphere" size="1"/></body>
        <body pos="4 0 0"><joint name="6" class="late"/><geom type="sphere" size="1"/></body>""",
        """
        <default>
          <default class="outer">
            <geom type="box" size="0.1 0.2 0.3" euler="0 0 45" density="500"/>
            <default class="inner"><joint frictionloss="2" type="slide"/><geom size="0.4"/></default>
            <joint damping="1 2 3" range="-10 10"/>
          </default>
          <joint armature="0.5"/>
        </default>
        <default class="main"><joint armature="0.7"/><default class="late"><joint damping="3"/></default></default>""",
    )
    agrees(*both(text))


# --- inertia ---------------------------------------------------------------------------------------------------------

SHAPES = {
    "sphere": "0.1",
    "capsule": "0.1 0.3",
    "cylinder": "0.1 0.3",
    "box": "0.1 0.2 0.3",
    "ellipsoid": "0.1 0.2 0.3",
}


@pytest.mark.parametrize("amount", ["", 'mass="2"', 'density="300"', 'mass="2" density="300"'])
@pytest.mark.parametrize("shell", ["false", "true"])
@pytest.mark.parametrize("shape", SHAPES)
def test_inertia_from_one_geom(shape: str, shell: str, amount: str) -> None:
    geom = f'<geom type="{shape}" size="{SHAPES[shape]}" pos="1 2 3" euler="10 20 30" shellinertia="{shell}" {amount}/>'
    robot, model = both(world(f"<body><joint/>{geom}</body>"))
    # The shell of an ellipsoid is a difference over 1e-6 m, so the last six of sixteen digits are noise on both sides.
    assert inertia_error(robot, model) < (1e-7 if (shape, shell) == ("ellipsoid", "true") else CLOSE)


@pytest.mark.parametrize("shape", ["capsule", "cylinder", "box", "ellipsoid"])
@pytest.mark.parametrize("ends", ["0 0 0 1 2 3", "1 2 3 1 2 2", "-1 0 0.5 1 1 1"])
def test_inertia_from_two_ends(shape: str, ends: str) -> None:
    geom = f'<geom type="{shape}" size="0.1 7 7" fromto="{ends}" euler="1 2 3"/>'
    agrees(*both(world(f"<body><joint/>{geom}</body>")))


@pytest.mark.parametrize(
    "compiler",
    [
        "",
        'inertiafromgeom="true"',
        'inertiafromgeom="false"',
        'inertiagrouprange="1 3"',
        'boundmass="0.7" boundinertia="0.05"',
        'boundinertia="0.3" balanceinertia="true"',
        'settotalmass="12"',
    ],
)
def test_inertia_as_the_compiler_says(compiler: str) -> None:
    given = '<inertial pos="0.1 0 0" mass="0.5" diaginertia="0.2 0.3 0.4" euler="10 20 30"/>'
    text = world(
        f"""
        <body><joint armature="1"/>{given}
          <geom type="box" size=".1 .2 .3" pos="1 0 0" euler="3 2 1"/><geom size="0.2" group="2"/>
          <geom size="1" mass="0"/><geom size="1" density="0"/></body>
        <body><joint armature="1"/>{given}<geom size="0.1" mass="0"/></body>
        <body><joint armature="1"/>{given}</body>
        <body><joint armature="1"/>
          <inertial pos="0 0 1" mass="0.1" fullinertia="0.1 0.2 0.25 0.01 -0.02 0.03"/></body>""",
        f"<compiler {compiler}/>",
    )
    agrees(*both(text))


def test_inertia_of_many_geoms() -> None:
    geoms = "".join(
        f'<geom type="{shape}" size="{size}" pos="{k} {k * k} 1" euler="{20 * k} 10 5" mass="{0.3 + k}"/>'
        for k, (shape, size) in enumerate(SHAPES.items())
    )
    agrees(*both(world(f'<body>{geoms}<joint/><geom type="box" size="1 1 .01" group="9"/></body>')))


def test_broken_triangle_inequality_is_balanced() -> None:
    text = world(
        '<body><joint/><inertial pos="0 0 1" mass="1" diaginertia="1 1 5" euler="10 20 30"/></body>',
        '<compiler balanceinertia="true"/>',
    )
    robot, model = both(text)
    agrees(robot, model)
    assert np.diag(robot.links[1].inertia.tensor_about_center) == pytest.approx([7 / 3] * 3)


def test_flat_plates_are_not_balanced() -> None:
    text = world(
        '<body><joint/><inertial pos="0 0 1" mass="1" diaginertia="0.1 0.2 0.3" euler="10 20 30"/></body>',
        '<compiler balanceinertia="true"/>',
    )
    assert sorted(np.linalg.eigvalsh(read_text(text).links[1].inertia.tensor_about_center)) == pytest.approx(
        [0.1, 0.2, 0.3]
    )


MESH = '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>'


@pytest.mark.parametrize("geom", ['type="mesh" mesh="m"', 'type="box" mesh="m"'])
def test_inertia_from_a_mesh_is_refused(geom: str) -> None:
    with pytest.raises(RobotFileError, match=r"depends on a mesh.*give the body an <inertial>.*mj_saveLastXML"):
        read_text(world(f"<body><joint/><geom {geom}/></body>", MESH))


@pytest.mark.parametrize("geom", ['mass="0"', 'density="0"', 'group="4"'])
def test_weightless_meshes_do_no_harm(geom: str) -> None:
    text = world(
        f'<body><joint/><geom type="mesh" mesh="m" {geom}/>{GEOM}</body>', f'{MESH}<compiler inertiagrouprange="0 3"/>'
    )
    agrees(*both(text))


def test_meshes_beside_an_inertial_and_on_fixed_bodies_do_no_harm() -> None:
    mesh = '<geom type="mesh" mesh="m"/>'
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    robot, model = both(world(f'<body name="table">{mesh}<body><joint/>{inertial}{mesh}</body></body>', MESH))
    agrees(robot, model)
    assert any("taken as massless: table" in note.text for note in robot.findings)


# --- loops and couplings ---------------------------------------------------------------------------------------------

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


def mechanism(equality: str, rest: str = "") -> str:
    return f"<mujoco><worldbody>{MECHANISM}</worldbody><equality>{equality}</equality>{rest}</mujoco>"


def residuals(text: str) -> Iterator[tuple[Robot, Float[np.ndarray, "joints"], Float[np.ndarray, "rows"]]]:
    """The robot, joint positions, and MuJoCo's own violation of the equality there; the start comes first."""
    robot, model = both(text)
    data, rng = mujoco.MjData(model), np.random.default_rng(3)
    for k in range(5):
        q = model.qpos0 if k == 0 else rng.uniform(-1.0, 1.0, model.nq)
        data.qpos[:] = q
        mujoco.mj_fwdPosition(model, data)
        yield robot, q, data.efc_pos[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY].copy()


LOOPS = [
    '<connect name="loop" body1="b" body2="d" anchor="0.1 0.2 0.3"/>',
    '<connect name="loop" body1="b" anchor="0.1 0.2 0.3"/>',
    '<connect name="loop" site1="tip" site2="end"/>',
    '<connect name="loop" site1="end" site2="post"/>',
    '<weld name="loop" body1="b" body2="d"/>',
    '<weld name="loop" body1="b" body2="d" anchor="0.3 0.2 0.1"/>',
    '<weld name="loop" body1="b" body2="d" relpose="0.1 0.2 0.3 1 2 3 4" anchor="0.3 0.2 0.1"/>',
    '<weld name="loop" body1="d" relpose="0.1 0.2 0.3 0 0 0 0"/>',
    '<weld name="loop" site1="end" site2="tip"/>',
]


@pytest.mark.parametrize("equality", LOOPS)
def test_loops_are_violated_as_much_as_in_mujoco(equality: str) -> None:
    for robot, q, theirs in residuals(mechanism(equality)):
        cut = robot.loops[0].joint
        assert (cut.name, cut.kind) == ("loop", JointKind.POINT if "connect" in equality else JointKind.FIXED)
        poses = link_poses(robot, q)
        one, other = poses[cut.parent] @ cut.placement.matrix, poses[cut.child] @ cut.seat.inverse().matrix
        assert one[:3, 3] - other[:3, 3] == pytest.approx(theirs[:3], abs=CLOSE)
        if cut.kind is JointKind.FIXED:
            between = one[:3, :3].T @ other[:3, :3]
            half_angle = math.acos(min(1.0, max(-1.0, (np.trace(between) - 1.0) / 2.0))) / 2.0
            assert math.sin(half_angle) == pytest.approx(np.linalg.norm(theirs[3:]), abs=1e-7)


@pytest.mark.parametrize("equality", [loop for loop in LOOPS if "site" not in loop and "1 2 3 4" not in loop])
def test_loops_between_bodies_close_at_the_start(equality: str) -> None:
    robot, q, theirs = next(residuals(mechanism(equality)))
    assert theirs == pytest.approx(0.0, abs=CLOSE)
    cut, poses = robot.loops[0].joint, link_poses(robot, q)
    closed = poses[cut.parent] @ cut.placement.matrix @ cut.seat.matrix
    assert closed == pytest.approx(poses[cut.child], abs=CLOSE)


def test_a_slightly_wrong_loop_is_detected() -> None:
    robot, q, theirs = next(residuals(mechanism(LOOPS[0])))
    cut, poses = robot.loops[0].joint, link_poses(robot, q)
    wrong = Frame.shift(1e-6) @ cut.placement
    apart = (poses[cut.parent] @ wrong.matrix @ cut.seat.matrix - poses[cut.child])[:3, 3]
    assert abs(apart - theirs).max() > 100 * CLOSE


def test_a_four_bar_linkage_closes_away_from_its_start() -> None:
    text = (
        f'<mujoco><worldbody><body name="crank"><joint name="crank" axis="0 1 0" ref="30"/>{GEOM}'
        f'<body name="rod" pos="0 0 1"><joint name="rod" axis="0 1 0" ref="-10"/>{GEOM}</body></body>'
        f'<body name="rocker" pos="2 0 0"><joint name="rocker" axis="0 1 0" ref="15"/>{GEOM}</body></worldbody>'
        '<equality><connect body1="rod" body2="rocker" anchor="1.9 0 0.3"/></equality>'
        '<actuator><motor joint="crank"/></actuator></mujoco>'
    )
    robot, model = both(text)
    assert robot.actuated == ("crank",)
    closure = close_loops(robot, {"crank": math.radians(30) + 0.4}).or_raise()
    data = mujoco.MjData(model)
    data.qpos[:] = closure.q
    mujoco.mj_fwdPosition(model, data)
    assert data.efc_pos[:3] == pytest.approx(0.0, abs=1e-8)
    assert abs(closure.q - model.qpos0).min() > 0.1


def test_a_weld_without_torque_is_a_point() -> None:
    robot = read_text(mechanism('<weld body1="b" body2="d" torquescale="0"/>'))
    assert robot.loops[0].joint.kind is JointKind.POINT
    assert robot.loops[0].name == "weld.b.d"


@pytest.mark.parametrize(
    "equality",
    [
        '<joint joint1="a1" joint2="c1"/>',
        '<joint joint1="c1" joint2="a1" polycoef="0.2 -3"/>',
        '<joint joint1="a1" polycoef="0.4 5 6 7 8"/>',
        '<joint joint1="b1" joint2="d1" polycoef="-0.2 0.5 0 0 0"/>',
    ],
)
def test_joint_equalities_are_couplings(equality: str) -> None:
    for robot, q, theirs in residuals(mechanism(equality)):
        factors, offset = robot.coupling_map
        at = {joint.name: value for joint, value in zip(robot.movable, q, strict=True)}
        x = np.array([at[name] for name in robot.coordinates])
        coupled = robot.couplings[0].joint
        row = [joint.name for joint in robot.movable].index(coupled)
        assert at[coupled] - float(factors[row] @ x + offset[row]) == pytest.approx(theirs[0], abs=CLOSE)


def test_equalities_that_are_off_are_passed_over() -> None:
    off = read_text(mechanism('<connect name="x" body1="b" body2="d" anchor="0 0 0" active="false"/>'))
    assert not off.loops
    assert any("inactive equality constraints are ignored: x" in note.text for note in off.findings)
    by_class = "<default><equality active='false'/></default>"
    assert not read_text(mechanism('<weld body1="b" body2="d"/>', by_class)).loops
    flags = '<option><flag equality="disable"/></option>'
    assert not read_text(mechanism('<weld body1="b" body2="d"/>', flags)).loops


def test_constraints_that_close_nothing_are_passed_over() -> None:
    text = (
        f'<mujoco><worldbody><body name="hand" mocap="true"/><body name="shelf">{GEOM}</body>'
        f'<body name="a"><joint/>{GEOM}<body name="b">{GEOM}</body></body></worldbody><equality>'
        '<weld body1="hand" body2="a"/><weld body1="shelf"/><weld body1="a" body2="b"/></equality></mujoco>'
    )
    robot = read_text(text)
    assert not robot.loops
    assert any(note.is_warning and "mocap" in note.text for note in robot.findings)
    assert any(
        "cannot move against each other: <weld> in line 1, <weld> in line 1" in note.text for note in robot.findings
    )


@pytest.mark.parametrize(
    ("actuators", "equality", "expected"),
    [
        ("", "", ()),
        ('<motor joint="c1"/><motor joint="b1"/><motor joint="c1"/>', "", ("c1", "b1", "e")),
        ('<motor joint="e"/>', "", ()),
        ('<motor joint="a1"/>', '<joint joint1="a1" joint2="d1" polycoef="0 2"/>', ("d1", "e")),
        ('<motor tendon="t"/>', "", ()),
    ],
)
def test_actuated_coordinates_of_loops(actuators: str, equality: str, expected: Sequence[str]) -> None:
    text = mechanism(f'<connect body1="b" body2="d" anchor="0 0 0"/>{equality}', f"<actuator>{actuators}</actuator>")
    robot = read_text(text.replace("</worldbody>", f'<body><joint name="e"/>{GEOM}</body></worldbody>'))
    assert robot.actuated == tuple(expected)


def test_without_loops_all_coordinates_are_actuated() -> None:
    robot = read_text(mechanism('<joint joint1="a1" joint2="d1"/>', '<actuator><motor joint="b1"/></actuator>'))
    assert robot.actuated == ("a2", "b1", "c1", "d1")


# --- the rest of the file --------------------------------------------------------------------------------------------


def test_home_is_the_key_of_that_name() -> None:
    keys = '<keyframe><key name="other" qpos="9 9 9 9 9"/><key name="home" qpos="1 2 3 0.4 0"/></keyframe>'
    robot = read_text(mechanism('<joint joint1="a2" joint2="d1"/>', keys))
    assert robot.home == (("a1", 1.0), ("b1", 3.0), ("c1", 0.4))
    short = read_text(mechanism("", '<keyframe><key name="home" qpos="1 2"/></keyframe>'))
    assert short.home == (("a1", math.radians(20)), ("c1", 0.3))


def test_home_of_a_model_with_free_joints_is_left_alone() -> None:
    text = (
        f'<mujoco><worldbody><body><freejoint/>{GEOM}<body><joint name="j"/>{GEOM}</body></body></worldbody>'
        '<keyframe><key name="home" qpos="0 0 0 1 0 0 0 0.5"/></keyframe></mujoco>'
    )
    assert read_text(text, fix_base=True).home == ()


def test_gravity_and_name() -> None:
    body = f"<worldbody><body><joint/>{GEOM}</body></worldbody>"
    robot = read_text(f'<mujoco model="arm"><option gravity="1 2 3"/><option timestep="0.1"/>{body}</mujoco>')
    assert (robot.gravity, robot.name, robot.source) == ((1.0, 2.0, 3.0), "arm", "model.xml")
    plain = read_text(f"<mujoco>{body}</mujoco>")
    assert (plain.gravity, plain.name) == ((0.0, 0.0, -9.81), "model")
    off = read_text(f'<mujoco><option gravity="1 2 3"><flag gravity="disable"/></option>{body}</mujoco>')
    assert off.gravity == (0.0, 0.0, 0.0)


def test_elements_of_others_are_passed_over() -> None:
    text = world(
        f'<light/><camera/><geom type="plane" size="1 1 1"/><body><joint/>{GEOM}<camera/><site/></body>',
        "<visual/><statistic/><size/><sensor/><contact/><custom/><extension/><deformable/><keyframe/><asset/>",
    )
    agrees(*both(text))


def test_rounded_angles_are_snapped_and_noted() -> None:
    text = world(
        f"""
        <body name="a" euler="1.5708 0 0"><joint name="j" axis="1e-5 0 1" ref="1.5708"/>
          <geom type="box" size="1 2 3" euler="1.5708 0 0"/>
          <frame quat="0.70711 0.7071 0 0"><body name="b"><joint/>{GEOM}</body></frame></body>""",
        '<compiler angle="radian"/>',
    )
    robot = read_text(text, snap=1e-4)
    first, second = robot.joint("j"), robot.joint("b.joint")
    assert first.placement.rotation == ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
    assert first.axis == (0.0, 0.0, 1.0)
    assert first.seat.rotation == ((0.0, 1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    assert second.placement.rotation == first.placement.rotation
    assert any("4 rounded angles" in note.text for note in robot.findings)
    kept, model = both(text)
    agrees(kept, model)
    assert not kept.findings
    assert kept.links[1].inertia == robot.links[1].inertia


# --- includes and paths ----------------------------------------------------------------------------------------------


def files(folder: Path, **contents: str) -> Path:
    """Files by stem; a double underscore goes into a folder. The main file is ``main.xml``."""
    for name, content in contents.items():
        path = folder / (name.replace("__", "/") + ".xml")
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(content)
    return folder / "main.xml"


def test_includes(tmp_path: Path) -> None:
    path = files(
        tmp_path,
        main='<mujoco model="m"><include file="parts/top.xml"/><worldbody><include file="parts/arm.xml"/></worldbody>'
        f'<worldbody><body name="z"><joint/>{GEOM}</body></worldbody></mujoco>',
        parts__top='<mujoco model="ignored"><compiler angle="radian"/><default><joint damping="2"/></default></mujoco>',
        parts__arm='<any><body name="a" euler="1 2 3"><joint/><include file="tool.xml"/></body>'
        '<include file="far.xml"/></any>',
        tool=f"<mujocoinclude>{GEOM}</mujocoinclude>",
        parts__tool='<mujocoinclude><geom size="5"/></mujocoinclude>',
        parts__far=f'<mujocoinclude><body name="far"><joint/>{GEOM}</body></mujocoinclude>',
    )
    robot = read(path)
    agrees(robot, mujoco.MjModel.from_xml_path(str(path)))
    assert [link.name for link in robot.links] == ["world", "a", "far", "z"]
    assert robot.name == "m"


@pytest.mark.parametrize(
    ("include", "message"),
    [
        ("../outside.xml", r"main\.xml, line 1, <include>: the path '\.\./outside\.xml' leaves the robot's folder"),
        ("/etc/passwd", r"the path '/etc/passwd' leaves the robot's folder"),
        ("missing.xml", r"main\.xml, line 1, <include>: the included file 'missing\.xml' does not exist"),
        ("main.xml", r"the file 'main\.xml' is included twice"),
        ("circle.xml", r"circle\.xml, line 1, <include>: the file 'circle\.xml' is included twice"),
        ("empty.xml", r"the included file 'empty\.xml' has no elements"),
        ("package://p/a.xml", r"the included file 'package://p/a\.xml' does not exist"),
    ],
)
def test_bad_includes(include: str, message: str, tmp_path: Path) -> None:
    path = files(
        tmp_path / "robot",
        main=f'<mujoco><include file="{include}"/></mujoco>',
        circle='<x><include file="circle.xml"/></x>',
        empty="<x/>",
    )
    files(tmp_path, outside="<x><worldbody/></x>")
    with pytest.raises(RobotFileError, match=message):
        read(path)


def test_includes_cannot_nest_without_end(tmp_path: Path) -> None:
    deep = "<a>" * 300, "</a>" * 300
    path = files(
        tmp_path,
        main=f'<mujoco>{deep[0]}<include file="one.xml"/>{deep[1]}</mujoco>',
        one=f"<x>{deep[0]}{deep[1]}</x>",
    )
    with pytest.raises(RobotFileError, match="nested too deeply"):
        read(path)


def test_long_chains_of_bodies_are_read() -> None:
    depth = 480
    text = world('<body pos="0.01 0 0">' * depth + f"<joint/>{GEOM}" + "</body>" * depth)
    robot = read_text(text)
    assert len(robot.links) == depth + 1
    assert link_poses(robot, np.zeros(1))[f"body{depth}"][0, 3] == pytest.approx(0.01 * depth)


@pytest.mark.parametrize(
    ("compiler", "asset", "refused"),
    [
        ("", '<mesh file="../x.stl"/>', "../x.stl"),
        ("", '<mesh file="a/../b/x.stl"/>', None),
        ('meshdir="assets"', '<mesh file="../x.stl"/>', None),
        ('meshdir="assets"', '<mesh file="../../x.stl"/>', "assets/../../x.stl"),
        ('meshdir="../assets"', '<hfield file="x.png"/>', "../assets/x.png"),
        ('assetdir="../assets"', '<texture file="x.png"/>', "../assets/x.png"),
        ('assetdir="../assets" texturedir="t"', '<texture file="x.png"/>', None),
        ("", '<texture fileup="/x.png"/>', "/x.png"),
        ('meshdir="/data" strippath="true"', '<mesh file="C:\\a\\x.stl"/>', "/data/x.stl"),
        ('strippath="true"', '<mesh file="../../x.stl"/>', None),
        ("", '<skin file="../x.skn"/>', "../x.skn"),
        ("", '<mesh name="m" vertex="0 0 0"/>', None),
    ],
)
def test_paths_of_assets(compiler: str, asset: str, refused: str | None) -> None:
    text = world("<body/>", f"<compiler {compiler}/><asset>{asset}</asset>")
    if refused is None:
        assert len(read_text(text).links) == 2
        return
    with pytest.raises(RobotFileError) as error:
        read_text(text)
    assert f"the path '{refused}' leaves the robot's folder and is not opened" in str(error.value)


# --- what is wrong, where, what to do --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "top", "message"),
    [
        (
            '<body name="a"><joint type="ball"/></body>',
            "",
            r"body 'a' has a ball joint, which is not supported",
        ),
        ('<body name="a"><body name="a"/></body>', "", "the body name 'a' is used twice"),
        ('<body name="world"><joint/></body>', "", "the body name 'world' is used twice"),
        ('<body><geom type="box" size="1 1e-320 1"/></body>', "", "give 3 positive numbers as the size of a box"),
        ('<body><joint damping=""/></body>', "", "damping='' should hold numbers; give at least one"),
        ('<body><joint type="screw"/></body>', "", r"type='screw' is unknown; use one of hinge, slide, ball, free"),
        ('<body><joint axis="0 0 0"/></body>', "", "the axis is zero; give a direction such as 0 0 1"),
        (
            '<body><joint limited="true" range="2 1"/></body>',
            "",
            "range='2 1' should be a smaller and a larger",
        ),
        ('<body><joint limited="maybe"/></body>', "", "limited='maybe' is unknown; use one of true, false, auto"),
        ('<body><joint range="1 2"/></body>', '<compiler autolimits="false"/>', "no 'limited', and autolimits is off"),
        ("", '<compiler coordinate="global"/>', r"coordinate='global' is no longer part of MJCF.*save it"),
        ("", '<compiler angle="grad"/>', "angle='grad' is unknown; use one of degree, radian"),
        ("", '<compiler eulerseq="xyw"/>', "eulerseq='xyw' should be three letters out of"),
        ('<body quat="0 0 0 0"/>', "", "a quaternion of zeros is not a rotation"),
        ('<body zaxis="0 0 1e-20"/>', "", "zaxis='0 0 1e-20' does not define a direction"),
        (
            '<body><joint/><geom type="box" size="1 1 1" density="1e308"/></body>',
            '<compiler boundinertia="1"/>',
            "its mass, position or inertia is too large to compute with; give smaller numbers",
        ),
        ('<body><geom type="capsule" size="1" fromto="0 0 0 1e200 0 0"/></body>', "", "is too large; give smaller"),
        ('<body euler="1e308 0 0"/>', "", "the angle .* rad is larger than"),
        ('<body quat="1 0 0 0" euler="0 0 0"/>', "", "the orientation is given twice, by 'quat' and 'euler'; keep one"),
        ('<body zaxis="0 0 0"/>', "", "zaxis='0 0 0' does not define a direction"),
        ('<body xyaxes="1 0 0 2 0 0"/>', "", "xyaxes='1 0 0 2 0 0' does not define a direction"),
        ('<body axisangle="0 0 0 90"/>', "", "axisangle='0 0 0 90' does not define a direction"),
        ('<body pos="1 2"/>', "", "pos='1 2' should hold 3 numbers"),
        ('<body><geom size="1" mass="-1"/></body>', "", "the mass -1 of the geom is negative"),
        ('<body><geom size="1" density="-1"/></body>', "", "the density -1 of the geom is negative"),
        ('<body><geom type="box" size="1 1"/></body>', "", "give 3 positive numbers as the size of a box"),
        (
            '<body><geom type="capsule" fromto="0 0 0 1 1 1"/></body>',
            "",
            "give 1 positive number as the size of a capsule",
        ),
        ('<body><geom size="1" fromto="0 0 0 1 1 1"/></body>', "", "a sphere has no 'fromto'"),
        (
            '<body><geom type="box" size="1" fromto="1 1 1 1 1 1"/></body>',
            "",
            "the two ends of fromto='1 1 1 1 1 1' coincide",
        ),
        (
            '<body><geom type="box" size="1" pos="1 0 0" fromto="0 0 0 1 1 1"/></body>',
            "",
            "'pos' and 'fromto' are both given",
        ),
        ('<body><geom type="cone"/></body>', "", "type='cone' is unknown"),
        ('<body><inertial pos="0 0 0" mass="-1"/></body>', "", "the mass -1 kg is negative"),
        ('<body><inertial pos="0 0 0"/></body>', "", "the attribute 'mass' is missing"),
        ('<body><inertial mass="1"/></body>', "", "the attribute 'pos' is missing"),
        (
            '<body><inertial pos="0 0 0" mass="1" fullinertia="1 1 1 0 0 0" quat="1 0 0 0"/></body>',
            "",
            "'fullinertia' and 'quat' exclude each other",
        ),
        (
            '<body><inertial pos="0 0 0" mass="1"/><inertial pos="0 0 0" mass="1"/></body>',
            "",
            "the body has two <inertial> elements; keep one",
        ),
        ('<body><geom class="nope" size="1"/></body>', "", "the default class 'nope' does not exist; there are: main"),
        ("", "<default><default/></default>", "the attribute 'class' is missing"),
        (
            "",
            '<default><default class="a"/><default class="a"/></default>',
            "the default class 'a' is defined twice; rename one",
        ),
        ("", '<default class="a"/>', "the outermost default class must be called 'main'"),
        ('<replicate count="2"/>', "", r"<replicate> generates elements.*mj_saveLastXML"),
        ("<body><attach/></body>", "", r"<attach> generates elements.*mj_saveLastXML"),
        ("<body><composite/></body>", "", r"<composite> generates elements.*mj_saveLastXML"),
        ("<frame><flexcomp/></frame>", "", r"<flexcomp> generates elements.*mj_saveLastXML"),
        ('<frame scale="2"/>', "", "'scale' of a frame is not supported"),
        ("", "", "<worldbody> has no body; load the main file of the model"),
        ("<body/>", '<actuator><motor joint="jo"/></actuator>', "the actuator drives 'jo', which is not a joint"),
        ("<body/>", '<option gravity="0 0"/>', "gravity='0 0' should hold 3 numbers"),
        ("<body/>", '<option><flag gravity="off"/></option>', "gravity='off' is unknown; use one of enable, disable"),
    ],
)
def test_bad_files(content: str, top: str, message: str) -> None:
    with pytest.raises(RobotFileError, match=rf"^model\.xml, line 1, <.*{message}"):
        read_text(world(content, top))


@pytest.mark.parametrize(
    ("equality", "message"),
    [
        ('<connect body1="bb" anchor="0 0 0"/>', r"body1='bb' is not a body; did you mean"),
        ('<weld body1="b" body2="q"/>', r"body2='q' is not a body; there are"),
        ('<connect body1="b"/>', "the attribute 'anchor' is missing"),
        ("<weld/>", "the attribute 'body1' is missing"),
        ('<weld site1="tip"/>', "the attribute 'site2' is missing"),
        ('<weld site1="tip" site2="tap"/>', r"site2='tap' is not a site; did you mean 'tip'"),
        ('<joint joint1="a1" joint2="zz"/>', "joint2='zz' is not a hinge or slide joint"),
        (
            '<joint joint1="a1" joint2="b1" polycoef="0 1 0.5"/>',
            "nonlinear, which is not supported; keep the first two",
        ),
    ],
)
def test_bad_equalities(equality: str, message: str) -> None:
    with pytest.raises(RobotFileError, match=message):
        read_text(mechanism(equality))


@pytest.mark.parametrize(
    "text",
    [
        world(f'<body name="a"><joint name="j"/>{GEOM}</body><body name="b"><joint name="j"/>{GEOM}</body>'),
        mechanism('<joint joint1="a1" joint2="b1"/><joint joint1="b1" joint2="a1"/>'),
        mechanism('<joint joint1="a1" joint2="b1"/><joint joint1="a1" joint2="c1"/>'),
    ],
)
def test_contradictions_are_errors_of_the_robot(text: str) -> None:
    with pytest.raises(RobotError):
        read_text(text)


def test_every_error_is_an_input_error() -> None:
    with pytest.raises(InputError):
        read_text(world("<replicate/>"))
