"""The differential form: sums in one native call, compared with block-wise sums and with dense matrices."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.support.driven_robots import driven_robot
from tests.support.motor_robots import COUPLED, PUMA
from ytheta.dynamics.kernels import regressor
from ytheta.errors import InputError
from ytheta.identifiability.registry import base_parameters
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction import COULOMB
from ytheta.identification.equations.normal_equations import NormalEquations, RunningSums, accumulate
from ytheta.logs.preparing.motion_sources import ArraySource
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.robot.reading.load import load

ROBOTS = {
    "ur10": driven_robot("ur10"),
    "panda": driven_robot("panda"),
    "prismatic": driven_robot("stanford"),
    "motor on two joints": PUMA,
    "couplings": COUPLED,
}
RATE = 100.0
SAMPLES = (0, 1, 5, 319, 700)  # blocks have about 300 samples, vectors two to eight


@cache
def make_form(name: str, *, masked: bool = False) -> Differential:
    form = Differential(base_parameters(ROBOTS[name], friction=("viscous", "coulomb", "offset")))
    return replace(form, min_speed=np.full(len(form.base.robot.actuated), 0.7)) if masked else form


def draw_motion(form: Differential, samples: int, *, with_direction: bool = True) -> MotionSamples:
    rng, robot = np.random.default_rng(samples), form.base.robot
    q, qd, qdd, tau = rng.uniform(-2.0, 2.0, (4, samples, len(robot.actuated)))
    direction = rng.uniform(-1.0, 1.0, (samples, len(robot.moving))) if with_direction else None
    return MotionSamples(np.arange(samples) / RATE, q, qd, qdd, tau, None, np.arange(samples), direction)


def compute_dense_sums(
    form: Differential, motion: MotionSamples, around: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return WᵀW and Wᵀtau of all joints together, and tau² of every joint, from dense regressors.

    Coulomb columns are the columns of the offsets, times the directions.
    """
    robot, tau = form.base.robot, motion.tau
    Y = form.kernel(motion.q, motion.qd, motion.qdd)
    if motion.direction is not None:
        offsets = regressor(robot, parameters=[f"{name}.fo" for name in robot.moving])(motion.q, motion.qd, motion.qdd)
        for drive, name in enumerate(robot.moving):
            column = form.base.independent.index(f"{name}{COULOMB}")
            Y[:, :, column] = offsets[:, :, drive] * motion.direction[:, drive, None]
    assert tau is not None
    residual = tau if around is None else tau - Y @ around
    kept = 1.0 if form.min_speed is None else (abs(motion.qd) >= form.min_speed).astype(float)
    W, t = (Y * np.expand_dims(kept, -1)).reshape(-1, Y.shape[2]), residual * kept
    return W.T @ W, W.T @ t.ravel(), (t**2).sum(axis=0)


def differ(equations: NormalEquations, expected: tuple[np.ndarray, np.ndarray, np.ndarray]) -> bool:
    """Whether a sum differs by more than 1e-12 of the largest one of its kind."""
    ones = np.ones(len(equations.joints))
    sums = (equations.matrix(ones), equations.right_side(ones), equations.torque_squares)
    return any(abs(a - b).max() > 1e-12 * abs(b).max() for a, b in zip(sums, expected, strict=True))


def add_in_one_call(form: Differential, motion: MotionSamples, around: np.ndarray | None) -> NormalEquations:
    sums, equations = RunningSums(form.layout, around=around), form.kernel_equations(motion)
    assert equations is not None
    sums.add_kernel_equations(equations)
    return sums.make_normal_equations()


@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("name", ROBOTS)
def test_sums_of_one_call_equal_dense_ones_and_those_of_blocks(name: str, masked: bool, around: bool) -> None:
    form = make_form(name, masked=masked)
    beta = np.random.default_rng(0).normal(size=len(form.base)) if around else None
    for samples in SAMPLES:
        for with_direction in (False, True):
            motion = draw_motion(form, samples, with_direction=with_direction)
            equations = add_in_one_call(form, motion, beta)
            blocks = accumulate(form.layout, form.rows(motion, RATE), around=beta)
            for a, b in zip(equations.joints, blocks.joints, strict=True):
                np.testing.assert_array_equal(a.gram, b.gram)
                np.testing.assert_array_equal(a.right_side, b.right_side)
                assert (a.torque_squares, a.count) == (b.torque_squares, b.count)
            assert not differ(equations, compute_dense_sums(form, motion, beta))


@pytest.mark.parametrize("name", ROBOTS)
def test_a_wrong_owner_or_factor_of_a_direction_is_noticed(name: str) -> None:
    form = make_form(name)
    motion = draw_motion(form, 319)
    expected, friction = compute_dense_sums(form, motion, None), form.friction
    for wrong in (
        replace(friction, drives=np.roll(friction.drives, 1)),
        replace(friction, factors=friction.factors * (1.0 + 1e-6 * (np.arange(len(friction.factors)) == 2))),
    ):
        other = Differential(form.base)
        vars(other)["friction"] = wrong  # the cached property
        assert differ(add_in_one_call(other, motion, None), expected)


@pytest.mark.parametrize("around", [False, True])
def test_sums_do_not_depend_on_the_number_of_threads(around: bool) -> None:
    form = make_form("ur10")
    source = ArraySource(draw_motion(form, 3000), RATE)
    beta = np.ones(len(form.base)) if around else None
    one, *others = (
        EstimationProblem(form, (source,), threads=threads, piece_length=400).normal_equations(around=beta)
        for threads in (1, 2, 3, None)
    )
    assert not differ(one, compute_dense_sums(form, source.whole, beta))
    for other in others:
        for a, b in zip(one.joints, other.joints, strict=True):
            np.testing.assert_array_equal(a.gram, b.gram)
            np.testing.assert_array_equal(a.right_side, b.right_side)


def test_equations_that_need_more_than_a_kernel_are_added_block_by_block() -> None:
    closed = Differential(base_parameters(load("five-bar")))
    assert closed.kernel_equations(draw_motion(closed, 10, with_direction=False)) is None
    robot = driven_robot("ur10").with_drives(lambda _, drive: replace(drive, root=0.5))
    rooted = Differential(base_parameters(robot, friction=("viscous", "coulomb", "root", "offset")))
    assert rooted.laws is not None
    assert rooted.kernel_equations(draw_motion(rooted, 10)) is None
    form = make_form("ur10")
    weighted, equations = RunningSums(form.layout, weigh=np.abs), form.kernel_equations(draw_motion(form, 10))
    assert equations is not None
    with pytest.raises(InputError, match="weights are computed block by block"):
        weighted.add_kernel_equations(equations)
