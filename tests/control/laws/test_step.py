"""Craig's law with its inverse, the step of every law, torque limits, and how the work grows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.control_samples import TORQUE_TOLERANCE, answer, sample
from tests.support.pinocchio_peer import peer
from ytheta.control.controller import Reference
from ytheta.control.laws.craig import Craig
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.control.warm_start import WarmStartKernel
from ytheta.dynamics import kernels
from ytheta.dynamics.loops.builder import build_constraint
from ytheta.errors import ClosureError, InputError
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot


def test_craig_is_its_formula_with_the_regressor() -> None:
    """H_hat by steps 1 to 3 of lu1993, from Pinocchio's regressor and a wrong estimate."""
    robot = ytheta.load("ur10")
    other, s = peer(robot), sample(robot, 7)
    K_p, K_v, Psi = np.full(6, 90.0) + np.arange(6), np.full(6, 20.0), np.full(6, 8.0) - np.arange(6)
    law = Craig(robot, stiffness=K_p, damping=K_v, filtering=Psi, adaptation=3.0)
    x = law.init(s.q, s.qd).x * 1.1
    tau, rate = answer(law, s, x)
    still = other.regressor(s.q, s.qd, np.zeros(6)) @ x
    H = np.stack([other.regressor(s.q, s.qd, unit) @ x - still for unit in np.eye(6)], axis=1)
    wanted = s.reference.qdd - K_v * s.ed - K_p * s.e
    np.testing.assert_allclose(tau, H @ wanted + still, **TORQUE_TOLERANCE)
    Y = other.regressor(s.q, s.qd, s.qdd)
    expected = -3.0 * Y.T @ np.linalg.solve(H, s.ed + Psi * s.e)
    np.testing.assert_allclose(rate, expected, rtol=1e-8, atol=1e-9 * float(abs(expected).max()))
    twin = -3.0 * Y.T @ (s.ed + Psi * s.e)
    assert abs(rate - twin).max() > 1e-2 * abs(expected).max()


def test_craig_says_when_the_estimated_mass_matrix_has_no_inverse() -> None:
    robot = ytheta.load("lu-two-link")
    law = Craig(robot, stiffness=25.0, damping=10.0, filtering=5.0, adaptation=1.0, learn=("load.m", "load.mx"))
    s = sample(robot, 8)
    answer(law, s, np.array([0.0, 0.0]))
    with pytest.raises(InputError, match=r"craig: at t = 1 the estimated mass matrix is not positive def.*load.m = -9"):
        answer(law, s, np.array([-9.0, 0.0]))


