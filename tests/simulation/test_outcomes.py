"""What comes out of closed loops: loads that are grasped, runs that are lost, logs, refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.simulate_cases import LEARN, PUMA, puma_loop, slotine_li, starts, swing
from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.control.laws.craig import Craig
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.errors import ClosureError, InputError, RobotError
from ytheta.robot.inertia import Inertia
from ytheta.simulation.closed_loop import compiled as closed_loop
from ytheta.simulation.closed_loop.compiled import ClosedLoop
from ytheta.simulation.closed_loop.plain import PlainLoop
from ytheta.simulation.parameter_changes import ParameterChange, grasp
from ytheta.simulation.plants.mujoco_plant import MujocoPlant
from ytheta.simulation.plants.own_plant import OwnPlant
from ytheta.simulation.references.reference import ReferenceTrajectory
from ytheta.simulation.runs import Runs
from ytheta.simulation.sensors.sensors import Sensors


def test_a_load_is_grasped() -> None:
    robot = ytheta.load("ur10").with_load(Inertia())
    base = tuple(n for n in robot.parameter_names if n.startswith("load."))
    damping = 100.0 * ytheta.mass_matrix(robot).one(np.zeros(6)).diagonal()  # the wrist is light
    controller = SlotineLi(robot, convergence=8.0, damping=damping, adaptation=0.5, learn=("load.m",))
    loop = ClosedLoop(plant=robot, controller=controller, varied=base)
    q, qd = starts(robot, 2, spread=0.0)
    course = swing(robot, size=0.2)
    load = Inertia.point_mass(3.0, (0.0, 0.0, 0.1))
    jumped = loop.run(loop.init(q, qd), course, 0.4, parameter_changes=[grasp(0.1, load)], every=1)
    empty = loop.run(loop.init(q, qd), course, 0.4, every=1)
    assert jumped.finished.all()
    difference = np.abs(jumped.q - empty.q).max(axis=(0, 2))
    assert (difference[:101] == 0.0).all()  # the state at 0.1 s is what came before it
    assert difference[102] > 0.0
    assert jumped.final_estimate[0, 0] > empty.final_estimate[0, 0] + 0.1
    plain = PlainLoop(plant=OwnPlant.of(robot), controller=controller)
    slow = plain.run(q[0], qd[0], course, 0.4, parameter_changes=[grasp(0.1, load)], every=1)
    np.testing.assert_allclose(jumped.q[0], slow.q[0], rtol=0.0, atol=1e-9)
    theirs = PlainLoop(plant=MujocoPlant(robot), controller=controller)
    other = theirs.run(q[0], qd[0], course, 0.15, parameter_changes=[grasp(0.1, load)], every=1)
    np.testing.assert_allclose(jumped.q[0, :150], other.q[0], rtol=0.0, atol=1e-8)
    bare = ClosedLoop(plant=robot, controller=controller)
    with pytest.raises(InputError, match=r"'load.m' jumps at .* add it to"):
        bare.run(bare.init(q, qd), course, 0.2, parameter_changes=[ParameterChange(0.1, {"load.m": 1.0})])


def test_a_run_that_diverges_is_an_outcome() -> None:
    controller = SlotineLi(PUMA, convergence=10.0, damping=8.0, adaptation=2.0, learn=LEARN)
    q, qd = starts(PUMA, 6, spread=0.0)
    qd[3] = 400.0  # too fast for steps of 50 ms
    loop = ClosedLoop(plant=PUMA, controller=controller, period=1e-3)
    fine = loop.run(loop.init(q, qd), swing(PUMA), 1.0)
    assert [bool(x) for x in fine.finished] == [True, True, True, False, True, True]
    assert "run 3 left all bounds at t = " in fine.advice
    assert "smaller step or gains" in fine.advice
    assert 0.0 < fine.lost[3] <= 1.0
    for what in ("q", "qd", "tau", "controller_state", "rms", "final_q", "final_controller_state"):
        assert np.isfinite(getattr(fine, what)).all(), what
    alone = loop.run(loop.init(q[:1], qd[:1]), swing(PUMA), 1.0)
    np.testing.assert_array_equal(alone.final_q[0], fine.final_q[0])  # neighbours do not notice
    with pytest.raises(InputError, match="run 3 left all bounds"):
        fine.log(3)
    coarse = ClosedLoop(plant=PUMA, controller=controller, period=0.2)
    lost = coarse.run(coarse.init(q, qd), swing(PUMA), 60.0, every=1)
    assert "6 of 6 runs did" in lost.advice
    plain = PlainLoop(plant=OwnPlant.of(PUMA), controller=controller, period=0.2)
    same = plain.run(q[0], qd[0], swing(PUMA), 60.0)
    assert same.lost[0] == pytest.approx(lost.lost[0])


def test_a_law_without_a_torque_loses_its_run_alone() -> None:
    """Craig's law has none where the estimated mass matrix is not positive definite."""
    law = Craig(PUMA, stiffness=100.0, damping=20.0, filtering=1.0, adaptation=1.0, learn=("load.m",))
    q, qd = starts(PUMA, 3)
    loop = ClosedLoop(plant=PUMA, controller=law)
    found = loop.run(loop.init(q, qd, estimate=np.array([[0.5], [-50.0], [0.5]])), swing(PUMA), 0.05)
    assert found.advice.startswith(
        "run 1 left all bounds at t = 0.001 s: craig: at t = 0 the estimated mass matrix is not"
    )
    np.testing.assert_array_equal(found.final_q[1], q[1])
    assert found.finished.sum() == 2


