"""Scaled pseudo-inertias: the reference is the identity, traces are inner products, frames do not matter."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.body_problems import make_pseudo
from ytheta.identification.consistency.solver import BASIS, LinkScale, from_svec, to_svec
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia

TENSOR = ((0.02, 0.002, 0.0), (0.002, 0.03, -0.001), (0.0, -0.001, 0.025))
BODY = Inertia.about_center(2.0, (0.2, 0.02, -0.01), TENSOR)
OTHER = Inertia.about_center(0.7, (-0.1, 0.3, 0.2), TENSOR)


def draw_symmetric(seed: int) -> np.ndarray:
    matrix = np.random.default_rng(seed).normal(size=(4, 4))
    return matrix + matrix.T


def test_svec_turns_traces_into_inner_products() -> None:
    A, B = draw_symmetric(0), draw_symmetric(1)
    assert to_svec(A) @ to_svec(B) == pytest.approx(np.trace(A @ B), rel=1e-13)
    np.testing.assert_allclose(from_svec(to_svec(A)), A, rtol=1e-15)
    np.testing.assert_array_equal(to_svec(np.stack([A, B]))[1], to_svec(B))


def test_svec_has_the_order_of_clarabel() -> None:
    matrix = np.array([[0.0, 1.0, 3.0, 6.0], [1.0, 2.0, 4.0, 7.0], [3.0, 4.0, 5.0, 8.0], [6.0, 7.0, 8.0, 9.0]])
    factors = np.array([1, np.sqrt(2), 1, np.sqrt(2), np.sqrt(2), 1, np.sqrt(2), np.sqrt(2), np.sqrt(2), 1])
    np.testing.assert_allclose(to_svec(matrix), np.arange(10.0) * factors, rtol=1e-15)


def test_basis_gives_the_pseudo_inertia() -> None:
    np.testing.assert_allclose(np.tensordot(BODY.vector, BASIS, 1), make_pseudo(BODY.vector, range(10)), rtol=1e-13)


def test_the_reference_is_the_identity() -> None:
    scale = LinkScale.of(BODY.pseudo)
    np.testing.assert_allclose(scale.to_scaled @ BODY.vector, to_svec(np.eye(4)), atol=1e-13)
    assert scale.compute_smallest_eigenvalue(0.3 * BODY.vector) == pytest.approx(0.3, rel=1e-12)
    X = from_svec(scale.to_scaled @ OTHER.vector)
    np.testing.assert_allclose(scale.factor @ X @ scale.factor.T, OTHER.pseudo, atol=1e-13)


def test_scaled_eigenvalues_do_not_depend_on_the_frame() -> None:
    frame = Frame.turn((0.0, 0.6, 0.8), 0.4) @ Frame.shift(0.5, -0.3, 0.2)
    moved, other = BODY.seen_from(frame), OTHER.seen_from(frame)
    smallest = LinkScale.of(BODY.pseudo).compute_smallest_eigenvalue(OTHER.vector)
    assert LinkScale.of(moved.pseudo).compute_smallest_eigenvalue(other.vector) == pytest.approx(smallest, rel=1e-9)
    assert LinkScale.of(moved.pseudo).compute_smallest_eigenvalue(OTHER.vector) != pytest.approx(smallest, rel=1e-3)
