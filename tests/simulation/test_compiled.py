"""Compiled closed loops against a plain Python loop and an adaptive integrator; independence of runs; invalid input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.simulate_cases import LEARN, PUMA, make_puma_loop, make_slotine_li, sample_starts, swing
from ytheta.control.controller import Controller
from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.control.laws.craig import Craig
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.errors import ClosureError, InputError, RobotError
from ytheta.native import compile_graph
from ytheta.simulation import closed_loop
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.mujoco_plant import MujocoPlant
from ytheta.simulation.own_plant import OwnPlant
from ytheta.simulation.plain_loop import PlainLoop, integrate_adaptively
from ytheta.simulation.sensors import Sensor, Sensors


@pytest.mark.parametrize("name", ["lu-puma4", "five-bar", "walker", "craig"])
def test_compiled_and_plain_loops_agree(name: str) -> None:
    robot = ytheta.load("lu-puma4" if name == "craig" else name)
    masses = tuple(name for name in robot.parameter_names if name.endswith(".m"))[-2:]
    controller: Controller = make_slotine_li(robot, masses)
    if name == "craig":
        controller = Craig(robot, stiffness=100.0, damping=20.0, adaptation=2.0, filtering=1.0, learn=masses)
    q, qd = sample_starts(robot, 1, spread=0.02)
    reference, estimate = swing(robot, size=0.1), 0.7 * np.ones((1, 2))
    loop = ClosedLoop(plant=robot, controller=controller, substeps=2)
    fast = loop.run(loop.init(q, qd, estimate=estimate), reference, 0.3)
    plain = PlainLoop(plant=OwnPlant.of(robot), controller=controller, substeps=2)
    slow = plain.run(q[0], qd[0], reference, 0.3, estimate=estimate[0])
    assert fast.finished.all()
    assert slow.finished.all()
    assert fast.advice == ""
    for array in ("t", "q", "qd", "tau", "controller_state", "final_q", "final_qd", "final_controller_state", "rms"):
        # The same formulas in another order of operations; torques are differences of larger numbers.
        np.testing.assert_allclose(getattr(fast, array), getattr(slow, array), rtol=1e-9, atol=1e-9, err_msg=array)
    assert np.abs(fast.final_controller_state - estimate).max() > 1e-5  # it adapts


def test_a_plain_loop_with_another_period_differs() -> None:
    """The twin: the comparison above detects another period."""
    q, qd = sample_starts(PUMA, 1)
    loop = make_puma_loop(substeps=2)
    fast = loop.run(loop.init(q, qd), swing(PUMA), 0.1)
    plain = PlainLoop(plant=OwnPlant.of(PUMA), controller=loop.controller, substeps=2, period=1.001e-3)
    slow = plain.run(q[0], qd[0], swing(PUMA), 0.1)
    assert np.abs(fast.final_q - slow.final_q).max() > 1e-6


def test_runs_are_bit_identical_in_any_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noisy runs do not depend on batches and threads, and a run that is simulated alone is the same."""
    q, qd = sample_starts(PUMA, 11)
    mass = np.linspace(0.3, 1.0, 11)
    sensors = Sensors(q=Sensor(noise=1e-4, step=1e-5, delay=2e-3), qd=Sensor(noise=1e-3, bias=1e-2 * qd))
    loop = make_puma_loop(varied=("load.m",), sensors=sensors)
    initial = loop.init(q, qd, parameters={"load.m": mass})

    def run(threads: int) -> np.ndarray:
        runs = loop.run(initial, swing(PUMA), 0.15, rng=np.random.default_rng(5), threads=threads)
        return np.concatenate([runs.final_q, runs.final_controller_state, runs.rms, runs.read_tau[:, -1]], axis=1)

    whole = run(1)
    monkeypatch.setattr(closed_loop, "RUNS_PER_BATCH", 4)
    np.testing.assert_array_equal(run(2), whole)
    assert len(np.unique(whole[:, 0])) == 11
    streams = np.random.default_rng(5).spawn(11)
    k = 7
    alone = make_puma_loop(sensors=Sensors(q=sensors.q, qd=replace(sensors.qd, bias=1e-2 * qd[k])), varied=("load.m",))
    initial = alone.init(q[k : k + 1], qd[k : k + 1], parameters={"load.m": mass[k : k + 1]})

    class OneStream(np.random.Generator):
        """Returns the stream of run k."""

        def spawn(self, n_children: int) -> list[np.random.Generator]:
            return [streams[k]][:n_children]

    runs = alone.run(initial, swing(PUMA), 0.15, rng=OneStream(np.random.PCG64(0)))
    np.testing.assert_array_equal(runs.final_q[0], whole[k, :4])


