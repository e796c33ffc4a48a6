"""The distribution of residuals and their autocorrelation, which show whether they are noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.identification.assessment.torque_errors import TorqueErrors
from ytheta.shapes import Float

MIN_BINS, MAX_BINS = 16, 60
RANGE = 5.0  # half of the range of a histogram, in standard deviations; larger residuals are counted at its ends


@dataclass(frozen=True, eq=False)
class ResidualHistogram:
    """How often which residual occurs: the density of each bin, and that of normally distributed residuals there.

    ``centers`` are those of the bins, in Nm or N; ``outside`` is the share of the residuals beyond five standard
    deviations, which the outermost bins contain.
    """

    centers: Float[np.ndarray, "bins"]
    width: float
    density: Float[np.ndarray, "bins"]
    normal: Float[np.ndarray, "bins"]
    outside: float


@dataclass(frozen=True, eq=False)
class ResidualAutocorrelation:
    """The autocorrelation of the residuals of all joints; the first lag is zero, where it is 1."""

    seconds: Float[np.ndarray, "lags"]
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
