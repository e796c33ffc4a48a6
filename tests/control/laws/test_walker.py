"""Walker's controller: its formula with link Jacobians, the recursion on floats, simulations, invalid settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

import ytheta
from tests.support.control_loop import ContinuousRun, ReferenceFunction, simulate_continuous
from tests.support.control_samples import (
    ControlSample,
    add_friction,
    evaluate_law,
    perturb,
    random_positive_definite,
    random_sample,
)
from tests.support.forced_robots import SPRING, with_forces
from tests.support.loop_robots import make_looped_robot
from tests.support.motor_robots import COUPLED
from tests.support.motor_robots import PUMA as MOTORS
from tests.support.simulate_cases import swing
from tests.support.walker_tree import K, printed_torque, walker_inertia
from ytheta.control.controller import Reference, State
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.control.laws.walker import Walker
from ytheta.dynamics import kernels
from ytheta.dynamics.constraint import LoopConstraint, build_constraint, column, compute_drive_motion
from ytheta.dynamics.formulations.spatial_tree import walker_regressor
from ytheta.dynamics.loop_solver import solve
from ytheta.dynamics.mechanism import Mechanism, numeric_motion
from ytheta.errors import InputError
from ytheta.papers.tracking import evaluate_lyapunov
from ytheta.papers.walker1988_control import load_without_coulomb, make_law
from ytheta.robot.kinematics import link_poses
from ytheta.robot.robot import Robot
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.mujoco_plant import MujocoPlant
from ytheta.simulation.plain_loop import PlainLoop

SERIAL = ("lu-two-link", "lu-puma4", "ur10", "stanford", "puma560", "ha-scara")
LIGHT_LINKS = {"walker": "link3", "palletiser": "flange"}
LOOPED = ("walker", "palletiser", "five-bar", "slide")


@cache
def load_with_friction(name: str) -> Robot:
    """Return a robot with smooth friction at every joint, including those that close loops."""
    robot = add_friction(make_looped_robot(name) if name in LOOPED else ytheta.load(name))
    loops = [replace(o, joint=replace(o.joint, drive=replace(o.joint.drive, viscous=0.7))) for o in robot.loops]
    return replace(robot, loops=tuple(loops))


def make_feedback_gains(robot: Robot) -> np.ndarray:
    return np.linspace(2.0, 5.0, len(build_constraint(robot).mechanism.bodies))


# --- formula ----------------------------------------------------------------------------------------------------------


def compute_link_damping(mech: Mechanism, q: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the sum of gamma_j J_jᵀ I0_j J_j, with link Jacobians in base axes; ``weights`` are gamma_j m0_j."""
    robot = mech.robot
    poses = link_poses(robot, q)
    total = np.zeros((len(q), len(q)))
    for body, parameters in zip(mech.bodies, weights.reshape(-1, 10), strict=True):
        J = np.zeros((6, len(q)))
        for joint in robot.path(body.name):
            if joint.moves:
                frame = poses[joint.parent] @ joint.placement.matrix
                z, p = frame[:3, :3] @ joint.axis, frame[:3, 3]
                revolute = joint.kind == "revolute"
                s = np.concatenate([z, np.cross(p, z)] if revolute else [np.zeros(3), z])
                J[:, robot.movable.index(joint)] = s
        R, p = poses[body.name][:3, :3], poses[body.name][:3, 3]
        X = np.block([[R, np.zeros((3, 3))], [K(p) @ R, R]])
        inertia = X @ walker_inertia(parameters) @ np.linalg.inv(X)
        total += np.roll(J, 3, axis=0).T @ inertia @ J
    return total


@dataclass(frozen=True, eq=False)
class Expected:
    """The numbers of a Slotine–Li law with Walker's regressor: tau = Y_W theta - K_D r, w = Y_Wᵀ r.

    ``links`` and ``drives`` are the parts of tau without feedback.
    """

    links: np.ndarray
    drives: np.ndarray
    K_D: np.ndarray
    w: np.ndarray

    @property
    def tau(self) -> np.ndarray:
        return self.links + self.drives


