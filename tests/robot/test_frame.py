"""Frames against SciPy's rotations and plain arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tests.support.random_robots import angles, frames, numbers, unit_vectors
from ytheta.errors import InputError, UnsetAngleError, UnsetLengthError
from ytheta.files.symbols import Angle, symbol
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


@given(angles(), angles(), frames(), frames())
def test_twisted_frames_evaluate_to_numeric_ones(alpha: float, beta: float, a: Frame, b: Frame) -> None:
    """Composition, inverse and evaluation of chains with two symbolic angles, about different axes."""
    x, y, z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    values = {"alpha": alpha, "beta": beta}
    symbolic = a @ Frame.turn(x, Angle("alpha")) @ b @ (Frame.turn(z, -Angle("beta")) @ Frame.turn(y, Angle("alpha")))
    plain = a @ Frame.turn(x, alpha) @ b @ (Frame.turn(z, -beta) @ Frame.turn(y, alpha))
    assert symbolic.angles == {"alpha", "beta"}
    np.testing.assert_allclose(symbolic.numeric({}, values).matrix, plain.matrix, rtol=0, atol=1e-13)
    inverse = symbolic.inverse().numeric({}, values)
    np.testing.assert_allclose(inverse.matrix, plain.inverse().matrix, rtol=0, atol=1e-12)
    twice = (symbolic @ symbolic).with_angles(values)
    np.testing.assert_allclose(twice.matrix, plain.matrix @ plain.matrix, rtol=0, atol=1e-12)


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])
@given(angles())
def test_a_named_angle_is_exactly_its_value(axis: Vector, value: float) -> None:
    assert Frame.turn(axis, Angle("alpha")).with_angles({"alpha": value}) == Frame.turn(axis, value)
    assert Frame.turn(axis, -Angle("alpha")).with_angles({"alpha": value}) == Frame.turn(axis, -value)


def test_twisted_frames_keep_lengths_symbolic() -> None:
    frame = Frame.turn((1.0, 0.0, 0.0), Angle("alpha")) @ Frame.shift(0.0, symbol("l1"), 0.5)
    assert (frame.symbols, frame.angles) == ({"l1"}, {"alpha"})
    turned = frame.with_angles({"alpha": math.pi / 2})
    assert turned.translation == (0.0, -0.5, symbol("l1"))
    assert frame.numeric({"l1": 2.0}, {"alpha": 0.0}) == Frame((0.0, 2.0, 0.5))


def test_the_error_names_the_unset_angle() -> None:
    frame = Frame.turn((1.0, 0.0, 0.0), Angle("alpha"))
    for use in (lambda: frame.matrix, lambda: frame.rpy, lambda: frame.numeric({"alpha": 1.0})):
        with pytest.raises(UnsetAngleError, match=r"angle 'alpha' has no value; give it one with robot\.with_angles"):
            use()
    with pytest.raises(
        InputError, match=r"the angle '-alpha' turns about \(0.6, 0.0, 0.8\); a symbolic angle can turn"
    ):
        Frame.turn((0.6, 0.0, 0.8), -Angle("alpha"))


@pytest.mark.parametrize("axis", [(0.0, 0.0, 0.0), (0.0, 0.0, 2.0), (math.nan, 0.0, 1.0)])
def test_a_turn_needs_a_unit_axis(axis: Vector) -> None:
    with pytest.raises(InputError, match="axis"):
        Frame.turn(axis, 1.0)
