"""Choice of the torque signs: the best fit, or among equally good fits the signs that are physically possible.

Notation      s     one sign per joint; changing the sign of joint j's torque changes the sign of its b_j
              A     A_ij = b_iᵀ N⁻¹ b_j. With the signs s, the model explains sᵀ A s of the sum of squared torques. All
                    signs are compared by this formula, without another pass over the data

If all signs are reversed, the fit is equally good. If joints hardly affect each other, the same is true of a single
reversed sign. Friction then decides: the friction columns of a joint fit torques of either sign, but friction must
dissipate energy. If friction is not estimated or too uncertain, the diagonal entries of the mass matrix decide: they
must be positive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from ytheta.identification.equations.decomposition import NormalDecomposition
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.estimators.least_squares import solve_weighted
from ytheta.identification.estimators.weighted import compute_joint_weights
from ytheta.robot.parameters import is_dissipative
from ytheta.shapes import Float, PerBase, PerJoint

# Ratios of errors. For recorded arms with correct descriptions, the error with the described signs and gravity is at
# most 1.1 times the smallest error with any other signs or gravity.
# Error as described divided by the error with other signs or gravity; above this value, the others are chosen.
MIN_IMPROVEMENT = 1.5
MAX_SIMILAR_RATIO = 1.25  # error divided by the smallest error; up to this value, both fit equally well
# Errors relative to the RMS of the torque.
ERROR_FLOOR = 1e-3  # smaller errors are rounding errors of sums, or too small to be compared
# Errors of recorded arms with complete models are 1 to 6 %; with gravity wrongly described as horizontal, 10 to 64 %.
MAX_PLAUSIBLE_ERROR = 0.08
# Friction or inertia divided by its standard deviation, which is computed for white noise. Noise after a low-pass is
# correlated: then 8 computed deviations are about 3 true ones. For friction of recorded arms the ratio is 12 to 700.
MIN_SIGNIFICANCE = 8.0
# Up to this number of joints, all sign combinations are tried; with more joints, only reversals of one, two or all.
MAX_EXHAUSTIVE_JOINTS = 12
MAX_CANDIDATES = 24  # number of sign combinations with the smallest errors whose friction and inertia are examined


@dataclass(frozen=True, eq=False)
class SignTest:
    """Normal equations with which signs of the torques are tested.

    Attributes
    ----------
    equations  normal equations with the recorded signs
    joints     names of the joints
    names      names of the parameters
    start      values of the parameters; kept along directions that the data do not identify
    inertia    row j times beta is diagonal entry j of the mass matrix, averaged over poses of the log
    """

    equations: NormalEquations
    joints: tuple[str, ...]
    names: tuple[str, ...]
    start: PerBase
    inertia: Float[np.ndarray, "joints base"]

    def with_signs(self, signs: PerJoint) -> SignTest:
        """Return the test with the torques multiplied by these signs."""
        if (signs > 0.0).all():
            return self
        pairs = zip(self.equations.joints, signs, strict=True)
        joints = tuple(replace(joint, right_side=sign * joint.right_side) for joint, sign in pairs)
        return replace(self, equations=NormalEquations(self.equations.base_count, joints))

    def compute_error(self, signs: PerJoint) -> float:
        """Return the RMS of the torque that the model with these signs does not explain, relative to the torque RMS."""
        total = float(self.equations.torque_squares.sum())
        unexplained = max(0.0, 1.0 - float(signs @ self._explained @ signs) / total) if total else 0.0
        return float(np.hypot(np.sqrt(unexplained), ERROR_FLOOR))

    @cached_property
    def smallest_error(self) -> float:
        """The error of the signs that fit best."""
        return min(self.compute_error(signs) for signs in _iterate_sign_patterns(len(self.joints)))

    @property
    def beta(self) -> PerBase:
        """Base parameters by weighted least squares."""
        return self._weighted[0]

    @cached_property
    def friction(self) -> PerJoint:
        """Mean friction torque of every joint, positive if it opposes the motion; 0 if friction is not estimated."""
        return self._friction_rows @ self.beta

    @cached_property
    def physical_signs(self) -> PerJoint:
        """For each joint: +1 for significantly positive friction or inertia, -1 for significantly negative, else 0."""
        equations, beta = self.equations, self.beta
        squares = np.maximum(equations.torque_squares, np.finfo(float).tiny)
        fits = equations.residual_squares(beta) <= MAX_PLAUSIBLE_ERROR**2 * squares
        rows = np.concatenate([self._friction_rows, self.inertia])
        friction, inertia = np.split(_find_significant_signs(rows @ beta, self._compute_deviations(rows)), 2)
        return np.where(friction != 0.0, friction, np.where(fits, inertia, 0.0))

    @cached_property
    def _weighted(self) -> tuple[PerBase, PerJoint]:
        equal = solve_weighted(self.equations, np.ones(len(self.joints)), self.start)
        weights = compute_joint_weights(self.equations, equal.beta)
        return solve_weighted(self.equations, weights, self.start).beta, weights

    @cached_property
    def _explained(self) -> Float[np.ndarray, "joints joints"]:
        """A of the module docstring."""
        B = np.zeros((self.equations.base_count, len(self.joints)))
        for j, joint in enumerate(self.equations.joints):
            B[joint.columns, j] = joint.right_side
        return B.T @ NormalDecomposition.of(self.equations.matrix(np.ones(len(self.joints)))).inverse @ B

    @cached_property
    def _friction_rows(self) -> Float[np.ndarray, "joints base"]:
        """Row j times beta is the mean of (sign of velocity) · (friction torque) of joint j."""
        rows = np.zeros((len(self.joints), self.equations.base_count))
        dissipative = np.array([is_dissipative(name) for name in self.names], dtype=float)
        for row, name, joint in zip(rows, self.joints, self.equations.joints, strict=True):
            columns = [self.names[column] for column in joint.columns]
            k = next((columns.index(f"{name}.{p}") for p in ("fc", "fv") if f"{name}.{p}" in columns), None)
            if k is not None and joint.gram[k, k] > 0.0:
                row[joint.columns] = dissipative[joint.columns] * joint.gram[k] / joint.gram[k, k]
        return rows

    def _compute_deviations(self, rows: Float[np.ndarray, "rows base"]) -> Float[np.ndarray, "rows"]:
        """Return the standard deviations of ``rows @ beta`` for white noise."""
        (beta, weights), equations = self._weighted, self.equations
        squares = np.maximum(equations.residual_squares(beta), ERROR_FLOOR**2 * equations.torque_squares)
        variances = squares / np.maximum(equations.counts, 1.0)
        gain = rows @ NormalDecomposition.of(equations.matrix(weights)).inverse
        total = np.zeros(len(rows))
        for weight, variance, joint in zip(weights, variances, equations.joints, strict=True):
            joint_gain = gain[:, joint.columns]
            total += weight**2 * variance * np.sum((joint_gain @ joint.gram) * joint_gain, axis=1)
        return np.sqrt(total)


def choose_signs(test: SignTest) -> PerJoint:
    """Choose, among signs that fit equally well, those with the fewest contradictions; on ties, with the most +1."""
    unchanged = np.ones(len(test.joints))
    patterns = _iterate_sign_patterns(len(unchanged))
    candidates = [signs for signs in patterns if test.compute_error(signs) <= MAX_SIMILAR_RATIO * test.smallest_error]
    candidates = sorted(sorted(candidates, key=test.compute_error)[:MAX_CANDIDATES], key=lambda signs: -signs.sum())
    if test.compute_error(unchanged) <= MIN_IMPROVEMENT * test.smallest_error:
        physical = test.physical_signs
        if not (physical < 0.0).any():
            return unchanged
        candidates = [unchanged, np.where(physical < 0.0, -1.0, 1.0), *candidates]
    chosen, fewest = unchanged, len(unchanged) + 1
    for signs in candidates:
        contradictions = int(np.count_nonzero(test.with_signs(signs).physical_signs < 0.0))
        if contradictions < fewest:
            chosen, fewest = signs, contradictions
        if not contradictions:
            break
    return chosen


def _iterate_sign_patterns(joints: int) -> Iterator[PerJoint]:
    """Yield combinations of signs of all joints, those with the fewest reversals first."""
    counts = range(joints + 1) if joints <= MAX_EXHAUSTIVE_JOINTS else (0, 1, 2, joints)
    for count in counts:
        for changed in combinations(range(joints), count):
            signs = np.ones(joints)
            signs[list(changed)] = -1.0
            yield signs


def _find_significant_signs(values: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    return np.where(abs(values) > MIN_SIGNIFICANCE * deviations, np.sign(values), 0.0)
