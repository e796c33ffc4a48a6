"""The forms of the model: one list of demands on all of them, and each against brute-force integration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad_vec

import ytheta
from tests.support.driven_robots import coupled_robot, driven_robot
from tests.support.estimation_cases import RATE as RECORDED
from tests.support.estimation_cases import case
from tests.support.forced_robots import CABLE, SPRING, forced
from tests.support.formulation_cases import fork
from tests.support.pinocchio_peer import peer
from ytheta.dynamics.kernels import momentum_regressor
from ytheta.errors import InputError, UnknownNameError
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.equations import windows
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.form import Form
from ytheta.identification.equations.friction import drive_directions
from ytheta.identification.equations.integral import REACH, Integral, quadrature
from ytheta.identification.equations.momentum import Momentum
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.registry import FORMS, form
from ytheta.identification.equations.motion_sources import LogSource, ArraySource
from ytheta.identification.estimators.least_squares import LeastSquares
from ytheta.logs.log import Log
from ytheta.logs.preparing.derivatives import make_differentiator
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.logs.preparing.preparation import PreparationSettings, choose_preparation
from ytheta.native import Block, Kernel
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot

RATE = 500.0
FRICTION = ("viscous", "coulomb", "offset")
WITHOUT_ACCELERATIONS = ("integral", "momentum")


# --- robots, motion and torques that none of the forms had a part in -------------------------------------------------


def with_smooth_friction() -> Robot:
    """A UR10 whose friction changes its sign gradually in every other joint."""
    robot = driven_robot("ur10")
    joints = [
        replace(joint, drive=replace(joint.drive, coulomb_speed=0.05 * (k % 2))) for k, joint in enumerate(robot.joints)
    ]
    return replace(robot, joints=tuple(joints))


def driven_fork() -> Robot:
    robot = fork()
    drive = Drive(0.02, 2.0, 0.7, 0.4, 0.1)
    return replace(robot, joints=tuple(replace(j, drive=drive) if j.moves else j for j in robot.joints))


ROBOTS: dict[str, Callable[[], Robot]] = {
    "two links": lambda: driven_robot("lu-two-link"),
    "ur10": with_smooth_friction,
    "rigid": lambda: ytheta.load("ur10"),
    "branches": driven_fork,
    "coupled, with forces": lambda: forced(coupled_robot(), SPRING, CABLE),
}


@dataclass(frozen=True)
class Fourier:
    """q as a Fourier series of five terms per joint, and its derivatives, exactly."""

    joints: int
    seed: int = 0
    lowest: float = 0.2  # Hz

    def __call__(self, t: np.ndarray | float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        a, b = np.random.default_rng(self.seed).normal(size=(2, 5, self.joints)) * 0.25
        w = 2.0 * np.pi * self.lowest * np.arange(1, 6)[:, None]
        angle = np.multiply.outer(t, w)
        sin, cos = np.sin(angle), np.cos(angle)
        q = (a * sin + b * cos).sum(axis=-2)
        return q, (w * (a * cos - b * sin)).sum(axis=-2), -(w**2 * (a * sin + b * cos)).sum(axis=-2)


def torque(robot: Robot, x: np.ndarray, xd: np.ndarray, xdd: np.ndarray) -> np.ndarray:
    """Pinocchio's links; drives, couplings and the two forces as their definitions say."""
    A, b = robot.coupling_map
    q, qd, qdd = x @ A.T + b, xd @ A.T, xdd @ A.T
    links = peer(robot)
    rho = np.array([links.torque(*sample) for sample in zip(q, qd, qdd, strict=True)])
    drives = [(rho[:, k], qd[:, k], qdd[:, k], joint.drive) for k, joint in enumerate(robot.movable)]
    tau = np.zeros_like(x)  # of the motors that are no joint's own, at first
    for motor in robot.motors:
        k = robot.coordinates.index(motor.name)
        drives.append((tau[:, k], xd[:, k], xdd[:, k], motor.drive))
    for felt, rate, acceleration, drive in drives:
        ia, fv, fc, fo = drive.parameters
        soft = drive.coulomb_speed
        felt += ia * acceleration + fv * rate + fo
        felt += fc * (rate / np.sqrt(rate**2 + soft**2) if soft else np.sign(rate))
    if robot.forces:
        spring, cable = (force.value for force in robot.forces)
        bend = (q[:, 1] + 0.67 * q[:, 2]) ** 3 - 0.2 * np.tanh(q[:, 1] + 0.67 * q[:, 2])
        rho[:, 1] += spring * (q[:, 1] - 0.3) + 0.7 * cable * bend
        rho[:, 2] -= cable * bend * np.cos(q[:, 4])
        rho[:, 4] += cable
    return tau + rho @ A


