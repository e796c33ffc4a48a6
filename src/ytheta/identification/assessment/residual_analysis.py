"""What residuals show: the effect that explains most of them, their distribution, and the measured friction.

Every candidate effect has regressor columns of the joint's own motion and predicted torque:

              inertia    acceleration
              lag        first derivative of the predicted torque
              flexible   second derivative of the predicted torque: the inertia of the links follows the motor late
              friction   sign of the velocity times piecewise linear functions of the speed, and times the size of the
                         predicted torque
              position   piecewise linear functions of the position

The model has absorbed a part of every effect that it lacks. Therefore the part that the joint's own row of Y can
express is removed from residual and columns (Frisch, Waugh, Lovell); shares are those of the rest of the residual.

The coefficients are fitted to two quarters of the time, and the share of the squared residual that they explain is
computed from the other two: an effect that is not there explains nothing on motion to which it was not fitted. Shorter
blocks would not do, because residuals and slow motion hardly change from one block to the next.

A joint that rests is a case of its own: stiction hides its torque, whatever the columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from ytheta.identification.assessment.residuals import predict_torque
from ytheta.identification.assessment.torque_errors import TorqueErrors
from ytheta.identification.equations.differential import Differential, KnownTorque
from ytheta.identification.equations.friction import compute_velocity_ratios
from ytheta.logs.preparing.motion_sources import Source, select_pieces
from ytheta.robot.parts import Drive, compute_friction
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerBase, PerSample

# Samples of the logs, in pieces, from which causes are searched; their regressor needs a few MB per hundred non-zeros.
# Chosen on: rule of thumb.
MAX_SAMPLES = 6000
# Blocks of time; coefficients are fitted to every second block. Chosen on: rule of thumb.
BLOCK_COUNT = 4
# Knots of the piecewise linear functions. Chosen on: rule of thumb.
KNOT_COUNT = 8
# Quantile of the first knot; functions are constant beyond it, so that they do not extrapolate. Chosen on: rule of
# thumb.
OUTER_QUANTILE = 0.02
# Share of the squared residual from which a cause is named. Chosen on: reasoning; a cause that explains less than half
# is not the main one.
MIN_EXPLAINED_SHARE = 0.5
# Difference of shares up to which effects with fewer columns are named before others that explain little more. Chosen
# on: rule of thumb.
MAX_EQUAL_DIFFERENCE = 0.05
# Speed of a joint divided by its highest speed, up to which it is at rest. Chosen on: rule of thumb.
MAX_REST_SPEED_RATIO = 0.02
# Longest lag in s that is searched. Chosen on: reasoning; torques are recorded or filtered a few samples late, not
# more.
MAX_LAG = 0.05
# Share of the squared residual that is left after the model's part is removed; a smaller rest says little. Chosen on:
# rule of thumb.
MIN_REMAINDER_SHARE = 0.1
# Share of the length of a column that the model leaves; a shorter one is rounding. Chosen on: rule of thumb.
MIN_COLUMN_REMAINDER = 1e-3
# Fewest samples from which causes are searched. Chosen on: rule of thumb.
MIN_SAMPLES = 200
MIN_SEGMENT_LENGTH = 3  # samples; a shorter one has no derivatives. Fixed by: mathematics.


class Cause(Enum):
    """An effect that explains the residual of a joint."""

    REST = "rest"
    INERTIA = "inertia"
    LAG = "lag"
    FLEXIBLE = "flexible"
    FRICTION = "friction"
    POSITION = "position"
    UNEXPLAINED = "unexplained"


TEXTS = {
    Cause.INERTIA: "its rotor inertia is missing",
    Cause.LAG: "its torque is {delay:.2g} ms {late}",
    Cause.FLEXIBLE: "it is flexible",
    Cause.FRICTION: "it has another friction law",
    Cause.POSITION: "it has a torque that depends on its position",
}


@dataclass(frozen=True)
class ResidualCause:
    """The effect that explains most of a joint's residual, and its share of the squares, from 0 to 1.

    ``text`` says what the effect is; it is empty if the residual is unexplained.
    """

    joint: str
    cause: Cause
    share: float
    text: str


@dataclass(frozen=True, eq=False)
class JointResiduals:
    """Motion, predicted torque and residual of one joint, in the order of time."""

    q: PerSample
    qd: PerSample
    qdd: PerSample
    predicted: PerSample
    predicted_rate: PerSample  # first and second derivative of the predicted torque
    predicted_curvature: PerSample
    residual: PerSample
    regressor: Float[np.ndarray, "samples own"]  # the joint's own row of Y, without its structural zeros


def find_residual_causes(
    form: Differential, sources: tuple[Source, ...], beta: PerBase, *, known: KnownTorque | None = None
) -> tuple[ResidualCause, ...]:
    """Return for each joint the effect that explains most of its residual; samples of slow joints are left out."""
    joints = form.base.robot.actuated
    residuals = _collect_residuals(form, sources, beta, known)
    if not residuals:
        return ()
    return tuple(explain_residual(name, each) for name, each in zip(joints, residuals, strict=True))


def explain_residual(joint: str, data: JointResiduals) -> ResidualCause:
    """Return the effect that explains most of a residual."""
    total = float(data.residual @ data.residual)
    unexplained = ResidualCause(joint, Cause.UNEXPLAINED, 0.0, "")
    if len(data.residual) < MIN_SAMPLES or not total > 0.0:
        return unexplained
    rests = abs(data.qd) <= MAX_REST_SPEED_RATIO * abs(data.qd).max()
    at_rest = float(data.residual[rests] @ data.residual[rests]) / total
    if at_rest > max(MIN_EXPLAINED_SHARE, rests.mean()):
        text = f"it rests {100.0 * rests.mean():.0f} % of the time"
        return ResidualCause(joint, Cause.REST, at_rest, text)
    effects = dict(_make_columns(data))
    stacked = np.column_stack([data.residual, *effects.values()])
    kept_residual, *kept_columns = np.split(
        _remove_model(stacked, data.regressor),
        np.cumsum([1, *(each.shape[1] for each in effects.values())])[:-1],
        axis=1,
    )
    residual = kept_residual[:, 0]
    left = float(residual @ residual)
    if left < MIN_REMAINDER_SHARE * total:
        return unexplained
    shares: dict[Cause, float] = {}
    delay = 0.0  # s; of a lag
    for (cause, columns), kept in zip(effects.items(), kept_columns, strict=True):
        if np.linalg.norm(kept) > MIN_COLUMN_REMAINDER * np.linalg.norm(columns):
            shares[cause] = compute_explained_share(kept, residual)
        if cause is Cause.LAG and cause in shares:
            delay = -float(kept[:, 0] @ residual) / float(kept[:, 0] @ kept[:, 0])  # residual = -delay · derivative
            if abs(delay) > MAX_LAG:
                del shares[cause]
    best = max(shares.values(), default=0.0)
    if best < MIN_EXPLAINED_SHARE:
        return unexplained
    # The order of the causes is that of their numbers of columns.
    cause = next(each for each, share in shares.items() if share >= best - MAX_EQUAL_DIFFERENCE)
    text = TEXTS[cause].format(delay=1e3 * abs(delay), late="late" if delay > 0.0 else "early")
    return ResidualCause(joint, cause, shares[cause], text)


def compute_explained_share(columns: Float[np.ndarray, "samples columns"], values: PerSample) -> float:
    """Return the share of the squared values that the columns explain in blocks to which they were not fitted."""
    is_even = np.arange(len(values)) * BLOCK_COUNT // len(values) % 2 == 0
    left = 0.0
    for fitted in (is_even, ~is_even):
        coefficients = np.linalg.lstsq(columns[fitted], values[fitted], rcond=None)[0]
        difference = values[~fitted] - columns[~fitted] @ coefficients
        left += float(difference @ difference)
    return 1.0 - left / float(values @ values)


def _make_columns(data: JointResiduals) -> Iterator[tuple[Cause, Float[np.ndarray, "samples columns"]]]:
    """Yield the columns of every effect, in the order of their number."""
    yield Cause.INERTIA, data.qdd[:, None]
    yield Cause.LAG, data.predicted_rate[:, None]
    yield Cause.FLEXIBLE, data.predicted_curvature[:, None]
    sizes = np.column_stack([_make_hats(abs(data.qd)), abs(data.predicted)])
    yield Cause.FRICTION, np.sign(data.qd)[:, None] * sizes
    yield Cause.POSITION, _make_hats(data.q)


def _make_hats(x: PerSample) -> Float[np.ndarray, "samples knots"]:
    """Return piecewise linear functions of x: each is 1 at one knot and 0 at the others; knots are quantiles."""
    knots = np.unique(np.quantile(x, np.linspace(OUTER_QUANTILE, 1.0 - OUTER_QUANTILE, KNOT_COUNT)))
    return np.stack([np.interp(x, knots, row) for row in np.eye(len(knots))], axis=1)


def _remove_model(
    columns: Float[np.ndarray, "samples columns"], regressor: Float[np.ndarray, "samples own"]
) -> Float[np.ndarray, "samples columns"]:
    """Return the part of the columns that no parameters of the model can express."""
    size = np.linalg.norm(regressor, axis=0)
    scaled = regressor[:, size > 0.0] / size[size > 0.0]
    return columns - scaled @ np.linalg.lstsq(scaled, columns, rcond=None)[0]


def _collect_residuals(
    form: Differential, sources: Sequence[Source], beta: PerBase, known: KnownTorque | None
) -> list[JointResiduals]:
    parts, regressors = [], []
    for source in select_pieces(tuple(sources), MAX_SAMPLES):
        for segment, length in enumerate(source.lengths):
            if length < MIN_SEGMENT_LENGTH:
                continue
            motion = source.motion(segment, 0, length)
            assert motion.tau is not None
            predicted = predict_torque(form, motion, beta, known=known).T
            rate = np.gradient(predicted, axis=0) * source.rate
            curvature = np.gradient(rate, axis=0) * source.rate
            mask = form.mask(motion)
            used = np.ones(predicted.shape) if mask is None else mask.T
            parts.append((motion.q, motion.qd, motion.qdd, predicted, rate, curvature, motion.tau - predicted, used))
            regressors += [values.T.copy() for _, values in form.compute_regressor_blocks(motion)]
    if not parts:
        return []
    q, qd, qdd, predicted, rate, curvature, residual, used = (np.concatenate(part) for part in zip(*parts, strict=True))
    Y = np.concatenate(regressors)
    joints = []
    for j, part in enumerate(form.layout.slices):
        at = np.flatnonzero(used[:, j] > 0.0)
        joints.append(
            JointResiduals(
                q=q[at, j],
                qd=qd[at, j],
                qdd=qdd[at, j],
                predicted=predicted[at, j],
                predicted_rate=rate[at, j],
                predicted_curvature=curvature[at, j],
                residual=residual[at, j],
                regressor=Y[:, part][at],
            )
        )
    return joints


# The distribution of residuals and their autocorrelation, which show whether they are noise.


MIN_BINS, MAX_BINS = 16, 60  # of a histogram; affects only a plot
# Half of the range of a histogram, in standard deviations; larger residuals are counted at its ends. Affects only a
# plot.
RANGE = 5.0


@dataclass(frozen=True, eq=False)
class ResidualHistogram:
    """How often which residual occurs: the density of each bin, and that of normally distributed residuals there.

    ``centers`` are those of the bins, in Nm or N; ``outside`` is the share of the residuals beyond five standard
    deviations, which the outermost bins contain.
    """

    centers: Float[np.ndarray, " bins"]
    width: float
    density: Float[np.ndarray, " bins"]
    normal: Float[np.ndarray, " bins"]
    outside: float


@dataclass(frozen=True, eq=False)
class ResidualAutocorrelation:
    """The autocorrelation of the residuals of all joints; the first lag is zero, where it is 1."""

    seconds: Float[np.ndarray, " lags"]
    values: Float[np.ndarray, "lags joints"]


def compute_residual_histogram(errors: TorqueErrors, joint: int) -> ResidualHistogram | None:
    """Return the histogram of a joint's residuals at the samples of the trace; None if all are zero or left out."""
    trace = errors.trace
    residual = trace.measured[:, joint] - trace.predicted[:, joint]
    residual = residual[np.isfinite(residual) & ~trace.left_out[:, joint]]
    std = float(np.std(residual)) if len(residual) else 0.0
    if not std > 0.0:
        return None
    count = int(np.clip(4.0 * len(residual) ** (1.0 / 3.0), MIN_BINS, MAX_BINS))
    mean, reach = float(np.mean(residual)), RANGE * std
    edges = np.linspace(mean - reach, mean + reach, count + 1)
    counts, _ = np.histogram(np.clip(residual, edges[0], edges[-1]), edges)
    centers, width = 0.5 * (edges[1:] + edges[:-1]), float(edges[1] - edges[0])
    normal = np.exp(-0.5 * ((centers - mean) / std) ** 2) / (std * np.sqrt(2.0 * np.pi))
    outside = float(np.mean(abs(residual - mean) > reach))
    return ResidualHistogram(centers, width, counts / (len(residual) * width), normal, outside)


