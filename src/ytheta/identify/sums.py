"""Sums: what least squares needs to know of any number of samples.

For every joint j the products of its own equations: G_j = sum Y_jᵀ Y_j, b_j = sum Y_jᵀ tau_j, sum tau_j² and their
number. Joints are kept apart, so that weights per joint, block-triangular estimators and the covariance of any of them
follow without another look at the data. Sums of pieces add up to sums of the whole.

Products square the condition number. Estimators therefore end with a refining pass over the *residuals* of their first
answer, which restores what a QR decomposition of all equations would have kept; see ``solve``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ytheta.identify.rows import Beta, Layout, PerJoint, Rows
from ytheta.shapes import Float, Int

Weigh = Callable[[PerJoint], PerJoint]  # residuals → the weight of each equation


@dataclass(frozen=True, eq=False)
class JointSums:
    """The sums of one joint's equations, over the base parameters ``columns`` that occur in them."""

    columns: Int[np.ndarray, "own"]
    gram: Float[np.ndarray, "own own"]
    moment: Float[np.ndarray, "own"]
    square: float
    count: float

    def __add__(self, other: JointSums) -> JointSums:
        return JointSums(
            self.columns,
            self.gram + other.gram,
            self.moment + other.moment,
            self.square + other.square,
            self.count + other.count,
        )


@dataclass(frozen=True, eq=False)
class Sums:
    """The sums of all joints; see the module docstring."""

    base: int
    joints: tuple[JointSums, ...]

    @classmethod
    def empty(cls, layout: Layout) -> Sums:
        """The sums of no equations at all."""
        return cls(layout.base, tuple(_Gathering(columns).result() for columns in layout.columns))

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.base, tuple(a + b for a, b in zip(self.joints, other.joints, strict=True)))

    @property
    def counts(self) -> Float[np.ndarray, "joints"]:
        return np.array([joint.count for joint in self.joints])

    @property
    def squares(self) -> Float[np.ndarray, "joints"]:
        return np.array([joint.square for joint in self.joints])

    def normal(self, weights: Float[np.ndarray, "joints"]) -> Float[np.ndarray, "base base"]:
        """N = sum_j w_j G_j."""
        N = np.zeros((self.base, self.base))
        for weight, joint in zip(weights, self.joints, strict=True):
            N[np.ix_(joint.columns, joint.columns)] += weight * joint.gram
        return N

    def moment(self, weights: Float[np.ndarray, "joints"]) -> Beta:
        """sum_j w_j b_j."""
        b = np.zeros(self.base)
        for weight, joint in zip(weights, self.joints, strict=True):
            b[joint.columns] += weight * joint.moment
        return b

    def residual_squares(self, beta: Beta) -> Float[np.ndarray, "joints"]:
        """sum (tau_j - Y_j beta)² of every joint. Good to about 1e-8 of sum tau²; add ``around`` for more."""
        return np.array(
            [
                max(0.0, j.square - 2.0 * j.moment @ beta[j.columns] + beta[j.columns] @ j.gram @ beta[j.columns])
                for j in self.joints
            ]
        )


def summed(layout: Layout, rows: Iterable[Rows], *, around: Beta | None = None, weigh: Weigh | None = None) -> Sums:
    """The sums of some rows: of their residuals where ``around`` is given, each weighed by its residual if asked."""
    total = [_Gathering(columns) for columns in layout.columns]
    for block in rows:
        tau = block.tau if around is None else block.tau - layout.torque(block.values, around)
        weights = block.kept
        if weigh is not None:
            weights = weigh(tau) if weights is None else weights * weigh(tau)
        for joint, (part, gathering) in enumerate(zip(layout.parts, total, strict=True)):
            gathering.take(block.values[part], tau[joint], None if weights is None else weights[joint])
    return Sums(layout.base, tuple(gathering.result() for gathering in total))


def together(parts: Iterable[Sums], *, empty: Sums) -> Sums:
    """The sums of all parts, added in their order."""
    return reduce(lambda a, b: a + b, parts, empty)


class _Gathering:
    """Sums of one joint in the making."""

    def __init__(self, columns: Int[np.ndarray, "own"]) -> None:
        self.columns = columns
        self.gram = np.zeros((len(columns), len(columns)))
        self.moment = np.zeros(len(columns))
        self.square = self.count = 0.0

    def take(self, A: np.ndarray, tau: np.ndarray, weights: np.ndarray | None) -> None:
        if weights is None:
            self.gram += A @ A.T  # NumPy sees that this is symmetric, and computes half of it
            self.moment += A @ tau
            self.square += float(tau @ tau)
            self.count += len(tau)
            return
        root = np.sqrt(weights)
        weighed = A * root
        self.gram += weighed @ weighed.T
        self.moment += weighed @ (root * tau)
        self.square += float((weights * tau) @ tau)
        self.count += float(weights.sum())

    def result(self) -> JointSums:
        return JointSums(self.columns, self.gram, self.moment, self.square, self.count)
