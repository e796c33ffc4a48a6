"""Lin's procedure: the same estimate as (38) of Ha for every kind of joint, and refused robots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ytheta
from tests.support.driven_robots import coupled_robot
from tests.support.estimation_cases import RATE, Case, make_case, smooth_motion
from tests.support.formulation_cases import fork
from tests.support.known_arm import known_arm
from tests.support.serial_arms import DX, DZ, ORIGIN, RULES, P, R, X, Y, Z, arm
from ytheta.errors import InputError
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.estimators.lin import Lin, compute_joint_equations
from ytheta.identification.estimators.lin_serial_arm import OuterBodies, SerialArm
from ytheta.identification.estimators.sequential import Sequential
from ytheta.logs.preparing.motion_sources import ArraySource
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive, Force
from ytheta.robot.robot import Robot

SKEW = (0.0, 0.6, 0.8)
ARMS = {
    "slides everywhere": arm((P, X, ORIGIN), (R, Z, DX), (P, SKEW, DZ), (R, Z, DX), (P, Y, DZ), (R, X, DX)),
    "two slides between turns": arm((R, Z, ORIGIN), (R, X, DX), (P, SKEW, DZ), (P, X, DX), (R, Y, DZ), (R, X, DX)),
    "slides at the tip": arm((R, Z, ORIGIN), (R, Y, DX), (R, SKEW, DX), (P, X, DZ), (P, Z, DX)),
    "slides only": arm((P, X, ORIGIN), (P, SKEW, DZ), (P, Y, DX)),
    "horizontal first axis": arm((R, X, ORIGIN), (R, X, DZ), (P, Y, DZ), (R, SKEW, DX)),
    "meeting axes without gravity": RULES["three meeting axes"][0],
}


@cache
def make_catalog_case(name: str) -> Case:
    return make_case(ytheta.load(name), 300)


def make_random_problem(robot: Robot, seed: int = 2) -> tuple[EstimationProblem, np.ndarray]:
    """Return motion of a robot with noisy torques, computed from its regressor and a random theta."""
    base = ytheta.base_parameters(robot, rotor_inertia=True, friction=("viscous", "coulomb"))
    motion = smooth_motion(len(robot.actuated), 250)
    rng = np.random.default_rng(seed)
    theta = np.where([name in base.selected for name in robot.parameter_names], rng.normal(size=len(robot.theta)), 0.0)
    form = Differential(base)
    tau = form.kernel(motion.q, motion.qd, motion.qdd) @ (base.K @ theta) + 0.1 * rng.normal(size=motion.q.shape)
    return EstimationProblem(form, (ArraySource(replace(motion, tau=tau), RATE),), threads=1), theta


def lin_agrees_with_sequential(problem: EstimationProblem) -> bool:
    """Whether Lin gives the same beta and the same covariance as Sequential."""
    lin, sequential = Lin().fit(problem), Sequential().fit(problem)
    assert sequential.findings == ()
    if lin.findings:  # its errors grow from joint to joint, so that all joints were estimated together
        return False
    deviations = np.sqrt(np.diag(sequential.covariance(np.ones(len(sequential.degrees_of_freedom)))))
    same = abs(lin.beta - sequential.beta) < 1e-8 * np.maximum(abs(sequential.beta), deviations)
    largest = abs(sequential.spread).max(axis=(1, 2), keepdims=True)
    spread = abs(lin.spread - sequential.spread) < 1e-8 * largest + 1e-300
    return bool(same.all() and spread.all())


@pytest.mark.parametrize("name", ["ur10", "stanford", "panda"])
def test_lin_and_ha_give_the_same_estimate(name: str) -> None:
    known = make_catalog_case(name)
    noise = np.random.default_rng(1).normal(size=known.tau.shape)
    assert lin_agrees_with_sequential(known.problem(noise))
    assert lin_agrees_with_sequential(known.problem(noise, min_speed=np.full(known.tau.shape[1], 0.2)))
    assert known.error(Lin().fit(known.problem(noise)).beta) > 1e-4


@pytest.mark.parametrize("name", ARMS)
def test_lin_and_ha_agree_for_prismatic_joints_and_special_axes(name: str) -> None:
    assert lin_agrees_with_sequential(make_random_problem(ARMS[name])[0])


@pytest.mark.parametrize("name", ["stanford", "panda"])
def test_equation_94_gives_the_torque(name: str) -> None:
    """tau_i = v_i · w_i + phi_i with w = M theta of the true arm equals MuJoCo's torque of every joint."""
    known = make_catalog_case(name)
    arm_model = SerialArm.of(known.base)
    w = np.linalg.lstsq(arm_model.C, known.truth, rcond=None)[0]
    for i in range(len(arm_model.places)):
        rows = compute_joint_equations(arm_model, i, w, replace(known.motion, tau=known.tau), i)
        residual = rows[:, -1] - rows[:, :-1] @ w[arm_model.find_slice(i)]
        assert abs(residual).max() < 1e-9 * abs(known.tau).max()


