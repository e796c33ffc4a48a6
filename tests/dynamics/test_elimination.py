"""Elimination in graphs: random systems are solved to rounding errors."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

from tests.support.loop_motion import is_close
from ytheta.dynamics.elimination import extract_entries, find_blocks, solve
from ytheta.dynamics.mechanism import exact_array


def test_elimination_needs_no_pivoting() -> None:
    """Random sparse systems with zeros on the diagonal and blocks of all sizes."""
    rng = np.random.default_rng(0)
    sizes = set()
    for n in range(1, 9):
        for density in (0.2, 0.4, 1.0):
            full = rng.normal(size=(n, n)) * (rng.uniform(size=(n, n)) < density) + np.roll(np.eye(n), 1, axis=0)
            matrix, right = exact_array(full.tolist()), rng.normal(size=(n, 2)).astype(object)
            solution = solve(matrix, right).astype(float)
            bound = 1e-13 * np.linalg.cond(full) ** 2
            assert is_close(full @ solution, right.astype(float), bound)
            sizes |= {len(rows) for rows, _ in find_blocks(matrix)}
    assert sizes >= {1, 2, 3, 4, 5}
    with pytest.raises(ValueError, match="structure is singular"):
        solve(exact_array([(1.5, 0.0), (2.5, 0.0)]), exact_array([(1.0,), (1.0,)]))


def test_only_zeros_and_units_become_integers() -> None:
    """Integers are left out of sums and products; every other constant keeps its value, and symbols stay symbols."""
    x = casadi.SX.sym("x")
    matrix = casadi.blockcat([[x, 2.5, 1.0], [-1.0, 0.0, 1.5], [-0.5, 2.0, casadi.SX(1, 1)]])
    entries = extract_entries(matrix)
    assert [type(entry) is int for entry in entries.ravel()] == [
        False,
        False,
        True,
        True,
        True,
        False,
        False,
        False,
        True,
    ]
    expected = np.array([[7.0, 2.5, 1.0], [-1.0, 0.0, 1.5], [-0.5, 2.0, 0.0]])
    column = casadi.vertcat(*entries.ravel())
    values = np.array(casadi.Function("entries", [x], [column])(7.0)).reshape(3, 3)
    np.testing.assert_array_equal(values, expected)
