"""NormalEquations: what least squares needs to know of any number of samples.

For every joint j the products of its own equations: G_j = sum Y_jᵀ Y_j, b_j = sum Y_jᵀ tau_j, sum tau_j² and their
number. Joints are kept apart, so that weights per joint, block-triangular estimators and the covariance of any of them
follow without another look at the data. NormalEquations of pieces add up to sums of the whole.

Products square the condition number. Estimators therefore end with a refining pass over the *residuals* of their first
answer, which restores what a QR decomposition of all equations would have kept; see ``solve``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate, pairwise

import numpy as np

from ytheta.identification.equations.rows import RegressorLayout, EquationRows
from ytheta.shapes import Float, Int, JointsBySample, NonzerosBySample, PerBase

Weigh = Callable[[JointsBySample], JointsBySample]  # residuals → the weight of each equation


@dataclass(frozen=True, eq=False)
class JointNormalEquations:
    """The sums of one joint's equations, over the base parameters ``columns`` that occur in them."""

    columns: Int[np.ndarray, "own"]
    gram: Float[np.ndarray, "own own"]
    moment: Float[np.ndarray, "own"]
    square: float
    count: float

    def __add__(self, other: JointNormalEquations) -> JointNormalEquations:
        return JointNormalEquations(
            self.columns,
            self.gram + other.gram,
            self.moment + other.moment,
            self.square + other.square,
            self.count + other.count,
        )


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """The sums of all joints; see the module docstring."""

    base: int
    joints: tuple[JointNormalEquations, ...]

    @classmethod
    def empty(cls, layout: RegressorLayout) -> NormalEquations:
        """The sums of no equations at all."""
        return _Gathering(layout).result()

    def __add__(self, other: NormalEquations) -> NormalEquations:
        return NormalEquations(self.base, tuple(a + b for a, b in zip(self.joints, other.joints, strict=True)))

    def with_grams(self, other: NormalEquations) -> NormalEquations:
        """These sums with the G_j of other ones, which are of the same equations."""
        pairs = zip(self.joints, other.joints, strict=True)
        return NormalEquations(self.base, tuple(replace(mine, gram=its.gram) for mine, its in pairs))

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
            N[joint.columns[:, None], joint.columns] += weight * joint.gram
        return N

    def moment(self, weights: Float[np.ndarray, "joints"]) -> PerBase:
        """sum_j w_j b_j."""
        b = np.zeros(self.base)
        for weight, joint in zip(weights, self.joints, strict=True):
            b[joint.columns] += weight * joint.moment
        return b

    def residual_squares(self, beta: PerBase) -> Float[np.ndarray, "joints"]:
        """sum (tau_j - Y_j beta)² of every joint. Good to about 1e-8 of sum tau²; add ``around`` for more."""
        return np.array(
            [
                max(0.0, j.square - 2.0 * j.moment @ beta[j.columns] + beta[j.columns] @ j.gram @ beta[j.columns])
                for j in self.joints
            ]
        )


def summed(
    layout: RegressorLayout,
    rows: Iterable[EquationRows],
    *,
    around: PerBase | None = None,
    weigh: Weigh | None = None,
    grams: bool = True,
) -> NormalEquations:
    """The sums of some rows: of their residuals where ``around`` is given, each weighed by its residual if asked.

    Without ``grams`` all G_j are left at zero: they cost most of the time, and residuals do not change them.
    """
    total = _Gathering(layout, grams=grams)
    for block in rows:
        tau = block.tau if around is None else block.tau - layout.torque(block.values, around)
        weights = block.kept
        if weigh is not None:
            weights = weigh(tau) if weights is None else weights * weigh(tau)
        total.take(block.values, tau, weights)
    return total.result()


def together(parts: Iterable[NormalEquations], *, empty: NormalEquations) -> NormalEquations:
    """The sums of all parts, added in their order."""
    return reduce(lambda a, b: a + b, parts, empty)


class _Gathering:
    """NormalEquations in the making. Those of all joints lie in one array, so that a block is added to them by one operation."""

    def __init__(self, layout: RegressorLayout, *, grams: bool = True) -> None:
        self.layout = layout
        sizes = [len(columns) for columns in layout.columns]
        ends = list(accumulate((*(n * n if grams else 0 for n in sizes), *sizes), initial=0))
        self.sums, self.block = np.zeros(ends[-1]), np.empty(ends[-1])
        self.parts = tuple(slice(a, b) for a, b in pairwise(ends))
        views = [self.block[part] for part in self.parts]
        self.grams = [view.reshape(n, n) for n, view in zip(sizes, views, strict=False)] if grams else []
        self.moments = views[len(sizes) :]
        self.squares, self.counts = np.zeros(len(sizes)), np.zeros(len(sizes))

    def take(self, values: NonzerosBySample, tau: JointsBySample, weights: JointsBySample | None) -> None:
        root = None if weights is None else np.sqrt(weights)
        weighed = tau if root is None else root * tau
        for joint, part in enumerate(self.layout.parts):
            A = values[part] if root is None else values[part] * root[joint]
            if self.grams:
                np.matmul(A, A.T, out=self.grams[joint])  # NumPy sees that this is symmetric, and computes half of it
            np.vecdot(A, weighed[joint], out=self.moments[joint])
        self.sums += self.block
        self.squares += np.vecdot(weighed, weighed)
        self.counts += tau.shape[1] if weights is None else weights.sum(axis=1)

    def result(self) -> NormalEquations:
        columns = self.layout.columns
        sums = [self.sums[part] for part in self.parts]
        joints = (
            JointNormalEquations(
                own,
                sums[j].reshape(len(own), len(own)) if self.grams else np.zeros((len(own), len(own))),
                sums[len(columns) + j],
                float(self.squares[j]),
                float(self.counts[j]),
            )
            for j, own in enumerate(columns)
        )
        return NormalEquations(self.layout.base, tuple(joints))
