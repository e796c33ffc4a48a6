"""``yt.simulate``: independence of runs, both plants, sensors, invalid arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ytheta as yt
from tests.support.simulate_cases import (
    LEARN,
    PUMA,
    VARIATION,
    make_slotine_li,
    simulate_puma,
    simulate_varied_puma,
    swing,
)
from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.errors import InputError, UnknownNameError
from ytheta.robot.parameters import with_parameters
from ytheta.simulation.references import default_reference
from ytheta.simulation.result import SimulationFindingCode
from ytheta.simulation.sensors import Sensor, Sensors
from ytheta.simulation.variation import Variation


def test_a_run_does_not_depend_on_other_runs() -> None:
    few, many = simulate_varied_puma(3), simulate_varied_puma(40)
    np.testing.assert_array_equal(few.theta, many.theta[:3])
    np.testing.assert_array_equal(few.gains, many.gains[:3])  # type: ignore[index]
    np.testing.assert_array_equal(few.runs.q, many.runs.q[:3])
    np.testing.assert_array_equal(few.runs.controller_state, many.runs.controller_state[:3])
    other = simulate_puma(runs=3, variation=VARIATION, rng=np.random.default_rng(1))
    assert abs(other.theta - few.theta).max() > 0.01  # the twin: another seed


def test_the_noise_of_a_run_does_not_depend_on_other_runs() -> None:
    bias = np.array([[0.0] * 4, [2.0] * 4, [4.0] * 4])
    few, many = (
        simulate_puma(runs=runs, sensors=Sensors(q=Sensor(noise=1e-3), tau=Sensor(noise=0.1, bias=bias[:runs])))
        for runs in (2, 3)
    )
    np.testing.assert_array_equal(few.runs.read_q, many.runs.read_q[:2])
    np.testing.assert_array_equal(few.runs.read_tau, many.runs.read_tau[:2])
    assert abs(many.runs.read_q[0] - many.runs.read_q[1]).max() > 1e-4


def test_noise_is_reproducible() -> None:
    noisy = Sensors(q=Sensor(noise=1e-4), qd=Sensor(noise=1e-3), tau=Sensor(noise=0.1))
    first, second = (simulate_puma(runs=2, sensors=noisy) for _ in range(2))
    np.testing.assert_array_equal(first.runs.read_q, second.runs.read_q)
    assert 0.5e-4 < np.std(first.runs.read_q - first.runs.q) < 2e-4


def test_both_plants_agree() -> None:
    robot = yt.load("ur10")
    damping = 50.0 * yt.mass_matrix(robot).one(np.zeros(6)).diagonal()
    law = SlotineLi(robot, convergence=8.0, damping=damping, adaptation=0.5, learn=("wrist_3_link.m",))
    settings: dict[str, Any] = {"seconds": 0.3, "reference": swing(robot), "every": 5, "runs": 2}
    variation = Variation(spread=20.0, start_offset=0.02, initial_error=50.0)
    own, mujoco = (yt.simulate(robot, law, variation=variation, plant=plant, **settings) for plant in ("own", "mujoco"))
    np.testing.assert_allclose(mujoco.runs.q, own.runs.q, atol=1e-8)
    np.testing.assert_allclose(mujoco.runs.controller_state, own.runs.controller_state, atol=1e-6)
    np.testing.assert_allclose(mujoco.tracking_rms, own.tracking_rms, rtol=1e-6)
    assert mujoco.plant == "mujoco"
    assert own.finished.all()
    assert abs(own.runs.q[0] - own.runs.q[1]).max() > 1e-3  # the twin: runs differ


def test_runs_diverge_at_the_same_time_on_both_plants() -> None:
    robot = yt.load("ur10")
    law = SlotineLi(robot, convergence=8.0, damping=100.0, adaptation=0.5, learn=("wrist_3_link.m",))
    settings: dict[str, Any] = {"seconds": 0.3, "reference": swing(robot), "every": 5, "runs": 2}
    variation = Variation(start_offset=0.02)
    own, mujoco = (yt.simulate(robot, law, variation=variation, plant=plant, **settings) for plant in ("own", "mujoco"))
    assert not own.finished.any()
    assert not mujoco.finished.any()
    np.testing.assert_allclose(mujoco.runs.diverged_at, own.runs.diverged_at)
    # The last errors before divergence grow tenfold per step.
    np.testing.assert_allclose(mujoco.tracking_rms, own.tracking_rms, rtol=0.01)
    assert mujoco.findings[-1].code is SimulationFindingCode.DIVERGED
    assert "2 of 2 runs diverged" in mujoco.findings[-1].text


def test_sensor_errors_are_the_same_on_both_plants() -> None:
    robot = yt.load("ur10")
    law = ComputedTorque(robot, stiffness=200.0, damping=30.0)
    noisy = Sensors(q=Sensor(noise=1e-5, bias=np.array([[0.0] * 6, [0.01] * 6])), tau=Sensor(noise=0.1))
    settings: dict[str, Any] = {"seconds": 0.1, "reference": swing(robot), "every": 5, "runs": 2, "sensors": noisy}
    own, mujoco = (yt.simulate(robot, law, plant=plant, **settings) for plant in ("own", "mujoco"))
    np.testing.assert_allclose(mujoco.runs.read_q, own.runs.read_q, atol=1e-9)
    np.testing.assert_allclose(mujoco.runs.read_tau, own.runs.read_tau, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["five-bar", "palletiser", "walker"])
def test_robots_with_loops_move_as_in_mujoco(name: str) -> None:
    """Under computed torque, the stiff forces with which MuJoCo closes loops yield by less than a micrometre."""
    robot = yt.load(name)
    # Remove Coulomb friction, for which MuJoCo has its own law.
    robot = with_parameters(robot, {p: 0.0 for p in robot.parameter_names if p.endswith(".fc")})
    law, reference = ComputedTorque(robot, stiffness=200.0, damping=30.0), default_reference(robot, 2.0)
    own, mujoco = (yt.simulate(robot, law, seconds=2.0, reference=reference, plant=p) for p in ("own", "mujoco"))
    np.testing.assert_allclose(mujoco.runs.q, own.runs.q, rtol=0.0, atol=1e-6)
    assert np.ptp(own.runs.q, axis=1).max() > 0.3
    heavier = with_parameters(robot, {p: 1.01 * v for p, v in zip(robot.parameter_names, robot.theta, strict=True)})
    twin = yt.simulate(heavier, law, seconds=2.0, reference=reference)
    assert abs(twin.runs.q - own.runs.q).max() > 1e-5


def test_invalid_arguments_are_rejected() -> None:
    law = make_slotine_li(PUMA, LEARN)
    with pytest.raises(UnknownNameError, match="no plant 'mujocco'; did you mean 'mujoco'"):
        yt.simulate(PUMA, law, plant="mujocco")
    with pytest.raises(InputError, match="runs is 0"):
        yt.simulate(PUMA, law, runs=0)
    with pytest.raises(InputError, match="created for a robot with other links"):
        yt.simulate(yt.load("ur10"), law)
    with pytest.raises(InputError, match="gains can vary on plant 'own' only"):
        yt.simulate(PUMA, law, plant="mujoco", variation=Variation(gain_spread=10.0))
    with pytest.raises(InputError, match="gain_spread is -1; give one number, 0 or more"):
        Variation(gain_spread=-1.0)


def test_sensor_errors_for_another_number_of_runs_are_rejected() -> None:
    for plant in ("own", "mujoco"):
        robot = yt.load("ur10")
        law = ComputedTorque(robot, stiffness=200.0, damping=30.0)
        with pytest.raises(InputError, match="bias"):
            yt.simulate(
                robot,
                law,
                seconds=0.1,
                reference=swing(robot),
                runs=2,
                plant=plant,
                sensors=Sensors(q=Sensor(bias=np.ones((7, 6)))),
            )
