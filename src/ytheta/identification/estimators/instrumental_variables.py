"""Instrumental variables: least squares whose left factor is the regressor of motion without the measurement noise.

Identity      beta = (Zᵀ D W)⁻¹ Zᵀ D tau,  W: Y of the measured motion;  Z: Y of the instrument motion, both stacked;
              D: diagonal matrix of one weight per joint, the inverse variance of its residuals
Reference     A. Janot, P.-O. Vandanjon, M. Gautier, "A generic instrumental variable approach for industrial robot
              identification", IEEE Trans. Control Systems Technology 22(1), 2014
Accepts       every robot and form
Notation      code          paper        meaning
              instruments   Z            Y along the simulated motion
              cross         Zᵀ W         per joint, as ``gram`` Zᵀ Z and ``right_side`` Zᵀ tau
              correlations  -            canonical correlations of Z and W: 1 for perfect, 0 for useless instruments
Differs from  the paper in: the paper simulates the model in the robot's own control loop, with its gains and its
              reference trajectory. Logs contain neither. Here the loop is computed torque with the current model, and
              the reference is the smooth motion that is defined below. In that loop the model cancels: from the start
              of the reference, the simulated motion is the reference for all values of beta. So it needs no
              integration, cannot diverge, and does not change from round to round; only the weights do. A test
              compares with an integration of the forward dynamics. Weights per joint and directions that the data do
              not identify are treated as in ``weighted``.

Noise in W makes least squares inconsistent: products of noise with itself remain in Wᵀ W, so that friction and inertias
come out too small. In Zᵀ W they vanish if the noise of Z and W is uncorrelated. Noise within the frequency band of the
motion remains in Z, so that a bias of this part is not removed; nor is that of terms in which noise does not average
out, such as squares of velocities. Without noise in the motion, ``weighted`` is better: its standard deviations are
smaller. A model error, such as a missing friction law, is not noise, and no instrument removes it. Noise of
accelerations has high frequencies, which smooth instruments suppress, so that standard deviations are rather too large.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from scipy.linalg import solveh_banded

from ytheta.engine.local import map_in_order
from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.identification.equations.estimation_problem import EstimationProblem, SourceRange
from ytheta.identification.equations.form import RegressorLayout
from ytheta.identification.equations.friction import make_drive_directions
from ytheta.identification.equations.normal_equations import NormalDecomposition, NormalEquations
from ytheta.identification.estimators.estimator import Estimate
from ytheta.identification.estimators.least_squares import MAX_ROUNDING_ERROR, WEIGHT_TOLERANCE, compute_joint_weights
from ytheta.identification.estimators.motion_spectrum import (
    MIN_SAMPLES,
    RecordedSegment,
    choose_bands,
    compute_noise,
    iterate_segments,
)
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.logs.preparing.drives import DriveDirections
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.shapes import BaseByBase, Bool, Float, PerBase, PerJoint, PerSample, SamplesByJoint

# Canonical correlation below which instruments do not determine a parameter. Chosen on: rule of thumb.
MIN_CORRELATION = 1e-3
# Canonical correlation below which a parameter is determined weakly. Chosen on: reasoning; its standard deviation is
# then at least three times that of least squares.
MIN_STRONG_CORRELATION = 0.3
# Component of a parameter along a weak direction divided by the largest one; findings name those above it. It affects
# only the length of a list of names.
MIN_NAMED_SHARE = 0.5


@dataclass(frozen=True)
class InstrumentalVariables:
    """Instrumental variables, reweighted at most ``rounds`` times.

    ``band``: frequency in Hz up to which the motion enters the instruments; by default chosen for each joint from the
    motion. With an infinite band, Z is W, and the estimate is that of ``weighted``.
    """

    band: float | None = None
    rounds: int = 20

    def __post_init__(self) -> None:
        if self.band is not None and not self.band > 0.0:
            raise InputError(f"band is {self.band}; give a positive frequency in Hz, or None to choose it")
        if self.rounds < 1:
            raise InputError(f"rounds is {self.rounds}; reweight at least once")

    @property
    def name(self) -> str:
        return "instrumental-variables"

    def fit(self, problem: EstimationProblem) -> Estimate:
        equations, start = problem.normal_equations(), problem.base.beta
        smooth = {} if self.band == np.inf else smooth_motion(problem, self.band)
        instruments = accumulate_instruments(problem, smooth)
        weights = np.ones(len(equations.joints))
        solution = solve_instrumental(equations, instruments, weights, start)
        rounds = 0
        while rounds < self.rounds:
            before, weights = weights, compute_joint_weights(equations, solution.beta)
            solution = solve_instrumental(equations, instruments, weights, start)
            rounds += 1
            if np.all(abs(weights - before) <= WEIGHT_TOLERANCE * weights):
                break
        gain, decomposition = solution.gain, solution.decomposition
        beta = solution.beta
        if decomposition.condition_number**2 * np.finfo(float).eps >= MAX_ROUNDING_ERROR:
            residuals = accumulate_instruments(problem, smooth, around=beta)
            beta = beta + gain @ residuals.right_side(weights)
        spread = np.zeros((len(weights), len(beta), len(beta)))
        degrees_of_freedom = np.zeros(len(weights))
        for j, (weight, joint) in enumerate(zip(weights, instruments.joints, strict=True)):
            own = gain[:, joint.columns]
            spread[j] = weight**2 * own @ joint.gram @ own.T
            degrees_of_freedom[j] = weight * float(np.sum(own[joint.columns].T * joint.cross))
        findings = _find_weak_instruments(solution, problem.base.names)
        return Estimate(beta, spread, degrees_of_freedom, weights, decomposition.null_space, rounds, findings)


@dataclass(frozen=True, eq=False)
class JointInstruments:
    """Sums of one joint over all equations: Zᵀ W, Zᵀ Z and Zᵀ tau, for the base parameters ``columns``."""

    columns: np.ndarray
    cross: Float[np.ndarray, "own own"]
    gram: Float[np.ndarray, "own own"]
    right_side: Float[np.ndarray, " own"]

    def __add__(self, other: JointInstruments) -> JointInstruments:
        return JointInstruments(
            self.columns, self.cross + other.cross, self.gram + other.gram, self.right_side + other.right_side
        )


@dataclass(frozen=True, eq=False)
class InstrumentSums:
    """The sums of all joints."""

    base_count: int
    joints: tuple[JointInstruments, ...]

    @classmethod
    def empty(cls, layout: RegressorLayout) -> InstrumentSums:
        """Return the sums of an empty set of equations."""
        sizes = ((columns, len(columns)) for columns in layout.columns)
        joints = (JointInstruments(columns, np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)) for columns, n in sizes)
        return cls(layout.base_count, tuple(joints))

    def __add__(self, other: InstrumentSums) -> InstrumentSums:
        return InstrumentSums(self.base_count, tuple(a + b for a, b in zip(self.joints, other.joints, strict=True)))

    def matrices(self, weights: PerJoint) -> tuple[BaseByBase, BaseByBase]:
        """Return Zᵀ D W and Zᵀ D Z."""
        cross, gram = (np.zeros((self.base_count, self.base_count)) for _ in range(2))
        for weight, joint in zip(weights, self.joints, strict=True):
            cross[joint.columns[:, None], joint.columns] += weight * joint.cross
            gram[joint.columns[:, None], joint.columns] += weight * joint.gram
        return cross, gram

    def right_side(self, weights: PerJoint) -> PerBase:
        """Return Zᵀ D tau."""
        b = np.zeros(self.base_count)
        for weight, joint in zip(weights, self.joints, strict=True):
            b[joint.columns] += weight * joint.right_side
        return b


def accumulate_instruments(
    problem: EstimationProblem, smooth: dict[tuple[int, int], SmoothSegment], *, around: PerBase | None = None
) -> InstrumentSums:
    """Return the sums of all equations. Segments without smooth motion are their own instruments.

    ``around``: if given, tau is replaced by the residual tau - W ``around``.
    """
    layout = problem.layout

    def work(task: SourceRange) -> InstrumentSums:
        motion, rate = problem.motion(task), problem.sources[task.source].rate
        segment = smooth.get((task.source, task.samples.segment))
        instrument = motion if segment is None else segment.replace_motion(motion, task.samples.first)
        total = InstrumentSums.empty(layout)
        # Two iterators of one form have separate buffers, so that both blocks are valid at the same time.
        for W, Z in zip(problem.form.rows(motion, rate), problem.form.rows(instrument, rate), strict=True):
            tau = W.tau if around is None else W.tau - layout.torque(W.values, around)
            joints: list[JointInstruments] = []
            for j, (part, columns) in enumerate(zip(layout.slices, layout.columns, strict=True)):
                # The mask is that of the measured motion, so that the equations are those of other estimators.
                masked = Z.values[part] if W.mask is None else Z.values[part] * W.mask[j]
                cross, gram = masked @ W.values[part].T, masked @ Z.values[part].T
                joints.append(JointInstruments(columns, cross, gram, masked @ tau[j]))
            total = total + InstrumentSums(layout.base_count, tuple(joints))
        return total

    parts = map_in_order(work, problem.tasks(), threads=problem.threads)
    return reduce(lambda a, b: a + b, parts, InstrumentSums.empty(layout))


@dataclass(frozen=True, eq=False)
class InstrumentalSolution:
    """beta = start + gain (Zᵀ D tau - Zᵀ D W start), and the canonical correlations of Z and W.

    ``decomposition`` is that of Wᵀ D W. ``weakest`` is the direction of beta with the smallest correlation.
    """

    beta: PerBase
    gain: BaseByBase
    decomposition: NormalDecomposition
    correlation: float
    weakest: PerBase


def solve_instrumental(
    equations: NormalEquations, instruments: InstrumentSums, weights: PerJoint, start: PerBase
) -> InstrumentalSolution:
    """Solve Zᵀ D W beta = Zᵀ D tau on the directions that W identifies; beta keeps ``start`` along the others."""
    decomposition = NormalDecomposition.of(equations.matrix(weights))
    rank = decomposition.rank
    # W basis has orthonormal columns.
    basis = decomposition.V[:, :rank] / decomposition.singular_values[:rank] / decomposition.scale[:, None]
    cross, gram = instruments.matrices(weights)
    A, S = basis.T @ cross @ basis, basis.T @ gram @ basis
    correlation, weakest = _compute_weakest_correlation(A, S)
    if correlation < MIN_CORRELATION:
        raise InputError(
            "instrumental-variables: the smooth motion from which the instruments are computed does not excite all "
            f"parameters that the measured motion excites (canonical correlation {correlation:.1g}); record motion "
            "that excites the robot more, give a higher band, or use the estimator weighted"
        )
    gain = basis @ np.linalg.solve(A, basis.T)
    beta = start + gain @ (instruments.right_side(weights) - cross @ start)
    return InstrumentalSolution(beta, gain, decomposition, correlation, basis @ weakest)


def _compute_weakest_correlation(
    A: Float[np.ndarray, "rank rank"], S: Float[np.ndarray, "rank rank"]
) -> tuple[float, Float[np.ndarray, " rank"]]:
    """Return the smallest canonical correlation and its direction; A = Zᵀ W, S = Zᵀ Z, and Wᵀ W is the unit matrix."""
    if not len(A):
        return 1.0, np.zeros(0)
    values, V = np.linalg.eigh(S)
    if values[0] <= np.finfo(float).eps * len(S) * values[-1]:
        return 0.0, V[:, 0]
    _, correlations, directions = np.linalg.svd((V / np.sqrt(values)).T @ A)
    return float(correlations[-1]), directions[-1]


def _find_weak_instruments(solution: InstrumentalSolution, names: tuple[str, ...]) -> tuple[Finding, ...]:
    if solution.correlation >= MIN_STRONG_CORRELATION:
        return ()
    # Components are compared by the torque that they cause.
    scale = np.where(np.isfinite(solution.decomposition.scale), solution.decomposition.scale, 0.0)
    sizes = abs(solution.weakest) * scale
    named = [name for name, size in zip(names, sizes, strict=True) if size > MIN_NAMED_SHARE * sizes.max()]
    statement = (
        f"the instruments are weak for {', '.join(named)}: their correlation with the measured motion is "
        f"{solution.correlation:.2f} in this direction, so that standard deviations are large"
    )
    remedy = "record motion that excites these parameters more, or use the estimator weighted"
    fields = {"correlation": solution.correlation, "parameters": named}
    return (Finding(FitFindingCode.ESTIMATOR, Severity.WARNING, statement, remedy, fields=fields),)


# Smooth motion: the motion of a log without the noise above the frequency band in which the joints move.
#
# Identity      r = S S q,   S = (I + lambda D₂ᵀ D₂)⁻¹,   D₂: second differences of the positions q of a segment
#               gain of S S: 1 / (1 + lambda (2 sin(pi f / rate))⁴)², which is ½ at the frequency ``band``
# Reference     E. T. Whittaker, "On a new method of graduation", Proc. Edinburgh Math. Soc. 41 (1923)
#
# Velocities and accelerations are central differences of r. The smoother needs no samples outside the segment, and at
# the ends it extrapolates linearly. The noise of r is correlated with that of q only below ``band``, where the noise of
# velocities and accelerations is small: differentiating amplifies noise in proportion to f and f².
#
# Drive directions are 0 below a dead speed, and change to -1 or 1 up to twice this speed. At a reversal, noise makes
# the measured direction change too early or too late. This error depends on the velocity, so that a direction that is
# not 0 there would be correlated with it.


# Largest band of the motion relative to the sampling rate, up to which positions are smoothed. Chosen on: reasoning;
# near the Nyquist frequency there is nothing to remove.
MAX_BAND_PER_RATE = 0.4
# Dead speed of a drive, below which its direction is not certain, in standard deviations of the velocity noise.
# Chosen on: reasoning; three for noise of the velocity from which directions are computed, which is 2^1.5 times that
# of the motion (see ``logs.preparing.drives``).
DEAD_SPEED_PER_NOISE = 8.5
# Range of the dead speed as a share of the highest speed. Chosen on: rule of thumb; with a larger dead speed,
# directions would be almost proportional to velocities.
MIN_DEAD_SPEED_RATIO, MAX_DEAD_SPEED_RATIO = 0.01, 0.1


@dataclass(frozen=True, eq=False)
class SmoothSegment:
    """Smooth positions of samples ``first``, … of a segment.

    ``held``: joints whose velocity is always zero. ``rates``: drive velocities per unit velocity of the joints; None if
    they depend on the pose. ``dead_speeds``: see the module docstring.
    """

    first: int
    q: SamplesByJoint
    rate: float
    held: Bool[np.ndarray, " joints"]
    rates: Float[np.ndarray, "drives joints"] | None
    dead_speeds: Float[np.ndarray, " drives"]

    def replace_motion(self, motion: MotionSamples, first: int) -> MotionSamples:
        """Return ``motion``, whose first sample is ``first``, with smooth positions and their derivatives."""
        begin = first - self.first
        start, stop = max(0, begin - 2), min(len(self.q), begin + len(motion) + 2)
        q, step, kept = self.q[start:stop], 1.0 / self.rate, slice(begin - start, begin - start + len(motion))
        qd = differentiate(q, step) * ~self.held
        qdd = differentiate(qd, step)
        direction = None if self.rates is None else self._compute_directions(qd[kept])
        return replace(motion, q=q[kept].copy(), qd=qd[kept].copy(), qdd=qdd[kept].copy(), direction=direction)

    def _compute_directions(self, qd: SamplesByJoint) -> Float[np.ndarray, "samples drives"]:
        assert self.rates is not None
        velocity, width = qd @ self.rates.T, np.where(self.dead_speeds > 0.0, self.dead_speeds, np.inf)
        return np.sign(velocity) * np.clip(abs(velocity) / width - 1.0, 0.0, 1.0)


def smooth_motion(problem: EstimationProblem, band: float | None) -> dict[tuple[int, int], SmoothSegment]:
    """Return the smooth motion of every segment, by source and segment; by default, each joint has its own band."""
    directions = make_drive_directions(problem.base.robot)
    rates = directions.rates if isinstance(directions, DriveDirections) else None  # with loops, the kernel's sign
    smooth: dict[tuple[int, int], SmoothSegment] = {}
    for part in iterate_segments(problem):
        chosen = choose_bands(part)
        bands = chosen if band is None else np.full(part.q.shape[1], band)
        q = np.stack([smooth_positions(q, f, part.rate) for q, f in zip(part.q.T, bands, strict=True)], axis=1)
        dead_speeds = np.zeros(0) if rates is None else _choose_dead_speeds(rates, part, chosen)
        held = np.asarray(~part.qd.any(axis=0))
        smooth[part.source, part.segment] = SmoothSegment(part.first, q, part.rate, held, rates, dead_speeds)
    return smooth


def smooth_positions(q: PerSample, band: float, rate: float) -> PerSample:
    """Return r of the module docstring, or q if ``band`` is above ``MAX_BAND_PER_RATE`` or there are few samples."""
    if band > MAX_BAND_PER_RATE * rate or len(q) < MIN_SAMPLES:
        return q
    penalty = (np.sqrt(2.0) - 1.0) / (2.0 * np.sin(np.pi * band / rate)) ** 4
    # The diagonals of D₂ᵀ D₂ are those of [1 -4 6 -4 1], except at the ends.
    diagonals = np.zeros((3, len(q)))
    diagonals[0, 2:] = 1.0
    diagonals[1, 1:] = -4.0
    diagonals[1, [1, -1]] = -2.0
    diagonals[2] = 6.0
    diagonals[2, [0, -1]] = 1.0
    diagonals[2, [1, -2]] = 5.0
    diagonals *= penalty
    diagonals[2] += 1.0
    # A straight line passes unchanged; subtracting it first keeps rounding errors small.
    line = np.linspace(q[0], q[-1], len(q))
    return np.asarray(line + solveh_banded(diagonals, solveh_banded(diagonals, q - line)))


def differentiate(signal: SamplesByJoint, step: float) -> SamplesByJoint:
    """Return central differences; zero if there is only one sample."""
    return np.gradient(signal, step, axis=0) if len(signal) > 1 else np.zeros_like(signal)


def _choose_dead_speeds(
    rates: Float[np.ndarray, "drives joints"], part: RecordedSegment, bands: PerJoint
) -> Float[np.ndarray, " drives"]:
    noise = np.sqrt(rates**2 @ compute_noise(part, bands)[1] ** 2)
    highest = abs(rates @ part.qd.T).max(axis=1, initial=0.0)
    return np.clip(DEAD_SPEED_PER_NOISE * noise, MIN_DEAD_SPEED_RATIO * highest, MAX_DEAD_SPEED_RATIO * highest)
