"""How probable a log is under an interpretation of it: as recorded, or with a mistake mended.

The number by which interpretations are compared is the logarithm of the evidence, the probability of the torques after
all parameters were integrated out. It contains how well the equations fit, and how far the parameters are from the
description, in units of what descriptions are off by.

Identity      log Z = -½ sum_j n_j log(Q_j / V_j) - ½ dᵀ C⁻¹ d - ½ log|1 + C N| + sum_j log 2Φ(p_j),   d = beta - beta0
              Q_j = |tau_j - Y_j beta|² + floor² V_j,   N = sum_j w_j Y_jᵀ Y_j,   w_j = n_j / Q_j
Reference     D. J. C. MacKay, "Bayesian interpolation", Neural Computation 4 (1992) 415-447: evidence
Notation      code   meaning
              C      covariance of base parameters: that of links is scaled by a deviation, on which the evidence has
                     its maximum, so that placeholders of masses count as a description that is off by much
              n_j    number of independent equations of joint j: residuals of model errors are correlated in time
              V_j    variation of the torque of joint j, which makes log Z independent of the unit of torques
              p_j    mean of the power of friction, divided by its standard deviation: friction brakes
              T      matrix that mends recorded torques: signs, scales or an exchange of joints; tau = T tau_recorded
Differs from  the paper in: the noise of every joint is that of the residuals, a maximum instead of an integral
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from ytheta.identifiability.base_parameters import BaseParameters, ModelParameters
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem, SourceRange
from ytheta.identification.equations.friction import compute_velocity_ratios
from ytheta.identification.equations.friction_laws import is_rigid
from ytheta.identification.estimators.empirical_bayes import make_prior, select_columns
from ytheta.identification.model_choice import compute_log_normal_cdf
from ytheta.identification.priors.prior import Family, Prior, PriorSettings
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.robot.parameters import FRICTION_PARAMETERS, list_incomplete_links
from ytheta.robot.parts import JointKind, parameter_name
from ytheta.robot.robot import Robot
from ytheta.shapes import Bool, Float, Int, PerJoint, SamplesByJoint, SquareMatrix

Rows = list[tuple[np.ndarray, np.ndarray]]  # columns of each joint, and their values at all samples

# Standard deviations of the logarithm of the deviation of the whole description, and of that of each link relative to
# it: a link may carry a load. Chosen on: rule of thumb; those of the prior of a fit.
DEVIATION_STD, LINK_DEVIATION_STD = np.log(3.0), 1.5
# Logarithms of the deviation, relative to the typical one, with which fits start. Chosen on: reasoning; a description
# that is right although the equations do not fit, and one that says nothing.
STARTS = (-1.0, 1.0, 3.0)
# Torque that one standard deviation of friction, of an offset or of a rotor inertia causes, as a share of the joint's
# torque. Chosen on: rule of thumb; friction may be most of the torque of a geared joint.
DRIVE_SHARE = 0.5
# Residual of a joint, as a share of the variation of its torque, below which fits are equally good. Chosen on:
# reasoning; no torque sensor, filter or friction law is better.
MIN_ERROR = 0.005
# Number of independent equations of a joint of which no more are counted. Chosen on: reasoning; models of joints are
# right to some percent only, so that more equations do not make small differences between interpretations surer.
MAX_COUNT = 60.0
# Fits with updated noise and deviations, and those in a search. Chosen on: rule of thumb; the evidence changes by about
# one afterwards.
ROUNDS, SEARCH_ROUNDS = 12, 3
# Largest change of the logarithm of a deviation in one round. Chosen on: rule of thumb.
MAX_STEP = 2.0
# Residual with which the first fit starts. Chosen on: rule of thumb.
FIRST_ERROR = 0.1
# Step of the logarithm of the size of torques, in which drives are expected. Chosen on: reasoning; it affects time.
RATIO_STEP = 0.2
MAX_KNOWN = 64  # covariances; affects only memory
# Variance of a parameter that causes no torque, such as those of a joint whose torque is always zero. Fixed by: squares
# of its inverse are numbers of double precision.
MIN_VARIANCE = 1e-60
TINY = 1e-300  # Fixed by: the smallest numbers of double precision.
# Variance that is added to that of a standardized parameter. Chosen on: reasoning; it keeps rounding errors from making
# the covariance indefinite.
ROUNDING_VARIANCE = 1e-10


@dataclass(frozen=True, eq=False)
class Expectation:
    """What is expected of the parameters: means, and axes of links and drives whose squares are the covariance.

    Attributes
    ----------
    names  names of the parameters
    mean   described links, rotors and forces, without friction
    links  axes of the links for a relative deviation of 1; none if the description has no masses
    bodies which links these axes belong to, one column for each link
    drives axes of all others
    drive_joints
           the joint whose torque each of them changes most
    is_designed
           whether most axes of links have a smaller deviation than 1
    """

    names: tuple[str, ...]
    mean: Float[np.ndarray, " columns"]
    links: Float[np.ndarray, "columns axes"]
    bodies: Float[np.ndarray, "axes links"]
    drives: Float[np.ndarray, "columns drive_axes"]
    drive_joints: Int[np.ndarray, " drive_axes"]
    is_designed: bool = False

    @cached_property
    def design(self) -> Float[np.ndarray, "axes scales"]:
        """Which deviations the scale of each axis of a link depends on: that of the description, and of the link."""
        return np.column_stack([np.ones(len(self.bodies)), self.bodies])

    @cached_property
    def precisions(self) -> Float[np.ndarray, " scales"]:
        """Inverse variances of the logarithms of the deviations."""
        return np.array([DEVIATION_STD, *[LINK_DEVIATION_STD] * self.bodies.shape[1]]) ** -2.0

    def compute_precision(
        self, x: Float[np.ndarray, "starts scales"], ratio: Float[np.ndarray, " drive_axes"]
    ) -> tuple[
        Float[np.ndarray, "starts columns axes"],
        Float[np.ndarray, "starts columns columns"],
        Float[np.ndarray, " starts"],
    ]:
        """Return the axes of links, C⁻¹ and log|C| for deviations x; those of drives are multiplied by ``ratio``."""
        ratio = np.exp(RATIO_STEP * np.round(np.log(np.maximum(ratio, TINY)) / RATIO_STEP))
        key = x.tobytes() + ratio.tobytes()
        if key not in self._known:
            axes, drives = self.links * np.exp(x @ self.design.T)[:, None, :], self.drives * ratio
            if len(self._known) > MAX_KNOWN:
                self._known.clear()
            self._known[key] = axes, *_invert(axes @ np.swapaxes(axes, 1, 2) + drives @ drives.T)
        return self._known[key]

    @cached_property
    def _known(self) -> dict[bytes, tuple[np.ndarray, np.ndarray, np.ndarray]]:
        return {}


def expect_description(problem: EstimationProblem, prior: Prior | None = None) -> Expectation:
    """Return what the description says about the base parameters of a problem."""
    base = problem.base.standard_combinations
    if base is None:  # nothing but that each parameter causes no more than the torque
        units, main = _find_torque_units(problem, np.eye(len(problem.base)))
        n = len(units)
        none = np.zeros((n, 0))
        return Expectation(problem.base.independent, np.zeros(n), none, np.zeros((0, 0)), np.diag(units), main)
    standard, K = expect_standard_parameters(problem, base, prior), select_columns(base)
    mean, links, drives = K @ standard.mean, K @ standard.links, K @ standard.drives
    return replace(standard, names=base.independent, mean=mean, links=links, drives=drives)


def _find_torque_units(
    problem: EstimationProblem, K: Float[np.ndarray, "columns parameters"]
) -> tuple[Float[np.ndarray, " parameters"], Int[np.ndarray, " parameters"]]:
    """Return the value of each parameter that causes the whole torque of a joint, and the joint."""
    equations = problem.normal_equations()
    shares = np.zeros((len(equations.joints), K.shape[1]))
    for own, joint, squares in zip(shares, equations.joints, equations.reference_squares.tolist(), strict=True):
        if squares > 0.0:
            own[:] = (K[joint.columns] * (joint.gram @ K[joint.columns])).sum(axis=0) / squares
    largest = shares.max(axis=0)
    return np.where(largest > np.finfo(float).tiny ** 0.5, largest, 1.0) ** -0.5, shares.argmax(axis=0)


def expect_standard_parameters(
    problem: EstimationProblem, base: BaseParameters, prior: Prior | None = None
) -> Expectation:
    """Return what the description says about the selected standard parameters."""
    prior = prior or make_prior(base, problem.normal_equations(), PriorSettings())
    scales = prior.compute_scales(np.array([each.mean for each in prior.hyper]))
    is_link = prior.belongs_to((Family.LINK,))
    rigid = np.array([is_rigid(name) for name in prior.names])
    unit, main = _find_torque_units(problem, select_columns(base))
    # The torque of everything else is limited one by one: friction, offsets, rotors, and links without described mass.
    others = prior.axes[:, ~is_link].any(axis=1)
    single = [k for k, each in enumerate(prior.hyper) if each.name.startswith("link ")]
    return Expectation(
        prior.names,
        np.where(rigid, prior.mean, 0.0),
        prior.axes[:, is_link] * scales[is_link],
        prior.design[is_link][:, single],
        DRIVE_SHARE * np.diag(unit)[:, others],
        main[others],
        bool(is_link.any() and np.median(scales[is_link]) < 1.0),
    )


@dataclass(frozen=True, eq=False)
class Fit:
    """The likeliest parameters of an interpretation.

    Attributes
    ----------
    log_evidence  log Z for the likeliest deviation of the description
    deviations    logarithms of those of the description, relative to a typical one, and of links, relative to it
    beta          the parameters
    errors        residual of each joint, relative to the standard deviation of its torque
    total         residual of all joints, relative to the RMS of all torques
    weights       w_j of the module docstring
    variations    V_j of the module docstring
    friction      by drive, the power that friction takes, in standard deviations
    """

    log_evidence: float
    deviations: Float[np.ndarray, " scales"]
    beta: Float[np.ndarray, " columns"]
    errors: PerJoint
    total: float
    weights: PerJoint
    variations: PerJoint
    friction: Float[np.ndarray, " drives"]

    @property
    def missing_friction_evidence(self) -> float:
        """By how much log Z would grow if the friction of drives that seem to be driven by it were zero."""
        at_zero = compute_log_normal_cdf(0.0)
        return sum(at_zero - compute_log_normal_cdf(each) for each in self.friction.tolist() if each < 0.0)


@dataclass(frozen=True, eq=False)
class Equations:
    """Products of the equations of all joints for one interpretation of the motion.

    Attributes
    ----------
    gram      of the regressor, by joint
    cross     of the regressor with all recorded torques and 1, by joint
    torque    of recorded torques and 1, by joint
    friction  by drive, the parameters weighted to the power that its friction takes
    counts    n_j of the module docstring
    usual     power of recorded torques, in units of which drives are expected
    """

    expectation: Expectation
    gram: Float[np.ndarray, "joints columns columns"]
    cross: Float[np.ndarray, "joints columns channels"]
    torque: Float[np.ndarray, "joints channels channels"]
    friction: Float[np.ndarray, "drives columns"]
    counts: PerJoint
    usual: PerJoint

    def fit(self, T: SquareMatrix | None = None, start: Fit | None = None) -> Fit:
        """Fit torques T tau; quickly if there is a similar fit from which to start."""
        n, expected = len(self.gram), self.expectation
        rows = np.column_stack([np.eye(n) if T is None else T, np.zeros(n)])
        right = np.einsum("jkc,jc->jk", self.cross, rows)
        power = np.einsum("jc,jcd,jd->j", rows, self.torque, rows)
        mean = np.einsum("jc,jc->j", rows, self.torque[:, :, -1])
        variation = np.maximum(power - mean**2 / np.maximum(self.torque[:, -1, -1], 1.0), MIN_ERROR**4 * power)
        used = variation > 0.0
        counts, size = np.where(used, self.counts, 0.0), np.where(used, variation, 1.0)
        ratio = np.sqrt(power / np.where(self.usual > 0.0, self.usual, 1.0))
        x = np.zeros((len(STARTS) if start is None else 2, 1 + expected.bodies.shape[1]))
        if start is None:
            x[:, 0] = STARTS
        else:
            x[0] = start.deviations
        w = np.tile(counts / (FIRST_ERROR**2 * size), (len(x), 1))
        gram = self.gram.reshape(n, -1)
        last = x
        for k in range(ROUNDS if start is None else SEARCH_ROUNDS):
            if k == 0 or start is None:
                axes, P, log_size = expected.compute_precision(x, ratio[expected.drive_joints])
            A = P + (w @ gram).reshape(P.shape)
            beta = np.linalg.solve(A, (P @ expected.mean + w @ right)[:, :, None])[:, :, 0]
            fitted = (beta @ self.gram).swapaxes(0, 1)
            squares = power + ((fitted - 2.0 * right) * beta[:, None]).sum(axis=2)
            Q = np.maximum(squares, 0.0) + MIN_ERROR**2 * size
            w = counts / Q
            d = beta - expected.mean
            u = (P @ d[:, :, None])[:, :, 0]
            if start is None:
                z = (u[:, None] @ axes)[:, 0]
                effect = P @ axes
                determined = (axes * effect).sum(axis=1) - (effect * np.linalg.solve(A, effect)).sum(axis=1)
                slope = (z**2 - determined) @ expected.design - expected.precisions * x
                curvature = 2.0 * determined @ expected.design + expected.precisions
                last, x = x, x + np.clip(slope / curvature, -MAX_STEP, MAX_STEP)
        value = -0.5 * ((counts * np.log(Q / size)).sum(axis=1) + (d * u).sum(axis=1) + last**2 @ expected.precisions)
        value -= 0.5 * (np.linalg.slogdet(A)[1] + log_size)
        variances = (self.friction.T * np.linalg.solve(A, self.friction.T)).sum(axis=1)
        ratios = beta @ self.friction.T / np.sqrt(np.maximum(variances, TINY))
        value += [sum(map(compute_log_normal_cdf, row)) for row in ratios.tolist()]  # friction brakes
        k = int(np.argmax(value))
        residual = np.where(used, np.maximum(squares[k], 0.0), 0.0)
        total = np.sqrt(residual.sum() / max(power.sum(), TINY))
        return Fit(float(value[k]), last[k], beta[k], np.sqrt(residual / size), float(total), w[k], size, ratios[k])


def _invert(
    C: Float[np.ndarray, "starts columns columns"],
) -> tuple[Float[np.ndarray, "starts columns columns"], Float[np.ndarray, " starts"]]:
    """Return the inverses and the logarithms of the determinants of covariances."""
    scale = np.sqrt(np.maximum(np.einsum("dkk->dk", C), MIN_VARIANCE))
    C = C / scale[:, :, None] / scale[:, None, :] + ROUNDING_VARIANCE * np.eye(C.shape[1])
    inverse = np.linalg.inv(C) / scale[:, :, None] / scale[:, None, :]
    return inverse, np.linalg.slogdet(C)[1] + 2.0 * np.log(scale).sum(axis=1)


@dataclass(frozen=True, eq=False)
class Interpretation:
    """The log as recorded, with the described robot: what mistakes are compared with."""

    problem: EstimationProblem
    form: Differential
    samples: Samples
    expectation: Expectation
    counts: PerJoint

    @classmethod
    def of(cls, problem: EstimationProblem, prior: Prior | None = None) -> Interpretation:
        """Return the interpretation of the equations of a fit; ``prior``: that of the description, if it is at hand.

        Residuals that a mistake causes are correlated for longer than those of noise. Therefore all joints count alike,
        until the mistake is mended.
        """
        form = problem.form if isinstance(problem.form, Differential) else Differential(problem.base)
        samples = select_samples(problem, form)
        counts = np.minimum(samples.mask.sum(axis=0), MAX_COUNT)
        return cls(problem, form, samples, expect_description(problem, prior), counts)

    def count_independent(self, change: Change, fit: Fit) -> PerJoint:
        """Return the number of independent equations of each joint, from the residuals of a fit.

        A model that lacks a share of a torque says nothing about smaller differences: no more than 1 / share² count.
        """
        limit = np.minimum(MAX_COUNT, np.maximum(fit.errors, MIN_ERROR) ** -2.0)
        if len(fit.beta) != len(self.expectation.mean):  # another description, with other parameters
            return limit
        samples = self.samples.apply(change)
        tau = samples.tau if change.torque is None else samples.tau @ change.torque.T
        times = compute_correlation_times((tau - self.predict(samples, fit.beta)) * samples.mask)
        return np.minimum(samples.mask.sum(axis=0) / times, limit)

    def predict(self, samples: Samples, beta: Float[np.ndarray, " columns"]) -> SamplesByJoint:
        """Return the torques of samples."""
        return np.stack([beta[columns] @ own for columns, own in self.compute_rows(samples)], axis=1)

    @cached_property
    def mapped(self) -> Int[np.ndarray, " mapped"]:
        """The actuated coordinates that a mapping can change: not those of a floating base or a sensor.

        Their columns have names and units of their own, and a single entry of a rotation vector is never recorded.
        """
        others = {*self.robot.base_coordinates, *self.robot.sensor_coordinates}
        return np.array([k for k, name in enumerate(self.robot.actuated) if name not in others], dtype=int)

    @cached_property
    def slides(self) -> Bool[np.ndarray, " joints"]:
        """Which actuated joints are prismatic."""
        kinds = {joint.name: joint.kind for joint in self.robot.merged.movable}
        return np.array([kinds.get(name) is JointKind.PRISMATIC for name in self.robot.actuated])

    @property
    def base(self) -> ModelParameters:
        return self.problem.base

    @property
    def robot(self) -> Robot:
        return self.base.robot

    @property
    def is_known(self) -> bool:
        """Whether the geometry is known."""
        return self.base.standard_combinations is not None

    @cached_property
    def has_inertias(self) -> bool:
        """Whether the description has masses, with which torques can be compared."""
        if not self.is_known or list_incomplete_links(self.robot):
            return False
        return any(not link.inertia.massless for link in self.robot.merged.links[1:])

    @property
    def is_designed(self) -> bool:
        """Whether most described masses are those of a design, not placeholders."""
        return self.has_inertias and self.expectation.is_designed

    @cached_property
    def usual(self) -> PerJoint:
        """Sums of the squares of recorded torques."""
        return np.asarray(np.sum((self.samples.tau * self.samples.mask) ** 2, axis=0))

    @cached_property
    def equations(self) -> Equations:
        """The equations of the log as recorded."""
        return self.make_equations(self.samples)

    @cached_property
    def fit(self) -> Fit:
        """The fit of the log as recorded."""
        return self.equations.fit()

    def find_equations(self, change: Change, find_others: Callable[[], Equations] | None = None) -> Equations:
        """Return the equations with a mended motion, or those of another description."""
        if find_others is not None:
            return replace(find_others(), counts=self.counts)
        if change.is_of_torques:
            return self.equations
        key = b"" if change.position is None else change.position.tobytes()
        if not key or key not in self._known:
            self._known.clear()  # mistakes with the same motion follow each other
            self._known[key] = self.make_equations(self.samples.apply(change))
        return self._known[key]

    @cached_property
    def _known(self) -> dict[bytes, Equations]:
        return {}

    def compute_rows(self, samples: Samples) -> Rows:
        """Return columns and values of the regressor of each joint."""
        layout = self.form.layout
        blocks = [values.copy() for _, values in self.form.compute_regressor_blocks(samples.motion)]
        values = np.concatenate(blocks, axis=1)
        return [(columns, values[part]) for part, columns in zip(layout.slices, layout.columns, strict=True)]

    def make_equations(self, samples: Samples) -> Equations:
        """Return the equations of the described robot with other samples."""
        return self.combine(self.compute_rows(samples), samples, self.expectation)

    def combine(
        self,
        rows: Rows,
        samples: Samples,
        expectation: Expectation,
    ) -> Equations:
        """Return the equations of a regressor, given by columns and rows of every joint."""
        channels = np.column_stack([samples.tau, np.ones(len(samples.tau))])
        n, count = len(rows), len(expectation.mean)
        gram, cross = np.zeros((n, count, count)), np.zeros((n, count, n + 1))
        torque = np.empty((n, n + 1, n + 1))
        for j, (columns, values) in enumerate(rows):
            mask = samples.mask[:, j]
            A, C = values * mask, channels * mask[:, None]
            gram[j][columns[:, None], columns] = A @ A.T
            cross[j, columns] = A @ C
            torque[j] = C.T @ C
        friction = find_friction_powers(self.robot, expectation.names, samples)
        return Equations(expectation, gram, cross, torque, friction, self.counts, self.usual)


def find_friction_powers(robot: Robot, names: tuple[str, ...], samples: Samples) -> Float[np.ndarray, "drives columns"]:
    """Return, for each joint with viscous or Coulomb friction of its own, weights of parameters that give its power."""
    speed = abs(samples.motion.qd)
    powers = {"viscous": np.mean(speed**2, axis=0), "coulomb": np.mean(speed, axis=0)}
    rows = np.zeros((len(robot.actuated), len(names)))
    for kind, joint, column in _find_friction_places(robot.actuated, names):
        rows[joint, column] = powers[kind][joint]
    return rows[rows.any(axis=1)]


@cache
def _find_friction_places(joints: tuple[str, ...], names: tuple[str, ...]) -> tuple[tuple[str, int, int], ...]:
    """Return the kind, joint and column of each viscous or Coulomb friction."""
    columns = {name: k for k, name in enumerate(names)}
    places = (
        (kind, j, columns.get(parameter_name(joint, FRICTION_PARAMETERS[kind]), -1))
        for kind in ("viscous", "coulomb")
        for j, joint in enumerate(joints)
    )
    return tuple(place for place in places if place[2] >= 0)


def compute_correlation_times(residual: SamplesByJoint) -> PerJoint:
    """Return 1 + 2 times the sum of the autocorrelations of each column up to the first pair that is not positive."""
    count = len(residual)
    spectrum = np.fft.rfft(residual, 2 * count, axis=0)
    products = np.fft.irfft(abs(spectrum) ** 2, axis=0)[: count - count % 2]
    rho = products / np.maximum(products[0], TINY)
    pairs = rho[::2] + rho[1::2]
    kept = np.cumprod(pairs > 0.0, axis=0)
    return np.maximum(1.0, 2.0 * (kept * pairs).sum(axis=0) - 1.0)


# Samples of the motion with which mistakes are compared: few, but from all parts of the logs.


# Samples in which mistakes are searched; mistakes that matter are visible in fewer. Chosen on: rule of thumb.
MAX_SAMPLES = 300
# Number of pieces of the logs from which samples are selected. Chosen on: rule of thumb.
MAX_PIECES = 16
MAX_PIECE_LENGTH = 2048  # samples; longer pieces would need much memory; affects only memory


@dataclass(frozen=True, eq=False)
class Change:
    """How the recorded values of a log are mended.

    Identity  tau(t) = T tau_recorded(t + tau_delay),  q(t) = A q_recorded(t + q_delay) + offset,  t = time · t_recorded
    """

    torque: SquareMatrix | None = None  # T
    position: SquareMatrix | None = None  # A
    offset: PerJoint | None = None
    time: float = 1.0
    q_delay: PerJoint | None = None
    tau_delay: PerJoint | None = None

    @property
    def is_of_torques(self) -> bool:
        """Whether all samples stay as they are, except for T."""
        others = (self.position, self.offset, self.q_delay, self.tau_delay)
        return self.time == 1.0 and all(each is None for each in others)


@dataclass(frozen=True, eq=False)
class Samples:
    """Motion and torques at selected samples, as recorded or with a mistake mended.

    Attributes
    ----------
    motion   the samples of all pieces
    mask     1 for equations that are used and 0 for the others, by sample and joint
    pieces   all samples of the pieces from which every ``step``-th was selected
    rates    samples per second of every piece
    has_joint_directions
             whether the directions of the motion are those of the joints, one by one; those of motors that turn with
             several joints and of robots with loops are not
    """

    motion: MotionSamples
    mask: SamplesByJoint
    pieces: tuple[MotionSamples, ...]
    rates: tuple[float, ...]
    step: int
    has_joint_directions: bool = True

    @property
    def tau(self) -> SamplesByJoint:
        assert self.motion.tau is not None
        return self.motion.tau

    def apply(self, change: Change) -> Samples:
        """Return the samples with another motion, or torques of another time; ``change.torque`` is not applied."""
        motion, direction = self.motion, self.motion.direction
        q, qd, qdd, tau = motion.q, motion.qd, motion.qdd, self.tau
        if change.q_delay is not None:
            q, qd, qdd = (self._take_later(name, change.q_delay) for name in ("q", "qd", "qdd"))
            if direction is not None and self.has_joint_directions:
                direction = self._take_later("direction", change.q_delay)
        if change.tau_delay is not None:
            tau = self._take_later("tau", change.tau_delay)
        if change.position is not None:
            q, qd, qdd = (values @ change.position.T for values in (q, qd, qdd))
            if direction is not None:  # without directions, those of the changed velocities are used
                direction = direction @ np.sign(change.position).T if self.has_joint_directions else None
        if change.offset is not None:
            q = q + change.offset
        qd, qdd = qd / change.time, qdd / change.time**2
        return replace(self, motion=replace(motion, q=q, qd=qd, qdd=qdd, tau=tau, direction=direction))

    def _take_later(self, name: str, delays: PerJoint) -> SamplesByJoint:
        values = np.array(getattr(self.motion, name))
        first = 0
        for piece, rate in zip(self.pieces, self.rates, strict=True):
            places = np.arange(0, len(piece), self.step)
            for j in np.flatnonzero(delays):
                column = getattr(piece, name)[:, j]
                later = np.interp(places + delays[j] * rate, np.arange(len(piece)), column)
                values[first : first + len(places), j] = later
            first += len(places)
        return values


def select_samples(problem: EstimationProblem, form: Differential) -> Samples:
    """Return about ``MAX_SAMPLES`` samples, evenly distributed over the logs."""
    tasks = list(problem.tasks())
    tasks = tasks[:: -(-len(tasks) // MAX_PIECES)]
    pieces = tuple(problem.motion(_shorten(task)) for task in tasks)
    step = max(1, -(-sum(len(piece) for piece in pieces) // MAX_SAMPLES))
    motion = _join([_stride(piece, step) for piece in pieces])
    mask = form.mask(motion)
    return Samples(
        motion,
        np.ones_like(motion.q) if mask is None else mask.T,
        pieces,
        tuple(problem.sources[task.source].rate for task in tasks),
        step,
        has_joint_directions(problem.base.robot),
    )


def _shorten(task: SourceRange) -> SourceRange:
    """Return the first part of a long piece."""
    samples = task.samples
    return replace(task, samples=replace(samples, last=min(samples.last, samples.first + MAX_PIECE_LENGTH)))


def has_joint_directions(robot: Robot) -> bool:
    """Whether every drive of a robot turns with one actuated joint, in their order."""
    if robot.loops:
        return False
    rates = compute_velocity_ratios(robot)
    return rates.shape == (len(robot.actuated),) * 2 and bool(np.array_equal(rates, np.diag(np.diagonal(rates))))


def _stride(piece: MotionSamples, step: int) -> MotionSamples:
    def take(values: np.ndarray | None) -> np.ndarray | None:
        return None if values is None else values[::step]

    t, q, qd, qdd, rows = (getattr(piece, name)[::step] for name in ("t", "q", "qd", "qdd", "rows"))
    return MotionSamples(t, q, qd, qdd, take(piece.tau), None, rows, take(piece.direction), take(piece.resting))


def _join(pieces: list[MotionSamples]) -> MotionSamples:
    def join(name: str) -> np.ndarray:
        return np.concatenate([getattr(piece, name) for piece in pieces])

    def join_optional(name: str) -> np.ndarray | None:
        return join(name) if all(getattr(piece, name) is not None for piece in pieces) else None

    t, q, qd, qdd, tau = (join(name) for name in ("t", "q", "qd", "qdd", "tau"))
    direction, resting = join_optional("direction"), join_optional("resting")
    return MotionSamples(t, q, qd, qdd, tau, None, join("rows"), direction, resting)