def evaluate_formula(law: Walker, s: ControlSample, x: np.ndarray, gamma: np.ndarray) -> Expected:
    import casadi

    robot, loops = law.robot, build_constraint(law.robot)
    mech = loops.mechanism
    count, v = 10 * len(mech.bodies), s.reference.qd - s.Lambda @ s.e
    vd = s.reference.qdd - s.Lambda @ s.ed
    theta = robot.numeric.theta.copy()
    weights = theta[:count] * np.repeat(gamma, 10)
    columns = [robot.parameter_names.index(name) for name in law.unknown_names]
    theta[columns] = x
    m = compute_drive_motion(loops, *(to_objects(e) for e in (s.qd, vd, v)))
    vectors = [m.joints.q, m.joints.qd, m.joints.vd, m.joints.v, m.velocity, m.reference_velocity, m.acceleration]
    matrices = [casadi.reshape(column(t.ravel(order="F")), *t.shape) for t in (m.drive_jacobian, m.joint_jacobian)]
    values = casadi.Function("m", [loops.x], [*map(column, vectors), *matrices])(close_loops(loops, s.q))
    q, qd, jdd, jv, rate, reference, acceleration = (np.array(part)[:, 0] for part in values[:7])
    D, J = (np.array(part) for part in values[7:])
    motion = numeric_motion(q, qd, jdd, jv)
    Y = walker_regressor(mech, motion).astype(float)
    np.testing.assert_allclose(Y @ theta[:count], printed_torque(mech, motion, theta[:count]), rtol=1e-9, atol=1e-9)
    speeds = np.array([drive.coulomb_speed for _, drive in robot.drives])
    signs = np.where(speeds > 0.0, rate / np.sqrt(rate**2 + np.maximum(speeds, 1e-30) ** 2), np.sign(rate))
    factors = np.stack([acceleration, rate, signs, np.ones(len(rate))], axis=1)  # (22): viscous friction of qd
    drive_theta = theta[count : count + factors.size].reshape(factors.shape)
    w = np.concatenate([Y.T @ (qd - jv), (factors * (rate - reference)[:, None]).ravel()])
    K_D = J.T @ compute_link_damping(mech, q, weights) @ J
    return Expected(J.T @ (Y @ theta[:count]), D.T @ (factors * drive_theta).sum(axis=1), K_D, w[columns])


def to_objects(values: np.ndarray) -> np.ndarray:
    return np.array([float(value) for value in values], dtype=object)


def close_loops(loops: LoopConstraint, Q: np.ndarray) -> np.ndarray:
    return solve(loops, Q[None]).or_raise().x[0] if loops.passive else Q


@pytest.mark.parametrize("name", SERIAL + LOOPED)
def test_torque_and_rate_are_those_of_slotine_li_with_its_own_regressor_and_damping(name: str) -> None:
    """(17)-(25), with friction of joints that close loops, a wrong estimate, and full matrices as gains."""
    robot = load_with_friction(name)
    s, gamma = random_sample(robot), make_feedback_gains(robot)
    learn = tuple(n for n in robot.parameter_names if n.endswith((".m", ".mx", ".Ixy", ".Izz", ".fv", ".fc", ".fo")))
    Gamma = random_positive_definite(np.random.default_rng(3), len(learn)) / len(learn)
    law = Walker(robot, convergence=s.Lambda, feedback=gamma, adaptation=Gamma, learn=learn)
    x = perturb(law.init(s.q, s.qd).x)
    tau, rate = evaluate_law(law, s, x)
    formula, r = evaluate_formula(law, s, x, gamma), s.ed + s.Lambda @ s.e
    expected = formula.tau - formula.K_D @ r
    scale = abs(formula.tau).max() + abs(formula.K_D @ r).max()
    np.testing.assert_allclose(tau, expected, rtol=0.0, atol=1e-10 * scale)
    np.testing.assert_allclose(rate, -Gamma @ formula.w, rtol=0.0, atol=1e-10 * abs(rate).max())
    assert abs(tau - formula.tau + formula.K_D.T @ (1.01 * r)).max() > 1e-6 * scale  # the twin: more damping


@pytest.mark.parametrize("name", ["ur10", "walker"])
def test_both_forms_have_the_same_rates_and_different_torques(name: str) -> None:
    """vhat × I vhat, and the symmetric form of ``SlotineLi``: equal rates of link parameters, different torques."""
    robot = load_with_friction(name)
    s, gamma = random_sample(robot, 3), make_feedback_gains(robot)
    learn = tuple(n for n in robot.parameter_names if n.endswith((".m", ".my", ".Ixz")))
    law = Walker(robot, convergence=s.Lambda, feedback=gamma, adaptation=1.0, learn=learn)
    x = law.init(s.q, s.qd).x
    K_D = evaluate_formula(law, s, x, gamma).K_D
    symmetric = SlotineLi(robot, convergence=s.Lambda, damping=(K_D + K_D.T) / 2.0, adaptation=1.0, learn=learn)
    (tau, rate), (symmetric_tau, symmetric_rate) = evaluate_law(law, s, x), evaluate_law(symmetric, s, x)
    np.testing.assert_allclose(rate, symmetric_rate, rtol=0.0, atol=1e-10 * abs(rate).max())
    assert abs(tau - symmetric_tau).max() > 1e-3


