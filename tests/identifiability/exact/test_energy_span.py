"""The row echelon form of rational matrices."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ytheta.identifiability.exact.energy import compute_row_basis


def test_row_basis_is_the_reduced_echelon_form() -> None:
    half = Fraction(1, 2)
    rows = np.array([[1, 2, 3], [2, 4, 6], [half, 1, 2]], dtype=object)
    assert compute_row_basis(rows).tolist() == [[1, 2, 0], [0, 0, 1]]
    assert compute_row_basis(rows[:0]).shape == (0, 3)
