"""The criteria by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.estimators.lin_serial_arm import SerialArm, explain_refusal
from ytheta.shapes import BaseByBase, Float, PerBase, PerJoint, SamplesByJointByBase

# What each criterion minimizes, for lists and messages.
CRITERIA = {
    "balanced": "both condition numbers and the expected standard deviations together",
    "plain": "condition number of W_b, columns in SI units",
    "scaled": "condition number of W_b, columns scaled to length one",
    "d": "volume of the confidence ellipsoid (D-optimality)",
    "a": "mean variance (A-optimality)",
    "e": "largest semi-axis of the confidence ellipsoid (E-optimality)",
    "lin": "largest condition number of a joint's own equations (Lin 1995)",
}


def check_criterion(name: str, base: BaseParameters) -> None:
    """Raise an error if there is no such criterion, or if it does not accept the robot."""
    if name not in CRITERIA:
        raise UnknownNameError(f"there is no criterion {name!r}{suggest_names(name, CRITERIA)}")
    reason = explain_refusal(base.robot) if name == "lin" else None
    if reason is not None:
        raise InputError(f"the criterion lin needs a serial arm: {reason}; use balanced, plain, scaled, d, a or e")


def make_criterion(
    name: str,
    base: BaseParameters,
    conditioning: MotionInformation,
    noise: MotionInformation,
    reference: tuple[float, float] | None = None,
) -> Criterion:
    """Return a criterion; ``reference`` are the deviations of the D-optimal trajectory, see ``balanced``."""
    check_criterion(name, base)
    if name == "balanced":
        return Balanced(conditioning, noise, reference)
    if name == "plain":
        return PlainCondition(conditioning)
    if name == "scaled":
        return ScaledCondition(conditioning)
    if name == "lin":
        return LinCondition.of(base)
    return ExpectedDeviation(name, noise)


# What a motion tells about the base parameters: sums of products of regressor rows, joint by joint.
#
# Identity      G_j = mean over samples of Y_jᵀ Y_j,   M = prior + sum_j f_j G_j
# Notation      code     meaning                                                           shape
#               grams    G_j, one matrix per joint                                         joints base base
#               factors  f_j: one for condition numbers of W_b; samples / noise_j² for the Fisher information
#               prior    information of earlier measurements, or zero                      base base
#
# A criterion is a function of the G_j. Its derivative with respect to a row Y_j of one sample is 2 Y_j S_j / samples,
# if S_j is its derivative with respect to G_j.


Grams = Float[np.ndarray, "joints base base"]

# Smallest eigenvalue of M relative to the largest; below it, rounding errors prevail. Fixed by: the precision of
# numbers.
MIN_EIGENVALUE_RATIO = 1e-15


@runtime_checkable
class Criterion(Protocol):
    """A function of the Gram matrices that the design minimizes.

    ``evaluate`` returns a smooth approximation and its derivatives with respect to the G_j. ``sharpness`` is the
    exponent of the sums that approximate largest and smallest values; the approximation becomes exact as it grows.
    """

    @property
    def name(self) -> str: ...

    def evaluate(self, grams: Grams, sharpness: float) -> tuple[float, Grams]: ...

    def measure(self, grams: Grams) -> float:
        """Return the exact value."""


@dataclass(frozen=True, eq=False)
class MotionInformation:
    """The matrix M as a function of the G_j."""

    factors: PerJoint
    prior: BaseByBase

    @classmethod
    def unweighted(cls, joints: int, base: int) -> MotionInformation:
        """Return the information whose M is the mean of Yᵀ Y, from which condition numbers of W_b are computed."""
        return cls(np.ones(joints), np.zeros((base, base)))

    def sum_up(self, grams: Grams) -> BaseByBase:
        return np.asarray(self.prior + np.tensordot(self.factors, grams, axes=1))

    def distribute(self, sensitivity: BaseByBase) -> Grams:
        """Return the derivatives with respect to the G_j, from that with respect to M."""
        return self.factors[:, None, None] * sensitivity

    def expect_std(self, grams: Grams) -> PerBase:
        """Return the expected standard deviations of the base parameters; infinite if M is singular."""
        return compute_std(self.sum_up(grams))


def compute_grams(Y: SamplesByJointByBase) -> Grams:
    """Return the mean of Y_jᵀ Y_j over the samples for every joint."""
    rows = np.ascontiguousarray(Y.transpose(1, 0, 2))
    return np.matmul(rows.transpose(0, 2, 1), rows) / len(Y)


def compute_std(M: BaseByBase) -> PerBase:
    """Return the square roots of the diagonal of M⁻¹; infinite for parameters that M does not determine."""
    scale = 1.0 / np.sqrt(np.maximum(np.diag(M), np.finfo(float).tiny))
    eigenvalues, vectors = np.linalg.eigh(M * scale[:, None] * scale)
    seen = eigenvalues > MIN_EIGENVALUE_RATIO * max(float(eigenvalues[-1]), 0.0)
    inverse = np.where(seen, 1.0 / np.where(seen, eigenvalues, 1.0), np.inf)
    parts = np.where(vectors**2 > 1e-12, vectors**2, 0.0)
    with np.errstate(invalid="ignore"):
        variances = np.nansum(parts * inverse, axis=1)
    return np.asarray(scale * np.sqrt(variances))


# The default criterion: both condition numbers and the expected standard deviations together, with a guard.
#
# Identity      log plain + SCALED_WEIGHT · log scaled + MEAN_WEIGHT · log (mean std)
#               + GUARD_WEIGHT · sum of max(0, log (std / limit))², over the mean and the worst std
#
# The scaled condition number alone is a trap: its optimum slows joints down and identifies worse than random motion.
# The plain one alone depends on units. The guard compares the geometric mean and the worst of the expected standard
# deviations with those of a D-optimal trajectory; below ``MAX_STD_RATIO`` times these, it is zero.


# Weights of the scaled condition number, of the mean deviation and of the guard, relative to the plain condition
# number. Chosen on: rule of thumb; docs/excite.md compares the designs for Panda and iiwa14 with the best ones.
SCALED_WEIGHT = 1.5
MEAN_WEIGHT = 0.3
GUARD_WEIGHT = 1.5
# Mean and worst standard deviation, relative to those of the D-optimal trajectory, above which the guard acts.
# Chosen on: rule of thumb.
MAX_STD_RATIO = 1.3


@dataclass(frozen=True, eq=False)
class Balanced:
    """Condition numbers from ``conditioning``, standard deviations from ``noise``.

    ``reference`` has the logarithms of the geometric mean and of the worst standard deviation of a D-optimal
    trajectory, or is None if there is no guard.
    """

    conditioning: MotionInformation
    noise: MotionInformation
    reference: tuple[float, float] | None = None

    @property
    def name(self) -> str:
        return "balanced"

    def evaluate(self, grams: Grams, sharpness: float) -> tuple[float, Grams]:
        M = self.conditioning.sum_up(grams)
        plain, slope = smooth_log_condition(M, sharpness)
        scaled, scaled_slope = smooth_log_scaled_condition(M, sharpness)
        covariance = invert(self.noise.sum_up(grams))
        mean, mean_slope = log_mean_std(covariance)
        excess = self._find_excess(0, mean)
        total = plain + SCALED_WEIGHT * scaled + MEAN_WEIGHT * mean + GUARD_WEIGHT * excess**2
        noise_slope = (MEAN_WEIGHT + 2.0 * GUARD_WEIGHT * excess) * mean_slope
        if self.reference is not None:
            worst, worst_slope = log_worst_std(covariance, sharpness)
            excess = self._find_excess(1, worst)
            total += GUARD_WEIGHT * excess**2
            noise_slope = noise_slope + 2.0 * GUARD_WEIGHT * excess * worst_slope
        slopes = self.conditioning.distribute(slope + SCALED_WEIGHT * scaled_slope) + self.noise.distribute(noise_slope)
        return total, slopes

    def measure(self, grams: Grams) -> float:
        M = self.conditioning.sum_up(grams)
        conditions = log_condition(M) + SCALED_WEIGHT * log_condition(scale_columns(M))
        std = self.noise.expect_std(grams)
        values = float(np.log(std).mean()), float(np.log(std).max())
        guard = sum(self._find_excess(k, value) ** 2 for k, value in enumerate(values))
        return conditions + MEAN_WEIGHT * values[0] + GUARD_WEIGHT * guard

    def _find_excess(self, k: int, value: float) -> float:
        return 0.0 if self.reference is None else max(0.0, value - self.reference[k] - float(np.log(MAX_STD_RATIO)))


# Condition numbers of W_b, with plain columns and with columns scaled to length one, as smooth criteria.
#
# Identity      log cond = lim (1 / 2p) (log tr Mᵖ + log tr M⁻ᵖ) as the sharpness p grows;  M = W_bᵀ W_b / samples
#
# The smooth value is never smaller than the logarithm of the condition number.


@dataclass(frozen=True, eq=False)
class PlainCondition:
    """Logarithm of the condition number of W_b, columns in SI units."""

    information: MotionInformation

    @property
    def name(self) -> str:
        return "plain"

    def evaluate(self, grams: Grams, sharpness: float) -> tuple[float, Grams]:
        value, sensitivity = smooth_log_condition(self.information.sum_up(grams), sharpness)
        return value, self.information.distribute(sensitivity)

    def measure(self, grams: Grams) -> float:
        return log_condition(self.information.sum_up(grams))


@dataclass(frozen=True, eq=False)
class ScaledCondition:
    """Logarithm of the condition number of W_b with columns scaled to length one."""

    information: MotionInformation

    @property
    def name(self) -> str:
        return "scaled"

    def evaluate(self, grams: Grams, sharpness: float) -> tuple[float, Grams]:
        value, sensitivity = smooth_log_scaled_condition(self.information.sum_up(grams), sharpness)
        return value, self.information.distribute(sensitivity)

    def measure(self, grams: Grams) -> float:
        return log_condition(scale_columns(self.information.sum_up(grams)))


def smooth_log_condition(M: BaseByBase, sharpness: float) -> tuple[float, BaseByBase]:
    """Return the smooth logarithm of the condition number of W, and its derivative with respect to M = WᵀW."""
    eigenvalues, vectors = np.linalg.eigh(M)
    bounded = np.maximum(eigenvalues, MIN_EIGENVALUE_RATIO * eigenvalues[-1])
    log = np.log(bounded)
    large, small = np.exp(sharpness * (log - log[-1])), np.exp(sharpness * (log[0] - log))
    value = 0.5 * (log[-1] - log[0] + (np.log(large.sum()) + np.log(small.sum())) / sharpness)
    slopes = 0.5 * (large / large.sum() - small / small.sum()) / bounded
    return float(value), (vectors * slopes) @ vectors.T


def smooth_log_scaled_condition(M: BaseByBase, sharpness: float) -> tuple[float, BaseByBase]:
    """Like ``smooth_log_condition`` for columns of W scaled to length one."""
    scaled = scale_columns(M)
    value, sensitivity = smooth_log_condition(scaled, sharpness)
    scale = 1.0 / np.sqrt(np.diag(M))
    result = sensitivity * scale[:, None] * scale
    # The diagonal of M also changes the scales of rows and columns: d scale_i / d M_ii = -scale_i³ / 2.
    result[np.diag_indices_from(result)] -= (sensitivity * scaled).sum(axis=1) * scale**2
    return value, result


def scale_columns(M: BaseByBase) -> BaseByBase:
    """Return WᵀW for columns of W scaled to length one."""
    scale = 1.0 / np.sqrt(np.maximum(np.diag(M), np.finfo(float).tiny))
    return M * scale[:, None] * scale


def log_condition(M: BaseByBase) -> float:
    """Return the logarithm of the condition number of W from M = WᵀW; infinite if W is rank-deficient."""
    eigenvalues = np.linalg.eigvalsh(M)
    if eigenvalues[0] <= MIN_EIGENVALUE_RATIO * eigenvalues[-1]:
        return float("inf")
    return float(0.5 * np.log(eigenvalues[-1] / eigenvalues[0]))


# Expected standard deviations as criteria: D-, A- and E-optimality, their geometric mean and the worst one.
#
# All values are logarithms of a standard deviation, so that they can be added, and a difference of 0.1 means 10 %.


Evaluation = Callable[[BaseByBase, float], tuple[float, BaseByBase]]

# A sum with this exponent differs from the largest term by less than 1e-4 of it. Chosen on: reasoning, see the
# error.
EXACT_SHARPNESS = 1e5


@dataclass(frozen=True, eq=False)
class ExpectedDeviation:
    """A measure of the expected standard deviations, given by a function of ``EVALUATIONS``."""

    name: str
    information: MotionInformation

    def evaluate(self, grams: Grams, sharpness: float) -> tuple[float, Grams]:
        value, sensitivity = EVALUATIONS[self.name](self.information.sum_up(grams), sharpness)
        return value, self.information.distribute(sensitivity)

    def measure(self, grams: Grams) -> float:
        return EVALUATIONS[self.name](self.information.sum_up(grams), EXACT_SHARPNESS)[0]


def evaluate_d(M: BaseByBase, _: float) -> tuple[float, BaseByBase]:
    """Geometric mean of the semi-axes of the confidence ellipsoid: -log det M / (2 base)."""
    eigenvalues, vectors = _decompose(M)
    return float(-0.5 * np.log(eigenvalues).mean()), -((vectors / eigenvalues) @ vectors.T) / (2 * len(M))


def evaluate_a(M: BaseByBase, _: float) -> tuple[float, BaseByBase]:
    """Root mean square of the standard deviations."""
    inverse = invert(M)
    total = float(np.trace(inverse))
    return 0.5 * float(np.log(total / len(M))), -inverse @ inverse / (2.0 * total)


def evaluate_e(M: BaseByBase, sharpness: float) -> tuple[float, BaseByBase]:
    """Largest semi-axis of the confidence ellipsoid."""
    eigenvalues, vectors = _decompose(M)
    log = np.log(eigenvalues)
    parts = np.exp(sharpness * (log[0] - log))
    value = 0.5 * (np.log(parts.sum()) / sharpness - log[0])
    return float(value), -((vectors * (parts / parts.sum() / eigenvalues)) @ vectors.T) / 2.0


def evaluate_mean_std(M: BaseByBase, _: float) -> tuple[float, BaseByBase]:
    """Geometric mean of the standard deviations."""
    return log_mean_std(invert(M))


def evaluate_worst_std(M: BaseByBase, sharpness: float) -> tuple[float, BaseByBase]:
    """The largest standard deviation."""
    return log_worst_std(invert(M), sharpness)


def log_mean_std(covariance: BaseByBase) -> tuple[float, BaseByBase]:
    """Return the logarithm of the geometric mean of the deviations, and its derivative with respect to M."""
    variances = np.diag(covariance)
    return 0.5 * float(np.log(variances).mean()), -(covariance / variances) @ covariance / (2 * len(variances))


def log_worst_std(covariance: BaseByBase, sharpness: float) -> tuple[float, BaseByBase]:
    """Return the smooth logarithm of the largest deviation, and its derivative with respect to M."""
    variances = np.diag(covariance)
    log = 0.5 * np.log(variances)
    parts = np.exp(sharpness * (log - log.max()))
    value = float(np.log(parts.sum()) / sharpness + log.max())
    return value, -((covariance * (parts / parts.sum() / variances)) @ covariance) / 2.0


def _decompose(M: BaseByBase) -> tuple[Float[np.ndarray, " base"], BaseByBase]:
    eigenvalues, vectors = np.linalg.eigh(M)
    return np.maximum(eigenvalues, MIN_EIGENVALUE_RATIO * eigenvalues[-1]), vectors


def invert(M: BaseByBase) -> BaseByBase:
    """Return the covariance M⁻¹; eigenvalues that are zero but for rounding are replaced by a small positive one."""
    try:
        inverse = np.linalg.inv(M)
        if (np.diag(inverse) > 0.0).all() and np.isfinite(inverse).all():
            return np.asarray(inverse)
    except np.linalg.LinAlgError:
        pass
    eigenvalues, vectors = _decompose(M)
    return np.asarray((vectors / eigenvalues) @ vectors.T)


EVALUATIONS: dict[str, Evaluation] = {
    "d": evaluate_d,
    "a": evaluate_a,
    "e": evaluate_e,
    "mean std": evaluate_mean_std,
    "worst std": evaluate_worst_std,
}


# Lin's condition numbers of the joints' own equations, A_i w_i = gamma_i, as a criterion.
#
# Identity      Y_i C = [… A_i …], with beta = C w, so that A_iᵀ A_i is a block of Cᵀ G_i C
# Reference     [lin1995] sec. IV, (107), (117)
# Accepts       serial arms; see ``identification.estimators.lin.serial_arm``


@dataclass(frozen=True, eq=False)
class LinCondition:
    """Logarithm of the largest condition number of A_i with columns scaled to length one.

    ``blocks`` are the columns of C that belong to w_i, for the joint of each G_i; a joint without parameters of its own
    has no columns.
    """

    blocks: tuple[Float[np.ndarray, "base _"], ...]

    @classmethod
    def of(cls, base: BaseParameters) -> LinCondition:
        arm = SerialArm.of(base)
        columns = {place: arm.C[:, arm.find_slice(i)] for i, place in enumerate(arm.places)}
        return cls(tuple(columns[k] for k in range(len(columns))))

    @property
    def name(self) -> str:
        return "lin"

    def evaluate(self, grams: Grams, sharpness: float) -> tuple[float, Grams]:
        values = np.zeros(len(grams))
        sensitivities = np.zeros_like(grams)
        for k, (gram, C) in enumerate(zip(grams, self.blocks, strict=True)):
            if C.shape[1] > 1:
                values[k], inner = smooth_log_scaled_condition(C.T @ gram @ C, sharpness)
                sensitivities[k] = C @ inner @ C.T
        parts = np.exp(sharpness * (values - values.max()))
        total = float(np.log(parts.sum()) / sharpness + values.max())
        return total, sensitivities * (parts / parts.sum())[:, None, None]

    def measure(self, grams: Grams) -> float:
        pairs = zip(grams, self.blocks, strict=True)
        return max(log_condition(scale_columns(C.T @ gram @ C)) if C.shape[1] > 1 else 0.0 for gram, C in pairs)
