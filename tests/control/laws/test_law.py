"""The base of all laws: explicit Euler steps, torque limits, and operations per joint."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta
from tests.support.control_samples import evaluate_law, random_sample
from tests.support.lyapunov import two_link_arm
from ytheta.control.controller import Reference, State
from ytheta.control.laws.pd_gravity import PDGravity
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.dynamics import kernels
from ytheta.errors import InputError
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot


def test_a_step_is_explicit_euler_and_holds_the_torque_of_the_previous_estimate() -> None:
    robot = ytheta.load("lu-two-link")
    law, s = SlotineLi(robot, convergence=4.0, damping=2.0, adaptation=1.0), random_sample(robot, 9)
    state = law.init(s.q, s.qd, t=2.0)
    tau, rate = evaluate_law(law, s, state.x)
    for elapsed in (0.0, 1e-3, 0.5):
        held, after = law.step(state, 2.0 + elapsed, s.q, s.qd, s.reference)
        np.testing.assert_array_equal(held, tau)
        assert after.t == 2.0 + elapsed
        np.testing.assert_allclose(after.x, state.x + elapsed * rate, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(state.x, law.init(s.q, s.qd).x)  # the previous state is unchanged


def test_torque_limits_clip_the_torque_only() -> None:
    robot = ytheta.load("lu-puma4")
    s = random_sample(robot, 10)
    unlimited = SlotineLi(robot, convergence=4.0, damping=2.0, adaptation=1.0)
    x = unlimited.init(s.q, s.qd).x
    tau, rate = evaluate_law(unlimited, s, x)
    limits = abs(tau) * np.array([0.5, 2.0, 0.5, 2.0])
    limited = SlotineLi(robot, convergence=4.0, damping=2.0, adaptation=1.0, torque_limits=limits)
    clipped, same_rate = evaluate_law(limited, s, x)
    np.testing.assert_allclose(clipped, np.clip(tau, -limits, limits), rtol=1e-12)
    np.testing.assert_allclose(same_rate, rate, rtol=1e-12)


def test_torque_limits_may_be_infinite_for_some_joints() -> None:
    """A description may limit some joints only."""
    q, reference = np.zeros(2), Reference(np.ones(2), np.zeros(2), np.zeros(2))
    unlimited, limited = (
        PDGravity(two_link_arm(), stiffness=1e4, damping=1.0, torque_limits=limits) for limits in (None, [50.0, np.inf])
    )
    tau = unlimited.step(unlimited.init(q, q), 0.0, q, q, reference)[0]
    clipped = limited.step(limited.init(q, q), 0.0, q, q, reference)[0]
    np.testing.assert_allclose(clipped, [50.0, tau[1]])
    assert tau.min() > 50.0


def test_divergence_raises() -> None:
    law, q = SlotineLi(two_link_arm(), convergence=5.0, damping=3.0, adaptation=0.5), np.zeros(2)
    state = State(0.0, np.full(len(law.unknown_names), 1e300))
    with pytest.raises(InputError, match="the loop is unstable; use smaller gains or steps"):
        law.step(state, 0.0, q, np.full(2, 1e30), Reference(q, q, q))


def make_chain(n: int) -> Robot:
    """Return a chain of n joints, each axis at a right angle to the previous one."""
    links = [
        Link("base"),
        *(Link(f"link{k}", Inertia((1.0, 0.1, 0.02, 0.03, 0.2, 0.0, 0.2, 0.0, 0.0, 0.2))) for k in range(n)),
    ]
    rotated = Frame(translation=(0.3, 0.0, 0.0), rotation=((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)))
    joints = [
        Joint(f"joint{k}", JointKind.REVOLUTE, links[k].name, links[k + 1].name, rotated, axis=(0.0, 0.0, 1.0))
        for k in range(n)
    ]
    return Robot("chain", tuple(links), tuple(joints))


def test_work_grows_linearly_with_the_number_of_joints() -> None:
    """Every further joint of a law costs the same; in a regressor, the twin, each costs more than the one before."""
    sizes = (4, 8, 12)
    laws = [SlotineLi(make_chain(n), convergence=4.0, damping=2.0, adaptation=1.0).graph for n in sizes]
    regressors = [kernels.regressor(make_chain(n), reference=True).graph for n in sizes]
    first, second = np.diff([graph.function.n_instructions() for graph in laws])
    assert first == pytest.approx(second, rel=0.02)
    first, second = np.diff([graph.function.n_instructions() for graph in regressors])
    assert second > 1.2 * first


def test_time_must_increase_from_step_to_step() -> None:
    robot = ytheta.load("lu-two-link")
    law = SlotineLi(robot, convergence=10.0, damping=8.0, adaptation=0.5)
    target = Reference(np.full(2, 0.1), np.zeros(2), np.zeros(2))
    q = qd = np.zeros(2)
    _, state = law.step(law.init(q, qd), 0.0, q, qd, target)  # the first step may be at the start
    _, state = law.step(state, 0.001, q, qd, target)
    with pytest.raises(InputError, match="t is the time, which must increase"):
        law.step(state, 0.001, q, qd, target)  # 0.001 as a time step
    for method in (law.init, law.step, law.lyapunov):
        assert method.__doc__


def test_a_law_prints_its_gains() -> None:
    robot = ytheta.load("lu-two-link")
    law = SlotineLi(robot, convergence=10.0, damping=[[8.0, 1.0], [1.0, 7.0]], adaptation=0.5, learn=("link1.m",))
    text = str(law)
    assert [line.split() for line in text.splitlines()[2:4]] == [["damping", "joint1", "8", "1"], ["joint2", "1", "7"]]
    assert "adaptation gain  0.5" in text
    assert "1 parameters: link1.m" in text
    assert repr(law).startswith(
        "SlotineLi(lu-two-link, convergence=10, damping=<2 x 2 numbers>, adaptation=Gradient(0.5)"
    )