def test_a_log_of_a_run_identifies() -> None:
    """What is read in a run is a log; its torques are those of its motion."""
    loop = puma_loop()
    q, qd = starts(PUMA, 2)
    found = loop.run(loop.init(q, qd), swing(PUMA), 0.5, every=1)
    log = found.log(1)
    assert (len(log), log.joints) == (500, PUMA.actuated)
    assert log.rate == pytest.approx(1000.0)
    assert log.qd is not None
    qdd = np.gradient(log.qd, log.t, axis=0)
    tau = ytheta.inverse_dynamics(PUMA)(log.q, log.qd, qdd)
    assert log.tau is not None
    middle = slice(20, -20)
    assert np.abs(tau - log.tau)[middle].max() < 2e-3 * np.abs(log.tau).max()
    assert np.abs(tau - found.tau[1])[middle].max() > 4e-3 * np.abs(log.tau).max()  # what was asked for acts later
    with pytest.raises(InputError, match="no run 2"):
        found.log(2)


def test_bad_input() -> None:
    loop = puma_loop()
    q, qd = starts(PUMA, 2)
    start = loop.init(q, qd)
    with pytest.raises(InputError, match="reference must give q, qd and qdd of shape"):
        loop.run(start, lambda t: (np.zeros((len(t), 3)),) * 3, 0.1)
    bad = np.zeros((101, 4))
    bad[:, 1] = np.nan
    with pytest.raises(InputError, match=r"reference qd of 'joint2' is nan at t = 0"):
        loop.run(start, lambda t: (np.zeros((len(t), 4)), bad, bad), 0.1)
    ur10 = ytheta.load("ur10")
    own = ClosedLoop(plant=ur10, controller=slotine_li(ur10, ("forearm_link.m",)))
    with pytest.raises(InputError, match=r"outside its limits .* smaller or slower"):
        own.run(own.init(np.zeros((1, 6)), np.zeros((1, 6))), swing(ur10, size=9.0), 2.0)
    with pytest.raises(InputError, match="were they made for one robot"):
        _ = ClosedLoop(plant=ur10, controller=slotine_li(PUMA, LEARN)).kernel
    with pytest.raises(InputError, match="add it to ``varied``"):
        loop.init(q, qd, parameters={"load.m": np.ones(2)})
    with pytest.raises(InputError, match=r"q has shape \(2, 3\); give an array of shape \(2, 4\)"):
        loop.init(q[:, :3], qd[:, :3])
    with pytest.raises(InputError, match="qd holds numbers that are not finite"):
        loop.init(q, np.nan * qd)
    with pytest.raises(InputError, match=r"estimate has shape \(2, 1\)"):
        loop.init(q, qd, estimate=np.ones((2, 1)))
    with pytest.raises(InputError, match="positive one such as 1e-3"):
        puma_loop(period=0.0)
    with pytest.raises(InputError, match="give at least 1"):
        puma_loop(substeps=0)
    with pytest.raises(InputError, match="give at least one"):
        loop.run(start, swing(PUMA), 1e-5)
    noisy = puma_loop(sensors=Sensors())
    with pytest.raises(InputError, match="sensors need rng"):
        noisy.run(noisy.init(q, qd), swing(PUMA), 0.1)


