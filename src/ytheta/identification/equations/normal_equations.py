"""Normal equations: the sums that least squares needs, for any number of samples.

For every joint j the normal equations contain G_j = sum Y_jᵀ Y_j, b_j = sum Y_jᵀ tau_j, sum tau_j² and the number of
equations. The sums of the joints are kept separate, so that weights per joint, block-triangular estimators and their
covariances need no further pass over the data. The normal equations of all data are the sum of those of its parts.

The products Yᵀ Y square the condition number. Estimators therefore end with a pass over the *residuals* of their first
solution, which restores the accuracy of a QR decomposition of all equations; see ``least_squares.refine``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np

from ytheta.errors import InputError
from ytheta.identification.equations.form import EquationRows, Form, KernelEquations, KernelForm, RegressorLayout
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.native.products.row_sums import RowProducts, make_consumer
from ytheta.shapes import BaseByBase, Float, Int, JointsBySample, PerBase, PerJoint

WeightFunction = Callable[[JointsBySample], JointsBySample]  # residuals → weights of the equations


@dataclass(frozen=True, eq=False)
class JointNormalEquations:
    """Normal equations of one joint, for the base parameters ``columns`` that occur in the joint's equations.

    ``is_wrench``: whether the joint is a coordinate of a floating base, whose torque is known even if it is always
    zero, because nothing touches the robot. If the torque of any other joint is always zero, it was not measured.
    """

    columns: Int[np.ndarray, " own"]
    gram: Float[np.ndarray, "own own"]  # G_j
    right_side: Float[np.ndarray, " own"]  # b_j
    torque_squares: float
    count: float
    is_wrench: bool = False

    def __add__(self, other: JointNormalEquations) -> JointNormalEquations:
        return JointNormalEquations(
            self.columns,
            self.gram + other.gram,
            self.right_side + other.right_side,
            self.torque_squares + other.torque_squares,
            self.count + other.count,
            self.is_wrench,
        )


@dataclass(frozen=True, eq=False, repr=False)
class NormalEquations:
    """Normal equations of all joints; see the module docstring."""

    base_count: int
    joints: tuple[JointNormalEquations, ...]

    def __repr__(self) -> str:
        equations = ", ".join(f"{count:g}" for count in self.counts)
        return f"NormalEquations({self.base_count} base parameters, equations of each joint: {equations})"

    @classmethod
    def empty(cls, layout: RegressorLayout) -> NormalEquations:
        """Return the normal equations of an empty set of equations."""
        return RunningSums(layout).make_normal_equations()

    def __add__(self, other: NormalEquations) -> NormalEquations:
        joints = tuple(a + b for a, b in zip(self.joints, other.joints, strict=True))
        return NormalEquations(self.base_count, joints)

    def with_grams(self, other: NormalEquations) -> NormalEquations:
        """Return these normal equations with the matrices G_j of ``other``."""
        pairs = zip(self.joints, other.joints, strict=True)
        return NormalEquations(self.base_count, tuple(replace(a, gram=b.gram) for a, b in pairs))

    @property
    def counts(self) -> PerJoint:
        """The number of equations of every joint."""
        return np.array([joint.count for joint in self.joints])

    @property
    def torque_squares(self) -> PerJoint:
        """The sum of tau_j² for every joint."""
        return np.array([joint.torque_squares for joint in self.joints])

    @property
    def reference_squares(self) -> PerJoint:
        """The sum of tau_j² with which errors are compared; zero for a joint whose equations say nothing.

        The equations of a floating base that nothing touches have no torque; they are compared with the mean of the
        joints.
        """
        squares = self.torque_squares
        mean = float(squares[squares > 0.0].mean()) if (squares > 0.0).any() else 0.0
        is_free = np.array([joint.is_wrench and joint.count > 0.0 for joint in self.joints]) & (squares == 0.0)
        return np.where(is_free, mean, squares)

    def matrix(self, weights: PerJoint) -> BaseByBase:
        """Return N = sum_j w_j G_j."""
        N = np.zeros((self.base_count, self.base_count))
        for weight, joint in zip(weights, self.joints, strict=True):
            N[joint.columns[:, None], joint.columns] += weight * joint.gram
        return N

    def right_side(self, weights: PerJoint) -> PerBase:
        """Return b = sum_j w_j b_j."""
        b = np.zeros(self.base_count)
        for weight, joint in zip(weights, self.joints, strict=True):
            b[joint.columns] += weight * joint.right_side
        return b

    def substitute(self, matrix: Float[np.ndarray, "base new"], offset: PerBase) -> NormalEquations:
        """Return the normal equations of x with beta = ``offset`` + ``matrix`` x."""
        columns = np.arange(matrix.shape[1])
        joints: list[JointNormalEquations] = []
        for joint in self.joints:
            A, o = matrix[joint.columns], offset[joint.columns]
            rest = joint.right_side - joint.gram @ o
            squares = joint.torque_squares - o @ (joint.right_side + rest)
            joints.append(
                replace(
                    joint,
                    columns=columns,
                    gram=A.T @ joint.gram @ A,
                    right_side=A.T @ rest,
                    torque_squares=max(0.0, float(squares)),
                )
            )
        return NormalEquations(matrix.shape[1], tuple(joints))

    def residual_squares(self, beta: PerBase) -> PerJoint:
        """Return the sum of (tau_j - Y_j beta)² for every joint, accurate to about 1e-8 times the sum of tau_j²."""
        return np.array(
            [
                max(
                    0.0,
                    j.torque_squares
                    - 2.0 * j.right_side @ beta[j.columns]
                    + beta[j.columns] @ j.gram @ beta[j.columns],
                )
                for j in self.joints
            ]
        )


class RunningSums:
    """Sums over equations, from which normal equations are made.

    ``around``: if given, tau is replaced by the residual tau - Y ``around``. ``weigh``: function that computes the
    weights of the equations from tau or from these residuals. ``grams``: whether to compute the matrices G_j, which
    needs most of the time; otherwise they are zero.
    """

    def __init__(
        self,
        layout: RegressorLayout,
        *,
        around: PerBase | None = None,
        weigh: WeightFunction | None = None,
        grams: bool = True,
    ) -> None:
        self._layout, self._around, self._weigh, self._grams = layout, around, weigh, grams
        self._products = RowProducts(layout.groups, only_right=not grams)
        self._counts = np.zeros(len(layout.slices))

    @classmethod
    def of(cls, form: Form, *, around: PerBase | None, weigh: WeightFunction | None, grams: bool) -> RunningSums:
        """Return sums without equations yet, for those of a form."""
        return cls(form.layout, around=around, weigh=weigh, grams=grams)

    def add_motion(self, form: Form, motion: MotionSamples, rate: float) -> None:
        """Add the equations of a motion: in one native call, or block by block if weights are computed from them."""
        equations = form.kernel_equations(motion) if isinstance(form, KernelForm) and self._weigh is None else None
        if equations is not None:
            self.add_kernel_equations(equations)
            return
        for rows in form.rows(motion, rate):
            self.add(rows)

    def add(self, rows: EquationRows) -> None:
        """Add equations."""
        tau = rows.tau if self._around is None else self._layout.residual(rows, self._around)
        weights = rows.mask
        if self._weigh is not None:
            weights = self._weigh(tau) if weights is None else weights * self._weigh(tau)
        if weights is None:
            self._products.add(rows.values, tau)
            self._counts += tau.shape[1]
            return
        root, scaled = np.sqrt(weights), np.empty(rows.values.shape)
        for joint, part in enumerate(self._layout.slices):
            np.multiply(rows.values[part], root[joint], out=scaled[part])
        self._products.add(scaled, root * tau)
        self._counts += weights.sum(axis=1)

    def add_kernel_equations(self, equations: KernelEquations) -> None:
        """Add equations in one native call. There must be no function ``weigh``, since it would be needed per block."""
        if self._weigh is not None:
            raise InputError("weights are computed block by block; add the rows of the equations instead")
        mask = equations.mask
        consumer = make_consumer(
            self._products,
            equations.tau,
            coefficients=None if self._around is None else -self._around[self._layout.row_columns],
            mask=None if mask is None else mask.T,
            replaced=equations.replaced,
        )
        equations.kernel.feed(consumer, *equations.inputs)
        self._counts += len(equations.tau) if mask is None else mask.sum(axis=1)

    def merge(self, other: RunningSums) -> None:
        """Add the sums over other equations."""
        self._products.merge(other._products)
        self._counts += other._counts

    def make_normal_equations(self) -> NormalEquations:
        joints: list[JointNormalEquations] = []
        rows = zip(self._layout.columns, self._counts, self._products.collect(), strict=True)
        for k, (columns, count, sums) in enumerate(rows):
            gram = sums[:-1, :-1].copy() if self._grams else np.zeros((len(columns), len(columns)))
            right_side, squares, is_wrench = sums[-1, :-1].copy(), float(sums[-1, -1]), k < self._layout.wrench_rows
            joints.append(JointNormalEquations(columns, gram, right_side, squares, float(count), is_wrench))
        return NormalEquations(self._layout.base_count, tuple(joints))


def accumulate(
    layout: RegressorLayout,
    rows: Iterable[EquationRows],
    *,
    around: PerBase | None = None,
    weigh: WeightFunction | None = None,
    grams: bool = True,
) -> NormalEquations:
    """Return the normal equations of the given rows; see ``RunningSums`` for the arguments."""
    sums = RunningSums(layout, around=around, weigh=weigh, grams=grams)
    for block in rows:
        sums.add(block)
    return sums.make_normal_equations()


def merge(parts: Iterable[NormalEquations], *, empty: NormalEquations) -> NormalEquations:
    """Add the normal equations of parts of the data, in the order of the parts."""
    return reduce(lambda a, b: a + b, parts, empty)


# Eigendecomposition of the matrix N of the normal equations. It separates identified from unidentified directions.
#
# Columns are first scaled to length one, so that parameters in kg and in kg m² are comparable. The square roots of the
# eigenvalues are then the singular values of the scaled equations. Directions whose singular values are below
# ``RANK_TOLERANCE`` times the largest one cannot be distinguished from rounding errors of N; the solution has no
# component along such directions.


# Smallest singular value of equations with columns of length one, relative to the largest, whose direction counts as
# identified. Chosen on: reasoning; the eigenvalues of N have rounding errors of some 1e-16 of the largest, and their
# roots of 1e-8, so that two digits remain.
RANK_TOLERANCE = 1e-6
# Length of a column divided by the length of the longest; below this value, the column is treated as zero. Chosen on:
# reasoning; far above rounding errors, and far below columns of parameters that matter.
ZERO_COLUMN_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class NormalDecomposition:
    """N = diag(scale) V diag(singular_values²) Vᵀ diag(scale), singular values in descending order."""

    scale: PerBase
    singular_values: PerBase
    V: BaseByBase

    @classmethod
    def of(cls, N: BaseByBase) -> NormalDecomposition:
        """Decompose N."""
        scale = np.sqrt(np.maximum(np.diag(N), 0.0))
        largest = scale.max(initial=0.0)
        scale = np.where(scale > ZERO_COLUMN_TOLERANCE * largest, scale, np.inf)  # zero columns: unidentified
        values, V = np.linalg.eigh(N / np.outer(scale, scale))
        return cls(scale, np.sqrt(np.maximum(values[::-1], 0.0)), V[:, ::-1])

    @cached_property
    def rank(self) -> int:
        """The number of directions that the data identify."""
        return int(np.count_nonzero(self.singular_values > RANK_TOLERANCE * self.singular_values[:1].max(initial=0.0)))

    @property
    def condition_number(self) -> float:
        """Condition number of the scaled equations; infinite if N does not have full rank."""
        if self.rank < len(self.singular_values) or not len(self.singular_values):
            return np.inf
        return float(self.singular_values[0] / self.singular_values[-1])

    @cached_property
    def inverse(self) -> BaseByBase:
        """N⁻¹ on the identified directions; zero on the unidentified directions."""
        half = self.half_inverse
        return half @ half.T

    def solve(self, b: PerBase) -> PerBase:
        """Solve N beta = b on the identified directions; beta is zero along the unidentified directions."""
        half = self.half_inverse
        return half @ (half.T @ b)

    @cached_property
    def null_space(self) -> Float[np.ndarray, "base unidentified"]:
        """Directions of beta that the data do not identify, one per column; a zero column of Y gives a unit vector."""
        zero = ~np.isfinite(self.scale)
        V = self.V[:, self.rank :]
        directions = V / np.where(zero, 1.0, self.scale)[:, None]
        return directions / np.maximum(np.linalg.norm(directions, axis=0), np.finfo(float).tiny)

    @property
    def factor(self) -> Float[np.ndarray, "base identified"]:
        """F with N = F Fᵀ on the identified directions; ``half_inverse`` is its pseudo-inverse, transposed."""
        scale = np.where(np.isfinite(self.scale), self.scale, 0.0)
        return self.V[:, : self.rank] * self.singular_values[: self.rank] * scale[:, None]

    @property
    def half_inverse(self) -> Float[np.ndarray, "base identified"]:
        """H with N⁻¹ = H Hᵀ on the identified directions."""
        return self.V[:, : self.rank] / self.singular_values[: self.rank] / self.scale[:, None]
