"""Twists and rates of a floating base against differences of orientations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ytheta.errors import InputError
from ytheta.robot.floating import (
    compute_coordinate_rates,
    compute_twist,
    quaternions_from_rotation_vectors,
    rotation_matrices,
    rotation_vector_from_matrix,
    rotation_vectors_from_quaternions,
    to_base_axes,
    to_world_axes,
    unwrap_rotation_vectors,
)

STEP = 1e-4


def move(t: np.ndarray, size: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates of a base and their first two derivatives; ``size`` is about the largest angle."""
    a = size * np.array([1.0, -0.7, 0.5, 0.5, -0.6, 0.6])
    w, phase = np.array([1.0, 1.7, 2.3, 1.1, 1.9, 0.7]), np.arange(6.0)
    angle = np.outer(t, w) + phase
    return a * np.sin(angle), a * w * np.cos(angle), -a * w * w * np.sin(angle)


def differentiate_twist(t: np.ndarray, size: float) -> np.ndarray:
    """The twist by central differences of positions and orientations."""
    (before, _, _), (q, _, _), (after, _, _) = (move(t + s * STEP, size) for s in (-1.0, 0.0, 1.0))
    turn = Rotation.from_rotvec(before[:, 3:]).inv() * Rotation.from_rotvec(after[:, 3:])
    v = Rotation.from_rotvec(q[:, 3:]).inv().apply((after[:, :3] - before[:, :3]) / (2.0 * STEP))
    return np.hstack([v, turn.as_rotvec() / (2.0 * STEP)])


@pytest.mark.parametrize("size", [1e-9, 5e-3, 0.02, 1.0, 4.0])
def test_twist_by_differences(size: float) -> None:
    t = np.linspace(0.0, 4.0, 41)
    twist, rate = compute_twist(*move(t, size))
    tolerance = 1e-6 * max(size, 1e-3)
    np.testing.assert_allclose(twist, differentiate_twist(t, size), rtol=0.0, atol=tolerance)
    change = differentiate_twist(t + STEP, size) - differentiate_twist(t - STEP, size)
    np.testing.assert_allclose(rate, change / (2.0 * STEP), rtol=0.0, atol=1e-4 * max(size, 1e-2))
    q, qd, qdd = move(t, size)
    np.testing.assert_allclose(compute_coordinate_rates(q, twist), qd, rtol=0.0, atol=1e-10 * max(size, 1e-3))
    if size >= 1.0:  # the rates of the coordinates are not the twist, and the inverse rotation gives another one
        assert np.abs(twist - qd).max() > 0.1
        q[:, 3:] *= -1.0
        assert np.abs(compute_twist(q, qd, qdd)[0] - twist).max() > 0.1


def test_jacobian_is_smooth_where_its_series_ends() -> None:
    q, qd, qdd = (np.tile(each, (2, 1)) for each in move(np.array([0.3]), 1.0))
    q[:, 3:] *= (1e-2 + np.array([[-1e-13], [1e-13]])) / np.linalg.norm(q[:, 3:], axis=1, keepdims=True)
    twist, rate = compute_twist(q, qd, qdd)
    np.testing.assert_allclose(twist[0], twist[1], rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(rate[0], rate[1], rtol=0.0, atol=1e-7)


def test_quaternions_have_the_order_of_pinocchio() -> None:
    import pinocchio as pin

    vectors = np.array([[0.1, -0.2, 0.3], [2.0, 1.0, -1.0], [0.0, 0.0, 0.0]])
    quaternions = quaternions_from_rotation_vectors(vectors)
    for vector, quaternion in zip(vectors, quaternions, strict=True):
        np.testing.assert_allclose(pin.Quaternion(quaternion).matrix(), pin.exp3(vector), atol=1e-14)
    np.testing.assert_allclose(rotation_vectors_from_quaternions(3.0 * quaternions), vectors, atol=1e-14)
    with pytest.raises(InputError, match="not all zero"):
        rotation_vectors_from_quaternions(np.zeros((1, 4)))


def test_vectors_change_axes_and_back() -> None:
    q = np.array([[9.0, 9.0, 9.0, 0.0, 0.0, np.pi / 2]])
    x = np.array([[1.0, 0.0, 0.0]])
    np.testing.assert_allclose(to_world_axes(x, q), [[0.0, 1.0, 0.0]], atol=1e-15)
    np.testing.assert_allclose(to_base_axes(to_world_axes(x, q), q), x, atol=1e-15)


def test_rotation_matrices_equal_those_of_scipy() -> None:
    """At all angles, the smallest too; the rotation by the opposite angle differs."""
    sizes = np.array([[0.0], [1e-200], [1e-9], [1e-4], [0.3], [3.1], [np.pi], [6.0], [40.0]])
    vectors = sizes * np.array([0.6, -0.64, 0.48])
    expected = Rotation.from_rotvec(vectors).as_matrix()
    np.testing.assert_allclose(rotation_matrices(vectors), expected, rtol=0.0, atol=1e-14)
    assert np.abs(rotation_matrices(-vectors) - expected).max(axis=(1, 2))[4:6].min() > 0.05


@pytest.mark.parametrize("axis", [(0.6, -0.64, 0.48), (1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0)])
@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, 1.6, 2.5, 3.1])
def test_rotation_vector_of_a_matrix_equals_that_of_scipy(axis: tuple[float, ...], angle: float) -> None:
    """Zero entries stay exactly zero; the vector of the inverse rotation differs."""
    vector = angle * np.array(axis)
    matrix = Rotation.from_rotvec(vector).as_matrix()
    result = rotation_vector_from_matrix(matrix)
    np.testing.assert_allclose(result, Rotation.from_matrix(matrix).as_rotvec(), rtol=0.0, atol=1e-14)
    assert not result[vector == 0.0].any()
    assert angle < 0.1 or np.abs(rotation_vector_from_matrix(matrix.T) - vector).max() > 0.1


def test_half_turns_have_a_rotation_vector() -> None:
    for axis in np.vstack([np.eye(3), [0.6, 0.0, 0.8]]):
        matrix = 2.0 * np.outer(axis, axis) - np.eye(3)
        np.testing.assert_allclose(np.abs(rotation_vector_from_matrix(matrix)), np.pi * axis, atol=1e-14)


def test_unwrapped_vectors_pass_half_a_turn() -> None:
    angles = np.linspace(0.0, 6.0, 200)
    wrapped = Rotation.from_rotvec(np.outer(angles, [0.6, 0.0, 0.8])).as_rotvec()
    assert np.abs(np.diff(wrapped, axis=0)).max() > 1.0
    np.testing.assert_allclose(unwrap_rotation_vectors(wrapped), np.outer(angles, [0.6, 0.0, 0.8]), atol=1e-12)


def test_a_whole_turn_is_refused() -> None:
    q = np.zeros((2, 6))
    q[1, 4] = 6.2
    with pytest.raises(InputError, match=r"turned by 6.2 rad in row 1; .* split the log"):
        compute_twist(q, 0 * q, 0 * q)
