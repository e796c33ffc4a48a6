"""Logs of sines whose derivatives are known."""

from __future__ import annotations

import numpy as np

from ytheta.logs.log import Log

RATE = 500.0
ANGULAR_FREQUENCIES = 2 * np.pi * np.array([0.3, 0.5, 0.45])


def make_sine_log(seconds: float = 20.0, noise: float = 0.0, seed: int = 0) -> Log:
    """Three joints that follow sines; torques are a spring and a damper; noise on everything but time."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds * RATE)) / RATE
    q = np.sin(np.outer(t, ANGULAR_FREQUENCIES))
    qd = ANGULAR_FREQUENCIES * np.cos(np.outer(t, ANGULAR_FREQUENCIES))
    tau = 4.0 * q + 2.0 * qd

    def noisy(x: np.ndarray) -> np.ndarray:
        return x + noise * rng.normal(size=x.shape)

    return Log(joints=("a", "b", "c"), t=t, q=noisy(q), qd=noisy(qd), tau=noisy(tau))
