"""Walker's class of control laws with spatial forces and torques that are wholly those of the user.

Oracles: the formula of a PID controller, frame Jacobians of Pinocchio, Slotine and Li's form of the model, and the
balance of V along simulated motion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson

import ytheta as yt
from tests.support.control_samples import evaluate_law, random_sample
from tests.support.feedback_laws import AntiDamping
from tests.support.pinocchio_peer import peer
from tests.support.simulate_cases import swing
from ytheta.control.controller import Controller
from ytheta.control.feedback.feedback import Feedback, JointErrors, LinkErrors, Response
from ytheta.control.feedback.pid import PIDFeedback
from ytheta.control.laws.spatial_control import SpatialControl
from ytheta.control.laws.walker import Walker
from ytheta.errors import InputError
from ytheta.papers.tracking import evaluate_lyapunov
from ytheta.papers.walker1988_control import load_without_coulomb
from ytheta.robot.robot import Robot
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.runs import Runs

LAMBDA = 5.0
PID = PIDFeedback(stiffness=40.0, integral=30.0, damping=5.0)
SMALL_PID = PIDFeedback(stiffness=8.0, integral=10.0, damping=1.0)


@dataclass(frozen=True, eq=False, repr=False)
class InverseDynamics(Feedback):
    """(21) and (22), written by the user: model terms times a factor, and damping of every joint and link."""

    damping: float
    factor: float = 1.0

    def at_joint(self, joint: JointErrors) -> Response:
        return Response(self.factor * joint.model_torque - self.damping * joint.velocity_error)

    def at_link(self, link: LinkErrors) -> Response:
        return Response(self.factor * link.model_force - self.damping * link.momentum_error)


@dataclass(frozen=True, eq=False, repr=False)
class Damping(Feedback):
    """The same without the model."""

    damping: float

    def at_joint(self, joint: JointErrors) -> Response:
        return Response(-self.damping * joint.velocity_error)

    def at_link(self, link: LinkErrors) -> Response:
        return Response(-self.damping * link.momentum_error)


@dataclass(frozen=True, eq=False, repr=False)
class LinkForce(Feedback):
    """A damper between every link and its reference motion: force against velocity, moment against angular velocity."""

    gain: float

    def at_link(self, link: LinkErrors) -> Response:
        return Response(-self.gain * np.roll(link.velocity_error, 3))


def make_law(robot: Robot, feedback: Feedback) -> SpatialControl:
    return SpatialControl(robot, convergence=LAMBDA, feedback=feedback)


# --- torques ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["lu-two-link", "five-bar", "walker"])
def test_a_pid_controller_without_a_model_is_its_formula(name: str) -> None:
    robot = yt.load(name)
    s, n = random_sample(robot), len(robot.actuated)
    z = np.linspace(0.1, 0.3, n)
    tau, rate = evaluate_law(make_law(robot, PID), s, z)
    np.testing.assert_allclose(tau, -40.0 * s.e - 30.0 * z - 5.0 * s.ed, rtol=1e-12)
    np.testing.assert_allclose(rate, s.e, rtol=1e-12)
    other = Walker(robot, convergence=LAMBDA, feedback=PID, adaptation=0.5)
    x = np.concatenate([other.unknowns.nominal, z])
    assert abs(evaluate_law(other, s, x)[0] - tau).max() > 1e-2  # the twin: with the model


def test_forces_of_links_are_mapped_by_the_jacobians_of_pinocchio() -> None:
    robot = yt.load("lu-puma4")
    s = random_sample(robot)
    tau, _ = evaluate_law(make_law(robot, LinkForce(3.0)), s, np.zeros(0))
    other, r, expected = peer(robot), s.ed + LAMBDA * s.e, np.zeros(len(s.q))
    for link in robot.merged.links[1:]:
        J = other.frame_jacobian(s.q, link.name, base_axes=False)
        expected -= 3.0 * J.T @ (J @ r)
    np.testing.assert_allclose(tau, expected, rtol=1e-10)
    assert abs(tau - expected * 3.1 / 3.0).max() > 1e-3 * abs(tau).max()  # the twin


@pytest.mark.parametrize("name", ["lu-two-link", "five-bar", "walker"])
def test_with_the_model_terms_it_is_walkers_controller(name: str) -> None:
    robot = yt.load(name)
    s = random_sample(robot, 2)
    tau, _ = evaluate_law(make_law(robot, InverseDynamics(2.0)), s, np.zeros(0))
    walker = Walker(robot, convergence=LAMBDA, feedback=Damping(2.0), adaptation=0.5)
    expected, _ = evaluate_law(walker, s, walker.unknowns.nominal)
    np.testing.assert_allclose(tau, expected, rtol=0.0, atol=1e-11 * abs(expected).max())
    half, _ = evaluate_law(make_law(robot, InverseDynamics(2.0, factor=0.5)), s, np.zeros(0))
    assert abs(half - expected).max() > 1e-3 * abs(expected).max()  # the twin


# --- the proof --------------------------------------------------------------------------------------------------------


def test_what_lacks_the_model_is_listed() -> None:
    robot = yt.load("five-bar")
    everywhere = (*(f"joint {name!r}" for name in robot.moving), *(f"link {link.name!r}" for link in robot.links[1:]))
    assert make_law(robot, InverseDynamics(2.0)).lacks_model == ()
    assert make_law(robot, InverseDynamics(2.0, factor=0.5)).lacks_model == everywhere
    assert make_law(robot, SMALL_PID).lacks_model == everywhere


@pytest.mark.parametrize("feedback", [AntiDamping(0.3), PIDFeedback(stiffness=1.0, integral=10.0, damping=1.0)])
def test_the_conditions_of_the_proof_are_checked(feedback: Feedback) -> None:
    with pytest.raises(InputError, match="breaks the condition on"):
        make_law(yt.load("five-bar"), feedback)


def simulate(law: SpatialControl, *, offset: float = 0.02) -> tuple[Runs, tuple[np.ndarray, ...]]:
    reference = swing(law.robot, size=0.03)
    loop = ClosedLoop(plant=law.robot, controller=law, continuous=True)
    q, qd, _ = reference(np.zeros(1))
    run = loop.run(loop.init(q + offset, qd), reference, 0.2, every=1)
    assert run.finished.all()
    return run, reference(run.t)


def compute_model_power(robot: Robot, run: Runs, reference: tuple[np.ndarray, ...]) -> np.ndarray:
    """The power of the model terms in the velocity error, with Slotine and Li's form of the model."""
    e, ed = run.q[0] - reference[0], run.qd[0] - reference[1]
    r = ed + LAMBDA * e
    control = yt.control.SlotineLi(robot, convergence=LAMBDA, damping=1.0, adaptation=1.0, learn=("*.m",))
    x = np.tile(control.unknowns.nominal, (len(run.t), 1))
    tau = control.compile(control.graph)(run.q[0], run.qd[0], *reference, x)[:, : len(robot.actuated)] + r
    viscous = np.array([drive.viscous for name, drive in robot.drives if name in robot.actuated])
    # Slotine and Li compute viscous friction with the reference velocity, Walker with the measured one (22).
    return np.asarray(((tau + viscous * r) * r).sum(axis=1))


