"""Compiled closed loops against a plain Python loop and an adaptive method; runs that do not know of each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.simulate_cases import PUMA, puma_loop, slotine_li, starts, swing
from ytheta.control.controller import Controller
from ytheta.control.laws.craig import Craig
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.errors import InputError
from ytheta.native import compile_graph
from ytheta.simulation.closed_loop import compiled as closed_loop
from ytheta.simulation.closed_loop.compiled import ClosedLoop
from ytheta.simulation.closed_loop.plain import PlainLoop
from ytheta.simulation.plants.integration import integrate_adaptively
from ytheta.simulation.plants.own_plant import OwnPlant
from ytheta.simulation.sensors.sensors import Sensor, Sensors


@pytest.mark.parametrize("name", ["lu-puma4", "five-bar", "walker", "craig"])
def test_the_compiled_loop_is_the_plain_one(name: str) -> None:
    robot = ytheta.load("lu-puma4" if name == "craig" else name)
    masses = tuple(n for n in robot.parameter_names if n.endswith(".m"))[-2:]
    controller: Controller = slotine_li(robot, masses)
    if name == "craig":
        controller = Craig(robot, stiffness=100.0, damping=20.0, adaptation=2.0, filtering=1.0, learn=masses)
    q, qd = starts(robot, 1, spread=0.02)
    course, guess = swing(robot, size=0.1), 0.7 * np.ones((1, 2))
    loop = ClosedLoop(plant=robot, controller=controller, substeps=2)
    fast = loop.run(loop.init(q, qd, estimate=guess), course, 0.3)
    plain = PlainLoop(plant=OwnPlant.of(robot), controller=controller, substeps=2)
    slow = plain.run(q[0], qd[0], course, 0.3, estimate=guess[0])
    assert fast.finished.all()
    assert slow.finished.all()
    assert fast.advice == ""
    for what in ("t", "q", "qd", "tau", "controller_state", "final_q", "final_qd", "final_controller_state", "rms"):
        one, other = getattr(fast, what), getattr(slow, what)
        # The same formulae in another order of operations; torques are differences of larger numbers.
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9, err_msg=what)
    assert np.abs(fast.final_controller_state - guess).max() > 1e-5  # it learns


def test_the_plain_loop_with_another_substep_differs() -> None:
    """The twin: what the comparison above would not let pass."""
    q, qd = starts(PUMA, 1)
    loop = puma_loop(substeps=2)
    fast = loop.run(loop.init(q, qd), swing(PUMA), 0.1)
    plain = PlainLoop(plant=OwnPlant.of(PUMA), controller=loop.controller, substeps=2, period=1.001e-3)
    slow = plain.run(q[0], qd[0], swing(PUMA), 0.1)
    assert np.abs(fast.final_q - slow.final_q).max() > 1e-6


def test_each_run_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit for bit: however runs are cut into blocks and threads, with noise, and one by one."""
    q, qd = starts(PUMA, 11)
    mass = np.linspace(0.3, 1.0, 11)
    sensors = Sensors(q=Sensor(noise=1e-4, step=1e-5, delay=2e-3), qd=Sensor(noise=1e-3, bias=1e-2 * qd))
    loop = puma_loop(varied=("load.m",), sensors=sensors)
    start = loop.init(q, qd, parameters={"load.m": mass})

    def run(threads: int) -> np.ndarray:
        found = loop.run(start, swing(PUMA), 0.15, rng=np.random.default_rng(5), threads=threads)
        return np.concatenate([found.final_q, found.final_controller_state, found.rms, found.read_tau[:, -1]], axis=1)

    whole = run(1)
    monkeypatch.setattr(closed_loop, "RUNS_PER_BATCH", 4)
    np.testing.assert_array_equal(run(2), whole)
    assert len(np.unique(whole[:, 0])) == 11
    streams = np.random.default_rng(5).spawn(11)
    k = 7
    alone = puma_loop(sensors=Sensors(q=sensors.q, qd=replace(sensors.qd, bias=1e-2 * qd[k])), varied=("load.m",))
    one = alone.init(q[k : k + 1], qd[k : k + 1], parameters={"load.m": mass[k : k + 1]})

    class Same(np.random.Generator):
        """Hands out the stream of run k."""

        def spawn(self, n_children: int) -> list[np.random.Generator]:
            return [streams[k]][:n_children]

    found = alone.run(one, swing(PUMA), 0.15, rng=Same(np.random.PCG64(0)))
    np.testing.assert_array_equal(found.final_q[0], whole[k, :4])


