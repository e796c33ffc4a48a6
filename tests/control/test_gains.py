"""Gains: numbers, vectors and matrices, and values that are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.lyapunov import two_link_arm
from ytheta.control.gains import to_vector
from ytheta.control.laws.modified_slotine_li import ModifiedSlotineLi, QuasiComputedTorque
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.errors import InputError
from ytheta.identifiability.registry import base_parameters

SETTINGS: dict[str, Any] = {"convergence": 5.0, "damping": 3.0, "adaptation": 0.5}


def test_a_number_a_vector_and_a_matrix_are_the_same_gain() -> None:
    robot, n = two_link_arm(), 2
    base = base_parameters(robot)
    number = SlotineLi(robot, base, **SETTINGS)
    size = len(number.unknown_names)
    vector = SlotineLi(robot, base, convergence=[5.0] * n, damping=np.full(n, 3.0), adaptation=tuple([0.5] * size))
    full = SlotineLi(
        robot, base, convergence=5.0 * np.eye(n), damping=[[3.0, 0.0], [0.0, 3.0]], adaptation=0.5 * np.eye(size)
    )
    other = SlotineLi(robot, base, convergence=5.0, damping=[3.0, 4.0], adaptation=0.5)
    assert number.graph.digest == vector.graph.digest == full.graph.digest != other.graph.digest


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("convergence", -1.0, r"convergence has the entry -1; gains must be greater than zero"),
        ("damping", 0.0, r"damping has the entry 0"),
        ("damping", [1.0, 2.0, 3.0], r"damping has shape \(3,\); give one number, 2 numbers \(one per actuated coord"),
        ("damping", [[1.0, 2.0], [0.0, 1.0]], "not symmetric"),
        ("damping", [[1.0, 2.0], [2.0, 1.0]], "smallest eigenvalue is -1"),
        ("adaptation", [1.0, 2.0], r"adaptation has shape \(2,\); give one number, 3 numbers \(one per unknown"),
        ("adaptation", [1.0, np.nan, 1.0], "not finite"),
        ("torque_limits", [10.0, -3.0], "torque_limits has the entry -3"),
        ("torque_limits", np.eye(2) + 0.1, "couples joints"),
        ("torque_limits", [[1.0, 2.0], [3.0]], "torque_limits is .*; give a number, a vector or a matrix"),
    ],
)
def test_gains_of_wrong_size_or_sign_are_refused(setting: str, value: Any, message: str) -> None:
    settings = {**SETTINGS, "learn": ("load.m", "load.mx", "load.Izz"), setting: value}
    for law in (SlotineLi, ModifiedSlotineLi):
        with pytest.raises(InputError, match=message):
            law(two_link_arm(), **settings)


def test_vectors_are_refused_for_one_reason() -> None:
    np.testing.assert_array_equal(to_vector("lower", -2, 3, per="link", allow_number=True), [-2.0, -2.0, -2.0])
    np.testing.assert_array_equal(to_vector("lower", [1, 0], 2, per="link"), [1.0, 0.0])
    for values, size, allow_number, message in (
        ([1.0, 2.0], 3, True, r"lower has shape \(2,\); give one number, or 3 numbers, one per link"),
        ([1.0, 2.0], 1, True, r"lower has shape \(2,\); give one number"),
        (1.0, 3, False, r"lower has shape \(\); give 3 numbers, one per link"),
        ([1.0, np.nan], 2, False, r"lower has the entry nan; give finite numbers"),
        (-np.inf, 2, True, r"lower has the entry -inf; give finite numbers"),
        ("low", 2, False, r"lower is 'low'; give 2 numbers, one per link"),
    ):
        with pytest.raises(InputError, match=f"^{message}$"):
            to_vector("lower", values, size, per="link", allow_number=allow_number)


def test_a_negative_gain_that_must_be_one_number_is_refused() -> None:
    with pytest.raises(InputError, match="convergence has the entry -2"):
        QuasiComputedTorque(two_link_arm(), convergence=-2.0, adaptation=1.0)
