"""Total least squares: errors in the regressor as well as in the torque.

Identity      (sum_j w_j (G_j - k n_j C_j)) beta = sum_j w_j b_j,   k = min(1, lowest eigenvalue of M x = k P x)
              M = sum_j w_j [W_j tau_j]ᵀ [W_j tau_j],   P = sum_j w_j n_j diag(C_j, v_j)
Reference     G. H. Golub, C. F. Van Loan, "An analysis of the total least squares problem", SIAM J. Numer. Anal. 17(6),
              1980; S. Van Huffel, J. Vandewalle, "The Total Least Squares Problem", SIAM 1991: noise covariance;
              W. A. Fuller, "Measurement Error Models", Wiley 1987, ch. 2: known C_j and unknown torque noise; for
              robots M. Gautier, P. Vandanjon, C. Presse, "Identification of inertial and drive gain parameters of
              robots", CDC 1994
Accepts       every robot, in the differential form
Notation      code         symbol   meaning
              covariances  C_j      covariance of the noise in a row of joint j's regressor; see below
              torque_noise √v_j     standard deviation of joint j's torque noise; v_j = 0 in P if it is not known
              share        k        share of the covariance that is subtracted
Differs from  the books in: one weight w_j per joint, the inverse of v_j + betaᵀ C_j beta or, if v_j is not known, of
              the variance of the residuals; C_j is the mean of all samples, although the noise of a row depends on
              the pose; the accumulated products M are used instead of a singular value decomposition of [W tau], so
              that beta of noise-free data is less accurate. From Gautier et al.: drive gains are not estimated

With ``torque_noise``, k is the lowest eigenvalue, and beta is the generalized total least squares solution, which needs
the covariances only up to a common factor. Without it, C_j is taken as it is (k = 1), unless that much noise would
contradict the residuals (k < 1).

Total least squares is worse than ``weighted`` if C_j is wrong. If C_j is too large, parameters become too large instead
of too small; if ``torque_noise`` is given, model errors make k too large; and along directions that the motion hardly
excites, the difference of two nearly equal matrices amplifies all errors. If the noise is not known, the estimator
``instrumental-variables`` needs fewer assumptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ytheta.engine.local import map_in_order
from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem, SourceRange
from ytheta.identification.equations.normal_equations import NormalDecomposition, NormalEquations
from ytheta.identification.estimators.estimator import Estimate
from ytheta.identification.estimators.least_squares import WEIGHT_TOLERANCE, compute_joint_weights
from ytheta.identification.estimators.motion_spectrum import choose_bands, compute_noise, iterate_segments
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.shapes import BaseByBase, Float, NonzerosBySample, PerBase, PerJoint

Deviation = float | tuple[float, ...] | None  # of all joints, or of each; None if not known

# Share of Wᵀ W that remains after subtracting the noise; below it, a finding is given. Chosen on: rule of thumb.
MIN_REMAINING_SHARE = 0.1
# RMS of residuals relative to that of the torque; smaller residuals are rounding errors. Chosen on: reasoning; see
# ``MIN_RELATIVE_RESIDUAL`` of least squares.
MIN_RESIDUAL_RATIO = 1e-6
# Component of a parameter along a noisy direction divided by the largest one; findings name those above it. It
# affects only the length of a list of names.
MIN_NAMED_SHARE = 0.5


@dataclass(frozen=True)
class TotalLeastSquares:
    """Total least squares, reweighted at most ``rounds`` times.

    Attributes
    ----------
    position_noise, velocity_noise, acceleration_noise
                  standard deviations of the noise in the prepared motion, in SI units, for all joints or for each;
                  None to estimate them from the log
    torque_noise  likewise of the torques, in Nm or N; None if it is not known
    """

    position_noise: Deviation = None
    velocity_noise: Deviation = None
    acceleration_noise: Deviation = None
    torque_noise: Deviation = None
    rounds: int = 20

    def __post_init__(self) -> None:
        for name in ("position_noise", "velocity_noise", "acceleration_noise", "torque_noise"):
            value = getattr(self, name)
            if value is not None and not (np.isfinite(value) & (np.asarray(value) >= 0.0)).all():
                raise InputError(f"{name} is {value}; give standard deviations of at least 0, or None to estimate them")
        if self.torque_noise is not None and not np.all(np.asarray(self.torque_noise) > 0.0):
            raise InputError(f"torque_noise is {self.torque_noise}; give positive standard deviations, or None")
        if self.rounds < 1:
            raise InputError(f"rounds is {self.rounds}; reweight at least once")

    @property
    def name(self) -> str:
        return "total-least-squares"

    def fit(self, problem: EstimationProblem) -> Estimate:
        if not isinstance(problem.form, Differential):
            raise InputError(
                f"total-least-squares needs the differential form, since the noise of the {problem.form.name} form is "
                "correlated from equation to equation; use the differential form or another estimator"
            )
        equations, start = problem.normal_equations(), problem.base.beta
        covariances = propagate_motion_noise(problem, problem.form, self._collect_motion_noise(problem))
        variances = None
        if self.torque_noise is not None:
            variances = _spread("torque_noise", self.torque_noise, len(equations.joints)) ** 2
        weights = np.ones(len(equations.joints))
        solution = solve_total(equations, covariances, variances, weights, start)
        rounds = 0
        while rounds < self.rounds:
            before, weights = weights, _compute_weights(equations, covariances, variances, solution.beta)
            solution = solve_total(equations, covariances, variances, weights, start)
            rounds += 1
            if np.all(abs(weights - before) <= WEIGHT_TOLERANCE * weights):
                break
        return _make_estimate(problem, covariances, weights, solution, rounds)

    def _collect_motion_noise(self, problem: EstimationProblem) -> MotionNoise:
        """Return the given standard deviations, and estimates of those that are not given."""
        given = (self.position_noise, self.velocity_noise, self.acceleration_noise)
        joints = len(problem.base.robot.actuated)
        if all(value is None for value in given):
            return estimate_motion_noise(problem)
        estimated = MotionNoise(*(np.zeros(joints) for _ in given))
        if any(value is None for value in given):
            estimated = estimate_motion_noise(problem)
        moves = np.any([part.qd.any(axis=0) for part in iterate_segments(problem)], axis=0)
        words = ("position_noise", "velocity_noise", "acceleration_noise")
        defaults = (estimated.q, estimated.qd, estimated.qdd)
        q, qd, qdd = (
            default if value is None else _spread(word, value, joints)
            for word, value, default in zip(words, given, defaults, strict=True)
        )
        return MotionNoise(q, qd * moves, qdd * moves)  # velocities of joints that do not move are exactly zero


@dataclass(frozen=True, eq=False)
class TotalSolution:
    """A solution; ``inverse``: inverse of sum_j w_j (G_j - k n_j C_j) on the identified directions.

    ``share``: k. ``limited``: whether k is below 1 because of the residuals. ``remaining``: smallest share of Wᵀ W that
    is not noise, and ``noisiest`` its direction. ``residual_ratio``: RMS of residuals divided by RMS of torque.
    """

    beta: PerBase
    inverse: BaseByBase
    decomposition: NormalDecomposition
    share: float
    limited: bool
    remaining: float
    noisiest: PerBase
    residual_ratio: float


def solve_total(
    equations: NormalEquations,
    covariances: Sequence[Float[np.ndarray, "own own"]],
    torque_variances: PerJoint | None,
    weights: PerJoint,
    start: PerBase,
) -> TotalSolution:
    """Solve the equations of the module docstring; beta keeps ``start`` along directions that are not identified."""
    N, b = equations.matrix(weights), equations.right_side(weights)
    C = np.zeros_like(N)
    for weight, joint, covariance in zip(weights, equations.joints, covariances, strict=True):
        C[joint.columns[:, None], joint.columns] += weight * joint.count * covariance
    variance = 0.0 if torque_variances is None else float(weights @ (equations.counts * torque_variances))
    decomposition = NormalDecomposition.of(N)
    rank = decomposition.rank
    basis = decomposition.V[:, :rank] / decomposition.singular_values[:rank] / decomposition.scale[:, None]
    # Vectors (basis x + start s, -s): basisᵀ N basis is the unit matrix.
    m, total = basis.T @ (N @ start - b), float(weights @ equations.torque_squares)
    last = float(start @ N @ start - 2.0 * b @ start + total)
    noise = basis.T @ C @ basis
    coupling = basis.T @ C @ start
    P = np.block([[noise, coupling[:, None]], [coupling[None], np.full((1, 1), start @ C @ start + variance)]])
    residual = max(last - float(m @ m), np.finfo(float).eps * max(last, total), np.finfo(float).tiny)
    T = np.eye(rank + 1)  # Tᵀ M T is the unit matrix
    T[:rank, rank], T[rank, rank] = -m / np.sqrt(residual), 1.0 / np.sqrt(residual)
    highest = float(np.linalg.eigvalsh(T.T @ P @ T)[-1])
    lowest = 1.0 / highest if highest > 0.0 else np.inf
    share = min(1.0, lowest) if torque_variances is None or not np.isfinite(lowest) else lowest
    values, V = np.linalg.eigh(np.eye(rank) - share * noise)
    values = np.maximum(values, np.finfo(float).eps)
    inverse = basis @ (V / values) @ V.T @ basis.T
    beta = start + inverse @ (b - (N - share * C) @ start)
    remaining, noisiest = (float(values[0]), basis @ V[:, 0]) if rank else (1.0, np.zeros_like(start))
    ratio = float(np.sqrt(residual / total)) if total > 0.0 else 0.0
    limited = torque_variances is None and share < 1.0
    return TotalSolution(beta, inverse, decomposition, share, limited, remaining, noisiest, ratio)


def _make_estimate(
    problem: EstimationProblem,
    covariances: Sequence[Float[np.ndarray, "own own"]],
    weights: PerJoint,
    solution: TotalSolution,
    rounds: int,
) -> Estimate:
    """Compute P_j, to be multiplied by the variance of the residuals, which contain the noise of the regressor."""
    equations = problem.normal_equations()
    spread = np.zeros((len(weights), equations.base_count, equations.base_count))
    degrees_of_freedom = np.zeros(len(weights))
    for j, (weight, joint, covariance) in enumerate(zip(weights, equations.joints, covariances, strict=True)):
        own = solution.inverse[:, joint.columns]
        spread[j] = weight**2 * own @ joint.gram @ own.T
        corrected = joint.gram - solution.share * joint.count * covariance
        degrees_of_freedom[j] = weight * float(np.sum(own[joint.columns] * corrected))
    findings = _find_too_much_noise(solution, problem.base.names)
    unidentified = solution.decomposition.null_space
    return Estimate(solution.beta, spread, degrees_of_freedom, weights, unidentified, rounds, findings)


def _compute_weights(
    equations: NormalEquations,
    covariances: Sequence[Float[np.ndarray, "own own"]],
    torque_variances: PerJoint | None,
    beta: PerBase,
) -> PerJoint:
    """Return the inverse variances of the equations; their median is one."""
    if torque_variances is None:
        return compute_joint_weights(equations, beta)
    pairs = zip(equations.joints, covariances, strict=True)
    propagated = np.array([beta[joint.columns] @ covariance @ beta[joint.columns] for joint, covariance in pairs])
    variances = torque_variances + propagated
    return np.asarray(np.median(variances) / variances)


def _spread(name: str, value: float | tuple[float, ...], joints: int) -> PerJoint:
    values = np.asarray(value, dtype=float)
    if values.shape not in ((), (1,), (joints,)):
        raise InputError(f"{name} has {values.size} values for {joints} joints; give one for all, or one for each")
    return np.broadcast_to(values, (joints,)).copy()


def _find_too_much_noise(solution: TotalSolution, names: tuple[str, ...]) -> tuple[Finding, ...]:
    if solution.residual_ratio < MIN_RESIDUAL_RATIO:
        return ()  # noise-free data
    findings: list[Finding] = []
    if solution.limited:
        statement = (
            "the noise of the motion would cause larger residuals than there are; "
            f"{solution.share:.0%} of its variance are used, and the torques count as exact"
        )
        findings.append(_make_finding(statement, {"share": solution.share}))
    if solution.remaining < MIN_REMAINING_SHARE:
        scale = np.where(np.isfinite(solution.decomposition.scale), solution.decomposition.scale, 0.0)
        sizes = abs(solution.noisiest) * scale
        named = [name for name, size in zip(names, sizes, strict=True) if size > MIN_NAMED_SHARE * sizes.max()]
        statement = (
            f"{1.0 - solution.remaining:.1%} of the regressor's variance along {', '.join(named)} is noise, so that "
            "total least squares amplifies errors of the noise covariance"
        )
        findings.append(_make_finding(statement, {"remaining": solution.remaining, "parameters": named}))
    return tuple(findings)


def _make_finding(statement: str, fields: dict[str, object]) -> Finding:
    remedy = "give the standard deviations of the noise, or use the estimator instrumental-variables or weighted"
    return Finding(FitFindingCode.ESTIMATOR, Severity.WARNING, statement, remedy, fields=fields)


# Noise of the motion: its standard deviations, and the covariance of the noise that it causes in the regressor.
#
# Identity      C_j = mean over samples of sum_c s_c² (dY_j/dc)ᵀ (dY_j/dc),   c: q, qd and qdd of every joint
#
# The standard deviations s_c are computed from the content of the log above the band of the motion
# (``motion_spectrum``), where joints do not move. Noise within the band is not counted, so that s_c is rather too
# small; vibrations that the torque sees as well are counted, although they are no noise.


# Number of samples, equally spaced in the logs, over which the covariance is averaged. Chosen on: rule of thumb.
MAX_SAMPLES = 2000

QUANTITIES = ("q", "qd", "qdd")


@dataclass(frozen=True, eq=False)
class MotionNoise:
    """Standard deviations of the noise of every joint's position, velocity and acceleration."""

    q: PerJoint
    qd: PerJoint
    qdd: PerJoint