@pytest.mark.parametrize("robot", [MOTORS, with_forces(MOTORS, SPRING), COUPLED], ids=["motors", "forces", "couplings"])
def test_motors_forces_and_couplings_are_accepted(robot: Robot) -> None:
    """Not in the paper. Without tracking errors, tau is the inverse dynamics; dx/dt = -(d tau/dx)ᵀ r."""
    robot, s = robot.numeric, random_sample(robot, 6)
    law = Walker(
        robot,
        convergence=s.Lambda,
        feedback=2.0,
        adaptation=1.0,
        learn=("link6.m", "m.*", *(f"{force.name}.k" for force in robot.forces)),
    )
    x = law.init(s.q, s.qd).x
    on_reference = replace(s, reference=replace(s.reference, q=s.q, qd=s.qd))
    expected = kernels.inverse_dynamics(robot).one(s.q, s.qd, s.reference.qdd)
    np.testing.assert_allclose(
        evaluate_law(law, on_reference, x)[0], expected, rtol=0.0, atol=1e-10 * abs(expected).max()
    )
    tau, rate = evaluate_law(law, s, x)
    Y = np.array([evaluate_law(law, s, x + unit)[0] - tau for unit in np.eye(len(x))])
    r = s.ed + s.Lambda @ s.e
    np.testing.assert_allclose(rate, -Y @ r, rtol=0.0, atol=1e-10 * abs(tau).max() * abs(r).max())
    assert abs(rate[-1] + 1.01 * Y[-1] @ r) > 1e-6  # the twin


@pytest.mark.parametrize("name", SERIAL + LOOPED)
def test_recursion_on_floats_is_the_graph(name: str) -> None:
    robot = load_with_friction(name)
    s = random_sample(robot, 4)
    law = Walker(robot, convergence=s.Lambda, feedback=3.0, adaptation=0.5)
    assert {n for n in law.unknown_names if n.endswith(".fv")} == {f"{n}.fv" for n in robot.moving}
    x = perturb(law.init(s.q, s.qd).x)
    (tau, rate), (numeric_tau, w) = evaluate_law(law, s, x), law.evaluate(x, s.q, s.qd, s.reference)
    np.testing.assert_allclose(numeric_tau, tau, rtol=0.0, atol=1e-12 * abs(tau).max())
    np.testing.assert_allclose(-0.5 * w, rate, rtol=0.0, atol=1e-12 * abs(rate).max())
    other, _ = law.evaluate(1.001 * x, s.q, s.qd, s.reference)
    assert abs(other - tau).max() > 1e-9 * abs(tau).max()  # the twin


# --- closed loops -----------------------------------------------------------------------------------------------------


def load_smooth_robot(name: str) -> Robot:
    robot = ytheta.load(name)
    joints = [replace(j, drive=replace(j.drive, coulomb_speed=0.05)) for j in robot.joints]
    return replace(robot, joints=tuple(joints))


@pytest.mark.parametrize("name", ["walker", "palletiser"])
def test_robots_with_loops_track_and_the_lyapunov_function_falls(name: str) -> None:
    """The twin does not adapt and has larger errors."""
    robot = load_smooth_robot(name)
    law, reference = make_law(robot, light_link=LIGHT_LINKS[name]), swing(robot, size=0.05)
    q, qd, _ = reference(np.zeros(1))
    errors = []
    for controller in (law, make_law(robot, light_link=LIGHT_LINKS[name], speed=1e-9)):
        loop = ClosedLoop(plant=robot, controller=controller, continuous=True)
        run = loop.run(loop.init(q + 0.02, qd), reference, 4.0)
        assert run.finished.all()
        expected_motion = reference(run.t)
        errors.append(abs(run.q[0] - expected_motion[0])[-50:].max())
        if controller is law:
            V = evaluate_lyapunov(law, run, expected_motion)
            assert (np.diff(V) < 0.0).all()
            assert V[-1] < 0.5 * V[0]
    assert errors[0] < 1e-3
    assert errors[0] < 0.4 * errors[1]


