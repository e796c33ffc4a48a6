"""Lin's procedure: the same estimate as (38) of Ha by another road, for every kind of joint; who is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ytheta
from tests.support.driven_robots import coupled
from tests.support.estimation_cases import RATE, Case, case, smooth
from tests.support.formulation_cases import fork
from tests.support.serial_arms import RULES, SIDE, STILL, UP, P, R, X, Y, Z, arm
from ytheta.errors import InputError
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.motion_sources import ArraySource
from ytheta.identification.estimators.lin.lin import Lin, _equations
from ytheta.identification.estimators.lin.serial_arm import Arm
from ytheta.identification.estimators.lin.recursion import Behind
from ytheta.identification.estimators.sequential import Sequential
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive, Force
from ytheta.robot.robot import Robot

SKEW = (0.0, 0.6, 0.8)
ARMS = {
    "slides everywhere": arm((P, X, STILL), (R, Z, SIDE), (P, SKEW, UP), (R, Z, SIDE), (P, Y, UP), (R, X, SIDE)),
    "two slides between turns": arm((R, Z, STILL), (R, X, SIDE), (P, SKEW, UP), (P, X, SIDE), (R, Y, UP), (R, X, SIDE)),
    "slides at the tip": arm((R, Z, STILL), (R, Y, SIDE), (R, SKEW, SIDE), (P, X, UP), (P, Z, SIDE)),
    "slides only": arm((P, X, STILL), (P, SKEW, UP), (P, Y, SIDE)),
    "horizontal first axis": arm((R, X, STILL), (R, X, UP), (P, Y, UP), (R, SKEW, SIDE)),
    "meeting axes without gravity": RULES["three meeting axes"][0],
}


@cache
def catalog(name: str) -> Case:
    return case(ytheta.load(name), 300)


def linear(robot: Robot, seed: int = 2) -> tuple[EstimationProblem, np.ndarray]:
    """Torques of any theta from the kernel of the standard regressor, and noise."""
    base = ytheta.base_parameters(robot, rotor_inertia=True, friction=("viscous", "coulomb"))
    motion = smooth(len(robot.actuated), 250)
    rng = np.random.default_rng(seed)
    theta = np.where([name in base.selected for name in robot.parameter_names], rng.normal(size=len(robot.theta)), 0.0)
    form = Differential(base)
    tau = form.kernel(motion.q, motion.qd, motion.qdd) @ (base.K @ theta) + 0.1 * rng.normal(size=motion.q.shape)
    return EstimationProblem(form, (ArraySource(replace(motion, tau=tau), RATE),), threads=1), theta


def agree(problem: EstimationProblem) -> bool:
    """The same beta and the same covariance as sequential."""
    one, other = Lin().fit(problem), Sequential().fit(problem)
    assert one.notes == other.notes == ()
    deviations = np.sqrt(np.diag(other.covariance(np.ones(len(other.used)))))
    same = abs(one.beta - other.beta) < 1e-8 * np.maximum(abs(other.beta), deviations)
    spread = abs(one.spread - other.spread) < 1e-8 * abs(other.spread).max(axis=(1, 2), keepdims=True) + 1e-300
    return bool(same.all() and spread.all())


@pytest.mark.parametrize("name", ["ur10", "stanford", "panda"])
def test_two_papers_one_estimate(name: str) -> None:
    known = catalog(name)
    noise = np.random.default_rng(1).normal(size=known.tau.shape)
    assert agree(known.problem(noise))
    assert agree(known.problem(noise, min_speed=np.full(known.tau.shape[1], 0.2)))
    assert known.error(Lin().fit(known.problem(noise)).beta) > 1e-4


@pytest.mark.parametrize("name", ARMS)
def test_slides_and_other_geometry(name: str) -> None:
    assert agree(linear(ARMS[name])[0])


@pytest.mark.parametrize("name", ["stanford", "panda"])
def test_94_is_the_torque(name: str) -> None:
    """tau_i = v_i · w_i + phi_i for w = M theta of the true arm, against MuJoCo and for every joint."""
    known = catalog(name)
    found = Arm.of(known.base)
    w = np.linalg.lstsq(found.C, known.truth, rcond=None)[0]
    for i in range(len(found.places)):
        rows = _equations(found, i, w, replace(known.motion, tau=known.tau), i)
        left = rows[:, -1] - rows[:, :-1] @ w[found.own(i)]
        assert abs(left).max() < 1e-9 * abs(known.tau).max()


def test_the_twins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what (99) takes off D, without the slides in D, with gravity the other way: not the same."""
    problem = linear(ARMS["two slides between turns"])[0]
    assert agree(problem)
    for place, value in (("fixed", lambda _: np.zeros((3, 3))), ("moment", _without_slides(Behind.moment))):
        with monkeypatch.context() as change:
            change.setattr(Behind, place, value)
            assert not agree(problem)
    honest = Arm.of.__func__  # type: ignore[attr-defined]
    monkeypatch.setattr(Arm, "of", classmethod(lambda cls, base: _upside_down(honest(cls, base))))
    assert not agree(problem)


def _without_slides(moment: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    return lambda self, moved, D: moment(replace(self, slides=()), moved, D)


def _upside_down(found: Arm) -> Arm:
    return replace(found, gravity=-found.gravity)


def test_logs_in_another_order_loads_and_smooth_friction() -> None:
    robot = ytheta.load("stanford")
    joints = tuple(replace(joint, drive=Drive(coulomb_speed=0.3)) for joint in robot.joints)
    robot = replace(robot, joints=joints, actuated=("joint6", "joint1", "joint3", "joint2", "joint5", "joint4"))
    robot = robot.with_load(Inertia(), frame=Frame.shift(0.1, 0.2, 0.3))
    assert agree(linear(robot)[0])


def test_w_that_are_no_beta() -> None:
    """Mass, rotor and offset of a vertical slide are three in w and two in beta: not a failure of (40)."""
    known = catalog("ha-scara")
    found = Arm.of(known.base)
    assert found.C.shape == (22, 23)
    assert "joint3.fo" in found.joints[2].names
    fit = Lin().fit(known.problem())
    assert not fit.notes
    assert not fit.unseen.size
    assert known.error(fit.beta) < 1e-9


def test_who_is_refused() -> None:
    others = "the estimators weighted, least-squares, sequential, huber and recursive do"
    spring = replace(ytheta.load("stanford"), forces=(Force("spring", (("joint2", "joint2 - 0.1"),)),))
    for robot, reason in (
        (fork(), "has branches"),
        (coupled(), "has a coupled joint"),
        (ytheta.load("five-bar"), "has closed loops"),
        (spring, "has a declared force, 'spring'"),
    ):
        base = ytheta.base_parameters(robot)
        with pytest.raises(InputError, match=rf"lin does not take this: .*{reason}.*; {others}"):
            Arm.of(base)


def test_it_needs_accelerations() -> None:
    class Other:
        name = "integral"
        base = catalog("stanford").base

    problem = catalog("stanford").problem()
    object.__setattr__(problem, "form", Other())
    with pytest.raises(InputError, match="lin needs accelerations, which the integral form has not; the estimators"):
        Lin().fit(problem)