def estimate_motion_noise(problem: EstimationProblem) -> MotionNoise:
    """Estimate the noise of all logs; see the module docstring."""
    squares, count = np.zeros((len(QUANTITIES), len(problem.base.robot.actuated))), 0
    for part in iterate_segments(problem):
        squares += len(part.q) * compute_noise(part, choose_bands(part)) ** 2
        count += len(part.q)
    q, qd, qdd = np.sqrt(squares / max(count, 1))
    return MotionNoise(q, qd, qdd)


def propagate_motion_noise(
    problem: EstimationProblem, form: Differential, noise: MotionNoise
) -> tuple[Float[np.ndarray, "own own"], ...]:
    """Return C_j of every joint, for the base parameters that occur in the joint's equations.

    Derivatives are central differences with steps of one standard deviation. Low-passed drive directions count as
    exact.
    """
    layout, stride = problem.layout, -(-problem.sample_count // MAX_SAMPLES)
    sizes = [len(columns) for columns in layout.columns]

    def work(task: SourceRange) -> tuple[list[np.ndarray], PerJoint]:
        motion = _select_every(problem.motion(task), -task.samples.first % stride, stride)
        mask = form.mask(motion)
        weights = np.ones((len(sizes), len(motion))) if mask is None else mask
        sums = [np.zeros((n, n)) for n in sizes]
        for first, changes in _compute_changes(form, motion, noise):
            kept = weights[:, first : first + changes.shape[1]]
            for total, part, used in zip(sums, layout.slices, kept, strict=True):
                total += (changes[part] * used) @ changes[part].T
        return sums, weights.sum(axis=1)

    totals, counts = [np.zeros((n, n)) for n in sizes], np.zeros(len(sizes))
    for sums, used in map_in_order(work, problem.tasks(), threads=problem.threads):
        totals = [a + b for a, b in zip(totals, sums, strict=True)]
        counts = counts + used
    return tuple(total / max(count, 1.0) for total, count in zip(totals, counts, strict=True))


def _compute_changes(
    form: Differential, motion: MotionSamples, noise: MotionNoise
) -> Iterator[tuple[int, NonzerosBySample]]:
    """Yield for each quantity with noise and each block its first sample and the change of Y by one deviation."""
    for name in QUANTITIES:
        values, deviations = getattr(motion, name), getattr(noise, name)
        for joint in np.flatnonzero(deviations):
            step = np.zeros(values.shape[1])
            step[joint] = deviations[joint]
            upper = form.compute_regressor_blocks(replace(motion, **{name: values + step}))
            lower = form.compute_regressor_blocks(replace(motion, **{name: values - step}))
            for (first, above), (_, below) in zip(upper, lower, strict=True):
                yield first, 0.5 * (above - below)


def _select_every(motion: MotionSamples, first: int, stride: int) -> MotionSamples:
    chosen = slice(first, None, stride)
    return MotionSamples(
        t=motion.t[chosen],
        q=np.ascontiguousarray(motion.q[chosen]),
        qd=np.ascontiguousarray(motion.qd[chosen]),
        qdd=np.ascontiguousarray(motion.qdd[chosen]),
        tau=None,
        raw_tau=None,
        rows=motion.rows[chosen],
        direction=None if motion.direction is None else np.ascontiguousarray(motion.direction[chosen]),
    )
