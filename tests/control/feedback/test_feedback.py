"""Closed loops with feedback laws: torques by formula, the balance of V with the law's storage, laws forced through."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson

import ytheta
from tests.support.control_samples import evaluate_law, perturb, random_sample
from tests.support.feedback_laws import AntiDamping, LinkSprings, Saturating, SaturatingIntegral
from tests.support.simulate_cases import swing
from ytheta.control.feedback.feedback import Feedback
from ytheta.control.feedback.pid import PDFeedback, PIDFeedback
from ytheta.control.laws.walker import Walker
from ytheta.dynamics import kernels
from ytheta.dynamics.constraint import build_constraint
from ytheta.dynamics.loop_solver import solve
from ytheta.papers.tracking import evaluate_lyapunov
from ytheta.papers.walker1988_control import load_without_coulomb
from ytheta.robot.parameters import with_parameters
from ytheta.robot.robot import Robot
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.runs import Runs

LAMBDA = 5.0
SMALL_PID = PIDFeedback(stiffness=40.0, integral=30.0, damping=5.0)


def make_law(robot: Robot, feedback: Feedback, learn: tuple[str, ...] | None = None) -> Walker:
    names = tuple(n for n in robot.parameter_names if n.endswith((".m", ".fv"))) if learn is None else learn
    return Walker(robot, convergence=LAMBDA, feedback=feedback, adaptation=0.5, learn=names)


def compute_joint_rates(robot: Robot, q: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """E times rates of the actuated coordinates, one row per instant: the rates of all joints, as in ``robot.moving``.

    In planar mechanisms, the rates of the joints that close loops are constant combinations of the others.
    """
    loops = build_constraint(robot)
    x = solve(loops, q).or_raise().x
    xd = np.array([np.array(loops.tangent(row)) @ rate for row, rate in zip(x, rates, strict=True)])
    return np.concatenate([xd, xd @ loops.cut_rates.astype(float).T], axis=1)


# --- torques ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["lu-two-link", "five-bar"])
def test_pd_and_pid_add_their_torques_at_the_actuated_joints(name: str) -> None:
    """tau changes by -dK_p e - dK_i z - dK_d ed if the gains change; the twin forgets the integral."""
    robot = ytheta.load(name)
    s = random_sample(robot)
    law = make_law(robot, SMALL_PID)
    other = make_law(robot, PIDFeedback(stiffness=47.0, integral=33.0, damping=5.5))
    pd = make_law(robot, PDFeedback(stiffness=40.0, damping=5.0))
    x = perturb(law.init(s.q, s.qd).x)
    n, z = len(robot.actuated), np.linspace(0.1, 0.3, len(robot.actuated))
    x[-n:] = z
    (tau, rate), (other_tau, _), (pd_tau, _) = (
        evaluate_law(controller, s, state) for controller, state in ((law, x), (other, x), (pd, x[:-n]))
    )
    scale = abs(tau).max()
    np.testing.assert_allclose(other_tau - tau, -7.0 * s.e - 3.0 * z - 0.5 * s.ed, rtol=0.0, atol=1e-11 * scale)
    np.testing.assert_allclose(tau - pd_tau, -30.0 * z, rtol=0.0, atol=1e-11 * scale)
    np.testing.assert_allclose(rate[-n:], s.e, rtol=1e-12, atol=1e-15)
    assert abs(other_tau - tau + 7.0 * s.e + 0.5 * s.ed).max() > 0.1  # the twin


@pytest.mark.parametrize("feedback", [SMALL_PID, Saturating(8.0, 0.2), LinkSprings(20.0, 4.0)], ids=repr)
@pytest.mark.parametrize("name", ["lu-two-link", "five-bar"])
def test_recursion_on_floats_is_the_graph(name: str, feedback: Feedback) -> None:
    """Also with states of joints and links, as the paper's procedures on numbers."""
    robot = ytheta.load(name)
    s, law = random_sample(robot, 4), make_law(robot, feedback)
    x = perturb(law.init(s.q, s.qd).x)
    (tau, rate), (numeric_tau, w) = evaluate_law(law, s, x), law.evaluate(x, s.q, s.qd, s.reference)
    np.testing.assert_allclose(numeric_tau, tau, rtol=0.0, atol=1e-12 * abs(tau).max())
    np.testing.assert_allclose(-0.5 * w, rate[: len(w)], rtol=0.0, atol=1e-12 * abs(rate).max())


# --- the balance of V -------------------------------------------------------------------------------------------------