def compute_residual_autocorrelation(errors: TorqueErrors) -> ResidualAutocorrelation:
    """Return the autocorrelation of all residuals; zero for joints without residuals."""
    covariance = errors.autocovariance
    variance = np.where(covariance[0] > 0.0, covariance[0], 1.0)
    rate = errors.samples / errors.seconds if errors.seconds > 0.0 else 1.0
    return ResidualAutocorrelation(np.arange(len(covariance)) / rate, covariance / variance)


# Measured friction: the part of the measured torque that the model without friction leaves over.
#
# Identity      friction_measured = tau - tau_model + friction_model(v)
#               The vertical distance of a point from the friction curve is therefore the residual of the torque.
#
# Points exist for drives that move with one actuated joint; those of couplings and loops share their torque with
# others.


@dataclass(frozen=True, eq=False)
class FrictionPoints:
    """Speeds of a drive and the friction measured there, in Nm or N."""

    speeds: Float[np.ndarray, " points"]
    friction: Float[np.ndarray, " points"]


def compute_friction_points(robot: Robot, errors: TorqueErrors, name: str, drive: Drive) -> FrictionPoints | None:
    """Return the friction measured at the samples of the trace, without those that are left out.

    None if the drive does not move with one actuated joint alone. ``drive`` has the identified friction. Friction that
    depends on the load is computed at zero load, so that it appears as scatter around the curve.
    """
    joint = _find_joint(robot, name)
    if joint is None:
        return None
    trace = errors.trace
    speeds = trace.qd[:, joint]
    residual = trace.measured[:, joint] - trace.predicted[:, joint]
    used = np.isfinite(residual) & np.isfinite(speeds) & ~trace.left_out[:, joint]
    if not used.any():
        return None
    return FrictionPoints(speeds[used], residual[used] + compute_friction(drive, speeds[used]))


def _find_joint(robot: Robot, name: str) -> int | None:
    """Return the actuated joint whose velocity and torque are those of the drive; None if there is none."""
    if name not in robot.actuated:
        return None
    if robot.loops:
        return robot.actuated.index(name)
    ratios = compute_velocity_ratios(robot)
    own, column = ratios[robot.moving.index(name)], robot.coordinates.index(name)
    alone = own[column] == 1.0 and np.count_nonzero(own) == 1 and np.count_nonzero(ratios[:, column]) == 1
    return robot.actuated.index(name) if alone else None
