"""Frames and symbolic lengths, against SciPy's rotations and plain arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tests.support.random_robots import angles, frames, numbers, unit_vectors
from ytheta.errors import InputError, RobotFileError, UnsetLengthError
from ytheta.files.lengths import Length, parse_scalar, symbol
from ytheta.robot.frame import Frame, Vector, cos_sin
from ytheta.robot.reading.snap import Snapper, normalize_axis

NAMES = frozenset({"l1", "l2"})


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
def test_quaternions_of_any_size_turn_alike(size: float) -> None:
    turned = Frame.from_quaternion(size, 0.0, -size, 0.0).rotation
    assert turned == Frame.from_quaternion(1.0, 0.0, -1.0, 0.0).rotation
    assert Frame.from_quaternion(0.0, 0.0, size, 0.0).rotation == Frame.turn((0.0, 1.0, 0.0), math.pi).rotation
    assert normalize_axis((0.0, -size, 0.0)) == (0.0, -1.0, 0.0)


def test_what_is_no_rotation() -> None:
    with pytest.raises(InputError, match="a quaternion of zeros is not a rotation"):
        Frame.from_quaternion(0.0, 0.0, -0.0, 0.0)
    with pytest.raises(InputError, match="not finite"):
        Frame.from_quaternion(1.0, 0.0, math.inf, 0.0)
    with pytest.raises(InputError, match="the axis is zero"):
        normalize_axis((0.0, 0.0, 0.0))


@pytest.mark.parametrize("angle", [1e7, 1e15, -1e308])
def test_angles_of_many_turns_are_left_to_the_library(angle: float) -> None:
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


# --- symbolic lengths -----------------------------------------------------------------------------------------------


@given(numbers(), numbers(), frames(), frames())
def test_symbolic_frames_evaluate_to_numeric_ones(l1: float, l2: float, a: Frame, b: Frame) -> None:
    symbolic = a @ Frame.shift(symbol("l1"), 0.0, symbol("l2") * 2.0) @ b
    plain = a @ Frame.shift(l1, 0.0, 2.0 * l2) @ b
    values = {"l1": l1, "l2": l2}
    np.testing.assert_allclose(symbolic.numeric(values).matrix, plain.matrix, rtol=0, atol=1e-13)
    np.testing.assert_allclose(symbolic.inverse().numeric(values).matrix, plain.inverse().matrix, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("pi/2", math.pi / 2),
        ("-3*pi/4", -3 * math.pi / 4),
        ("1e-3", 1e-3),
        ("l1", symbol("l1")),
        ("-l1/2 + 0.1", Length(0.1, (("l1", -0.5),))),
        ("2*(l1 - l2) + l2", Length(0.0, (("l1", 2.0), ("l2", -1.0)))),
        ("l1 - l1 + 3", 3.0),
        ("+1 - (-l2)", Length(1.0, (("l2", 1.0),))),
    ],
)
def test_expressions(text: str, value: float | Length) -> None:
    assert parse_scalar(text, NAMES) == value
    assert parse_scalar(str(value), NAMES) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("l3", "the length 'l3' is not declared; there are: l1, l2"),
        ("l1*l2", "two lengths cannot be multiplied"),
        ("1/l1", "nothing can be divided by a length"),
        ("l1 +", "not an arithmetic expression"),
        ("__import__('os').system('true')", "only numbers, lengths, pi"),
        ("l1.real", "only numbers, lengths, pi"),
        ("2**3", r"only \+ - \* / are allowed"),
        ("1/0", "division by zero"),
        ("True", "true and false are not numbers"),
        ("1e999", "not a finite number"),
        ("1" + "+1" * 300, "more than 500 parts"),
        ("1" + "+1" * 3000, "longer than 5000 characters"),
        ("-" * 4000 + "1", "nested too deeply|more than 500 parts"),
        ("1" * 400, "too large"),
        ("1e308*l1*10", "not a finite number"),
        ("l1/1e-320", "not a finite number"),
        ("0.5if l1 else 2", "only numbers, lengths, pi"),
    ],
)
def test_bad_expressions(text: str, reason: str) -> None:
    with pytest.raises(RobotFileError, match=reason):
        parse_scalar(text, NAMES)


def test_unset_length_is_named() -> None:
    with pytest.raises(UnsetLengthError, match="the length 'l1' has no value"):
        _ = Frame.shift(symbol("l1")).matrix


# --- snapping -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("angle", "exact"),
    [(1.5708, math.pi / 2), (3.1416, math.pi), (-0.5236, -math.pi / 6), (1.0472, math.pi / 3), (5e-5, 0.0)],
)
def test_rounded_angles_snap(angle: float, exact: float) -> None:
    snapper = Snapper(1e-4)
    assert snapper.snap_angle(angle, "here") == exact
    assert "1 rounded angle " in snapper.findings[0].text
    assert Snapper(0.0).snap_angle(angle, "here") == angle


@pytest.mark.parametrize("angle", [1.5709, 0.7854, 1.0, 2e-4])
def test_other_angles_do_not_snap(angle: float) -> None:
    snapper = Snapper(1e-4)
    assert snapper.snap_angle(angle, "here") == angle
    assert snapper.findings == ()


def test_rounded_quaternions_and_axes_snap() -> None:
    snapper = Snapper(1e-4)
    frame = snapper.snap_rotation(Frame.from_quaternion(0.70711, 0.70711, 0.0, 0.00001), "here")
    assert frame.rotation == Frame.turn((1.0, 0.0, 0.0), math.pi / 2).rotation
    assert snapper.snap_axis((1e-5, 0.0, 1.0), "here") == (0.0, 0.0, 1.0)
    assert "2 rounded angles" in snapper.findings[0].text
    tilted = Frame.from_quaternion(0.9, 0.1, 0.2, 0.3)
    assert snapper.snap_rotation(tilted, "here") == tilted


def test_axes_snap_to_the_nearest() -> None:
    snapper = Snapper(0.25)
    length = math.hypot(0.15, 0.985)
    assert snapper.snap_axis((0.15 / length, 0.0, 0.985 / length), "here") == (0.0, 0.0, 1.0)
    halfway = math.sqrt(0.5)
    assert snapper.snap_axis((halfway, 0.0, halfway), "here") == (halfway, 0.0, halfway)


@pytest.mark.parametrize("tolerance", [-1e-4, math.nan, math.pi / 12 + 1e-9, math.inf])
def test_tolerances_that_mean_nothing(tolerance: float) -> None:
    with pytest.raises(InputError, match="must be between 0, which keeps all angles, and pi/12"):
        Snapper(tolerance)


def test_angles_of_many_turns_are_a_mistake() -> None:
    with pytest.raises(RobotFileError, match=r"here: the angle 2000000\.0 rad is larger than"):
        Snapper(0.0).snap_angle(2e6, "here")