@pytest.mark.parametrize("name", ["walker", "palletiser"])
def test_robots_with_loops_track_in_mujoco(name: str) -> None:
    robot = load_without_coulomb(name)  # MuJoCo models Coulomb friction differently
    law, reference = make_law(robot, light_link=LIGHT_LINKS[name], speed=0.1), swing(robot, size=0.05)
    q, qd, _ = reference(np.zeros(1))
    loop = PlainLoop(plant=MujocoPlant(robot), controller=law)
    run = loop.run(q[0] + 0.02, qd[0], reference, 0.6)
    assert run.finished.all()
    expected_motion = reference(run.t)
    error, V = abs(run.q[0] - expected_motion[0]), evaluate_lyapunov(law, run, expected_motion)
    assert error[-10:].max() < 0.25 * error[0].max()
    assert (np.diff(V) < 0.0).all()


@pytest.mark.parametrize("name", ["lu-two-link", "five-bar", "walker"])
def test_lyapunov_function_falls_at_the_proven_rate(name: str) -> None:
    """dV/dt = -rᵀ K_D r: friction (22) has no part in it at any joint. The twin dissipates a tenth less."""
    robot = load_without_coulomb(name)
    loops, gamma = build_constraint(robot), make_feedback_gains(robot)
    learn = tuple(n for n in robot.parameter_names if n.endswith((".m", ".fv")))
    law = Walker(robot, convergence=5.0, feedback=gamma, adaptation=0.5, learn=learn)
    weights = robot.numeric.theta[: 10 * len(gamma)] * np.repeat(gamma, 10)
    trajectory = swing(robot, size=0.04)
    reference: ReferenceFunction = lambda t: Reference(*(part[0] for part in trajectory(np.array([t]))))  # noqa: E731

    def power(_: float, q: np.ndarray, qd: np.ndarray, r: Reference) -> float:
        x = close_loops(loops, q)
        xd = np.array(loops.tangent(x)) @ (qd - r.qd + 5.0 * (q - r.q))
        damping = compute_link_damping(loops.mechanism, x, weights)  # no couplings: x are the joint positions
        return float(xd @ damping @ xd)

    estimate = np.where([n.endswith(".fv") for n in learn], 0.1, 0.8 * law.unknowns.nominal)
    run = simulate_continuous(
        law, reference, plant=robot, seconds=0.3, offset=0.03, estimate=estimate, power=power, points=31, rtol=1e-8
    )
    assert compute_balance_error(run) < 1e-6
    assert compute_balance_error(replace(run, dissipated=0.9 * run.dissipated)) > 1e-4


def compute_balance_error(run: ContinuousRun) -> float:
    V = run.lyapunov(run.law.unknowns.nominal)
    return float(abs(V - V[0] + run.dissipated).max() / run.dissipated[-1])


# --- settings ---------------------------------------------------------------------------------------------------------


def test_initial_inertias_weight_the_feedback() -> None:
    robot = ytheta.load("lu-puma4")
    s = random_sample(robot)
    full = Walker(robot, convergence=4.0, feedback=2.0, adaptation=1.0)
    x = full.init(s.q, s.qd).x
    half = Walker(robot, convergence=4.0, feedback=4.0, adaptation=1.0, initial=0.5 * x)
    np.testing.assert_array_equal(half.init(s.q, s.qd).x, 0.5 * x)
    np.testing.assert_array_equal(half.init(s.q, s.qd, estimate=x).x, x)
    np.testing.assert_allclose(evaluate_law(half, s, x)[0], evaluate_law(full, s, x)[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        full.lyapunov(State(0.0, x), s.q, s.qd, s.reference, x), compute_lyapunov_term(robot, s), rtol=1e-12
    )


def compute_lyapunov_term(robot: Robot, s: ControlSample) -> float:
    r = s.ed + 4.0 * s.e
    return float(r @ kernels.mass_matrix(robot).one(s.q) @ r) / 2.0


def test_invalid_settings_are_refused() -> None:
    robot = ytheta.load("lu-two-link")
    with pytest.raises(InputError, match="feedback has shape"):
        Walker(robot, convergence=4.0, feedback=[1.0] * 7, adaptation=1.0)
    with pytest.raises(InputError, match="greater than zero"):
        Walker(robot, convergence=4.0, feedback=-1.0, adaptation=1.0)
    with pytest.raises(InputError, match="initial has shape"):
        Walker(robot, convergence=4.0, feedback=1.0, adaptation=1.0, initial=[1.0])
    with pytest.raises(InputError, match=r"condition on dissipation .* 'link2': .* not physically consistent"):
        Walker(robot, convergence=4.0, feedback=1.0, adaptation=1.0, learn=("link2.m",), initial=[-1.0])
    with pytest.raises(InputError, match=r"condition on damping: .* outermost link"):
        Walker(ytheta.load("rx90"), convergence=4.0, feedback=1.0, adaptation=1.0)
