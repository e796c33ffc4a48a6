"""The order of columns, and the reduction to independent columns."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta
from ytheta.identifiability.base_parameters import order_columns, reduce_to_independent


def test_the_order_follows_the_axis() -> None:
    """On a revolute joint about any axis, the last parameters are the mass and those along the axis."""
    robot = ytheta.load("ur10")  # joints 2 to 4 rotate about y
    names = [robot.parameter_names[k] for k in order_columns(robot, robot.parameter_names)]
    assert [name for name in names if name.startswith("forearm_link")][-3:] == [
        "forearm_link.my", "forearm_link.Izz", "forearm_link.m",
    ]  # fmt: skip
    assert sorted(names) == sorted(robot.parameter_names)


def test_reduction_prefers_the_first_columns_of_the_order() -> None:
    rows = np.array([[1.0, 1.0, 0.0, 2.0], [0.0, 0.0, 1.0, 1.0]])
    independent, K = reduce_to_independent(rows, [1, 0, 3, 2], 2)
    assert independent == [1, 3]
    np.testing.assert_allclose(K, [[1.0, 1.0, -2.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    with pytest.raises(ArithmeticError, match="1 of 2"):
        reduce_to_independent(rows[:1], [0, 1, 2, 3], 2)
