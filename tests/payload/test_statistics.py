"""Mass, centre and moments about the centre, and their derivatives by finite differences."""

from __future__ import annotations

import numpy as np

from tests.support.payload_cases import BODY
from ytheta.payload.verdict import QUANTITIES, compute_jacobian, compute_quantities


def _difference_quotient(theta: np.ndarray, step: float = 1e-6) -> np.ndarray:
    steps = step * np.eye(10)
    return np.stack(
        [(compute_quantities(theta + d) - compute_quantities(theta - d)) / (2.0 * step) for d in steps], axis=1
    )


def test_quantities_are_those_the_body_was_made_from() -> None:
    values = dict(zip(QUANTITIES, compute_quantities(BODY.vector), strict=True))
    assert values["mass"] == 2.4
    np.testing.assert_allclose([values["cx"], values["cy"], values["cz"]], (0.03, -0.05, 0.12), atol=1e-15)
    np.testing.assert_allclose([values["Ixx"], values["Ixy"], values["Iyz"]], (0.021, 0.002, 0.003), atol=1e-15)


def test_derivatives_agree_with_differences() -> None:
    # The differences have an error of step² times third derivatives, and rounding errors of 1e-16 / step.
    np.testing.assert_allclose(compute_jacobian(BODY.vector), _difference_quotient(BODY.vector), atol=1e-8)


def test_twin_derivatives_of_another_body_differ() -> None:
    other = BODY.vector * np.array([1.1, *[1.0] * 9])
    assert abs(compute_jacobian(BODY.vector) - _difference_quotient(other)).max() > 1e-3
