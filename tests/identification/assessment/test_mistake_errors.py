"""Held-out errors agree with least squares on the samples themselves."""

from __future__ import annotations

import numpy as np
import pytest

from ytheta.identification.assessment.mistake_errors import Samples, make_equations
from ytheta.logs.preparing.prepared_log import MotionSamples


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_held_out_errors_are_those_of_least_squares(sign: float) -> None:
    """The twin: with reversed torques of one joint, two joints that share a parameter cannot be fitted."""
    rng = np.random.default_rng(1)
    count, fold = 400, 200
    A = rng.normal(size=(2, 3, count))
    beta = np.array([1.0, -2.0, 0.5])
    tau = np.stack([beta @ A[0], beta @ A[1]], axis=1) + 0.1 * rng.normal(size=(count, 2))
    q = rng.normal(size=(count, 2))
    motion = MotionSamples(np.arange(count) / 100.0, q, q, q, tau, None, np.arange(count))
    samples = Samples(motion, np.ones((count, 2)), fold, np.arange(count), (motion,), (100.0,), 1)
    rows = [(np.arange(3), A[j]) for j in range(2)]
    T = np.diag([1.0, sign])
    errors = make_equations(rows, np.zeros((count, 2)), samples, np.zeros(3)).compute_errors(T)
    target, squares = tau @ T, np.zeros(2)
    weights = 1.0 / np.sqrt(np.mean(target**2, axis=0))
    for fitted, tested in ((slice(fold), slice(fold, None)), (slice(fold, None), slice(fold))):
        Y = np.concatenate([weights[j] * A[j][:, fitted].T for j in range(2)])
        b = np.concatenate([weights[j] * target[fitted, j] for j in range(2)])
        x = np.linalg.lstsq(Y, b, rcond=None)[0]
        squares += [np.sum((target[tested, j] - x @ A[j][:, tested]) ** 2) for j in range(2)]
    expected = np.sqrt(squares / (count * target.var(axis=0)))
    np.testing.assert_allclose(errors.held_out, expected, rtol=0.02)  # the ridge is weak
    assert bool(errors.held_out.max() > 0.5) is (sign < 0.0)