def test_wrong_recursions_do_not_agree_with_ha(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twins: without D~ of (99), without the prismatic joints in D, with gravity reversed."""
    problem = make_random_problem(ARMS["two slides between turns"])[0]
    assert lin_agrees_with_sequential(problem)
    for place, value in (("fixed", lambda _: np.zeros((3, 3))), ("moment", _without_slides(OuterBodies.moment))):
        with monkeypatch.context() as change:
            change.setattr(OuterBodies, place, value)
            assert not lin_agrees_with_sequential(problem)
    create = SerialArm.of.__func__  # type: ignore[attr-defined]
    monkeypatch.setattr(SerialArm, "of", classmethod(lambda cls, base: _with_reversed_gravity(create(cls, base))))
    assert not lin_agrees_with_sequential(problem)


def _without_slides(moment: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    return lambda self, body, D: moment(replace(self, slides=()), body, D)


def _with_reversed_gravity(arm: SerialArm) -> SerialArm:
    return replace(arm, gravity=-arm.gravity)


def test_reordered_joints_loads_and_smooth_friction_are_accepted() -> None:
    robot = ytheta.load("stanford")
    joints = tuple(replace(joint, drive=Drive(coulomb_speed=0.3)) for joint in robot.joints)
    robot = replace(robot, joints=joints, actuated=("joint6", "joint1", "joint3", "joint2", "joint5", "joint4"))
    robot = robot.with_load(Inertia(), frame=Frame.shift(0.1, 0.2, 0.3))
    assert lin_agrees_with_sequential(make_random_problem(robot)[0])


def test_combinations_that_do_not_affect_beta_give_no_finding() -> None:
    """Mass, rotor and offset of a vertical prismatic joint are three entries of w but two of beta: (40) holds."""
    known = make_catalog_case("ha-scara")
    arm_model = SerialArm.of(known.base)
    assert arm_model.C.shape == (22, 23)
    assert "joint3.fo" in arm_model.joints[2].names
    fit = Lin().fit(known.problem())
    assert not fit.findings
    assert not fit.unidentified.size
    assert known.error(fit.beta) < 1e-9


def test_robots_that_are_not_serial_arms_are_refused() -> None:
    others = "use the estimator weighted, least-squares, sequential, huber or recursive"
    spring = replace(ytheta.load("stanford"), forces=(Force("spring", (("joint2", "joint2 - 0.1"),)),))
    for robot, reason in (
        (fork(), "has branches"),
        (coupled_robot(), "has a coupled joint"),
        (ytheta.load("five-bar"), "has closed loops"),
        (spring, "has a declared force, 'spring'"),
    ):
        base = ytheta.base_parameters(robot)
        with pytest.raises(InputError, match=rf"lin does not accept this robot: .*{reason}.*; {others}"):
            SerialArm.of(base)


def test_forms_without_accelerations_are_refused() -> None:
    class Other:
        name = "integral"
        base = make_catalog_case("stanford").base

    problem = make_catalog_case("stanford").problem()
    object.__setattr__(problem, "form", Other())
    with pytest.raises(
        InputError, match="lin needs accelerations, which the integral form does not have; use the estimator"
    ):
        Lin().fit(problem)


def test_lin_and_sequential_agree_on_a_log_with_friction() -> None:
    arm = known_arm()
    source = arm.draw_source(np.random.default_rng(5), 8.0)
    lin, sequential = (arm.identify(source, name) for name in ("lin", "sequential"))
    np.testing.assert_allclose(lin.beta, sequential.beta, rtol=1e-8, atol=1e-8)
    assert abs(lin.beta - arm.beta).max() < 0.2
