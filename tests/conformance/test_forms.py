"""Requirements on every equation form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.estimation_cases import RATE as CASE_RATE
from tests.support.estimation_cases import make_case
from tests.support.form_cases import (
    RATE,
    ROBOTS,
    WITHOUT_ACCELERATIONS,
    base_of,
    estimation_error,
    exact_motion,
    make_motion,
    negated_momentum_regressor,
)
from ytheta.errors import InputError
from ytheta.identification.equations import windows
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.form import FORMS, Form, create_form
from ytheta.identification.equations.friction import make_drive_directions
from ytheta.identification.estimators.least_squares import LeastSquares
from ytheta.logs.log import Log
from ytheta.logs.preparing.derivatives import make_differentiator
from ytheta.logs.preparing.motion_sources import ArraySource, LogSource
from ytheta.logs.preparing.preparation import PreparationSettings, choose_preparation


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("name", FORMS)
def test_exact_motion_gives_exact_parameters(name: str, robot: str) -> None:
    problem = EstimationProblem(create_form(name, base_of(robot)), (ArraySource(exact_motion(robot), RATE),), threads=1)
    fit = LeastSquares().fit(problem)
    assert fit.unidentified.shape[1] == 0
    assert estimation_error(problem, fit.beta) < 1e-9  # 1e-6 is required


def test_all_forms_give_the_same_estimate() -> None:
    source = ArraySource(exact_motion("ur10"), RATE)
    problems = [EstimationProblem(create_form(name, base_of("ur10")), (source,)) for name in FORMS]
    betas = [LeastSquares().fit(problem).beta for problem in problems]
    scale = np.sqrt(np.diag(problems[0].normal_equations().matrix(np.ones(6))))
    for beta in betas[1:]:
        assert np.max(scale * abs(beta - betas[0])) < 1e-9 * np.max(scale * abs(betas[0]))


@pytest.mark.parametrize("name", WITHOUT_ACCELERATIONS)
def test_the_wrong_sign_of_the_momentum_fails(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = ArraySource(exact_motion("two links"), RATE)
    monkeypatch.setattr(windows, "momentum_regressor", negated_momentum_regressor)
    assert estimation_error(EstimationProblem(create_form(name, base_of("two links")), (source,), threads=1)) > 1e-2


@pytest.mark.parametrize("name", WITHOUT_ACCELERATIONS)
def test_accelerations_are_not_used(name: str) -> None:
    source = ArraySource(replace(exact_motion("ur10"), qdd=np.full_like(exact_motion("ur10").qdd, 1e3)), RATE)
    assert estimation_error(EstimationProblem(create_form(name, base_of("ur10")), (source,))) < 1e-9
    assert estimation_error(EstimationProblem(Differential(base_of("ur10")), (source,))) > 0.1


@pytest.mark.parametrize("name", FORMS)
def test_the_equations_do_not_depend_on_pieces_and_threads(name: str) -> None:
    source = ArraySource(exact_motion("ur10"), RATE, ((0, 3001), (3001, 5000)))
    form = create_form(name, base_of("ur10"))
    whole = EstimationProblem(form, (source,), threads=1, piece_length=10**6).normal_equations()

    def compute_difference(problem: EstimationProblem) -> float:
        ones = np.ones(6)
        equations = problem.normal_equations()
        a, b = equations.matrix(ones), whole.matrix(ones)
        c, d = equations.right_side(ones), whole.right_side(ones)
        return float(max(abs(a - b).max() / abs(b).max(), abs(c - d).max() / abs(d).max()))

    for size, threads in ((61, 2), (500, 1), (1024, 2)):
        problem = EstimationProblem(form, (source,), threads=threads, piece_length=size)
        assert compute_difference(problem) < 1e-12
        assert np.array_equal(problem.normal_equations().counts, whole.counts)
    if name != "differential":  # the twin: other segments give other windows
        other = replace(source, segments=((0, 2990), (2990, 5000)))
        assert compute_difference(EstimationProblem(form, (other,))) > 1e-6


@pytest.mark.parametrize("name", FORMS)
def test_windows_do_not_cross_segments(name: str) -> None:
    """The motion consists of two segments with a jump between them."""
    first, second = exact_motion("ur10", 0), exact_motion("ur10", 1)
    joined = make_motion(
        *(np.concatenate(pair) for pair in zip(*((m.t, m.q, m.qd, m.qdd, m.tau) for m in (first, second)), strict=True))
    )
    segments = ((0, len(first)), (len(first), len(joined)))
    form = create_form(name, base_of("ur10"))
    problem = EstimationProblem(form, (ArraySource(joined, RATE, segments),))
    assert estimation_error(problem) < 1e-9
    alone = [EstimationProblem(form, (ArraySource(each, RATE),)).normal_equations().counts for each in (first, second)]
    assert np.array_equal(problem.normal_equations().counts, sum(alone))
    if name != "differential":  # the twin: windows across the jump
        assert estimation_error(EstimationProblem(form, (ArraySource(joined, RATE),))) > 1e-4


@pytest.mark.parametrize("name", FORMS)
def test_layouts_are_complete_and_residuals_of_exact_motion_are_zero(name: str) -> None:
    form = create_form(name, base_of("ur10"))
    assert form.name == name
    assert form.layout.base_count == len(base_of("ur10"))
    problem = EstimationProblem(form, (ArraySource(exact_motion("ur10"), RATE),))
    for rows in problem.rows():
        assert rows.values.shape == (form.layout.slices[-1].stop, rows.tau.shape[1])
        residual = rows.tau - form.layout.torque(rows.values, base_of("ur10").beta)
        assert abs(residual).max() < 1e-9 * abs(rows.tau).max()


@pytest.mark.parametrize("name", WITHOUT_ACCELERATIONS)
def test_directions_of_the_log_are_used(name: str) -> None:
    """If motion contains drive directions, they replace the signs of velocities in the Coulomb columns."""
    exact = exact_motion("two links")
    form = create_form(name, base_of("two links"))

    def rows(direction: np.ndarray | None) -> np.ndarray:
        source = ArraySource(replace(exact, direction=direction), RATE)
        problem = EstimationProblem(form, (source,), piece_length=600)
        return np.concatenate([rows.values.copy() for rows in problem.rows()], axis=1)

    assert np.allclose(rows(np.sign(exact.qd)), rows(None), rtol=0.0, atol=1e-13)
    assert not np.allclose(rows(0.9 * np.sign(exact.qd)), rows(None), rtol=0.0, atol=1e-3)


@pytest.mark.parametrize("name", WITHOUT_ACCELERATIONS)
def test_logs_with_low_pass_and_decimation_give_the_parameters(name: str) -> None:
    """The equations do not depend on the pieces of the log, and the parameters are right."""
    robot = base_of("ur10").robot
    exact = exact_motion("ur10")
    log = Log(robot.actuated, exact.t, exact.q, exact.tau)
    source = LogSource(choose_preparation(log, PreparationSettings(cutoff=20.0)), make_drive_directions(robot))
    assert source.rate < RATE
    form = create_form(name, base_of("ur10"))
    ones = np.ones(6)
    problems = [EstimationProblem(form, (source,), piece_length=length) for length in (10**6, 400)]
    whole, pieces = (problem.normal_equations().matrix(ones) for problem in problems)
    assert abs(whole - pieces).max() < 1e-9 * abs(whole).max()
    # Coulomb friction that jumps cannot be determined more accurately after a low-pass.
    assert estimation_error(EstimationProblem(form, (source,))) < 2e-2


def make_noisy_source(seed: int, cutoff: float) -> ArraySource:
    """Return motion from noisy, low-passed positions, with differences as velocities and accelerations."""
    exact = exact_motion("rigid")
    assert exact.tau is not None
    q = exact.q + 2e-5 * np.random.default_rng(seed).normal(size=exact.q.shape)
    differentiator = make_differentiator("central", cutoff, RATE)
    smooth = differentiator.smooth(np.ascontiguousarray(np.concatenate([q, exact.tau], axis=1).T))
    kept = slice(250, len(exact) - 250)
    q, qd, qdd = (np.ascontiguousarray(differentiator.differentiate(smooth[:6], order, kept).T) for order in range(3))
    tau = np.ascontiguousarray(differentiator.differentiate(smooth[6:], 0, kept).T)
    return ArraySource(make_motion(exact.t[kept], q, qd, qdd, tau), RATE)


@pytest.mark.parametrize(("name", "ratio"), [("integral", 30.0), ("momentum", 1000.0)])
def test_noise_of_accelerations_does_not_matter(name: str, ratio: float) -> None:
    """Compare torque errors on the exact motion, over four seeds, with those of the differential form."""
    base = ytheta.base_parameters(base_of("rigid").robot)
    exact = EstimationProblem(Differential(base), (ArraySource(exact_motion("rigid"), RATE),))
    N = exact.normal_equations().matrix(np.ones(6))

    def compute_torque_error(form: Form, cutoff: float) -> float:
        errors = [
            LeastSquares().fit(EstimationProblem(form, (make_noisy_source(k, cutoff),))).beta - base.beta
            for k in range(4)
        ]
        return float(np.sqrt(np.mean([e @ N @ e for e in errors]) / (base.beta @ N @ base.beta)))

    # The twin: after a low-pass that removes the noise, no form is much better than the others.
    noisy, quiet = (
        compute_torque_error(Differential(base), cutoff) / compute_torque_error(create_form(name, base), cutoff)
        for cutoff in (150.0, 8.0)
    )
    assert noisy > ratio
    assert quiet < 2.0


@pytest.mark.parametrize("name", WITHOUT_ACCELERATIONS)
def test_loops_are_refused(name: str) -> None:
    base = ytheta.base_parameters(ytheta.load("five-bar"))
    with pytest.raises(InputError, match=f"closed loops, but the {name} form .* use the differential form"):
        create_form(name, base)


@pytest.mark.parametrize("name", FORMS)
def test_torques_of_mujoco_give_the_parameters(name: str) -> None:
    """The true links, rotors and friction differ from the description, which serves as the twin."""
    known = make_case(ytheta.load("ur10"), 1500)
    source = ArraySource(known.motion, CASE_RATE)
    beta = LeastSquares().fit(EstimationProblem(create_form(name, known.base), (source,))).beta
    assert known.error(beta) < 1e-6  # measured: 2e-11
    assert known.error(known.base.beta) > 1e-2
