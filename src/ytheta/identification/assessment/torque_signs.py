"""Signs of the torques: those that fit best, and among signs that fit equally well, the physical ones.

Notation      s     one sign per joint; changing the sign of joint j's torque changes the sign of its b_j
              A     A_ij = b_iᵀ N⁻¹ b_j: the signs s explain the squared torque sᵀ A s, so that all signs are compared
                    without another pass over the data

Signs that differ in all joints fit equally well, and so do some that differ in one joint if joints hardly affect each
other. Then friction decides: its columns belong to one joint alone and fit either sign, but friction must dissipate
energy. If friction is not estimated or too uncertain, the diagonal of the mass matrix decides, which must be positive.
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

# Ratios of errors. Other signs or directions of gravity beat right descriptions of recorded arms by 1.1 at most.
MIN_IMPROVEMENT = 1.5  # by which other signs or directions must be better to be believed
MAX_SIMILAR_RATIO = 1.25  # over the best; smaller errors cannot be distinguished from it
# Errors relative to all torque.
ERROR_FLOOR = 1e-3  # rounding errors of sums, or too small for a comparison to matter
MAX_PLAUSIBLE_ERROR = 0.08  # recorded arms with complete models have 1 to 6 %, with gravity to the side 10 to 64 %
MIN_SIGNIFICANCE = (
    8.0  # white standard deviations, about 3 of correlated noise; friction of recorded arms has 12 to 700
)
MAX_EXHAUSTIVE_JOINTS = 12  # up to which all signs are tried; beyond, changes of one, two or all joints
MAX_CANDIDATES = 24  # signs whose friction and inertia are examined, those with the smallest errors


@dataclass(frozen=True, eq=False)
class SignTest:
    """Normal equations, the names of their parameters, and the parameters' part in the mass matrix.

    Row j of ``inertia`` times beta is diagonal entry j of the mass matrix, averaged over poses of the log.
    """

    equations: NormalEquations
    joints: tuple[str, ...]
    names: tuple[str, ...]
    start: PerBase
    inertia: Float[np.ndarray, "joints base"]

    def with_signs(self, signs: PerJoint) -> SignTest:
        """Return the test after a change of the signs of torques."""
        if (signs > 0.0).all():
            return self
        pairs = zip(self.equations.joints, signs, strict=True)
        joints = tuple(replace(joint, right_side=sign * joint.right_side) for joint, sign in pairs)
        return replace(self, equations=NormalEquations(self.equations.base_count, joints))

    def error(self, signs: PerJoint) -> float:
        """Root mean square of the torque that is not explained with these signs, relative to all torque."""
        total = float(self.equations.torque_squares.sum())
        unexplained = max(0.0, 1.0 - float(signs @ self._explained @ signs) / total) if total else 0.0
        return float(np.hypot(np.sqrt(unexplained), ERROR_FLOOR))

    @cached_property
    def smallest_error(self) -> float:
        """The error of the signs that fit best."""
        return min(self.error(signs) for signs in _sign_patterns(len(self.joints)))

    @property
    def beta(self) -> PerBase:
        """Base parameters by weighted least squares."""
        return self._weighted[0]

    @cached_property
    def friction(self) -> PerJoint:
        """Mean friction against the motion of every joint; 0 if friction is not estimated."""
        return self._friction_rows @ self.beta

    @cached_property
    def physical_signs(self) -> PerJoint:
        """+1 if a joint's friction or inertia is significantly positive, -1 if negative, 0 if neither."""
        equations, beta = self.equations, self.beta
        squares = np.maximum(equations.torque_squares, np.finfo(float).tiny)
        fits = equations.residual_squares(beta) <= MAX_PLAUSIBLE_ERROR**2 * squares
        rows = np.concatenate([self._friction_rows, self.inertia])
        friction, inertia = np.split(_significant_signs(rows @ beta, self._deviation(rows)), 2)
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
        """Row j times beta is the mean of (direction of motion) · (friction torque) of joint j."""
        rows = np.zeros((len(self.joints), self.equations.base_count))
        dissipative = np.array([is_dissipative(name) for name in self.names], dtype=float)
        for row, name, joint in zip(rows, self.joints, self.equations.joints, strict=True):
            columns = [self.names[column] for column in joint.columns]
            own = next((columns.index(f"{name}.{k}") for k in ("fc", "fv") if f"{name}.{k}" in columns), None)
            if own is not None and joint.gram[own, own] > 0.0:
                row[joint.columns] = dissipative[joint.columns] * joint.gram[own] / joint.gram[own, own]
        return rows

    def _deviation(self, rows: Float[np.ndarray, "rows base"]) -> Float[np.ndarray, "rows"]:
        """Standard deviations of rows times beta for white noise."""
        (beta, weights), equations = self._weighted, self.equations
        squares = np.maximum(equations.residual_squares(beta), ERROR_FLOOR**2 * equations.torque_squares)
        variances = squares / np.maximum(equations.counts, 1.0)
        gain = rows @ NormalDecomposition.of(equations.matrix(weights)).inverse
        total = np.zeros(len(rows))
        for weight, variance, joint in zip(weights, variances, equations.joints, strict=True):
            own = gain[:, joint.columns]
            total += weight**2 * variance * np.sum((own @ joint.gram) * own, axis=1)
        return np.sqrt(total)


def choose_signs(test: SignTest) -> PerJoint:
    """Choose signs that fit, contradict friction and inertia least, and change the fewest torques, in that order."""
    unchanged = np.ones(len(test.joints))
    patterns = _sign_patterns(len(unchanged))
    candidates = [signs for signs in patterns if test.error(signs) <= MAX_SIMILAR_RATIO * test.smallest_error]
    candidates = sorted(sorted(candidates, key=test.error)[:MAX_CANDIDATES], key=lambda signs: -signs.sum())
    if test.error(unchanged) <= MIN_IMPROVEMENT * test.smallest_error:
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


def _sign_patterns(joints: int) -> Iterator[PerJoint]:
    """Signs of all joints, those with the fewest changes first."""
    counts = range(joints + 1) if joints <= MAX_EXHAUSTIVE_JOINTS else (0, 1, 2, joints)
    for count in counts:
        for changed in combinations(range(joints), count):
            signs = np.ones(joints)
            signs[list(changed)] = -1.0
            yield signs


def _significant_signs(values: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    return np.where(abs(values) > MIN_SIGNIFICANCE * deviations, np.sign(values), 0.0)
