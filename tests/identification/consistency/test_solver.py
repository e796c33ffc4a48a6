"""Cone programs: solutions that are known, infeasible ones, and the solver missing."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from ytheta.errors import MissingExtraError
from ytheta.identification.consistency.solver import Cone, Solution, from_svec, solve_cone_program, to_svec


def draw_symmetric(seed: int) -> np.ndarray:
    matrix = np.random.default_rng(seed).normal(size=(4, 4))
    return matrix + matrix.T


@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e2])
def test_projection_onto_the_cone_clips_eigenvalues(scale: float) -> None:
    target = draw_symmetric(0)
    outcome = solve_cone_program([Cone(np.eye(10), to_svec(target), is_matrix=True)], objective_scale=scale)
    values, vectors = np.linalg.eigh(target)
    nearest = (vectors * np.maximum(values, 0.0)) @ vectors.T
    assert outcome.solution is Solution.OPTIMAL
    np.testing.assert_allclose(from_svec(outcome.v) + target, nearest, atol=1e-6)
    assert outcome.v @ outcome.v == pytest.approx((np.minimum(values, 0.0) ** 2).sum(), rel=1e-6)
    np.testing.assert_allclose(outcome.duals[0], outcome.v, atol=1e-5)  # v = Aᵀ z


def test_nearest_point_of_half_spaces() -> None:
    cones = [Cone(np.array([[1.0, 1.0, 0.0]]), np.array([-2.0]), is_matrix=False)]
    outcome = solve_cone_program(cones)
    np.testing.assert_allclose(outcome.v, [1.0, 1.0, 0.0], atol=1e-7)
    assert cones[0].compute_slack(outcome.v) == pytest.approx(0.0, abs=1e-7)
    assert cones[0].compute_slack(np.zeros(3)) == -2.0


def test_infeasible_programs_have_a_certificate() -> None:
    rows = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    cones = [Cone(row[None], np.array([b]), is_matrix=False) for row, b in zip(rows, (-2.0, 1.0, -1.0), strict=True)]
    outcome = solve_cone_program(cones)
    assert outcome.solution is Solution.INFEASIBLE
    sizes = np.array([float(abs(dual).max()) for dual in outcome.duals])
    assert sizes[2] < 1e-6 * sizes[:2].min()
    assert solve_cone_program(cones[1:]).solution is Solution.OPTIMAL


def test_slack_of_a_matrix_is_its_smallest_eigenvalue() -> None:
    matrix = draw_symmetric(1)
    cone = Cone(np.zeros((10, 2)), to_svec(matrix), is_matrix=True)
    assert cone.compute_slack(np.zeros(2)) == pytest.approx(np.linalg.eigvalsh(matrix)[0], rel=1e-12)


def test_a_missing_solver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(MissingExtraError, match=r"Clarabel.*is not installed; run: pip install clarabel"):
        solve_cone_program([Cone(np.eye(1), np.zeros(1), is_matrix=False)])
