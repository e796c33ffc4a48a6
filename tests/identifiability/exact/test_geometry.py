"""Rational rotations and numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import assume, given
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
    for error in (0.0, 0.9 * geometry.ANGLE_TOLERANCE, -0.9 * geometry.ANGLE_TOLERANCE):
        assert geometry.to_circle_point(np.cos(np.pi / 2 + error), np.sin(np.pi / 2 + error)) == (0, 1)
    beyond = np.pi / 2 + 1.1 * geometry.ANGLE_TOLERANCE
    assert geometry.to_circle_point(np.cos(beyond), np.sin(beyond)) != (0, 1)
    c, s = geometry.to_circle_point(np.cos(2.5), np.sin(2.5))
    assert c * c + s * s == 1
    np.testing.assert_allclose([float(c), float(s)], [np.cos(2.5), np.sin(2.5)], atol=1e-13)
    assert geometry.to_fraction(0.4318) == Fraction(2159, 5000)
    assert geometry.to_fraction(0.1 + 0.2) == Fraction(3, 10)


@given(st.floats(-3.2, 3.2), st.floats(-3.2, 3.2), st.floats(-3.2, 3.2))
def test_offsets_follow_the_rational_rotation(gamma: float, alpha: float, theta: float) -> None:
    """The offsets 0.4318, 0.25 and 0.1 along the axes of a modified Denavit-Hartenberg row."""
    assume(min(abs(math.sin(angle)) for angle in (gamma, alpha, theta)) > 1e-3)
    # Angles this near to a quarter turn are rounded to it, by more than the tolerance below; see the test above.
    assume(not any(1e-15 < abs(math.cos(angle)) <= geometry.ANGLE_TOLERANCE for angle in (gamma, alpha, theta)))
    turns = Frame.turn((0.0, 0.0, 1.0), gamma), Frame.turn((1.0, 0.0, 0.0), alpha), Frame.turn((0.0, 0.0, 1.0), theta)
    frame = turns[0] @ Frame.shift(0.4318, 0.0, 0.25) @ turns[1] @ Frame.shift(0.0, 0.0, 0.1) @ turns[2]
    matrix = frame.matrix
    R, p = matrix[:3, :3], matrix[:3, 3]
    exact, rotation = geometry.to_rational_offset(p, R), geometry.to_rational_rotation(R)
    np.testing.assert_allclose(exact.astype(float), p, atol=1e-12)
    across = np.array([-rotation[1, 2], rotation[0, 2], 0])  # z before the rotation x z after it, of length sin(alpha)
    size = abs(across @ exact)
    assert size * size == Fraction("0.4318") ** 2 * (across @ across)


def test_offsets_along_the_frame_axes_stay() -> None:
    R = np.array(Frame.from_rpy(0.3, -0.4, 0.7).rotation)
    offset = geometry.to_rational_offset(np.array([0.4318, 0.1, -0.25]), R)
    assert offset.tolist() == [Fraction(2159, 5000), Fraction(1, 10), Fraction(-1, 4)]
