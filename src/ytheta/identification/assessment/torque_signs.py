"""Which torques have the wrong sign: what fits, and of what fits alike, what dissipates energy and has inertia.

Notation      s     one sign per joint; drive_directions the torque of joint j round turns its moment b_j round
              A     A_ij = b_iᵀ N⁻¹ b_j: the squared torque that s explains is sᵀ A s, so that all signs are compared
                    without another look at the data

Signs that differ in all joints fit alike, and where joints hardly move each other so do some that differ in one. There
friction decides: its columns belong to one joint alone and absorb any sign, but a brake that pushes does not exist.
Where friction is not asked about or too small to be sure of, the diagonal of the mass matrix decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.equations.decomposition import NormalDecomposition
from ytheta.identification.estimators.least_squares import solved
from ytheta.identification.estimators.weighted import joint_weights
from ytheta.robot.parameters import is_dissipative
from ytheta.shapes import Float, PerBase, PerJoint

BETTER = 1.5  # times smaller error: other signs or directions beat right descriptions of recorded arms by 1.1 at most
ALIKE = 1.25  # times larger error than the best: not to be told from it by the error alone
SURE = 8.0  # standard deviations of white noise, about 3 of what noise is like; friction of recorded arms has 12 to 700
EXACT = 1e-3  # of all torque: errors below are rounding of sums, or so small that no comparison matters
POOR = 0.08  # of all torque: recorded arms with complete models have 1 to 6 %, with gravity to the side 10 to 64 %
MOST_TRIED = 12  # joints for which all signs are tried; beyond, those that differ in one or two or all
MOST_WEIGHED = 24  # signs whose friction and inertia are looked at, those of the smallest errors


@dataclass(frozen=True, eq=False)
class Reading:
    """NormalEquations of all equations, what their parameters are called, and the parameters' part in the mass matrix.

    Row j of ``inertia`` times beta is the diagonal entry j of the mass matrix, averaged over poses of the log.
    """

    sums: NormalEquations
    joints: tuple[str, ...]
    names: tuple[str, ...]
    start: PerBase
    inertia: Float[np.ndarray, "joints base"]

    def turned(self, signs: PerJoint) -> Reading:
        """The reading if some torques had the other sign."""
        if (signs > 0.0).all():
            return self
        pairs = zip(self.sums.joints, signs, strict=True)
        return replace(self, sums=NormalEquations(self.sums.base, tuple(replace(j, moment=s * j.moment) for j, s in pairs)))

    def error(self, signs: PerJoint) -> float:
        """Root mean square of what signs leave unexplained, of all torque."""
        total = float(self.sums.squares.sum())
        left = max(0.0, 1.0 - float(signs @ self._agreement @ signs) / total) if total else 0.0
        return float(np.hypot(np.sqrt(left), EXACT))

    @cached_property
    def least(self) -> float:
        """The error of the signs that fit best."""
        return min(self.error(signs) for signs in _patterns(len(self.joints)))

    @property
    def beta(self) -> PerBase:
        return self._weighted[0]

    @cached_property
    def friction(self) -> Float[np.ndarray, "joints"]:
        """Mean friction against the motion of every joint; 0 where none is asked about."""
        return self._friction_rows @ self.beta

    @cached_property
    def identifiability(self) -> PerJoint:
        """+1 where a joint's friction or inertia is positive for sure, -1 where negative, 0 where nobody can say."""
        sums, beta = self.sums, self.beta
        squares = np.maximum(sums.squares, np.finfo(float).tiny)
        fits = sums.residual_squares(beta) <= POOR**2 * squares
        rows = np.concatenate([self._friction_rows, self.inertia])
        friction, inertia = np.split(_sure(rows @ beta, self._deviation(rows)), 2)
        return np.where(friction != 0.0, friction, np.where(fits, inertia, 0.0))

    @cached_property
    def _weighted(self) -> tuple[PerBase, PerJoint]:
        weights = joint_weights(self.sums, solved(self.sums, np.ones(len(self.joints)), self.start).beta)
        return solved(self.sums, weights, self.start).beta, weights

    @cached_property
    def _agreement(self) -> Float[np.ndarray, "joints joints"]:
        B = np.zeros((self.sums.base, len(self.joints)))
        for j, joint in enumerate(self.sums.joints):
            B[joint.columns, j] = joint.moment
        return B.T @ NormalDecomposition.of(self.sums.normal(np.ones(len(self.joints)))).inverse @ B

    @cached_property
    def _friction_rows(self) -> Float[np.ndarray, "joints base"]:
        """Row j times beta is the mean of (direction of motion) · (friction torque) of joint j."""
        rows = np.zeros((len(self.joints), self.sums.base))
        braking = np.array([is_dissipative(name) for name in self.names], dtype=float)
        for row, name, joint in zip(rows, self.joints, self.sums.joints, strict=True):
            columns = [self.names[column] for column in joint.columns]
            own = next((columns.index(f"{name}.{k}") for k in ("fc", "fv") if f"{name}.{k}" in columns), None)
            if own is not None and joint.gram[own, own] > 0.0:
                row[joint.columns] = braking[joint.columns] * joint.gram[own] / joint.gram[own, own]
        return rows

    def _deviation(self, rows: Float[np.ndarray, "rows base"]) -> Float[np.ndarray, "rows"]:
        """Standard deviations of rows times beta, if noise were white."""
        (beta, weights), sums = self._weighted, self.sums
        left = np.maximum(sums.residual_squares(beta), EXACT**2 * sums.squares) / np.maximum(sums.counts, 1.0)
        gain = rows @ NormalDecomposition.of(sums.normal(weights)).inverse
        variance = np.zeros(len(rows))
        for weight, noise, joint in zip(weights, left, sums.joints, strict=True):
            own = gain[:, joint.columns]
            variance += weight**2 * noise * np.sum((own @ joint.gram) * own, axis=1)
        return np.sqrt(variance)


def believed_signs(reading: Reading) -> PerJoint:
    """The signs that fit, contradict friction and inertia least, and turn the fewest torques round, in that order."""
    as_told = np.ones(len(reading.joints))
    fitting = [signs for signs in _patterns(len(as_told)) if reading.error(signs) <= ALIKE * reading.least]
    fitting = sorted(sorted(fitting, key=reading.error)[:MOST_WEIGHED], key=lambda signs: -signs.sum())
    if reading.error(as_told) <= BETTER * reading.least:
        verdicts = reading.identifiability
        if not (verdicts < 0.0).any():
            return as_told
        fitting = [as_told, np.where(verdicts < 0.0, -1.0, 1.0), *fitting]
    chosen, fewest = as_told, len(as_told) + 1
    for signs in fitting:
        wrong = int(np.count_nonzero(reading.turned(signs).identifiability < 0.0))
        if wrong < fewest:
            chosen, fewest = signs, wrong
        if not wrong:
            break
    return chosen


def _patterns(joints: int) -> Iterator[PerJoint]:
    """Signs, the fewest turned first."""
    counts = range(joints + 1) if joints <= MOST_TRIED else (0, 1, 2, joints)
    for count in counts:
        for chosen in combinations(range(joints), count):
            signs = np.ones(joints)
            signs[list(chosen)] = -1.0
            yield signs


def _sure(values: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    return np.where(abs(values) > SURE * deviations, np.sign(values), 0.0)
