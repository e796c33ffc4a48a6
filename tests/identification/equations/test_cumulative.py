"""The cumulative form: (36) and (61) as printed, with fixed t0."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta
from tests.support.form_cases import Fourier
from ytheta.errors import InputError
from ytheta.identification.equations.form import create_form
from ytheta.identification.equations.integral import END_REACH, Cumulative
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.native import compile_graph
from ytheta.papers.ha1989 import SYMMETRIC

RATE = 100.0


def make_motion(seconds: float) -> MotionSamples:
    """Motion whose rates keep their signs, so that the integral of a sign is a number times the time."""
    t = np.arange(round(seconds * RATE)) / RATE
    q, qd, qdd = Fourier(4)(t)
    drift = np.array([9.0, -8.0, 7.0, 9.0])
    tau = 3.0 + np.cos(t[:, None] * [1.0, 2.0, 3.0, 4.0])
    return MotionSamples(t, q + drift * t[:, None], qd + drift, qdd, tau, None, np.arange(len(t)))


def test_equations_as_printed() -> None:
    """The rows are those of (36), with the printed boundary term b (q(t) - q(t0)), for t = t0 + 0.5 s, t0 + 1 s, …"""
    base = ytheta.regroup_lagrangian(ytheta.load("ha-scara"), zero=SYMMETRIC)
    motion = make_motion(3.0)
    form = Cumulative(base, 0.5)
    (samples,) = form.split(0, len(motion), RATE, 16)
    (rows,) = form.rows(motion.select(samples.first, samples.last), RATE)
    dense = form.layout.dense(rows.values)
    boundary, integrand = (compile_graph(base.make_graph(form)) for form in ("boundary", "integrand"))
    W, rest = boundary(motion.q, motion.qd), integrand(motion.q, motion.qd)
    signs = np.sign(motion.qd[0])
    assert rows.tau.shape == (4, 5)
    for k in range(5):
        window = slice(END_REACH, END_REACH + 50 * (k + 1) + 1)
        ends = W[window][-1] - W[window][0]
        nodes = _simpson(50 * (k + 1)) / RATE
        np.testing.assert_allclose(dense[k], ends + np.tensordot(nodes, rest[window], axes=1), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(rows.tau[:, k], nodes @ motion.tau[window], rtol=1e-6)  # type: ignore[index]
        np.testing.assert_allclose(dense[k, 0, 2], signs[0] * 0.5 * (k + 1), rtol=1e-12)  # ∫ sgn(qd1) dt
    assert not np.allclose(dense[1:], dense[:-1], rtol=1e-2)


def test_settings() -> None:
    base = ytheta.base_parameters(ytheta.load("lu-two-link"))
    assert isinstance(create_form("cumulative", base, window=0.2), Cumulative)
    with pytest.raises(InputError, match="window is 0"):
        Cumulative(base, 0.0)
    with pytest.raises(InputError, match="no 'window'; leave it out, or use the integral or cumulative form"):
        create_form("momentum", base, window=0.2)
    assert not list(Cumulative(base, 0.5).split(0, 40, RATE, 1024))  # shorter than a window


def _simpson(steps: int) -> np.ndarray:
    weights = np.full(steps + 1, 2.0 / 3.0)
    weights[1::2] = 4.0 / 3.0
    weights[[0, -1]] = 1.0 / 3.0
    return weights
