"""Frames against SciPy's rotations and plain arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tests.support.random_robots import angles, frames, numbers, unit_vectors
from ytheta.errors import InputError, UnsetLengthError
from ytheta.files.lengths import symbol
from ytheta.robot.frame import Frame, Vector, cos_sin
from ytheta.robot.reading.snap import normalize_axis


@given(angles(), angles(), angles())
def test_rpy_equals_scipy(roll: float, pitch: float, yaw: float) -> None:
    expected = Rotation.from_euler("xyz", [roll, pitch, yaw]).as_matrix()
    np.testing.assert_allclose(Frame.from_rpy(roll, pitch, yaw).rotation, expected, rtol=0, atol=1e-14)


@given(unit_vectors(), angles())
def test_turn_equals_scipy(axis: Vector, angle: float) -> None:
    expected = Rotation.from_rotvec(angle * np.array(axis)).as_matrix()
    np.testing.assert_allclose(Frame.turn(axis, angle).rotation, expected, rtol=0, atol=1e-14)


@given(st.tuples(numbers(), numbers(), numbers(), numbers()).filter(lambda q: math.hypot(*q) > 0.1))
def test_quaternion_equals_scipy(q: tuple[float, float, float, float]) -> None:
    expected = Rotation.from_quat(q, scalar_first=True).as_matrix()
    np.testing.assert_allclose(Frame.from_quaternion(*q).rotation, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("size", [5e-324, 1e-200, 1.0, 1e200, 1e308])
def test_quaternions_of_any_length_give_the_same_rotation(size: float) -> None:
    turned = Frame.from_quaternion(size, 0.0, -size, 0.0).rotation
    assert turned == Frame.from_quaternion(1.0, 0.0, -1.0, 0.0).rotation
    assert Frame.from_quaternion(0.0, 0.0, size, 0.0).rotation == Frame.turn((0.0, 1.0, 0.0), math.pi).rotation
    assert normalize_axis((0.0, -size, 0.0)) == (0.0, -1.0, 0.0)


def test_invalid_rotations_are_errors() -> None:
    with pytest.raises(InputError, match="a quaternion of zeros is not a rotation"):
        Frame.from_quaternion(0.0, 0.0, -0.0, 0.0)
    with pytest.raises(InputError, match="not finite"):
        Frame.from_quaternion(1.0, 0.0, math.inf, 0.0)
    with pytest.raises(InputError, match="the axis is zero"):
        normalize_axis((0.0, 0.0, 0.0))


@pytest.mark.parametrize("angle", [1e7, 1e15, -1e308])
def test_large_angles_use_the_math_library(angle: float) -> None:
    assert cos_sin(angle) == (math.cos(angle), math.sin(angle))


@given(frames())
def test_rpy_is_read_back(frame: Frame) -> None:
    np.testing.assert_allclose(Frame.from_rpy(*frame.rpy).rotation, frame.rotation, rtol=0, atol=1e-11)


@given(frames(), frames())
def test_composition_is_the_matrix_product(a: Frame, b: Frame) -> None:
    np.testing.assert_allclose((a @ b).matrix, a.matrix @ b.matrix, rtol=0, atol=1e-14)
    np.testing.assert_allclose((a @ a.inverse()).matrix, np.eye(4), rtol=0, atol=1e-13)


@pytest.mark.parametrize("k", range(-13, 14))
def test_multiples_of_thirty_degrees_are_exact(k: int) -> None:
    angle = k * math.pi / 6
    c, s = cos_sin(angle)
    assert c == pytest.approx(math.cos(angle), abs=1e-15)
    assert s == pytest.approx(math.sin(angle), abs=1e-15)
    if k % 3 == 0:
        assert {abs(c), abs(s)} == {0.0, 1.0}
    assert cos_sin(angle + 1e-9) == (math.cos(angle + 1e-9), math.sin(angle + 1e-9))


@given(numbers(), numbers(), frames(), frames())
def test_symbolic_frames_evaluate_to_numeric_ones(l1: float, l2: float, a: Frame, b: Frame) -> None:
    symbolic = a @ Frame.shift(symbol("l1"), 0.0, symbol("l2") * 2.0) @ b
    plain = a @ Frame.shift(l1, 0.0, 2.0 * l2) @ b
    values = {"l1": l1, "l2": l2}
    np.testing.assert_allclose(symbolic.numeric(values).matrix, plain.matrix, rtol=0, atol=1e-13)
    np.testing.assert_allclose(symbolic.inverse().numeric(values).matrix, plain.inverse().matrix, rtol=0, atol=1e-12)


def test_the_error_names_the_unset_length() -> None:
    with pytest.raises(UnsetLengthError, match="the length 'l1' has no value"):
        _ = Frame.shift(symbol("l1")).matrix


@pytest.mark.parametrize("axis", [(0.0, 0.0, 0.0), (0.0, 0.0, 2.0), (math.nan, 0.0, 1.0)])
def test_a_turn_needs_a_unit_axis(axis: Vector) -> None:
    with pytest.raises(InputError, match="axis"):
        Frame.turn(axis, 1.0)
