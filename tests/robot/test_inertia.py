"""Inertia: conversions, changes of frame and consistency, against Pinocchio and sums over point masses."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.random_robots import frames, inertias, numbers, vectors
from ytheta.errors import InputError
from ytheta.robot.frame import Frame, Vector
from ytheta.robot.inertia import Inertia, transport_matrix


@given(inertias())
def test_pseudo_inertia_round_trip(body: Inertia) -> None:
    np.testing.assert_allclose(Inertia.from_pseudo(body.pseudo).vector, body.vector, rtol=1e-11, atol=1e-11)


@given(inertias())
def test_center_round_trip(body: Inertia) -> None:
    back = Inertia.about_center(body.mass, body.center, body.tensor_about_center)
    np.testing.assert_allclose(back.vector, body.vector, rtol=1e-11, atol=1e-11)


@given(frames(), frames())
def test_frame_maps_compose(f: Frame, g: Frame) -> None:
    np.testing.assert_allclose(
        transport_matrix(f @ g), transport_matrix(f) @ transport_matrix(g), rtol=1e-10, atol=1e-10
    )


@given(frames())
def test_frame_maps_invert(f: Frame) -> None:
    np.testing.assert_allclose(transport_matrix(f.inverse()) @ transport_matrix(f), np.eye(10), rtol=1e-10, atol=1e-10)


@given(inertias(), frames())
def test_frame_map_equals_pinocchio(body: Inertia, frame: Frame) -> None:
    peer = pin.Inertia.FromDynamicParameters(body.vector)
    if body.mass == 0.0:
        return
    moved = pin.SE3(np.array(frame.rotation), frame.matrix[:3, 3]).act(peer)
    np.testing.assert_allclose(body.seen_from(frame).vector, moved.toDynamicParameters(), rtol=1e-9, atol=1e-9)


def test_a_swapped_column_of_the_frame_map_is_detected() -> None:
    body = Inertia(tuple(float(k) for k in range(1, 11)))
    frame = Frame.shift(0.1, 0.2, 0.3) @ Frame.from_rpy(0.4, 0.5, 0.6)
    T = transport_matrix(frame)
    wrong = T[:, [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]]
    moved = pin.SE3(np.array(frame.rotation), frame.matrix[:3, 3])
    peer = moved.act(pin.Inertia.FromDynamicParameters(body.vector)).toDynamicParameters()
    np.testing.assert_allclose(T @ body.vector, peer, rtol=1e-9)
    assert abs(wrong @ body.vector - peer).max() > 0.1


@given(st.lists(st.tuples(numbers(0.01, 5.0), vectors()), min_size=1, max_size=6))
def test_parameters_are_sums_over_points(points: list[tuple[float, Vector]]) -> None:
    """Mass, first moments and inertia from their definitions."""
    body = Inertia()
    for mass, place in points:
        body = body + Inertia.point_mass(mass, place)
    m = np.array([mass for mass, _ in points])
    x, y, z = np.array([place for _, place in points]).T
    expected = [m, m * x, m * y, m * z, m * (y * y + z * z), -m * x * y, m * (x * x + z * z), -m * x * z, -m * y * z]
    expected.append(m * (x * x + y * y))
    np.testing.assert_allclose(body.vector, [e.sum() for e in expected], rtol=1e-11, atol=1e-11)
    assert body.consistency()


def make_body(mass: float, *moments: float) -> Inertia:
    xx, yy, zz = moments
    return Inertia.about_center(mass, (0.1, 0.2, 0.3), ((xx, 0.0, 0.0), (0.0, yy, 0.0), (0.0, 0.0, zz)))


@pytest.mark.parametrize(
    ("inertia", "reason"),
    [
        (make_body(-1.0, 1.0, 1.0, 1.0), "negative mass -1 kg"),
        (make_body(0.0, 1.0, 1.0, 1.0), "inertia or first moment without mass"),
        (Inertia.from_names({"mx": 0.1}), "inertia or first moment without mass"),
        (make_body(1.0, 1.0, -0.5, 1.0), "negative principal moment of inertia: -0.5, 1, 1 kg m2"),
        (
            make_body(1.0, 1.0, 1.0, 2.1),
            "triangle inequality violated: the largest of the principal moments 1, 1, 2.1 kg m2",
        ),
        (Inertia.from_names({"m": 1.0, "Ixx": float("nan")}), "not finite"),
        (Inertia.from_names({"m": 1e-300, "mx": 1e200}), "too large to compute with"),
        (Inertia.from_names({"m": 1.0, "Ixx": 1.7e308, "Iyy": 1.7e308, "Izz": 1.7e308}), "too large to compute with"),
        (Inertia.point_mass(1e308, (1e10, 0.0, 0.0)), "not finite"),
    ],
)
def test_inconsistent_inertias(inertia: Inertia, reason: str) -> None:
    consistency = inertia.consistency()
    assert not consistency
    assert reason in consistency.reason


@pytest.mark.parametrize(
    ("inertia", "reason"),
    [
        (make_body(1.0, 1.0, 1.0, 1.0), "physically consistent"),
        (make_body(1.0, 1.0, 1.0, 2.0), "limit case"),
        (make_body(1.0, 1.0, 1.0, 2.000001), "limit case"),
        (Inertia.point_mass(1.0, (1.0, 2.0, 3.0)), "limit case"),
        (Inertia(), "no mass"),
    ],
)
def test_consistent_inertias(inertia: Inertia, reason: str) -> None:
    consistency = inertia.consistency()
    assert consistency
    assert reason in consistency.reason


@given(inertias(), frames())
def test_consistency_does_not_depend_on_the_frame(body: Inertia, frame: Frame) -> None:
    assert body.seen_from(frame).consistency().consistent == body.consistency().consistent


@given(st.lists(numbers(-1.0, 1.0), min_size=10, max_size=10))
def test_consistency_agrees_with_the_pseudo_inertia(parameters: list[float]) -> None:
    """For any ten numbers, the conditions on principal moments are equivalent to P >= 0."""
    inertia = Inertia((abs(parameters[0]) + 0.1, *parameters[1:]))
    eigenvalues = np.linalg.eigvalsh(inertia.pseudo)
    if abs(eigenvalues[0]) > 1e-3:  # at the boundary, the two tolerances differ
        assert inertia.consistency().consistent == bool(eigenvalues[0] > 0)


def test_without_mass_the_centre_is_the_origin() -> None:
    assert Inertia.from_names({"mx": 0.1, "Izz": 1.0}).center == (0.0, 0.0, 0.0)


def test_wrong_number_of_parameters() -> None:
    with pytest.raises(InputError, match=r"10 inertial parameters .* not 3"):
        Inertia((1.0, 2.0, 3.0))


def test_a_point_mass_is_not_negative() -> None:
    with pytest.raises(InputError, match="mass is -1; give a mass in kg"):
        Inertia.point_mass(-1.0, (0.0, 0.0, 0.0))
    assert Inertia.about_center(-1.0, (0.0, 0.0, 0.0), ((0.0,) * 3,) * 3).mass == -1.0  # as in identified models
