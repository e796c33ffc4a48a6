"""Distances between segments and boxes: coal as the oracle, and a search over both shares."""

from __future__ import annotations

import casadi
import coal
import numpy as np
import pytest

from ytheta.excitation.clearance.distance import Contact, Segment, measure_box, measure_segments

RADIUS = 1e-6  # m; coal has no segments, so thin capsules take their place
TOLERANCE = 1e-6  # m; coal iterates up to this accuracy


def as_segment(ends: np.ndarray) -> Segment:
    along = None if (ends[0] == ends[1]).all() else casadi.SX((ends[1] - ends[0]).tolist())
    return Segment(casadi.SX(ends[0].tolist()), along)


def evaluate(contact: Contact) -> tuple[float, np.ndarray]:
    return float(casadi.DM(contact.distance)), np.array(casadi.DM(contact.direction)).ravel()


def as_coal(ends: np.ndarray) -> tuple[coal.CollisionGeometry, coal.Transform3s]:
    along = ends[1] - ends[0]
    length = float(np.linalg.norm(along))
    if length == 0.0:
        return coal.Sphere(RADIUS), coal.Transform3s(np.eye(3), ends[0])
    z = along / length
    x = np.cross(z, np.eye(3)[np.argmin(abs(z))])
    x /= np.linalg.norm(x)
    return coal.Capsule(RADIUS, length), coal.Transform3s(np.stack([x, np.cross(z, x), z], axis=1), ends.mean(axis=0))


def ask_coal(a: np.ndarray, b: np.ndarray) -> float:
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    return float(coal.distance(*as_coal(a), *as_coal(b), request, result)) + 2.0 * RADIUS


def draw_segments(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two segments; some are points, parallel, or on one line."""
    a, b = rng.normal(size=(2, 2, 3))
    match rng.integers(5):
        case 0:
            a[1] = a[0]
        case 1:
            a[1], b[1] = a[0], b[0]
        case 2:
            b[1] = b[0] + rng.normal() * (a[1] - a[0])
        case 3:
            b[0] = a[0] + rng.normal() * (a[1] - a[0])
            b[1] = a[0] + rng.normal() * (a[1] - a[0])
    return a, b


def test_distance_of_segments_is_that_of_coal() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        a, b = draw_segments(rng)
        distance, direction = evaluate(measure_segments(as_segment(a), as_segment(b)))
        assert distance == pytest.approx(ask_coal(a, b), abs=TOLERANCE)
        if distance > 1e-6:
            assert np.linalg.norm(direction) == pytest.approx(1.0)


def test_a_moved_segment_is_noticed() -> None:
    a, b = draw_segments(np.random.default_rng(2))
    distance, _ = evaluate(measure_segments(as_segment(a), as_segment(b + 1e-4)))
    assert distance != pytest.approx(ask_coal(a, b), abs=TOLERANCE)


def search_box_distance(ends: np.ndarray, half: np.ndarray) -> float:
    """The smallest signed distance from the box over many shares."""
    points = ends[0] + np.linspace(0.0, 1.0, 20001)[:, None] * (ends[1] - ends[0])
    excess = abs(points) - half
    outside = np.linalg.norm(np.maximum(excess, 0.0), axis=1)
    return float(np.where(outside > 0.0, outside, excess.max(axis=1)).min())


def test_distance_from_a_box_is_that_of_a_search() -> None:
    rng = np.random.default_rng(3)
    signs = set()
    for k in range(200):
        ends, half = rng.normal(size=(2, 3)), rng.uniform(0.1, 1.2, size=3)
        if k % 5 == 0:
            ends[1] = ends[0]
        if k % 7 == 0:
            ends[1, 0] = ends[0, 0]  # parallel to a face
        distance, direction = evaluate(measure_box(as_segment(ends), half))
        assert distance == pytest.approx(search_box_distance(ends, half), abs=3e-4)  # the spacing of the search
        assert distance <= search_box_distance(ends, half) + 1e-12
        assert np.linalg.norm(direction) <= 1.0 + 1e-12
        signs.add(distance > 0.0)
    assert signs == {True, False}


def test_a_box_of_another_size_is_noticed() -> None:
    ends, half = np.array([[2.0, 0.3, 0.1], [3.0, 0.2, 0.4]]), np.array([1.0, 1.0, 1.0])
    distance, _ = evaluate(measure_box(as_segment(ends), half + 1e-3))
    assert distance != pytest.approx(search_box_distance(ends, half), abs=3e-4)