@pytest.mark.parametrize(("name", "actuated"), [("walker", ("q5", "q3")), ("five-bar", ("left",))])
def test_loops_that_the_motors_do_not_determine_are_refused(name: str, actuated: tuple[str, ...]) -> None:
    """Fewer actuated coordinates than the loops leave free: nothing says what the others do."""
    robot = replace(ytheta.load(name), actuated=actuated)
    law = ComputedTorque(robot, stiffness=100.0, damping=20.0)
    count = len(actuated) + 1
    advice = rf"leave {count} coordinates free, but the actuated ones .* do not determine the rest; choose {count} of"
    with pytest.raises(ClosureError, match=advice):
        _ = ClosedLoop(plant=robot, controller=law).kernel
    still = np.zeros(len(actuated))
    for plant in (OwnPlant.of(robot), MujocoPlant(robot)):
        with pytest.raises(ClosureError, match=advice):
            PlainLoop(plant=plant, controller=law).run(still, still, swing(PUMA), 0.1)
    with pytest.raises(RobotError, match="neither actuated nor part of a loop, so nothing determines it"):
        replace(ytheta.load("ur10"), actuated=ytheta.load("ur10").actuated[:-1])


def test_references_out_of_limits_are_refused_in_every_loop() -> None:
    robot = ytheta.load("walker")
    law = ComputedTorque(robot, stiffness=100.0, damping=20.0)
    loop, plain = ClosedLoop(plant=robot, controller=law), PlainLoop(plant=OwnPlant.of(robot), controller=law)
    (q,), qd = swing(robot)(np.zeros(1))[0], np.zeros(3)

    def compiled(course: ReferenceTrajectory) -> Runs:
        return loop.run(loop.init(q[None], qd[None]), course, 1.0)

    def stepped(course: ReferenceTrajectory) -> Runs:
        return plain.run(q, qd, course, 1.0)

    for run in (compiled, stepped):
        with pytest.raises(
            InputError, match=r"position of 'q5' is 0\.92\d* at t = .* outside its limits 0\.62 … 0\.92"
        ):
            run(swing(robot, size=0.4))
        assert run(swing(robot, size=0.05)).finished.all()  # the twin
    ur10 = ytheta.load("ur10")
    own = ClosedLoop(plant=ur10, controller=slotine_li(ur10, ("forearm_link.m",)))
    fast = np.full((101, 6), 50.0)
    with pytest.raises(
        InputError, match=r"velocity of 'shoulder_pan_joint' is 50 at t = 0 s, outside its limits -2\.16"
    ):
        own.run(own.init(np.zeros((1, 6)), np.zeros((1, 6))), lambda _: (0.0 * fast, fast, 0.0 * fast), 0.1)


@pytest.mark.parametrize("period", [0.05, 1.0])
def test_a_step_too_large_is_an_outcome_in_every_loop(period: float) -> None:
    """No loop ends in NaN, held or continuous, whatever the plant."""
    q, qd = starts(PUMA, 1)
    walker = ytheta.load("walker")
    law = slotine_li(PUMA, LEARN)
    of_loops = ComputedTorque(walker, stiffness=100.0, damping=20.0)
    small = swing(walker, size=0.05)
    ends = []
    for continuous in (False, True):
        loop = ClosedLoop(plant=PUMA, controller=law, period=period, continuous=continuous)
        ends.append(loop.run(loop.init(q, qd), swing(PUMA), 20.0, every=1))
    plain = PlainLoop(plant=OwnPlant.of(PUMA), controller=law, period=period)
    ends.append(plain.run(q[0], qd[0], swing(PUMA), 20.0, every=1))
    theirs = PlainLoop(plant=MujocoPlant(walker), controller=of_loops, period=period)
    ends.append(theirs.run(small(np.zeros(1))[0][0], np.zeros(3), small, 20.0, every=1))
    for end in ends:
        assert not end.finished.any()
        assert "left all bounds at t = " in end.advice
        assert "smaller step or gains" in end.advice
        for what in ("q", "qd", "tau", "controller_state", "rms", "final_q", "final_qd", "final_controller_state"):
            assert np.isfinite(getattr(end, what)).all(), what


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closed_loop, "RUNS_PER_BATCH", 2)
    loop, told = puma_loop(), list[int]()
    loop.run(loop.init(*starts(PUMA, 5)), swing(PUMA), 0.01, progress=told.append)
    assert told == [2, 4, 5]
