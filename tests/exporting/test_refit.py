"""What a format cannot express is fitted: files read back, by Pinocchio and by MuJoCo, have the stated torque error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

import ytheta as yt
from tests.support.exported_robots import States, compute_mujoco_torque, compute_pinocchio_torque
from tests.support.friction_robots import draw_drives, make_branched_arm, make_random_generator
from ytheta.errors import InputError
from ytheta.exporting.export import export_source, find_losses
from ytheta.exporting.refit import Abilities, make_default_states, refit, remove_inexpressible
from ytheta.exporting.source import ExportSource, find_source
from ytheta.findings import Finding
from ytheta.robot.parts import Drive, Limits, Motor
from ytheta.robot.robot import Robot

URDF = Abilities("URDF", rotor_inertia=False, forces=frozenset())
MJCF = Abilities("MJCF", forces=frozenset())


def draw_motion(robot: Robot, rng: np.random.Generator, samples: int = 400) -> States:
    """Random states; every joint rests in some of them."""
    q, qd, qdd = rng.uniform(-1.5, 1.5, (3, samples, len(robot.actuated)))
    return q, np.where(rng.uniform(size=qd.shape) < 0.1, 0.0, qd), 2.0 * qdd


def make_source(robot: Robot, states: States, *, error: float = 3.0) -> ExportSource:
    """A robot as if it had been identified from this motion; resting joints are left out of its errors."""
    joints = len(robot.actuated)
    motion = dict(zip(("q", "qd", "qdd", "used"), (*states, states[1] != 0.0), strict=True))
    fit = {"relative_error_percent": error, "per_joint_percent": [2.0 * error] * joints}
    return ExportSource(robot, {"motion": motion, "fit": fit})


def compute_percents(robot: Robot, torque: np.ndarray, states: States) -> np.ndarray:
    """The difference from the torque of a robot in percent, of all joints and of each, while it moves."""
    expected = yt.inverse_dynamics(robot)(*states)
    used = states[1] != 0.0
    parts, wholes = (np.linalg.norm(x * used, axis=0) for x in (torque - expected, expected))
    return 100.0 * np.array([np.linalg.norm(parts) / np.linalg.norm(wholes), *(parts / wholes)])


def find_error(findings: tuple[Finding, ...]) -> Finding:
    (finding,) = (each for each in findings if each.code == "torque error")
    return finding


@pytest.mark.parametrize("to", ["urdf", "mjcf"])
@pytest.mark.parametrize("rotor_inertia", [0.0, 0.3])
def test_the_file_has_the_stated_error(to: str, rotor_inertia: float, tmp_path: Path) -> None:
    rng = make_random_generator()
    robot = draw_drives(make_branched_arm(rng), rng, rotor_inertia=rotor_inertia)
    states = draw_motion(robot, rng)
    source = make_source(robot, states)
    (path,) = export_source(source, to=to, path=tmp_path / "new.xml")
    peer: Callable[..., np.ndarray] = compute_pinocchio_torque if to == "urdf" else compute_mujoco_torque
    difference = compute_percents(robot, peer(path, robot, states=states), states)
    finding = find_error(find_losses(source, to=to, path=path))
    fields = finding.fields
    assert fields["difference_percent"] == pytest.approx(difference[0], rel=1e-6)
    assert fields["after_percent"] == pytest.approx(np.hypot(3.0, difference[0]), rel=1e-6)
    assert fields["after_per_joint_percent"] == pytest.approx(np.hypot(6.0, difference[1:]), rel=1e-6)
    assert f"torque error 3 % → {fields['after_percent']:.3g} %" in finding.text
    assert f"<!-- {finding.text} -->" in path.read_text(encoding="utf-8")
    assert ("do not add it again" in finding.text) is (to == "urdf" and rotor_inertia > 0.0)
    # Our own reader, and the twin: what the format expresses of the robot, without a fit.
    back = yt.load(path, snap=0.0)
    np.testing.assert_allclose(
        compute_percents(robot, yt.inverse_dynamics(back)(*states), states), difference, rtol=1e-6
    )
    plain = remove_inexpressible(robot, URDF if to == "urdf" else MJCF)
    without = compute_percents(robot, yt.inverse_dynamics(plain)(*states), states)
    assert fields["without_fit_percent"] == pytest.approx(np.hypot(3.0, without[0]), rel=1e-6)
    assert without[0] > 1.5 * difference[0]
    assert (without[1:] >= difference[1:]).all() or rotor_inertia
    assert np.linalg.norm(without[1:]) > np.linalg.norm(difference[1:])  # what the fit minimizes
    assert all(link.inertia.consistency() for link in back.links[1:])
    assert all(min(joint.drive.viscous, joint.drive.coulomb) >= 0.0 for joint in back.movable)


def test_mujoco_simulates_the_fitted_friction(tmp_path: Path) -> None:
    """``mj_inverse`` has the friction of the file, dry friction as a constraint that is saturated while joints move."""
    rng = make_random_generator()
    robot = draw_drives(make_branched_arm(rng), rng, rotor_inertia=0.3)
    q, qd, qdd = draw_motion(robot, rng)
    states = (q, np.where(abs(qd) < 0.3, 0.3, qd), qdd)
    source = make_source(robot, states)
    (path,) = export_source(source, to="mjcf", path=tmp_path / "new.xml")
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    order = [int(model.joint(joint.name).dofadr[0]) for joint in robot.movable]
    torque = np.empty_like(q)
    for k, (position, velocity, acceleration) in enumerate(zip(*states, strict=True)):
        data.qpos[order], data.qvel[order], data.qacc[order] = position, velocity, acceleration
        mujoco.mj_inverse(model, data)
        torque[k] = data.qfrc_inverse[order]
    percents = compute_percents(robot, torque, states)
    stated = find_error(find_losses(source, to="mjcf", path=path)).fields
    assert percents[0] == pytest.approx(stated["difference_percent"], rel=0.05)


def test_a_rotor_of_the_first_joint_is_exactly_a_disc(tmp_path: Path) -> None:
    """The base parameters of an arm contain the sum of both, but not that of the second joint."""
    rng = make_random_generator()
    arm = make_branched_arm(rng)
    size = rng.uniform(0.1, 2.0)
    for name, is_exact in (("q1", True), ("q2", False)):
        rotors = {name: size}
        robot = arm.with_drives(lambda each, d: replace(d, rotor_inertia=rotors.get(each, 0.0)))  # noqa: B023
        states = draw_motion(robot, rng)
        (path,) = export_source(make_source(robot, states), to="urdf", path=tmp_path / f"{name}.urdf")
        difference = compute_percents(robot, compute_pinocchio_torque(path, robot, states), states)
        assert bool(difference[0] < 1e-6) is is_exact
        link = robot.joint(name).child
        change = yt.load(path, snap=0.0).link(link).inertia.vector - arm.link(link).inertia.vector
        assert change[:4] == pytest.approx(0.0, abs=1e-9)  # mass and centre stay
        if is_exact:
            axis = np.array(robot.joint(name).axis)
            xx, xy, yy, xz, yz, zz = change[4:]
            assert axis @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ axis == pytest.approx(size, rel=1e-6)


def test_a_body_replaces_the_rotor_of_a_link_that_has_no_mass_itself(tmp_path: Path) -> None:
    """The mass is on a link behind a fixed joint with other axes."""
    rng = make_random_generator()
    arm = make_branched_arm(rng)
    hand = yt.Frame.shift(0.1, 0.2, 0.0) @ yt.Frame.from_rpy(0.4, -0.3, 0.8)
    body = arm.link("l1").inertia
    light = arm.with_inertias({"l1": yt.Inertia()}).with_load(
        body.seen_from(hand.inverse()), name="h", on="l1", frame=hand
    )
    light = replace(light, links=tuple(replace(link, load=False) for link in light.links))
    inertias: list[np.ndarray] = []
    for robot in (arm, light):
        driven = robot.with_drives(lambda name, d: replace(d, rotor_inertia=0.4) if name == "q1" else d)
        source = make_source(driven, draw_motion(driven, np.random.default_rng(1)))
        (path,) = export_source(source, to="urdf", path=tmp_path / f"{len(inertias)}.urdf")
        inertias.append(yt.load(path, snap=0.0).merged.link("l1").inertia.vector)
    np.testing.assert_allclose(inertias[1], inertias[0], rtol=1e-6, atol=1e-9)
    assert abs(inertias[0] - body.vector).max() > 0.1


def test_what_is_expressible_stays_to_the_last_bit() -> None:
    rng = make_random_generator()
    arm = make_branched_arm(rng)
    plain = arm.with_drives(lambda *_: Drive(viscous=rng.uniform(0.1, 1.0), coulomb=rng.uniform(0.1, 1.0)))
    source = make_source(plain, draw_motion(plain, rng))
    for abilities in (URDF, MJCF):
        assert refit(source, abilities).robot == plain
        assert refit(source, abilities).findings == ()
    one = plain.with_drives(lambda name, d: replace(d, root=1.0) if name == "q3" else d)
    fitted = refit(make_source(one, draw_motion(one, rng)), URDF).robot
    assert [j for j in fitted.joints if j.name != "q3"] == [j for j in plain.joints if j.name != "q3"]
    assert fitted.links == plain.links
    assert fitted.joint("q3").drive.viscous > plain.joint("q3").drive.viscous


def test_negative_viscous_friction_beside_root_friction_becomes_possible() -> None:
    """Root friction may exceed a negative viscous one; without it, the joint would drive itself."""
    rng = make_random_generator()
    arm = make_branched_arm(rng).with_drives(lambda *_: Drive(viscous=-0.2, root=rng.uniform(1.0, 2.0)))
    fitted = refit(make_source(arm, draw_motion(arm, rng)), MJCF).robot
    assert all(min(joint.drive.viscous, joint.drive.coulomb) >= 0.0 for joint in fitted.movable)
    assert max(joint.drive.coulomb for joint in fitted.movable) > 0.1


def test_joints_take_over_the_drive_of_a_motor() -> None:
    """A motor that turns with the sum of two joints; MJCF has no such motor."""
    rng = make_random_generator()
    arm = make_branched_arm(rng)
    motor = Motor("m", drive=Drive(rotor_inertia=0.3, viscous=0.5, coulomb=0.4), turns_with=(("q2", 1.0), ("q4", 0.5)))
    robot = replace(arm, motors=(motor,))
    fitted = refit(make_source(robot, draw_motion(robot, rng)), MJCF)
    fields = find_error(fitted.findings).fields
    assert fields["after_percent"] < fields["without_fit_percent"]
    values = {joint.name: joint.drive.parameters[:3] for joint in fitted.robot.movable}
    assert values["q1"] == values["q3"] == (0.0, 0.0, 0.0)
    assert min(values["q2"]) > 0.0


def test_drives_of_actuators_in_a_file_are_lower_bounds(tmp_path: Path) -> None:
    source = tmp_path / "arm.xml"
    source.write_text(
        '<mujoco><worldbody><body name="arm"><joint name="q" damping="0.1"/>'
        '<inertial pos="0.2 0 0" mass="1" diaginertia="0.01 0.01 0.01"/></body></worldbody>'
        '<actuator><motor joint="q" gear="2" damping="0.05" armature="0.01"/></actuator></mujoco>'
    )
    described = yt.load(source)
    # Above friction_speed, this friction is constant, as Coulomb friction is.
    robot = described.with_drives(lambda _, d: replace(d, viscous=0.3, root=0.2, friction_speed=0.1))
    (path,) = export_source(find_source(robot, description=source), to="mjcf", path=tmp_path / "new.xml")
    assert 'damping="0.0"' in path.read_text() or 'damping="0"' in path.read_text()
    assert yt.load(path).joint("q").drive.viscous == pytest.approx(0.2, rel=1e-12)


@pytest.mark.parametrize("to", ["mujoco-actuators", "isaac-actuators"])
def test_settings_of_simulators_are_those_of_mjcf(to: str, tmp_path: Path) -> None:
    rng = make_random_generator()
    robot = draw_drives(make_branched_arm(rng), rng, rotor_inertia=0.3)
    source = make_source(robot, draw_motion(robot, rng))
    (path,) = export_source(source, to=to, path=tmp_path / "drives.json")
    text = path.read_text()
    for joint in refit(source, MJCF).robot.movable:
        assert all(repr(value) in text for value in joint.drive.parameters[:3])
    assert find_error(find_losses(source, to=to, path=path)).fields["motion"] == "identification"
    assert find_losses(source, to="friction-table", path="x.csv") == ()


@pytest.mark.parametrize("name", ["ur10", "five-bar", "stanford"])
def test_a_description_moves_by_default_within_its_limits(name: str) -> None:
    """Without the states of an identification; such a robot states no error."""
    robot = yt.load(name).with_drives(lambda _, d: replace(d, viscous=0.2, coulomb=0.3, root=0.5, coulomb_speed=0.1))
    states = make_default_states(robot)
    assert np.abs(states.qd).max(axis=0).min() > 0.05
    fitted = refit(find_source(robot, force=True), MJCF)
    finding = find_error(fitted.findings)
    assert "on a default motion" in finding.text
    assert finding.fields["before_percent"] is None
    assert finding.fields["after_percent"] < finding.fields["without_fit_percent"]
    back = remove_inexpressible(fitted.robot, MJCF)
    difference = yt.inverse_dynamics(back)(states.q, states.qd, states.qdd) - yt.inverse_dynamics(robot)(
        states.q, states.qd, states.qdd
    )
    whole = yt.inverse_dynamics(robot)(states.q, states.qd, states.qdd)
    percent = 100.0 * np.linalg.norm(difference) / np.linalg.norm(whole)
    assert finding.fields["after_percent"] == pytest.approx(percent, rel=1e-6)


def test_a_robot_that_cannot_move_is_written_without_a_fit(tmp_path: Path) -> None:
    robot = draw_drives(make_branched_arm(np.random.default_rng(1)), np.random.default_rng(2))
    limits = tuple(replace(joint, limits=Limits(0.0, 0.0)) for joint in robot.joints)
    source = find_source(replace(robot, joints=limits))
    (path,) = export_source(source, to="mjcf", path=tmp_path / "new.xml")
    assert "left out without a fit: no joint of robot" in find_error(find_losses(source, to="mjcf", path=path)).text
    assert yt.load(path, snap=0.0).joint("q1").drive.viscous == robot.joint("q1").drive.viscous


def test_damaged_states_are_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    robot = draw_drives(make_branched_arm(rng), rng)
    source = make_source(robot, draw_motion(robot, rng))
    assert source.table is not None
    for motion in ({}, {**source.table["motion"], "q": [[1.0]]}, {**source.table["motion"], "qd": "x"}, 3):
        damaged = replace(source, table={**source.table, "motion": motion})
        with pytest.raises(InputError, match=r"'identification\.motion' of the model of 'branched' is damaged"):
            export_source(damaged, to="mjcf", path=tmp_path / "new.xml")
