"""What ``yt.simulate`` decides: controller and friction, duration, initial error, recorded instants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import ytheta as yt
from tests.support.designed_motion import design_two_link
from tests.support.simulate_cases import LEARN, PUMA, make_slotine_li, swing
from ytheta.control import ControllerSettings
from ytheta.errors import InputError
from ytheta.findings import Severity
from ytheta.simulation.result import SimulationFindingCode
from ytheta.simulation.setup import choose_interval

TWO_LINK = yt.load("lu-two-link")
SCARA = yt.load("ha-scara")


def list_codes(simulation: yt.Simulation) -> list[str]:
    return [finding.code for finding in simulation.findings]


def test_friction_is_smoothed_for_a_name_only() -> None:
    simulation = yt.simulate(SCARA, "computed-torque", seconds=0.1)
    (finding,) = (each for each in simulation.findings if each.code is SimulationFindingCode.SMOOTH_FRICTION)
    assert finding.severity is Severity.REPAIRED
    assert set(finding.names) == {name for name, drive in SCARA.drives if drive.coulomb}
    assert simulation.robot == yt.with_smooth_friction(SCARA)
    smooth = yt.simulate(yt.with_smooth_friction(SCARA), "computed-torque", seconds=0.1)
    assert SimulationFindingCode.SMOOTH_FRICTION not in list_codes(smooth)
    law = yt.control.ComputedTorque(SCARA, stiffness=200.0, damping=30.0)
    given = yt.simulate(SCARA, law, seconds=0.1)
    assert given.robot is SCARA
    assert given.controller is law
    assert SimulationFindingCode.SMOOTH_FRICTION not in list_codes(given)


def test_only_controllers_that_are_created_have_an_initial_error_by_default() -> None:
    created = yt.simulate(TWO_LINK, seconds=0.1, runs=200, every=100)
    nominal = created.controller.unknowns.nominal
    factors = np.log(created.initial_estimate[:, nominal != 0.0] / nominal[nominal != 0.0])
    assert factors.std() == pytest.approx(0.2, rel=0.1)
    exact = yt.simulate(TWO_LINK, seconds=0.1, variation=yt.Variation(initial_error=0.0))
    np.testing.assert_array_equal(exact.initial_estimate[0], nominal)
    estimate = 0.5 * nominal
    started = yt.simulate(TWO_LINK, seconds=0.1, estimate=estimate)
    np.testing.assert_array_equal(started.initial_estimate[0], estimate)
    given = yt.simulate(TWO_LINK, created.controller, seconds=0.1)
    np.testing.assert_array_equal(given.initial_estimate[0], nominal)


def test_an_initial_error_makes_the_model_of_a_law_without_adaptation_inexact() -> None:
    exact, inexact, other = (
        yt.simulate(TWO_LINK, "computed-torque", seconds=0.1, variation=yt.Variation(initial_error=error), rng=rng)
        for error, rng in ((None, 0), (20.0, 0), (20.0, 1))
    )
    theta = TWO_LINK.numeric.theta
    np.testing.assert_array_equal(exact.controller.robot.numeric.theta, theta)
    ratios = inexact.controller.robot.numeric.theta[theta != 0.0] / theta[theta != 0.0]
    assert 0.01 < abs(np.log(ratios)).max() < 1.0
    np.testing.assert_array_equal(inexact.theta[0], theta)
    assert abs(other.controller.robot.numeric.theta - inexact.controller.robot.numeric.theta).max() > 1e-3
    law = yt.control.ComputedTorque(TWO_LINK, stiffness=200.0, damping=30.0)
    with pytest.raises(InputError, match="computed-torque does not estimate parameters"):
        yt.simulate(TWO_LINK, law, seconds=0.1, variation=yt.Variation(initial_error=20.0))


def test_the_duration_is_that_of_the_reference() -> None:
    reference = yt.default_reference(TWO_LINK, 0.3)
    assert yt.simulate(TWO_LINK, reference=reference).runs.seconds == pytest.approx(0.3)
    assert yt.simulate(TWO_LINK, reference=reference, seconds=0.2).runs.seconds == pytest.approx(0.2)
    function = yt.simulate(TWO_LINK, "computed-torque", reference=lambda t: reference(t), rate=100.0)
    assert function.runs.seconds == pytest.approx(10.0)


def test_the_reference_may_be_a_table() -> None:
    t = np.linspace(0.0, 0.5, 501)
    q = 0.1 * np.sin(np.outer(t, [2.0, 3.0]))
    columns = {"t": t, "q1": q[:, 0], "q2": q[:, 1]}
    from_dict, from_frame = (
        yt.simulate(TWO_LINK, "computed-torque", reference=table) for table in (columns, pl.DataFrame(columns))
    )
    np.testing.assert_allclose(from_dict.reference.q, q[:-1], rtol=0.0, atol=1e-6)
    np.testing.assert_array_equal(from_frame.runs.q, from_dict.runs.q)
    assert from_dict.runs.seconds == pytest.approx(0.5)


def test_the_reference_may_be_a_designed_trajectory(tmp_path: Path) -> None:
    trajectory = design_two_link().trajectory
    path = yt.save_trajectory(trajectory, tmp_path / "motion.toml")
    backwards = trajectory.order_joints(trajectory.joints[::-1])
    options: dict[str, Any] = {"seconds": 0.5, "rate": 100.0}
    motions = [
        yt.simulate(TWO_LINK, "computed-torque", reference=each, **options).reference.q
        for each in (path, str(path), backwards)
    ]
    expected = trajectory(np.arange(len(motions[0])) / 100.0)[0]
    for motion in motions:
        np.testing.assert_allclose(motion, expected, rtol=0.0, atol=1e-12)
    with pytest.raises(InputError, match="the trajectory lacks joint3, joint4; name a trajectory of this robot"):
        yt.simulate(PUMA, reference=path)


def test_findings_about_the_log_of_a_reference_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    yt.simulate(PUMA, "computed-torque", seconds=0.5).save(path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:100], lines[99], *lines[100:]]))  # a repeated row
    simulation = yt.simulate(PUMA, "computed-torque", reference=path)
    log = yt.read_log(path, PUMA)
    assert len(log.findings) > 0
    assert simulation.input_findings == log.findings


def test_recorded_instants() -> None:
    assert choose_interval(None, 1, 10.0, 1000.0) == (1, ())
    interval, (finding,) = choose_interval(None, 2, 10.0, 1000.0)
    assert interval == 20
    assert finding.severity is Severity.NOTE
    assert "a rate of 50 Hz" in finding.text
    assert choose_interval(None, 2, 0.5, 1000.0) == (1, ())
    assert choose_interval(1, 2, 10.0, 1000.0) == (1, ())
    with pytest.raises(InputError, match="do not fit into memory"):
        choose_interval(1, 1000, 10.0, 1000.0)
    assert len(yt.simulate(TWO_LINK, "computed-torque", seconds=1.0, runs=2).runs.t) == 500


def test_a_grasped_load_acts_from_its_time_on() -> None:
    load = yt.grasp(2.0, 0.2)
    free, held = (yt.simulate(TWO_LINK, "computed-torque", seconds=0.4, grasp=grasp) for grasp in (None, load))
    before = free.runs.t < 0.2
    np.testing.assert_allclose(held.runs.q[0, before], free.runs.q[0, before], rtol=0.0, atol=1e-12)
    assert abs(held.runs.q[0, -1] - free.runs.q[0, -1]).max() > 1e-3
    assert held.robot.links[-1].name == "grasped"
    on_first = yt.simulate(TWO_LINK, "computed-torque", seconds=0.4, grasp=yt.grasp(2.0, 0.2, on="link1"))
    assert abs(on_first.runs.q[0, -1] - held.runs.q[0, -1]).max() > 1e-4
    law = yt.control.ComputedTorque(TWO_LINK, stiffness=200.0, damping=30.0)
    with pytest.raises(InputError, match=r"grasp\.add_load\(robot\)"):
        yt.simulate(TWO_LINK, law, seconds=0.4, grasp=load)
    for bad, words in (
        ((0.0, 1.0), "mass of a grasped load is 0; give a positive number of kg"),
        ((1.0, -1.0), "grasped is -1; give"),
    ):
        with pytest.raises(InputError, match=words):
            yt.grasp(*bad)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"rate": 0.0}, "give a number of Hz from 0.1"),
        ({"rate": 1e6, "seconds": 1e3}, "fit into memory"),
        ({"seconds": 1e9}, "fit into memory"),
        ({"rng": -1}, "random seed .* is -1"),
        ({"runs": 0}, "give a whole number of runs from 1 to"),
        ({"every": 0}, "every is 0"),
        ({"controller": ControllerSettings("pid")}, "no controller 'pid'"),
        ({"reference": "nowhere.csv"}, "does not exist"),
    ],
)
def test_invalid_arguments_are_rejected(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        yt.simulate(TWO_LINK, **{"seconds": 0.1, **arguments})


def test_a_law_for_another_robot_is_rejected() -> None:
    with pytest.raises(InputError, match="created for a robot with other links"):
        yt.simulate(TWO_LINK, make_slotine_li(PUMA, LEARN), seconds=0.1, reference=swing(TWO_LINK))


@pytest.mark.parametrize("rate", [1000.0, 500.0, 300.0, 100.0])
@pytest.mark.parametrize("seconds", [None, 0.499])
def test_a_logged_reference_is_followed_to_its_last_whole_period(rate: float, seconds: float | None) -> None:
    t = 1e-3 * np.arange(500)  # up to 0.499 s
    reference = yt.LoggedReference(t, yt.default_reference(PUMA, 0.499)(t)[0])
    simulation = yt.simulate(PUMA, "computed-torque", reference=reference, rate=rate, seconds=seconds)
    assert simulation.runs.seconds == pytest.approx(np.floor(0.499 * rate + 1e-6) / rate, abs=1e-9)
