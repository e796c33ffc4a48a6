"""Suggested gains: tracking with a wrong model, scaled robots, other periods, and invalid arguments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.suggested_gains import (
    MODEL_SCALE,
    RATE,
    base_of,
    error_bound,
    late_rms_error,
    load_robot,
    make_law,
    reference_of,
    sample,
    scale_inertias,
    scale_lengths,
    simulate,
    track_with_wrong_model,
)
from ytheta.control.laws.law import AdaptiveLaw
from ytheta.control.settings import CONTROLLERS, find_controller
from ytheta.control.tuning import suggest_gains
from ytheta.errors import InputError
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot

ADAPTIVE_LAWS = tuple(name for name in CONTROLLERS if issubclass(find_controller(name), AdaptiveLaw))
BALL = ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1))  # kg m²

# All laws are tested on a serial arm, on an arm with a prismatic joint and on one with a loop, slotine-li on all other
# robots. Compilation takes most of the time: all laws on arms with six and seven joints would take minutes.
ROBOTS_FOR_ALL_LAWS = ("lu-two-link", "ha-scara", "five-bar")
OTHER_ROBOTS = ("ur10", "iiwa14", "lu-puma4", "palletiser", "panda", "puma560-mdh", "puma560", "stanford", "walker")
PAIRS = [
    *((robot, law) for robot in ROBOTS_FOR_ALL_LAWS for law in CONTROLLERS),
    *((robot, "slotine-li") for robot in OTHER_ROBOTS),
]


@pytest.mark.parametrize(("robot", "law"), PAIRS)
def test_a_robot_tracks_with_a_wrong_model_and_suggested_gains(robot: str, law: str) -> None:
    error, bound = track_with_wrong_model(robot, law)
    assert error < bound
    assert error < 0.1  # rad or m, of a motion of 1 rad or m


@pytest.mark.parametrize("robot", ROBOTS_FOR_ALL_LAWS)
def test_adaptation_leaves_smaller_errors_than_computed_torque(robot: str) -> None:
    computed_torque, _ = track_with_wrong_model(robot, "computed-torque")
    for law in ADAPTIVE_LAWS:
        assert track_with_wrong_model(robot, law)[0] < computed_torque
    assert track_with_wrong_model(robot, "slotine-li")[0] < 0.25 * computed_torque


@pytest.mark.parametrize("factors", [{"damping": 100.0}, {"adaptation": 1e4}])
def test_much_larger_gains_diverge(factors: dict[str, float]) -> None:
    """The twin of the tests above."""
    plant, reference = load_robot("lu-two-link"), reference_of("lu-two-link")
    model = scale_inertias(plant, MODEL_SCALE)
    law = make_law("slotine-li", model, base_of("lu-two-link"), sample(reference), factors=factors)
    runs = simulate(law, plant, reference)
    assert not runs.finished.any()
    assert "diverged at t = " in runs.advice


@pytest.mark.parametrize("robot", ["ha-scara", "five-bar"])
def test_friction_can_be_unknown_as_well(robot: str) -> None:
    """The model has half the friction. With adaptation of friction, its estimate converges and tracking is better."""
    plant, reference, base = load_robot(robot), reference_of(robot), base_of(robot)

    def halve_friction(drive: Drive) -> Drive:
        return replace(drive, viscous=0.5 * drive.viscous, coulomb=0.5 * drive.coulomb)

    joints = tuple(replace(joint, drive=halve_friction(joint.drive)) for joint in plant.joints)
    model = scale_inertias(replace(plant, joints=joints), MODEL_SCALE)
    motion = sample(reference)
    with_friction, without_friction = (
        make_law("slotine-li", model, base, motion, learn=learn)
        for learn in ((*base.independent, "*.fv", "*.fc"), base.independent)
    )
    runs, other_runs = (simulate(law, plant, reference) for law in (with_friction, without_friction))
    assert runs.tracking_rms[0] < other_runs.tracking_rms[0]
    assert late_rms_error(runs, reference) < error_bound(with_friction, plant, motion)
    names = [f"{name}.fc" for name in plant.actuated]
    indices = [with_friction.unknown_names.index(name) for name in names]
    truth = plant.theta[[plant.parameter_names.index(name) for name in names]]
    errors = np.abs(runs.final_estimate[0, indices] - truth)
    assert np.median(errors / truth) < 0.4  # 0.5 at the start; some joints hardly reverse in five seconds


@pytest.mark.parametrize("law", ["slotine-li", "craig", "pd-gravity"])
def test_masses_times_a_thousand_give_the_same_motion(law: str) -> None:
    """Gains in N m grow by the same factor, those in 1/s do not change. Friction is scaled too."""

    def scale_robot(robot: Robot, factor: float) -> Robot:
        def scale_drive(drive: Drive) -> Drive:
            return replace(drive, viscous=factor * drive.viscous, coulomb=factor * drive.coulomb, rotor_inertia=factor)

        joints = tuple(replace(joint, drive=scale_drive(joint.drive)) for joint in robot.joints)
        return scale_inertias(replace(robot, joints=joints), factor)

    reference, base = reference_of("ha-scara"), base_of("ha-scara")
    results = []
    for factor in (1.0, 1000.0):
        plant = scale_robot(load_robot("ha-scara"), factor)
        controller = make_law(law, scale_inertias(plant, MODEL_SCALE), base, sample(reference))
        results.append(simulate(controller, plant, reference))
    light, heavy = results
    assert light.finished.all()
    np.testing.assert_allclose(light.q, heavy.q, rtol=0.0, atol=1e-6)  # rounding, after 5000 periods
    np.testing.assert_allclose(1000.0 * light.tau, heavy.tau, rtol=1e-4, atol=1e-3)


def test_lengths_and_gravity_times_ten_give_the_same_motion() -> None:
    small, reference = load_robot("lu-two-link").numeric, reference_of("lu-two-link")
    x, y, z = (10.0 * g for g in small.gravity)
    large = replace(scale_lengths(small, 10.0), gravity=(x, y, z))
    small_runs, large_runs = (
        simulate(
            make_law(
                "slotine-li", scale_inertias(robot, MODEL_SCALE), ytheta.base_parameters(robot), sample(reference)
            ),
            robot,
            reference,
        )
        for robot in (small, large)
    )
    assert small_runs.finished.all()
    np.testing.assert_allclose(small_runs.q, large_runs.q, rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("period", [4e-3, 2.5e-4])
@pytest.mark.parametrize("law", ["slotine-li", "quasi-computed-torque", "computed-torque"])
def test_a_robot_tracks_with_other_periods(law: str, period: float) -> None:
    plant, reference = load_robot("ha-scara"), reference_of("ha-scara")
    motion = sample(reference)
    controller = make_law(law, scale_inertias(plant, MODEL_SCALE), base_of("ha-scara"), motion, period=period)
    error = late_rms_error(simulate(controller, plant, reference, period=period), reference)
    assert error < error_bound(controller, plant, motion)


def test_a_heavy_unknown_load_is_tracked_better_with_adaptation() -> None:
    """A UR10 carries its maximum load, 10 kg. The description has a load without mass.

    The described wrist has no rotors and is light, so its gains are small: the load causes large errors at first, but
    the loop does not diverge.
    """
    model = load_robot("ur10").with_load(Inertia())
    plant = model.with_inertias({"load": Inertia.about_center(10.0, (0.0, 0.0, 0.1), BALL)})
    reference = reference_of("ur10")
    motion, base = sample(reference), ytheta.base_parameters(model)
    adaptive_error, constant_error = (
        late_rms_error(simulate(make_law(name, model, base, motion), plant, reference), reference)
        for name in ("slotine-li", "computed-torque")
    )
    assert adaptive_error < 0.9 * constant_error


def test_invalid_arguments_are_refused() -> None:
    robot = load_robot("lu-two-link")
    q, qd, qdd = sample(reference_of("lu-two-link"))
    with pytest.raises(InputError, match="rate is 0; give a positive number of Hz"):
        suggest_gains("slotine-li", robot, motion=(q, qd, qdd), rate=0.0)
    with pytest.raises(InputError, match="one row for each sample and 2 columns"):
        suggest_gains("slotine-li", robot, motion=(q[:, :1], qd[:, :1], qdd[:, :1]), rate=RATE)
    with pytest.raises(InputError, match="there is no controller 'pid'"):
        suggest_gains("pid", robot, motion=(q, qd, qdd), rate=RATE)