def test_parameters_of_the_plant_matter_and_are_found() -> None:
    """Lighter and heavier loads: the estimate of each run goes towards its own."""
    q, qd = starts(PUMA, 3, spread=0.0)
    mass = np.array([0.2, 0.5, 0.9])
    loop = ClosedLoop(
        plant=PUMA,
        controller=SlotineLi(PUMA, convergence=10.0, damping=8.0, adaptation=1.0, learn=("load.m",)),
        varied=("load.m",),
    )
    found = loop.run(loop.init(q, qd, parameters={"load.m": mass}), swing(PUMA), 3.0)
    assert found.unknown_names == ("load.m",)
    assert np.abs(found.parameter_error(mass[:, None])).max() < 0.02
    assert found.estimate.shape == (3, 300, 1)
    assert (found.tracking_rms < 0.05).all()


def test_continuous_loops_are_those_of_an_adaptive_method() -> None:
    """Controller and plant as one differential equation: with nothing to learn, scipy integrates the same."""
    controller = slotine_li(PUMA, ("load.m",))
    frozen = SlotineLi(PUMA, convergence=10.0, damping=8.0, adaptation=1e-12, learn=("load.m",))
    q, qd = starts(PUMA, 1)
    course = swing(PUMA)
    loop = ClosedLoop(plant=PUMA, controller=frozen, period=1e-3, continuous=True)
    ours = loop.run(loop.init(q, qd), course, 0.2)
    plant, law = OwnPlant.of(PUMA), compile_graph(frozen.graph)

    def torque(t: float, at: np.ndarray, rate: np.ndarray) -> np.ndarray:
        wanted = [values[0] for values in course(np.array([t]))]
        return law.one(at, rate, *wanted, frozen.init(at, rate).x)[:4]

    exact = integrate_adaptively(plant, plant.init(q[0], qd[0]), torque, np.array([0.0, 0.2]), tolerance=1e-10)
    np.testing.assert_allclose(ours.final_q[0], exact.states[-1, :4], rtol=0.0, atol=1e-8)  # RK4 with 1 ms
    held = replace(loop, continuous=False).run(loop.init(q, qd), course, 0.2)
    assert np.abs(held.final_q[0] - exact.states[-1, :4]).max() > 1e-5  # a torque that is held is another one
    with pytest.raises(InputError, match="continuous loop has no substeps"):
        _ = ClosedLoop(plant=PUMA, controller=controller, continuous=True, substeps=2).kernel


@pytest.mark.parametrize("name", ["five-bar", "craig"])
def test_what_sensors_say_is_what_the_controller_sees(name: str) -> None:
    """Compiled and plain loops read the same; with loops the readings are closed first."""
    robot = ytheta.load("lu-puma4" if name == "craig" else name)
    masses = tuple(n for n in robot.parameter_names if n.endswith(".m"))[-2:]
    controller: Controller = slotine_li(robot, masses)
    if name == "craig":
        controller = Craig(robot, stiffness=100.0, damping=20.0, adaptation=2.0, filtering=1.0, learn=masses)
    errors = Sensors(
        q=Sensor(noise=1e-4, bias=1e-3, step=1e-5),
        qd=Sensor(noise=1e-3, delay=1e-3),
        qdd=Sensor(noise=0.1),
        tau=Sensor(scale=0.02),
    )
    q, qd = starts(robot, 1, spread=0.02)
    course = swing(robot, size=0.1)
    loop = ClosedLoop(plant=robot, controller=controller, sensors=errors)
    fast = loop.run(loop.init(q, qd), course, 0.2, rng=np.random.default_rng(3), every=1)
    plain = PlainLoop(plant=OwnPlant.of(robot), controller=controller, sensors=errors)
    slow = plain.run(q[0], qd[0], course, 0.2, rng=np.random.default_rng(3), every=1)
    for what in ("q", "qd", "tau", "controller_state", "read_q", "read_qd", "read_tau", "final_controller_state"):
        np.testing.assert_allclose(getattr(fast, what), getattr(slow, what), rtol=1e-8, atol=1e-8, err_msg=what)
    felt = 0.5 * (fast.tau[:, 1:] + fast.tau[:, :-1])  # around the stamp
    np.testing.assert_allclose(fast.read_tau[:, 1:], 1.02 * felt, rtol=1e-12, atol=1e-12)
    exact = replace(loop, sensors=None).run(loop.init(q, qd), course, 0.2)
    assert np.abs(exact.final_q - fast.final_q).max() > 1e-5
