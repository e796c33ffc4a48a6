"""Variation between logs: what the torques of another log differ by, beyond their noise and uncertain parameters.

Friction changes with temperature, load and time, and parameters follow model errors on the motion of the fit as far as
they can. Neither shows in the residuals of one log. Where several logs were fitted, each is predicted from the others.

Identity      b_j² = (d_j² + (K - 1) l_j²) / K
              d_j² = v_j max(0, 1 - c0 / c_j) + (1 + 1 / K) (s f_j)²
              l_j² = max(0, sum_k (e_kj² - p_kj² - v_j) / K)
Notation      b     standard deviation of joint j's torque between logs, in Nm or N
              K     number of logs of the fit; the default d counts like one log
              v, c  variance of the measured torque without that of the model, and autocorrelation time of the residuals
              c0    autocorrelation time of low-passed white noise: 1 - c0 / c is the share of v that is slow, as model
                    errors are. It is assumed that parameters absorb as much of these errors as they leave
              f, s  root mean square of the friction torque, and by how much that of a log differs from its usual
                    value, FRICTION_CHANGE: the friction of another log and the mean of K logs do
              e_k   RMS of the residuals of log k, predicted from the other logs
              p_k   RMS of the standard deviation of this prediction, from the covariance of the parameters

Without log k, the estimate is beta - (1 - G N_k)⁻¹ G g_k with the gain G of the estimate, N_k = sum_j w_j Y_jᵀ Y_j and
g_k = sum_j w_j Y_jᵀ r_j of this log: exact for least squares, and for a prior whose scales are kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ytheta.identification.assessment.residuals import ErrorComputation
from ytheta.identification.assessment.torque_errors import ParameterUncertainty, TorqueErrors
from ytheta.identification.equations.autocorrelation import compute_expected_autocorrelation_time
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.estimators.estimator import Estimate
from ytheta.robot.parameters import FRICTION_PARAMETERS
from ytheta.shapes import BaseByBase, PerBase, PerJoint

# Standard deviation of the friction of a log, relative to its usual value: two logs then differ by 10 %. Chosen on:
# four UR10e logs of four days, of which two differ by 5 to 14 %; of 0.07, 0.1 and 0.14, while looking at the coverage
# on the recorded logs of six robots and on simulated ones.
FRICTION_CHANGE = 0.07
# Smallest singular value of 1 - G N_k relative to the largest. Along directions below it, only log k determines the
# parameters, and they are kept. Chosen on: reasoning; the others would tell them at most to 1e6 times the noise.
MIN_SHARE_OF_OTHER_LOGS = 1e-6


def compute_between_logs(default: PerJoint, left_out: Sequence[PerJoint]) -> PerJoint:
    """Return b of the module docstring from d² and from e_k² - p_k² - v of all logs, none if there is only one."""
    if not left_out:
        return np.sqrt(default)
    variance = np.maximum(np.mean(left_out, axis=0), 0.0)
    return np.sqrt((default + (len(left_out) - 1) * variance) / len(left_out))


def compute_default_variance(
    fit: TorqueErrors, noise: PerJoint, beta: PerBase, names: Sequence[str], *, cutoff: float, logs: int
) -> PerJoint:
    """Return d² of the module docstring, from the errors on the logs of the fit, whose number is ``logs``.

    ``noise``: the roots of v. ``names``: those of the parameters ``beta``. ``cutoff``: that of the errors, in Hz.
    """
    white = compute_expected_autocorrelation_time(fit.samples / max(fit.seconds, np.finfo(float).tiny), cutoff)
    slow_share = np.maximum(1.0 - white / fit.autocorrelation_time, 0.0)
    friction = FRICTION_CHANGE * compute_friction_rms(fit, beta, names)
    return noise**2 * slow_share + (1.0 + 1.0 / logs) * friction**2


def compute_friction_rms(fit: TorqueErrors, beta: PerBase, names: Sequence[str]) -> PerJoint:
    """Return the root mean square of each joint's friction torque without offsets, over the samples that count."""
    symbols = {symbol for kind, symbol in FRICTION_PARAMETERS.items() if kind != "offset"}
    is_friction = np.array([name.rpartition(".")[2] in symbols for name in names], dtype=bool)
    samples = fit.regressor
    torque = samples.layout.torque(np.nan_to_num(samples.values), np.where(is_friction, beta, 0.0))
    return np.sqrt(np.sum(samples.mask * torque**2, axis=1) / np.maximum(samples.mask.sum(axis=1), 1.0))


def predict_logs_from_others(
    errors: ErrorComputation,
    problem: EstimationProblem,
    estimate: Estimate,
    uncertainty: ParameterUncertainty,
    noise: PerJoint,
) -> tuple[PerJoint, ...]:
    """Return e_k² - p_k² - v of the module docstring for each log; empty with one log or without a gain."""
    if len(problem.sources) < 2 or estimate.gain is None:
        return ()
    excesses = []
    for k, source in enumerate(problem.sources):
        log = EstimationProblem(problem.form, (source,), threads=problem.threads)
        beta = leave_out(log, estimate, estimate.gain)
        prediction = errors.compute_log_errors(k, beta)
        excesses.append(prediction.rms**2 - prediction.regressor.compute_rms_std(uncertainty) ** 2 - noise**2)
    return tuple(excesses)


def leave_out(log: EstimationProblem, estimate: Estimate, gain: BaseByBase) -> PerBase:
    """Return the estimate without one of its logs."""
    equations, weights = log.normal_equations(), estimate.weights
    N = equations.matrix(weights)
    score = equations.right_side(weights) - N @ estimate.beta
    A = np.eye(len(N)) - gain @ N
    change, *_ = np.linalg.lstsq(A, gain @ score, rcond=MIN_SHARE_OF_OTHER_LOGS)
    return estimate.beta - change
