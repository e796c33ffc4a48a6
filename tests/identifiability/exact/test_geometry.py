"""Rational rotations and numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ytheta.identifiability.exact import geometry
from ytheta.robot.frame import Frame


@given(st.floats(-3.2, 3.2), st.floats(-3.2, 3.2), st.floats(-3.2, 3.2))
def test_rational_rotations(roll: float, pitch: float, yaw: float) -> None:
    inexact = np.array(Frame.from_rpy(roll, pitch, yaw).rotation)
    R = geometry.to_rational_rotation(inexact)
    assert (np.eye(3, dtype=int) == R.T @ R).all()
    np.testing.assert_allclose(R.astype(float), inexact, atol=4e-9)  # quarter turns within ANGLE_TOLERANCE are exact
    u = geometry.to_rational_direction(inexact[:, 0])
    assert sum(x * x for x in u) == 1


def test_quarter_turns_are_exact_and_others_near() -> None:
    assert geometry.to_circle_point(np.cos(np.pi / 2), np.sin(np.pi / 2)) == (0, 1)
    c, s = geometry.to_circle_point(np.cos(2.5), np.sin(2.5))
    assert c * c + s * s == 1
    np.testing.assert_allclose([float(c), float(s)], [np.cos(2.5), np.sin(2.5)], atol=1e-13)
    assert geometry.to_fraction(0.4318) == Fraction(2159, 5000)
    assert geometry.to_fraction(0.1 + 0.2) == Fraction(3, 10)
