"""The test motion of ha1989 sec. III with its measurement errors, and the integral form as printed.

The trajectories of the paper exist only as figures. Here every joint follows a sum of sines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import radians

import numpy as np

from ytheta.dynamics.kernels import inverse_dynamics
from ytheta.identifiability.regrouping import Regrouping
from ytheta.identification.equations.form import EquationRows, RegressorLayout, SampleRange
from ytheta.identification.equations.integral import END_REACH, compute_quadrature_weights
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.native import Kernel, compile_graph
from ytheta.robot.reading.load import load
from ytheta.shapes import Float, SamplesByJoint

SAMPLING_PERIOD = 0.01  # s
INTEGRATION_STEP = 0.5  # s, t_j - t_(j-1)
SECONDS = 10.0  # not in the paper
AMPLITUDES = np.array([[0.8, 0.6, 0.15, 1.0], [0.3, 0.5, 0.1, 0.6]])  # rad, or m for joint 3; not in the paper
FREQUENCIES = np.array([[0.20, 0.31, 0.25, 0.27], [0.73, 0.62, 0.81, 0.69]])  # Hz; not in the paper
SCALE = 1.03  # 3 percent in all data
# Constant errors of q, qd, qdd and tau, by joint: joint 3 is prismatic.
ANGULAR, LINEAR = (radians(3.0), radians(3.0), radians(3.0), 0.15), (0.10, 0.10, 0.10, 0.1)
BIAS = np.array([ANGULAR, ANGULAR, LINEAR, ANGULAR]).T


@cache
def make_motion() -> MotionSamples:
    """Return exact motion and torques, sampled every 10 ms; ``END_REACH`` samples precede t = 0 and follow the end."""
    count = round(SECONDS / SAMPLING_PERIOD) + 1 + 2 * END_REACH
    t = (np.arange(count) - END_REACH) * SAMPLING_PERIOD
    w = 2.0 * np.pi * FREQUENCIES
    angle = w * t[:, None, None]
    q = (AMPLITUDES * np.sin(angle)).sum(axis=1)
    qd = (AMPLITUDES * w * np.cos(angle)).sum(axis=1)
    qdd = -(AMPLITUDES * w**2 * np.sin(angle)).sum(axis=1)
    tau = inverse_dynamics(load("ha-scara"))(q, qd, qdd)
    return MotionSamples(t, q, qd, qdd, tau, None, np.arange(count))


def add_errors(motion: MotionSamples, *, scale: bool, bias: bool) -> MotionSamples:
    """Return the motion as measured, with the constant scale factor errors and the constant biases of sec. III."""
    factor, offsets = (SCALE if scale else 1.0), (BIAS if bias else 0.0 * BIAS)
    assert motion.tau is not None
    quantities = (motion.q, motion.qd, motion.qdd, motion.tau)
    q, qd, qdd, tau = (factor * values + offset for values, offset in zip(quantities, offsets, strict=True))
    return replace(motion, q=q, qd=qd, qdd=qdd, tau=tau)


@dataclass(frozen=True, eq=False)
class PrintedIntegralForm:
    """(36) as printed, with t0 = 0 and t_j = j · ``INTEGRATION_STEP``; the motion is that of ``make_motion``.

    Unlike the form "cumulative", it contains b (q(t) - q(t0)) instead of the integral of b qd: this makes a difference
    if velocities have errors that positions do not have.
    """

    base: Regrouping

    @property
    def name(self) -> str:
        return "integral as printed"

    @property
    def layout(self) -> RegressorLayout:
        """All entries on and above the diagonal count as non-zeros."""
        U = np.triu(np.ones((len(self.base.counts),) * 2))
        blocks = [np.repeat(U[:, [j]], b - a, axis=1) for j, (a, b) in enumerate(self._bounds)]
        indices = np.nonzero(np.concatenate(blocks, axis=1))
        return RegressorLayout.of(indices, joints=len(U), base_count=len(self.base))

    def split(self, segment: int, length: int, rate: float, size: int) -> Iterator[SampleRange]:
        del rate, size
        yield SampleRange(segment, 0, length)

    def rows(self, motion: MotionSamples, rate: float) -> Iterator[EquationRows]:
        assert motion.tau is not None
        boundary, integrand = self._kernels
        W, rest = boundary(motion.q, motion.qd), integrand(motion.q, motion.qd)
        step = round(INTEGRATION_STEP * rate)
        ends = range(step, len(motion) - 2 * END_REACH, step)
        U = np.stack([W[END_REACH + k] - W[END_REACH] + _integrate(rest, k, rate) for k in ends])
        tau = np.stack([_integrate(motion.tau, k, rate) for k in ends], axis=1)
        layout = self.layout
        values = np.concatenate([U[:, joint, columns].T for joint, columns in enumerate(layout.columns)])
        yield EquationRows(values, tau)

    @property
    def _bounds(self) -> list[tuple[int, int]]:
        return list(zip(self.base.starts[:-1], self.base.starts[1:], strict=True))

    @cached_property
    def _kernels(self) -> tuple[Kernel, Kernel]:
        return compile_graph(self.base.make_graph("boundary")), compile_graph(self.base.make_graph("integrand"))


def _integrate(values: Float[np.ndarray, "samples *shape"], steps: int, rate: float) -> np.ndarray:
    """Return the integral from t0 over a number of steps."""
    weights = compute_quadrature_weights(steps) / rate
    return np.tensordot(weights, values[: len(weights)], axes=1)


def list_quantities(motion: MotionSamples) -> dict[str, SamplesByJoint]:
    """Return the trajectories of Figs. 3 to 6, by the number of the figure."""
    assert motion.tau is not None
    return {"3": motion.tau, "4": motion.q, "5": motion.qd, "6": motion.qdd}