def test_each_run_estimates_its_own_parameters() -> None:
    """The estimate of each run approaches the mass of its own load."""
    q, qd = sample_starts(PUMA, 3, spread=0.0)
    mass = np.array([0.2, 0.5, 0.9])
    loop = ClosedLoop(
        plant=PUMA,
        controller=SlotineLi(PUMA, convergence=10.0, damping=8.0, adaptation=1.0, learn=("load.m",)),
        varied=("load.m",),
    )
    runs = loop.run(loop.init(q, qd, parameters={"load.m": mass}), swing(PUMA), 3.0)
    assert runs.unknown_names == ("load.m",)
    assert np.abs(runs.parameter_error(mass[:, None])).max() < 0.02
    assert runs.estimate.shape == (3, 300, 1)
    assert (runs.tracking_rms < 0.05).all()


def test_continuous_loops_agree_with_an_adaptive_integrator() -> None:
    """Without adaptation, controller and plant are one differential equation, which scipy can integrate too."""
    controller = make_slotine_li(PUMA, ("load.m",))
    frozen = SlotineLi(PUMA, convergence=10.0, damping=8.0, adaptation=1e-12, learn=("load.m",))
    q, qd = sample_starts(PUMA, 1)
    reference = swing(PUMA)
    loop = ClosedLoop(plant=PUMA, controller=frozen, period=1e-3, continuous=True)
    compiled = loop.run(loop.init(q, qd), reference, 0.2)
    plant, law = OwnPlant.of(PUMA), compile_graph(frozen.graph)

    def torque(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        target = [values[0] for values in reference(np.array([t]))]
        return law.one(q, qd, *target, frozen.init(q, qd).x)[:4]

    exact = integrate_adaptively(plant, plant.init(q[0], qd[0]), torque, np.array([0.0, 0.2]), tolerance=1e-10)
    np.testing.assert_allclose(compiled.final_q[0], exact.states[-1, :4], rtol=0.0, atol=1e-8)  # RK4 with 1 ms
    held = replace(loop, continuous=False).run(loop.init(q, qd), reference, 0.2)
    assert np.abs(held.final_q[0] - exact.states[-1, :4]).max() > 1e-5  # a held torque differs
    with pytest.raises(InputError, match="continuous loop cannot have substeps"):
        _ = ClosedLoop(plant=PUMA, controller=controller, continuous=True, substeps=2).kernel


@pytest.mark.parametrize("name", ["five-bar", "craig"])
def test_compiled_and_plain_loops_have_the_same_readings(name: str) -> None:
    """With loops, the passive positions are computed from the readings before the controller uses them."""
    robot = ytheta.load("lu-puma4" if name == "craig" else name)
    masses = tuple(name for name in robot.parameter_names if name.endswith(".m"))[-2:]
    controller: Controller = make_slotine_li(robot, masses)
    if name == "craig":
        controller = Craig(robot, stiffness=100.0, damping=20.0, adaptation=2.0, filtering=1.0, learn=masses)
    errors = Sensors(
        q=Sensor(noise=1e-4, bias=1e-3, step=1e-5),
        qd=Sensor(noise=1e-3, delay=1e-3),
        qdd=Sensor(noise=0.1),
        tau=Sensor(scale=0.02),
    )
    q, qd = sample_starts(robot, 1, spread=0.02)
    reference = swing(robot, size=0.1)
    loop = ClosedLoop(plant=robot, controller=controller, sensors=errors)
    fast = loop.run(loop.init(q, qd), reference, 0.2, rng=np.random.default_rng(3), every=1)
    plain = PlainLoop(plant=OwnPlant.of(robot), controller=controller, sensors=errors)
    slow = plain.run(q[0], qd[0], reference, 0.2, rng=np.random.default_rng(3), every=1)
    for array in ("q", "qd", "tau", "controller_state", "read_q", "read_qd", "read_tau", "final_controller_state"):
        np.testing.assert_allclose(getattr(fast, array), getattr(slow, array), rtol=1e-8, atol=1e-8, err_msg=array)
    mean = 0.5 * (fast.tau[:, 1:] + fast.tau[:, :-1])  # of the torques before and after an instant
    np.testing.assert_allclose(fast.read_tau[:, 1:], 1.02 * mean, rtol=1e-12, atol=1e-12)
    exact = replace(loop, sensors=None).run(loop.init(q, qd), reference, 0.2)
    assert np.abs(exact.final_q - fast.final_q).max() > 1e-5


def test_invalid_input_is_rejected() -> None:
    loop = make_puma_loop()
    q, qd = sample_starts(PUMA, 2)
    initial = loop.init(q, qd)
    with pytest.raises(InputError, match="reference must return q, qd and qdd of shape"):
        loop.run(initial, lambda t: (np.zeros((len(t), 3)),) * 3, 0.1)
    bad = np.zeros((101, 4))
    bad[:, 1] = np.nan
    with pytest.raises(InputError, match=r"reference qd of 'joint2' is nan at t = 0"):
        loop.run(initial, lambda t: (np.zeros((len(t), 4)), bad, bad), 0.1)
    ur10 = ytheta.load("ur10")
    ur10_loop = ClosedLoop(plant=ur10, controller=make_slotine_li(ur10, ("forearm_link.m",)))
    with pytest.raises(InputError, match=r"outside its limits .* smaller or slower"):
        ur10_loop.run(ur10_loop.init(np.zeros((1, 6)), np.zeros((1, 6))), swing(ur10, size=9.0), 2.0)
    with pytest.raises(InputError, match="for the same robot"):
        _ = ClosedLoop(plant=ur10, controller=make_slotine_li(PUMA, LEARN)).kernel
    with pytest.raises(InputError, match="add it to ``varied``"):
        loop.init(q, qd, parameters={"load.m": np.ones(2)})
    with pytest.raises(InputError, match=r"q has shape \(2, 3\); give an array of shape \(2, 4\)"):
        loop.init(q[:, :3], qd[:, :3])
    with pytest.raises(InputError, match="qd contains numbers that are not finite"):
        loop.init(q, np.nan * qd)
    with pytest.raises(InputError, match=r"estimate has shape \(2, 1\)"):
        loop.init(q, qd, estimate=np.ones((2, 1)))
    with pytest.raises(InputError, match="positive number such as 1e-3"):
        make_puma_loop(period=0.0)
    with pytest.raises(InputError, match="give at least 1"):
        make_puma_loop(substeps=0)
    with pytest.raises(InputError, match="give at least one period"):
        loop.run(initial, swing(PUMA), 1e-5)
    noisy = make_puma_loop(sensors=Sensors())
    with pytest.raises(InputError, match="sensors need rng"):
        noisy.run(noisy.init(q, qd), swing(PUMA), 0.1)


@pytest.mark.parametrize(("name", "actuated"), [("walker", ("q5", "q3")), ("five-bar", ("left",))])
def test_loops_with_too_few_actuated_coordinates_are_rejected(name: str, actuated: tuple[str, ...]) -> None:
    """If the loops leave more coordinates free than are actuated, nothing determines the others."""
    robot = replace(ytheta.load(name), actuated=actuated)
    law = ComputedTorque(robot, stiffness=100.0, damping=20.0)
    count = len(actuated) + 1
    advice = rf"leave {count} coordinates free, but the actuated ones .* do not determine the rest; choose {count} of"
    with pytest.raises(ClosureError, match=advice):
        _ = ClosedLoop(plant=robot, controller=law).kernel
    rest = np.zeros(len(actuated))
    for plant in (OwnPlant.of(robot), MujocoPlant(robot)):
        with pytest.raises(ClosureError, match=advice):
            PlainLoop(plant=plant, controller=law).run(rest, rest, swing(robot), 0.1)
    with pytest.raises(RobotError, match="neither actuated nor part of a loop, so nothing determines it"):
        replace(ytheta.load("ur10"), actuated=ytheta.load("ur10").actuated[:-1])


def test_progress_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closed_loop, "RUNS_PER_BATCH", 2)
    loop, calls = make_puma_loop(), list[int]()
    loop.run(loop.init(*sample_starts(PUMA, 5)), swing(PUMA), 0.01, progress=calls.append)
    assert calls == [2, 4, 5]
