"""``yt.simulate``: what is drawn, what is true, both plants, and errors that follow."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import ytheta as yt
from tests.support.control_samples import add_friction
from tests.support.simulate_cases import LEARN, PUMA, slotine_li, swing
from ytheta.control.adaptation.gradient import Gradient
from ytheta.control.adaptation.projection import Projection
from ytheta.control.controller import Reference, State
from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.errors import InputError, UnknownNameError
from ytheta.robot.inertia import Inertia
from ytheta.robot.parameters import with_parameters
from ytheta.simulation.closed_loop.compiled import ClosedLoop
from ytheta.simulation.closed_loop.plain import PlainLoop
from ytheta.simulation.parameter_changes import ParameterChange, grasp
from ytheta.simulation.plants.own_plant import OwnPlant
from ytheta.simulation.references.fourier import default_reference
from ytheta.simulation.result import Simulation
from ytheta.simulation.sensors.sensors import Sensor, Sensors
from ytheta.simulation.variation import Variation, sample_variation

ALL = Variation(parameters=0.2, gains=0.1, position=0.05, velocity=0.02, estimate=0.3)


def found(**settings: Any) -> Simulation:
    given: dict[str, Any] = {"seconds": 1.0, "reference": swing(PUMA), "every": 10, **settings}
    return yt.simulate(PUMA, slotine_li(PUMA, LEARN), **given)


@cache
def drawn_runs(runs: int) -> Simulation:
    return found(runs=runs, variation=ALL)


def test_a_run_does_not_depend_on_its_neighbours() -> None:
    few, many = drawn_runs(3), drawn_runs(40)
    np.testing.assert_array_equal(few.theta, many.theta[:3])
    np.testing.assert_array_equal(few.gains, many.gains[:3])  # type: ignore[index]
    np.testing.assert_array_equal(few.runs.q, many.runs.q[:3])
    np.testing.assert_array_equal(few.runs.controller_state, many.runs.controller_state[:3])
    other = found(runs=3, variation=ALL, rng=np.random.default_rng(1))
    assert abs(other.theta - few.theta).max() > 0.01  # the twin draws others


def test_draws_have_the_spread_that_was_asked_for() -> None:
    names = PUMA.parameter_names
    some = sample_variation(PUMA, ALL, gains=3, unknown=LEARN, streams=np.random.default_rng(0).spawn(4000))
    factors = np.log(
        some.theta[:, [names.index("link2.m"), names.index("link3.m")]]
        / PUMA.numeric.theta[[names.index("link2.m"), names.index("link3.m")]]
    )
    for values, spread in ((factors, 0.2), (np.log(some.gains), 0.1), (some.position, 0.05), (some.velocity, 0.02)):
        np.testing.assert_allclose(values.std(axis=0), spread, rtol=0.05)
        np.testing.assert_allclose(values.mean(axis=0), 0.0, atol=0.07 * spread)
    assert abs(np.corrcoef(factors.T)[0, 1]) < 0.06
    alike = sample_variation(PUMA, Variation(), gains=0, unknown=LEARN, streams=np.random.default_rng(0).spawn(2))
    np.testing.assert_array_equal(alike.theta, np.tile(PUMA.numeric.theta, (2, 1)))


def test_a_drawn_link_is_a_body_still() -> None:
    robot = yt.load("ur10")
    some = sample_variation(
        robot,
        Variation(parameters=0.8, estimate=0.8),
        gains=0,
        unknown=robot.parameter_names,
        streams=np.random.default_rng(0).spawn(20),
    )
    for theta in (*some.theta, *(some.estimate * robot.numeric.theta)):
        for k in range(6):
            assert np.linalg.eigvalsh(Inertia(tuple(theta[10 * k : 10 * k + 10].tolist())).pseudo).min() > 0.0
    own = robot.numeric.theta[:10] * np.exp(0.8 * np.random.default_rng(0).normal(size=(20, 10)))
    least = [np.linalg.eigvalsh(Inertia(tuple(ten.tolist())).pseudo).min() for ten in own]
    assert min(least) < 0.0  # the twin: a factor for each parameter makes things that are no bodies


def test_errors_are_those_of_the_definitions() -> None:
    some = drawn_runs(3)
    places = [PUMA.parameter_names.index(name) for name in LEARN]
    np.testing.assert_array_equal(some.truth, some.theta[:, places])
    expected = np.linalg.norm(some.runs.final_estimate - some.truth, axis=1) / np.linalg.norm(some.truth, axis=1)
    np.testing.assert_allclose(some.parameter_error, expected, rtol=1e-14)
    first = np.linalg.norm(some.runs.controller_state[:, 0, :2] - some.truth, axis=1) / np.linalg.norm(some.truth, axis=1)
    np.testing.assert_allclose(some.initial_parameter_error, first, rtol=1e-14)
    assert abs(first - expected).min() > 0.01
    q, _, _ = swing(PUMA)(some.runs.t)
    late = some.runs.t >= 0.8
    last = np.sqrt(np.mean((some.runs.q - q)[:, late] ** 2, axis=1))
    np.testing.assert_allclose(some.last_rms, last, rtol=1e-12)


def test_base_parameters_are_compared_with_those_of_each_robot() -> None:
    robot = yt.load("lu-puma4")
    base = yt.base_parameters(robot)
    law = SlotineLi(robot, base, convergence=10.0, damping=8.0, adaptation=0.5)
    some = yt.simulate(robot, law, seconds=0.5, reference=swing(robot), runs=3, variation=Variation(parameters=0.2))
    np.testing.assert_allclose(some.truth, some.theta @ base.K.T, rtol=1e-12, atol=1e-15)
    assert abs(some.truth - base.beta).max() > 0.01  # the twin: they are not the description's


def test_nothing_learnt_has_no_parameter_error() -> None:
    law = ComputedTorque(PUMA, stiffness=100.0, damping=20.0)
    some = yt.simulate(PUMA, law, seconds=0.2, reference=swing(PUMA))
    assert np.isnan(some.parameter_error).all()
    assert some.tracking_rms[0] < 1e-3


def test_V_is_the_controllers_own_with_the_truth_of_the_moment() -> None:
    held = yt.load("lu-puma4").with_load(Inertia(), name="grasped")
    law = SlotineLi(held, convergence=10.0, damping=8.0, adaptation=2.0, learn=("load.m", "grasped.m"))
    jump = grasp(0.4, Inertia((0.5, *([0.0] * 9))), load="grasped")
    some = yt.simulate(held, law, seconds=0.8, reference=swing(held), parameter_changes=[jump], variation=Variation(estimate=0.2))
    truths, V = some.truth_of(0), some.lyapunov(0)
    own = held.numeric.theta[held.parameter_names.index("load.m")]
    np.testing.assert_array_equal(truths, np.where((some.runs.t >= 0.4 - 1e-9)[:, None], [own, 0.5], [own, 0.0]))
    np.testing.assert_array_equal(some.truth[0], [own, 0.5])
    for k in (0, 20, 39, 40, 60):
        wanted = Reference(some.reference.q[k], some.reference.qd[k], some.reference.qdd[k])
        state = State(0.0, some.runs.controller_state[0, k])
        expected = law.lyapunov(state, some.runs.q[0, k], some.runs.qd[0, k], wanted, truths[k])
        assert V[k] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert V[40] > V[39] + 0.05  # the load is new, and the estimate knows nothing of it
    assert V[-1] < V[40]


def test_V_with_gains_of_each_run() -> None:
    some = drawn_runs(3)
    law = some.controller
    assert some.gains is not None
    factors = dict(zip(some.gain_names, some.gains[1], strict=True))
    own = SlotineLi(
        PUMA,
        learn=LEARN,
        convergence=10.0 * factors["convergence"],
        damping=8.0 * factors["damping"],
        adaptation=2.0 * factors["adaptation"],
    )
    k = 30
    wanted = Reference(some.reference.q[k], some.reference.qd[k], some.reference.qdd[k])
    given = (State(0.0, some.runs.controller_state[1, k]), some.runs.q[1, k], some.runs.qd[1, k], wanted, some.truth[1])
    assert some.lyapunov(1)[k] == pytest.approx(own.lyapunov(*given), rel=1e-9)
    assert abs(law.lyapunov(*given) / own.lyapunov(*given) - 1.0) > 1e-3  # the twin


def test_mujoco_is_a_plant_like_ours() -> None:
    robot = yt.load("ur10")
    damping = 50.0 * yt.mass_matrix(robot).one(np.zeros(6)).diagonal()
    law = SlotineLi(robot, convergence=8.0, damping=damping, adaptation=0.5, learn=("wrist_3_link.m",))
    given: dict[str, Any] = {"seconds": 0.3, "reference": swing(robot), "every": 5, "runs": 2}
    variation = Variation(parameters=0.2, position=0.02, estimate=0.5)
    own, other = (yt.simulate(robot, law, variation=variation, plant=plant, **given) for plant in ("own", "mujoco"))
    np.testing.assert_allclose(other.runs.q, own.runs.q, atol=1e-8)
    np.testing.assert_allclose(other.runs.controller_state, own.runs.controller_state, atol=1e-6)
    np.testing.assert_allclose(other.tracking_rms, own.tracking_rms, rtol=1e-6)
    assert other.plant == "mujoco"
    assert own.finished.all()
    assert abs(own.runs.q[0] - own.runs.q[1]).max() > 1e-3  # the twin: runs differ


def test_runs_that_are_lost_are_lost_alike() -> None:
    robot = yt.load("ur10")
    law = SlotineLi(robot, convergence=8.0, damping=100.0, adaptation=0.5, learn=("wrist_3_link.m",))
    given: dict[str, Any] = {"seconds": 0.3, "reference": swing(robot), "every": 5, "runs": 2}
    variation = Variation(position=0.02)
    own, other = (yt.simulate(robot, law, variation=variation, plant=plant, **given) for plant in ("own", "mujoco"))
    assert not own.finished.any()
    assert not other.finished.any()
    np.testing.assert_allclose(other.runs.diverged_at, own.runs.diverged_at)
    np.testing.assert_allclose(other.tracking_rms, own.tracking_rms, rtol=0.01)  # the last of it grows tenfold a step
    assert "2 of 2 runs did in all" in other.advice


def test_noise_of_a_run_does_not_depend_on_its_neighbours() -> None:
    bias = np.array([[0.0] * 4, [2.0] * 4, [4.0] * 4])
    few, many = (
        found(runs=runs, sensors=Sensors(q=Sensor(noise=1e-3), tau=Sensor(noise=0.1, bias=bias[:runs])))
        for runs in (2, 3)
    )
    np.testing.assert_array_equal(few.runs.read_q, many.runs.read_q[:2])
    np.testing.assert_array_equal(few.runs.read_tau, many.runs.read_tau[:2])
    assert abs(many.runs.read_q[0] - many.runs.read_q[1]).max() > 1e-4


def test_mujoco_reads_with_the_same_errors() -> None:
    robot = yt.load("ur10")
    law = ComputedTorque(robot, stiffness=200.0, damping=30.0)
    noisy = Sensors(q=Sensor(noise=1e-5, bias=np.array([[0.0] * 6, [0.01] * 6])), tau=Sensor(noise=0.1))
    given: dict[str, Any] = {"seconds": 0.1, "reference": swing(robot), "every": 5, "runs": 2, "sensors": noisy}
    own, other = (yt.simulate(robot, law, plant=plant, **given) for plant in ("own", "mujoco"))
    np.testing.assert_allclose(other.runs.read_q, own.runs.read_q, atol=1e-9)
    np.testing.assert_allclose(other.runs.read_tau, own.runs.read_tau, rtol=1e-6, atol=1e-6)


def test_jumps_come_in_the_order_of_time() -> None:
    parameter_changes = [ParameterChange(0.0108, {"load.m": 2.0}), ParameterChange(0.0102, {"load.m": 0.5})]
    law = slotine_li(PUMA, LEARN)
    q, qd, _ = swing(PUMA)(np.zeros(1))
    loop = ClosedLoop(plant=PUMA, controller=law, varied=("load.m",))
    fast = loop.run(loop.init(q, qd), swing(PUMA), 0.05, parameter_changes=parameter_changes, every=1)
    slow = PlainLoop(plant=OwnPlant.of(PUMA), controller=law).run(q[0], qd[0], swing(PUMA), 0.05, parameter_changes=parameter_changes, every=1)
    np.testing.assert_allclose(slow.q, fast.q, atol=1e-12)
    with pytest.raises(InputError, match=r"a jump at t = 0.05 s, but all ends at 0.05 s"):
        found(seconds=0.05, parameter_changes=[ParameterChange(0.05, {"load.m": 7.0})])


def test_an_adaptation_made_for_shorter_steps_is_refused() -> None:
    law = SlotineLi(
        PUMA, convergence=10.0, damping=8.0, adaptation=Projection(Gradient(2.0), 0.1, 1.0), learn=("load.m",)
    )
    with pytest.raises(
        InputError, match=r"steps up to 0.001 s, but the controller works every 0.01 s; give .* step=0.01"
    ):
        yt.simulate(PUMA, law, seconds=0.1, reference=swing(PUMA), period=1e-2)
    longer = replace(law, adaptation=Projection(Gradient(2.0), 0.1, 1.0, step=1e-2))
    assert yt.simulate(PUMA, longer, seconds=0.1, reference=swing(PUMA), period=1e-2).finished.all()


def test_the_torque_of_a_log_belongs_to_its_stamp() -> None:
    """What identify finds in a log without noise is the plant; a torque that is half a period late would be seen."""
    robot = add_friction(yt.load("lu-puma4"))
    law = ComputedTorque(robot, stiffness=200.0, damping=30.0)
    found = yt.simulate(robot, law, seconds=10.0, every=2)
    log = found.log()
    assert log.tau is not None
    fit = yt.identify(robot, log, friction=("viscous", "coulomb"))
    late = yt.identify(robot, replace(log, tau=found.runs.tau[0]), friction=("viscous", "coulomb"))
    truth = fit.base.K @ robot.theta
    large = abs(truth) > 0.05
    wrong, wrong_late = (float(np.median(abs(own.beta[large] / truth[large] - 1.0))) for own in (fit, late))
    assert wrong < 2e-4
    assert wrong_late > 5.0 * wrong  # the twin


def test_sensors_and_their_noise_can_be_repeated() -> None:
    noisy = Sensors(q=Sensor(noise=1e-4), qd=Sensor(noise=1e-3), tau=Sensor(noise=0.1))
    one, same = (found(runs=2, sensors=noisy) for _ in range(2))
    np.testing.assert_array_equal(one.runs.read_q, same.runs.read_q)
    assert 0.5e-4 < np.std(one.runs.read_q - one.runs.q) < 2e-4


def test_what_is_refused() -> None:
    law = slotine_li(PUMA, LEARN)
    with pytest.raises(UnknownNameError, match="no plant 'mujocco'; did you mean 'mujoco'"):
        yt.simulate(PUMA, law, plant="mujocco")
    with pytest.raises(InputError, match="0 runs"):
        yt.simulate(PUMA, law, runs=0)
    with pytest.raises(InputError, match="made for a robot with other links"):
        yt.simulate(yt.load("ur10"), law)
    with pytest.raises(InputError, match="own plant only"):
        yt.simulate(PUMA, law, plant="mujoco", variation=Variation(gains=0.1))
    with pytest.raises(InputError, match="spread of gains is -1"):
        Variation(gains=-1.0)


def test_errors_of_sensors_for_another_number_of_runs_are_refused() -> None:
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


@pytest.mark.parametrize("name", ["five-bar", "palletiser", "walker"])
def test_loops_move_as_in_mujoco_for_two_seconds(name: str) -> None:
    """Under computed torque; MuJoCo holds loops by stiff forces that give way by less than a micrometre."""
    robot = yt.load(name)
    robot = with_parameters(robot, {p: 0.0 for p in robot.parameter_names if p.endswith(".fc")})  # MuJoCo's is another
    law, course = ComputedTorque(robot, stiffness=200.0, damping=30.0), default_reference(robot, 2.0)
    own, other = (yt.simulate(robot, law, seconds=2.0, reference=course, plant=p) for p in ("own", "mujoco"))
    np.testing.assert_allclose(other.runs.q, own.runs.q, rtol=0.0, atol=1e-6)
    assert np.ptp(own.runs.q, axis=1).max() > 0.3
    heavier = with_parameters(robot, {p: 1.01 * v for p, v in zip(robot.parameter_names, robot.theta, strict=True)})
    twin = yt.simulate(heavier, law, seconds=2.0, reference=course)
    assert abs(twin.runs.q - own.runs.q).max() > 1e-5