def compute_power(robot: Robot, feedback: Feedback, run: Runs, reference: tuple[np.ndarray, ...]) -> np.ndarray:
    """-dV/dt at every instant by the formulas of the laws, with E of the loop constraint."""
    e = run.q[0] - reference[0]
    r = run.qd[0] - reference[1] + LAMBDA * e
    if isinstance(feedback, PDFeedback | PIDFeedback):
        K_i = np.asarray(feedback.integral) if isinstance(feedback, PIDFeedback) else 0.0
        K_p, K_d = np.asarray(feedback.stiffness), np.asarray(feedback.damping)
        terms = K_d * r**2 + LAMBDA * (K_p - LAMBDA * K_d - K_i / LAMBDA) * e**2
    elif isinstance(feedback, SaturatingIntegral):
        terms = feedback.damping * np.tanh(r) * r
    elif isinstance(feedback, LinkSprings):
        links = with_parameters(robot, {p: 0.0 for p in robot.parameter_names if p.endswith(".Ia")})
        M = kernels.mass_matrix(links)(run.q[0])
        terms = feedback.damping * np.einsum("ti,tij->tj", r, M) * r
    else:
        assert isinstance(feedback, Saturating)
        rates = compute_joint_rates(robot, run.q[0], r)
        terms = feedback.limit * np.tanh(rates / feedback.width) * rates
    return np.asarray(terms.sum(axis=1))


def simulate(law: Walker, *, offset: float = 0.02, seconds: float = 0.2) -> tuple[Runs, tuple[np.ndarray, ...]]:
    """Simulate in continuous time from 80 % of the masses. Return the run and its reference."""
    robot, reference = law.robot, swing(law.robot, size=0.03)
    loop = ClosedLoop(plant=robot, controller=law, continuous=True)
    q, qd, _ = reference(np.zeros(1))
    estimate = np.where([n.endswith(".fv") for n in law.unknown_names], 0.1, 0.8 * law.unknowns.nominal)
    run = loop.run(loop.init(q + offset, qd, estimate=estimate[None]), reference, seconds, every=1)
    assert run.finished.all()
    return run, reference(run.t)


@pytest.mark.parametrize(
    ("name", "feedback"),
    [
        ("five-bar", PDFeedback(stiffness=8.0, damping=1.0)),
        ("five-bar", PIDFeedback(stiffness=8.0, integral=10.0, damping=1.0)),
        ("five-bar", Saturating(0.3, 0.3)),
        ("five-bar", SaturatingIntegral(1.0, 3.0)),
        ("five-bar", LinkSprings(50.0, 10.0)),
        ("walker", PIDFeedback(stiffness=[2e4, 2e4, 200.0], integral=[1e4, 1e4, 100.0], damping=[3e3, 3e3, 30.0])),
        ("walker", Saturating(30.0, 0.5)),
    ],
    ids=repr,
)
def test_lyapunov_function_falls_by_the_power_of_the_feedback(name: str, feedback: Feedback) -> None:
    """V with the storage of the law, along a trajectory of a robot with loops. The twin dissipates a tenth less."""
    robot = load_without_coulomb(name)
    law = make_law(robot, feedback)
    run, reference = simulate(law)
    V = evaluate_lyapunov(law, run, reference)
    dissipated = cumulative_simpson(compute_power(robot, feedback, run, reference), x=run.t, initial=0.0)
    assert (np.diff(V) < 0.0).all()
    assert abs(V - V[0] + dissipated).max() < 1e-4 * dissipated[-1]
    assert abs(V - V[0] + 0.9 * dissipated).max() > 1e-2 * dissipated[-1]  # the twin


def test_a_refused_law_that_is_forced_through_makes_the_lyapunov_function_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check is replaced by nothing: then V rises while the velocity error exceeds ½. The twin falls."""
    monkeypatch.setattr("ytheta.control.laws.spatial_control.check_conditions", lambda *_, **__: None)
    robot = load_without_coulomb("five-bar")
    rises = []
    for feedback in (AntiDamping(0.3), Saturating(0.3, 0.3)):
        law = make_law(robot, feedback)
        rises.append(np.diff(evaluate_lyapunov(law, *simulate(law, offset=0.3, seconds=0.1))).max())
    assert rises[0] > 1e-3
    assert rises[1] < 0.0


def test_the_integral_removes_the_error_that_an_unknown_load_leaves() -> None:
    """The load of the plant is heavier than that of the controller, which adapts friction only."""
    robot = ytheta.load("lu-two-link")
    plant = with_parameters(robot, {"load.m": 2.0})
    q = np.array([[0.3, 0.4]])
    reference = lambda t: (np.tile(q, (len(t), 1)), np.zeros((len(t), 2)), np.zeros((len(t), 2)))  # noqa: E731
    errors = []
    for feedback in (
        PDFeedback(stiffness=400.0, damping=50.0),
        PIDFeedback(stiffness=400.0, integral=300.0, damping=50.0),
    ):
        law = make_law(robot, feedback, ("joint1.fv", "joint2.fv"))
        loop = ClosedLoop(plant=plant, controller=law)
        run = loop.run(loop.init(q, np.zeros((1, 2))), reference, 10.0)
        errors.append(abs(run.q[0, -1] - q[0]).max())
    assert errors[0] > 5e-3
    assert errors[1] < 1e-2 * errors[0]
