"""The square-root update, compared with the information form."""

from __future__ import annotations

import numpy as np
import pytest

from ytheta.errors import InputError
from ytheta.native.products.row_sums import update_root


@pytest.mark.parametrize(("unknowns", "equations"), [(1, 1), (3, 2), (8, 5), (17, 0), (36, 7)])
def test_the_update_adds_information(unknowns: int, equations: int) -> None:
    rng = np.random.default_rng(0)
    root, A = rng.normal(size=(unknowns, unknowns)), rng.normal(size=(equations, unknowns))
    noise, residual = rng.uniform(0.5, 2.0, equations), rng.normal(size=equations)
    J = np.linalg.inv(root @ root.T) + (A.T / noise) @ A
    expected = np.linalg.solve(J, (A.T / noise) @ residual)
    x = update_root(root, A, noise, residual)
    scale = max(abs(np.linalg.inv(J)).max(), 1.0)
    np.testing.assert_allclose(root @ root.T, np.linalg.inv(J), rtol=1e-7, atol=1e-8 * scale)
    np.testing.assert_allclose(x, expected, rtol=1e-7, atol=1e-8 * scale)
    if equations:
        assert abs(x - 1.001 * expected).max() > 1e-4 * abs(expected).max()


def test_wrong_arrays_are_refused() -> None:
    A, ones = np.ones((2, 3)), np.ones(2)
    for root, equations, noise in ((np.eye(4), A, ones), (np.eye(3), A[:1], ones), (np.eye(3), A, np.ones(1))):
        with pytest.raises(InputError, match="cannot be updated"):
            update_root(root, equations, noise, ones)
    frozen = np.eye(3)
    frozen.flags.writeable = False
    unsuitable: tuple[np.ndarray, ...] = (frozen, np.eye(6)[::2, ::2], np.eye(3, dtype=np.float32))
    for array in unsuitable:
        with pytest.raises(InputError, match="updated in place"):
            update_root(array, A, ones, ones)
