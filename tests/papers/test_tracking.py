"""Figures of tracking simulations."""

from __future__ import annotations

import numpy as np

from ytheta.papers.tracking import compute_rms, compute_settling_times, plot_joints
from ytheta.plots import Axis


def test_settling_times() -> None:
    t = np.array([0.0, 1.0, 2.0])
    outside = np.array([[False, True, True], [False, True, False], [False, False, True]])
    np.testing.assert_array_equal(compute_settling_times(t, outside), [0.0, 2.0, np.inf])


def test_root_mean_square() -> None:
    values = np.array([[3.0, 0.0], [4.0, 2.0]])
    assert compute_rms(values) == np.sqrt(29.0 / 4.0)
    np.testing.assert_allclose(compute_rms(values, 0), [np.sqrt(12.5), np.sqrt(2.0)], rtol=1e-15)


def test_a_plot_of_joints_has_a_line_for_each_joint_its_reference_and_its_error() -> None:
    t, values = np.arange(3.0), np.arange(6.0).reshape(3, 2)
    plot = plot_joints(
        "title",
        t,
        values,
        ("a", "b"),
        Axis("q", "rad"),
        caption="caption",
        reference=values + 1.0,
        below=(values - 1.0, Axis("error")),
        marks=[0.5],
    )
    assert [(line.name, line.axis, line.dashed) for line in plot.lines] == [
        ("a", 0, False),
        ("b", 0, False),
        ("a, reference", 0, True),
        ("b, reference", 0, True),
        ("a", 1, False),
        ("b", 1, False),
    ]
    for k, shift in ((1, 0.0), (3, 1.0), (5, -1.0)):
        np.testing.assert_array_equal(plot.lines[k].y, values[:, 1] + shift)
    assert (plot.marks, plot.caption, len(plot.axes)) == ((0.5,), "caption", 2)