def motion(t: np.ndarray, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, tau: np.ndarray) -> MotionSamples:
    return MotionSamples(t, q, qd, qdd, tau, None, np.arange(len(t)))


@cache
def base_of(name: str) -> BaseParameters:
    return ytheta.base_parameters(ROBOTS[name](), rotor_inertia=True, friction=FRICTION)


@cache
def clean(name: str, seed: int = 0, seconds: float = 10.0) -> MotionSamples:
    robot = base_of(name).robot
    t = np.arange(int(seconds * RATE)) / RATE
    state = Fourier(len(robot.actuated), seed)(t)
    return motion(t, *state, torque(robot, *state))


def error(problem: EstimationProblem, *, found: np.ndarray | None = None) -> float:
    """The largest error of beta, every parameter measured by the length of its column; relative to the largest beta."""
    beta = problem.base.beta
    scale = np.sqrt(np.diag(problem.sums().normal(np.ones(len(problem.layout.parts)))))
    found = LeastSquares().fit(problem).beta if found is None else found
    return float(np.max(scale * abs(found - beta)) / np.max(scale * abs(beta)))


class Flipped(Kernel):
    """The twin that must fail: W with the wrong sign."""

    def blocks(self, *arrays: Any, size: int = 1024) -> Iterator[Block]:
        return (Block(block.first, -block.values) for block in super().blocks(*arrays, size=size))


def flipped(robot: Robot, base: BaseParameters) -> Kernel:
    kernel = object.__new__(Flipped)
    kernel.__dict__.update(momentum_regressor(robot, base).__dict__)
    return kernel


# --- conformance: every form ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("name", FORMS)
def test_clean_motion_gives_the_parameters_back(name: str, robot: str) -> None:
    problem = EstimationProblem(form(name, base_of(robot)), (ArraySource(clean(robot), RATE),), threads=1)
    fit = LeastSquares().fit(problem)
    assert fit.unseen.shape[1] == 0
    assert error(problem, found=fit.beta) < 1e-9  # 1e-6 is asked for


def test_forms_agree() -> None:
    source = ArraySource(clean("ur10"), RATE)
    problems = [EstimationProblem(form(name, base_of("ur10")), (source,)) for name in FORMS]
    found = [LeastSquares().fit(problem).beta for problem in problems]
    scale = np.sqrt(np.diag(problems[0].sums().normal(np.ones(6))))
    for beta in found[1:]:
        assert np.max(scale * abs(beta - found[0])) < 1e-9 * np.max(scale * abs(found[0]))