def test_a_step_is_eulers_and_holds_the_torque_of_the_estimate_before() -> None:
    robot = ytheta.load("lu-two-link")
    law, s = SlotineLi(robot, convergence=4.0, damping=2.0, adaptation=1.0), sample(robot, 9)
    state = law.init(s.q, s.qd, t=2.0)
    tau, rate = answer(law, s, state.x)
    for passed in (0.0, 1e-3, 0.5):
        found, after = law.step(state, 2.0 + passed, s.q, s.qd, s.reference)
        np.testing.assert_array_equal(found, tau)
        assert after.t == 2.0 + passed
        np.testing.assert_allclose(after.x, state.x + passed * rate, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(state.x, law.init(s.q, s.qd).x)  # the state before is as it was


def test_torque_limits_cut_the_torque_alone() -> None:
    robot = ytheta.load("lu-puma4")
    s = sample(robot, 10)
    free = SlotineLi(robot, convergence=4.0, damping=2.0, adaptation=1.0)
    x = free.init(s.q, s.qd).x
    tau, rate = answer(free, s, x)
    most = abs(tau) * np.array([0.5, 2.0, 0.5, 2.0])
    limited = SlotineLi(robot, convergence=4.0, damping=2.0, adaptation=1.0, torque_limits=most)
    found, same = answer(limited, s, x)
    np.testing.assert_allclose(found, np.clip(tau, -most, most), rtol=1e-12)
    np.testing.assert_allclose(same, rate, rtol=1e-12)


def chain(n: int) -> Robot:
    """n joints whose axes turn by a right angle from one to the next."""
    links = [
        Link("base"),
        *(Link(f"link{k}", Inertia((1.0, 0.1, 0.02, 0.03, 0.2, 0.0, 0.2, 0.0, 0.0, 0.2))) for k in range(n)),
    ]
    turned = Frame(translation=(0.3, 0.0, 0.0), rotation=((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)))
    joints = [
        Joint(f"joint{k}", JointKind.REVOLUTE, links[k].name, links[k + 1].name, turned, axis=(0.0, 0.0, 1.0))
        for k in range(n)
    ]
    return Robot("chain", tuple(links), tuple(joints))


def test_work_grows_with_the_number_of_joints_not_its_square() -> None:
    """Every further joint costs the same; a regressor, the twin, costs more with each."""
    sizes = (4, 8, 12)
    laws = [SlotineLi(chain(n), convergence=4.0, damping=2.0, adaptation=1.0).graph for n in sizes]
    regressors = [kernels.regressor(chain(n), reference=True).graph for n in sizes]
    first, second = np.diff([graph.function.n_instructions() for graph in laws])
    assert first == pytest.approx(second, rel=0.02)
    first, second = np.diff([graph.function.n_instructions() for graph in regressors])
    assert second > 1.2 * first


def pose(robot: Robot) -> np.ndarray:
    home = dict(zip(robot.coordinates, robot.home_coordinates, strict=True))
    return np.array([home[name] for name in robot.actuated])


@pytest.mark.parametrize("name", ["five-bar", "walker", "palletiser"])
def test_loops_are_closed_from_the_step_before(name: str) -> None:
    """The same torque as where they are closed from home each time; a pose that is far away is not believed."""
    robot = ytheta.load(name)
    rng, start = np.random.default_rng(0), pose(robot)
    n = len(start)
    law = SlotineLi(robot, convergence=5.0, damping=10.0, adaptation=0.1, learn=("*.m",))
    still, state = Reference(start, np.zeros(n), np.zeros(n)), law.init(start, np.zeros(n))
    for k in range(40):
        q, qd = start + 0.05 * np.sin(0.1 * k * np.arange(1, n + 1)), rng.normal(size=n)
        tau, after = law.step(state, 1e-3 * k, q, qd, still)
        fresh, _ = law.step(replace(state, warm_start=None), 1e-3 * k, q, qd, still)
        np.testing.assert_allclose(tau, fresh, rtol=1e-9, atol=1e-9 * abs(fresh).max())
        state = after
    assert state.warm_start is not None
    believed = WarmStartKernel(build_constraint(robot), law.graph)._kernel
    astray = state.warm_start.copy()
    astray[[k for k in range(len(astray)) if k not in build_constraint(robot).actuated]] += 2.0
    given = (qd, still.q, still.qd, still.qdd, state.x)
    tau, back = (law.step(replace(state, warm_start=pose), 1.0, q, qd, still)[0] for pose in (state.warm_start, astray))
    np.testing.assert_allclose(back, tau, rtol=1e-9, atol=1e-9 * abs(tau).max())
    if build_constraint(robot).affine is None:
        assert not believed.one(q, astray, *given)[-1] <= 1.0  # the twin: it would have gone on from there


def test_a_pose_that_cannot_close_is_refused_in_a_step() -> None:
    robot = ytheta.load("five-bar")
    law = SlotineLi(robot, convergence=5.0, damping=10.0, adaptation=0.1, learn=())
    q, still = pose(robot), np.zeros(2)
    _, state = law.step(law.init(q, still), 0.0, q, still, Reference(q, still, still))
    apart = q + np.array([-1.6, 1.6])
    with pytest.raises(ClosureError):
        law.step(state, 0.1, apart, still, Reference(q, still, still))
    with pytest.raises(InputError, match="input 'q' is nan"):
        law.step(state, 0.1, np.full(2, np.nan), still, Reference(q, still, still))
    with pytest.raises(InputError, match="input 'q' is nan"):
        law.step(replace(state, warm_start=None), 0.1, np.full(2, np.nan), still, Reference(q, still, still))