def test_without_the_model_v_changes_by_the_power_of_the_model_too() -> None:
    robot = load_without_coulomb("lu-two-link")
    law = make_law(robot, SMALL_PID)
    run, reference = simulate(law)
    V = evaluate_lyapunov(law, run, reference)
    e = run.q[0] - reference[0]
    r = run.qd[0] - reference[1] + LAMBDA * e
    P = -(1.0 * r**2 + LAMBDA * (8.0 - LAMBDA * 1.0 - 10.0 / LAMBDA) * e**2).sum(axis=1)
    change = cumulative_simpson(P - compute_model_power(robot, run, reference), x=run.t, initial=0.0)
    size = abs(V - V[0]).max()
    assert abs(V - V[0] - change).max() < 1e-4 * size
    only_feedback = cumulative_simpson(P, x=run.t, initial=0.0)
    assert abs(V - V[0] - only_feedback).max() > 1e-2 * size  # the twin: as if the model were cancelled
    assert (np.diff(V) > 0.0).any()  # nothing is proved


def test_with_the_model_v_falls() -> None:
    robot = load_without_coulomb("five-bar")
    law = make_law(robot, InverseDynamics(2.0))
    run, reference = simulate(law)
    assert (np.diff(evaluate_lyapunov(law, run, reference)) < 0.0).all()


# --- use --------------------------------------------------------------------------------------------------------------


def test_it_is_a_controller() -> None:
    robot = yt.load("lu-two-link")
    law = make_law(robot, PID)
    assert isinstance(law, Controller)
    assert law.unknown_names == ()
    assert "PIDFeedback" in str(law)
    assert "joint 'joint1', joint 'joint2', link 'link1'" in str(law)
    assert str(make_law(robot, InverseDynamics(2.0))).endswith("complete, (26)-(29)")
    assert SpatialControl(robot, convergence=LAMBDA, feedback=3.0).lacks_model


def test_a_pid_controller_keeps_an_arm_at_rest() -> None:
    """Without a model, the integral carries the weight; with too little of it, the arm sinks."""
    robot = yt.load("lu-two-link")
    q = np.array([[0.3, 0.4]])
    reference = lambda t: (np.tile(q, (len(t), 1)), np.zeros((len(t), 2)), np.zeros((len(t), 2)))  # noqa: E731
    errors = []
    for integral in (900.0, 1.0):
        law = SpatialControl(
            robot, convergence=3.0, feedback=PIDFeedback(stiffness=600.0, integral=integral, damping=60.0)
        )
        loop = ClosedLoop(plant=robot, controller=law)
        run = loop.run(loop.init(q, np.zeros((1, 2))), reference, 10.0)
        errors.append(abs(run.q[0, -1] - q[0]).max())
    assert errors[0] < 1e-3
    assert errors[1] > 3.0 * errors[0]