@pytest.mark.parametrize("name", WITHOUT_ACCELERATIONS)
def test_momentum_has_a_sign(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = ArraySource(clean("two links"), RATE)
    monkeypatch.setattr(windows, "momentum_regressor", flipped)
    assert error(EstimationProblem(form(name, base_of("two links")), (source,), threads=1)) > 1e-2


@pytest.mark.parametrize("name", WITHOUT_ACCELERATIONS)
def test_accelerations_play_no_part(name: str) -> None:
    source = ArraySource(replace(clean("ur10"), qdd=np.full_like(clean("ur10").qdd, 1e3)), RATE)
    assert error(EstimationProblem(form(name, base_of("ur10")), (source,))) < 1e-9
    assert error(EstimationProblem(Differential(base_of("ur10")), (source,))) > 0.1


@pytest.mark.parametrize("name", FORMS)
def test_pieces_and_threads_change_nothing(name: str) -> None:
    source = ArraySource(clean("ur10"), RATE, ((0, 3001), (3001, 5000)))
    chosen = form(name, base_of("ur10"))
    whole = EstimationProblem(chosen, (source,), threads=1, size=10**6).sums()

    def differs(problem: EstimationProblem) -> float:
        ones = np.ones(6)
        sums = problem.sums()
        a, b = sums.normal(ones), whole.normal(ones)
        c, d = sums.moment(ones), whole.moment(ones)
        return float(max(abs(a - b).max() / abs(b).max(), abs(c - d).max() / abs(d).max()))

    for size, threads in ((61, 2), (500, 1), (1024, 2)):
        problem = EstimationProblem(chosen, (source,), threads=threads, size=size)
        assert differs(problem) < 1e-12
        assert np.array_equal(problem.sums().counts, whole.counts)
    if name != "differential":  # the twin: other segments are other windows
        other = replace(source, segments=((0, 2990), (2990, 5000)))
        assert differs(EstimationProblem(chosen, (other,))) > 1e-6


@pytest.mark.parametrize("name", FORMS)
def test_segments_are_apart(name: str) -> None:
    """Two motions with a jump between them."""
    one, two = clean("ur10", 0), clean("ur10", 1)
    joined = motion(
        *(np.concatenate(pair) for pair in zip(*((m.t, m.q, m.qd, m.qdd, m.tau) for m in (one, two)), strict=True))
    )
    ends = ((0, len(one)), (len(one), len(joined)))
    chosen = form(name, base_of("ur10"))
    problem = EstimationProblem(chosen, (ArraySource(joined, RATE, ends),))
    assert error(problem) < 1e-9
    alone = [EstimationProblem(chosen, (ArraySource(each, RATE),)).sums().counts for each in (one, two)]
    assert np.array_equal(problem.sums().counts, sum(alone))
    if name != "differential":  # the twin: integrated across the jump
        assert error(EstimationProblem(chosen, (ArraySource(joined, RATE),))) > 1e-4


@pytest.mark.parametrize("name", FORMS)
def test_forms_have_names_and_layouts(name: str) -> None:
    chosen = form(name, base_of("ur10"))
    assert chosen.name == name
    assert chosen.layout.base == len(base_of("ur10"))
    problem = EstimationProblem(chosen, (ArraySource(clean("ur10"), RATE),))
    for rows in problem.rows():
        assert rows.values.shape == (chosen.layout.parts[-1].stop, rows.tau.shape[1])
        residual = rows.tau - chosen.layout.torque(rows.values, base_of("ur10").beta)
        assert abs(residual).max() < 1e-9 * abs(rows.tau).max()


@pytest.mark.parametrize("name", WITHOUT_ACCELERATIONS)
def test_directions_of_the_log_are_taken(name: str) -> None:
    """Where motion brings directions, these stand in the Coulomb columns."""
    exact = clean("two links")
    chosen = form(name, base_of("two links"))

    def rows(direction: np.ndarray | None) -> np.ndarray:
        source = ArraySource(replace(exact, direction=direction), RATE)
        return np.concatenate([rows.values.copy() for rows in EstimationProblem(chosen, (source,), size=600).rows()], axis=1)

    assert np.allclose(rows(np.sign(exact.qd)), rows(None), rtol=0.0, atol=1e-13)
    assert not np.allclose(rows(0.9 * np.sign(exact.qd)), rows(None), rtol=0.0, atol=1e-3)


@pytest.mark.parametrize("name", WITHOUT_ACCELERATIONS)
def test_logs(name: str) -> None:
    """A log with its low-pass, decimation and directions: results do not depend on pieces, and are right."""
    robot = base_of("ur10").robot
    exact = clean("ur10")
    log = Log(robot.actuated, exact.t, exact.q, exact.tau)
    source = LogSource(choose_preparation(log, PreparationSettings(cutoff=20.0)), drive_directions(robot))
    assert source.rate < RATE
    chosen = form(name, base_of("ur10"))
    ones = np.ones(6)
    normals = [EstimationProblem(chosen, (source,), size=size).sums().normal(ones) for size in (10**6, 400)]
    assert abs(normals[0] - normals[1]).max() < 1e-9 * abs(normals[0]).max()
    assert error(EstimationProblem(chosen, (source,))) < 2e-2  # sharp Coulomb friction, with_smooth_friction as far as can be known


# --- noise ------------------------------------------------------------------------------------------------------------


def noisy(seed: int, cutoff: float) -> ArraySource:
    """Positions with noise, velocities and accelerations by differences of what the low-pass leaves."""
    exact = clean("rigid")
    assert exact.tau is not None
    q = exact.q + 2e-5 * np.random.default_rng(seed).normal(size=exact.q.shape)
    differentiator = make_differentiator("central", cutoff, RATE)
    smooth = differentiator.smooth(np.ascontiguousarray(np.concatenate([q, exact.tau], axis=1).T))
    kept = slice(250, len(exact) - 250)
    q, qd, qdd = (np.ascontiguousarray(differentiator.differentiate(smooth[:6], order, kept).T) for order in range(3))
    tau = np.ascontiguousarray(differentiator.differentiate(smooth[6:], 0, kept).T)
    return ArraySource(motion(exact.t[kept], q, qd, qdd, tau), RATE)


@pytest.mark.parametrize(("name", "ratio"), [("integral", 30.0), ("momentum", 1000.0)])
def test_noise_of_accelerations_is_avoided(name: str, ratio: float) -> None:
    """Torque errors on the exact motion, over four seeds."""
    base = ytheta.base_parameters(base_of("rigid").robot)
    N = EstimationProblem(Differential(base), (ArraySource(clean("rigid"), RATE),)).sums().normal(np.ones(6))

    def off(chosen: Form, cutoff: float) -> float:
        errors = [LeastSquares().fit(EstimationProblem(chosen, (noisy(k, cutoff),))).beta - base.beta for k in range(4)]
        return float(np.sqrt(np.mean([e @ N @ e for e in errors]) / (base.beta @ N @ base.beta)))

    # The twin: where a low-pass has taken the noise away before, no form is much better than another.
    noise, none = (off(Differential(base), cutoff) / off(form(name, base), cutoff) for cutoff in (150.0, 8.0))
    assert noise > ratio
    assert none < 2.0


# --- brute force ------------------------------------------------------------------------------------------------------


@cache
def _planar() -> tuple[BaseParameters, MotionSamples]:
    robot = ytheta.load("lu-two-link")
    t = np.arange(400) / RATE
    state = Fourier(2, 3, lowest=0.5)(t)
    return ytheta.base_parameters(robot), motion(t, *state, torque(robot, *state))


def _integrand(weight: Callable[[float], float]) -> Callable[[float], np.ndarray]:
    """Weighted columns of Pinocchio's Y, which knows accelerations, and tau beside them."""
    base, _ = _planar()
    links = peer(base.robot)
    columns = [base.robot.parameter_names.index(name) for name in base.independent]
    course = Fourier(2, 3, lowest=0.5)

    def at(t: float) -> np.ndarray:
        q, qd, qdd = course(t)
        return weight(t) * np.column_stack([links.regressor(q, qd, qdd)[:, columns], links.torque(q, qd, qdd)])

    return at


def _rows(chosen: Form) -> np.ndarray:
    """All equations: regressor, torque beside it; one matrix for each window."""
    _, course = _planar()
    found = [
        np.concatenate([chosen.layout.dense(rows.values), rows.tau.T[:, :, None]], axis=2)
        for rows in EstimationProblem(chosen, (ArraySource(course, RATE),), size=100).rows()
    ]
    return np.concatenate(found)


def _integral_windows() -> tuple[Form, list[np.ndarray]]:
    base, course = _planar()
    window, start = 0.1, REACH / RATE
    count = int((len(course) - 1 - 2 * REACH) / (window * RATE))
    ends = [(start + k * window, start + (k + 1) * window) for k in range(count)]
    return Integral(base), [quad_vec(_integrand(lambda _: 1.0 / window), *each)[0] for each in ends]


def _gaussian_windows() -> tuple[Form, list[np.ndarray]]:
    base, course = _planar()
    corner = 10.0
    sigma = np.sqrt(2.0 * np.log(2.0)) / (2.0 * np.pi * corner)
    reach, hop = np.ceil(7.434 * sigma * RATE) / RATE, round(1.5 * sigma * RATE) / RATE
    centers = np.arange(reach, course.t[-1] - reach + 1e-9, hop)

    def averaged(center: float) -> np.ndarray:
        def gaussian(t: float) -> float:
            return float(np.exp(-0.5 * ((t - center) / sigma) ** 2) / (sigma * np.sqrt(2.0 * np.pi)))

        return quad_vec(_integrand(gaussian), center - reach, center + reach, epsabs=1e-12)[0]

    return Momentum(base, corner=corner), [averaged(center) for center in centers]


@pytest.mark.parametrize("brute", [_integral_windows, _gaussian_windows])
def test_rows_equal_brute_force(brute: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    chosen, expected = brute()
    found = _rows(chosen)
    assert len(found) == len(expected)
    assert len(found) >= 7
    assert abs(found - np.array(expected)).max() < 1e-8 * abs(np.array(expected)).max()
    monkeypatch.setattr(windows, "momentum_regressor", flipped)
    assert abs(_rows(replace(chosen)) - np.array(expected)).max() > 1e-2 * abs(np.array(expected)).max()


@pytest.mark.parametrize("steps", [1, 3, 12, 51])
def test_quadrature(steps: int) -> None:
    weights, t = quadrature(steps), np.arange(-REACH, steps + REACH + 1) - 0.5 * steps
    half = 0.5 * steps + REACH
    for degree in range(10):
        exact = (0.5**degree if degree % 2 == 0 else 0.0) * (steps / half) ** (degree + 1) / (degree + 1)
        assert weights @ (t / half) ** degree / half == pytest.approx(exact, rel=1e-9, abs=1e-13)
    trapezoids = np.where(abs(t) < 0.5 * steps, 1.0, np.where(abs(t) == 0.5 * steps, 0.5, 0.0))  # the twin
    assert trapezoids @ t**2 != pytest.approx(steps**3 / 12.0, rel=1e-5)
    assert np.sum(weights**2) < 1.2 * steps + 0.3


def test_the_corner_is_where_half_passes() -> None:
    base, course = _planar()
    chosen = Momentum(base, corner=12.0)
    wave = np.cos(2.0 * np.pi * 12.0 * course.t)
    source = ArraySource(replace(course, tau=np.column_stack([wave, np.ones_like(wave)])), RATE)
    tau = np.concatenate([rows.tau for rows in EstimationProblem(chosen, (source,)).rows()], axis=1)
    span = 2 * int(np.ceil(7.434 * chosen.width(RATE))) + 1
    center = span // 2 + np.arange(tau.shape[1]) * round(1.5 * chosen.width(RATE))
    assert np.allclose(tau, [0.5 * wave[center], np.ones(len(center))], rtol=0.0, atol=1e-10)


# --- the door, and what is refused ------------------------------------------------------------------------------------


def test_forms_by_name() -> None:
    base, _ = _planar()
    integral, momentum = form("integral", base, window=0.25), form("momentum", base, corner=3.0)
    assert isinstance(integral, Integral)
    assert integral.window == 0.25
    assert isinstance(momentum, Momentum)
    assert momentum.corner == 3.0
    slow = form("differential", base, min_speed=np.array([0.1, 0.2]))
    assert isinstance(slow, Differential)
    with pytest.raises(UnknownNameError, match="there is no form 'integrated'; did you mean 'integral'"):
        form("integrated", base)
    with pytest.raises(InputError, match="the integral form has no 'corner'; leave it out, or take the momentum form"):
        form("integral", base, corner=2.0)


@pytest.mark.parametrize("name", WITHOUT_ACCELERATIONS)
def test_loops_are_refused(name: str) -> None:
    base = ytheta.base_parameters(ytheta.load("five-bar"))
    with pytest.raises(InputError, match=f"closed loops, and the {name} form .* use the differential form"):
        form(name, base)


def test_impossible_windows_are_refused() -> None:
    base, _ = _planar()
    for window in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(InputError, match="give its length in seconds"):
            Integral(base, window)
    with pytest.raises(InputError, match=r"shorter than the 0\.01 s between samples"):
        Integral(base, 0.004).steps(100.0)
    with pytest.raises(InputError, match="give a frequency above 0"):
        Momentum(base, 0.0)
    with pytest.raises(InputError, match=r"too high for 100 samples per second; choose at most 12\.5 Hz"):
        Momentum(base, 20.0).width(100.0)
    assert list(Integral(base).pieces(0, 20, RATE, 10)) == []
    assert Integral(base).steps(1000.0) == 100
    assert Integral(base).steps(80.0) == 12


@pytest.mark.parametrize("name", FORMS)
def test_torques_of_mujoco_give_the_parameters(name: str) -> None:
    """Links, rotors and friction that the description does not have; the twin is the description itself."""
    known = case(ytheta.load("ur10"), 1500)
    source = ArraySource(known.motion, RECORDED)
    found = LeastSquares().fit(EstimationProblem(form(name, known.base), (source,))).beta
    assert known.error(found) < 1e-6  # measured: 2e-11
    assert known.error(known.base.beta) > 1e-2
