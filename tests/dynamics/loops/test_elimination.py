"""Elimination in graphs: random systems are solved to rounding errors."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.loop_motion import is_close
from ytheta.dynamics.loops.elimination import find_blocks, solve
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
