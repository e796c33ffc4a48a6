"""Plants whose friction is faster than a controller's period, and friction that is the bare sign of the speed."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import ytheta as yt
from tests.support import example_robots
from tests.support.command import refused, ytheta
from tests.support.simulate_cases import PUMA, swing
from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.control.tuning.suggest import suggest_gains
from ytheta.errors import InputError
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive, Joint, JointKind, Link
from ytheta.robot.robot import Robot
from ytheta.simulation.closed_loop.compiled import ClosedLoop
from ytheta.simulation.closed_loop.plain import PlainLoop
from ytheta.simulation.parameter_changes import ParameterChange
from ytheta.simulation.plants.own_plant import OwnPlant
from ytheta.simulation.plants.smooth_friction import SLIDING, TURNING, find_chattering_drives, find_nonsmooth_drives, with_smooth_friction
from ytheta.simulation.plants.substeps import MOST, choose_substeps
from ytheta.simulation.references.fourier import default_reference
from ytheta.simulation.result import Simulation
from ytheta.simulation.variation import Variation

SECONDS = 1.0
MASS = 0.02  # kg m² about its axis, at every pose


def one_joint(kind: JointKind = JointKind.REVOLUTE, **drive: float) -> Robot:
    own = (MASS, *([0.0] * 3), MASS, 0.0, MASS, 0.0, 0.0, MASS)
    joint = Joint("q1", kind, "base", "arm", drive=Drive(**drive))
    return Robot("one", (Link("base"), Link("arm", Inertia(own))), (joint,))


@cache
def vendor(name: str) -> Robot:
    if not any(path.name == name for path in example_robots.urdf_files()):
        pytest.skip(f"example-robot-data has no {name}")
    return yt.load(example_robots.urdf(name))


def tracked(robot: Robot, **settings: Any) -> Simulation:
    course = default_reference(robot, SECONDS)
    motion = course(np.linspace(0.0, SECONDS, 100))
    period = settings.get("period", 1e-3)
    law = ComputedTorque(robot, **suggest_gains("computed-torque", robot, motion=motion, period=period))
    return yt.simulate(robot, law, seconds=SECONDS, reference=course, **settings)


POSE = np.zeros((3, 1))


@pytest.mark.parametrize(("viscous", "period"), [(1.0, 1e-3), (50.0, 1e-3), (130.0, 1e-3), (60.0, 4e-3)])
def test_of_one_joint_substeps_are_the_formula(viscous: float, period: float) -> None:
    wanted = max(1, math.ceil(period * viscous / MASS))
    assert choose_substeps(one_joint(viscous=viscous), POSE, period) == wanted
    with_rotor = one_joint(viscous=viscous, rotor_inertia=MASS / 4.0, gear_ratio=2.0)
    assert choose_substeps(with_rotor, POSE, period) == max(1, math.ceil(period * viscous / (2.0 * MASS)))
    thrice = max(1, math.ceil(3.0 * period * viscous / MASS))
    assert choose_substeps(one_joint(viscous=viscous), POSE, period, margin=3.0) == thrice


def test_coulomb_friction_counts_with_its_slope_at_rest() -> None:
    smooth = one_joint(coulomb=2.0, coulomb_speed=0.05, viscous=10.0)
    assert choose_substeps(smooth, POSE, 1e-3) == math.ceil(1e-3 * (10.0 + 2.0 / 0.05) / MASS - 1e-9)
    assert choose_substeps(smooth, POSE, 1e-3, coulomb=False) == 1
    assert choose_substeps(one_joint(coulomb=2.0), POSE, 1e-3) == 1  # a bare sign has no slope
    assert choose_substeps(one_joint(coulomb=2.0, coulomb_speed=1e-4), POSE, 1e-3) == MOST  # as many, and no refusal


def test_what_is_too_stiff_is_refused_with_a_remedy() -> None:
    with pytest.raises(InputError, match=r"at a rate of 1\.5e\+05/s, which takes 150 steps .*; take a shorter period"):
        choose_substeps(one_joint(viscous=3000.0), POSE, 1e-3)
    assert choose_substeps(one_joint(viscous=3000.0), POSE, 1e-4) == 15
    massless = replace(one_joint(viscous=1.0), links=(Link("base"), Link("arm")))
    with pytest.raises(InputError, match="moves no mass"):
        choose_substeps(massless, POSE, 1e-3)
    with pytest.raises(InputError, match="period of the controller is nan"):
        choose_substeps(one_joint(), POSE, math.nan)


@pytest.mark.parametrize(("name", "steps"), [("xarm7.urdf", 15), ("z1.urdf", 4)])
def test_vendors_arms_with_much_damping_track(name: str, steps: int) -> None:
    robot = vendor(name)
    course = default_reference(robot, SECONDS)
    poses = course(np.linspace(0.0, SECONDS, 300))[0]
    assert abs(choose_substeps(robot, poses, 1e-3) - steps) <= 3
    assert tracked(robot).finished.all()
    assert not tracked(robot, substeps=1).finished.all()  # the twin: gains are not the cause
    smooth = with_smooth_friction(robot)
    found = tracked(smooth)
    assert found.finished.all()
    assert found.tracking_rms[0] < 0.02
    assert found.remarks == ()


def test_without_friction_a_period_is_one_step_bit_for_bit() -> None:
    law = ComputedTorque(PUMA, stiffness=200.0, damping=30.0)
    given: dict[str, Any] = {"seconds": 0.3, "reference": swing(PUMA), "runs": 3, "variation": Variation(position=0.02)}
    free, one, two = (yt.simulate(PUMA, law, **given, substeps=n) for n in (None, 1, 2))
    np.testing.assert_array_equal(free.runs.q, one.runs.q)
    assert np.abs(free.runs.q - two.runs.q).max() > 0.0  # the twin


def test_robots_that_differ_and_parameters_that_jump_are_allowed_for() -> None:
    """Lost, each of them, with the steps that suffice for the robot as described."""
    calm = one_joint(viscous=19.0)
    law = ComputedTorque(one_joint(), stiffness=200.0, damping=30.0)  # friction that it takes for more is no damping
    assert choose_substeps(calm, POSE, 1e-3) == 1
    given: dict[str, Any] = {"seconds": 0.5, "reference": swing(calm)}
    several: dict[str, Any] = given | {"runs": 50, "variation": Variation(parameters=0.5)}
    assert yt.simulate(calm, law, **several).finished.all()
    assert not yt.simulate(calm, law, **several, substeps=1).finished.all()
    jumping: dict[str, Any] = given | {"parameter_changes": [ParameterChange(0.2, {"q1.fv": 100.0})]}
    assert yt.simulate(calm, law, **jumping).finished.all()
    assert not yt.simulate(calm, law, **jumping, substeps=1).finished.all()


def damped_five_bar(viscous: float) -> Robot:
    """Friction in all joints, the cut one included."""
    robot = yt.load("five-bar")
    rubs = Drive(viscous=viscous)
    return replace(
        robot,
        joints=tuple(replace(joint, drive=rubs) for joint in robot.joints),
        loops=tuple(replace(loop, joint=replace(loop.joint, drive=rubs)) for loop in robot.loops),
    )


def test_a_stiff_robot_with_a_loop() -> None:
    robot = damped_five_bar(100.0)
    found, single = tracked(robot), tracked(robot, substeps=1)
    assert found.finished.all()
    assert found.tracking_rms[0] < 0.02
    assert not single.finished.all()
    finer = tracked(robot, substeps=MOST)
    np.testing.assert_allclose(found.runs.q, finer.runs.q, rtol=0.0, atol=1e-4)  # shorter steps change nothing
    poses = default_reference(robot, SECONDS)(np.linspace(0.0, SECONDS, 50))[0]
    bare = replace(robot, loops=yt.load("five-bar").loops)
    assert choose_substeps(bare, poses, 1e-3) < choose_substeps(robot, poses, 1e-3)  # the cut joint rubs too


def test_friction_of_all_drives_is_what_inverse_dynamics_says() -> None:
    """With loops: the odd part of tau in qd is F qd."""
    robot = damped_five_bar(100.0)
    q = default_reference(robot, SECONDS)(np.linspace(0.0, SECONDS, 20))[0]
    tau, still = yt.inverse_dynamics(robot), np.zeros_like(q)
    columns = [0.5 * (tau(q, still + e, still) - tau(q, still - e, still)) for e in np.eye(q.shape[1])]
    rates = np.linalg.eigvals(np.linalg.solve(yt.mass_matrix(robot)(q), np.stack(columns, axis=2))).real
    assert choose_substeps(robot, q, 1e-3) == math.ceil(1e-3 * rates.max())


def test_mujoco_makes_the_steps_too() -> None:
    pytest.importorskip("mujoco")
    stiff = tracked(one_joint(viscous=100.0), plant="mujoco")
    assert stiff.finished.all()
    assert not tracked(one_joint(viscous=100.0), plant="mujoco", substeps=1).finished.all()
    held = tracked(yt.load("five-bar"), plant="mujoco", period=4e-3)  # by springs with a time constant of 1 ms
    assert held.finished.all()
    assert not tracked(yt.load("five-bar"), plant="mujoco", period=4e-3, substeps=1).finished.all()


@pytest.mark.parametrize("substeps", [2, 3, 7])
def test_substeps_repeat_one_kernel(substeps: int) -> None:
    """As the plain loop has it, a run that is lost within a period included."""
    robot = replace(PUMA, joints=tuple(replace(joint, drive=Drive(viscous=2.0)) for joint in PUMA.joints))
    q, qd, _ = swing(robot)(np.zeros(1))
    for damping, ends in ((30.0, True), (9e3, False)):
        law = ComputedTorque(robot, stiffness=200.0, damping=damping)
        given: dict[str, Any] = {"controller": law, "substeps": substeps}
        loop = ClosedLoop(plant=robot, **given)
        fast = loop.run(loop.init(q + 0.1, qd), swing(robot), 0.2)
        slow = PlainLoop(plant=OwnPlant.of(robot), **given).run(q[0] + 0.1, qd[0], swing(robot), 0.2)
        assert fast.finished.all() == slow.finished.all() == ends
        if ends:
            np.testing.assert_allclose(fast.final_q, slow.final_q, rtol=0.0, atol=1e-9)
        else:
            assert fast.lost[0] == slow.lost[0]
            kept = fast.final_controller_state, fast.final_q, fast.rms
            assert all(np.isfinite(values).all() for values in kept)


def test_smoothing_touches_sharp_friction_alone() -> None:
    robot = yt.load("five-bar")
    drives = [Drive(coulomb=0.2), Drive(viscous=0.1), Drive(coulomb=0.3, coulomb_speed=0.4), Drive(coulomb=-0.1)]
    cut = Drive(0.1, 2.0, 0.3, 0.4, 0.5)
    mixed = replace(
        robot,
        joints=tuple(replace(joint, drive=drive) for joint, drive in zip(robot.joints, drives, strict=True)),
        loops=tuple(replace(loop, joint=replace(loop.joint, drive=cut)) for loop in robot.loops),
    )
    found = with_smooth_friction(mixed)
    assert [joint.drive.coulomb_speed for joint in found.joints] == [TURNING, 0.0, 0.4, TURNING]
    assert found.loops[0].joint.drive == replace(cut, coulomb_speed=TURNING)
    assert find_nonsmooth_drives(found) == ()
    np.testing.assert_array_equal(found.theta, mixed.theta)
    assert with_smooth_friction(found) is found
    assert with_smooth_friction(PUMA) is PUMA
    sliding = with_smooth_friction(one_joint(JointKind.PRISMATIC, coulomb=1.0))
    assert sliding.joints[0].drive == Drive(coulomb=1.0, coulomb_speed=SLIDING)


def test_chatter_is_what_a_wrong_sign_does_in_a_period() -> None:
    """More than 0.01 rad/s: h fc / M."""
    just = 0.01 * MASS / 1e-3
    assert find_chattering_drives(one_joint(coulomb=1.01 * just), POSE, 1e-3) == ("q1",)
    assert find_chattering_drives(one_joint(coulomb=0.99 * just), POSE, 1e-3) == ()
    assert find_chattering_drives(one_joint(coulomb=1.01 * just, coulomb_speed=0.05), POSE, 1e-3) == ()
    assert find_chattering_drives(one_joint(coulomb=1.01 * just), POSE, 0.5e-3) == ()


def test_smooth_friction_ends_the_chatter_of_light_joints() -> None:
    robot = vendor("talos_left_arm.urdf")
    sharp, smooth = tracked(robot), tracked(with_smooth_friction(robot))
    assert smooth.tracking_rms[0] < 2e-3
    assert sharp.tracking_rms[0] > 10.0 * smooth.tracking_rms[0]
    (said,) = sharp.remarks
    assert "arm_left_7_joint" in said
    assert "with_smooth_friction(robot)" in said
    assert smooth.remarks == ()


def test_the_command_smooths_and_says_so() -> None:
    given = ("simulate", "five-bar", "--seconds", "0.2", "--controller", "computed-torque")
    result = ytheta(*given)
    assert result.returncode == 0, result.stderr
    (line,) = [line for line in result.stderr.splitlines() if "Coulomb friction" in line]
    assert line.startswith("note: ")
    assert "0.05 rad/s" in line
    assert "coulomb_speed" in line
    assert "Coulomb" not in ytheta("simulate", "lu-puma4", "--seconds", "0.2").stderr  # the twin has none


def test_the_command_takes_substeps() -> None:
    given = ("simulate", "lu-puma4", "--seconds", "0.2", "--controller", "computed-torque", "--json")
    assert ytheta(*given, "--substeps", "1").stdout == ytheta(*given).stdout
    assert ytheta(*given, "--substeps", "2").stdout != ytheta(*given).stdout
    assert "0 steps of the plant per period; give at least 1" in refused(*given, "--substeps", "0")
